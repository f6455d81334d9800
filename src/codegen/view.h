/* SPDX-License-Identifier: Apache-2.0 */
/* view.h -- a value as it is stored in memory: which elements of which root, in which order.
 *
 * RESHAPE, SLICE, TRANSPOSE and REVERSE give other views of the same root, as long as strides can
 * express it; nothing is moved.  A view is passed as a whole: shape and address are never apart. */
#ifndef TC_VIEW_H
#define TC_VIEW_H

#include "../base/base.h"

enum { TC_VIEW_DIMS = 8, TC_NO_ROOT = -1 };

typedef struct tc_view {
    int32_t root; /* of tc_hw, or TC_NO_ROOT */
    int32_t rank;
    int64_t at; /* its first element, counted in the root's */
    int64_t dim[TC_VIEW_DIMS];
    int64_t stride[TC_VIEW_DIMS]; /* in elements; 0: the same element again (a broadcast) */
} tc_view;

/* All of a root, dense. */
tc_view ti_view_dense(int32_t root, int32_t rank, const int64_t *dim);

int64_t ti_view_count(const tc_view *v);

/* The same elements in another shape; false: strides cannot express it. */
bool ti_view_reshape(const tc_view *v, int32_t rank, const int64_t *dim, tc_view *out);
/* [start, start + size) of an axis. */
tc_view ti_view_slice(const tc_view *v, int32_t axis, int64_t start, int64_t size);
/* Axis i of the result is axis perm[i]. */
tc_view ti_view_transpose(const tc_view *v, const int64_t *perm);
/* The axis at another position, the others in their order. */
tc_view ti_view_move_axis(const tc_view *v, int32_t axis, int32_t to);
tc_view ti_view_reverse(const tc_view *v, int32_t axis);
/* Element i of the first axis, which goes. */
tc_view ti_view_at(const tc_view *v, int64_t i);
/* Leading axes of extent 1 until there are `rank`, then every extent of 1 as in dim. */
tc_view ti_view_broadcast(const tc_view *v, int32_t rank, const int64_t *dim);
/* One more axis of extent 1, after the others. */
tc_view ti_view_deepen(const tc_view *v);

/* Whether the elements are stored one after the other, without gaps and in order. */
bool ti_view_is_dense(const tc_view *v);

/* ---- several views of one shape, as the machine sees them: rows, columns, channels ---- */

/* The most that a register counts to. */
enum { TC_HW_EXTENT = 65536 };

/* Calls `each` with n views of rank 3 for every part that one operation can do; the parts together
 * are the n given views, which have the same extents.  Channels are contiguous (stride 1 or
 * broadcast) in each part, or are one.  Leading axes become rows where strides allow it.
 * columns: the last axis but one of the views, whose channels are contiguous, is columns
 * of every part.
 * false, at once, when `each` gives false. */
typedef bool tc_view_part(void *user, const tc_view *part);
bool ti_view_parts(const tc_view *v, int n, bool columns, tc_view_part *each, void *user);

#endif
