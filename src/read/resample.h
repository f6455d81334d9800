/* SPDX-License-Identifier: Apache-2.0 */
/* resample.h -- pictures in another size, pixel for pixel as Pillow makes them. */
#ifndef TC_RESAMPLE_H
#define TC_RESAMPLE_H

#include "../wire/picture.h"

typedef enum tc_filter { TC_FILTER_BILINEAR, TC_FILTER_BICUBIC } tc_filter;

/* The picture at h x w.  When it becomes smaller every pixel counts: the filter is as wide as the
 * step.  Columns first, then rows, each rounded to 8 bits. */
tc_picture ti_resample(tc_arena *arena, tc_picture from, int32_t h, int32_t w, tc_filter filter);

#endif
