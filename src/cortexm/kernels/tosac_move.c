/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_move.c -- CONCAT, PAD, REVERSE, SLICE, TILE, TRANSPOSE. */
#include "tosac_kernels.h"

enum { MOST_AXES = 12 };

static void row(const int32_t axis[3], int32_t size, const uint8_t *from, uint8_t *to)
{
    int32_t n = axis[0], a = axis[1] * size, b = axis[2] * size;
    if (axis[1] == 1 && axis[2] == 1)
        memcpy(to, from, (size_t)(n * size));
    else if (size == 1)
        for (int32_t i = 0; i < n; i++)
            to[i * b] = from[i * a];
    else
        for (int32_t i = 0; i < n; i++)
            memcpy(to + i * b, from + i * a, (size_t)size);
}

void tosac_move(const int32_t (*axis)[3], int32_t rank, int32_t size, const void *from, void *to)
{
    const uint8_t *source = from;
    uint8_t *place = to;
    int32_t index[MOST_AXES] = {0}, a = 0, b = 0, i;
    if (rank == 0)
        memcpy(to, from, (size_t)size);
    while (rank > 0) {
        row(axis[rank - 1], size, source + a * size, place + b * size);
        for (i = rank - 2; i >= 0; i--) {
            a += axis[i][1];
            b += axis[i][2];
            if (++index[i] < axis[i][0])
                break;
            a -= axis[i][1] * index[i];
            b -= axis[i][2] * index[i];
            index[i] = 0;
        }
        if (i < 0)
            return;
    }
}
