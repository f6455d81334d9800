/* SPDX-License-Identifier: Apache-2.0 */
/* tile_values.c -- see tile_values.h. */
#include "tile_values.h"

#include "../../machine/machine.h"

typedef tc_val tile_fn(tc_tiler *t, const tc_node *node, int which, const tc_select *s);

static const tc_type *old_type(const tc_tiler *t, tc_val v)
{
    return ti_type_of(t->rw->from, v);
}

/* A type with another extent along an axis, and of scales along it those of the range. */
static const tc_type *cut_type(tc_ctx *ctx, const tc_type *type, int axis, const tc_range *r)
{
    tc_type cut = *type;
    tc_quant q;
    cut.dim[axis] = r->count;
    if (type->quant && type->quant->axis == axis) {
        double *scale = tc_new_n(&ctx->arena, double, (size_t)r->count + 1);
        int64_t *zero = tc_new_n(&ctx->arena, int64_t, (size_t)r->count + 1);
        for (int64_t i = 0; i < r->count; i++) {
            scale[i] = type->quant->scale[r->start + i * r->step];
            zero[i] = type->quant->zero[r->start + i * r->step];
        }
        q = *type->quant;
        q.scale = scale;
        q.zero = zero;
        q.count = (int32_t)r->count;
        cut.quant = &q;
    }
    return ti_type_intern(ctx, &cut);
}

/* The old value's type with the counts as extents. */
static const tc_type *part_type(const tc_tiler *t, tc_val old, const tc_select *s)
{
    const tc_type *type = old_type(t, old);
    for (int i = 0; i < s->rank; i++)
        type = cut_type(t->rw->ctx, type, i, &s->axis[i]);
    return type;
}

/* The selection with every step split off, [.., m, step, ..], and every partly selected axis merged
 * with the whole one after it: ranges of as few axes as possible, of the same elements. */
static bool as_ranges(const tc_type *t, const tc_select *s, int64_t *dim, tc_select *out)
{
    tc_range axis[2 * TC_MAX_RANK];
    int64_t size[2 * TC_MAX_RANK];
    int n = 0;
    for (int i = 0; i < s->rank; i++) {
        tc_range r = s->axis[i];
        int64_t step = r.count == 1 ? 1 : r.step;
        if (t->dim[i] % step)
            return false;
        size[n] = t->dim[i] / step;
        axis[n++] = (tc_range){r.start / step, r.count, 1};
        if (step > 1) {
            size[n] = step;
            axis[n++] = (tc_range){r.start % step, 1, 1};
        }
    }
    out->rank = 0;
    for (int i = 0; i < n; i++) {
        bool part = !ti_range_is_all(&axis[i], size[i]);
        if (part && i + 1 < n && ti_range_is_all(&axis[i + 1], size[i + 1])) {
            axis[i + 1] = (tc_range){axis[i].start * size[i + 1], axis[i].count * size[i + 1], 1};
            size[i + 1] *= size[i];
            continue;
        }
        if (out->rank == TC_MAX_RANK)
            return false;
        dim[out->rank] = size[i];
        out->axis[out->rank++] = axis[i];
    }
    return true;
}

static tc_val slices(tc_tiler *t, tc_val v, const tc_select *s)
{
    for (int i = 0; i < s->rank && t->b.status == TC_OK; i++) {
        const tc_range *r = &s->axis[i];
        const tc_type *type = ti_type_of(t->rw->to, v);
        if (ti_range_is_all(r, type->dim[i]))
            continue;
        int64_t end = r->start + (r->count - 1) * r->step + 1;
        v = type->quant && type->quant->axis >= 0
                ? ti_b_typed(&t->b, TC_OP_slice, ti_b_attr(&t->b, slice, i, r->start, end, r->step), &v, 1,
                             cut_type(t->rw->ctx, type, i, r))
                : ti_b_slice(&t->b, v, i, r->start, end, r->step);
    }
    return v;
}

