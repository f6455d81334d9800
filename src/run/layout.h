/* SPDX-License-Identifier: Apache-2.0 */
/* layout.h -- the order of a value's axes in memory.
 *
 * The executor may keep a value with its axes in another order than its type says (channels last,
 * say); most operators then work in that order, with their axis attributes renamed. */
#ifndef TC_LAYOUT_H
#define TC_LAYOUT_H

#include "../num/attr.h"

/* axis[i]: the logical axis that is i-th in memory, outermost first. */
typedef struct tc_layout {
    int32_t rank;
    int8_t axis[TC_MAX_RANK];
} tc_layout;

tc_layout ti_layout_plain(int32_t rank);
tc_layout ti_layout_channels_last(int32_t rank); /* [n, c, spatial...] as [n, spatial..., c] */

/* The same order, axes of extent 1 aside. */
bool ti_layout_same(const tc_layout *a, const tc_layout *b, const tc_type *type);

/* The type of the elements in memory order. */
const tc_type *ti_layout_type(tc_ctx *ctx, const tc_layout *l, const tc_type *type);

/* Position of a logical axis in memory. */
int ti_layout_at(const tc_layout *l, int64_t axis);

/* Stride of each logical axis. */
void ti_layout_strides(const tc_layout *l, const tc_type *type, int64_t *stride);

/* After permute: result axis j is axis perm[j]. */
tc_layout ti_layout_permute(const tc_layout *l, tc_ints perm);

/* After reshape without a copy; false: a copy is needed. */
bool ti_layout_reshape(const tc_layout *l, const tc_type *from, const tc_type *to, tc_layout *out);

/* The axes in `gone` removed, the others renumbered. */
tc_layout ti_layout_drop(const tc_layout *l, tc_ints gone);

/* A permutation from the order of `from` to the order of `to`: to[i] is from[perm[i]]. */
void ti_layout_between(const tc_layout *from, const tc_layout *to, int64_t *perm);

#endif
