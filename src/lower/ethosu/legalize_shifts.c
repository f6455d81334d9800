/* SPDX-License-Identifier: Apache-2.0 */
/* legalize_shifts.c -- TOSA form: shifts and casts as Ethos-U has them, bit-exact.
 *
 * legalize-shifts   a >> n, rounding down  =>  (max(a, lowest + h) - h) >> n rounding half up,
 *                   h = 2^n / 2
 * legalize-casts    CAST of i32 or i16 to fewer bits  =>  CAST of (x << k) >> k, which does not
 *                   saturate */
#include "../lower_pass.h"

#include "../../ir/build.h"
#include "../../num/load.h"

/* ---- legalize-shifts ---- */

/* Numbers that are far from the lowest i32: leading zeros, and those plus or minus a few. */
static bool is_small(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    if (!def)
        return false;
    if (def->op == TC_OP_const) {
        tc_tensor t = ti_tensor_of(g, v);
        for (int64_t i = 0; i < tc_type_count(t.type); i++)
            if (ti_load_i64(t, i) < -65536 || ti_load_i64(t, i) > 65536)
                return false;
        return true;
    }
    return def->op == TC_OP_tosa_clz || ((def->op == TC_OP_tosa_sub || def->op == TC_OP_tosa_add) &&
                                         is_small(g, def->in[0]) && is_small(g, def->in[1]));
}

/* Half of 2^n, 0 for n = 0: of a constant, or 2^max(n - 1, 0) * min(n, 1).  What is shifted has n's
 * shape: a lone number on the left, repeated over more than four axes, is read past its end. */
static tc_val put_half(tc_build *b, tc_val n, int64_t *most)
{
    tc_tensor t = ti_b_constant(b, n);
    bool one_number = t.data && tc_type_count(t.type) == 1;
    if (one_number && ti_load_i64(t, 0) >= 0 && ti_load_i64(t, 0) < 32) {
        *most = (INT64_C(1) << ti_load_i64(t, 0)) / 2;
        return ti_b_like(b, n, TC_i32, (double)*most);
    }
    tc_val one = ti_b_like(b, n, TC_i32, 1), none = ti_b_like(b, n, TC_i32, 0);
    *most = 1 << 30;
    tc_val k = ti_b_tosa_maximum(b, ti_b_tosa_sub(b, n, one), none);
    tc_val some = ti_b_tosa_minimum(b, n, one), ones = ti_b_tosa_maximum(b, some, one);
    return ti_b_tosa_mul(b, ti_b_tosa_logical_left_shift(b, ones, k), some);
}

static tc_status legalize_shifts(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_arithmetic_right_shift ||
        ((const tc_attr_tosa_shift *)node->attr)->round ||
        ti_type_of(rw->from, node->out[0])->dtype != TC_i32)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val a = ti_b_in(&b, 0), n = ti_b_in(&b, 1);
    int64_t most;
    tc_val half = put_half(&b, n, &most);
    if (half && (!is_small(rw->to, a) || most > 65536)) {
        tc_val low = ti_b_like(&b, half, TC_i32, INT32_MIN);
        low = ti_is_const(rw->to, half) ? ti_b_like(&b, half, TC_i32, (double)(INT32_MIN + most))
                                        : ti_b_tosa_add(&b, half, low);
        a = ti_b_tosa_maximum(&b, a, low);
    }
    a = ti_b_tosa_sub(&b, a, half);
    return ti_b_replace(&b, ti_b_tosa_arithmetic_right_shift(&b, a, n, true), done);
}

tc_status ti_lower_legalize_shifts(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_module(module, (tc_rewriter *[]){legalize_shifts}, 1, NULL);
}

/* ---- legalize-casts ---- */

static tc_status legalize_casts(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_cast)
        return TC_OK;
    const tc_type *from = ti_type_of(rw->from, node->in[0]),
                  *t = ti_type_of(rw->from, node->out[0]);
    bool narrows = from->dtype == TC_i32 ? t->dtype == TC_i8 || t->dtype == TC_i16
                                         : from->dtype == TC_i16 && t->dtype == TC_i8;
    if (!narrows)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val x = ti_b_tosa_cast(&b, ti_b_in(&b, 0), TC_i32);
    tc_val n = ti_b_single(&b, TC_i32, t->rank, 32 - tc_dtypes[t->dtype].bits);
    x = ti_b_tosa_logical_left_shift(&b, x, n);
    x = ti_b_tosa_arithmetic_right_shift(&b, x, n, true); /* the low bits are 0: not rounded */
    return ti_b_replace(&b, ti_b_tosa_cast(&b, x, t->dtype), done);
}

tc_status ti_lower_legalize_casts(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_module(module, (tc_rewriter *[]){legalize_casts}, 1, NULL);
}
