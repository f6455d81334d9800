/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_resize.c -- builders of RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR, channels last.
 *
 * An operator of ours with the same coordinates is used; else nearest becomes a selection of rows
 * and bilinear a product with a constant matrix, axis by axis. */
#include <math.h>

#include "../../num/load.h"
#include "tflite_program.h"
#include "tflite_window.h"

typedef struct resize {
    int64_t in, out;
    bool align, half;
} resize;

/* Source coordinates are in * (out step), in f32 as in the runtime. */
static float step_of(const resize *r)
{
    return r->align && r->out > 1 ? (float)(r->in - 1) / (float)(r->out - 1)
                                  : (float)r->in / (float)r->out;
}

static int64_t nearest(const resize *r, int64_t i)
{
    float at = ((float)i + (r->half ? 0.5f : 0.0f)) * step_of(r);
    int64_t k = (int64_t)(r->align ? roundf(at) : floorf(at));
    return ti_max_i64(0, ti_min_i64(k, r->in - 1));
}

/* The coordinate, the index below it and its weight. */
static void linear(const resize *r, int64_t i, int64_t *lower, int64_t *upper, float *share)
{
    float at = r->half ? ((float)i + 0.5f) * step_of(r) - 0.5f : (float)i * step_of(r);
    float down = floorf(at);
    *lower = ti_max_i64((int64_t)down, 0);
    *upper = ti_min_i64((int64_t)ceilf(at), r->in - 1);
    *share = at - (float)*lower;
    *lower = ti_min_i64(*lower, r->in - 1);
}

static tc_val rows_of(tc_build *m, tc_val x, int axis, const resize *r)
{
    int64_t *at = tc_new_n(&m->ctx->arena, int64_t, (size_t)r->out);
    for (int64_t i = 0; i < r->out; i++)
        at[i] = nearest(r, i);
    tc_val list = ti_b_list(m, at, r->out);
    return ti_b_index_select(m, x, list, axis);
}

/* [out, in] on the axis */
static tc_val product(tc_build *m, tc_val x, int axis, const resize *r)
{
    int64_t dim[2] = {r->out, r->in};
    tc_tensor w = ti_b_tensor(m, TC_f32, 2, dim);
    memset(w.data, 0, tc_type_bytes(w.type));
    for (int64_t i = 0; i < r->out; i++) {
        int64_t lower, upper;
        float share;
        linear(r, i, &lower, &upper, &share);
        ((float *)w.data)[i * r->in + lower] += 1 - share;
        ((float *)w.data)[i * r->in + upper] += share;
    }
    int last = ti_b_type(m, x)->rank - 1;
    x = ti_b_swap(m, x, axis, last);
    x = ti_b_2(m, linear, NULL, x, ti_b_const(m, w, NULL));
    return ti_b_swap(m, x, axis, last);
}

bool ti_tfl_resize_of(tc_tfl_node *n, const tc_type *t, int first, int64_t *out, bool *align,
                      bool *half)
{
    tc_ints size = ti_tfl_shape(n, 1, 1, 6, NULL);
    *align = ti_tfl_bool(n, (uint32_t)first, false);
    *half = ti_tfl_bool(n, (uint32_t)first + 1, false);
    TC_STOP_WITH(&n->m, false);
    if (t->rank != 4 || size.n != 2 || size.v[0] < 1 || size.v[1] < 1 || size.v[0] > 1 << 16 ||
        size.v[1] > 1 << 16 || !tc_type_count(t)) {
        ti_b_bad(&n->m, TC_E_SHAPE, "a size of %d numbers for a tensor of rank %d", size.n,
                 t->rank);
        return false;
    }
    out[0] = size.v[0];
    out[1] = size.v[1];
    return true;
}

