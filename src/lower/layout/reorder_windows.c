/* SPDX-License-Identifier: Apache-2.0 */
/* reorder_windows.c -- typed form: the windows of a plane in column order.
 *
 *   [1, h, a, w, c, ..]  permute  [1, h, w, a, c, ..]  reshape  [h w, a c, ..]
 *
 * partitions a plane into h x w windows of a x c elements, in row order.  What is done with each
 * window by itself does not depend on their order, so they may as well come
 *
 *   [1, w, h, a, c, ..]
 *
 * in column order: h and a are then adjacent before and after, and a column of windows is one strip
 * of the plane, which one slice or concatenation handles.  Done where every value in between has
 * the windows on a separate axis, up to where the partition is reversed; constants that differ
 * between windows are reordered. */
#include "../lower_pass.h"

#include "../../ir/rewrite.h"
#include "axis_order.h"

/* Where a value's windows are. */
typedef struct place {
    int axis;  /* -1: it has none */
    int group; /* whose */
} place;

typedef struct strips {
    tc_ctx *ctx;
    const tc_graph *g;
    const bool *pinned;
    place *at;              /* by value */
    const tc_node **only;   /* by value: its reader, where there is one alone */
    const uint32_t *readers;
    int64_t (*grid)[2];     /* by group: h, w */
    bool *fails;            /* by group: some value in between does not keep them */
    int n;
} strips;

static const tc_type *type_of(const strips *s, tc_val v)
{
    return ti_type_of(s->g, v);
}

static bool is_swap(const tc_node *node)
{
    static const int64_t swap[] = {0, 1, 3, 2, 4, 5};
    const tc_attr_perm *a = node ? node->attr : NULL;
    return node && node->op == TC_OP_permute && a->perm.n == 6 &&
           memcmp(a->perm.v, swap, sizeof swap) == 0;
}

/* The reshape that makes windows the first axis: the node that starts a group. */
static bool starts(const strips *s, const tc_node *node, int64_t *grid)
{
    const tc_node *swap = node->op == TC_OP_reshape ? ti_def(s->g, node->in[0]) : NULL;
    if (!is_swap(swap) || s->readers[node->in[0]] != 1 || s->readers[swap->in[0]] != 1)
        return false;
    const int64_t *d = type_of(s, node->in[0])->dim;
    const tc_type *to = type_of(s, node->out[0]);
    grid[0] = d[1];
    grid[1] = d[2];
    return d[0] == 1 && d[1] > 1 && d[2] > 1 && to->rank > 1 && to->dim[0] == d[1] * d[2] &&
           type_of(s, node->out[0])->quant;
}

/* The reshape that takes the windows apart again, before the permute that puts them back. */
static bool ends(const strips *s, const tc_node *node)
{
    place p = s->at[node->in[0]];
    const tc_type *x = type_of(s, node->in[0]), *y = type_of(s, node->out[0]);
    if (node->op != TC_OP_reshape || p.axis != 0 || y->rank != 6 || !s->only[node->out[0]] ||
        !is_swap(s->only[node->out[0]]) || s->pinned[node->out[0]])
        return false;
    const int64_t *grid = s->grid[p.group];
    return y->dim[0] == 1 && y->dim[1] == grid[0] && y->dim[2] == grid[1] &&
           x->dim[0] == grid[0] * grid[1];
}

static int axis_behind_reshape(const strips *s, const tc_node *node, int axis)
{
    const tc_type *x = type_of(s, node->in[0]), *y = type_of(s, node->out[0]);
    int64_t before = 1, here = 1;
    for (int i = 0; i < axis; i++)
        before *= x->dim[i];
    for (int i = 0; i < y->rank && here <= before; here *= y->dim[i++])
        if (here == before && y->dim[i] == x->dim[axis])
            return i;
    return -1;
}

/* Operands element by element, or batch by batch: each has the windows on the same axis from the
 * right, or is a constant, or has one number for all of them. */
static int axis_of_operands(const strips *s, const tc_node *node, int last)
{
    const tc_type *y = type_of(s, node->out[0]);
    int from_right = 0;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && s->at[node->in[i]].axis >= 0)
            from_right = type_of(s, node->in[i])->rank - s->at[node->in[i]].axis;
    if (from_right <= last)
        return -1;
    for (int i = 0; i < node->n_in; i++) {
        tc_val v = node->in[i];
        const tc_type *x = v ? type_of(s, v) : NULL;
        int axis = v ? x->rank - from_right : -1;
        bool has = v && s->at[v].axis >= 0;
        if ((has && s->at[v].axis != axis) ||
            (!has && axis >= 0 && x->dim[axis] != 1 && !ti_is_const(s->g, v)))
            return -1;
    }
    return y->rank - from_right;
}

