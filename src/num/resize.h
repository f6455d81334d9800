/* SPDX-License-Identifier: Apache-2.0 */
/* resize.h -- what upsampling reads: one axis as a table of indices and weights. */
#ifndef TC_RESIZE_H
#define TC_RESIZE_H

#include "attr.h"

typedef enum tc_resize_kind {
    TC_RESIZE_NEAREST,
    TC_RESIZE_NEAREST_EXACT,
    TC_RESIZE_LINEAR,
    TC_RESIZE_CUBIC
} tc_resize_kind;

/* Output o reads place[o * taps + i] with weight[o * taps + i]. */
typedef struct tc_resize_axis {
    int64_t in, out;
    int taps;
    int64_t *place;
    double *weight;
} tc_resize_axis;

/* Axis i of those that are resampled, of extent `in`; wide: coordinates are computed in f64. */
tc_resize_axis ti_resize_axis_of(tc_arena *arena, tc_resize_kind kind, const tc_attr_upsample *attr,
                                 int i, int64_t in, bool wide);

#endif