static tc_val slice_of_whole(tc_tiler *t, tc_val old, const tc_select *s)
{
    enum { PLAIN_RANK = 4 };
    const tc_type *type = old_type(t, old);
    bool plain = s->rank <= PLAIN_RANK;
    for (int i = 0; i < s->rank; i++)
        plain = plain && (s->axis[i].step == 1 || s->axis[i].count == 1);
    int64_t dim[TC_MAX_RANK];
    tc_select r;
    if (plain || !as_ranges(type, s, dim, &r))
        return slices(t, t->rw->now[old], s);
    tc_val v = slices(t, ti_typed_reshape(&t->b, t->rw->now[old], r.rank, dim), &r);
    const tc_type *part = part_type(t, old, s);
    return t->b.status == TC_OK ? ti_typed_reshape(&t->b, v, part->rank, part->dim) : TC_NONE;
}

/* ---- constants ---- */

static tc_val tile_const(tc_tiler *t, tc_val old, const tc_select *s)
{
    tc_tensor x = ti_tensor_of(t->rw->from, old);
    const tc_type *type = part_type(t, old, s);
    size_t bytes = tc_dtypes[type->dtype].bytes;
    char *to = ti_arena_raw(&t->rw->ctx->arena, tc_type_bytes(type));
    int64_t at[TC_MAX_RANK] = {0};
    for (int64_t i = 0, n = tc_type_count(type); i < n; i++) {
        int64_t from = 0;
        for (int k = 0; k < s->rank; k++)
            from = from * x.type->dim[k] + s->axis[k].start + at[k] * s->axis[k].step;
        memcpy(to + (size_t)i * bytes, (const char *)x.data + (size_t)from * bytes, bytes);
        for (int k = s->rank - 1; k >= 0 && ++at[k] == s->axis[k].count; k--)
            at[k] = 0;
    }
    return ti_graph_const(t->rw->to, type, to, NULL, t->b.loc);
}

void **ti_tile_place(tc_tiler *t, tc_val old, const tc_select *s)
{
    struct {
        int64_t old;
        tc_range axis[TC_MAX_RANK];
    } key;
    memset(&key, 0, sizeof key);
    key.old = old;
    memcpy(key.axis, s->axis, (size_t)s->rank * sizeof *s->axis);
    return ti_map_at(&t->made, (tc_str){(const char *)&key, sizeof key});
}

/* Rows start .. start + count of constant weights or a bias, with their scales; made once. */
static tc_val rows_of(tc_tiler *t, tc_val old, int64_t start, int64_t count)
{
    if (!old || count == old_type(t, old)->dim[0])
        return t->rw->now[old];
    tc_select s = {.rank = 1, .axis = {{start, count, -1}}}; /* a key no tile has */
    void **slot = ti_tile_place(t, old, &s);
    if (*slot)
        return (tc_val)(uintptr_t)*slot;
    tc_tensor x = ti_tensor_of(t->rw->from, old);
    tc_type type = *x.type;
    type.dim[0] = count;
    tc_quant q;
    if (type.quant && type.quant->axis == 0) {
        q = *type.quant;
        q.scale += start;
        q.zero += start;
        q.count = (int32_t)count;
        type.quant = &q;
    }
    size_t row = tc_type_bytes(x.type) / (size_t)x.type->dim[0];
    tc_val v = ti_graph_const(t->rw->to, ti_type_intern(t->rw->ctx, &type),
                              (const char *)x.data + (size_t)start * row,
                              t->rw->from->val[old]->name, t->b.loc);
    *slot = (void *)(uintptr_t)v;
    return v;
}

/* ---- movement ---- */

static bool keeps_quant(const tc_tiler *t, const tc_node *node, int which)
{
    return ti_same_quant(old_type(t, node->in[0])->quant, old_type(t, node->out[which])->quant);
}

static tc_val tile_reshape(tc_tiler *t, const tc_node *node, int which, const tc_select *s)
{
    tc_select in;
    if (!keeps_quant(t, node, which) ||
        !ti_select_reshape(s, old_type(t, node->out[0]), old_type(t, node->in[0]), &in))
        return TC_NONE;
    const tc_type *type = part_type(t, node->out[0], s);
    return ti_typed_reshape(&t->b, ti_tile(t, node->in[0], &in), type->rank, type->dim);
}

