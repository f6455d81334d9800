/* SPDX-License-Identifier: Apache-2.0 */
/* plain.h -- formulas on unquantized values: floats, and plain integers.
 *
 * Operands have equal rank; constants take the element type and the rank of the other operand.
 */
#ifndef TC_PLAIN_H
#define TC_PLAIN_H

#include "../move/lower_move.h"

tc_val ti_plain_number(tc_build *lw, tc_val like, double number);
tc_val ti_plain_add(tc_build *lw, tc_val x, double number);
tc_val ti_plain_scale(tc_build *lw, tc_val x, double number);
tc_val ti_plain_from(tc_build *lw, double number, tc_val x);  /* number - x */
tc_val ti_plain_above(tc_build *lw, tc_val x, double number); /* x > number */
tc_val ti_plain_negate(tc_build *lw, tc_val x);
tc_val ti_plain_divide(tc_build *lw, tc_val a, tc_val b); /* a * (1 / b) */
tc_val ti_plain_sqrt(tc_build *lw, tc_val x); /* 1 / rsqrt(x): 0 and infinity as they should be */
/* Of f32, for the node's operands x and y (plain_quotient.c): its remainder or fmod, exact for
 * |y| >= 2^-100; its quotient, floored, or rounded to f32 and cut. */
tc_val ti_plain_rest(tc_build *lw, const tc_node *node, tc_val x, tc_val y);
tc_val ti_plain_whole_quotient(tc_build *lw, const tc_node *node, tc_val x, tc_val y, bool floored);
tc_val ti_plain_round(tc_build *lw, tc_val x); /* halves to even */
/* c[0] + c[1] x + ... + c[n-1] x^(n-1). */
tc_val ti_plain_polynomial(tc_build *lw, tc_val x, const double *c, int n);

/* The operator by its formula (plain_expand.c), on operands that have the types it computes in. */
tc_val ti_plain_apply(tc_build *lw, tc_op op, const void *attr, const tc_val *in);

/* Operand i of the node as `dtype`, with leading ones up to `rank`. */
tc_val ti_plain_in(tc_build *lw, const tc_node *node, int i, tc_dtype dtype, int rank);
/* Whether TOSA computes in that type; false: refused. */
bool ti_plain_computes(tc_build *lw, tc_dtype t);
/* The element type in which a node with results of `t` computes when it is one TOSA operator, and
 * when it is a formula: fp8 in f16, small integers in i32; formulas in f32. */
tc_dtype ti_plain_type(tc_dtype t);
tc_dtype ti_plain_formula_type(tc_dtype t);

/* The reduced value in the result's type and shape. */
static inline void ti_plain_finish(tc_build *lw, const tc_node *node, tc_val x, tc_val *out)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    out[0] = ti_put_cast(lw, ti_b_tosa_reshape(lw, x, t->rank, t->dim), t->dtype);
}

#endif
