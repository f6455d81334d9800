/* SPDX-License-Identifier: Apache-2.0 */
/* select.c -- TOSA operators to operations of the machine: the walk, and what rules share. */
#include "fold.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/text.h"
#include "../num/load.h"
#include "../run/eval.h"

/* ---- records ---- */

int32_t ti_hw_root(tc_hw *hw, const char *name, tc_root_kind kind, uint8_t bytes, int64_t count)
{
    tc_grow(hw->arena, hw->root, hw->n_root, hw->cap_root);
    hw->root[hw->n_root] = (tc_root){.name = name, .kind = kind, .bytes = bytes, .count = count};
    return (int32_t)hw->n_root++;
}

int32_t ti_hw_table(tc_hw *hw, const uint8_t *data, int32_t bytes)
{
    for (size_t i = 0; i < hw->n_table; i++)
        if (hw->table[i].data && hw->table[i].bytes == bytes &&
            !memcmp(hw->table[i].data, data, (size_t)bytes))
            return (int32_t)i;
    int32_t root = ti_hw_root(hw, "table", TC_ROOT_CONSTANT, 1, bytes);
    hw->root[root].data = data;
    return ti_hw_table_from(hw, root, data, bytes);
}

int32_t ti_hw_table_from(tc_hw *hw, int32_t root, const uint8_t *data, int32_t bytes)
{
    tc_grow(hw->arena, hw->table, hw->n_table, hw->cap_table);
    hw->table[hw->n_table] = (tc_hw_table){data, bytes, root};
    return (int32_t)hw->n_table++;
}

void ti_hw_refuse(tc_hw *hw, const tc_node *node, const char *format, ...)
{
    if (hw->refused)
        return;
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hw->refused = ti_text_format(&hw->ctx->arena, "%s", text);
    hw->refused_node = node;
}

/* ---- values ---- */

tc_dtype ti_sel_dtype(const tc_sel *s, tc_val v)
{
    return ti_type_of(s->g, v)->dtype;
}

uint8_t ti_sel_bytes(const tc_sel *s, tc_val v)
{
    tc_dtype t = ti_sel_dtype(s, v);
    return t == TC_i48 ? 8 : t == TC_i4 ? 1 : tc_dtypes[t].bytes;
}

const int64_t *ti_sel_numbers(tc_sel *s, tc_val v, int64_t *n)
{
    tc_tensor t = ti_tensor_of(s->g, v);
    if (!t.data || !ti_is_const(s->g, v))
        return NULL;
    int64_t count = tc_type_count(t.type);
    int64_t *out = tc_new_n(s->hw->arena, int64_t, (size_t)count + 1);
    for (int64_t i = 0; i < count; i++)
        out[i] = ti_load_i64(t, i);
    if (n)
        *n = count;
    return out;
}

int64_t ti_sel_number(tc_sel *s, tc_val v)
{
    if (ti_is_const(s->g, v))
        return ti_load_i64(ti_tensor_of(s->g, v), 0);
    ti_hw_refuse(s->hw, ti_def(s->g, v), "a number that must be constant is not");
    return 0;
}

const tc_node *ti_sel_only_reader(const tc_sel *s, tc_val v)
{
    return s->value[v].readers == 1 ? s->value[v].reader : NULL;
}

/* The frame that bricks are cut from: channels, columns, and everything before them as rows. */
static void set_frame(tc_root *r, int32_t rank, const int64_t *dim)
{
    int64_t c = rank > 0 ? dim[rank - 1] : 1, w = rank > 1 ? dim[rank - 2] : 1;
    if (!r->count || c > TC_HW_EXTENT || w > TC_HW_EXTENT || r->count / (c * w) > INT32_MAX)
        return;
    r->c = (int32_t)c;
    r->w = (int32_t)w;
    r->h = (int32_t)(r->count / (c * w));
}

