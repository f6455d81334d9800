/* SPDX-License-Identifier: Apache-2.0 */
/* float.c -- f32 products: rows by rows in blocks that stay in cache, block by block of terms, panel
 * by panel of columns (float_tile.h).  A convolution is such a product, too: its rows are windows
 * of the padded image. */
#include "float.h"

#include <math.h>

#include "../base/mapped.h"
#include "../num/lanes.h"
#include "../num/math.h"
#include "float_pack.h"
#include "../num/window.h"

enum {
    MOST_ROWS = 512,       /* at once */
    CACHED = 1 << 16,      /* floats of rows that stay in cache */
    MOST_COLUMNS = 1 << 17, /* floats of b that are packed at once during a run */
};

/* Rows with the same terms: row (i, j, k) is at x_at + i * x[0] + j * x[1] + k * x[2], its result
 * the same with y. */
typedef struct sweep {
    int64_t count[3], x[3], y[3], x_at, y_at;
    tc_piece *piece; /* of all blocks */
    int *first;      /* by block, and the end */
    int64_t step;    /* from term to term; not 1: the pieces are of a copy of the row */
    bool close;      /* results follow each other */
} sweep;

struct tc_product {
    const tc_float_level *level;
    tc_matrix b;
    int64_t m, depth;
    const float *bias, *b_data;
    const float *packed; /* NULL: b is packed by each run */
    const tc_ctx *mapped; /* not NULL: b_data may be a mapped file's */
    bool waits;           /* packed by ti_product_load() */
    tc_then then[TC_MAX_THEN];
    int n_then;
    sweep *sweep;
    int n_sweep;
    int64_t rows, columns; /* at once; columns: of b where it is packed by each run */
    /* The batch of a matrix product; steps of 0 repeat. */
    int n_batch;
    int64_t batch[TC_MAX_RANK], a_step[TC_MAX_RANK], b_step[TC_MAX_RANK], y_step[TC_MAX_RANK];
    /* Images. */
    bool image, by_depth, padded;
    int64_t images, channels, x_image, y_image, in[3], before[3], whole[3]; /* whole: with border */
    tc_depth depthwise;
};

/* How the plans of a context pack weights. */
typedef struct wishes {
    bool plain; /* no second copy of weights: too many */
    bool wait;  /* they are packed later */
} wishes;

void ti_product_keep_plain(tc_ctx *ctx, bool plain)
{
    TC_OWN(ctx, PRODUCT, wishes)->plain = plain;
}

void ti_product_wait(tc_ctx *ctx, bool wait)
{
    TC_OWN(ctx, PRODUCT, wishes)->wait = wait;
}

static int64_t form_of(const tc_product *p)
{
    return p->by_depth ? 0 : p->m;
}

void ti_product_load(tc_product *p, tc_arena *room)
{
    if (!p->waits)
        return;
    float *out = ti_arena_raw(room, ti_packed_bytes(p->level, &p->b));
    ti_pack(p->level, &p->b, form_of(p), p->b_data, out);
    p->packed = out;
}

void ti_product_unload(tc_product *p)
{
    if (p->waits)
        p->packed = NULL;
}

bool ti_product_packed(const tc_product *p)
{
    return p->packed || p->waits;
}

/* ---- what follows ---- */

TC_LANES_BODY add(float *y, const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] += x[i];
}
TC_LANES(static, add_numbers, add, (float *y, const float *x, size_t n), (y, x, n))

TC_LANES_BODY clip(float *y, size_t n, float lo, float hi)
{
    for (size_t i = 0; i < n; i++) {
        float v = y[i] < lo ? lo : y[i];
        y[i] = v > hi ? hi : v;
    }
}
TC_LANES(static, clip_numbers, clip, (float *y, size_t n, float lo, float hi), (y, n, lo, hi))

TC_LANES_BODY relu(float *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = y[i] < 0 ? 0 : y[i];
}
TC_LANES(static, relu_numbers, relu, (float *y, size_t n), (y, n))

