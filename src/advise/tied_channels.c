/* SPDX-License-Identifier: Apache-2.0 */
/* tied_channels.c -- channels that have to be as many as those of a layer.
 *
 * From an axis of one value to the axes of others: through operators that leave channels apart, to
 * the constants that have one number, row or column for each of them. */
#include "advise.h"

#include "../ir/axis.h"
#include "../ir/rewrite.h"

typedef struct walk {
    tc_advisor *a;
    const tc_graph *g;
    tc_tied *out;
    int8_t *axis; /* by value: its tied axis + 1; 0: not visited */
    tc_val *todo;
    size_t n_todo;
    int64_t extent;
} walk;

static bool meet(walk *w, tc_val v, int axis)
{
    const tc_type *t = ti_type_of(w->g, v);
    if (axis < 0 || axis >= t->rank || t->dim[axis] != w->extent)
        return false;
    if (w->axis[v])
        return w->axis[v] == axis + 1;
    w->axis[v] = (int8_t)(axis + 1);
    w->todo[w->n_todo++] = v;
    return true;
}

/* The constant has w->extent elements along the axis. */
static bool tie(walk *w, tc_val v, int axis)
{
    tc_arena *arena = &w->a->ctx->arena;
    const tc_type *t = ti_type_of(w->g, v);
    if (!ti_is_const(w->g, v) || w->a->readers[v] != 1 || t->dim[axis] != w->extent)
        return false;
    tc_grow(arena, w->out->constant, w->out->n, w->out->cap);
    w->out->constant[w->out->n++] = (tc_tied_constant){v, axis};
    return true;
}

static int64_t groups_of(const tc_node *node)
{
    return node->op == TC_OP_conv ? ((const tc_attr_conv *)node->attr)->groups : 1;
}

static bool is_product(const tc_graph *g, const tc_node *node)
{
    return (node->op == TC_OP_conv || node->op == TC_OP_linear) && ti_is_const(g, node->in[1]);
}

static int product_axis(const tc_graph *g, const tc_node *node)
{
    return node->op == TC_OP_conv ? 1 : ti_type_of(g, node->out[0])->rank - 1;
}

int64_t ti_channels_of(const tc_graph *g, const tc_node *node)
{
    return is_product(g, node) ? ti_type_of(g, node->out[0])->dim[product_axis(g, node)] : 0;
}

/* One channel each, in and out. */
static bool is_depthwise(const tc_graph *g, const tc_node *node)
{
    return is_product(g, node) && groups_of(node) > 1 &&
           groups_of(node) == ti_channels_of(g, node) &&
           ti_type_of(g, node->in[0])->dim[1] == groups_of(node);
}

/* Rows of the weights, and the bias. */
static bool tie_rows(walk *w, const tc_node *node)
{
    return tie(w, node->in[1], 0) && (node->n_in < 3 || !node->in[2] || tie(w, node->in[2], 0));
}

static size_t place_of(const tc_graph *g, const tc_node *node)
{
    size_t k = 0;
    while (g->node[k] != node)
        k++;
    return k;
}

static bool through_depthwise(walk *w, const tc_node *node)
{
    tc_arena *arena = &w->a->ctx->arena;
    size_t at = place_of(w->g, node);
    for (size_t i = 0; i < w->out->n_grouped; i++)
        if (w->out->grouped[i] == at)
            return true;
    tc_grow(arena, w->out->grouped, w->out->n_grouped, w->out->cap_grouped);
    w->out->grouped[w->out->n_grouped++] = at;
    return tie_rows(w, node) && meet(w, node->in[0], 1) && meet(w, node->out[0], 1);
}

/* Operand i of an elementwise operator, whose axes are counted from the last. */
static bool through_operand(walk *w, const tc_node *node, int i, int axis)
{
    const tc_type *t = ti_type_of(w->g, node->in[i]), *y = ti_type_of(w->g, node->out[0]);
    int own = axis - (y->rank - t->rank);
    if (node->op == TC_OP_prelu && i == 1) /* one slope for each channel, whatever their axis */
        own = axis == 1 && t->rank == 1 ? 0 : -1;
    if (own < 0 || t->dim[own] == 1)
        return true;
    if (!ti_is_const(w->g, node->in[i]))
        return meet(w, node->in[i], own);
    for (size_t k = 0; k < w->out->n; k++)
        if (w->out->constant[k].v == node->in[i])
            return true;
    return tie(w, node->in[i], own);
}

static bool through_eltwise(walk *w, const tc_node *node, int axis)
{
    bool ok = meet(w, node->out[0], axis);
    for (int i = 0; i < node->n_in && ok; i++)
        ok = !node->in[i] || through_operand(w, node, i, axis);
    return ok;
}

static bool through_norm(walk *w, const tc_node *node)
{
    for (size_t k = 0; k < w->out->n; k++)
        if (w->out->constant[k].v == node->in[node->n_in - 1])
            return true;
    bool ok = meet(w, node->in[0], 1) && meet(w, node->out[0], 1);
    for (int i = 1; i < node->n_in && ok; i++)
        ok = !node->in[i] || tie(w, node->in[i], 0);
    return ok;
}

