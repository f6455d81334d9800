/* SPDX-License-Identifier: Apache-2.0 */
/* refit.c -- the types of a graph after a change.
 *
 * Shape functions do most of it.  Some attributes name extents that followed from the operands: those
 * of reshape, expand and upsample become what they would have been. */
#include "advise.h"

/* The attribute record of a node, to be changed. */
static void *own_attr(tc_ctx *ctx, tc_node *node)
{
    void *copy = ti_arena_copy(&ctx->arena, node->attr, tc_attrs[tc_ops[node->op].attr].size);
    node->attr = copy;
    return copy;
}

/* Every extent from axis i on is 1. */
static bool are_ones(const tc_type *type, int32_t i)
{
    for (; i < type->rank; i++)
        if (type->dim[i] != 1)
            return false;
    return true;
}

/* Extents of the result of a reshape, taken in groups of the same product before: where a group's
 * product has changed, its last extent above 1 takes the change. */
static bool fit_reshape(const tc_type *was_in, const tc_type *in, const int64_t *was, int64_t *now,
                        int32_t rank)
{
    int32_t i = 0, o = 0;
    while (i < was_in->rank || o < rank) {
        if (i == was_in->rank)
            return true;
        if (o == rank)
            return are_ones(in, i);
        int64_t a = 1, b = 1, changed = 1;
        int32_t first = o, last = -1;
        do {
            if (i < was_in->rank && (a <= b || o == rank)) {
                a *= was_in->dim[i];
                changed *= in->dim[i++];
            } else if (o < rank) {
                last = was[o] > 1 || last < 0 ? o : last;
                b *= was[o++];
            } else
                return false;
        } while (a != b || first == o);
        if (a == changed)
            continue;
        int64_t others = a / was[last];
        if (others <= 0 || changed % others)
            return false;
        now[last] = changed / others;
    }
    return true;
}

static bool fit_expand(const tc_type *was_in, const tc_type *in, int64_t *now, int32_t rank)
{
    for (int32_t i = 0; i < in->rank; i++)
        if (was_in->dim[i] != 1)
            now[rank - in->rank + i] = in->dim[i];
    return true;
}

/* The same factor as before, if that gives integers. */
static bool fit_upsample(const tc_type *was_in, const tc_type *in, int64_t *now, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int64_t was = was_in->dim[was_in->rank - n + i], is = in->dim[in->rank - n + i];
        if (was <= 0 || now[i] * is % was)
            return false;
        now[i] = now[i] * is / was;
    }
    return true;
}

/* The list of extents in the attribute of a node, or NULL. */
static tc_ints *extents_of(tc_ctx *ctx, tc_node *node)
{
    switch (node->op) {
    case TC_OP_reshape:
    case TC_OP_expand:
        return &((tc_attr_shape *)own_attr(ctx, node))->shape;
    case TC_OP_upsample_nearest:
    case TC_OP_upsample_nearest_exact:
    case TC_OP_upsample_linear:
    case TC_OP_upsample_cubic:
        return &((tc_attr_upsample *)own_attr(ctx, node))->size;
    default:
        return NULL;
    }
}

static bool fit_extents(tc_ctx *ctx, const tc_graph *old, const tc_graph *g, tc_node *node)
{
    const tc_type *was = node->n_in ? ti_type_of(old, node->in[0]) : NULL;
    const tc_type *in = node->n_in ? ti_type_of(g, node->in[0]) : NULL;
    if (!was || !in || was == in || was->rank != in->rank)
        return true;
    tc_ints *list = extents_of(ctx, node);
    if (!list)
        return true;
    int64_t *now = ti_arena_copy(&ctx->arena, list->v, (size_t)list->n * sizeof *now);
    const int64_t *before = list->v;
    list->v = now;
    return node->op == TC_OP_reshape  ? fit_reshape(was, in, before, now, list->n)
           : node->op == TC_OP_expand ? fit_expand(was, in, now, list->n)
                                      : fit_upsample(was, in, now, list->n);
}

tc_status ti_refit(tc_ctx *ctx, tc_module *module, const tc_graph *old)
{
    tc_graph *g = ti_main(module);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out && g->node[k]->op != TC_OP_const; i++)
            g->val[g->node[k]->out[i]]->type = NULL;
    for (size_t k = 0; k < g->n_node; k++) {
        if (g->node[k]->op == TC_OP_const)
            continue;
        if (!fit_extents(ctx, old, g, g->node[k]))
            return ti_error(ctx, g->node[k]->loc, TC_E_SHAPE, "its shape does not follow the change");
        TC_TRY(ti_node_infer(g, g->node[k]));
    }
    return TC_OK;
}
