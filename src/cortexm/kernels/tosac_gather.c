/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_gather.c -- GATHER and SCATTER of rows. */
#include "tosac_kernels.h"

void tosac_gather(int32_t n, int32_t k, int32_t w, int32_t row, const void *values,
                  const int32_t *indices, void *out)
{
    const uint8_t *from = values;
    uint8_t *to = out;
    for (int32_t i = 0; i < n * w; i++)
        if (indices[i] >= 0 && indices[i] < k)
            memcpy(to + i * row, from + (i / w * k + indices[i]) * row, (size_t)row);
}

void tosac_scatter(int32_t n, int32_t k, int32_t w, int32_t row, const void *values,
                   const int32_t *indices, const void *input, void *out)
{
    const uint8_t *from = input;
    uint8_t *to = out;
    if (to != values)
        memcpy(to, values, (size_t)(n * k * row));
    for (int32_t i = 0; i < n * w; i++)
        if (indices[i] >= 0 && indices[i] < k)
            memcpy(to + (i / w * k + indices[i]) * row, from + i * row, (size_t)row);
}
