/* SPDX-License-Identifier: Apache-2.0 */
/* split_double_rounding.c -- TOSA form: RESCALEs that round twice, for machines that round once.
 *
 * RESCALE with double rounding by m / 2^s, s > 31, is r2(r1(x m / 2^31) / 2^n), n = s - 31: r1
 * rounds halves up, r2 away from zero.  r1 is a RESCALE with single rounding; r2(h) is
 * (h + (h >> 31)) >> n with halves up, since subtracting 1 below zero makes halves up halves away.
 * So one operator becomes five, bit-exact, for values below 2^30: TOSA's RESCALE by 2^-31 requires
 * that, and sums of fewer than 33,000 products of 8 bits satisfy it.
 *
 * A narrow result is r2 by 2^30 / 2^30, which takes values below 2^29 only.  Where r2 may be larger,
 * by shifts below 33, it is held to 2^28 first, which saturates all the same. */
#include <math.h>

#include "../lower_pass.h"

#include "../../ir/build.h"
#include "../../num/load.h"

typedef struct twice {
    tc_tensor factor, shift;
    int64_t count; /* factors */
    bool all;      /* of them round twice */
    bool large;    /* a result before it is narrowed may be 2^29 or more */
} twice;

static bool rounds_twice(const tc_graph *g, const tc_node *node, twice *t)
{
    if (node->op != TC_OP_tosa_rescale ||
        ((const tc_attr_tosa_rescale *)node->attr)->rounding_mode != TC_rounding_double ||
        !ti_is_const(g, node->in[1]) || !ti_is_const(g, node->in[2]))
        return false;
    t->factor = ti_tensor_of(g, node->in[1]);
    t->shift = ti_tensor_of(g, node->in[2]);
    t->count = tc_type_count(t->shift.type);
    t->all = true;
    t->large = false;
    double most = ldexp(1, tc_dtypes[ti_type_of(g, node->in[0])->dtype].bits);
    for (int64_t i = 0; i < t->count; i++) {
        int64_t s = ti_load_i64(t->shift, i);
        double value = fmin(most, ldexp(1, (int)ti_min_i64(s, 31) - 1));
        t->all = t->all && s > 31;
        t->large |= value * (double)ti_load_i64(t->factor, i) >= ldexp(1, (int)s + 28);
    }
    return true;
}

static tc_val list(tc_build *b, tc_dtype dtype, int rank, int64_t count, const double *v)
{
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    dim[rank - 1] = count;
    return ti_b_numbers(b, dtype, rank, dim, v);
}

/* A RESCALE with single rounding. */
static tc_val put_once(tc_build *b, const tc_val *in, bool per_channel, tc_dtype to)
{
    tc_attr_tosa_rescale *a =
        ti_arena_copy(&b->ctx->arena, b->node->attr, sizeof(tc_attr_tosa_rescale));
    a->rounding_mode = TC_rounding_single;
    a->per_channel = per_channel;
    const tc_type *t = ti_b_out_type(b, 0);
    return ti_b_typed(b, TC_OP_tosa_rescale, a, in, 5, ti_type_make(b->ctx, to, t->rank, t->dim));
}

static tc_val held(tc_build *b, tc_val h, int rank)
{
    tc_val most = ti_b_single(b, TC_i32, rank, 1 << 28);
    h = ti_b_tosa_minimum(b, h, most);
    tc_val least = ti_b_single(b, TC_i32, rank, -(1 << 28));
    return ti_b_tosa_maximum(b, h, least);
}

static tc_status split_double_rounding(tc_rewrite *rw, const tc_node *node, bool *done)
{
    twice t;
    if (!rounds_twice(rw->from, node, &t))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_dtype to = ti_b_out_type(&b, 0)->dtype;
    int rank = ti_b_out_type(&b, 0)->rank;
    double *first = tc_new_n(&rw->ctx->arena, double, (size_t)t.count),
           *second = tc_new_n(&rw->ctx->arena, double, (size_t)t.count),
           *mask = tc_new_n(&rw->ctx->arena, double, (size_t)t.count);
    for (int64_t i = 0; i < t.count; i++) {
        int64_t s = ti_load_i64(t.shift, i);
        first[i] = (double)ti_min_i64(s, 31);
        second[i] = (double)s - first[i];
        mask[i] = s > 31 ? -1 : 0;
    }
    tc_val in[5];
    for (int i = 0; i < 4; i++)
        in[i] = ti_b_in(&b, i);
    in[2] = list(&b, TC_i8, 1, t.count, first);
    in[4] = ti_b_single(&b, TC_i32, 1, 0);
    tc_val h = put_once(&b, in, ((const tc_attr_tosa_rescale *)node->attr)->per_channel, TC_i32);
    tc_val last = ti_b_single(&b, TC_i32, rank, 31);
    tc_val sign = ti_b_tosa_arithmetic_right_shift(&b, h, last, false);
    if (!t.all)
        sign = ti_b_tosa_bitwise_and(&b, sign, list(&b, TC_i32, rank, t.count, mask));
    h = ti_b_tosa_add(&b, h, sign);
    tc_val by = list(&b, TC_i32, rank, t.count, second);
    h = ti_b_tosa_arithmetic_right_shift(&b, h, by, true);
    if (to != TC_i32) {
        in[0] = t.large ? held(&b, h, rank) : h;
        in[1] = ti_b_single(&b, TC_i32, 1, 1 << 30);
        in[2] = ti_b_single(&b, TC_i8, 1, 30);
        in[3] = ti_b_single(&b, TC_i32, 1, 0);
        in[4] = ti_b_in(&b, 4);
        h = put_once(&b, in, false, to);
    }
    return ti_b_replace(&b, h, done);
}

TC_REWRITES(ti_lower_split_double_rounding, split_double_rounding)