static int axis_of_result(const strips *s, const tc_node *node)
{
    int axis = s->at[node->in[0]].axis;
    switch (node->op) {
    case TC_OP_reshape:
        return axis_behind_reshape(s, node, axis);
    case TC_OP_permute:
        for (int i = 0; i < type_of(s, node->out[0])->rank; i++)
            if (((const tc_attr_perm *)node->attr)->perm.v[i] == axis)
                return i;
        return -1;
    case TC_OP_linear:
        return axis < type_of(s, node->in[0])->rank - 1 ? axis : -1;
    case TC_OP_softmax:
        return ((const tc_attr_axis *)node->attr)->axis == axis ? -1 : axis;
    case TC_OP_unbind: {
        int64_t gone = ((const tc_attr_axis *)node->attr)->axis;
        return gone == axis ? -1 : axis - (gone < axis);
    }
    case TC_OP_slice:
        return ((const tc_attr_slice *)node->attr)->axis == axis ? -1 : axis;
    case TC_OP_split:
        return ((const tc_attr_split *)node->attr)->axis == axis ? -1 : axis;
    case TC_OP_matmul:
        return axis_of_operands(s, node, 2);
    default:
        return tc_ops[node->op].traits & T_ELTWISE && node->n_out == 1
                   ? axis_of_operands(s, node, 0)
                   : -1;
    }
}

/* Follows the windows through one node. */
static void visit(strips *s, const tc_node *node)
{
    int group = -1;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && s->at[node->in[i]].axis >= 0) {
            int mine = s->at[node->in[i]].group;
            s->fails[mine] = s->fails[mine] || (group >= 0 && group != mine);
            group = mine;
        }
    int64_t grid[2];
    if (group < 0 && starts(s, node, grid)) {
        memcpy(s->grid[s->n], grid, sizeof grid);
        s->at[node->out[0]] = (place){0, s->n++};
        return;
    }
    if (group < 0 || ends(s, node))
        return;
    int axis = node->n_in == 1 || s->at[node->in[0]].axis >= 0 ||
                       (tc_ops[node->op].traits & T_ELTWISE)
                   ? axis_of_result(s, node)
                   : -1;
    s->fails[group] = s->fails[group] || axis < 0;
    for (int i = 0; i < node->n_out; i++) {
        s->at[node->out[i]] = (place){axis, group};
        s->fails[group] = s->fails[group] || s->pinned[node->out[i]];
    }
}

static void look(strips *s)
{
    for (size_t k = 0; k < s->g->n_node; k++)
        for (int i = 0; i < s->g->node[k]->n_in; i++)
            s->only[s->g->node[k]->in[i]] = s->g->node[k];
    for (tc_val v = 0; v < s->g->n_val; v++) {
        s->at[v].axis = -1;
        s->only[v] = s->readers[v] == 1 ? s->only[v] : NULL;
    }
    for (size_t k = 0; k < s->g->n_node; k++)
        visit(s, s->g->node[k]);
}

/* The group that a value's windows are reordered for; -1: none. */
static int group_of(const strips *s, tc_val v)
{
    return v && s->at[v].axis >= 0 && !s->fails[s->at[v].group] ? s->at[v].group : -1;
}

/* ---- the new graph ---- */

static tc_status put(tc_rewrite *rw, const tc_node *node, tc_op op, const void *attr, tc_val in,
                     const tc_type *type, tc_val *out)
{
    tc_node *made = ti_graph_add(rw->to, op, attr, &in, 1, 1, node->loc);
    rw->to->val[made->out[0]]->type = type;
    *out = made->out[0];
    return ti_node_infer(rw->to, made);
}

static const tc_attr_perm *perm_of(tc_rewrite *rw, const int64_t *perm)
{
    tc_attr_perm *a = tc_new(&rw->ctx->arena, tc_attr_perm);
    a->perm = ti_ints_copy(&rw->ctx->arena, perm, 6);
    return a;
}

static const tc_type *with_dims(tc_rewrite *rw, const tc_type *t, const int64_t *dim)
{
    tc_type type = *t;
    memcpy(type.dim, dim, 6 * sizeof *dim);
    return ti_type_intern(rw->ctx, &type);
}

