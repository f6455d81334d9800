/* SPDX-License-Identifier: Apache-2.0 */
/* taken.h -- which addresses are taken at which steps. */
#ifndef TC_TAKEN_H
#define TC_TAKEN_H

#include "../base/arena.h"

typedef struct tc_taken tc_taken;

/* step: the n steps at which spans will begin, in any order; it is sorted and kept. */
tc_taken *ti_taken_new(tc_arena *scratch, size_t *step, size_t n);

/* The lowest address from `at` on with so many bytes that are free from step first to step last. */
size_t ti_taken_free(const tc_taken *taken, size_t first, size_t last, size_t at, size_t size);

void ti_taken_put(tc_taken *taken, size_t first, size_t last, size_t at, size_t size);

#endif