static tc_val tile_permute(tc_tiler *t, const tc_node *node, int which, const tc_select *s)
{
    const int64_t *perm = ((const tc_attr_perm *)node->attr)->perm.v;
    tc_select in = {.rank = s->rank};
    if (!keeps_quant(t, node, which))
        return TC_NONE;
    for (int i = 0; i < s->rank; i++)
        in.axis[perm[i]] = s->axis[i];
    return ti_b_permute(&t->b, ti_tile(t, node->in[0], &in), perm);
}

/* One index of the axis that is removed in the result. */
static tc_val tile_index(tc_tiler *t, const tc_node *node, int which, const tc_select *s)
{
    bool unbinds = node->op == TC_OP_unbind;
    int64_t axis = unbinds ? ((const tc_attr_axis *)node->attr)->axis
                           : ((const tc_attr_select *)node->attr)->axis;
    int64_t index = unbinds ? which : ((const tc_attr_select *)node->attr)->index;
    if (!keeps_quant(t, node, which))
        return TC_NONE;
    tc_select in = {.rank = s->rank + 1};
    for (int i = 0; i < in.rank; i++)
        in.axis[i] = i < axis ? s->axis[i] : i == axis ? (tc_range){index, 1, 1} : s->axis[i - 1];
    const tc_type *type = part_type(t, node->out[which], s);
    return ti_typed_reshape(&t->b, ti_tile(t, node->in[0], &in), type->rank, type->dim);
}

static tc_val tile_slice(tc_tiler *t, const tc_node *node, int which, const tc_select *s)
{
    tc_select in = *s;
    if (!keeps_quant(t, node, which))
        return TC_NONE;
    if (node->op == TC_OP_split) {
        const tc_attr_split *a = node->attr;
        for (int i = 0; i < which; i++)
            in.axis[a->axis].start += a->sizes.v[i];
    } else {
        const tc_attr_slice *a = node->attr;
        tc_range *r = &in.axis[a->axis];
        *r = (tc_range){a->start + r->start * a->step, r->count,
                        r->count == 1 ? 1 : r->step * a->step};
    }
    return ti_tile(t, node->in[0], &in);
}

/* Result[i] is x[(i - shift) mod n]: a range that goes over the end is two. */
static tc_val tile_roll(tc_tiler *t, const tc_node *node, int which, const tc_select *s)
{
    const tc_attr_roll *a = node->attr;
    const tc_type *x = old_type(t, node->in[0]);
    if (!keeps_quant(t, node, which) || a->axes.n != a->shifts.n)
        return TC_NONE;
    uint32_t seen = 0;
    for (int i = 0; i < a->axes.n; i++) {
        if (seen >> a->axes.v[i] & 1u)
            return TC_NONE; /* an axis permuted twice */
        seen |= 1u << a->axes.v[i];
    }
    tc_val part[1 << TC_MAX_RANK];
    int axis[TC_MAX_RANK], n_cut = 0;
    tc_select first = *s;
    int64_t head[TC_MAX_RANK];
    for (int i = 0; i < a->axes.n; i++) {
        tc_range *r = &first.axis[a->axes.v[i]];
        int64_t extent = x->dim[a->axes.v[i]];
        if (r->step != 1 && r->count != 1)
            return TC_NONE;
        r->start = ((r->start - a->shifts.v[i]) % extent + extent) % extent;
        if (r->start + r->count > extent) {
            axis[n_cut] = (int)a->axes.v[i];
            head[n_cut++] = extent - r->start;
        }
    }
    for (int m = 0; m < 1 << n_cut; m++) { /* bit k: the part after the end of axis k */
        tc_select one = first;
        for (int k = 0; k < n_cut; k++) {
            tc_range *r = &one.axis[axis[k]];
            *r = m >> k & 1 ? (tc_range){0, r->count - head[k], 1}
                            : (tc_range){r->start, head[k], 1};
        }
        part[m] = ti_tile(t, node->in[0], &one);
    }
    for (int k = n_cut - 1; k >= 0; k--) /* the highest bit first */
        for (int m = 0; m < 1 << k; m++)
            part[m] = ti_b_cat(&t->b, axis[k], (tc_val[]){part[m], part[m + (1 << k)]}, 2);
    return part[0];
}