TC_LANES_BODY hardswish(float *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        float v = y[i] + 3 < 0 ? 0 : y[i] + 3;
        y[i] = y[i] * (v > 6 ? 6 : v) / 6;
    }
}
TC_LANES(static, hardswish_numbers, hardswish, (float *y, size_t n), (y, n))

/* n results, next to each other; extra: what is added to them, or NULL. */
static void follow(const tc_product *p, float *y, const float *extra, int64_t n)
{
    static tc_block_f32 *const function[] = {
        [TC_THEN_sigmoid] = ti_sigmoid_f32,   [TC_THEN_silu] = ti_silu_f32,
        [TC_THEN_tanh] = ti_tanh_f32,         [TC_THEN_gelu_erf] = ti_gelu_erf_f32,
        [TC_THEN_gelu_tanh] = ti_gelu_tanh_f32,
    };
    enum { SOME = 1024 };
    float copy[SOME];
    for (int64_t at = 0; p->n_then && at < n; at += SOME) {
        size_t some = (size_t)ti_min_i64(SOME, n - at);
        for (int i = 0; i < p->n_then; i++) {
            const tc_then *t = &p->then[i];
            if (t->kind == TC_THEN_add)
                add_numbers(y + at, extra + at, some);
            else if (t->kind == TC_THEN_relu)
                relu_numbers(y + at, some);
            else if (t->kind == TC_THEN_clip)
                clip_numbers(y + at, some, t->a, t->b);
            else if (t->kind == TC_THEN_hardswish)
                hardswish_numbers(y + at, some);
            else {
                memcpy(copy, y + at, some * sizeof *copy);
                function[t->kind](copy, y + at, some);
            }
        }
    }
}

/* ---- rows by columns ---- */

/* The scratch of a run. */
typedef struct room {
    const float **row;
    float **to;
    float *copy, *image, *b;
    size_t bytes;
} room;

static void *cut(uint8_t *from, size_t *used, size_t bytes)
{
    void *at = from ? from + *used : NULL;
    *used += (bytes + 63) / 64 * 64;
    return at;
}

static room room_of(const tc_product *p, void *scratch)
{
    room r = {.bytes = 0};
    size_t rows = (size_t)p->rows, f = sizeof(float);
    bool copies = p->n_sweep && p->sweep[0].step != 1;
    r.row = cut(scratch, &r.bytes, rows * sizeof *r.row);
    r.to = cut(scratch, &r.bytes, rows * sizeof *r.to);
    r.copy = cut(scratch, &r.bytes, copies ? rows * (size_t)p->depth * f : 0);
    int64_t image = p->padded ? p->whole[0] * p->whole[1] * p->whole[2] * p->channels : 0;
    r.image = cut(scratch, &r.bytes, (size_t)image * f);
    int64_t wide = p->columns ? ti_packed_columns(p->level, p->columns) : 0;
    r.b = cut(scratch, &r.bytes, (size_t)(p->depth * wide) * f);
    return r;
}

size_t ti_product_scratch(const tc_product *p)
{
    return room_of(p, NULL).bytes;
}

/* Where rows [first, first + n) and their results are. */
static void point(const sweep *s, int64_t first, int64_t n, const float *x, float *y, const room *r)
{
    int64_t k = first % s->count[2], j = first / s->count[2] % s->count[1],
            i = first / s->count[2] / s->count[1];
    for (int64_t e = 0; e < n; e++) {
        r->row[e] = x + s->x_at + i * s->x[0] + j * s->x[1] + k * s->x[2];
        r->to[e] = y + s->y_at + i * s->y[0] + j * s->y[1] + k * s->y[2];
        if (++k == s->count[2]) {
            k = 0;
            if (++j == s->count[1])
                j = 0, i++;
        }
    }
}

