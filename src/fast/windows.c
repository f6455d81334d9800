/* SPDX-License-Identifier: Apache-2.0 */
/* windows.c -- see windows.h. */
#include "windows.h"

#include "../base/isa.h"

enum { STRIP_BYTES = 96 << 10 };

/* ---- elements as they are kept ---- */

TC_INLINE void keep(tc_kept kept, const void *x, void *out, size_t n)
{
    const int8_t *from = x;
    switch (kept) {
    case TC_KEPT_u8:
        for (size_t i = 0; i < n; i++)
            ((uint8_t *)out)[i] = (uint8_t)((uint8_t)from[i] ^ 0x80);
        return;
    case TC_KEPT_s16:
        for (size_t i = 0; i < n; i++)
            ((int16_t *)out)[i] = from[i];
        return;
    case TC_KEPT_s8:
        memcpy(out, x, n);
        return;
    default:
        memcpy(out, x, 2 * n);
    }
}

static void keep_plain(tc_kept kept, const void *x, void *out, size_t n) { keep(kept, x, out, n); }
#ifdef TC_X86
TC_AVX2 static void keep_avx2(tc_kept kept, const void *x, void *out, size_t n)
{
    keep(kept, x, out, n);
}
#endif

void ti_keep(tc_kept kept, const void *x, void *out, size_t n)
{
#ifdef TC_X86
    if (ti_isa() != TC_ISA_plain) {
        keep_avx2(kept, x, out, n);
        return;
    }
#endif
    keep_plain(kept, x, out, n);
}

static void fill(const tc_windows *w, uint8_t *out, size_t n)
{
    if (w->each == 1)
        memset(out, w->kept == TC_KEPT_u8 ? w->outside + 128 : w->outside, n);
    else
        for (size_t i = 0; i < n; i++) {
            int16_t v = (int16_t)w->outside;
            memcpy(out + 2 * i, &v, sizeof v);
        }
}

/* ---- geometry ---- */

static size_t from_bytes(const tc_windows *w) { return w->kept == TC_KEPT_i16 ? 2 : 1; }

/* Lines of the image that a strip of `rows` output rows reads. */
static int64_t lines_of(const tc_windows *w, int64_t rows)
{
    return (rows - 1) * w->stride_y + (w->kh - 1) * w->dilation_y + 1;
}

static size_t line_bytes(const tc_windows *w) { return (size_t)(w->width * w->ic) * w->each; }

static void find_segments(tc_ctx *ctx, tc_windows *w, bool by_tap)
{
    bool joined = !by_tap && w->dilation_x == 1;
    int64_t across = joined ? 1 : w->kw;
    w->n_segment = (size_t)(w->kh * across);
    w->length = (size_t)((joined ? w->kw : 1) * w->ic);
    size_t *segment = tc_new_n(&ctx->arena, size_t, w->n_segment);
    for (int64_t ky = 0; ky < w->kh; ky++)
        for (int64_t kx = 0; kx < across; kx++)
            segment[ky * across + kx] = (size_t)(ky * w->dilation_y) * line_bytes(w) +
                                        (size_t)(kx * w->dilation_x * w->ic) * w->each;
    w->segment = segment;
}

void ti_windows_init(tc_ctx *ctx, tc_windows *w, const tc_attr_tosa_conv *a, const tc_type *x,
                     const tc_type *y, int64_t kh, int64_t kw, tc_kept kept, int32_t outside,
                     bool by_tap)
{
    *w = (tc_windows){.n = x->dim[0], .ih = x->dim[1], .iw = x->dim[2], .ic = x->dim[3],
                      .oh = y->dim[1], .ow = y->dim[2], .kh = kh, .kw = kw,
                      .pad_top = a->pad.v[0], .pad_left = a->pad.v[2],
                      .stride_y = a->stride.v[0], .stride_x = a->stride.v[1],
                      .dilation_y = a->dilation.v[0], .dilation_x = a->dilation.v[1],
                      .kept = kept, .outside = outside,
                      .each = kept == TC_KEPT_u8 || kept == TC_KEPT_s8 ? 1 : 2};
    w->flat = kh == 1 && kw == 1 && w->stride_y == 1 && w->stride_x == 1 && w->oh == w->ih &&
              w->ow == w->iw;
    w->width = (w->ow - 1) * w->stride_x + (w->kw - 1) * w->dilation_x + 1;
    find_segments(ctx, w, by_tap);
    if (w->flat) {
        w->strip = TC_BLOCK_ROWS;
        return;
    }
    w->strip = w->oh > 0 ? w->oh : 1;
    while (w->strip > 1 && (size_t)lines_of(w, w->strip) * line_bytes(w) > STRIP_BYTES)
        w->strip = (w->strip + 1) / 2;
}