/* ---- operators ---- */

static bool read_once(const tc_tiler *t, tc_val old)
{
    return t->rw->readers[old] == 1;
}

/* x [.., k], weights [n, k]: rows of x, rows of the weights. */
static tc_val tile_linear(tc_tiler *t, const tc_node *node, int which, const tc_select *s)
{
    const tc_graph *g = t->rw->from;
    const tc_range *columns = &s->axis[s->rank - 1];
    (void)which;
    bool known = ti_is_const(g, node->in[1]) &&
                 (node->n_in < 3 || !node->in[2] || ti_is_const(g, node->in[2]));
    if (!known || (columns->step != 1 && columns->count != 1))
        return TC_NONE;
    const tc_type *y = old_type(t, node->out[0]);
    if (ti_tile_stacks(t, node))
        return TC_NONE; /* the whole is there */
    if (ti_merged_heads(g, node) && ti_range_is_all(&s->axis[1], y->dim[1]) &&
        ti_range_is_all(columns, y->dim[2]))
        return ti_tile_projection(t, node, s->axis[0]);
    tc_select rows = *s;
    rows.axis[s->rank - 1] = (tc_range){0, old_type(t, node->in[1])->dim[1], 1};
    tc_val in[3] = {ti_tile(t, node->in[0], &rows)};
    for (int i = 1; i < node->n_in; i++)
        in[i] = rows_of(t, node->in[i], columns->start, columns->count);
    return ti_b_typed(&t->b, TC_OP_linear, NULL, in, node->n_in, part_type(t, node->out[0], s));
}

static bool is_pointwise(const tc_tiler *t, const tc_node *node)
{
    const tc_attr_conv *a = node->attr;
    const tc_type *w = old_type(t, node->in[1]);
    bool plain = a->groups == 1 && w->rank == 4 && w->dim[2] == 1 && w->dim[3] == 1;
    for (int i = 0; plain && i < 2; i++)
        plain = a->stride.v[i] == 1 && !a->pad.v[2 * i] && !a->pad.v[2 * i + 1];
    return plain && old_type(t, node->in[0])->rank == 4;
}

/* Every second pixel of a 1x1 convolution: of every second pixel of its operand if that only moves
 * elements, else one of stride 2 on what begins there. */
static tc_val tile_conv(tc_tiler *t, const tc_node *node, int which, const tc_select *s)
{
    const tc_attr_conv *old = node->attr;
    const tc_range *c = &s->axis[1];
    (void)which;
    if (!is_pointwise(t, node) || !ti_range_is_all(c, old_type(t, node->out[0])->dim[1]))
        return TC_NONE;
    tc_select in = *s;
    int64_t stride[2];
    in.axis[1] = (tc_range){0, old_type(t, node->in[0])->dim[1], 1};
    bool moved = ti_tile_moves(ti_def(t->rw->from, node->in[0]));
    for (int i = 0; i < 2; i++) {
        tc_range *r = &in.axis[2 + i];
        stride[i] = moved || r->count == 1 ? 1 : r->step;
        if (stride[i] > TC_NPU_STRIDE)
            return TC_NONE;
        if (!moved)
            *r = (tc_range){r->start, (r->count - 1) * stride[i] + 1, 1};
    }
    tc_attr_conv a = *old;
    a.stride = ti_ints_copy(&t->rw->ctx->arena, stride, 2);
    bool overlaps = stride[0] > 1 || stride[1] > 1;
    tc_val x = overlaps ? slice_of_whole(t, node->in[0], &in) : ti_tile(t, node->in[0], &in);
    tc_val operand[] = {x, t->rw->now[node->in[1]],
                        node->n_in > 2 ? t->rw->now[node->in[2]] : TC_NONE};
    return ti_b_typed(&t->b, TC_OP_conv, ti_arena_copy(&t->rw->ctx->arena, &a, sizeof a), operand,
                      node->n_in, part_type(t, node->out[0], s));
}

/* The part of an operand that the part of the result needs: axes from the back, extent 1 for all.
 */
