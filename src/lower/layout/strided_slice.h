/* SPDX-License-Identifier: Apache-2.0 */
/* strided_slice.h -- which elements of a tensor: along each axis a start, a count and a step.
 *
 * An axis is a product of factors, major to minor; a reshape groups the same factors into other
 * axes.  A selection goes through a reshape where, factor by factor, it is all, one, or one range.
 */
#ifndef TC_STRIDED_SLICE_H
#define TC_STRIDED_SLICE_H

#include "../../num/type.h"

typedef struct tc_range {
    int64_t start, count, step;
} tc_range;

typedef struct tc_select {
    int rank;
    tc_range axis[TC_MAX_RANK];
} tc_select;

tc_select ti_select_all(const tc_type *t);
bool ti_select_is_all(const tc_select *s, const tc_type *t);
static inline bool ti_range_is_all(const tc_range *r, int64_t extent)
{
    return r->start == 0 && r->count == extent && (r->step == 1 || extent == 1);
}

/* The elements of x that are those elements of reshape(x); false: not such a selection.
 */
bool ti_select_reshape(const tc_select *of, const tc_type *out, const tc_type *in,
                       tc_select *result);

/* ---- factors ---- */

enum { TC_FACTORS_MAX = 24 };

/* The factors of a tensor's axes, in order, none of them 1. */
typedef struct tc_factors {
    int n;
    int64_t size[TC_FACTORS_MAX];
    int axis[TC_FACTORS_MAX];
} tc_factors;

#endif