tc_view ti_sel_working(tc_sel *s, const char *name, uint8_t bytes, int32_t rank, const int64_t *dim)
{
    tc_view v = ti_view_dense(0, rank, dim);
    v.root = ti_hw_root(s->hw, name, TC_ROOT_VALUE, bytes, ti_view_count(&v));
    set_frame(&s->hw->root[v.root], rank, dim);
    return v;
}

tc_view ti_sel_constant(tc_sel *s, const char *name, uint8_t bytes, int32_t rank,
                        const int64_t *dim, const void *data)
{
    tc_view v = ti_view_dense(0, rank, dim);
    v.root = ti_hw_root(s->hw, name, TC_ROOT_CONSTANT, bytes, ti_view_count(&v));
    s->hw->root[v.root].data = data;
    return v;
}

void ti_sel_is(tc_sel *s, tc_val v, tc_view view)
{
    s->value[v].view = view;
    s->value[v].placed = s->value[v].made = true;
}

static bool is_output(const tc_sel *s, tc_val v)
{
    for (size_t i = 0; i < s->g->n_out; i++)
        if (s->g->out[i] == v)
            return true;
    return false;
}

static const char *name_of(const tc_sel *s, tc_val v)
{
    const tc_value *value = ti_value_of(s->g, v);
    const tc_node *def = value->def;
    return value->name                   ? value->name
           : def && def->loc && def->loc->node ? def->loc->node
           : def                         ? tc_ops[def->op].name
                                         : "value";
}

/* Stored integers of a constant in region 0, as the machine reads them. */
static tc_view place_constant(tc_sel *s, tc_val v)
{
    const tc_type *t = ti_type_of(s->g, v);
    uint8_t bytes = ti_sel_bytes(s, v);
    int64_t n;
    const int64_t *x = ti_sel_numbers(s, v, &n);
    uint8_t *data = tc_new_n(s->hw->arena, uint8_t, (size_t)n * bytes + 1);
    for (int64_t i = 0; i < n; i++)
        for (int b = 0; b < bytes; b++)
            data[i * bytes + b] = (uint8_t)((uint64_t)x[i] >> 8 * b);
    return ti_sel_constant(s, name_of(s, v), bytes, t->rank, t->dim, data);
}

tc_view ti_sel_any_view(tc_sel *s, tc_val v)
{
    return s->value[v].lazy ? s->value[v].view : ti_sel_view(s, v);
}

tc_view ti_sel_view(tc_sel *s, tc_val v)
{
    tc_sel_value *value = &s->value[v];
    if (value->made)
        return value->view;
    if (value->lazy) {
        tc_view from = value->view;
        value->lazy = false;
        tc_view to = ti_sel_result(s, v);
        ti_sel_copy(s, ti_def(s->g, v), &from, &to);
        return to;
    }
    if (ti_is_const(s->g, v)) {
        ti_sel_is(s, v, place_constant(s, v));
        return value->view;
    }
    if (value->put_off && value->put_off->out[0] != v) { /* in another shape */
        const tc_type *t = ti_type_of(s->g, v);
        tc_view whole = ti_sel_view(s, value->put_off->out[0]), view = whole;
        value->put_off = NULL;
        if (!s->hw->refused && !ti_view_reshape(&whole, t->rank, t->dim, &view)) {
            view = ti_sel_result(s, v);
            tc_view place;
            if (ti_view_reshape(&view, whole.rank, whole.dim, &place))
                ti_sel_copy(s, ti_def(s->g, v), &whole, &place);
            else
                ti_hw_refuse(s->hw, ti_def(s->g, v), "its result has no place in one piece");
        }
        ti_sel_is(s, v, view);
        return view;
    }
    if (value->put_off) {
        const tc_node *node = value->put_off;
        value->put_off = NULL;
        value->asked = true;
        ti_npu_select_rescale_alone(s, node);
        return value->view;
    }
    ti_hw_refuse(s->hw, ti_def(s->g, v), "'%s' is read before it is made", name_of(s, v));
    return (tc_view){.root = TC_NO_ROOT};
}