static tc_val tile_operand(tc_tiler *t, tc_val old, const tc_select *s)
{
    const tc_type *x = old_type(t, old);
    tc_select in = {.rank = x->rank};
    for (int i = 0; i < x->rank; i++) {
        const tc_range *r = &s->axis[s->rank - x->rank + i];
        in.axis[i] = x->dim[i] == 1 ? (tc_range){0, 1, 1} : *r;
    }
    return ti_tile(t, old, &in);
}

static bool moves(const tc_node *node)
{
    return node && (node->op == TC_OP_reshape || node->op == TC_OP_permute);
}

/* One number times a part of a product that was moved: times the product, then moved, so that it
 * can go into the weights. */
static tc_val times_before_moving(tc_tiler *t, const tc_node *like, tc_val x, tc_val number,
                                  const tc_type *type)
{
    const tc_node *def = ti_def(t->rw->to, x);
    if (moves(def)) {
        const tc_type *from = ti_type_of(t->rw->to, def->in[0]);
        tc_val y = times_before_moving(t, like, def->in[0], number,
                                       ti_type_dims(t->rw->ctx, type, from->rank, from->dim));
        return ti_b_typed(&t->b, def->op, def->attr, &y, 1, type);
    }
    return ti_b_typed(&t->b, like->op, like->attr, (tc_val[]){x, number}, 2, type);
}

static tc_val tile_eltwise(tc_tiler *t, const tc_node *node, int which, const tc_select *s)
{
    tc_val in[4];
    (void)which;
    if (node->n_in > 4)
        return TC_NONE;
    const tc_type *type = part_type(t, node->out[0], s);
    for (int i = 0; i < node->n_in; i++)
        in[i] = node->in[i] ? tile_operand(t, node->in[i], s) : TC_NONE;
    TC_STOP_WITH(&t->b, TC_NONE);
    const tc_value *number = node->op == TC_OP_mul ? t->rw->to->val[in[1]] : NULL;
    if (number && number->data && tc_type_count(number->type) == 1 &&
        ti_same_dims(type, ti_type_of(t->rw->to, in[0]))) {
        tc_val bare =
            ti_graph_const(t->rw->to, ti_type_dims(t->rw->ctx, number->type, 0, type->dim),
                           number->data, number->name, node->loc);
        return times_before_moving(t, node, in[0], bare, type);
    }
    return ti_b_typed(&t->b, node->op, node->attr, in, node->n_in, type);
}

/* Rows of a, columns of b, and the axes before them of both. */
static tc_val tile_matmul(tc_tiler *t, const tc_node *node, int which, const tc_select *s)
{
    const tc_type *a = old_type(t, node->in[0]), *b = old_type(t, node->in[1]);
    (void)which;
    if (a->rank != s->rank || b->rank != s->rank || s->rank < 2)
        return TC_NONE;
    tc_select sa = *s, sb = *s;
    sa.axis[s->rank - 1] = (tc_range){0, a->dim[s->rank - 1], 1};
    sb.axis[s->rank - 2] = (tc_range){0, b->dim[s->rank - 2], 1};
    for (int i = 0; i < s->rank - 2; i++) {
        if (a->dim[i] == 1)
            sa.axis[i] = (tc_range){0, 1, 1};
        if (b->dim[i] == 1)
            sb.axis[i] = (tc_range){0, 1, 1};
    }
    tc_val in[2] = {ti_tile(t, node->in[0], &sa)};
    in[1] = ti_tile(t, node->in[1], &sb);
    return ti_b_typed(&t->b, TC_OP_matmul, NULL, in, 2, part_type(t, node->out[0], s));
}

static tc_val tile_softmax(tc_tiler *t, const tc_node *node, int which, const tc_select *s)
{
    int64_t axis = ((const tc_attr_axis *)node->attr)->axis;
    (void)which;
    if (!ti_range_is_all(&s->axis[axis], old_type(t, node->in[0])->dim[axis]))
        return TC_NONE;
    tc_val x = ti_tile(t, node->in[0], s);
    return ti_b_typed(&t->b, TC_OP_softmax, node->attr, &x, 1, part_type(t, node->out[0], s));
}

