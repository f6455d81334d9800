/* SPDX-License-Identifier: Apache-2.0 */
/* npy.c -- .npy and .npz files: open, then read every array in small pieces. */
#include "fuzz.h"

#include "wire/npy.h"

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    enum { PIECE = 64 };
    uint8_t piece[PIECE * 16];
    tc_npy *array;
    size_t n;
    if (ti_npy_parse(ctx, "fuzz", bytes, &array, &n) != TC_OK)
        return;
    for (size_t i = 0; i < n; i++)
        for (int64_t at = 0; at < array[i].count && at < 100 * PIECE; at += PIECE)
            if (ti_npy_read(ctx, &array[i], at, ti_min_i64(PIECE, array[i].count - at), piece) !=
                TC_OK)
                break;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, 64u << 20);
    return 0;
}
