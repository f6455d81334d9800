/* SPDX-License-Identifier: Apache-2.0 */
/* amount.h -- the arithmetic of recurrent layers, in floats or in integers: one set of operations
 * for both.
 *
 * An amount is [1, 1, rows, n].  Floats: f32, unit 1.  Integers: i16, real = stored * unit; or,
 * from outside, i8 with a zero point. */
#ifndef TC_LOWER_AMOUNT_H
#define TC_LOWER_AMOUNT_H

#include "composite.h"

typedef struct tc_amount {
    tc_val val;
    double unit;
    int64_t zero;
} tc_amount;

/* Steps of amounts that are between -1 and 1: so that the high byte of 1 is 127. */
#define TC_SHARE_UNIT (1 / 32512.0)

/* Operand i as stored, any shape; integers of one scale, or constants.  Refuses anything else. */
tc_amount tc_amount_in(tc_lower *lw, const tc_node *node, int i);
/* In other steps, i16 (floats: as it is). */
tc_amount tc_amount_as(tc_lower *lw, tc_amount a, double unit);
/* Into the element type and domain of a result, the shape as it is. */
tc_val tc_amount_out(tc_lower *lw, tc_amount a, const tc_type *to);

/* Rows n of an amount from `first`. */
tc_amount tc_amount_part(tc_lower *lw, tc_amount a, int64_t first, int64_t n);
/* x w^T + b: w is operand `weight` of the node, [out, in], b operand `bias` or none (-1). */
tc_amount tc_amount_affine(tc_lower *lw, const tc_node *node, tc_amount x, int weight, int bias,
                           double unit);
tc_amount tc_amount_plus(tc_lower *lw, tc_amount a, tc_amount b, double unit);
tc_amount tc_amount_minus(tc_lower *lw, tc_amount a, tc_amount b, double unit);
tc_amount tc_amount_times(tc_lower *lw, tc_amount a, tc_amount b, double unit);
tc_amount tc_amount_sigmoid(tc_lower *lw, tc_amount a);
tc_amount tc_amount_tanh(tc_lower *lw, tc_amount a);
tc_amount tc_amount_relu(tc_lower *lw, tc_amount a);

#endif
