/* SPDX-License-Identifier: Apache-2.0 */
/* put.h -- steps of the lowering that take several TOSA operators, on the builder of ir/build.h and
 * with its promise: domains, rescaling, tables. */
#ifndef TC_PUT_H
#define TC_PUT_H

#include "lower.h"

/* Words that formulas in plain/ use. */
#define tc_put1(lw, op, attr, a) tc_b_op((lw), (op), (attr), (tc_val[]){(a)}, 1)
#define tc_put2(lw, op, attr, a, b) tc_b_op((lw), (op), (attr), (tc_val[]){(a), (b)}, 2)
#define tc_put3(lw, op, attr, a, b, c) tc_b_op((lw), (op), (attr), (tc_val[]){(a), (b), (c)}, 3)
#define tc_put tc_b_op
#define tc_put_type tc_b_type
#define tc_put_data tc_b_data
#define tc_put_numbers tc_b_numbers
#define tc_put_number tc_b_single
#define tc_put_zero_point tc_b_zero_point
#define tc_put_shape tc_b_shape
#define tc_put_known tc_b_constant
#define tc_put_extreme tc_b_binary
#define tc_put_reduced tc_b_tosa_reduce
#define tc_put_mul tc_b_tosa_mul
#define tc_put_add tc_b_tosa_add
#define tc_put_select tc_b_tosa_select
#define tc_put_tosa_cast tc_b_tosa_cast
#define tc_put_reshape tc_b_tosa_reshape
#define tc_put_transpose tc_b_tosa_transpose
#define tc_put_slice tc_b_tosa_slice
#define tc_put_slice_axis tc_b_tosa_slice_axis
#define tc_put_pad tc_b_tosa_pad
#define tc_put_tile tc_b_tosa_tile
#define tc_put_rank tc_b_tosa_rank
#define tc_put_expand tc_b_tosa_expand
#define tc_put_axis_last tc_b_tosa_axis_last
#define tc_put_axis_back tc_b_tosa_axis_back

/* CONCAT; i16 goes through i32 where the target lacks it, long lists in groups. */
tc_val tc_put_concat(tc_build *lw, const tc_val *x, int n, int axis);

/* ---- how large a number can be (value_bounds.c) ---- */
/* The largest magnitude of an integer of `to`, whatever comes in; infinite where that is not known.
 */
double tc_put_bound(const tc_build *lw, tc_val v);
/* Whether it holds, or is made by plain arithmetic of, i32 that somebody gives: any number. */
bool tc_put_is_given(const tc_build *lw, tc_val v);

/* ---- rescale ---- */
/* saturate(round((x - in_zero) * factor) + out_zero) as `to`.  factor > 0.  Rounds once; 32-bit
 * multipliers, 16-bit ones where x is i48.  TOSA leaves open what becomes of |x - in_zero| * factor
 * from 2^29 on where the factor is 1/4 or more: i8 and i16 are saturated before that where x may be
 * so large, for i32 the caller sees to it. */
tc_val tc_put_rescale(tc_build *lw, tc_val x, double factor, int64_t in_zero, int64_t out_zero,
                      tc_dtype to);
/* One factor per index of the last axis. */
tc_val tc_put_rescale_channels(tc_build *lw, tc_val x, const double *factor, int64_t in_zero,
                               int64_t out_zero, tc_dtype to);
/* The factor between two scales, with the reciprocal that quantizing in f32 multiplies by. */
double tc_scale_factor(double from, double to);
/* Stored numbers of type `from` (its domain) as stored numbers of the domain of `type`, clamped to
 * its codes; per channel on any axis.  The shape is x's own. */
tc_val tc_put_domain(tc_build *lw, tc_val x, const tc_type *from, const tc_type *type);
/* Clamped to the codes of the domain, where they are narrower than the storage. */
tc_val tc_put_codes(tc_build *lw, tc_val x, const tc_quant *q);
tc_val tc_put_clamp(tc_build *lw, tc_val x, double lo, double hi);

/* ---- tables ---- */
typedef double tc_real_function(double x, const void *user);
/* A function of one number, from domain to domain (i8 or i16 to i8, i16 or i32; function.h):
 * clamped to the result's codes. */
tc_val tc_put_function(tc_build *lw, tc_val x, const tc_type *from, const tc_type *to,
                       tc_real_function *f, const void *user);
tc_val tc_put_table(tc_build *lw, tc_val x, tc_dtype entries, const double *entry,
                    int n); /* 256 of i8 or 513 of i16 */

/* ---- domains ---- */
static inline double tc_scale_of(const tc_type *t) { return t->quant->scale[0]; }
static inline int64_t tc_zero_of(const tc_type *t) { return t->quant->zero[0]; }
/* One pair for the whole tensor, stored as i8 or i16. */
bool tc_is_activation(const tc_type *t);

#endif
