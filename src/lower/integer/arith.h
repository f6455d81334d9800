/* SPDX-License-Identifier: Apache-2.0 */
/* arith.h -- operands of quantized arithmetic, widened and narrowed. */
#ifndef TC_ARITH_H
#define TC_ARITH_H

#include "../put.h"

/* An operand: its stored elements, of the rank of the result, and their domain. */
typedef struct tc_arg {
    tc_val val;
    const tc_type *type;
} tc_arg;

/* Operand i of the node: quantized, or a constant, which is quantized here.  false: refused. */
bool ti_arg_of(tc_build *lw, const tc_node *node, int i, tc_arg *a);

/* `shape` with elements of a symmetric domain. */
const tc_type *ti_wide_type(tc_build *lw, const tc_type *shape, tc_dtype dtype, double scale);

/* by_a * a + by_b * b into the domain and shape of `to`. */
tc_val ti_put_sum(tc_build *lw, const tc_arg *a, double by_a, const tc_arg *b, double by_b,
                  const tc_type *to);

/* As i32 of this scale, zero point 0, by a separate RESCALE. */
tc_val ti_put_wide(tc_build *lw, const tc_arg *a, double scale);
/* i32 of this scale, zero point 0, into the domain and the shape of `to`. */
tc_val ti_put_narrow(tc_build *lw, tc_val wide, double scale, const tc_type *to);
/* TOSA's MAXIMUM or MINIMUM of both, each rounded to `to`'s steps first, into that domain. */
tc_val ti_put_extreme_of(tc_build *lw, tc_op op, const tc_arg *a, const tc_arg *b,
                         const tc_type *to);
/* a * b as i32, and its scale. */
tc_val ti_put_times(tc_build *lw, const tc_arg *a, const tc_arg *b, double *scale);

#endif
