/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_matmul.c -- MATMUL:  a [n, h, c]  b [n, c, w]  result [n, h, w], minus zero points, and
 * MATMUL_T:  b [d, w, c], d 1 or n. */
#include "kernels.h"
#include "tosa.h"

static void matmul_ints(tc_call *call, int64_t n, int64_t h, int64_t c, int64_t w)
{
    const int32_t *a = ti_centered(call->scratch, call->in[0], call->in[2]);
    const int32_t *b = ti_centered(call->scratch, call->in[1], call->in[3]);
    int64_t *row = tc_new_n(call->scratch, int64_t, (size_t)w);
    for (int64_t r = 0; r < n * h; r++) {
        const int32_t *plane = b + r / h * c * w;
        memset(row, 0, (size_t)w * sizeof *row);
        for (int64_t k = 0; k < c; k++)
            for (int64_t i = 0; i < w; i++)
                row[i] = ti_wrap_add(row[i], (int64_t)a[r * c + k] * plane[k * w + i]);
        ti_write_sums(call->out[0], r * w, (size_t)w, row);
    }
}

static void matmul_reals(tc_call *call, int64_t n, int64_t h, int64_t c, int64_t w)
{
    const double *a = ti_as_f64(call->scratch, call->in[0]);
    const double *b = ti_as_f64(call->scratch, call->in[1]);
    double *row = tc_new_n(call->scratch, double, (size_t)w);
    for (int64_t r = 0; r < n * h; r++) {
        const double *plane = b + r / h * c * w;
        memset(row, 0, (size_t)w * sizeof *row);
        for (int64_t k = 0; k < c; k++)
            for (int64_t i = 0; i < w; i++)
                row[i] += a[r * c + k] * plane[k * w + i];
        ti_write_reals(call->out[0], r * w, (size_t)w, row);
    }
}

void ti_num_tosa_matmul(tc_call *call)
{
    const tc_type *a = call->in[0].type, *out = call->out[0].type;
    bool real = ti_is_float(a->dtype);
    (real ? matmul_reals : matmul_ints)(call, out->dim[0], out->dim[1], a->dim[2], out->dim[2]);
}

/* ---- MATMUL_T -------------------------------------------------------------------------------- */

static void matmul_t_ints(tc_call *call, int64_t n, int64_t h, int64_t c, int64_t w)
{
    const int32_t *a = ti_centered(call->scratch, call->in[0], call->in[2]);
    const int32_t *b = ti_centered(call->scratch, call->in[1], call->in[3]);
    int64_t step = call->in[1].type->dim[0] > 1 ? w * c : 0;
    for (int64_t r = 0; r < n * h; r++)
        for (int64_t i = 0; i < w; i++) {
            const int32_t *x = a + r * c, *y = b + r / h * step + i * c;
            int64_t sum = 0;
            for (int64_t k = 0; k < c; k++)
                sum = ti_wrap_add(sum, (int64_t)x[k] * y[k]);
            ti_write_sums(call->out[0], r * w + i, 1, &sum);
        }
}

static float *rounded(tc_call *call, tc_tensor t)
{
    size_t n = (size_t)tc_type_count(t.type);
    float *all = ti_arena_raw(call->scratch, n * sizeof *all);
    ti_read_f32(t, 0, n, all);
    for (size_t i = 0; i < n && call->out[0].type->dtype != TC_f32; i++)
        all[i] = ti_kept(call->out[0].type->dtype, all[i]);
    return all;
}

/* sum[i] += x * y[i], each product and each sum rounded; in the reference model's order, so with
 * its bits. */
static void add_row(tc_dtype t, float x, const float *y, float *sum, int64_t n)
{
    if (t == TC_f32)
        for (int64_t i = 0; i < n; i++)
            sum[i] += x * y[i];
    else
        for (int64_t i = 0; i < n; i++)
            sum[i] = ti_kept(t, sum[i] + x * y[i]);
}

/* w x c to c x w. */
static float *turned(tc_call *call, const float *b, int64_t planes, int64_t w, int64_t c)
{
    float *all = ti_arena_raw(call->scratch, (size_t)(planes * w * c) * sizeof *all);
    for (int64_t p = 0; p < planes; p++)
        for (int64_t i = 0; i < w; i++)
            for (int64_t k = 0; k < c; k++)
                all[(p * c + k) * w + i] = b[(p * w + i) * c + k];
    return all;
}

static void matmul_t_reals(tc_call *call, int64_t n, int64_t h, int64_t c, int64_t w)
{
    tc_dtype type = call->out[0].type->dtype;
    int64_t planes = call->in[1].type->dim[0], step = planes > 1 ? w * c : 0;
    const float *a = rounded(call, call->in[0]);
    const float *b = turned(call, rounded(call, call->in[1]), planes, w, c);
    float *row = tc_new_n(call->scratch, float, (size_t)w);
    for (int64_t r = 0; r < n * h; r++) {
        memset(row, 0, (size_t)w * sizeof *row);
        for (int64_t k = 0; k < c; k++)
            add_row(type, a[r * c + k], b + r / h * step + k * w, row, w);
        ti_write_f32(call->out[0], r * w, (size_t)w, row);
    }
}

void ti_num_tosa_matmul_t(tc_call *call)
{
    const tc_type *a = call->in[0].type, *out = call->out[0].type;
    bool real = ti_is_float(a->dtype);
    (real ? matmul_t_reals : matmul_t_ints)(call, out->dim[0], out->dim[1], a->dim[2], out->dim[2]);
}
