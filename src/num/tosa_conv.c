/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_conv.c -- CONV2D, CONV3D, DEPTHWISE_CONV2D, TRANSPOSE_CONV2D.
 *
 * One walk over elements of the result and taps of the kernel serves all; images are volumes of
 * depth 1.  Sums are exact for integers and of f64 for floats, rounded once.  Taps outside the
 * input are skipped.  Where TOSA 1.1 sums narrower floats in f32 or bf16, operands and sums are of
 * that type, one product after the other, as in the reference model; then comes the result's type,
 * then the bias. */
#include "kernels.h"
#include "tosa.h"

/* Extents and steps, depth first:  x [n, d, h, w, c]   result [n, od, oh, ow, oc]. */
typedef struct geometry {
    int64_t n, in[3], c;
    int64_t out[3], oc;
    int64_t kernel[3], stride[3], before[3], dilation[3];
} geometry;

/* The operands of a call, as integers or as reals. */
typedef struct numbers {
    bool real;
    const int32_t *xi, *wi;
    const double *xr, *wr;
    const float *xs, *ws; /* NULL, or the accumulator type `acc`: input, and weights with outputs
                           * last */
    tc_dtype acc;
    float *row;           /* and a sum for each output */
    tc_tensor bias, out;
    int64_t bias_step; /* 0: one bias for all */
} numbers;

/* A sum of products, of one kind or the other. */
typedef struct sum {
    uint64_t i; /* wraps */
    double r;
} sum;

/* The elements of a tensor in the accumulator type. */
static const float *as_kept(tc_call *call, tc_tensor t, tc_dtype acc)
{
    const float *from = ti_as_f32(call->scratch, t);
    if (acc == TC_f32)
        return from;
    int64_t n = tc_type_count(t.type);
    float *to = ti_arena_raw(call->scratch, (size_t)n * sizeof *to);
    for (int64_t i = 0; i < n; i++)
        to[i] = ti_kept(acc, from[i]);
    return to;
}

/* [oc, kernel..., c] to [kernel..., c, oc]; depthwise weights have their outputs last already. */
static const float *outputs_last(tc_call *call, tc_tensor w, bool depthwise, tc_dtype acc)
{
    const float *from = as_kept(call, w, acc);
    if (depthwise)
        return from;
    int64_t oc = w.type->dim[0], n = tc_type_count(w.type) / oc;
    float *to = ti_arena_raw(call->scratch, (size_t)(n * oc) * sizeof *to);
    for (int64_t o = 0; o < oc; o++)
        for (int64_t i = 0; i < n; i++)
            to[i * oc + o] = from[o * n + i];
    return to;
}

/* Combinations of types that TOSA 1.0 lacks. */
static bool is_newer(const tc_call *call, tc_dtype acc)
{
    tc_dtype x = call->in[0].type->dtype, w = call->in[1].type->dtype,
             out = call->out[0].type->dtype;
    return acc == TC_bf16 || (acc == TC_f32 && ((out == TC_f32 && (x != TC_f32 || w != TC_f32)) ||
                                                (out == TC_f16 && (x != TC_f16 || w != TC_f16))));
}

static numbers numbers_of(tc_call *call, bool depthwise, tc_dtype acc)
{
    numbers m = {.real = ti_is_float(call->in[0].type->dtype),
                 .acc = acc,
                 .bias = call->in[2],
                 .out = call->out[0]};
    m.bias_step = m.bias.type->dim[0] > 1;
    if (m.real && is_newer(call, acc)) {
        m.xs = as_kept(call, call->in[0], acc);
        m.ws = outputs_last(call, call->in[1], depthwise, acc);
        m.row = tc_new_n(call->scratch, float, (size_t)m.out.type->dim[m.out.type->rank - 1]);
    } else if (m.real) {
        m.xr = ti_as_f64(call->scratch, call->in[0]);
        m.wr = ti_as_f64(call->scratch, call->in[1]);
    } else {
        m.xi = ti_centered(call->scratch, call->in[0], call->in[3]);
        m.wi = ti_centered(call->scratch, call->in[1], call->in[4]);
    }
    return m;
}

/* s + sum over i < n of x[x_at + i] * w[w_at + i] */
static sum add_products(const numbers *m, sum s, int64_t x_at, int64_t w_at, int64_t n)
{
    if (m->real)
        for (int64_t i = 0; i < n; i++)
            s.r += m->xr[x_at + i] * m->wr[w_at + i];
    else
        for (int64_t i = 0; i < n; i++)
            s.i += (uint64_t)((int64_t)m->xi[x_at + i] * m->wi[w_at + i]);
    return s;
}