/* The part of a CONCAT's result that its operand i is. */
static bool part_of_concat(tc_sel *s, const tc_node *concat, tc_val v, tc_view *out)
{
    const tc_attr_tosa_axis *a = concat->attr;
    tc_sel_value *whole = &s->value[concat->out[0]];
    if (!whole->placed) {
        tc_view place = ti_sel_result(s, concat->out[0]);
        whole->view = place;
        whole->placed = true;
        whole->made = false;
    }
    *out = ti_view_slice(&whole->view, (int32_t)a->axis, s->value[v].part,
                         ti_type_of(s->g, v)->dim[a->axis]);
    return true;
}

/* Where the value's only reader wants it to be: in a CONCAT, through RESHAPEs. */
static bool wanted_place(tc_sel *s, tc_val v, tc_view *out)
{
    const tc_node *reader = ti_sel_only_reader(s, v);
    const tc_type *t = ti_type_of(s->g, v);
    if (!reader || is_output(s, v))
        return false;
    if (reader->op == TC_OP_tosa_concat)
        return part_of_concat(s, reader, v, out);
    if (reader->op != TC_OP_tosa_reshape && reader->op != TC_OP_tosa_identity)
        return false;
    tc_sel_value *next = &s->value[reader->out[0]];
    if (is_output(s, reader->out[0])) {
        /* Dense, so any shape will do. */
        if (!next->placed) {
            next->view = ti_sel_result(s, reader->out[0]);
            next->placed = true;
            next->made = false;
        }
        return ti_view_reshape(&next->view, t->rank, t->dim, out);
    }
    tc_view place;
    if (!wanted_place(s, reader->out[0], &place))
        return false;
    return ti_view_reshape(&place, t->rank, t->dim, out) && t->rank > 0 &&
           (out->dim[t->rank - 1] == 1 || out->stride[t->rank - 1] == 1);
}

tc_view ti_sel_result(tc_sel *s, tc_val v)
{
    tc_sel_value *value = &s->value[v];
    const tc_type *t = ti_type_of(s->g, v);
    if (!value->placed && !wanted_place(s, v, &value->view)) {
        value->view = ti_sel_working(s, name_of(s, v), ti_sel_bytes(s, v), t->rank, t->dim);
        for (size_t i = 0; i < s->g->n_out && !s->inner; i++)
            if (s->g->out[i] == v && s->hw->out[i] < 0) {
                s->hw->out[i] = value->view.root;
                s->hw->root[value->view.root].kind = TC_ROOT_OUTPUT;
                break;
            }
    }
    value->placed = value->made = true;
    return value->view;
}

/* ---- operations ---- */

void ti_sel_map(tc_npu_map *m, uint8_t bytes, bool is_signed, int32_t zero)
{
    m->used = true;
    m->bytes = bytes;
    m->is_signed = is_signed;
    m->zero = zero;
}

tc_hw_op ti_sel_op(const tc_sel *s, const tc_node *node, tc_npu_kind kind, uint8_t mode)
{
    static const tc_npu_scale one = {.multiplier = 1, .round = TC_ROUND_NATURAL};
    return (tc_hw_op){
        .node = node,
        .table = -1,
        .packed = -1,
        .scales = -1,
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
               .cores = (uint8_t)s->hw->machine->cores,
               .ofm_scale = one,
               .ifm_scale = one,
               .ifm2_scale = one},
    };
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

static bool may_be_eltwise(const tc_hw *hw, const tc_hw_op *op, const tc_view *ifm)
{
    const tc_npu_op *o = &op->op;
    bool mode = o->mode == (ti_hw_is_u85(hw) ? TC_POOL_SUM : TC_POOL_AVERAGE);
    return o->kind == TC_NPU_KIND_POOL && mode && !o->transpose && !o->reverse &&
           o->window.kh == 1 && o->window.kw == 1 && o->window.stride_y == 1 &&
           o->window.stride_x == 1 && !o->window.upscale && !o->per_channel && !o->function &&
           o->ofm.bytes <= 2 && ifm && !stands_still(ifm);
}

