/* SPDX-License-Identifier: Apache-2.0 */
/* layer_inputs.c -- see layer_inputs.h. */
#include "layer_inputs.h"

#include "../num/gemm.h"
#include "gram_matrix.h"
#include "observations.h"

enum { LEAST_WINDOWS = 2048, MOST_WINDOWS = 4096, PER_NUMBER = 3 };

/* Windows over all samples that make a row's sums meaningful. */
static int64_t windows_wanted(int64_t k, size_t samples)
{
    int64_t all = ti_max_i64(LEAST_WINDOWS, ti_min_i64(PER_NUMBER * k, MOST_WINDOWS)),
            n = (int64_t)samples;
    return n ? (all + n - 1) / n : 0;
}

bool ti_columns_of(const tc_graph *g, const tc_node *node, size_t samples, tc_columns *out)
{
    const tc_type *x = ti_type_of(g, node->in[0]), *w = ti_type_of(g, node->in[1]),
                  *y = ti_type_of(g, node->out[0]);
    *out = (tc_columns){.node = node, .rows = w->dim[0], .groups = 1};
    if ((node->op != TC_OP_linear && node->op != TC_OP_conv) || w->rank < 2 || !w->dim[0])
        return false;
    out->k = tc_type_count(w) / w->dim[0];
    if (node->op == TC_OP_linear)
        out->position = out->k ? tc_type_count(x) / out->k : 0;
    else {
        const tc_attr_conv *a = node->attr;
        int64_t taps = 1;
        out->axes = w->rank - 2;
        out->groups = a->groups;
        if (out->axes < 1 || out->axes > 3 || x->rank != w->rank || y->rank != w->rank)
            return false;
        out->position = y->dim[0];
        for (int i = 0; i < out->axes; i++) {
            out->out[i] = y->dim[2 + i];
            out->kernel[i] = w->dim[2 + i];
            out->in[i] = x->dim[2 + i];
            out->position *= y->dim[2 + i];
            taps *= w->dim[2 + i];
        }
        out->taps_first = out->groups > 1 && out->k == taps && out->rows == out->groups;
    }
    out->each = ti_min_i64(out->position, windows_wanted(out->k, samples));
    return out->each > 0;
}

/* Strides in elements along each logical axis. */
static void strides_of(tc_tensor x, const int8_t *order, int64_t *stride)
{
    int64_t at = 1;
    for (int i = x.type->rank; i-- > 0;) {
        stride[order[i]] = at;
        at *= x.type->dim[i];
    }
}

/* A row of a linear layer's input. */
static void take_row(const tc_columns *c, tc_tensor x, const int8_t *order, const int64_t *stride,
                     int64_t position, float *out)
{
    int rank = x.type->rank;
    int64_t extent[TC_MAX_RANK], at = 0;
    for (int i = 0; i < rank; i++)
        extent[order[i]] = x.type->dim[i];
    for (int i = rank - 1; i-- > 0;) {
        at += position % extent[i] * stride[i];
        position /= extent[i];
    }
    const float *from = (const float *)x.data + at;
    if (stride[rank - 1] == 1)
        memcpy(out, from, (size_t)c->k * sizeof *out);
    else
        for (int64_t j = 0; j < c->k; j++)
            out[j] = from[j * stride[rank - 1]];
}

/* One tap of n channels: out[i * apart] = from[i * stride], or zeros where from is NULL. */
static void take_tap(const float *from, int64_t stride, int64_t n, float *out, int64_t apart)
{
    if (from && apart == 1 && stride == 1)
        memcpy(out, from, (size_t)n * sizeof *out);
    else if (from)
        for (int64_t i = 0; i < n; i++)
            out[i * apart] = from[i * stride];
    else
        for (int64_t i = 0; i < n; i++)
            out[i * apart] = 0;
}

/* All channels' windows at a position of a convolution's result; beyond the edge there are zeros.
 */
