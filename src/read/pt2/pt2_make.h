/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_make.h -- small steps that importers of movement, indexing and reductions are made of.
 *
 * After a failure each does nothing and returns TC_NONE. */
#ifndef TC_PT2_MAKE_H
#define TC_PT2_MAKE_H

#include "pt2.h"

static inline const tc_type *tc_pt2_type(const tc_pt2_node *n, tc_val x)
{
    return tc_type_of(n->g, x);
}

/* The dimensions as a list. */
tc_ints tc_pt2_dims(tc_pt2_node *n, const tc_type *type);

tc_val tc_pt2_reshape(tc_pt2_node *n, tc_val x, tc_ints shape);
tc_val tc_pt2_flat(tc_pt2_node *n, tc_val x); /* one axis */
tc_val tc_pt2_permute(tc_pt2_node *n, tc_val x, const int64_t *perm);
tc_val tc_pt2_swap(tc_pt2_node *n, tc_val x, int64_t a, int64_t b);
tc_val tc_pt2_expand(tc_pt2_node *n, tc_val x, tc_ints shape);
tc_val tc_pt2_unsqueeze(tc_pt2_node *n, tc_val x, int64_t axis);
tc_val tc_pt2_full(tc_pt2_node *n, tc_ints shape, double value, tc_dtype dtype);

/* Elements [start, end) by step along an axis, as Python counts: negative from the end, clamped. */
tc_val tc_pt2_slice(tc_pt2_node *n, tc_val x, int64_t axis, int64_t start, int64_t end,
                    int64_t step);
/* What that comes to, as the operator's attributes. */
tc_attr_slice *tc_pt2_slice_attr(tc_pt2_node *n, const tc_type *x, int64_t axis, int64_t start,
                                 int64_t end, int64_t step);

/* Constants of one axis (i64), and of any shape (bool); the numbers are copied. */
tc_val tc_pt2_list(tc_pt2_node *n, const int64_t *v, int64_t count);
tc_val tc_pt2_mask(tc_pt2_node *n, const uint8_t *v, int32_t rank, const int64_t *dim);

/* Where a known tensor is not zero: a list per axis, written to `out`; false: it is not known. */
bool tc_pt2_places(tc_pt2_node *n, tc_val x, tc_val *out);

/* A Tensor[] without holes. */
tc_val *tc_pt2_list_of(tc_pt2_node *n, const char *arg, int *count);

/* Axes counted from the front; all of them when the list is empty. */
tc_ints tc_pt2_axes(tc_pt2_node *n, tc_ints axes, int rank);

/* Bind the one result; `view`: it shows the numbers of `base` (0: a copy). */
void tc_pt2_result(tc_pt2_node *n, tc_val base, tc_val value, double view);

#endif
