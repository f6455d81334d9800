/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_fft.c -- FFT2D and RFFT2D, unnormalized:
 *
 *   out[y, x] = sum over i, k of in[i, k] * exp(-+ 2 pi j (i y / H + k x / W))
 *
 * Rows first, then columns, each by the definition, in f64; the angles are whole steps of a circle
 * that is tabulated once, with its quarter turns exact. */
#include "kernels.h"
#include "../base/real.h"
#include "tosa.h"

/* cos and sin of 2 pi k / n. */
typedef struct circle {
    int64_t n;
    double *cos, *sin;
} circle;

static circle circle_of(tc_arena *arena, int64_t n)
{
    circle c = {n, tc_new_n(arena, double, (size_t)n), tc_new_n(arena, double, (size_t)n)};
    for (int64_t k = 0; k < n; k++) {
        double angle = 2 * 3.14159265358979323846 * (double)k / (double)n;
        bool up = 4 * k == n, back = 2 * k == n, down = 4 * k == 3 * n;
        c.cos[k] = up || down ? 0 : back ? -1 : ti_cos(angle);
        c.sin[k] = up ? 1 : down ? -1 : back ? 0 : ti_sin(angle);
    }
    return c;
}

typedef struct complex_line {
    double *real, *imag;
} complex_line;

/* n_out values of the transform of c->n values at stride `step`, in place. */
static void transform(const circle *c, complex_line x, int64_t at, int64_t step, int64_t n_out,
                      double sign, complex_line work)
{
    for (int64_t o = 0; o < n_out; o++) {
        double real = 0, imag = 0;
        for (int64_t i = 0; i < c->n; i++) {
            int64_t k = i * o % c->n;
            double u = c->cos[k], v = -sign * c->sin[k];
            double a = x.real[at + i * step], b = x.imag[at + i * step];
            real += a * u - b * v;
            imag += a * v + b * u;
        }
        work.real[o] = real;
        work.imag[o] = imag;
    }
    for (int64_t o = 0; o < n_out; o++) {
        x.real[at + o * step] = work.real[o];
        x.imag[at + o * step] = work.imag[o];
    }
}

/* x [n, h, w]; of every row only `width` values are needed. */
static void transform_planes(tc_call *call, complex_line x, int64_t width, double sign)
{
    const int64_t *dim = call->in[0].type->dim;
    int64_t h = dim[1], w = dim[2], longest = ti_max_i64(h, w);
    circle rows = circle_of(call->scratch, w), columns = circle_of(call->scratch, h);
    complex_line work = {tc_new_n(call->scratch, double, (size_t)longest),
                         tc_new_n(call->scratch, double, (size_t)longest)};
    for (int64_t r = 0; r < dim[0] * h; r++)
        transform(&rows, x, r * w, 1, width, sign, work);
    for (int64_t n = 0; n < dim[0]; n++)
        for (int64_t k = 0; k < width; k++)
            transform(&columns, x, n * h * w + k, w, h, sign, work);
    for (int64_t r = 0; r < dim[0] * h; r++) {
        ti_write_reals(call->out[0], r * width, (size_t)width, x.real + r * w);
        ti_write_reals(call->out[1], r * width, (size_t)width, x.imag + r * w);
    }
}

static double *reals_of(tc_call *call, tc_tensor t)
{
    size_t n = (size_t)tc_type_count(t.type);
    double *x = tc_new_n(call->scratch, double, n);
    ti_read_f64(t, 0, n, x);
    return x;
}

void ti_num_tosa_fft2d(tc_call *call)
{
    const tc_attr_tosa_fft *a = call->attr;
    complex_line x = {reals_of(call, call->in[0]), reals_of(call, call->in[1])};
    transform_planes(call, x, call->in[0].type->dim[2], a->inverse ? -1 : 1);
}

void ti_num_tosa_rfft2d(tc_call *call)
{
    size_t n = (size_t)tc_type_count(call->in[0].type);
    complex_line x = {reals_of(call, call->in[0]), tc_new_n(call->scratch, double, n)};
    transform_planes(call, x, call->in[0].type->dim[2] / 2 + 1, 1);
}
