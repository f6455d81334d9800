/* SPDX-License-Identifier: Apache-2.0 */
/* rnn_arith.h -- the arithmetic of recurrent layers, in floats or in integers: one set of
 * operations for both.
 *
 * A number is [1, 1, rows, n].  Floats: f32, unit 1.  Integers: i16, real = stored * unit; or,
 * from outside, i8 with a zero point. */
#ifndef TC_RNN_ARITH_H
#define TC_RNN_ARITH_H

#include "composite.h"

typedef struct tc_rnn_num {
    tc_val val;
    double unit;
    int64_t zero;
} tc_rnn_num;

/* Steps of values between -1 and 1: so that the high byte of 1 is 127. */
#define TC_SHARE_UNIT (1 / 32512.0)
/* Where sigmoid and tanh have reached their limits. */
#define TC_GATE_FAR 8.0

/* Operand i as stored, any shape; integers of one scale, or constants.  Refuses anything else. */
tc_rnn_num ti_rnn_in(tc_build *lw, const tc_node *node, int i);
/* In other steps, i16 (floats: unchanged). */
tc_rnn_num ti_rnn_as(tc_build *lw, tc_rnn_num a, double unit);
/* Into the element type and domain of a result, with x's shape. */
tc_val ti_rnn_out(tc_build *lw, tc_rnn_num a, const tc_type *to);

/* Rows n of a number from `first`. */
tc_rnn_num ti_rnn_part(tc_build *lw, tc_rnn_num a, int64_t first, int64_t n);

/* A node whose operands are weights, and the constants that they became: the same for every step.
 * */
typedef struct tc_rnn_weights {
    const tc_node *node;
    struct tc_rnn_made *made; /* newest first */
} tc_rnn_weights;
/* An operand of a sum of products: x, its weights and its bias. */
typedef struct tc_rnn_term {
    tc_rnn_num x;
    int weight, bias;
    int64_t first, rows; /* of the weights; rows 0: all */
} tc_rnn_term;
/* x w^T + b: w is operand `weight` of the node, [out, in], b operand `bias` or none (-1). */
tc_rnn_num ti_rnn_affine(tc_build *lw, tc_rnn_weights *of, tc_rnn_term a, double unit);
/* a.x w^T + a.b + b.x w^T + b.b, rounded and saturated to 16 bits at the end only: either may be
 * far beyond their sum.  part: both separately too, b in steps that hold its whole range, a in
 * steps that hold what matters next to b; or NULL. */
tc_rnn_num ti_rnn_affine2(tc_build *lw, tc_rnn_weights *of, tc_rnn_term a, tc_rnn_term b,
                          double unit, tc_rnn_num part[2]);
tc_rnn_num ti_rnn_plus(tc_build *lw, tc_rnn_num a, tc_rnn_num b, double unit);
tc_rnn_num ti_rnn_minus(tc_build *lw, tc_rnn_num a, tc_rnn_num b, double unit);
tc_rnn_num ti_rnn_times(tc_build *lw, tc_rnn_num a, tc_rnn_num b, double unit);
/* In other steps, i32. */
tc_rnn_num ti_rnn_wide(tc_build *lw, tc_rnn_num a, double unit);
/* a wide + b c, in the steps of `wide`, which is i32 below 2^30; the others are i16.  Past 2^30 it
 * saturates when it is read again. */
tc_rnn_num ti_rnn_blend(tc_build *lw, tc_rnn_num a, tc_rnn_num wide, tc_rnn_num b, tc_rnn_num c);
tc_rnn_num ti_rnn_sigmoid(tc_build *lw, tc_rnn_num a);
/* far: past it a counts as far; from TC_GATE_FAR on as infinite. */
tc_rnn_num ti_rnn_tanh(tc_build *lw, tc_rnn_num a, double far);
tc_rnn_num ti_rnn_relu(tc_build *lw, tc_rnn_num a);

#endif
