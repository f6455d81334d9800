/* SPDX-License-Identifier: Apache-2.0 */
/* pause.c -- see pause.h. */
#include "pause.h"

#include "../layout/axis_order.h"

static tc_val pause_here(tc_build *b, tc_val x)
{
    tc_dtype dtype = ti_b_dtype(b, x);
    if (dtype == TC_bool)
        return ti_b_tosa_logical_or(b, x, x);
    if (dtype == TC_i32)
        return ti_b_tosa_add(b, x, ti_b_like(b, x, TC_i32, 0));
    double lo = dtype == TC_i8 ? INT8_MIN : INT16_MIN;
    return ti_b_tosa_clamp(b, x, lo, -1 - lo);
}

/* Of a slice of more than four axes that is read in another shape Vela takes the first plane for
 * all of them: there the slice pauses, and the shape comes behind it. */
tc_val ti_put_pause(tc_build *b, tc_val x)
{
    const tc_node *cut = ti_behind_reshapes(b->g, x);
    const tc_type *t = ti_b_type(b, x);
    if (!cut || cut->op != TC_OP_tosa_slice || cut->out[0] == x ||
        ti_b_type(b, cut->out[0])->rank <= 4)
        return pause_here(b, x);
    x = pause_here(b, cut->out[0]);
    return ti_b_2(b, tosa_reshape, NULL, x, ti_b_shape(b, t->rank, t->dim));
}

bool ti_can_pause(const tc_type *t)
{
    return t->dtype == TC_i8 || t->dtype == TC_i16 || t->dtype == TC_i32;
}

tc_status ti_pause_operands(tc_rewrite *rw, const tc_node *node, uint32_t mask, bool *done)
{
    tc_build b = ti_build_instead(rw, node);
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = mask >> i & 1 ? ti_put_pause(&b, ti_b_in(&b, i)) : ti_b_in(&b, i);
    return ti_b_again(&b, in, node->n_in, done);
}

tc_status ti_pause_parts(tc_rewrite *rw, const tc_node *node,
                         bool (*is)(const tc_graph *g, tc_val v), bool *done)
{
    bool concat = node->op == TC_OP_tosa_concat;
    if ((!concat && node->op != TC_OP_tosa_pad) ||
        !ti_can_pause(ti_type_of(rw->from, node->out[0])))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    bool any = false;
    for (int i = 0; i < node->n_in; i++) {
        in[i] = ti_rewrite_in(rw, node, i);
        if ((i && !concat) || !is(rw->to, in[i]))
            continue;
        in[i] = ti_put_pause(&b, in[i]);
        any = true;
    }
    if (!any)
        return TC_OK;
    return ti_b_replace(&b, ti_b_op(&b, node->op, node->attr, in, node->n_in), done);
}

const tc_node *ti_behind_reshapes(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    while (def && ti_is_view(g, def))
        def = ti_def(g, def->in[0]);
    return def;
}

bool ti_is_view(const tc_graph *g, const tc_node *node)
{
    if (node->op != TC_OP_tosa_transpose)
        return node->op == TC_OP_tosa_reshape;
    const tc_type *from = ti_type_of(g, node->in[0]);
    return ti_perm_is_reshape(from->rank, from->dim,
                              ((const tc_attr_tosa_perms *)node->attr)->perms.v);
}

tc_val ti_memory_of(const tc_graph *g, tc_val v)
{
    for (const tc_node *def; (def = ti_def(g, v)) != NULL && ti_is_view(g, def);)
        v = def->in[0];
    return v;
}

bool ti_is_cut(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_behind_reshapes(g, v);
    return def && (def->op == TC_OP_tosa_slice || def->op == TC_OP_tosa_pad ||
                   def->op == TC_OP_tosa_concat || def->op == TC_OP_tosa_tile);
}
