/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_fixed.h -- codes computed as the runtime's reference kernels do, in TOSA's operators.
 *
 * The runtime multiplies an int32 by a fraction of 31 bits, rounds that, shifts right and rounds
 * again:  r(r(x m / 2^31) / 2^n), the first half up, the second half away from zero.  RESCALE with
 * double rounding is the same number:  (x m + 2^(30 + n) +- 2^30) >> (31 + n).  For x m >= 0 both
 * add 2^30 before the first shift.  For x m < 0 rounding half away is rounding half up of one
 * less, and one less before the second shift is 2^31 less before the first: 2^30 - 2^31 = -2^30.
 * An int64 sum is multiplied by 15 bits and rounded once: RESCALE with scale16. */
#ifndef TC_TFLITE_FIXED_H
#define TC_TFLITE_FIXED_H

#include "tflite.h"

/* real = fraction * 2^(shift - 31), as QuantizeMultiplier finds them. */
typedef struct tc_tfl_factor {
    int32_t fraction;
    int shift; /* to the left where it is positive */
} tc_tfl_factor;

tc_tfl_factor ti_tfl_factor_of(double real);
/* r(r(x fraction / 2^31) / 2^-shift) itself. */
int32_t ti_tfl_scaled(int32_t x, tc_tfl_factor f);

/* Scale and zero of a tensor that has one of each; a message where it has not. */
double ti_tfl_scale(tc_tfl_node *n, const tc_tfl_tensor *t);
int64_t ti_tfl_zero(const tc_tfl_tensor *t);

/* The codes that an activation leaves of tensor t. */
typedef struct tc_tfl_range {
    int64_t lo, hi;
} tc_tfl_range;
tc_tfl_range ti_tfl_range_of(const tc_tfl_tensor *t, int activation);

/* Operators of TOSA. */
tc_val ti_tfl_const_of(tc_build *m, tc_dtype dtype, int rank, const int64_t *dim, const int64_t *v);
tc_val ti_tfl_number(tc_build *m, tc_dtype dtype, int rank, int64_t v); /* all extents 1 */
/* An i32 of the rank of `like`. */
static inline tc_val ti_tfl_i32(tc_build *m, tc_val like, int64_t v)
{
    return m->status == TC_OK ? ti_tfl_number(m, TC_i32, ti_b_type(m, like)->rank, v) : TC_NONE;
}
tc_val ti_tfl_table(tc_build *m, tc_val x, const int8_t *v);            /* of 256 */
/* A list of n entries, and those of it that x (i32) indexes. */
tc_val ti_tfl_list(tc_build *m, tc_dtype dtype, const int64_t *v, int64_t n);
tc_val ti_tfl_listed(tc_build *m, tc_val x, tc_val list);
/* The same for codes x: the least code's number is the first of 256 or 65536. */
tc_val ti_tfl_by_code(tc_build *m, tc_val x, tc_val list);
/* x / 2^shift + zero, halves away from zero; x: i32 */
tc_val ti_tfl_halves_away(tc_build *m, tc_val x, int shift, int64_t zero, tc_dtype to);
tc_val ti_tfl_clamp(tc_build *m, tc_val x, tc_tfl_range r); /* x where r is all there is */
/* (x - in_zero) by each factor, + out_zero, of that type; n factors: one, or one per channel. */
tc_val ti_tfl_rescale(tc_build *m, tc_val x, const tc_tfl_factor *f, int64_t n, int64_t in_zero,
                      int64_t out_zero, tc_dtype to);
/* The same, rounded once. */
tc_val ti_tfl_rescale_once(tc_build *m, tc_val x, const tc_tfl_factor *f, int64_t n,
                           int64_t out_zero, tc_dtype to);
tc_val ti_tfl_widen(tc_build *m, tc_val x, int64_t zero, int shift); /* (x - zero) << shift, i32 */
tc_val ti_tfl_mul(tc_build *m, tc_val a, tc_val b, int shift);       /* i32 */
tc_val ti_tfl_two(tc_build *m, tc_op op, tc_val a, tc_val b);        /* ranks made equal */
static inline tc_val ti_tfl_shift_left(tc_build *m, tc_val x, tc_val by)
{
    return ti_tfl_two(m, TC_OP_tosa_logical_left_shift, x, by);
}
static inline tc_val ti_tfl_less(tc_build *m, tc_val a, tc_val b)
{
    return ti_tfl_two(m, TC_OP_tosa_sub, a, b);
}
/* Of codes of one domain, to codes of it. */
tc_val ti_tfl_narrow_two(tc_build *m, tc_op op, tc_val a, tc_val b, int64_t zero, tc_dtype type);
tc_val ti_tfl_shift_right(tc_build *m, tc_val a, tc_val b, bool round);
/* up + down, or up - down, of codes of which up is clamped to its zero and above: the functions of
 * positive values, and of negative ones; for every value one is 0. */
tc_val ti_tfl_joined(tc_build *m, tc_op op, tc_val up, tc_val down, int64_t zero, tc_dtype type);

#endif
