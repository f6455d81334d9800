/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c -- see columns.h. */
#include "columns.h"

#include "../num/gemm.h"

enum { LEAST_WINDOWS = 2048, MOST_WINDOWS = 4096, PER_NUMBER = 3 };

/* So many windows, over all samples, that a row's sums mean something. */
static int64_t windows_wanted(int64_t k, size_t samples)
{
    int64_t all = tc_max_i64(LEAST_WINDOWS, tc_min_i64(PER_NUMBER * k, MOST_WINDOWS)),
            n = (int64_t)samples;
    return n ? (all + n - 1) / n : 0;
}

bool tc_columns_of(const tc_graph *g, const tc_node *node, size_t samples, tc_columns *out)
{
    const tc_type *x = tc_type_of(g, node->in[0]), *w = tc_type_of(g, node->in[1]),
                  *y = tc_type_of(g, node->out[0]);
    *out = (tc_columns){.node = node, .rows = w->dim[0], .groups = 1};
    if ((node->op != TC_OP_linear && node->op != TC_OP_conv) || w->rank < 2 || !w->dim[0])
        return false;
    out->k = tc_type_count(w) / w->dim[0];
    if (node->op == TC_OP_linear)
        out->position = out->k ? tc_type_count(x) / out->k : 0;
    else {
        const tc_attr_conv *a = node->attr;
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
        }
    }
    out->each = tc_min_i64(out->position, windows_wanted(out->k, samples));
    return out->each > 0;
}

/* Elements from one place to the next along each logical axis. */
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
    for (int64_t j = 0; j < c->k; j++)
        out[j] = ((const float *)x.data)[at + j * stride[rank - 1]];
}

/* All channels' windows at a position of a convolution's result; beyond the edge there are zeros.
 */
static void take_window(const tc_columns *c, const float *x, const int64_t *stride,
                        int64_t position, float *out)
{
    const tc_attr_conv *a = c->node->attr;
    int64_t at[3] = {0}, taps = 1, channels;
    for (int i = c->axes; i-- > 0;) {
        at[i] = position % c->out[i] * a->stride.v[i] - a->pad.v[2 * i];
        position /= c->out[i];
        taps *= c->kernel[i];
    }
    channels = c->groups * c->k / taps;
    for (int64_t t = 0; t < taps; t++) {
        int64_t from = position * stride[0], rest = t;
        bool inside = true;
        for (int i = c->axes; i-- > 0;) {
            int64_t p = at[i] + rest % c->kernel[i] * a->dilation.v[i];
            rest /= c->kernel[i];
            inside = inside && p >= 0 && p < c->in[i];
            from += p * stride[2 + i];
        }
        for (int64_t ch = 0; ch < channels; ch++)
            out[ch * taps + t] = inside ? x[from + ch * stride[1]] : 0;
    }
}

void tc_columns_take(const tc_columns *c, tc_tensor x, const int8_t *order, size_t which,
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

/* Where the row of results at a position begins, and how far apart its channels lie. */
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

void tc_columns_multiply(const tc_columns *c, tc_arena *scratch, tc_tensor x, const int8_t *x_order,
                         const float *by, tc_tensor y, const int8_t *y_order)
{
    enum { AT_ONCE = 64 };
    int64_t xs[TC_MAX_RANK], ys[TC_MAX_RANK], row = c->groups * c->k, n = c->rows / c->groups;
    tc_mark mark = tc_arena_mark(scratch);
    float *window = tc_new_n(scratch, float, (size_t)(AT_ONCE * row)),
          *sum = tc_new_n(scratch, float, (size_t)(AT_ONCE * n));
    strides_of(x, x_order, xs);
    strides_of(y, y_order, ys);
    for (int64_t first = 0; first < c->position; first += AT_ONCE) {
        int64_t m = tc_min_i64(AT_ONCE, c->position - first);
        for (int64_t i = 0; i < m; i++)
            if (c->axes)
                take_window(c, x.data, xs, first + i, window + i * row);
            else
                take_row(c, x, x_order, xs, first + i, window + i * row);
        for (int64_t g = 0; g < c->groups; g++) {
            memset(sum, 0, (size_t)(m * n) * sizeof *sum);
            tc_gemm_f32(scratch, m, n, c->k, window + g * c->k, row, 1, by + g * n * c->k, 1, c->k,
                        sum, n);
            for (int64_t i = 0; i < m; i++) {
                int64_t apart, at = place_of(c, y, y_order, ys, first + i, &apart);
                for (int64_t j = 0; j < n; j++)
                    ((float *)y.data)[at + (g * n + j) * apart] += sum[i * n + j];
            }
        }
    }
    tc_arena_rewind(scratch, mark);
}
