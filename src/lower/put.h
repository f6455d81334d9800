/* SPDX-License-Identifier: Apache-2.0 */
/* put.h -- steps of the lowering that take several TOSA operators, on the builder of ir/build.h and
 * with its promise: domains, rescaling, tables. */
#ifndef TC_PUT_H
#define TC_PUT_H

#include "lower.h"

/* CONCAT; i16 goes through i32 where the target lacks it, long lists in groups. */
tc_val ti_put_concat(tc_build *lw, const tc_val *x, int n, int axis);

/* ---- how large a number can be (value_bounds.c) ---- */
/* The largest magnitude of an integer of `to`, for any inputs; infinite if unknown.
 */
double ti_put_bound(const tc_build *lw, tc_val v);
/* Whether it holds, or is computed by plain arithmetic from, i32 inputs: unbounded. */
bool ti_put_is_given(const tc_build *lw, tc_val v);

/* ---- rescale ---- */
/* saturate(round((x - in_zero) * factor) + out_zero) as `to`.  factor > 0.  Rounds once; 32-bit
 * multipliers, 16-bit ones where x is i48.  TOSA does not define |x - in_zero| * factor from 2^29
 * on where the factor is 1/4 or more: i8 and i16 are saturated before that if x may be so large,
 * for i32 the caller ensures it. */
tc_val ti_put_rescale(tc_build *lw, tc_val x, double factor, int64_t in_zero, int64_t out_zero,
                      tc_dtype to);
/* One factor per index of the last axis. */
tc_val ti_put_rescale_channels(tc_build *lw, tc_val x, const double *factor, int64_t in_zero,
                               int64_t out_zero, tc_dtype to);
/* An i32 in steps of step[i] by the n indices of its last axis, or one for all, in steps of `unit`:
 * values past the limit become it, or less than one of their own steps more. */
tc_val ti_put_cut(tc_build *lw, tc_val x, const double *step, int64_t n, double limit, double unit);
/* The factor between two scales, with the reciprocal that quantizing in f32 multiplies by. */
double ti_scale_factor(double from, double to);
/* Stored elements of type `from` (its domain) as stored elements of the domain of `type`, clamped
 * to its codes; per channel on any axis.  The shape is x's own. */
tc_val ti_put_domain(tc_build *lw, tc_val x, const tc_type *from, const tc_type *type);
/* Clamped to the codes of the domain, where they are narrower than the storage. */
tc_val ti_put_codes(tc_build *lw, tc_val x, const tc_quant *q);
tc_val ti_put_clamp(tc_build *lw, tc_val x, double lo, double hi);

/* ---- tables ---- */
typedef double tc_real_function(double x, const void *user);
/* A function of one number, from domain to domain (i8 or i16 to i8, i16 or i32; table_lookup.c):
 * clamped to the result's codes. */
tc_val ti_put_function(tc_build *lw, tc_val x, const tc_type *from, const tc_type *to,
                       tc_real_function *f, const void *user);
tc_val ti_put_table(tc_build *lw, tc_val x, tc_dtype entries, const double *entry,
                    int n); /* 256 of i8 or 513 of i16 */

/* ---- domains ---- */
static inline double ti_scale_of(const tc_type *t) { return t->quant->scale[0]; }
static inline int64_t ti_zero_of(const tc_type *t) { return t->quant->zero[0]; }
/* One pair for the whole tensor, stored as i8 or i16. */
bool ti_is_activation(const tc_type *t);

/* Bounds of an i32. */
static inline tc_val ti_put_at_most(tc_build *lw, tc_val a, double most)
{
    return ti_b_tosa_minimum(lw, a, ti_b_like(lw, a, TC_i32, most));
}
static inline tc_val ti_put_at_least(tc_build *lw, tc_val a, double least)
{
    return ti_b_tosa_maximum(lw, a, ti_b_like(lw, a, TC_i32, least));
}

/* Channels last to first, in the shape of y. */
static inline tc_val ti_put_channels_first(tc_build *lw, tc_val x, const tc_type *y)
{
    return ti_b_tosa_reshape(lw, ti_b_tosa_channels_first(lw, x), y->rank, y->dim);
}

#endif