/* All rows of a sweep by n columns of b, which is packed; extra: as y, or NULL. */
static void multiply(const tc_product *p, const sweep *s, const room *r, int64_t n, const float *x,
                     const float *b, const float *bias, float *y, const float *extra)
{
    int64_t m = s->count[0] * s->count[1] * s->count[2], wide = ti_packed_columns(p->level, n);
    for (int64_t i = 0; i < m; i += p->rows) {
        tc_panel t = {.rows = ti_min_i64(p->rows, m - i), .row = r->row, .to = r->to};
        point(s, i, t.rows, x, y, r);
        for (int64_t e = 0; s->step != 1 && e < t.rows; e++) {
            float *copy = r->copy + e * p->depth;
            for (int64_t k = 0; k < p->depth; k++)
                copy[k] = r->row[e][k * s->step];
            r->row[e] = copy;
        }
        for (int64_t q = 0, block = 0; q < p->depth || !q; q += TC_GEMM_DEPTH, block++) {
            int64_t deep = ti_min_i64(TC_GEMM_DEPTH, p->depth - q);
            t.piece = s->piece + s->first[block];
            t.n_piece = s->first[block + 1] - s->first[block];
            t.more = q > 0;
            for (int64_t j = 0; j < n && (t.n_piece || !q);) {
                int vectors = ti_float_vectors(p->level, n - j, p->m);
                t.columns = n - j;
                t.at = j;
                t.b = b + q * wide + j * deep;
                t.bias = bias ? bias + j : NULL;
                p->level->panel(vectors, &t);
                j += vectors * p->level->lanes;
            }
        }
        if (p->n_then && s->close)
            follow(p, r->to[0], extra ? extra + (r->to[0] - y) : NULL, t.rows * n);
        for (int64_t e = 0; p->n_then && !s->close && e < t.rows; e++)
            follow(p, r->to[e], extra ? extra + (r->to[e] - y) : NULL, n);
    }
}

/* ---- making ---- */

/* Runs of terms as pieces of blocks, where they follow each other as one. */
static void make_pieces(tc_arena *arena, sweep *s, const tc_piece *run, int64_t n_run,
                        int64_t depth)
{
    int64_t blocks = depth > 0 ? (depth + TC_GEMM_DEPTH - 1) / TC_GEMM_DEPTH : 1, n = 0;
    s->piece = tc_new_n(arena, tc_piece, (size_t)(n_run + blocks));
    s->first = tc_new_n(arena, int, (size_t)blocks + 1);
    int64_t block = 0;
    for (int64_t i = 0; i < n_run; i++)
        for (int64_t at = 0, some; at < run[i].length; at += some) {
            int64_t k = run[i].k + at;
            some = ti_min_i64(run[i].length - at, TC_GEMM_DEPTH - k % TC_GEMM_DEPTH);
            while (block < k / TC_GEMM_DEPTH)
                s->first[++block] = (int)n;
            s->piece[n++] = (tc_piece){run[i].offset + at, some, k % TC_GEMM_DEPTH};
        }
    while (block < blocks)
        s->first[++block] = (int)n;
}

static int64_t joined_runs(tc_piece *run, int64_t n)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < n; i++) {
        tc_piece *last = kept ? &run[kept - 1] : NULL;
        if (last && last->k + last->length == run[i].k &&
            last->offset + last->length == run[i].offset)
            last->length += run[i].length;
        else
            run[kept++] = run[i];
    }
    return kept;
}

/* The rest of a product whose b, depth and sweeps are there. */
static tc_product *finish(tc_ctx *ctx, tc_product made, const float *b_data, tc_tensor bias,
                          const tc_then *then, int n_then)
{
    tc_product *p = ti_arena_copy(&ctx->arena, &made, sizeof made);
    const wishes *w = TC_OWN(ctx, PRODUCT, wishes);
    size_t size = (size_t)(p->b.groups * p->depth * p->b.n) * sizeof(float);
    p->bias = bias.data;
    p->n_then = n_then;
    if (n_then)
        memcpy(p->then, then, (size_t)n_then * sizeof *then);
    bool copies = p->n_sweep && p->sweep[0].step != 1;
    int64_t deep = ti_max_i64(1, copies ? p->depth : ti_min_i64(p->depth, TC_GEMM_DEPTH));
    p->rows = ti_min_i64(MOST_ROWS, ti_max_i64(CACHED / deep, 2 * p->level->tall[2]));
    p->rows = ti_min_i64(p->rows / p->level->tall[2] * p->level->tall[2], p->m);
    p->b_data = b_data;
    if (b_data && (p->image || !w->plain)) {
        p->waits = w->wait;
        if (!p->waits)
            p->packed = ti_packed_once(ctx, p->level, &p->b, form_of(p), b_data);
        ti_mapped_forget(ctx, b_data, size); /* the packed copy replaces it */
        return p;
    }
    p->mapped = b_data ? ctx : NULL;
    p->columns = MOST_COLUMNS / ti_max_i64(p->depth, 1) / 64 * 64;
    p->columns = ti_min_i64(p->b.n, ti_max_i64(p->columns, 64));
    return p;
}

