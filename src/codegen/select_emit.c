/* SPDX-License-Identifier: Apache-2.0 */
/* select_emit.c -- operations on views, cut into parts that the machine takes: pools of one tap
 * become elementwise operations where that is quicker, few channels another shape. */
#include "select.h"

#include <stdlib.h>

void ti_sel_map(tc_npu_map *m, uint8_t bytes, bool is_signed, int32_t zero)
{
    m->used = true;
    m->bytes = bytes;
    m->is_signed = is_signed;
    m->zero = zero;
}

tc_hw_op ti_hw_op_of(const tc_hw *hw, const tc_node *node, tc_npu_kind kind, uint8_t mode)
{
    static const tc_npu_scale one = {.multiplier = 1, .round = TC_ROUND_NATURAL};
    return (tc_hw_op){
        .node = node,
        .table = -1,
        .packed = -1,
        .scales = -1,
        .density = 1,
        .made = -1,
        .ifm = {.root = TC_NO_ROOT},
        .ifm2 = {.root = TC_NO_ROOT},
        .ofm = {.root = TC_NO_ROOT},
        .op = {.kind = kind,
               .mode = mode,
               .param = kind == TC_NPU_KIND_POOL || kind == TC_NPU_KIND_ELEMENTWISE ? mode : 0,
               .window = {1, 1, 1, 1, 1, 1, .ih = 1, .iw = 1},
               .acc_bits = 32,
               .acc_output = true,
               .cores = (uint8_t)hw->machine->cores,
               .ofm_scale = one,
               .ifm_scale = one,
               .ifm2_scale = one},
    };
}

tc_hw_op ti_sel_op(const tc_sel *s, const tc_node *node, tc_npu_kind kind, uint8_t mode)
{
    return ti_hw_op_of(s->hw, node, kind, mode);
}

tc_hw_op ti_sel_pointwise(const tc_sel *s, const tc_node *node)
{
    return ti_sel_op(s, node, TC_NPU_KIND_POOL,
                     ti_hw_is_u85(s->hw) ? TC_POOL_SUM : TC_POOL_AVERAGE);
}

void ti_sel_emit(tc_sel *s, const tc_hw_op *op)
{
    tc_hw *hw = s->hw;
    tc_grow(hw->arena, hw->op, hw->n_op, hw->cap_op);
    hw->op[hw->n_op++] = *op;
}

typedef struct emitting {
    tc_sel *s;
    const tc_hw_op *op;
    bool has_ifm, has_ifm2;
    bool quicker; /* a pool that may be an elementwise operation */
} emitting;

static void set_extents(tc_npu_map *m, const tc_view *v, const tc_view *like)
{
    int32_t extent[3];
    static const uint8_t bit[3] = {TC_BROADCAST_H, TC_BROADCAST_W, TC_BROADCAST_C};
    for (int i = 0; i < 3; i++) {
        bool again = like && v->stride[i] == 0 && v->dim[i] > 1;
        extent[i] = again ? 1 : (int32_t)v->dim[i];
        m->broadcast |= again ? bit[i] : 0;
    }
    m->h = extent[0];
    m->w = extent[1];
    m->c = extent[2];
}

/* ---- pools of one tap that an elementwise operation does twice as fast and more ---- */

enum { FEWEST = 4 }; /* channels: of fewer, pools read less often */

static bool stands_still(const tc_view *v)
{
    for (int32_t i = 0; i < v->rank; i++)
        if (v->dim[i] > 1 && v->stride[i] == 0)
            return true;
    return false;
}

/* Of one tap, each number by itself. */
static bool is_pointwise(const tc_hw *hw, const tc_npu_op *o)
{
    bool mode = o->mode == (ti_hw_is_u85(hw) ? TC_POOL_SUM : TC_POOL_AVERAGE);
    return o->kind == TC_NPU_KIND_POOL && mode && !o->transpose && !o->reverse &&
           o->window.kh == 1 && o->window.kw == 1 && o->window.stride_y == 1 &&
           o->window.stride_x == 1 && !o->window.upscale && !o->per_channel;
}

static bool may_be_eltwise(const tc_hw *hw, const tc_hw_op *op, const tc_view *ifm)
{
    const tc_npu_op *o = &op->op;
    return is_pointwise(hw, o) && !o->function && o->ofm.bytes <= 2 && ifm && !stands_still(ifm);
}

/* With a scalar. */
static void set_eltwise(tc_npu_op *op, tc_npu_eltwise mode, int32_t zero, int64_t number)
{
    tc_npu_map *m = &op->ifm2;
    op->kind = TC_NPU_KIND_ELEMENTWISE;
    op->mode = (uint8_t)mode;
    op->param = op->mode;
    ti_sel_map(m, op->ifm.bytes, op->ifm.is_signed, zero);
    m->broadcast = TC_BROADCAST_SCALAR;
    m->storage = TC_STORE_TILES;
    m->h = m->w = m->c = 1;
    op->scalar = number;
}

void ti_sel_as_maximum(tc_npu_op *op)
{
    int64_t least = !op->ifm.is_signed ? 0 : op->ifm.bytes == 1 ? INT8_MIN : INT16_MIN;
    set_eltwise(op, TC_EW_MAX, op->ifm.zero, least);
}