static void take_window(const tc_columns *c, const float *x, const int64_t *stride,
                        int64_t position, float *out)
{
    const tc_attr_conv *a = c->node->attr;
    int64_t at[3] = {0}, tap[3] = {0}, taps = 1;
    for (int i = c->axes; i-- > 0;) {
        at[i] = position % c->out[i] * a->stride.v[i] - a->pad.v[2 * i];
        position /= c->out[i];
        taps *= c->kernel[i];
    }
    int64_t n = c->groups * c->k / taps;
    x += position * stride[0];
    for (int64_t t = 0; t < taps; t++) {
        int64_t from = 0;
        bool inside = true;
        for (int i = 0; i < c->axes; i++) {
            int64_t p = at[i] + tap[i] * a->dilation.v[i];
            inside = inside && p >= 0 && p < c->in[i];
            from += p * stride[2 + i];
        }
        take_tap(inside ? x + from : NULL, stride[1], n, out + (c->taps_first ? t * n : t),
                 c->taps_first ? 1 : taps);
        for (int i = c->axes; i-- > 0 && ++tap[i] == c->kernel[i];)
            tap[i] = 0;
    }
}

void ti_columns_take(const tc_columns *c, tc_tensor x, const int8_t *order, size_t which,
                     float *out)
{
    int64_t stride[TC_MAX_RANK], gap = c->position / c->each;
    strides_of(x, order, stride);
    for (int64_t i = 0; i < c->each; i++, out += c->groups * c->k) {
        int64_t position = i * c->position / c->each + (int64_t)(which * 7 % (size_t)gap);
        if (c->axes)
            take_window(c, x.data, stride, position, out);
        else
            take_row(c, x, order, stride, position, out);
    }
}

/* ---- sums over all positions ---- */

/* A convolution's input with three axes, some of extent 1. */
typedef struct summing {
    const float *x;
    int64_t channels, apart; /* elements from one channel to the next */
    int64_t in[3], out[3], kernel[3], step[3], pad[3], dilation[3], stride[3];
} summing;

static summing summing_of(const tc_columns *c, const int64_t *stride)
{
    const tc_attr_conv *a = c->node->attr;
    summing s = {.apart = stride[1]};
    int64_t taps = 1;
    for (int i = 0; i < 3; i++) {
        int from = i - (3 - c->axes);
        bool there = from >= 0;
        s.in[i] = there ? c->in[from] : 1;
        s.out[i] = there ? c->out[from] : 1;
        s.kernel[i] = there ? c->kernel[from] : 1;
        s.step[i] = there ? a->stride.v[from] : 1;
        s.pad[i] = there ? a->pad.v[2 * from] : 0;
        s.dilation[i] = there ? a->dilation.v[from] : 1;
        s.stride[i] = there ? stride[2 + from] : 0;
        taps *= s.kernel[i];
    }
    s.channels = c->groups * c->k / taps;
    return s;
}

/* Whether tap k of an axis reads element p of the input at some position. */
static bool meets(const summing *s, int axis, int64_t k, int64_t p)
{
    int64_t at = p + s->pad[axis] - k * s->dilation[axis];
    return at >= 0 && at % s->step[axis] == 0 && at / s->step[axis] < s->out[axis];
}

/* One line along the last axis: by tap, the sums of what it reads, channels contiguous. */
static void sum_line(const summing *s, const float *x, double *to)
{
    memset(to, 0, (size_t)(s->kernel[2] * s->channels) * sizeof *to);
    for (int64_t k = 0; k < s->kernel[2]; k++, to += s->channels)
        for (int64_t o = 0; o < s->out[2]; o++) {
            int64_t p = o * s->step[2] + k * s->dilation[2] - s->pad[2];
            if (p < 0 || p >= s->in[2])
                continue;
            const float *from = x + p * s->stride[2];
            if (s->apart == 1)
                ti_gram_sum(to, from, s->channels);
            else
                for (int64_t i = 0; i < s->channels; i++)
                    to[i] += (double)from[i * s->apart];
        }
}

