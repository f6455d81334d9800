/* SPDX-License-Identifier: Apache-2.0 */
/* legalize_shifts.c -- TOSA form: shifts and casts as Ethos-U has them, bit-exact.
 *
 *   floors    a >> n, rounding down  =>  (max(a, lowest + h) - h) >> n rounding half up,
 *             h = 2^n / 2
 *   wraps     CAST of i32 or i16 to fewer bits  =>  CAST of (x << k) >> k, which has room for it */
#include "../lower_pass.h"

#include "../../num/load.h"
#include "../layout/avoid.h"

/* ---- floors ---- */

static tc_status put_shift(tc_rewrite *rw, const tc_node *like, tc_val a, tc_val b, tc_val *out)
{
    static const tc_attr_tosa_shift half_up = {.round = true};
    return tc_avoid_put2(rw, like, TC_OP_tosa_arithmetic_right_shift, &half_up, a, b, out);
}

/* Numbers that are far from the lowest i32: leading zeros, and those plus or minus a few. */
static bool is_small(const tc_graph *g, tc_val v)
{
    const tc_node *def = tc_def(g, v);
    if (!def)
        return false;
    if (def->op == TC_OP_const) {
        tc_tensor t = tc_tensor_of(g, v);
        for (int64_t i = 0; i < tc_type_count(t.type); i++)
            if (tc_load_i64(t, i) < -65536 || tc_load_i64(t, i) > 65536)
                return false;
        return true;
    }
    return def->op == TC_OP_tosa_clz || ((def->op == TC_OP_tosa_sub || def->op == TC_OP_tosa_add) &&
                                         is_small(g, def->in[0]) && is_small(g, def->in[1]));
}

/* Half of 2^n, 0 for n = 0: of a constant, or 2^max(n - 1, 0) * min(n, 1).  What is shifted has n's
 * shape: a lone number on the left, repeated over more than four axes, is read past its end. */
static tc_status put_half(tc_rewrite *rw, const tc_node *node, tc_val n, tc_val *out, int64_t *most)
{
    tc_tensor t = tc_tensor_of(rw->to, n);
    int rank = tc_type_of(rw->to, n)->rank;
    bool one_number = t.data && tc_type_count(t.type) == 1;
    if (one_number && tc_load_i64(t, 0) >= 0 && tc_load_i64(t, 0) < 32) {
        *most = (INT64_C(1) << tc_load_i64(t, 0)) / 2;
        *out = tc_avoid_number(rw, node, TC_i32, rank, *most);
        return TC_OK;
    }
    static const tc_attr_tosa_nan nan = {.nan_mode = TC_nan_mode_propagate};
    tc_val one = tc_avoid_number(rw, node, TC_i32, rank, 1),
           none = tc_avoid_number(rw, node, TC_i32, rank, 0), k, some, ones;
    *most = 1 << 30;
    TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_sub, NULL, n, one, &k));
    TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_maximum, &nan, k, none, &k));
    TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_minimum, &nan, n, one, &some));
    TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_maximum, &nan, some, one, &ones));
    TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_logical_left_shift, NULL, ones, k, &k));
    return tc_avoid_put(rw, node, TC_OP_tosa_mul, NULL,
                        (tc_val[]){k, some, tc_avoid_number(rw, node, TC_i8, 1, 0)}, 3, out);
}

static tc_status floors(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_arithmetic_right_shift ||
        ((const tc_attr_tosa_shift *)node->attr)->round ||
        tc_type_of(rw->from, node->out[0])->dtype != TC_i32)
        return TC_OK;
    static const tc_attr_tosa_nan nan = {.nan_mode = TC_nan_mode_propagate};
    tc_val a = tc_rewrite_in(rw, node, 0), n = tc_rewrite_in(rw, node, 1), half, low;
    int64_t most;
    TC_TRY(put_half(rw, node, n, &half, &most));
    int rank = tc_type_of(rw->to, half)->rank;
    if (!is_small(rw->to, a) || most > 65536) {
        low = tc_avoid_number(rw, node, TC_i32, rank, INT32_MIN);
        if (tc_is_const(rw->to, half))
            low = tc_avoid_number(rw, node, TC_i32, rank, INT32_MIN + most);
        else
            TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_add, NULL, half, low, &low));
        TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_maximum, &nan, a, low, &a));
    }
    TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_sub, NULL, a, half, &a));
    TC_TRY(put_shift(rw, node, a, n, &a));
    tc_avoid_take(rw, node, a, done);
    return TC_OK;
}

tc_status tc_lower_legalize_shifts(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return tc_avoid_over(module, floors);
}

/* ---- wraps ---- */

/* An i16 as i32. */
static tc_status widen(tc_rewrite *rw, const tc_node *like, const tc_type *from, tc_val *x)
{
    tc_node *made = tc_graph_add(rw->to, TC_OP_tosa_cast, NULL, x, 1, 1, like->loc);
    *x = made->out[0];
    tc_value_of(rw->to, *x)->type = tc_type_make(rw->ctx, TC_i32, from->rank, from->dim);
    return tc_node_infer(rw->to, made);
}

static tc_status wraps(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_cast)
        return TC_OK;
    const tc_type *from = tc_type_of(rw->from, node->in[0]),
                  *t = tc_type_of(rw->from, node->out[0]);
    bool narrows = from->dtype == TC_i32 ? t->dtype == TC_i8 || t->dtype == TC_i16
                                         : from->dtype == TC_i16 && t->dtype == TC_i8;
    if (!narrows)
        return TC_OK;
    tc_val x = tc_rewrite_in(rw, node, 0);
    if (from->dtype == TC_i16)
        TC_TRY(widen(rw, node, from, &x));
    tc_val n = tc_avoid_number(rw, node, TC_i32, t->rank, 32 - tc_dtypes[t->dtype].bits);
    TC_TRY(tc_avoid_put2(rw, node, TC_OP_tosa_logical_left_shift, NULL, x, n, &x));
    TC_TRY(put_shift(rw, node, x, n, &x)); /* the low bits are 0: nothing is rounded */
    *done = true;
    return tc_rewrite_as(rw, node, TC_OP_tosa_cast, NULL, x);
}

tc_status tc_lower_legalize_casts(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return tc_avoid_over(module, wraps);
}