/* With a number. */
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

/* Lies in memory in order, in a root that bricks are not for. */
static bool is_line(const tc_hw *hw, const tc_view *v)
{
    const tc_root *r = &hw->root[v->root];
    bool bricks = r->kind == TC_ROOT_VALUE && r->h > 0 && r->c >= TC_HW_FEWEST;
    return !bricks && ti_view_is_dense(v);
}

/* Elementwise operations on few channels go through the machine as well in any other shape; 16
 * channels waste nothing of what chains hold. */
static void reframe(const tc_sel *s, tc_view *v, int n)
{
    enum { BRICK = 16, WIDEST = 64 };
    int64_t count = ti_view_count(&v[0]), dim[3] = {1, 1, count};
    bool bricks = count % BRICK == 0;
    if (!v[0].rank || count > (bricks ? BRICK * TC_HW_EXTENT : TC_HW_EXTENT) ||
        v[0].dim[v[0].rank - 1] >= TC_HW_FEWEST)
        return;
    for (int i = 0; i < n; i++)
        if (!is_line(s->hw, &v[i]))
            return;
    if (bricks) {
        dim[2] = BRICK;
        for (dim[1] = WIDEST; count / BRICK % dim[1]; dim[1]--)
            ;
        dim[0] = count / BRICK / dim[1];
    }
    for (int i = 0; i < n; i++) {
        int32_t root = v[i].root;
        int64_t at = v[i].at;
        v[i] = ti_view_dense(root, 3, dim);
        v[i].at = at;
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
    bool again = false; /* channels that are one; windows want them side by side */
    for (int i = 1; i < n && last >= 0; i++)
        again = again || (v[i].stride[last] == 0 && v[i].dim[last] > 1);
    for (int i = 0; i < n && again && op->op.kind != TC_NPU_KIND_ELEMENTWISE; i++)
        v[i] = ti_view_deepen(&v[i]);
    if (op->op.kind == TC_NPU_KIND_ELEMENTWISE || e.quicker)
        reframe(s, v, n);
    ti_view_parts(v, n, op->op.reverse, emit_part, &e); /* columns are reversed */
}

/* ---- the walk ---- */

static tc_select_rule *const rules[TC_OP_COUNT] = {
#define SELECT(op, rule) [TC_OP_##op] = ti_npu_select_##rule,
#include "select.def"
};

/* Nodes that nobody needs the results of are not made: they count as taken, and as no readers. */
static bool is_needed(const tc_sel *s, const bool *needed, const tc_node *node)
{
    bool yes = !node->n_out || tc_ops[node->op].traits & T_STATE;
    for (int i = 0; i < node->n_out; i++)
        yes = yes || needed[node->out[i]];
    for (int i = 0; i < node->n_out && !yes; i++)
        s->value[node->out[i]].taken = true;
    return yes;
}

static void set_parts(tc_sel *s, const tc_node *concat)
{
    const tc_attr_tosa_axis *a = concat->attr;
    int64_t at = 0;
    for (int i = 0; i < concat->n_in; i++) {
        s->value[concat->in[i]].part = at;
        at += ti_type_of(s->g, concat->in[i])->dim[a->axis];
    }
}

static void count_readers(tc_sel *s)
{
    bool *needed = tc_new_n(s->hw->arena, bool, s->g->n_val);
    for (size_t i = 0; i < s->g->n_out; i++)
        needed[s->g->out[i]] = true;
    for (size_t k = s->g->n_node; k-- > 0;) {
        const tc_node *node = s->g->node[k];
        bool yes = is_needed(s, needed, node);
        for (int i = 0; i < node->n_in && yes; i++) {
            tc_sel_value *v = &s->value[node->in[i]];
            needed[node->in[i]] = true;
            v->reader = v->readers++ ? v->reader : node;
        }
        if (yes && node->op == TC_OP_tosa_concat)
            set_parts(s, node);
    }
    for (size_t i = 0; i < s->g->n_out; i++) {
        s->value[s->g->out[i]].readers++;
        s->value[s->g->out[i]].reader = NULL;
    }
}

static void place_inputs(tc_sel *s)
{
    tc_hw *hw = s->hw;
    for (size_t i = 0; i < s->g->n_in; i++) {
        tc_val v = s->g->in[i];
        const tc_type *t = ti_type_of(s->g, v);
        tc_view view = ti_sel_working(s, name_of(s, v), ti_sel_bytes(s, v), t->rank, t->dim);
        hw->root[view.root].kind = TC_ROOT_INPUT;
        hw->in[i] = view.root;
        ti_sel_is(s, v, view);
    }
}

/* Outputs that are something else too: an input, a constant, a view, another output. */
static void copy_outputs(tc_sel *s)
{
    for (size_t i = 0; i < s->g->n_out && !s->hw->refused; i++) {
        tc_val v = s->g->out[i];
        const tc_type *t = ti_type_of(s->g, v);
        tc_view from = ti_sel_view(s, v);
        if (s->hw->out[i] >= 0 && s->hw->out[i] == from.root)
            continue;
        tc_view to = ti_sel_working(s, name_of(s, v), ti_sel_bytes(s, v), t->rank, t->dim);
        s->hw->root[to.root].kind = TC_ROOT_OUTPUT;
        s->hw->out[i] = to.root;
        ti_sel_copy(s, ti_def(s->g, v), &from, &to);
    }
}

/* The region with nodes and values of our own, to which constants are added: at most six a node. */
static tc_graph *own_values(tc_hw *hw, const tc_graph *of)
{
    tc_graph *g = tc_new(hw->arena, tc_graph);
    *g = *of;
    g->val = tc_new_n(hw->arena, tc_value *, g->n_val + 6 * g->n_node + 1);
    g->node = tc_new_n(hw->arena, tc_node *, g->n_node + 1);
    for (size_t k = 0; k < g->n_node; k++)
        g->node[k] = of->node[k];
    for (size_t v = 0; v < g->n_val; v++)
        if (of->val[v]) {
            g->val[v] = tc_new(hw->arena, tc_value);
            *g->val[v] = *of->val[v];
        }
    return g;
}

/* A node whose operands are constants: so are its results. */
static bool compute(tc_hw *hw, tc_graph *g, const tc_node *node)
{
    if (node->n_in == 0 || tc_ops[node->op].traits & (T_CONTROL | T_STATE))
        return false;
    tc_tensor *t = tc_new_n(hw->arena, tc_tensor, (size_t)(node->n_in + node->n_out));
    for (int i = 0; i < node->n_in; i++) {
        if (!ti_is_const(g, node->in[i]))
            return false;
        t[i] = ti_tensor_of(g, node->in[i]);
    }
    if (ti_eval_node(g, node, t, t + node->n_in, hw->arena) != TC_OK)
        return false;
    for (int i = 0; i < node->n_out; i++)
        g->val[node->out[i]]->data = t[node->n_in + i].data;
    return true;
}

/* A RESCALE that was computed: a reader may take it along, also in another shape, and read fewer bytes. */
static void keep_small(tc_sel *s, const tc_node *node)
{
    if (node->op == TC_OP_tosa_rescale)
        ti_sel_put_off(s, node);
    if (node->op == TC_OP_tosa_reshape)
        s->value[node->out[0]].put_off = s->value[node->in[0]].put_off;
}

static bool is_number(tc_op op)
{
    return op == TC_OP_const;
}

/* No element of the machine has 64 bits. */
static void check_widths(tc_hw *hw, const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        for (int i = 0; i < node->n_in + node->n_out; i++) {
            tc_val v = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
            if (ti_type_of(g, v)->dtype == TC_i64)
                ti_hw_refuse(hw, node, "it has elements of 64 bits");
        }
    }
}

