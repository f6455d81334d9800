/* SPDX-License-Identifier: Apache-2.0 */
/* map.c -- open addressing over an array that keeps the order of arrival. */
#include "map.h"

/* FNV-1a. */
uint64_t ti_hash(const void *data, size_t size, uint64_t seed)
{
    const uint8_t *p = data;
    uint64_t h = seed ^ UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* Eight bytes at a time, for the maps alone: nothing outside sees which slot a key has. */
static uint64_t hash_key(tc_str key)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = key.n * odd, word;
    size_t i = 0;
    for (; i + sizeof word <= key.n; i += sizeof word) {
        memcpy(&word, key.p + i, sizeof word);
        h = (h ^ word) * odd;
        h ^= h >> 29;
    }
    word = 0;
    if (i < key.n)
        memcpy(&word, key.p + i, key.n - i);
    h = (h ^ word) * odd;
    return h ^ h >> 32;
}

void ti_map_init(tc_map *map, tc_arena *arena)
{
    *map = (tc_map){.arena = arena};
}

/* The slot where the key is, or where it would go. */
static size_t find(const tc_map *map, tc_str key, uint64_t hash)
{
    size_t mask = map->n_slot - 1, i = (size_t)hash & mask;
    for (; map->slot[i]; i = (i + 1) & mask) {
        const tc_map_entry *e = &map->entry[map->slot[i] - 1];
        if (e->hash == hash && ti_str_eq(e->key, key))
            break;
    }
    return i;
}

static void rehash(tc_map *map)
{
    map->n_slot = map->n_slot ? map->n_slot * 2 : 16;
    map->slot = tc_new_n(map->arena, uint32_t, map->n_slot);
    for (size_t i = 0; i < map->n; i++)
        map->slot[find(map, map->entry[i].key, map->entry[i].hash)] = (uint32_t)i + 1;
}

void **ti_map_at(tc_map *map, tc_str key)
{
    if (2 * (map->n + 1) > map->n_slot)
        rehash(map);
    uint64_t hash = hash_key(key);
    size_t slot = find(map, key, hash);
    if (!map->slot[slot]) {
        tc_grow(map->arena, map->entry, map->n, map->cap);
        tc_str copy = {ti_text_copy(map->arena, key), key.n};
        map->entry[map->n] = (tc_map_entry){.key = copy, .hash = hash};
        map->slot[slot] = (uint32_t)++map->n;
    }
    return &map->entry[map->slot[slot] - 1].value;
}

void *ti_map_get(const tc_map *map, tc_str key)
{
    if (!map->n)
        return NULL;
    uint32_t at = map->slot[find(map, key, hash_key(key))];
    return at ? map->entry[at - 1].value : NULL;
}

/* Entries are appended and never move.  The latest is removed first: all entries on its probe
 * sequence are older, and still present. */
void ti_map_back(tc_map *map, const tc_map *was)
{
    for (size_t n = map->n; n > was->n; n--) {
        size_t mask = was->n_slot - 1, i = (size_t)map->entry[n - 1].hash & mask;
        for (; was->n_slot && was->slot[i]; i = (i + 1) & mask)
            if (was->slot[i] == n) {
                was->slot[i] = 0;
                break;
            }
    }
    *map = *was;
}
