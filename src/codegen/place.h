/* SPDX-License-Identifier: Apache-2.0 */
/* place.h -- addresses: what is never needed at the same time may lie in the same bytes.
 *
 * An item is needed from one step to another.  Of some only parts are: those of a CONCAT from when
 * they are written, those that SLICEs read until then.  An item may have to lie where another one
 * does, as the result of an operation in place. */
#ifndef TC_PLACE_H
#define TC_PLACE_H

#include "../base/arena.h"

typedef struct tc_place_part {
    int64_t offset, bytes; /* within the item */
    int32_t first, last;
} tc_place_part;

typedef struct tc_place_item {
    int64_t bytes;
    int32_t first, last; /* steps from 0 on; in both of them it is needed */
    const tc_place_part *part; /* what of it is needed when; none: all of it, first to last */
    size_t n_part;
    size_t same_as; /* 1 + an item in front of this, whose place it has; 0: a place of its own */
    int64_t at;     /* byte of that item where this begins */
    int64_t address; /* filled in */
} tc_place_item;

typedef struct tc_placement {
    int64_t bytes; /* of the memory: behind the last item, rounded up */
    int64_t bound; /* that are needed at the same time, at most: no placement has fewer */
} tc_placement;

/* Gives every item an address, a multiple of `align`; the same ones on every run.  Working space
 * comes from the arena and goes back to it. */
tc_placement ti_place_items(tc_arena *arena, tc_place_item *item, size_t n, int64_t align);

#endif
