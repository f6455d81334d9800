/* SPDX-License-Identifier: Apache-2.0 */
/* flexbuf.h -- FlexBuffers: scalars of a map by their keys, with bounds checks.
 *
 * The last bytes describe the root: its value, its type and the width of that value.  The root
 * points back to a map: its values, then a byte per value for the types; before it their count, the
 * width of key offsets, and the distance back to the list of those. */
#ifndef TC_FLEXBUF_H
#define TC_FLEXBUF_H

#include "../base/bytes.h"

typedef struct tc_flex_map {
    tc_bytes bytes;
    size_t n;
    size_t value, width;    /* where the first is, and the bytes of each */
    size_t key, key_width;  /* the same for the offsets of the keys */
} tc_flex_map;

/* False: the root is not a map, or out of bounds. */
bool ti_flex_map(tc_bytes bytes, tc_flex_map *out);

/* The scalar (also a bool) of a key; false: none. */
bool ti_flex_number(const tc_flex_map *map, const char *key, double *out);

#endif
