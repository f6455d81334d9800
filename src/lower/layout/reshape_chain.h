/* SPDX-License-Identifier: Apache-2.0 */
/* reshape_chain.h -- a chain of reshapes and permutes, by the factors of the axes.
 *
 * Every axis is a product of factors, split as finely as the chain needs; a permute orders them, a
 * reshape only regroups them.  None of them is 1. */
#ifndef TC_RESHAPE_CHAIN_H
#define TC_RESHAPE_CHAIN_H

#include "strided_slice.h"

typedef struct tc_chain {
    const tc_type *type; /* of its end */
    int n;               /* factors */
    int64_t size[TC_FACTORS_MAX];
    int from[TC_FACTORS_MAX]; /* factors in their memory order before */
    int at[TC_FACTORS_MAX];   /* factors in the order of the axes, now */
    int axis[TC_FACTORS_MAX]; /* by position in `at`: the axis it belongs to */
    bool cut[TC_FACTORS_MAX]; /* by factor: for the user */
} tc_chain;

/* Nothing done yet: axis i is stored at position order[i]. */
tc_chain ti_chain_begin(const tc_type *t, const uint8_t *order);

/* One step more; false when the axes have no common factors. */
bool ti_chain_reshape(tc_chain *c, const tc_type *to);
void ti_chain_permute(tc_chain *c, const int64_t *perm, const tc_type *to);

/* Whether each axis is contiguous in memory, its factors in order: then, by axis, its position
 * among them. */
bool ti_chain_in_place(const tc_chain *c, uint8_t *place);

#endif
