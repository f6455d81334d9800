/* SPDX-License-Identifier: Apache-2.0 */
/* int8_amx.c -- the inner product of bytes by tiles: 32 rows by 2 panels of 16 columns at once. */
#include "fast.h"
#include "int8.h"

#ifdef TC_X86
#include <immintrin.h>

/* Eight tiles of 16 rows of 64 bytes: 0-3 the sums of 32 rows by 32 columns, 4-5 rows of a, 6-7
 * panels of b. */
#define TC_AMX __attribute__((target("amx-tile,amx-int8")))

TC_AMX void tc_gemm8_run(const tc_gemm8 *g)
{
    struct {
        uint8_t palette, start, reserved[14];
        uint16_t bytes[16];
        uint8_t rows[16];
    } config = {.palette = 1};
    for (int t = 0; t < 8; t++) {
        config.bytes[t] = 64;
        config.rows[t] = 16;
    }
    _tile_loadconfig(&config);
    size_t panel_bytes = g->quads * 64, lda = g->lda, ldc = g->ldc * sizeof(int32_t);
    for (size_t p = 0; p < g->panels; p += 2) {
        bool two = p + 1 < g->panels;
        for (size_t r = 0; r < g->rows; r += 32) {
            bool low = r + 16 < g->rows;
            const uint8_t *a = g->a + r * lda;
            const int8_t *b = g->b + p * panel_bytes;
            int32_t *c = g->c + r * g->ldc + p * TC_PANEL;
            _tile_zero(0);
            _tile_zero(1);
            _tile_zero(2);
            _tile_zero(3);
            for (size_t k = 0; k < panel_bytes; k += 1024, a += 64, b += 1024) {
                _tile_loadd(4, a, lda);
                _tile_loadd(6, b, 64);
                _tile_dpbusd(0, 4, 6);
                if (two) {
                    _tile_loadd(7, b + panel_bytes, 64);
                    _tile_dpbusd(1, 4, 7);
                }
                if (low) {
                    _tile_loadd(5, a + 16 * lda, lda);
                    _tile_dpbusd(2, 5, 6);
                    if (two)
                        _tile_dpbusd(3, 5, 7);
                }
            }
            _tile_stored(0, c, ldc);
            if (two)
                _tile_stored(1, c + TC_PANEL, ldc);
            if (low)
                _tile_stored(2, c + 16 * g->ldc, ldc);
            if (low && two)
                _tile_stored(3, c + 16 * g->ldc + TC_PANEL, ldc);
        }
    }
    _tile_release();
}
#else
void tc_gemm8_run(const tc_gemm8 *g)
{
    (void)g; /* a level that is not here */
}
#endif