/* ---- images ---- */

/* A convolution or its transpose along each axis: output o meets tap t at input
 * o * stride - before + t * dilation, or, transposed, at (o + before - t * dilation) / stride. */
typedef struct window {
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], before[3];
    bool transposed;
} window;

static bool image_of_f32(const tc_type *x, const tc_type *y, tc_tensor w)
{
    return x->dtype == TC_f32 && y->dtype == TC_f32 && w.type->dtype == TC_f32 &&
           x->rank == w.type->rank && x->rank >= 3 && x->rank <= 5 && tc_type_count(x) &&
           tc_type_count(y) && w.data;
}

/* Input coordinate of tap t at output o of an axis; false: there is none. */
static bool meets(const window *w, int axis, int64_t o, int64_t t, int64_t *at)
{
    int64_t gap = t * w->dilation[axis];
    if (!w->transposed) {
        *at = o * w->stride[axis] - w->before[axis] + gap;
        return true;
    }
    int64_t to = o + w->before[axis] - gap, stride = w->stride[axis];
    *at = (to - ((to % stride) + stride) % stride) / stride;
    return to % stride == 0;
}

/* The border that makes every tap an element of the image. */
static void make_border(tc_product *p, const window *w)
{
    for (int i = 0; i < 3; i++) {
        int64_t lo = 0, hi = w->in[i] - 1, at;
        int64_t edge = w->transposed ? ti_min_i64(w->stride[i], w->out[i]) : 1;
        for (int64_t t = 0; t < w->kernel[i]; t++)
            for (int64_t e = 0; e < edge; e++) {
                if (meets(w, i, e, t, &at))
                    lo = ti_min_i64(lo, at);
                if (meets(w, i, w->out[i] - 1 - e, t, &at))
                    hi = ti_max_i64(hi, at);
            }
        p->in[i] = w->in[i];
        p->before[i] = -lo;
        p->whole[i] = hi - lo + 1;
        p->padded = p->padded || p->whole[i] != w->in[i];
    }
}

/* The sweep of outputs first[] + n * every[]. */
static void make_sweep(tc_arena *arena, const tc_product *p, const window *w, const int64_t *first,
                       const int64_t *every, int64_t out_channels, sweep *s)
{
    int64_t c = p->channels, in = p->b.in;
    int64_t x[3] = {p->whole[1] * p->whole[2] * c, p->whole[2] * c, c};
    int64_t y[3] = {w->out[1] * w->out[2] * out_channels, w->out[2] * out_channels, out_channels};
    s->step = 1;
    s->close = p->b.groups == 1;
    for (int i = 0; i < 3; i++) {
        s->count[i] = (w->out[i] - first[i] + every[i] - 1) / every[i];
        s->x[i] = x[i] * (w->transposed ? 1 : w->stride[i]);
        s->y[i] = y[i] * every[i];
        s->y_at += y[i] * first[i];
        s->close = s->close && every[i] == 1;
    }
    tc_piece *run = tc_new_n(arena, tc_piece, (size_t)p->b.taps);
    int64_t n = 0, at[3];
    for (int64_t t = 0; t < p->b.taps; t++) {
        const int64_t tap[3] = {t / w->kernel[2] / w->kernel[1], t / w->kernel[2] % w->kernel[1],
                                t % w->kernel[2]};
        bool here = true;
        int64_t offset = 0;
        for (int i = 0; i < 3; i++) {
            here = meets(w, i, first[i], tap[i], &at[i]) && here;
            offset += (at[i] + p->before[i]) * x[i];
        }
        if (here)
            run[n++] = (tc_piece){offset, in, t * in};
    }
    n = joined_runs(run, n);
    make_pieces(arena, s, run, n, p->depth);
}

