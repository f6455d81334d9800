/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_argmax.c -- ARGMAX: the first of the largest along one axis. */
#include "tosac_kernels.h"

void tosac_argmax(tosac_type type, int32_t outer, int32_t n, int32_t inner, const void *x,
                  int32_t *out)
{
    for (int32_t o = 0; o < outer; o++)
        for (int32_t i = 0; i < inner; i++) {
            int32_t at = o * n * inner + i, best = 0, most = (int32_t)tosac_load(x, type, at);
            for (int32_t k = 1; k < n; k++) {
                int32_t v = (int32_t)tosac_load(x, type, at + k * inner);
                if (v > most) {
                    most = v;
                    best = k;
                }
            }
            out[o * inner + i] = best;
        }
}
