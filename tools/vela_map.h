/* SPDX-License-Identifier: Apache-2.0 */
/* vela_map.h -- what Vela expects of each operation of a stream: its debug database
 * (--enable-debug-db).
 *
 * Its tables are lists of numbers and quoted words between "<![CDATA[" and "]]>", with a line of
 * names first: queue (a byte of the stream, an optimised operator), optimised (the source
 * operator), source (its place in the file). */
#ifndef TC_VELA_MAP_H
#define TC_VELA_MAP_H

#include "base/diag.h"

typedef struct tc_vela_map tc_vela_map;

/* NULL: there is nothing in it that makes sense. */
tc_vela_map *ti_vela_map_read(tc_arena *arena, tc_bytes xml);

/* The cycles that Vela expects of every scheduled operation, in its order. */
typedef struct tc_vela_cost {
    size_t word; /* where its first commands end; SIZE_MAX: it has none of its own */
    int64_t cycles, npu_cycles, macs;
    const char *kind;
    int64_t sram_cycles, other_cycles; /* that its accesses take, of SRAM and of slower memory */
    int64_t place;                     /* of the operator in the TOSA file; -1: not known */
} tc_vela_cost;
const tc_vela_cost *ti_vela_map_costs(const tc_vela_map *map, size_t *n);

/* The one that the command at a word belongs to; SIZE_MAX: none. */
size_t ti_vela_map_scheduled(const tc_vela_map *map, size_t word);

#endif
