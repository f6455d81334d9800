/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_reduce.c -- REDUCE_SUM, _MAX, _MIN, _ALL, _ANY along one axis. */
#include "tosac_kernels.h"

static int32_t joined(tosac_reduction what, int32_t a, int32_t b)
{
    switch (what) {
    case TOSAC_SUM:
        return tosac_add(a, b);
    case TOSAC_MAX:
        return tosac_max(a, b);
    case TOSAC_MIN:
        return tosac_min(a, b);
    case TOSAC_ALL:
        return a & b;
    default:
        return a | b;
    }
}

void tosac_reduce(tosac_reduction what, tosac_type type, int32_t outer, int32_t n, int32_t inner,
                  const void *x, void *out)
{
    for (int32_t o = 0; o < outer; o++)
        for (int32_t i = 0; i < inner; i++) {
            int32_t at = o * n * inner + i, v = (int32_t)tosac_load(x, type, at);
            for (int32_t k = 1; k < n; k++)
                v = joined(what, v, (int32_t)tosac_load(x, type, at + k * inner));
            tosac_store(out, type, o * inner + i, v);
        }
}