static void make_sweeps(tc_arena *arena, tc_product *p, const window *w, int64_t out_channels)
{
    int64_t every[3] = {1, 1, 1}, first[3], n[3];
    for (int i = 0; i < 3; i++) {
        every[i] = w->transposed ? w->stride[i] : 1;
        n[i] = ti_min_i64(every[i], w->out[i]);
    }
    p->sweep = tc_new_n(arena, sweep, (size_t)(n[0] * n[1] * n[2]));
    for (first[0] = 0; first[0] < n[0]; first[0]++)
        for (first[1] = 0; first[1] < n[1]; first[1]++)
            for (first[2] = 0; first[2] < n[2]; first[2]++) {
                sweep *s = &p->sweep[p->n_sweep++];
                make_sweep(arena, p, w, first, every, out_channels, s);
                p->m = ti_max_i64(p->m, s->count[0] * s->count[1] * s->count[2]);
            }
}

/* One channel to one, all taps in one block, over two axes. */
static bool is_depthwise(const window *w, const tc_matrix *b)
{
    return !w->transposed && b->groups > 1 && b->in == 1 && b->n == 1 && w->kernel[0] == 1 &&
           w->in[0] == 1 && w->out[0] == 1 && w->before[0] == 0 && b->taps <= TC_GEMM_DEPTH;
}

static void make_depthwise(tc_ctx *ctx, tc_product *p, const window *w, tc_tensor *bias)
{
    tc_depth *d = &p->depthwise;
    p->by_depth = true;
    p->padded = false;
    p->b = (tc_matrix){1, p->b.taps, 1, p->channels, 0, 1, 0, p->b.taps};
    d->channels = p->channels;
    for (int i = 0; i < 2; i++) {
        d->in[i] = w->in[i + 1];
        d->out[i] = w->out[i + 1];
        d->kernel[i] = w->kernel[i + 1];
        d->stride[i] = w->stride[i + 1];
        d->before[i] = w->before[i + 1];
        d->dilation[i] = w->dilation[i + 1];
    }
    if (!bias->data)
        bias->data = tc_new_n(&ctx->arena, float, (size_t)p->channels);
}

static tc_product *make_image(tc_ctx *ctx, const window *w, tc_matrix b, const tc_type *x,
                              const tc_type *y, tc_tensor weights, tc_tensor bias,
                              const tc_then *then, int n_then)
{
    tc_product p = {.level = ti_float_level(), .b = b, .depth = ti_matrix_depth(&b), .image = true,
                    .images = x->dim[0], .channels = x->dim[1]};
    p.x_image = tc_type_count(x) / x->dim[0];
    p.y_image = tc_type_count(y) / y->dim[0];
    make_border(&p, w);
    if (is_depthwise(w, &b))
        make_depthwise(ctx, &p, w, &bias);
    else
        make_sweeps(&ctx->arena, &p, w, y->dim[1]);
    return finish(ctx, p, weights.data, bias, then, n_then);
}

/* Without padding, which convolutions and their transposes state differently. */
static window window_of(const tc_type *x, const tc_type *y, const tc_type *w, const int64_t *stride,
                        const int64_t *dilation)
{
    int axes = x->rank - 2;
    window v = {.transposed = false};
    ti_window_spread(&x->dim[2], axes, 1, 1, v.in);
    ti_window_spread(&y->dim[2], axes, 1, 1, v.out);
    ti_window_spread(&w->dim[2], axes, 1, 1, v.kernel);
    ti_window_spread(stride, axes, 1, 1, v.stride);
    ti_window_spread(dilation, axes, 1, 1, v.dilation);
    return v;
}

