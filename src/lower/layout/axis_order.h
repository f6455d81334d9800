/* SPDX-License-Identifier: Apache-2.0 */
/* axis_order.h -- the order of a value's axes in memory.
 *
 * A value has logical axes, those of its readers, and is stored with the same axes in some order:
 * logical axis i is stored axis at[i].  Axes of extent 1 may be anywhere without moving an
 * element. */
#ifndef TC_AXIS_ORDER_H
#define TC_AXIS_ORDER_H

#include "../../num/type.h"

typedef struct tc_order {
    int rank;
    uint8_t at[TC_MAX_RANK];
} tc_order;

tc_order ti_order_plain(int rank);
bool ti_order_same(const tc_order *a, const tc_order *b);

/* y = transpose(x, perm): y's order when x is stored by `x`; and x's when y is to be stored by `y`.
 */
tc_order ti_order_view(const tc_order *x, const int64_t *perm);
tc_order ti_order_unview(const tc_order *y, const int64_t *perm);

/* The stored extents of a value of logical extents `dim`. */
void ti_order_dims(const tc_order *p, const int64_t *dim, int64_t *stored);

/* The transpose that brings what is stored by `from` into the order `to`. */
void ti_order_perm(const tc_order *from, const tc_order *to, int64_t *perm);

/* Whether that transpose moves elements, for logical extents `dim`. */
bool ti_order_moves(const int64_t *dim, const tc_order *from, const tc_order *to);

/* Whether transpose(x, perm) keeps every element of x in place; x of extents `dim`. */
bool ti_perm_is_reshape(int rank, const int64_t *dim, const int64_t *perm);

/* x of logical extents `dim`, stored by `p`, reshaped to `to_dim`: true when no element moves, and
 * *q is the order of the result.  Extents that are merged or split are contiguous in memory. */
bool ti_order_reshape(const tc_order *p, const int64_t *dim, int to_rank, const int64_t *to_dim,
                      tc_order *q);

/* The elements of transpose(x, perm), in new memory. */
const void *ti_transposed(tc_arena *arena, const tc_type *x, const void *data, const int64_t *perm);

#endif
