/* SPDX-License-Identifier: Apache-2.0 */
/* put.h -- puts TOSA nodes into the graph that is being made.
 *
 * Every function gives a value of `to`, or none once something was refused: a rule can go on and
 * need not look.  Types are inferred; a node that breaks a shape rule is our own mistake and stops
 * the pass. */
#ifndef TC_PUT_H
#define TC_PUT_H

#include "lower.h"

/* Any operator with one result. */
tc_val tc_put(tc_lower *lw, tc_op op, const void *attr, const tc_val *in, int n);
tc_val tc_put1(tc_lower *lw, tc_op op, const void *attr, tc_val a);
tc_val tc_put2(tc_lower *lw, tc_op op, const void *attr, tc_val a, tc_val b);
tc_val tc_put3(tc_lower *lw, tc_op op, const void *attr, tc_val a, tc_val b, tc_val c);
static inline const tc_type *tc_put_type(const tc_lower *lw, tc_val v)
{
    return tc_type_of(lw->to, v);
}

/* ---- constants ---- */
tc_val tc_put_data(tc_lower *lw, const tc_type *type,
                   const void *data); /* not copied; lives with the context */
tc_val tc_put_numbers(tc_lower *lw, tc_dtype dtype, int rank, const int64_t *dim,
                      const double *x);                                 /* rounded, saturated */
tc_val tc_put_number(tc_lower *lw, tc_dtype dtype, int rank, double x); /* extent 1 on every axis */
tc_val tc_put_zero_point(tc_lower *lw, tc_val like,
                         int64_t zero); /* [1], the element type of `like` */
tc_val tc_put_shape(tc_lower *lw, int n, const int64_t *extent);                /* CONST_SHAPE */
/* The stored numbers of a constant of `to`; NULL data when it is not constant. */
tc_tensor tc_put_known(const tc_lower *lw, tc_val v);

/* ---- movement: no operation where nothing would change ---- */
tc_val tc_put_reshape(tc_lower *lw, tc_val x, int rank, const int64_t *dim);
tc_val tc_put_transpose(tc_lower *lw, tc_val x,
                        const int64_t *perm); /* result axis i is x's axis perm[i] */
tc_val tc_put_slice(tc_lower *lw, tc_val x, const int64_t *start, const int64_t *size);
tc_val tc_put_slice_axis(tc_lower *lw, tc_val x, int axis, int64_t start, int64_t size);
tc_val tc_put_concat(tc_lower *lw, const tc_val *x, int n, int axis);
/* The larger or the smaller of two, MAXIMUM or MINIMUM; NaN goes through. */
tc_val tc_put_extreme(tc_lower *lw, tc_op op, tc_val x, tc_val y);
tc_val tc_put_pad(tc_lower *lw, tc_val x, const int64_t *before_after, double stored);
tc_val tc_put_tile(tc_lower *lw, tc_val x, const int64_t *times);
tc_val tc_put_rank(tc_lower *lw, tc_val x, int rank); /* ones in front, for broadcasting */
tc_val tc_put_expand(tc_lower *lw, tc_val x, int rank,
                     const int64_t *dim); /* ones in front, then tiled */
/* Axis `axis` last, the others in order; and back where it was. */
tc_val tc_put_axis_last(tc_lower *lw, tc_val x, int axis);
tc_val tc_put_axis_back(tc_lower *lw, tc_val x, int axis);
/* Axis 1 last, and back: [n,c,..] <-> [n,..,c]. */
tc_val tc_put_channels_last(tc_lower *lw, tc_val x);
tc_val tc_put_channels_first(tc_lower *lw, tc_val x);

/* ---- how large a number can be (bound.c) ---- */
/* The largest magnitude of an integer of `to`, whatever comes in; infinite where that is not known.
 */
double tc_put_bound(const tc_lower *lw, tc_val v);
/* Whether it holds, or is made by plain arithmetic of, i32 that somebody gives: any number. */
bool tc_put_is_given(const tc_lower *lw, tc_val v);

/* ---- change of scale ---- */
/* saturate(round((x - in_zero) * factor) + out_zero) as `to`.  factor > 0.  Rounds once; 32-bit
 * multipliers, 16-bit ones where x is i48.  TOSA leaves open what becomes of |x - in_zero| * factor
 * from 2^29 on where the factor is 1/4 or more: i8 and i16 are saturated before that where x may be
 * so large, for i32 the caller sees to it. */
tc_val tc_put_rescale(tc_lower *lw, tc_val x, double factor, int64_t in_zero, int64_t out_zero,
                      tc_dtype to);
/* One factor per index of the last axis. */
tc_val tc_put_rescale_channels(tc_lower *lw, tc_val x, const double *factor, int64_t in_zero,
                               int64_t out_zero, tc_dtype to);
/* The factor between two scales, with the reciprocal that quantizing in f32 multiplies by. */
double tc_scale_factor(double from, double to);
/* Stored numbers of type `from` (its domain) as stored numbers of the domain of `type`, clamped to
 * its codes; per channel on any axis.  The shape is x's own. */
tc_val tc_put_domain(tc_lower *lw, tc_val x, const tc_type *from, const tc_type *type);
/* Clamped to the codes of the domain, where they are narrower than the storage. */
tc_val tc_put_codes(tc_lower *lw, tc_val x, const tc_quant *q);
tc_val tc_put_clamp(tc_lower *lw, tc_val x, double lo, double hi);

/* ---- tables ---- */
typedef double tc_real_function(double x, const void *user);
/* A function of one number, from domain to domain (i8 or i16 to i8, i16 or i32; function.h):
 * clamped to the result's codes. */
tc_val tc_put_function(tc_lower *lw, tc_val x, const tc_type *from, const tc_type *to,
                       tc_real_function *f, const void *user);
tc_val tc_put_table(tc_lower *lw, tc_val x, tc_dtype entries, const double *entry,
                    int n); /* 256 of i8 or 513 of i16 */

/* ---- domains ---- */
static inline double tc_scale_of(const tc_type *t) { return t->quant->scale[0]; }
static inline int64_t tc_zero_of(const tc_type *t) { return t->quant->zero[0]; }
/* One pair for the whole tensor, stored as i8 or i16. */
bool tc_is_activation(const tc_type *t);

#endif