tc_product *ti_product_conv(tc_ctx *ctx, const tc_attr_conv *a, const tc_type *x, const tc_type *y,
                            tc_tensor w, tc_tensor bias, const tc_then *then, int n_then)
{
    if (!image_of_f32(x, y, w))
        return NULL;
    window v = window_of(x, y, w.type, a->stride.v, a->dilation.v);
    ti_window_spread(a->pad.v, x->rank - 2, 2, 0, v.before);
    int64_t in = w.type->dim[1], n = w.type->dim[0] / a->groups,
            taps = v.kernel[0] * v.kernel[1] * v.kernel[2];
    tc_matrix b = {a->groups, taps, in, n, n * in * taps, 1, taps, in * taps};
    return make_image(ctx, &v, b, x, y, w, bias, then, n_then);
}

tc_product *ti_product_deconv(tc_ctx *ctx, const tc_attr_conv_transpose *a, const tc_type *x,
                              const tc_type *y, tc_tensor w, tc_tensor bias, const tc_then *then,
                              int n_then)
{
    if (!image_of_f32(x, y, w))
        return NULL;
    window v = window_of(x, y, w.type, a->stride.v, a->dilation.v);
    v.transposed = true;
    ti_window_spread(a->pad.v, x->rank - 2, 1, 0, v.before);
    int64_t in = w.type->dim[0] / a->groups, n = w.type->dim[1],
            taps = v.kernel[0] * v.kernel[1] * v.kernel[2];
    tc_matrix b = {a->groups, taps, in, n, in * n * taps, 1, n * taps, taps};
    return make_image(ctx, &v, b, x, y, w, bias, then, n_then);
}

/* The image with its border of zeros. */
static const float *with_border(const tc_product *p, const float *x, float *out)
{
    int64_t c = p->channels, line = p->in[2] * c, whole = p->whole[2] * c;
    int64_t left = p->before[2] * c;
    float *to = out;
    for (int64_t i = 0; i < p->whole[0]; i++)
        for (int64_t j = 0; j < p->whole[1]; j++, to += whole) {
            int64_t d = i - p->before[0], h = j - p->before[1];
            if (d < 0 || d >= p->in[0] || h < 0 || h >= p->in[1]) {
                memset(to, 0, (size_t)whole * sizeof *to);
                continue;
            }
            memset(to, 0, (size_t)left * sizeof *to);
            memcpy(to + left, x + (d * p->in[1] + h) * line, (size_t)line * sizeof *to);
            memset(to + left + line, 0, (size_t)(whole - left - line) * sizeof *to);
        }
    return out;
}

static void run_image(const tc_product *p, const room *r, const float *x, const float *extra,
                      float *y)
{
    const tc_depth *d = &p->depthwise;
    int64_t line = d->out[1] * d->channels;
    for (int64_t i = 0; p->by_depth && i < d->out[0]; i++) {
        p->level->depth(d, i, x, p->packed, p->bias, y + i * line);
        follow(p, y + i * line, extra ? extra + i * line : NULL, line);
    }
    if (p->by_depth)
        return;
    int64_t n = p->b.n, group = p->depth * ti_packed_columns(p->level, n);
    x = p->padded ? with_border(p, x, r->image) : x;
    for (int64_t g = 0; g < p->b.groups; g++)
        for (int i = 0; i < p->n_sweep; i++)
            multiply(p, &p->sweep[i], r, n, x + g * p->b.in, p->packed + g * group,
                     p->bias ? p->bias + g * n : NULL, y + g * n, extra ? extra + g * n : NULL);
}

/* ---- matrices ---- */

/* Rows of a that follow each other in a and y through the batch are more rows. */
static void join_rows(tc_product *p, sweep *s)
{
    while (p->n_batch) {
        int last = p->n_batch - 1;
        int64_t rows = s->count[2];
        if (p->b_step[last] || p->a_step[last] != rows * s->x[2] ||
            p->y_step[last] != rows * s->y[2])
            return;
        s->count[2] *= p->batch[last];
        p->n_batch--;
    }
}

