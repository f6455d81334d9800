/* SPDX-License-Identifier: Apache-2.0 */
/* int8_conv.c -- CONV2D of int8: windows of a copied strip against packed columns.
 *
 *   sum (x - zx) w  =  sum (x + 128) w  -  (zx + 128) sum w
 *
 * where elements are kept without sign; where they keep it, the 128 are not there. */
#include "int8_tile.h"

enum { MOST_WASTE = 2 }; /* tiles of 64 bytes are for rows that fill half of them at least */

struct tc_conv8 {
    tc_windows window;
    tc_dense8 dense;
    size_t depth; /* products of a sum */
    /* with tiles of bytes */
    bool by_tiles;
    size_t quads, panels;
    const int8_t *packed; /* as tc_gemm8_run() wants it */
    const int32_t *start;
};

/* Row-major [n][k] bytes to [panel][k / 4][16][4], zeros where there is nothing. */
static const int8_t *pack_panels(tc_ctx *ctx, const int8_t *w, size_t n, size_t k, size_t quads)
{
    size_t panel_bytes = quads * 64;
    int8_t *out = tc_arena_raw(&ctx->arena, (n + TC_PANEL - 1) / TC_PANEL * panel_bytes);
    memset(out, 0, (n + TC_PANEL - 1) / TC_PANEL * panel_bytes);
    for (size_t j = 0; j < n; j++) {
        int8_t *panel = out + j / TC_PANEL * panel_bytes + j % TC_PANEL * 4;
        for (size_t i = 0; i < k; i++)
            panel[i / 4 * 64 + i % 4] = w[j * k + i];
    }
    return out;
}

/* What each channel starts from: bias, and what the zero points take back.  16 to spare. */
static const int32_t *starts(tc_ctx *ctx, tc_tensor w, tc_tensor bias, size_t n, size_t depth,
                             int32_t zero)
{
    int32_t *start = tc_new_n(&ctx->arena, int32_t, n + TC_PANEL);
    const int32_t *b = bias.data;
    for (size_t j = 0; j < n; j++) {
        int64_t sum = 0;
        for (size_t i = 0; i < depth; i++)
            sum += ((const int8_t *)w.data)[j * depth + i];
        uint32_t from = (uint32_t)b[bias.type->dim[0] == 1 ? 0 : j];
        start[j] = (int32_t)(from - (uint32_t)zero * (uint32_t)(uint64_t)sum);
    }
    return start;
}

tc_conv8 *tc_conv8_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x, const tc_type *y,
                       tc_tensor w, tc_tensor bias, int32_t x_zero, const tc_narrow *narrow)
{
    const int64_t *k = w.type->dim;
    tc_conv8 *c = tc_new(&ctx->arena, tc_conv8);
    tc_dense8 *d = &c->dense;
    size_t n = (size_t)k[0];
    c->depth = (size_t)(k[1] * k[2] * k[3]);
    d->form = tc_tile_form_here();
    tc_windows_init(ctx, &c->window, a, x, y, k[1], k[2], d->form.kept, x_zero, false);
    c->start = starts(ctx, w, bias, n, c->depth, x_zero + (d->form.kept == TC_KEPT_u8 ? 128 : 0));
    tc_finish_init(ctx, &d->finish, n, d->form.width, d->form.most_panels, c->start, narrow);
    d->segment = c->window.segment;
    d->n_segment = c->window.n_segment;
    d->length = c->window.length;
    d->units = tc_dense8_units(&d->form, d->length);
    c->by_tiles = tc_fast_isa() == TC_ISA_amx && c->depth * MOST_WASTE >= 64;
    if (c->by_tiles) {
        c->quads = tc_gemm8_quads(c->depth);
        c->panels = (n + TC_PANEL - 1) / TC_PANEL;
        c->packed = pack_panels(ctx, w.data, n, c->depth, c->quads);
    } else {
        int8_t *packed = tc_arena_raw(&ctx->arena, tc_dense8_bytes(d));
        tc_dense8_pack(d, w.data, c->depth, 1, packed);
        d->packed = packed;
    }
    return c;
}

static size_t tile_row(const tc_conv8 *c) { return c->quads * 4; }

size_t tc_conv8_scratch(const tc_conv8 *c)
{
    size_t tiles = TC_BLOCK_ROWS * (tile_row(c) + c->panels * TC_PANEL * sizeof(int32_t));
    return tc_windows_bytes(&c->window) + (c->by_tiles ? tiles : 0);
}

typedef struct run {
    const tc_conv8 *conv;
    uint8_t *y, *rows;
} run;

static void run_dense(void *who, const uint8_t *const *row, size_t rows, size_t at)
{
    const run *r = who;
    const tc_dense8 *d = &r->conv->dense;
    tc_dense8_run(d, row, rows, NULL, NULL, r->y + at * d->finish.row_bytes);
}

/* Windows written out, products in tiles, sums in memory. */
static void run_tiles(void *who, const uint8_t *const *row, size_t rows, size_t at)
{
    const run *r = who;
    const tc_conv8 *c = r->conv;
    const tc_finish *f = &c->dense.finish;
    size_t lda = tile_row(c), ld = c->panels * TC_PANEL, length = c->window.length;
    int32_t *sum = (int32_t *)(void *)(r->rows + TC_BLOCK_ROWS * lda);
    for (size_t i = 0; i < rows; i++)
        for (size_t s = 0; s < c->window.n_segment; s++)
            memcpy(r->rows + i * lda + s * length, row[i] + c->window.segment[s], length);
    tc_gemm8_run(&(tc_gemm8){r->rows, lda, rows, c->packed, c->quads, c->panels, sum, ld});
    uint8_t *y = r->y + at * f->row_bytes;
    if (f->narrows) {
        tc_narrow_rows(&f->narrow, sum, ld, rows, f->columns, c->start, y);
        return;
    }
    int32_t *out = (int32_t *)(void *)y;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < f->columns; j++)
            *out++ = (int32_t)((uint32_t)sum[i * ld + j] + (uint32_t)c->start[j]);
}

void tc_conv8_run(const tc_conv8 *c, const int8_t *x, void *y, void *scratch)
{
    run r = {c, y, (uint8_t *)scratch + tc_windows_bytes(&c->window)};
    if (c->by_tiles)
        memset(r.rows, 0, TC_BLOCK_ROWS * tile_row(c));
    tc_windows_walk(&c->window, x, scratch, c->by_tiles ? run_tiles : run_dense, &r);
}
