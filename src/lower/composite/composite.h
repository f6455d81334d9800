/* SPDX-License-Identifier: Apache-2.0 */
/* composite.h -- what softmax, norms, attention and recurrent layers share: arithmetic on rows.
 *
 * A row is the last axis.  Everything is PRO-INT (no 16-bit tables or convolutions), and arranged
 * so that an NPU can fuse it: every widening rescale has one reader, every accumulator one rescale
 * after it. */
#ifndef TC_COMPOSITE_H
#define TC_COMPOSITE_H

#include "../put.h"

/* ---- lower_rows.c ---- */

/* The largest magnitude of n elements. */
double ti_largest(const double *x, int64_t n);
/* Sums over the middle of [outer, n, inner], i32 of magnitudes up to `most`, as [outer, 1, inner]
 * in steps of 2^*down.  What i32 cannot hold is summed in as few parts as can be, each rounded
 * once. */
tc_val ti_put_long_sum(tc_build *lw, tc_val x, const int64_t span[3], double most, int *down);
/* x - zero as i32, for one reader. */
tc_val ti_put_widened(tc_build *lw, tc_val x, int64_t zero);
/* saturate(round(factor * (fa * (a - za) OP fb * (b - zb))) + zero), OP an elementwise operator of
 * i32. */
typedef struct tc_term {
    tc_val val;
    int64_t zero;
    double factor;
} tc_term;
tc_val ti_put_fused(tc_build *lw, tc_op op, tc_term a, tc_term b, double factor, int64_t zero,
                    tc_dtype to);

/* The largest of each row, extent 1: a tree of halves, which is far cheaper than REDUCE_MAX on an
 * NPU. */
tc_val ti_put_row_max(tc_build *lw, tc_val x);

/* A positive i32 as mantissa * 2^power, and what follows from it; relative error below 1e-4.
 *   value = mantissa * 2^-zeros * 2,   mantissa in [2^30, 2^31), zeros = leading zeros of value
 *   1 / value = inverse * TC_INVERSE_UNIT * 2^zeros */
typedef struct tc_inverse {
    tc_val zeros, inverse; /* i32; inverse in [2^14, 2^15] */
    tc_val mantissa;
    tc_val index, excess; /* of the table; TC_INVERSE_ONE * (1 + d), where the entry was off by d */
} tc_inverse;
#define TC_INVERSE_ONE 534773760.0                                    /* 127.5 * 2^22 */
#define TC_INVERSE_UNIT (0x1p-31 / (255.0 * TC_INVERSE_ONE) * 0x1p22) /* of `inverse` */
tc_inverse ti_put_inverse(tc_build *lw, tc_val x);

/* 1 / sqrt(value) = root * TC_ROOT_UNIT * 2^half for a positive i32. */
typedef struct tc_root {
    tc_val half, root; /* i32; half = (zeros - 1) / 2, root in [2^14, 2^15] */
    tc_val even;       /* value * 4^half */
} tc_root;
#define TC_ROOT_ONE 532684800.0 /* 255^2 / 4 * 2^15 */
#define TC_ROOT_UNIT (0x1p23 / 0x1.6a09e667f3bcdp15 / (255.0 * TC_ROOT_ONE))
tc_root ti_put_root(tc_build *lw, tc_val x);
/* sqrt(value) as i32 in steps of TC_SQUARE_ROOT_UNIT, for an i32 that is 0 or more. */
#define TC_SQUARE_ROOT_UNIT (TC_ROOT_UNIT * 0x1p16)
tc_val ti_put_square_root(tc_build *lw, tc_val x);

/* [n, h, c] x [n, c, w] less their zero points; the element type is the accumulator's. */
tc_val ti_put_matrices(tc_build *lw, tc_val a, int64_t a_zero, tc_val b, int64_t b_zero);

/* Axes moved to the end, in order, and merged into one: [kept.., row]. */
tc_val ti_put_axes_last(tc_build *lw, tc_val x, tc_ints axes);

/* ---- lower_softmax.c ---- */

/* e^(scale * (x - max)) of each row in units of 1 / 32767, i16; shares of the sum are needed to 8,
 * 12 or 16 bits. */
tc_val ti_put_row_exp(tc_build *lw, tc_val x, double scale, int bits);
/* Sum of x - zero over each row, i32. */
tc_val ti_put_row_sum(tc_build *lw, tc_val x, int64_t zero);
/* The same of rows of any length, in steps of 2^*down; most: of |x - zero|. */
tc_val ti_put_row_total(tc_build *lw, tc_val x, int64_t zero, double most, int *down);

/* ---- attention_values.c ---- */

/* softmax(step * scores) v: scores i16 [b, rows, keys], v i8 [b, keys, out]; where the mask, bools
 * or none, is false a score counts for nothing. */
typedef struct tc_rows {
    tc_val scores, v, mask;
    double step;
    int64_t v_zero;
} tc_rows;
/* Into the domain of `to`, of 8 bits, to a step and four of v. */
tc_val ti_put_attended(tc_build *lw, const tc_rows *r, double v_scale, const tc_type *to);

