/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_matmul.c -- MATMUL of int8 or int16, minus zero points. */
#include "tosac_kernels.h"

void tosac_matmul_any(const tosac_matmul *p, const void *a, const void *b, void *out)
{
    for (int32_t r = 0; r < p->n * p->h; r++)
        for (int32_t i = 0; i < p->w; i++) {
            int32_t plane = r / p->h * p->c * p->w;
            uint64_t sum = 0;
            for (int32_t k = 0; k < p->c; k++)
                sum += (uint64_t)((tosac_load(a, p->type, r * p->c + k) - p->a_zero) *
                                  (tosac_load(b, p->type, plane + k * p->w + i) - p->b_zero));
            tosac_store_sum(&p->q, out, p->result, r * p->w + i, i, (int64_t)sum);
        }
}
