/* SPDX-License-Identifier: Apache-2.0 */
/* pack.h -- an address for each buffer; buffers alive together are apart. */
#ifndef TC_PACK_H
#define TC_PACK_H

#include "../base/arena.h"

typedef struct tc_span {
    size_t size;
    size_t first, last; /* the steps between which it is alive, both included */
    size_t offset;      /* the answer */
} tc_span;

/* Largest first, each at the lowest address where it meets nobody; returns the bytes needed in all.
 */
size_t ti_pack(tc_arena *scratch, tc_span *span, size_t n, size_t align);

/* The best of several orders: for what is packed once and loaded on small devices. */
size_t ti_pack_best(tc_arena *scratch, tc_span *span, size_t n, size_t align);

#endif
