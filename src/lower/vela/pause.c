/* SPDX-License-Identifier: Apache-2.0 */
/* pause.c -- see pause.h. */
#include "pause.h"

#include "../layout/axis_order.h"

static tc_status pause_here(tc_rewrite *rw, const tc_node *like, tc_val x, tc_val *out)
{
    const tc_type *t = tc_type_of(rw->to, x);
    if (t->dtype == TC_bool)
        return tc_avoid_put2(rw, like, TC_OP_tosa_logical_or, NULL, x, x, out);
    if (t->dtype == TC_i32)
        return tc_avoid_put2(rw, like, TC_OP_tosa_add, NULL, x,
                             tc_avoid_number(rw, like, TC_i32, t->rank, 0), out);
    double lo = t->dtype == TC_i8 ? INT8_MIN : INT16_MIN, hi = -1 - lo;
    tc_attr_tosa_clamp a = {.min_val = lo, .max_val = hi, .nan_mode = TC_nan_mode_propagate};
    return tc_avoid_put(rw, like, TC_OP_tosa_clamp, tc_arena_copy(&rw->ctx->arena, &a, sizeof a),
                        &x, 1, out);
}

/* Of a slice of more than four axes that is read in another shape Vela takes the first plane for
 * all of them: there the slice pauses, and the shape comes behind it. */
tc_status tc_put_pause(tc_rewrite *rw, const tc_node *like, tc_val x, tc_val *out)
{
    const tc_node *cut = tc_behind_reshapes(rw->to, x);
    const tc_type *t = tc_type_of(rw->to, x);
    if (!cut || cut->op != TC_OP_tosa_slice || cut->out[0] == x ||
        tc_type_of(rw->to, cut->out[0])->rank <= 4)
        return pause_here(rw, like, x, out);
    TC_TRY(pause_here(rw, like, cut->out[0], out));
    tc_val shape = tc_rewrite_shape(rw, like, t->rank, t->dim);
    return tc_avoid_put2(rw, like, TC_OP_tosa_reshape, NULL, *out, shape, out);
}

bool tc_can_pause(const tc_type *t)
{
    return t->dtype == TC_i8 || t->dtype == TC_i16 || t->dtype == TC_i32;
}

tc_status tc_pause_operands(tc_rewrite *rw, const tc_node *node, uint32_t mask, bool *done)
{
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = tc_rewrite_in(rw, node, i);
        if (mask >> i & 1)
            TC_TRY(tc_put_pause(rw, node, in[i], &in[i]));
    }
    tc_node *made = tc_graph_add(rw->to, node->op, node->attr, in, node->n_in, 1, node->loc);
    tc_avoid_take(rw, node, made->out[0], done);
    return TC_OK;
}

tc_status tc_pause_parts(tc_rewrite *rw, const tc_node *node,
                         bool (*is)(const tc_graph *g, tc_val v), bool *done)
{
    bool concat = node->op == TC_OP_tosa_concat;
    if ((!concat && node->op != TC_OP_tosa_pad) ||
        !tc_can_pause(tc_type_of(rw->from, node->out[0])))
        return TC_OK;
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    bool any = false;
    for (int i = 0; i < node->n_in; i++) {
        in[i] = tc_rewrite_in(rw, node, i);
        if ((i && !concat) || !is(rw->to, in[i]))
            continue;
        TC_TRY(tc_put_pause(rw, node, in[i], &in[i]));
        any = true;
    }
    if (!any)
        return TC_OK;
    tc_val y;
    TC_TRY(tc_avoid_put(rw, node, node->op, node->attr, in, node->n_in, &y));
    tc_avoid_take(rw, node, y, done);
    return TC_OK;
}

const tc_node *tc_behind_reshapes(const tc_graph *g, tc_val v)
{
    const tc_node *def = tc_def(g, v);
    while (def && tc_is_view(g, def))
        def = tc_def(g, def->in[0]);
    return def;
}

bool tc_is_view(const tc_graph *g, const tc_node *node)
{
    if (node->op != TC_OP_tosa_transpose)
        return node->op == TC_OP_tosa_reshape;
    const tc_type *from = tc_type_of(g, node->in[0]);
    return tc_perm_is_reshape(from->rank, from->dim,
                              ((const tc_attr_tosa_perms *)node->attr)->perms.v);
}

tc_val tc_memory_of(const tc_graph *g, tc_val v)
{
    for (const tc_node *def; (def = tc_def(g, v)) != NULL && tc_is_view(g, def);)
        v = def->in[0];
    return v;
}

bool tc_is_cut(const tc_graph *g, tc_val v)
{
    const tc_node *def = tc_behind_reshapes(g, v);
    return def && (def->op == TC_OP_tosa_slice || def->op == TC_OP_tosa_pad ||
                   def->op == TC_OP_tosa_concat || def->op == TC_OP_tosa_tile);
}
