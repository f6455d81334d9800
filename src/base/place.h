/* SPDX-License-Identifier: Apache-2.0 */
/* place.h -- addresses: items that are never live at the same time may share bytes.
 *
 * An item is live in a range of steps.  Parts of some items have their own: those of a CONCAT from
 * when they are written, those that SLICEs read until then.  An item may have to be at the address
 * of another one, as the result of an operation in place.  bonds.h joins items one by one. */
#ifndef TC_PLACE_H
#define TC_PLACE_H

#include "arena.h"
#include "life.h"

typedef struct tc_place_part {
    int64_t offset, bytes; /* within the item */
    tc_life life;
} tc_place_part;

typedef struct tc_place_item {
    int64_t bytes;
    tc_life life;
    const tc_place_part *part; /* what of it is needed when; none: all of it, all its life */
    size_t n_part;
    size_t same_as; /* 1 + an earlier item with the same address; 0: its own */
    int64_t at;     /* byte of that item where this begins */
    int64_t address; /* filled in */
} tc_place_item;

typedef struct tc_placement {
    int64_t bytes; /* of the memory: up to the end of the last item, rounded up */
    int64_t bound; /* that are needed at the same time, at most: no placement has fewer */
} tc_placement;

/* Gives every item an address, a multiple of `align`; deterministic.  Scratch comes from the arena
 * and is rewound. */
tc_placement ti_place_items(tc_arena *arena, tc_place_item *item, size_t n, int64_t align);

/* The same without a search: the largest item first, each at the lowest address that is free.  For
 * memory of this machine, not of a device. */
tc_placement ti_place_once(tc_arena *arena, tc_place_item *item, size_t n, int64_t align);

#endif
