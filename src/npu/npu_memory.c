/* SPDX-License-Identifier: Apache-2.0 */
/* npu_memory.c -- feature maps between memory and plain arrays.
 *
 *   x <  width0:  y < height0 -> tile 0 (y, x)          else tile 2 (y - height0, x)
 *   x >= width0:  y < height1 -> tile 1 (y, x - width0) else tile 3 (y - height1, x - width0)
 *
 *   NHWC     base[tile] + y stride_y + x stride_x + c e
 *   NHCWB16  base[tile] + y stride_y + (c / 16) stride_c + x 16 e + (c % 16) e */
#include <stdarg.h>
#include <stdio.h>

#include "state.h"

enum { MOST = 1 << 27 }; /* elements of an array */

bool ti_npu_stop(tc_npu_exec *x, tc_npu_fault fault, int region, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (x->error)
        return false;
    x->error = ti_text_format(x->arena, "%s", text);
    x->fault = fault;
    x->outside = region;
    return false;
}

bool ti_npu_spend(tc_npu_exec *x, double work)
{
    double all = (double)x->work + work;
    if (all > (double)x->limit)
        return ti_npu_beyond(x, "the stream does more than can be run here");
    x->work = (int64_t)all;
    return true;
}

static bool fits(tc_npu_exec *x, int32_t h, int32_t w, int32_t c)
{
    if ((int64_t)h * w > MOST || (int64_t)h * w * c > MOST)
        return ti_npu_beyond(x, "a feature map of %d x %d x %d is too large to be run here", h, w, c);
    return ti_npu_spend(x, (double)h * w * c);
}

bool ti_npu_array_make(tc_npu_exec *x, tc_npu_array *a, int32_t h, int32_t w, int32_t c)
{
    if (!fits(x, h, w, c))
        return false;
    size_t n = (size_t)h * (size_t)w * (size_t)c;
    if (n > a->cap) {
        a->v = ti_arena_raw(x->arena, n * sizeof *a->v);
        a->cap = n;
    }
    a->h = h;
    a->w = w;
    a->c = c;
    return true;
}

const uint8_t *ti_npu_span(const tc_npu_exec *x, int region, uint64_t at, uint64_t bytes)
{
    const tc_npu_memory *m = &x->memory[region];
    bool inside = at <= (uint64_t)m->bytes && bytes <= (uint64_t)m->bytes - at;
    return inside ? m->data + at : NULL;
}

/* ---- addresses ---- */

/* Address of element (y, x, 0). */
static int64_t place(const tc_npu_map *m, int32_t y, int32_t x)
{
    int tile = 0;
    if (x >= m->width0) {
        x -= m->width0;
        tile = 1;
    }
    int32_t height = tile ? m->height1 : m->height0;
    if (y >= height) {
        y -= height;
        tile += 2;
    }
    int64_t step = m->format == TC_NHCWB16 ? 16 * m->bytes : m->stride_x;
    return (int64_t)m->base[tile] + y * m->stride_y + x * step;
}

/* The map, h x w x c elements, is inside its memory. */
static bool inside(tc_npu_exec *x, const char *name, const tc_npu_map *m, int32_t h, int32_t w,
                   int32_t c)
{
    tc_npu_range r = ti_npu_map_range(m, h, w, c);
    int64_t size = x->memory[m->region].bytes;
    if (r.lo >= 0 && r.hi <= size)
        return true;
    return ti_npu_outside(
        x, m->region, "%s lies at bytes %" PRId64 " to %" PRId64 " of region %d, which has %" PRId64, name,
        r.lo, r.hi, m->region, size);
}

/* ---- reading ---- */

#define GET_16(p) ti_le16(p)
#define GET_32(p) ti_le32(p)
#define GET_64(p) ti_le64(p)
#define GET_8(p) (*(p))

