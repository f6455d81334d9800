/* SPDX-License-Identifier: Apache-2.0 */
/* occupied.h -- which addresses are occupied at which steps. */
#ifndef TC_OCCUPIED_H
#define TC_OCCUPIED_H

#include "arena.h"

typedef struct tc_occupied tc_occupied;

/* Steps are 0 .. n - 1. */
tc_occupied *ti_occupied_new(tc_arena *arena, size_t n);

/* Nothing is occupied any more; the memory of the sets is kept. */
void ti_occupied_clear(tc_occupied *o);

/* The lowest address from `at` on with n bytes free in steps first .. last. */
int64_t ti_occupied_free(tc_occupied *o, size_t first, size_t last, int64_t at, int64_t bytes);

void ti_occupied_put(tc_occupied *o, size_t first, size_t last, int64_t at, int64_t bytes);

/* Intervals compared so far: a measure of time that is the same on every machine. */
int64_t ti_occupied_work(const tc_occupied *o);

#endif