/* Along axes that are selected whole, and stay with extent 1. */
static tc_val tile_reduce(tc_tiler *t, const tc_node *node, int which, const tc_select *s)
{
    const tc_attr_axes *a = node->attr;
    tc_select in = *s;
    (void)which;
    if (!a->keepdim || old_type(t, node->in[0])->rank != s->rank)
        return TC_NONE;
    for (int i = 0; i < a->axes.n; i++)
        in.axis[a->axes.v[i]] = (tc_range){0, old_type(t, node->in[0])->dim[a->axes.v[i]], 1};
    tc_val x = ti_tile(t, node->in[0], &in);
    return ti_b_typed(&t->b, node->op, a, &x, 1, part_type(t, node->out[0], s));
}

/* q [.., l, d], k [.., s, d], v [.., s, e], perhaps a mask: the axes before the last two, and rows
 * of q. */
static tc_val tile_sdpa(tc_tiler *t, const tc_node *node, int which, const tc_select *s)
{
    const tc_attr_sdpa *a = node->attr;
    const tc_type *q = old_type(t, node->in[0]);
    (void)which;
    bool rows = ti_range_is_all(&s->axis[s->rank - 2], q->dim[s->rank - 2]);
    bool columns =
        ti_range_is_all(&s->axis[s->rank - 1], old_type(t, node->out[0])->dim[s->rank - 1]);
    if (!rows || !columns || a->gqa)
        return TC_NONE;
    tc_val in[4] = {TC_NONE};
    for (int i = 0; i < node->n_in; i++) {
        const tc_type *x = old_type(t, node->in[i]);
        if (!node->in[i])
            continue;
        if (i < 3 && x->rank != s->rank)
            return TC_NONE;
        tc_select part = *s;
        for (int k = x->rank - 2; k < x->rank; k++) /* the last two axes whole */
            part.axis[s->rank - x->rank + k] = (tc_range){0, x->dim[k], 1};
        in[i] = tile_operand(t, node->in[i], &part);
    }
    return ti_b_typed(&t->b, TC_OP_sdpa, a, in, node->n_in, part_type(t, node->out[0], s));
}

/* Whether parts of the value come from parts of a product: then everything in between is done by
 * parts too. Elsewhere a slice of the whole is cheaper, and the producer of the whole keeps its
 * activation. */
bool ti_tile_from_product(const tc_tiler *t, tc_val old)
{
    const tc_graph *g = t->rw->from;
    const tc_node *node = ti_def(g, old);
    if (ti_tile_moves(node))
        return ti_tile_from_product(t, node->in[0]);
    if (!node || t->inner[old])
        return node;
    if (!read_once(t, old))
        return false;
    if (tc_ops[node->op].traits & T_ELTWISE) {
        bool any = false;
        for (int i = 0; i < node->n_in; i++)
            any = any || (node->in[i] && !ti_is_const(g, node->in[i]) &&
                          ti_tile_from_product(t, node->in[i]));
        return any;
    }
    return node->op == TC_OP_linear || node->op == TC_OP_matmul || node->op == TC_OP_softmax ||
           node->op == TC_OP_sdpa || (node->op == TC_OP_conv && is_pointwise(t, node));
}

/* ---- by operator ---- */

/* The row of an operator in lower.def. */
typedef enum tile_word {
    TILE_none,    /* a slice of the whole */
    TILE_whole,   /* the same, though an attention may have it inside */
    TILE_eltwise, /* parts of the operands */
    TILE_reshape,
    TILE_permute,
    TILE_index,
    TILE_slice,
    TILE_roll,
    TILE_linear,
    TILE_conv,
    TILE_matmul,
    TILE_softmax,
    TILE_sdpa,
    TILE_reduce,
    TILE_mean,
} tile_word;

static const uint8_t word_of[TC_OP_COUNT] = {
#define LOWER(op, quantized, plain, tile) [TC_OP_##op] = TILE_##tile,
#include "../lower.def"
};