static void store(const numbers *m, int64_t at, int64_t channel, sum s)
{
    if (m->real) {
        s.r += ti_load_f64(m->bias, channel * m->bias_step);
        ti_write_reals(m->out, at, 1, &s.r);
    } else {
        int64_t total = ti_wrap_add((int64_t)s.i, ti_load_i64(m->bias, channel * m->bias_step));
        ti_write_sums(m->out, at, 1, &total);
    }
}

/* The index that tap k of the window at output o reads along an axis; -1: outside. */
static int64_t tap(const geometry *g, int axis, int64_t o, int64_t k)
{
    int64_t at = o * g->stride[axis] - g->before[axis] + k * g->dilation[axis];
    return at >= 0 && at < g->in[axis] ? at : -1;
}

/* The same for the transposed kind: input i contributes to o = i * stride - before + k. */
static int64_t tap_transposed(const geometry *g, int axis, int64_t o, int64_t k)
{
    int64_t from = o + g->before[axis] - k;
    return from >= 0 && from % g->stride[axis] == 0 && from / g->stride[axis] < g->in[axis]
               ? from / g->stride[axis]
               : -1;
}

typedef int64_t tap_fn(const geometry *g, int axis, int64_t o, int64_t k);

/* The taps of one window that read inside the input. */
typedef struct taps {
    int64_t n;
    int64_t *x, *k; /* pixel of the input, tap of the kernel */
} taps;

static void find_taps(const geometry *g, tap_fn *reads, const int64_t o[3], taps *t)
{
    t->n = 0;
    for (int64_t kd = 0; kd < g->kernel[0]; kd++) {
        int64_t z = reads(g, 0, o[0], kd);
        for (int64_t kh = 0; z >= 0 && kh < g->kernel[1]; kh++) {
            int64_t y = reads(g, 1, o[1], kh);
            for (int64_t kw = 0; y >= 0 && kw < g->kernel[2]; kw++) {
                int64_t x = reads(g, 2, o[2], kw);
                if (x < 0)
                    continue;
                t->x[t->n] = (z * g->in[1] + y) * g->in[2] + x;
                t->k[t->n++] = (kd * g->kernel[1] + kh) * g->kernel[2] + kw;
            }
        }
    }
}

static taps room_for_taps(tc_call *call, const geometry *g)
{
    size_t most = (size_t)(g->kernel[0] * g->kernel[1] * g->kernel[2]);
    return (taps){0, tc_new_n(call->scratch, int64_t, most),
                  tc_new_n(call->scratch, int64_t, most)};
}

static void store_row(const numbers *m, int64_t at, int64_t oc)
{
    for (int64_t o = 0; o < oc; o++)
        store(m, at + o, o, (sum){0, (double)ti_kept(m->out.type->dtype, m->row[o])});
}

/* Each sum adds one product after the other; all sums in parallel. */
static void full_row(const geometry *g, const numbers *m, const taps *t, int64_t image)
{
    int64_t oc = g->oc;
    memset(m->row, 0, (size_t)oc * sizeof *m->row);
    for (int64_t k = 0; k < t->n; k++)
        for (int64_t c = 0; c < g->c; c++) {
            float x = m->xs[(image + t->x[k]) * g->c + c], *row = m->row;
            const float *w = m->ws + (t->k[k] * g->c + c) * oc;
            if (m->acc == TC_f32)
                for (int64_t o = 0; o < oc; o++)
                    row[o] += x * w[o];
            else
                for (int64_t o = 0; o < oc; o++)
                    row[o] = ti_kept(m->acc, row[o] + x * w[o]);
        }
}

static void depthwise_row(const geometry *g, const numbers *m, const taps *t, int64_t image)
{
    int64_t each = g->oc / g->c;
    memset(m->row, 0, (size_t)g->oc * sizeof *m->row);
    for (int64_t k = 0; k < t->n; k++)
        for (int64_t o = 0; o < g->oc; o++)
            m->row[o] = ti_kept(m->acc, m->row[o] + m->xs[(image + t->x[k]) * g->c + o / each] *
                                                        m->ws[t->k[k] * g->oc + o]);
}

