/* SPDX-License-Identifier: Apache-2.0 */
/* split_double_rounding.c -- TOSA form: changes of scale that round twice, for machines that round
 * once.
 *
 * RESCALE with double rounding by m / 2^s, s > 31, is r2(r1(x m / 2^31) / 2^n), n = s - 31: r1
 * sends halves up, r2 away from zero.  r1 is a RESCALE with single rounding; r2(h) is
 * (h + (h >> 31)) >> n with halves up, since one less below zero turns halves up into halves away.
 * So one operator becomes five, to the bit, for numbers below 2^30: TOSA's RESCALE by 2^-31 asks
 * that of them, and sums of fewer than 33,000 products of 8 bits keep it. */
#include "../lower_pass.h"

#include "../../num/load.h"
#include "../layout/avoid.h"

typedef struct twice {
    tc_tensor factor, shift;
    int64_t count; /* factors */
    bool all;      /* of them round twice */
} twice;

static bool rounds_twice(const tc_graph *g, const tc_node *node, twice *t)
{
    if (node->op != TC_OP_tosa_rescale ||
        ((const tc_attr_tosa_rescale *)node->attr)->rounding_mode != TC_rounding_double ||
        !tc_is_const(g, node->in[1]) || !tc_is_const(g, node->in[2]))
        return false;
    t->factor = tc_tensor_of(g, node->in[1]);
    t->shift = tc_tensor_of(g, node->in[2]);
    t->count = tc_type_count(t->shift.type);
    t->all = true;
    for (int64_t i = 0; i < t->count; i++)
        t->all = t->all && tc_load_i64(t->shift, i) > 31;
    return true;
}

static tc_val list(tc_rewrite *rw, const tc_node *node, tc_dtype dtype, int rank, int64_t count,
                   const int64_t *v)
{
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < rank; i++)
        dim[i] = i + 1 < rank ? 1 : count;
    tc_tensor t = tc_tensor_new(&rw->ctx->arena, tc_type_make(rw->ctx, dtype, rank, dim));
    for (int64_t i = 0; i < count; i++)
        tc_store_i64(t, i, v[i]);
    return tc_graph_const(rw->to, t.type, t.data, NULL, node->loc);
}

/* A RESCALE with single rounding. */
static tc_status put_once(tc_rewrite *rw, const tc_node *node, const tc_val *in, bool per_channel,
                          tc_dtype to, tc_val *out)
{
    tc_attr_tosa_rescale a = *(const tc_attr_tosa_rescale *)node->attr;
    a.rounding_mode = TC_rounding_single;
    a.per_channel = per_channel;
    const tc_type *t = tc_type_of(rw->to, in[0]);
    tc_node *made = tc_graph_add(rw->to, TC_OP_tosa_rescale,
                                 tc_arena_copy(&rw->ctx->arena, &a, sizeof a), in, 5, 1, node->loc);
    rw->to->val[made->out[0]]->type = tc_type_make(rw->ctx, to, t->rank, t->dim);
    *out = made->out[0];
    return tc_node_infer(rw->to, made);
}

static tc_status once(tc_rewrite *rw, const tc_node *node, bool *done)
{
    static const tc_attr_tosa_shift up = {.round = true}, down = {.round = false};
    twice t;
    if (!rounds_twice(rw->from, node, &t))
        return TC_OK;
    tc_dtype to = tc_type_of(rw->from, node->out[0])->dtype;
    int rank = tc_type_of(rw->from, node->out[0])->rank;
    bool each = ((const tc_attr_tosa_rescale *)node->attr)->per_channel;
    int64_t *first = tc_new_n(&rw->ctx->arena, int64_t, (size_t)t.count),
            *second = tc_new_n(&rw->ctx->arena, int64_t, (size_t)t.count),
            *mask = tc_new_n(&rw->ctx->arena, int64_t, (size_t)t.count);
    for (int64_t i = 0; i < t.count; i++) {
        int64_t s = tc_load_i64(t.shift, i);
        first[i] = tc_min_i64(s, 31);
        second[i] = s - first[i];
        mask[i] = s > 31 ? -1 : 0;
    }
    tc_val in[5], h, sign;
    for (int i = 0; i < 4; i++)
        in[i] = tc_rewrite_in(rw, node, i);
    in[2] = list(rw, node, TC_i8, 1, t.count, first);
    in[4] = tc_avoid_number(rw, node, TC_i32, 1, 0);
    TC_TRY(put_once(rw, node, in, each, TC_i32, &h));
    tc_val last = tc_avoid_number(rw, node, TC_i32, rank, 31);
    TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_arithmetic_right_shift, &down, h, last, &sign));
    if (!t.all)
        TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_bitwise_and, NULL, sign,
                             list(rw, node, TC_i32, rank, t.count, mask), &sign));
    TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_add, NULL, h, sign, &h));
    TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_arithmetic_right_shift, &up, h,
                         list(rw, node, TC_i32, rank, t.count, second), &h));
    if (to != TC_i32) {
        in[0] = h;
        in[1] = tc_avoid_number(rw, node, TC_i32, 1, 1 << 30);
        in[2] = tc_avoid_number(rw, node, TC_i8, 1, 30);
        in[3] = tc_avoid_number(rw, node, TC_i32, 1, 0);
        in[4] = tc_rewrite_in(rw, node, 4);
        TC_TRY(put_once(rw, node, in, false, to, &h));
    }
    tc_avoid_take(rw, node, h, done);
    return TC_OK;
}

tc_status tc_lower_split_double_rounding(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return tc_avoid_over(module, once);
}
