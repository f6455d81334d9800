/* SPDX-License-Identifier: Apache-2.0 */
/* map.h -- one hash map from text (or any bytes) to a pointer, walked in insertion order. */
#ifndef TC_MAP_H
#define TC_MAP_H

#include "text.h"

typedef struct tc_map_entry {
    tc_str key;
    uint64_t hash;
    void *value;
} tc_map_entry;

typedef struct tc_map {
    tc_arena *arena;
    tc_map_entry *entry; /* n of them, in the order they came */
    size_t n, cap;
    uint32_t *slot; /* index + 1 into entry; 0: free */
    size_t n_slot;  /* a power of two */
} tc_map;

void ti_map_init(tc_map *map, tc_arena *arena);

/* The slot for key's value; NULL inside when the key is new (the key is copied). */
void **ti_map_at(tc_map *map, tc_str key);

/* The value, or NULL when the key is not there. */
void *ti_map_get(const tc_map *map, tc_str key);

/* The map's copy of the key whose slot ti_map_at() has just given; it stays valid. */
static inline const char *ti_map_key(void *const *place)
{
    return ((const tc_map_entry *)(const void *)((const char *)place -
                                                 offsetof(tc_map_entry, value)))
        ->key.p;
}

/* As it was when `was` was copied from it, without what came since. */
void ti_map_back(tc_map *map, const tc_map *was);

uint64_t ti_hash(const void *data, size_t size, uint64_t seed);

#endif