static tc_status start(tc_rewrite *rw, const tc_node *node, bool *done)
{
    static const int64_t columns[] = {0, 3, 1, 2, 4, 5};
    const strips *s = rw->user;
    int group = node->n_out == 1 ? group_of(s, node->out[0]) : -1;
    int64_t grid[2];
    if (group < 0 || !starts(s, node, grid))
        return TC_OK;
    const tc_node *swap = ti_def(rw->from, node->in[0]);
    const tc_type *t = ti_type_of(rw->from, node->in[0]);
    int64_t dim[] = {1, grid[1], grid[0], t->dim[3], t->dim[4], t->dim[5]};
    tc_val v;
    TC_TRY(put(rw, node, TC_OP_permute, perm_of(rw, columns), rw->now[swap->in[0]],
               with_dims(rw, t, dim), &v));
    return ti_rewrite_as(rw, node, TC_OP_reshape, node->attr, v, done);
}

/* The reshape and the permute after it, at the permute. */
static tc_status end(tc_rewrite *rw, const tc_node *node, bool *done)
{
    static const int64_t back[] = {0, 2, 3, 1, 4, 5};
    const strips *s = rw->user;
    const tc_node *apart = is_swap(node) ? ti_def(rw->from, node->in[0]) : NULL;
    if (!apart || apart->op != TC_OP_reshape || group_of(s, apart->in[0]) < 0 || !ends(s, apart))
        return TC_OK;
    const tc_type *t = ti_type_of(rw->from, node->in[0]);
    int64_t dim[] = {1, t->dim[2], t->dim[1], t->dim[3], t->dim[4], t->dim[5]};
    tc_attr_shape *a = tc_new(&rw->ctx->arena, tc_attr_shape);
    a->shape = ti_ints_copy(&rw->ctx->arena, dim, 6);
    tc_val v;
    TC_TRY(put(rw, node, TC_OP_reshape, a, rw->now[apart->in[0]], with_dims(rw, t, dim), &v));
    return ti_rewrite_as(rw, node, TC_OP_permute, perm_of(rw, back), v, done);
}

/* A constant that differs from window to window, in their new order. */
static tc_val reordered(tc_rewrite *rw, tc_val old, int axis, const int64_t *grid)
{
    const tc_value *x = rw->from->val[old];
    int64_t before = 1, after = 1;
    for (int i = 0; i < x->type->rank; i++)
        *(i < axis ? &before : &after) *= i == axis ? 1 : x->type->dim[i];
    tc_type flat = {.dtype = x->type->dtype, .rank = 4, .dim = {before, grid[0], grid[1], after}};
    static const int64_t swap[] = {0, 2, 1, 3};
    const void *data = ti_transposed(&rw->ctx->arena, &flat, x->data, swap);
    return ti_graph_const(rw->to, x->type, data, x->name, NULL);
}

static tc_status between(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const strips *s = rw->user;
    int group = -1, from_right = 0;
    for (int i = 0; i < node->n_in && group < 0; i++) {
        group = group_of(s, node->in[i]);
        if (group >= 0)
            from_right = ti_type_of(rw->from, node->in[i])->rank - s->at[node->in[i]].axis;
    }
    if (group < 0 || !(tc_ops[node->op].traits & T_ELTWISE))
        return TC_OK;
    bool any = false;
    tc_val in[8];
    for (int i = 0; i < node->n_in && i < 8; i++) {
        in[i] = rw->now[node->in[i]];
        const tc_type *x = node->in[i] ? ti_type_of(rw->from, node->in[i]) : NULL;
        int axis = x ? x->rank - from_right : -1;
        if (axis < 0 || !ti_is_const(rw->from, node->in[i]) || x->dim[axis] == 1)
            continue;
        in[i] = reordered(rw, node->in[i], axis, s->grid[group]);
        any = true;
    }
    if (!any || node->n_in > 8)
        return TC_OK;
    ti_rewrite_copy(rw, node);
    memcpy(rw->to->node[rw->to->n_node - 1]->in, in, (size_t)node->n_in * sizeof *in);
    *done = true;
    return TC_OK;
}

tc_status ti_lower_reorder_windows(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {start, end, between};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_graph *g = module->graph[i];
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        strips s = {.ctx = ctx, .g = g, .pinned = ti_graph_pinned(ctx, g)};
        s.readers = ti_graph_readers(ctx, g);
        s.at = tc_new_n(&ctx->scratch, place, g->n_val);
        s.only = tc_new_n(&ctx->scratch, const tc_node *, g->n_val);
        s.grid = (int64_t(*)[2])tc_new_n(&ctx->scratch, int64_t, 2 * (g->n_node + 1));
        s.fails = tc_new_n(&ctx->scratch, bool, g->n_node + 1);
        look(&s);
        status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), &s);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}