static tc_sel begin(tc_hw *hw, const tc_graph *of)
{
    check_widths(hw, of);
    tc_graph *g = own_values(hw, of);
    for (size_t k = 0; k < g->n_node; k++)
        (void)compute(hw, g, g->node[k]);
    ti_fold_codes(hw, g);
    ti_fold_shifts(hw, g);
    ti_fold_curves(hw, g);
    ti_fold_pads(hw, g);
    ti_fold_leaky(hw, g);
    tc_sel s = {.hw = hw, .g = g, .value = tc_new_n(hw->arena, tc_sel_value, g->n_val)};
    count_readers(&s);
    return s;
}

static void select_nodes(tc_sel *s)
{
    const tc_graph *g = s->g;
    tc_hw *hw = s->hw;
    for (size_t k = 0; k < g->n_node && !hw->refused; k++) {
        const tc_node *node = g->node[k];
        if (is_number(node->op) || (node->n_out && s->value[node->out[0]].taken))
            continue;
        if (node->n_out && ti_is_const(g, node->out[0])) {
            keep_small(s, node);
            continue;
        }
        for (int i = 0; i < node->n_out; i++)
            if (ti_type_of(g, node->out[i])->rank > TC_VIEW_DIMS - 1)
                ti_hw_refuse(hw, node, "it has more than %d axes", TC_VIEW_DIMS - 1);
        if (!rules[node->op])
            ti_hw_refuse(hw, node, "%s has no rule yet", tc_ops[node->op].name);
        else if (!hw->refused)
            rules[node->op](s, node);
    }
}

