/* SPDX-License-Identifier: Apache-2.0 */
/* flexbuf.h -- FlexBuffers: numbers of a map by their keys, read with bounds.
 *
 * The end says what the root is: its value, its type and how many bytes that value has.  A map is
 * where its root points back to: its values, then a byte a value for the types; before it how many
 * there are, how wide places of keys are, and how far back the list of those is. */
#ifndef TC_FLEXBUF_H
#define TC_FLEXBUF_H

#include "../base/bytes.h"

typedef struct tc_flex_map {
    tc_bytes bytes;
    size_t n;
    size_t value, width;    /* where the first is, and the bytes of each */
    size_t key, key_width;  /* the same of the places of the keys */
} tc_flex_map;

/* False: the root is no map, or lies outside. */
bool ti_flex_map(tc_bytes bytes, tc_flex_map *out);

/* The number (a truth value is one) under a key; false: there is none. */
bool ti_flex_number(const tc_flex_map *map, const char *key, double *out);

#endif
