/* SPDX-License-Identifier: Apache-2.0 */
/* strided.h -- the copy loop of every kernel that only moves elements. */
#ifndef TC_STRIDED_H
#define TC_STRIDED_H

#include "type.h"

/* One axis of a walk over two arrays: how often, and how far each goes per step, in elements. */
typedef struct tc_axis {
    int64_t n, to, from;
} tc_axis;

enum { TC_MAX_AXES = 2 * TC_MAX_RANK };

/* to[sum i_k to_k] = from[sum i_k from_k] for all 0 <= i_k < n_k; elements of 1, 2, 4 or 8 bytes.
 * The two do not overlap. */
void ti_move(void *to, const void *from, size_t bytes, const tc_axis *axis, int n_axis);

/* count copies of one element. */
void ti_fill(void *to, const void *element, size_t bytes, int64_t count);

/* Strides of a contiguous tensor. */
void ti_steps(const tc_type *type, int64_t step[TC_MAX_RANK]);

/* The product of dim[from .. to). */
int64_t ti_extent(const tc_type *type, int from, int to);

#endif