/* n contiguous elements. */
#define READ(bits, out)                                                                            \
    for (int32_t i = 0; i < n; i++) {                                                              \
        uint##bits##_t u = (uint##bits##_t)GET_##bits(p + i * (bits / 8));                         \
        (out)[i] = (is_signed ? (int64_t)(int##bits##_t)u : (int64_t)u) - zero;                    \
    }

static void read_run(const tc_npu_map *m, const uint8_t *p, int32_t n, int64_t *out)
{
    int64_t zero = m->zero;
    bool is_signed = m->is_signed;
    switch (m->bytes) {
    case 1:
        READ(8, out)
        break;
    case 2:
        READ(16, out)
        break;
    case 4:
        READ(32, out)
        break;
    default:
        for (int32_t i = 0; i < n; i++)
            out[i] = ti_wrap_sub((int64_t)ti_le64(p + i * 8), zero);
    }
}

#define READ32(bits, type)                                                                         \
    for (int32_t i = 0; i < n; i++)                                                                \
        out[i] = (int32_t)(type)GET_##bits(p + i * (bits / 8)) - zero;

static void read_run32(const tc_npu_map *m, const uint8_t *p, int32_t n, int32_t *out)
{
    int32_t zero = m->zero;
    if (m->bytes == 1 && m->is_signed)
        READ32(8, int8_t)
    else if (m->bytes == 1)
        READ32(8, uint8_t)
    else if (m->is_signed)
        READ32(16, int16_t)
    else
        READ32(16, uint16_t)
}

static int32_t brick(int32_t c, int32_t from)
{
    return c - from < 16 ? c - from : 16;
}

static void read_pixel(const tc_npu_map *m, const uint8_t *p, int64_t *out)
{
    if (m->format == TC_NHWC) {
        read_run(m, p, m->c, out);
        return;
    }
    for (int32_t c = 0; c < m->c; c += 16)
        read_run(m, p + c / 16 * m->stride_c, brick(m->c, c), out + c);
}

/* Chain buffers are read in the type that the reader names. */
static bool load_chain(tc_npu_exec *x, const char *name, const tc_npu_map *m, tc_npu_array *out)
{
    const tc_npu_array *from = &x->chain[m->region];
    if (m->h > from->h || m->w > from->w || m->c > from->c)
        return ti_npu_fail(x, "%s is read from chain buffer %d, which does not hold so much", name,
                           m->region);
    for (int32_t h = 0; h < m->h; h++)
        for (int32_t w = 0; w < m->w; w++) {
            const int64_t *p = from->v + ((int64_t)h * from->w + w) * from->c;
            int64_t *q = out->v + ((int64_t)h * m->w + w) * m->c;
            for (int32_t c = 0; c < m->c; c++)
                q[c] = ti_wrap_sub(ti_npu_wrapped(p[c], 8 * m->bytes, m->is_signed), m->zero);
        }
    return true;
}

bool ti_npu_load(tc_npu_exec *x, const char *name, const tc_npu_map *m, int64_t scalar,
                 tc_npu_array *out)
{
    bool one = m->broadcast & TC_BROADCAST_SCALAR;
    *out = (tc_npu_array){one ? 1 : m->h, one ? 1 : m->w, one ? 1 : m->c, NULL, 0};
    if (!fits(x, out->h, out->w, out->c))
        return false;
    out->v = ti_arena_raw(&x->scratch,
                          (size_t)out->h * (size_t)out->w * (size_t)out->c * sizeof *out->v);
    if (one) {
        out->v[0] = (m->is_signed ? scalar : ti_npu_wrapped(scalar, 8 * m->bytes, false)) - m->zero;
        return true;
    }
    if (m->storage == TC_STORE_CHAIN)
        return load_chain(x, name, m, out);
    if (m->storage != TC_STORE_TILES)
        return ti_npu_beyond(x, "%s is stored in a way that is not run here", name);
    if (!inside(x, name, m, m->h, m->w, m->c))
        return false;
    const uint8_t *memory = x->memory[m->region].data;
    for (int32_t h = 0; h < m->h; h++)
        for (int32_t w = 0; w < m->w; w++)
            read_pixel(m, memory + place(m, h, w), out->v + ((int64_t)h * m->w + w) * m->c);
    return true;
}

bool ti_npu_load_frame(tc_npu_exec *x, const tc_npu_map *m, const tc_npu_frame *f)
{
    if (m->storage != TC_STORE_TILES || m->bytes > 2) {
        tc_npu_array a;
        if (!ti_npu_load(x, "the input", m, 0, &a))
            return false;
        for (int64_t i = 0, n = (int64_t)m->h * m->w; i < n; i++) {
            int32_t *q =
                f->v + ((f->top + i / m->w * f->step) * f->w + f->left + i % m->w * f->step) * m->c;
            for (int32_t c = 0; c < m->c; c++)
                q[c] = (int32_t)a.v[i * m->c + c];
        }
        return true;
    }
    if (!inside(x, "the input", m, m->h, m->w, m->c))
        return false;
    const uint8_t *memory = x->memory[m->region].data;
    for (int32_t h = 0; h < m->h; h++)
        for (int32_t w = 0; w < m->w; w++) {
            const uint8_t *p = memory + place(m, h, w);
            int32_t *q =
                f->v + ((int64_t)(f->top + h * f->step) * f->w + f->left + w * f->step) * m->c;
            if (m->format == TC_NHWC)
                read_run32(m, p, m->c, q);
            else
                for (int32_t c = 0; c < m->c; c += 16)
                    read_run32(m, p + c / 16 * m->stride_c, brick(m->c, c), q + c);
        }
    return true;
}

/* ---- writing ---- */

/* n elements, `step` apart, made contiguous. */
static void write_run(int bytes, const int64_t *v, int64_t step, int32_t n, uint8_t *p)
{
    if (bytes == 1) {
        for (int32_t i = 0; i < n; i++)
            p[i] = (uint8_t)v[i * step];
        return;
    }
    for (int32_t i = 0; i < n; i++)
        for (int k = 0; k < bytes; k++)
            p[i * bytes + k] = (uint8_t)((uint64_t)v[i * step] >> 8 * k);
}

static void to_chain(const tc_npu_map *m, const tc_npu_array *a, tc_npu_array *to)
{
    for (int64_t i = 0, n = (int64_t)a->h * a->w * a->c; i < n; i++)
        to->v[i] = ti_npu_wrapped(a->v[i], 8 * m->bytes, m->is_signed);
}

/* Written axes in the array's order: step[i] is what the i-th of h, w, c of the written tensor
 * moves by in the array; a reversed axis begins at its end and goes backwards. */
static const int64_t *turned(const tc_npu_op *op, const tc_npu_array *a, int64_t step[3])
{
    static const uint8_t axis[8][3] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {1, 2, 0},
                                       {0, 1, 2}, {0, 1, 2}, {2, 0, 1}, {2, 1, 0}};
    int64_t by[3] = {(int64_t)a->w * a->c, a->c, 1};
    const int32_t extent[3] = {a->h, a->w, a->c};
    const int64_t *from = a->v;
    if (op->reverse) {
        from += by[op->reverse - 1] * (extent[op->reverse - 1] - 1);
        by[op->reverse - 1] = -by[op->reverse - 1];
    }
    for (int i = 0; i < 3; i++)
        step[i] = by[axis[op->transpose][i]];
    return from;
}

bool ti_npu_store(tc_npu_exec *x, const tc_npu_op *op, const tc_npu_array *a)
{
    const tc_npu_map *m = &op->ofm;
    x->last = a->v[(int64_t)a->h * a->w * a->c - 1];
    if (m->storage == TC_STORE_NONE)
        return true;
    if (m->storage == TC_STORE_CHAIN) {
        if (!ti_npu_array_make(x, &x->chain[m->region], a->h, a->w, a->c))
            return false;
        to_chain(m, a, &x->chain[m->region]);
        return true;
    }
    int32_t h, w, c;
    int64_t step[3];
    ti_npu_written(op, &h, &w, &c);
    if (m->storage != TC_STORE_TILES)
        return ti_npu_beyond(x, "the output is stored in a way that is not run here");
    if (!inside(x, "the output", m, h, w, c))
        return false;
    const int64_t *from = turned(op, a, step);
    uint8_t *memory = x->memory[m->region].data;
    for (int32_t i = 0; i < h; i++)
        for (int32_t k = 0; k < w; k++) {
            uint8_t *p = memory + place(m, i, k);
            const int64_t *v = from + i * step[0] + k * step[1];
            if (m->format == TC_NHWC)
                write_run(m->bytes, v, step[2], c, p);
            else
                for (int32_t b = 0; b < c; b += 16)
                    write_run(m->bytes, v + b * step[2], step[2], brick(c, b),
                              p + b / 16 * m->stride_c);
        }
    return true;
}