/* A line's sums belong to every tap of the other axes that reads it. */
static void spread_line(const summing *s, int64_t first, int64_t second, const double *line,
                        double *sum)
{
    int64_t taps = s->kernel[0] * s->kernel[1] * s->kernel[2];
    for (int64_t a = 0; a < s->kernel[0]; a++)
        for (int64_t b = 0; b < s->kernel[1]; b++) {
            if (!meets(s, 0, a, first) || !meets(s, 1, b, second))
                continue;
            double *to = sum + (a * s->kernel[1] + b) * s->kernel[2];
            for (int64_t k = 0; k < s->kernel[2]; k++)
                for (int64_t i = 0; i < s->channels; i++)
                    to[i * taps + k] += line[k * s->channels + i];
        }
}

void ti_columns_sums(const tc_columns *c, tc_arena *scratch, tc_tensor x, const int8_t *order,
                     double *sum)
{
    int64_t stride[TC_MAX_RANK];
    strides_of(x, order, stride);
    memset(sum, 0, (size_t)(c->groups * c->k) * sizeof *sum);
    if (!c->axes) { /* the last axis */
        int64_t inner = stride[x.type->rank - 1];
        ti_channel_sums(x.data, tc_type_count(x.type) / (c->k * inner), c->k, inner, sum);
        return;
    }
    tc_mark mark = ti_arena_mark(scratch);
    summing s = summing_of(c, stride);
    double *line = tc_new_n(scratch, double, (size_t)(s.kernel[2] * s.channels));
    int64_t images = tc_type_count(x.type) / (s.channels * s.in[0] * s.in[1] * s.in[2]);
    for (int64_t n = 0; n < images; n++)
        for (int64_t a = 0; a < s.in[0]; a++)
            for (int64_t b = 0; b < s.in[1]; b++) {
                sum_line(&s, (const float *)x.data + n * stride[0] + a * s.stride[0] +
                                 b * s.stride[1], line);
                spread_line(&s, a, b, line, sum);
            }
    ti_arena_rewind(scratch, mark);
}

/* ---- products ---- */

/* The start of the row of results at a position, and the stride of its channels. */
static int64_t place_of(const tc_columns *c, tc_tensor y, const int8_t *order,
                        const int64_t *stride, int64_t position, int64_t *apart)
{
    int64_t extent[TC_MAX_RANK], at = 0;
    int channel = c->axes ? 1 : y.type->rank - 1;
    for (int i = 0; i < y.type->rank; i++)
        extent[order[i]] = y.type->dim[i];
    for (int i = y.type->rank; i-- > 0;)
        if (i != channel) {
            at += position % extent[i] * stride[i];
            position /= extent[i];
        }
    *apart = stride[channel];
    return at;
}

/* Both tensors as stored, and what is added. */
typedef struct adding {
    const tc_columns *c;
    tc_tensor x, y;
    const int8_t *x_order, *y_order;
    int64_t xs[TC_MAX_RANK], ys[TC_MAX_RANK];
} adding;

static void take(const adding *a, int64_t position, float *out)
{
    if (a->c->axes)
        take_window(a->c, a->x.data, a->xs, position, out);
    else
        take_row(a->c, a->x, a->x_order, a->xs, position, out);
}

/* Channel first + which[j] of the result at a position += sum[j]; which NULL: j itself. */
static void add_at(const adding *a, int64_t position, int64_t first, const int64_t *which,
                   int64_t n, const float *sum)
{
    int64_t apart, at = place_of(a->c, a->y, a->y_order, a->ys, position, &apart);
    float *y = (float *)a->y.data + at + first * apart;
    if (apart == 1 && !which)
        ti_gram_axpy(y, 1, sum, n);
    else
        for (int64_t j = 0; j < n; j++)
            y[(which ? which[j] : j) * apart] += sum[j];
}

