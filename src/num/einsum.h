/* SPDX-License-Identifier: Apache-2.0 */
/* einsum.h -- equations such as "bij,bjk->bik", read against the operands' shapes. */
#ifndef TC_EINSUM_H
#define TC_EINSUM_H

#include "type.h"

enum {
    TC_EINSUM_OPERANDS = 8,
    TC_EINSUM_LABELS = 52 + TC_MAX_RANK, /* A-Z, a-z, then the axes of "..." from the left */
};

typedef struct tc_einsum {
    int n_in, out_rank;
    int rank[TC_EINSUM_OPERANDS];
    uint8_t in[TC_EINSUM_OPERANDS][TC_MAX_RANK]; /* the label of each axis */
    uint8_t out[TC_MAX_RANK];
    int64_t extent[TC_EINSUM_LABELS]; /* 1 broadcasts */
} tc_einsum;

/* NULL, or what is wrong with the equation, to be appended to its text. */
const char *ti_einsum_parse(const char *equation, const tc_tensor *in, int n_in, tc_einsum *out);

/* A list of n labels has this one. */
static inline bool ti_einsum_has(const uint8_t *list, int n, uint8_t label)
{
    return memchr(list, label, (size_t)n) != NULL;
}

#endif
