/* SPDX-License-Identifier: Apache-2.0 */
/* bonds.h -- items of a memory that must be at fixed distances of each other. */
#ifndef TC_BONDS_H
#define TC_BONDS_H

#include "place.h"

typedef struct tc_bonds {
    const tc_place_item *item;
    size_t n;
    int64_t align;
    size_t *group; /* by item: the one that it was bound to first */
    size_t *next;  /* by item: another of its group, around */
    int64_t *at;   /* its byte in the group; may be below 0 */
    int32_t *step; /* for which it was bound last; -1: none */
} tc_bonds;

/* Every item by itself. */
void ti_bonds_begin(tc_arena *arena, const tc_place_item *item, size_t n, int64_t align,
                    tc_bonds *out);

/* Item i begins at byte `at` of item `to`, for the sake of one step, in which items that are bound for
 * it may share bytes.  Steps are bound in order.  False: it would overwrite what is needed. */
bool ti_bind(tc_bonds *bonds, size_t to, size_t i, int64_t at, int32_t step);

/* ti_place_items() for all of them. */
tc_placement ti_bonds_place(tc_arena *arena, const tc_bonds *bonds, int64_t *address);

#endif
