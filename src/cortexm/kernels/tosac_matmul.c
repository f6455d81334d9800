/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_matmul.c -- MATMUL of int8 or int16, minus zero points. */
#include "tosac_kernels.h"

/* A row of a times a column of b. */
static int64_t product8(const tosac_matmul *p, const int8_t *a, const int8_t *b)
{
    const int32_t a_zero = p->a_zero, b_zero = p->b_zero, w = p->w;
    uint32_t sum = 0; /* wraps */
    for (int32_t k = 0; k < p->c; k++, b += w)
        sum += (uint32_t)((a[k] - a_zero) * (*b - b_zero));
    return (int32_t)sum;
}

static int64_t product16(const tosac_matmul *p, const int16_t *a, const int16_t *b)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < p->c; k++, b += p->w)
        sum += (int64_t)(a[k] - p->a_zero) * (*b - p->b_zero);
    return sum;
}

void tosac_matmul_any(const tosac_matmul *p, const void *a, const void *b, void *out)
{
    for (int32_t r = 0; r < p->n * p->h; r++)
        for (int32_t i = 0; i < p->w; i++) {
            const int32_t at = r * p->c, from = r / p->h * p->c * p->w + i;
            int64_t sum = p->type == TOSAC_I8
                              ? product8(p, (const int8_t *)a + at, (const int8_t *)b + from)
                              : product16(p, (const int16_t *)a + at, (const int16_t *)b + from);
            tosac_store_sum(&p->q, out, p->result, r * p->w + i, i, sum);
        }
}
