/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_matmul.c -- MATMUL:  a [n, h, c]  b [n, c, w]  result [n, h, w], minus zero points. */
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