/* Axis of the result of a reduction, or of its operand. */
static int reduced_axis(const tc_node *node, int axis, bool forth)
{
    const tc_attr_axes *attr = node->attr;
    int gone = 0;
    for (int i = 0; i < attr->axes.n; i++) {
        if (attr->axes.v[i] == axis && (forth || attr->keepdim))
            return -1;
        gone += attr->axes.v[i] < axis + (forth ? 0 : gone + 1);
    }
    return attr->keepdim ? axis : forth ? axis - gone : axis + gone;
}

static bool is_window(tc_op op)
{
    return op == TC_OP_max_pool || op == TC_OP_avg_pool || op == TC_OP_adaptive_avg_pool ||
           op == TC_OP_adaptive_max_pool || op == TC_OP_upsample_nearest ||
           op == TC_OP_upsample_nearest_exact || op == TC_OP_upsample_linear ||
           op == TC_OP_upsample_cubic;
}

/* The axis of operand 0 that becomes `axis` of the result, or the inverse; -1: it is not kept. */
static int moved(const tc_graph *g, const tc_node *node, int axis, bool forth)
{
    if (forth)
        return ti_moved_axis(g, node, axis);
    for (int i = 0; i < ti_type_of(g, node->in[0])->rank; i++)
        if (ti_moved_axis(g, node, i) == axis)
            return i;
    return -1;
}

/* Operators that leave channels apart; forth: `axis` is one of operand 0. */
static bool through(walk *w, const tc_node *node, int axis, bool forth)
{
    const tc_graph *g = w->g;
    tc_val to = forth ? node->out[0] : node->in[0];
    if (node->op == TC_OP_batch_norm)
        return axis == 1 && through_norm(w, node);
    if (node->op == TC_OP_mean)
        return meet(w, to, reduced_axis(node, axis, forth));
    if (is_window(node->op))
        return axis == 1 && node->n_out == 1 && meet(w, to, 1);
    if (tc_ops[node->op].traits & T_ELTWISE)
        return through_eltwise(w, node, axis);
    if (node->op == TC_OP_identity)
        return meet(w, to, axis);
    return meet(w, to, moved(g, node, axis, forth));
}

static bool made_by(walk *w, tc_val v, int axis)
{
    const tc_node *node = ti_def(w->g, v);
    if (!node || node->n_out != 1)
        return false;
    if (is_depthwise(w->g, node))
        return axis == 1 && through_depthwise(w, node);
    if (!is_product(w->g, node))
        return through(w, node, axis, false);
    if (groups_of(node) != 1 || axis != product_axis(w->g, node))
        return false;
    tc_grow(&w->a->ctx->arena, w->out->maker, w->out->n_maker, w->out->cap_maker);
    w->out->maker[w->out->n_maker++] = place_of(w->g, node);
    return tie_rows(w, node);
}

static bool read_by(walk *w, tc_val v, const tc_node *node, int axis)
{
    if (is_depthwise(w->g, node))
        return axis == 1 && node->in[0] == v && through_depthwise(w, node);
    if (is_product(w->g, node))
        return node->in[0] == v && groups_of(node) == 1 &&
               axis == (node->op == TC_OP_conv ? 1 : ti_type_of(w->g, v)->rank - 1) &&
               tie(w, node->in[1], 1);
    if ((tc_ops[node->op].traits & T_ELTWISE) && node->n_out == 1)
        return through_eltwise(w, node, axis + ti_type_of(w->g, node->out[0])->rank -
                                            ti_type_of(w->g, v)->rank);
    return node->n_out == 1 && node->in[0] == v && through(w, node, axis, true);
}

static bool follow(walk *w, const bool *pinned)
{
    const tc_graph *g = w->g;
    while (w->n_todo) {
        tc_val v = w->todo[--w->n_todo];
        int axis = w->axis[v] - 1;
        if (pinned[v] || !made_by(w, v, axis))
            return false;
        for (size_t k = 0; k < g->n_node; k++)
            for (int i = 0; i < g->node[k]->n_in; i++)
                if (g->node[k]->in[i] == v && !read_by(w, v, g->node[k], axis))
                    return false;
    }
    return true;
}

bool ti_tied_channels(tc_advisor *a, size_t at, tc_tied *out)
{
    const tc_graph *g = a->g;
    const tc_node *node = g->node[at];
    *out = (tc_tied){0};
    if (!is_product(g, node) || groups_of(node) != 1)
        return false;
    tc_mark mark = ti_arena_mark(&a->ctx->scratch);
    walk w = {.a = a,
              .g = g,
              .out = out,
              .axis = tc_new_n(&a->ctx->scratch, int8_t, g->n_val),
              .todo = tc_new_n(&a->ctx->scratch, tc_val, g->n_val),
              .extent = ti_channels_of(g, node)};
    bool ok = meet(&w, node->out[0], product_axis(g, node)) &&
              follow(&w, ti_graph_pinned(a->ctx, g));
    ti_arena_rewind(&a->ctx->scratch, mark);
    return ok;
}