tc_product *ti_product_matmul(tc_ctx *ctx, const tc_strided *a, const tc_strided *b,
                              const tc_strided *y, const void *b_data, tc_tensor bias,
                              const tc_then *then, int n_then)
{
    int last = y->rank - 1;
    int64_t m = y->dim[last - 1], n = y->dim[last], depth = a->dim[last];
    tc_product p = {.level = ti_float_level(), .depth = depth, .n_sweep = 1};
    p.b = (tc_matrix){1, 1, depth, n, 0, 0, b->stride[last - 1], b->stride[last]};
    sweep *s = p.sweep = tc_new(&ctx->arena, sweep);
    *s = (sweep){.count = {1, 1, m}, .x = {0, 0, a->stride[last - 1]}, .step = a->stride[last],
                 .y = {0, 0, y->stride[last - 1]}};
    bool even = y->stride[last] == 1; /* matrices of b follow each other */
    for (int i = last - 2; i >= 0; i--) {
        if (b->dim[i] > 1) {
            even = even && (p.b.groups == 1 || b->stride[i] == p.b.group * p.b.groups);
            p.b.group = p.b.groups == 1 ? b->stride[i] : p.b.group;
            p.b.groups *= b->dim[i];
        }
    }
    if (!even)
        return NULL;
    for (int i = 0; i < last - 1; i++) {
        if (y->dim[i] == 1)
            continue;
        p.batch[p.n_batch] = y->dim[i];
        p.a_step[p.n_batch] = a->dim[i] == 1 ? 0 : a->stride[i];
        p.b_step[p.n_batch] = b->dim[i] == 1 ? 0 : b->stride[i];
        p.y_step[p.n_batch++] = y->stride[i];
    }
    join_rows(&p, s);
    s->close = s->y[2] == n;
    p.m = s->count[2];
    make_pieces(&ctx->arena, s, &(tc_piece){0, depth, 0}, 1, depth);
    return finish(ctx, p, b_data, bias, then, n_then);
}

/* One matrix of the batch; b: packed, or as it is. */
static void run_matrix(const tc_product *p, const room *r, const float *a, const float *b,
                       bool packed, const float *extra, float *y)
{
    if (packed) {
        multiply(p, p->sweep, r, p->b.n, a, b, p->bias, y, extra);
        return;
    }
    for (int64_t j = 0; j < p->b.n; j += p->columns) {
        tc_matrix some = p->b;
        some.groups = 1;
        some.n = ti_min_i64(p->columns, p->b.n - j);
        sweep s = *p->sweep;
        s.close = s.close && some.n == p->b.n;
        ti_pack(p->level, &some, p->m, b + j * some.column, r->b);
        multiply(p, &s, r, some.n, a, r->b, p->bias ? p->bias + j : NULL, y + j,
                 extra ? extra + j : NULL);
    }
}

static void run_matrices(const tc_product *p, const room *r, const float *a, const float *b,
                         const float *extra, float *y)
{
    int64_t count = 1, group = p->depth * ti_packed_columns(p->level, p->b.n);
    for (int i = 0; i < p->n_batch; i++)
        count *= p->batch[i];
    for (int64_t which = 0; which < count; which++) {
        int64_t at_a = 0, at_b = 0, at_y = 0, rest = which;
        for (int i = p->n_batch - 1; i >= 0; rest /= p->batch[i], i--) {
            at_a += rest % p->batch[i] * p->a_step[i];
            at_b += rest % p->batch[i] * p->b_step[i];
            at_y += rest % p->batch[i] * p->y_step[i];
        }
        const float *from = p->packed ? p->packed + (at_b ? at_b / p->b.group * group : 0)
                                      : (p->b_data ? p->b_data : b) + at_b;
        run_matrix(p, r, a + at_a, from, p->packed, extra ? extra + at_y : NULL, y + at_y);
    }
}

void ti_product_run(const tc_product *p, const void *a, const void *b, const void *extra, void *y,
                    void *scratch)
{
    room r = room_of(p, scratch);
    const float *x = a, *added = extra;
    for (int64_t i = 0; i < p->images; i++)
        run_image(p, &r, x + i * p->x_image, added ? added + i * p->y_image : NULL,
                  (float *)y + i * p->y_image);
    if (!p->image)
        run_matrices(p, &r, a, b, extra, y);
    if (p->mapped)
        ti_mapped_forget(p->mapped, p->b_data,
                         (size_t)(p->b.groups * p->depth * p->b.n) * sizeof(float));
}