/* U85: x + 0, which scales. */
static void make_eltwise(tc_npu_op *op, bool u85)
{
    if (u85) {
        set_eltwise(op, TC_EW_ADD, 0, 0);
        op->ifm2.storage = TC_STORE_NONE;
    } else if (op->ofm_scale.multiplier == 1 && op->ofm_scale.shift == 0)
        ti_sel_as_maximum(op);
    else
        set_eltwise(op, TC_EW_MUL, 0, 1);
}

/* Rows of the one are columns of the other: U55's pools go through such copies faster. */
static bool exchanges(const tc_view *to, const tc_view *from)
{
    return to->dim[0] > 1 && to->dim[1] > 1 &&
           (llabs(to->stride[0]) < llabs(to->stride[1])) !=
               (llabs(from->stride[0]) < llabs(from->stride[1]));
}

static bool emit_part(void *user, const tc_view *part)
{
    emitting *e = user;
    tc_hw_op op = *e->op;
    op.ofm = part[0];
    if (e->quicker && part[0].dim[2] >= FEWEST &&
        (ti_hw_is_u85(e->s->hw) || !exchanges(&part[0], &part[1])))
        make_eltwise(&op.op, ti_hw_is_u85(e->s->hw));
    set_extents(&op.op.ofm, &part[0], NULL);
    /* Windows read what is broadcast again, by strides of 0. */
    const tc_view *like = op.op.kind == TC_NPU_KIND_ELEMENTWISE ? &part[0] : NULL;
    int at = 1;
    op.op.depth = op.op.ofm.c;
    if (e->has_ifm) {
        op.ifm = part[at++];
        set_extents(&op.op.ifm, &op.ifm, like);
        op.op.depth = op.op.ifm.c;
    }
    if (e->has_ifm2) {
        op.ifm2 = part[at++];
        set_extents(&op.op.ifm2, &op.ifm2, like);
    }
    op.op.window.ih = op.op.ofm.h;
    op.op.window.iw = op.op.ofm.w;
    ti_sel_emit(e->s, &op);
    return true;
}

/* ---- other frames ---- */

/* Is stored in order, in a root that will not be in bricks. */
static bool is_line(const tc_hw *hw, const tc_view *v)
{
    const tc_root *r = &hw->root[v->root];
    bool bricks = r->kind == TC_ROOT_VALUE && r->h > 0 && r->c >= TC_HW_FEWEST;
    return !bricks && ti_view_is_dense(v);
}

static bool is_one_number(const tc_view *v)
{
    for (int32_t i = 0; i < v->rank; i++)
        if (v->dim[i] > 1 && v->stride[i] != 0)
            return false;
    return true;
}

/* What is done to each number by itself goes through the machine as well in any other shape: few
 * channels waste most of a microblock, 16 waste nothing, nor of what chains hold. */
static void reframe(const tc_sel *s, tc_view *v, int n)
{
    enum { BRICK = 16, WIDEST = 64 };
    int64_t count = ti_view_count(&v[0]), dim[3] = {1, 1, count};
    bool bricks = count % BRICK == 0;
    if (!v[0].rank || count > (bricks ? BRICK * TC_HW_EXTENT : TC_HW_EXTENT) ||
        v[0].dim[v[0].rank - 1] >= TC_HW_FEWEST)
        return;
    for (int i = 0; i < n; i++)
        if (!is_line(s->hw, &v[i]) && !(i && is_one_number(&v[i])))
            return;
    if (bricks) {
        dim[2] = BRICK;
        for (dim[1] = WIDEST; count / BRICK % dim[1]; dim[1]--)
            ;
        dim[0] = count / BRICK / dim[1];
    }
    for (int i = 0; i < n; i++) {
        bool again = i && is_one_number(&v[i]);
        int32_t root = v[i].root;
        int64_t at = v[i].at;
        v[i] = ti_view_dense(root, 3, dim);
        v[i].at = at;
        for (int k = 0; k < 3 && again; k++)
            v[i].stride[k] = 0;
    }
}

void ti_sel_emit_parts(tc_sel *s, const tc_hw_op *op, const tc_view *ifm, const tc_view *ifm2,
                       const tc_view *ofm)
{
    emitting e = {s, op, ifm && ifm->root >= 0, ifm2 && ifm2->root >= 0,
                  may_be_eltwise(s->hw, op, ifm)};
    const tc_view *like = e.has_ifm ? ifm : e.has_ifm2 ? ifm2 : ofm;
    tc_view v[3];
    int n = 1;
    if (!ti_view_reshape(ofm, like->rank, like->dim, &v[0])) {
        ti_hw_refuse(s->hw, op->node, "its result has no place in one piece");
        return;
    }
    if (e.has_ifm)
        v[n++] = *ifm;
    if (e.has_ifm2)
        v[n++] = *ifm2;
    int32_t last = v[0].rank - 1;
    bool again = false; /* channels that are one; windows need them contiguous */
    for (int i = 1; i < n && last >= 0; i++)
        again = again || (v[i].stride[last] == 0 && v[i].dim[last] > 1);
    for (int i = 0; i < n && again && op->op.kind != TC_NPU_KIND_ELEMENTWISE; i++)
        v[i] = ti_view_deepen(&v[i]);
    if (op->op.kind == TC_NPU_KIND_ELEMENTWISE || is_pointwise(s->hw, &op->op))
        reframe(s, v, n);
    ti_view_parts(v, n, op->op.reverse, emit_part, &e); /* columns are reversed */
}