void ti_tfl_build_resize_nearest(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    int64_t out[2];
    bool align, half;
    if (m->status != TC_OK || !ti_tfl_resize_of(n, ti_b_type(m, x), 0, out, &align, &half))
        return;
    const tc_type *t = ti_b_type(m, x);
    bool whole = !align && out[0] % t->dim[1] == 0 && out[1] % t->dim[2] == 0;
    if (whole && (out[0] != t->dim[1] || out[1] != t->dim[2])) {
        tc_attr_upsample *a = ti_b_attr(m, upsample, .size = ti_ints_copy(&m->ctx->arena, out, 2));
        x = ti_tfl_channels_first(m, x);
        x = ti_b_1(m, upsample_nearest, a, x);
        ti_tfl_bind(n, 0, ti_tfl_channels_last(m, x));
        return;
    }
    bool codes = t->dtype == TC_i8 || t->dtype == TC_i16,
         same = out[0] == t->dim[1] && out[1] == t->dim[2];
    tc_val y = codes && align && !half && !same ? ti_tfl_nearest_corners(m, x, out) : TC_NONE;
    if (y) {
        ti_tfl_bind(n, 0, y);
        return;
    }
    for (int i = 0; i < 2; i++)
        if (out[i] != t->dim[1 + i] && m->status == TC_OK)
            x = rows_of(m, x, 1 + i, &(resize){t->dim[1 + i], out[i], align, half});
    ti_tfl_bind(n, 0, x);
}

/* ---- the runtime's own sum of four, in its order ---- */

typedef struct between {
    tc_val row[2], share[2]; /* the lower and the upper one */
} between;

static between places_between(tc_build *m, int axis, const resize *r)
{
    float step = step_of(r);
    int64_t dim[4] = {1, 1, 1, 1}, *row[2];
    dim[axis] = r->out;
    tc_tensor share[2];
    for (int k = 0; k < 2; k++) {
        row[k] = tc_new_n(&m->ctx->arena, int64_t, (size_t)r->out);
        share[k] = ti_b_tensor(m, TC_f32, 4, dim);
    }
    for (int64_t i = 0; i < r->out; i++) {
        float at = r->half ? ((float)i + 0.5f) * step - 0.5f : (float)i * step;
        row[0][i] = ti_max_i64((int64_t)floorf(at), 0);
        row[1][i] = ti_min_i64((int64_t)ceilf(at), r->in - 1);
        float upper = at - (float)row[0][i];
        ti_store_f64(share[0], i, (double)(1 - upper));
        ti_store_f64(share[1], i, (double)upper);
        row[0][i] = ti_min_i64(row[0][i], r->in - 1);
        row[1][i] = ti_max_i64(row[1][i], 0);
    }
    between b;
    for (int k = 0; k < 2; k++) {
        b.row[k] = ti_b_list(m, row[k], r->out);
        b.share[k] = ti_b_const(m, share[k], NULL);
    }
    return b;
}

/* Lower left, upper left, lower right, upper right: each by the row's share, by the column's. */
static tc_val sum_of_four(tc_build *m, tc_val x, const resize *rows, const resize *columns)
{
    between y = places_between(m, 1, rows), z = places_between(m, 2, columns);
    tc_val sum = TC_NONE;
    for (int k = 0; k < 4 && m->status == TC_OK; k++) {
        tc_val v = ti_b_index_select(m, x, y.row[k & 1], 1);
        v = ti_b_index_select(m, v, z.row[k >> 1], 2);
        v = ti_b_mul(m, v, y.share[k & 1]);
        v = ti_b_mul(m, v, z.share[k >> 1]);
        sum = sum ? ti_b_add(m, sum, v) : v;
    }
    return sum;
}

void ti_tfl_build_resize_bilinear(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_tfl_need(n, 0);
    int64_t out[2];
    bool align, half;
    if (m->status != TC_OK || !ti_tfl_resize_of(n, ti_b_type(m, x), 2, out, &align, &half))
        return;
    const tc_type *t = ti_b_type(m, x);
    if (n->scope->reader->hybrid) {
        resize rows = {t->dim[1], out[0], align, half}, columns = {t->dim[2], out[1], align, half};
        ti_tfl_bind(n, 0, sum_of_four(m, x, &rows, &columns));
        return;
    }
    if ((align || half) && (out[0] != t->dim[1] || out[1] != t->dim[2])) {
        tc_attr_upsample *a = ti_b_attr(m, upsample, .size = ti_ints_copy(&m->ctx->arena, out, 2),
                                        .align_corners = align);
        x = ti_tfl_channels_first(m, x);
        x = ti_b_1(m, upsample_linear, a, x);
        ti_tfl_bind(n, 0, ti_tfl_channels_last(m, x));
        return;
    }
    for (int i = 0; i < 2; i++)
        if (out[i] != t->dim[1 + i] && m->status == TC_OK)
            x = product(m, x, 1 + i, &(resize){t->dim[1 + i], out[i], align, half});
    ti_tfl_bind(n, 0, x);
}