static const struct {
    tile_fn *tile;
    bool always; /* movement: also where others read the result */
    bool core;   /* is between the linear layers of an attention */
} tilers[] = {
    [TILE_none] = {NULL, false, false},           [TILE_whole] = {NULL, false, true},
    [TILE_eltwise] = {tile_eltwise, false, true}, [TILE_reshape] = {tile_reshape, true, true},
    [TILE_permute] = {tile_permute, true, true},  [TILE_index] = {tile_index, true, true},
    [TILE_slice] = {tile_slice, true, true},      [TILE_roll] = {tile_roll, true, true},
    [TILE_linear] = {tile_linear, false, true},   [TILE_conv] = {tile_conv, false, false},
    [TILE_matmul] = {tile_matmul, false, true},   [TILE_softmax] = {tile_softmax, false, true},
    [TILE_sdpa] = {tile_sdpa, false, true},       [TILE_reduce] = {tile_reduce, false, true},
    [TILE_mean] = {tile_reduce, false, false},
};

bool ti_tile_moves(const tc_node *node)
{
    return node && tilers[word_of[node->op]].always;
}

static tc_val tile_node(tc_tiler *t, tc_val old, const tc_select *s, bool alone)
{
    const tc_node *node = ti_def(t->rw->from, old);
    tile_word word = node ? word_of[node->op] : TILE_none;
    tile_fn *tile = alone || tilers[word].always ? tilers[word].tile : NULL;
    return tile ? tile(t, node, t->rw->from->val[old]->index, s) : TC_NONE;
}

tc_val ti_tile_computed(tc_tiler *t, tc_val old, const tc_select *s)
{
    const tc_quant *q = old_type(t, old)->quant;
    return q && q->axis >= 0 ? TC_NONE : tile_node(t, old, s, true);
}

tc_val ti_tile(tc_tiler *t, tc_val old, const tc_select *s)
{
    const tc_type *type = old_type(t, old);
    TC_STOP_WITH(&t->b, TC_NONE);
    if (ti_select_is_all(s, type))
        return t->rw->now[old];
    void **slot = ti_tile_place(t, old, s);
    if (*slot)
        return (tc_val)(uintptr_t)*slot;
    bool one_domain = !type->quant || type->quant->axis < 0;
    tc_val v = TC_NONE;
    if (ti_is_const(t->rw->from, old) && one_domain)
        v = tile_const(t, old, s);
    else if (one_domain)
        v = tile_node(t, old, s, ti_tile_from_product(t, old));
    if (!v && t->b.status == TC_OK)
        v = slice_of_whole(t, old, s);
    *ti_tile_place(t, old, s) = (void *)(uintptr_t)v; /* the map may have grown */
    return v;
}

/* ---- attention's own values ---- */

/* Between the linear layers of an attention: with a result that only they read. */
static bool is_core(const tc_node *node)
{
    return tilers[word_of[node->op]].core;
}

/* From the back: a node belongs to an attention when all who read its results do.  A linear layer
 * is where it begins. */
static void find_inner(tc_tiler *t)
{
    const tc_graph *g = t->rw->from;
    uint32_t *inside = tc_new_n(&t->rw->ctx->scratch, uint32_t, g->n_val); /* readers that belong */
    t->inner = tc_new_n(&t->rw->ctx->scratch, bool, g->n_val);
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        if (ti_merged_heads(g, node)) {
            inside[node->in[0]]++; /* and the result of this linear layer is outside */
            continue;
        }
        bool all = node->n_out > 0 && is_core(node), any = false;
        for (int i = 0; i < node->n_out; i++) {
            all = all && inside[node->out[i]] == t->rw->readers[node->out[i]];
            any = any || inside[node->out[i]];
        }
        if (!all || !any)
            continue;
        for (int i = 0; i < node->n_out; i++)
            t->inner[node->out[i]] = true;
        for (int i = 0; i < node->n_in && node->op != TC_OP_linear; i++)
            inside[node->in[i]]++;
    }
}

tc_tiler *ti_tiler_at(tc_tiler *t, tc_rewrite *rw, const tc_node *node)
{
    if (!t->rw) {
        t->rw = rw;
        ti_map_init(&t->made, &rw->ctx->scratch);
        find_inner(t);
    }
    t->b = ti_build_instead(rw, node);
    return t;
}
