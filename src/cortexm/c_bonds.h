/* SPDX-License-Identifier: Apache-2.0 */
/* c_bonds.h -- items of the arena that must lie at fixed distances of each other. */
#ifndef TC_CORTEXM_BONDS_H
#define TC_CORTEXM_BONDS_H

#include "../codegen/place.h"

typedef struct tc_c_bonds {
    const tc_place_item *item;
    size_t n;
    int64_t align;
    size_t *group; /* by item: the one that it was bound to first */
    int64_t *at;   /* its byte in the group; may be below 0 */
    int32_t *step; /* for which it was bound last; -1: none */
} tc_c_bonds;

/* Every item by itself. */
void ti_c_bonds_begin(tc_arena *arena, const tc_place_item *item, size_t n, int64_t align,
                      tc_c_bonds *out);

/* Item i begins at byte `at` of item `to`, for the sake of one step, in which items that are bound for
 * it may share bytes.  Steps are bound in order.  False: it would lie on what is needed. */
bool ti_c_bind(tc_c_bonds *bonds, size_t to, size_t i, int64_t at, int32_t step);

/* ti_place_items() for all of them. */
int64_t ti_c_bonds_place(tc_arena *arena, const tc_c_bonds *bonds, int64_t *address);

#endif