/* weight [oc, kernel..., c]: every input channel contributes to every output channel. */
static void full_window(const geometry *g, const numbers *m, const taps *t, int64_t image,
                        int64_t at)
{
    int64_t n_tap = g->kernel[0] * g->kernel[1] * g->kernel[2];
    if (m->row) {
        full_row(g, m, t, image);
        store_row(m, at, g->oc);
        return;
    }
    for (int64_t oc = 0; oc < g->oc; oc++) {
        sum s = {0, 0};
        for (int64_t k = 0; k < t->n; k++)
            s = add_products(m, s, (image + t->x[k]) * g->c, (oc * n_tap + t->k[k]) * g->c, g->c);
        store(m, at + oc, oc, s);
    }
}

/* weight [kh, kw, c, m]: channel c contributes to channels c * m .. c * m + m - 1. */
static void depthwise_window(const geometry *g, const numbers *m, const taps *t, int64_t image,
                             int64_t at)
{
    int64_t each = g->oc / g->c;
    if (m->row) {
        depthwise_row(g, m, t, image);
        store_row(m, at, g->oc);
        return;
    }
    for (int64_t oc = 0; oc < g->oc; oc++) {
        sum s = {0, 0};
        for (int64_t k = 0; k < t->n; k++)
            s = add_products(m, s, (image + t->x[k]) * g->c + oc / each, t->k[k] * g->oc + oc, 1);
        store(m, at + oc, oc, s);
    }
}

typedef void window_fn(const geometry *g, const numbers *m, const taps *t, int64_t image,
                       int64_t at);

static void convolve(tc_call *call, const geometry *g, tap_fn *reads, window_fn *window,
                     tc_dtype acc)
{
    numbers m = numbers_of(call, window == depthwise_window, acc);
    taps t = room_for_taps(call, g);
    int64_t at = 0, image = g->in[0] * g->in[1] * g->in[2], o[3];
    for (int64_t n = 0; n < g->n; n++)
        for (o[0] = 0; o[0] < g->out[0]; o[0]++)
            for (o[1] = 0; o[1] < g->out[1]; o[1]++)
                for (o[2] = 0; o[2] < g->out[2]; o[2]++, at += g->oc) {
                    find_taps(g, reads, o, &t);
                    window(g, &m, &t, n * image, at);
                }
}

/* Extents from the types; `kernel` is where the weight's kernel axes begin. */
static geometry geometry_of(const tc_call *call, int kernel)
{
    const tc_type *x = call->in[0].type, *w = call->in[1].type, *out = call->out[0].type;
    int deep = x->rank - 2; /* axes of space: 2 or 3 */
    geometry g = {.n = x->dim[0], .c = x->dim[x->rank - 1], .oc = out->dim[out->rank - 1]};
    for (int i = 0; i < 3; i++) {
        g.in[i] = g.out[i] = g.kernel[i] = g.stride[i] = g.dilation[i] = 1;
        int axis = i - (3 - deep);
        if (axis < 0)
            continue;
        g.in[i] = x->dim[1 + axis];
        g.out[i] = out->dim[1 + axis];
        g.kernel[i] = w->dim[kernel + axis];
    }
    return g;
}

/* Lists of the attributes, one entry per spatial axis; pad has a before and an after. */
static void set_steps(geometry *g, tc_ints stride, tc_ints pad, const tc_ints *dilation,
                      int64_t sign)
{
    int first = 3 - stride.n;
    for (int i = 0; i < stride.n; i++) {
        g->stride[first + i] = stride.v[i];
        g->before[first + i] = sign * pad.v[2 * i];
        if (dilation)
            g->dilation[first + i] = dilation->v[i];
    }
}

static void conv(tc_call *call, int kernel, window_fn *window)
{
    const tc_attr_tosa_conv *a = call->attr;
    geometry g = geometry_of(call, kernel);
    set_steps(&g, a->stride, a->pad, &a->dilation, 1);
    convolve(call, &g, tap, window, a->acc_type);
}

void ti_num_tosa_conv2d(tc_call *call) { conv(call, 1, full_window); }
void ti_num_tosa_conv3d(tc_call *call) { conv(call, 1, full_window); }
void ti_num_tosa_depthwise_conv2d(tc_call *call) { conv(call, 0, depthwise_window); }

/* out_pad widens the result: its sign is opposite to padding's. */
void ti_num_tosa_transpose_conv2d(tc_call *call)
{
    const tc_attr_tosa_transpose_conv *a = call->attr;
    geometry g = geometry_of(call, 1);
    set_steps(&g, a->stride, a->out_pad, NULL, -1);
    convolve(call, &g, tap_transposed, full_window, a->acc_type);
}