/* Each channel by itself: sums over taps in order, in parallel. */
static void multiply_lanes(const adding *a, tc_arena *scratch, const float *by)
{
    int64_t k = a->c->k, n = a->c->groups;
    float *window = ti_arena_raw(scratch, (size_t)(k * n) * sizeof(float)),
          *transposed = ti_arena_raw(scratch, (size_t)(k * n) * sizeof(float)),
          *sum = ti_arena_raw(scratch, (size_t)n * sizeof(float));
    for (int64_t i = 0; i < n; i++)
        for (int64_t t = 0; t < k; t++)
            transposed[t * n + i] = by[i * k + t];
    for (int64_t p = 0; p < a->c->position; p++) {
        take(a, p, window);
        ti_gram_dots(window, transposed, k, n, sum);
        add_at(a, p, 0, NULL, n, sum);
    }
}

/* The rows that are not all zero, in `which`; they are copied to `to` contiguously. */
static int64_t rows_of(const float *by, int64_t n, int64_t k, int64_t *which, float *to)
{
    int64_t found = 0;
    for (int64_t i = 0; i < n; i++) {
        bool any = false;
        for (int64_t j = 0; j < k && !any; j++)
            any = by[i * k + j] != 0;
        if (!any)
            continue;
        memcpy(to + found * k, by + i * k, (size_t)k * sizeof *to);
        which[found++] = i;
    }
    return found;
}

/* Group by group, some windows at a time. */
static void multiply_groups(const adding *a, tc_arena *scratch, tc_some_rows r)
{
    enum { AT_ONCE = 256, NUMBERS = 1 << 16 /* bytes of windows */ };
    const tc_columns *c = a->c;
    int64_t row = c->groups * c->k, n = r.n / c->groups,
            once = ti_max_i64(16, ti_min_i64(AT_ONCE, NUMBERS / row));
    int64_t *which = tc_new_n(scratch, int64_t, (size_t)r.n),
            *some = tc_new_n(scratch, int64_t, (size_t)c->groups);
    float *kept = ti_arena_raw(scratch, (size_t)(r.n * c->k) * sizeof(float)),
          *window = ti_arena_raw(scratch, (size_t)(once * row) * sizeof(float)),
          *sum = ti_arena_raw(scratch, (size_t)(once * n) * sizeof(float));
    for (int64_t g = 0; g < c->groups; g++)
        some[g] = rows_of(r.by + g * n * c->k, n, c->k, which + g * n, kept + g * n * c->k);
    for (int64_t first = 0; first < c->position; first += once) {
        int64_t m = ti_min_i64(once, c->position - first);
        for (int64_t i = 0; i < m; i++)
            take(a, first + i, window + i * row);
        for (int64_t g = 0; g < c->groups; g++) {
            memset(sum, 0, (size_t)(m * some[g]) * sizeof *sum);
            ti_gemm_f32(scratch, m, some[g], c->k, window + g * c->k, row, 1, kept + g * n * c->k,
                        1, c->k, sum, some[g]);
            for (int64_t i = 0; i < m; i++)
                add_at(a, first + i, r.first + g * n, some[g] < n ? which + g * n : NULL, some[g],
                       sum + i * some[g]);
        }
    }
}

void ti_columns_multiply(const tc_columns *c, tc_arena *scratch, tc_tensor x, const int8_t *x_order,
                         tc_some_rows some, tc_tensor y, const int8_t *y_order)
{
    adding a = {.c = c, .x = x, .y = y, .x_order = x_order, .y_order = y_order};
    tc_mark mark = ti_arena_mark(scratch);
    strides_of(x, x_order, a.xs);
    strides_of(y, y_order, a.ys);
    if (c->taps_first)
        multiply_lanes(&a, scratch, some.by);
    else
        multiply_groups(&a, scratch, some);
    ti_arena_rewind(scratch, mark);
}