size_t ti_windows_bytes(const tc_windows *w)
{
    size_t bytes = w->flat ? (size_t)(w->strip * w->ic) * w->each
                           : (size_t)lines_of(w, w->strip) * line_bytes(w);
    return (bytes + TC_OVERREAD + 63) / 64 * 64;
}

/* ---- the walk ---- */

/* `lines` lines of image n from line `first` on, which may be outside. */
static void copy_lines(const tc_windows *w, const uint8_t *x, int64_t n, int64_t first,
                       int64_t lines, uint8_t *copy)
{
    size_t c = (size_t)w->ic, line = line_bytes(w);
    int64_t left = ti_min_i64(w->pad_left, w->width);
    int64_t some = ti_min_i64(w->iw, w->width - left);
    int64_t right = w->width - left - some;
    for (int64_t i = 0; i < lines; i++, copy += line) {
        int64_t iy = first + i;
        if (iy < 0 || iy >= w->ih) {
            fill(w, copy, line / w->each);
            continue;
        }
        const uint8_t *from = x + (size_t)(n * w->ih + iy) * (size_t)w->iw * c * from_bytes(w);
        fill(w, copy, (size_t)left * c);
        ti_keep(w->kept, from, copy + (size_t)left * c * w->each, (size_t)some * c);
        fill(w, copy + (size_t)(left + some) * c * w->each, (size_t)right * c);
    }
    memset(copy, 0, TC_OVERREAD);
}

static void walk_flat(const tc_windows *w, const uint8_t *x, uint8_t *copy,
                      tc_windows_block *block, void *who)
{
    const uint8_t *row[TC_BLOCK_ROWS];
    size_t positions = (size_t)(w->n * w->oh * w->ow), c = (size_t)w->ic;
    for (size_t r = 0; r < TC_BLOCK_ROWS; r++)
        row[r] = copy + r * c * w->each;
    for (size_t at = 0; at < positions; at += TC_BLOCK_ROWS) {
        size_t rows = positions - at < TC_BLOCK_ROWS ? positions - at : TC_BLOCK_ROWS;
        ti_keep(w->kept, x + at * c * from_bytes(w), copy, rows * c);
        memset(copy + rows * c * w->each, 0, TC_OVERREAD);
        block(who, row, rows, at);
    }
}

/* The positions of `rows` output rows, whose lines are copied. */
static void walk_strip(const tc_windows *w, const uint8_t *copy, size_t at, int64_t rows,
                       tc_windows_block *block, void *who)
{
    const uint8_t *row[TC_BLOCK_ROWS];
    size_t n = 0, step = (size_t)(w->stride_x * w->ic) * w->each,
           down = (size_t)w->stride_y * line_bytes(w);
    for (int64_t oy = 0; oy < rows; oy++)
        for (int64_t ox = 0; ox < w->ow; ox++) {
            row[n++] = copy + (size_t)oy * down + (size_t)ox * step;
            if (n == TC_BLOCK_ROWS || (oy == rows - 1 && ox == w->ow - 1)) {
                block(who, row, n, at);
                at += n;
                n = 0;
            }
        }
}

void ti_windows_walk(const tc_windows *w, const void *x, void *copy, tc_windows_block *block,
                     void *who)
{
    if (w->flat) {
        walk_flat(w, x, copy, block, who);
        return;
    }
    for (int64_t n = 0; n < w->n; n++)
        for (int64_t oy = 0; oy < w->oh; oy += w->strip) {
            int64_t rows = ti_min_i64(w->strip, w->oh - oy);
            copy_lines(w, x, n, oy * w->stride_y - w->pad_top, lines_of(w, rows), copy);
            walk_strip(w, copy, (size_t)((n * w->oh + oy) * w->ow), rows, block, who);
        }
}