/* What the caller fills and reads has as many axes as the container says. */
static void check_borders(tc_hw *hw)
{
    const tc_graph *g = hw->g;
    for (size_t i = 0; i < g->n_in + g->n_out; i++) {
        tc_val v = i < g->n_in ? g->in[i] : g->out[i - g->n_in];
        if (ti_type_of(g, v)->rank > TC_NPU_DIMS)
            ti_hw_refuse(hw, ti_def(g, v), "an input or output has more than %d axes", TC_NPU_DIMS);
    }
}

void ti_hw_select(tc_hw *hw)
{
    tc_sel s = begin(hw, hw->g);
    for (size_t i = 0; i < s.g->n_out; i++)
        hw->out[i] = -1;
    check_borders(hw);
    place_inputs(&s);
    select_nodes(&s);
    if (!hw->refused)
        copy_outputs(&s);
}

static bool is_input(const tc_graph *g, tc_val v)
{
    for (size_t i = 0; i < g->n_in; i++)
        if (g->in[i] == v)
            return true;
    return false;
}

void ti_sel_graph(tc_hw *hw, const tc_node *node, const tc_graph *g, const tc_view *in,
                  const tc_view *out)
{
    tc_sel s = begin(hw, g);
    size_t first = hw->n_op;
    s.inner = true;
    for (size_t i = 0; i < g->n_in; i++)
        ti_sel_is(&s, g->in[i], in[i]);
    for (size_t i = 0; i < g->n_out; i++) {
        tc_sel_value *v = &s.value[g->out[i]];
        if (v->placed || is_input(g, g->out[i]) || ti_is_const(g, g->out[i]))
            continue;
        v->view = out[i];
        v->placed = true;
    }
    select_nodes(&s);
    for (size_t i = 0; i < g->n_out && !hw->refused; i++) {
        tc_view from = ti_sel_view(&s, g->out[i]);
        if (!hw->refused && !ti_sel_same_place(&from, &out[i]))
            ti_sel_copy(&s, node, &from, &out[i]);
    }
    for (size_t i = first; i < hw->n_op; i++)
        hw->op[i].node = node; /* of the region, as all of them */
    if (hw->refused)
        hw->refused_node = node;
}
