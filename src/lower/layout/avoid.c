/* SPDX-License-Identifier: Apache-2.0 */
/* avoid.c -- see avoid.h. */
#include "avoid.h"

#include "../../num/load.h"

tc_status tc_avoid_put(tc_rewrite *rw, const tc_node *like, tc_op op, const void *attr,
                       const tc_val *in, int n, tc_val *out)
{
    tc_node *made;
    TC_TRY(tc_graph_emit(rw->to, op, attr, in, n, 1, like->loc, &made));
    *out = made->out[0];
    return TC_OK;
}

tc_status tc_avoid_put2(tc_rewrite *rw, const tc_node *like, tc_op op, const void *attr, tc_val a,
                        tc_val b, tc_val *out)
{
    return tc_avoid_put(rw, like, op, attr, (tc_val[]){a, b}, 2, out);
}

tc_val tc_avoid_number(tc_rewrite *rw, const tc_node *like, tc_dtype dtype, int rank, int64_t value)
{
    int64_t ones[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        ones[i] = 1;
    const tc_type *type = tc_type_make(rw->ctx, dtype, rank, ones);
    int32_t wide = (int32_t)value;
    int8_t narrow = (int8_t)value;
    const void *data = dtype == TC_i8 ? tc_arena_copy(&rw->ctx->arena, &narrow, sizeof narrow)
                                      : tc_arena_copy(&rw->ctx->arena, &wide, sizeof wide);
    return tc_graph_const(rw->to, type, data, NULL, like->loc);
}

void tc_avoid_take(tc_rewrite *rw, const tc_node *node, tc_val v, bool *done)
{
    rw->to->val[v]->type = tc_type_of(rw->from, node->out[0]);
    tc_rewrite_bind(rw, node->out[0], v);
    *done = true;
}

tc_status tc_avoid_over(tc_module *module, tc_rewriter *rewriter)
{
    return tc_rewrite_module(module, &rewriter, 1, NULL);
}

bool tc_avoid_read_change(const tc_graph *g, const tc_node *node, tc_avoid_change *c)
{
    if (!node || node->op != TC_OP_tosa_rescale)
        return false;
    const tc_attr_tosa_rescale *a = node->attr;
    for (int i = 1; i < 5; i++)
        if (!tc_is_const(g, node->in[i]))
            return false;
    if (tc_type_count(tc_type_of(g, node->in[1])) != 1 || !a->scale32 || a->input_unsigned ||
        a->output_unsigned)
        return false;
    *c = (tc_avoid_change){node, tc_load_i64(tc_tensor_of(g, node->in[1]), 0),
                           tc_load_i64(tc_tensor_of(g, node->in[2]), 0)};
    return true;
}

int64_t tc_avoid_whole(const tc_avoid_change *c)
{
    int64_t one = INT64_C(1) << c->shift;
    return c->multiplier % one == 0 && c->multiplier / one <= INT16_MAX ? c->multiplier / one : 0;
}