/* ---- matrix_column.c ---- */

/* i8 with one more number, zero + number, at the end of every row; zero: the zero point of v.  None
 * where no convolutions made it. */
tc_val ti_put_column(tc_build *lw, tc_val v, int64_t zero, int number);

/* ---- exp_i16.c: i32 to some 17 bits, for results of 16 ---- */

/* Whether the target has what these take: TABLE of i16 whose result is i32. */
bool ti_lower_fine(const tc_build *lw);
/* x below 2^30 as i16: x = 2^15 * high + low. */
void ti_put_halves(tc_build *lw, tc_val x, tc_val *high, tc_val *low);
/* Sum of e^(-scale * x) over each row, of which 0 is the least x: i32 in steps of 2^-*bits. */
tc_val ti_put_fine_sum(tc_build *lw, tc_val x, double scale, int *bits);
/* e^(-scale * x) over the sum of its row, of which 0 is the least x: i32 in steps of *unit, below
 * 2^30.  A row that is all 2^31 - 1 gives zeros. */
tc_val ti_put_fine_shares(tc_build *lw, tc_val x, double scale, double *unit);
/* The inverse with one more step of Newton's method, 15 bits more: 1 / value = result * 2^15 /
 * TC_FINE_ONE * TC_INVERSE_UNIT * 2^zeros. */
#define TC_FINE_ONE (127.5 * 127.5 * 0x1p16) /* mantissa * inverse / 2^15 */
tc_val ti_put_fine_inverse(tc_build *lw, const tc_inverse *r);
/* tanh(x * unit) of i32, in steps of 2^-29. */
tc_val ti_put_fine_tanh(tc_build *lw, tc_val x, double unit);

/* ---- moments.c ---- */

/* Rows of i8 times weights [n_out, n], a 1x1 convolution: i32, or times factor[out] plus out_zero
 * as `to`. */
tc_val ti_put_across(tc_build *lw, tc_val x, int64_t zero, int64_t n_out, const double *weight,
                     const double *factor, int64_t out_zero, tc_dtype to);

/* x - mean (or x - zero when not to be centred) of each row as i16, in steps of *unit codes of x
 * (i8, i16). */
tc_val ti_put_row_deviation(tc_build *lw, tc_val x, int64_t zero, bool centre, double *unit);
/* Sum of d * d / 2^*shift over each row of i16, *shift >= least, below 2^30. */
tc_val ti_put_row_squares(tc_build *lw, tc_val d, bool centred, int least, int *shift);
/* (x - mean) / sqrt(variance + eps) of each row, i16 in steps of *unit; beyond `most` it may
 * saturate. Not centred: x / sqrt(mean square + eps). */
tc_val ti_put_row_normal(tc_build *lw, tc_val x, const tc_type *from, double eps, bool centre,
                         double most, double *unit);

/* ---- norm_i16.c: rows of i8 or i16 of at most TC_LONGEST_I16, for results of 16 bits ---- */

enum { TC_LONGEST_I16 = 1 << 22 };

/* (x - mean) / sqrt(variance + eps) of each row, i32 in steps of *unit, below 2^30.  Not centred: x
 * / sqrt(mean square + eps). */
tc_val ti_put_normal_i16(tc_build *lw, tc_val x, const tc_type *from, double eps, bool centre,
                         double *unit);
/* x * gain[c] + bias[c] along an axis of n, x i32 in steps of unit and below 2^30, into the domain
 * of `to`. */
tc_val ti_put_affine_i16(tc_build *lw, tc_val x, double unit, int axis, const double *gain,
                         const double *bias, int64_t n, const tc_type *to);
/* Sum of (x - mean)^2, or of x^2, over each row, divided; or the square root of that. */
tc_val ti_put_spread_i16(tc_build *lw, tc_val x, const tc_type *from, bool centre, double divisor,
                         bool root, const tc_type *to);

/* ---- affine.c ---- */

/* x * gain[c] + bias[c] along an axis of n, x i16 in steps of unit, into the domain of `to`. */
tc_val ti_put_affine(tc_build *lw, tc_val x, double unit, int axis, const double *gain,
                     const double *bias, int64_t n, const tc_type *to);
/* n real values of a constant operand, `otherwise` where absent, in scratch memory; NULL: refused,
 * it is not constant. */
const double *ti_lower_known(tc_build *lw, const tc_node *node, int i, int64_t n, double otherwise);
/* Whether operand 0 and result 0 are i8 or i16 of one scale; refuses otherwise. */
bool ti_lower_one_scale(tc_build *lw, const tc_node *node);
/* Kernel, stride and dilation 1, no padding. */
tc_attr_tosa_conv *ti_conv_1x1(tc_build *lw, tc_dtype acc);

/* ---- composite_float.c ---- */

/* Softmax of each row of floats. */
tc_val ti_put_real_softmax(tc_build *lw, tc_val x);

#endif
