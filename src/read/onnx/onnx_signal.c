/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_signal.c -- builders of Fourier transforms, windows and mel filters. */
#include <math.h>

#include "../../base/real.h"
#include "../../num/load.h"
#include "onnx.h"

static const double PI = 3.14159265358979323846;

/* Real and imaginary part are along the last axis; extent 1: real. */
static tc_val as_complex(tc_build *m, tc_val x)
{
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, x);
    int last = t->rank - 1;
    tc_val real = ti_b_select(m, x, last, 0);
    if (t->dim[last] == 2) {
        tc_val imag = ti_b_select(m, x, last, 1);
        return ti_b_complex(m, real, imag);
    }
    tc_val zero = ti_b_scalar(m, t->dtype, 0);
    tc_val imag = ti_b_mul(m, real, zero);
    return ti_b_complex(m, real, imag);
}

static tc_val as_pairs(tc_build *m, tc_val c)
{
    TC_STOP_WITH(m, TC_NONE);
    int rank = ti_b_type(m, c)->rank;
    tc_val real = ti_b_real(m, c), imag = ti_b_imag(m, c);
    return ti_b_op(m, TC_OP_stack, ti_b_attr(m, axis, rank), (tc_val[]){real, imag}, 2);
}

static tc_val transform(tc_build *m, tc_val x, int64_t axis, tc_field_fft_kind kind, int64_t length)
{
    bool back = kind == TC_fft_kind_inverse || kind == TC_fft_kind_complex_to_real;
    tc_attr_fft *a = ti_b_attr(m, fft, .axes = ti_ints_copy(&m->ctx->arena, &axis, 1), .kind = kind,
                               .last = length, .norm = back ? TC_fft_norm_by_n : TC_fft_norm_none);
    return ti_b_1(m, fft, a, x);
}

/* The axis cut or filled up with zeros to that length. */
static tc_val fitted(tc_build *m, tc_val x, int axis, int64_t length)
{
    TC_STOP_WITH(m, TC_NONE);
    int64_t pad[2 * TC_MAX_RANK] = {0};
    pad[2 * axis + 1] = length - ti_b_type(m, x)->dim[axis];
    return ti_b_pad(m, x, pad, 0);
}

void ti_onnx_build_dft(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0);
    bool inverse = ti_onnx_int(n, "inverse", 0), onesided = ti_onnx_int(n, "onesided", 0);
    int64_t where = n->version >= 20 ? ti_onnx_settled_int(n, 2, -2) : ti_onnx_int(n, "axis", 1);
    int64_t length = ti_onnx_settled_int(n, 1, 0);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    if (t->rank < 2 || (t->dim[t->rank - 1] != 1 && t->dim[t->rank - 1] != 2)) {
        ti_b_bad(m, TC_E_SHAPE, "a transform of what has no real and imaginary parts");
        return;
    }
    if (t->dtype != TC_f32) {
        ti_b_unsupported(m, "a Fourier transform of %s; float is supported",
                         tc_dtypes[t->dtype].name);
        return;
    }
    int axis = ti_b_axis(m, where, t->rank);
    if (axis == t->rank - 1) {
        ti_b_bad(m, TC_E_ARGUMENT, "a transform along the axis of real and imaginary parts");
        return;
    }
    int64_t have = t->dim[axis];
    if (onesided && inverse) {
        length = length ? length : 2 * (have - 1);
        x = fitted(m, x, axis, length / 2 + 1);
        x = transform(m, as_complex(m, x), axis, TC_fft_kind_complex_to_real, length);
        ti_onnx_bind(n, 0, ti_b_unsqueeze(m, x, t->rank - 1));
        return;
    }
    x = fitted(m, x, axis, length ? length : have);
    if (onesided) {
        x = ti_b_select(m, x, t->rank - 1, 0);
        x = transform(m, x, axis, TC_fft_kind_real_to_complex, 0);
    } else {
        tc_field_fft_kind kind = inverse ? TC_fft_kind_inverse : TC_fft_kind_forward;
        x = transform(m, as_complex(m, x), axis, kind, 0);
    }
    ti_onnx_bind(n, 0, as_pairs(m, x));
}

/* Frames of a real signal [batch, length, 1], each times the window, transformed. */
void ti_onnx_build_stft(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), window = ti_onnx_in(n, 2);
    int64_t step = ti_onnx_settled_int(n, 1, 0), length = ti_onnx_settled_int(n, 3, 0);
    bool onesided = ti_onnx_int(n, "onesided", 1);
    TC_STOP(m);
    const tc_type *t = ti_b_type(m, x);
    bool real = t->rank == 2 || (t->rank == 3 && t->dim[2] == 1);
    if (!real || t->dtype != TC_f32) {
        ti_b_unsupported(m, "STFT of complex numbers, or of other than floats");
        return;
    }
    int64_t extent = t->dim[1];
    length = length ? length : window ? tc_type_count(ti_b_type(m, window)) : extent;
    if (step < 1 || length < 1 || length > extent) {
        ti_b_bad(m, TC_E_ARGUMENT, "frames of %" PRId64 " by %" PRId64, length, step);
        return;
    }
    x = ti_b_reshape(m, x, 2, t->dim);
    x = ti_b_1(m, unfold, ti_b_attr(m, unfold, 1, length, step), x);
    x = window ? ti_b_mul(m, x, window) : x;
    if (onesided)
        x = transform(m, x, 2, TC_fft_kind_real_to_complex, 0);
    else {
        tc_val zero = ti_b_scalar(m, TC_f32, 0);
        tc_val none = ti_b_mul(m, x, zero);
        x = transform(m, ti_b_complex(m, x, none), 2, TC_fft_kind_forward, 0);
    }
    ti_onnx_bind(n, 0, as_pairs(m, x));
}

/* sum of a[k] cos(2 pi k i / N); extra: 0 Hann, 1 Hamming, 2 Blackman */
void ti_onnx_build_window(tc_onnx_node *n)
{
    static const double a[][3] = {{0.5, -0.5, 0}, {25.0 / 46, -21.0 / 46, 0}, {0.42, -0.5, 0.08}};
    const double *share = a[(int)n->row->extra];
    int64_t size = ti_onnx_settled_int(n, 0, 0);
    tc_dtype dtype = ti_onnx_need_dtype(n, ti_onnx_int(n, "output_datatype", 1));
    bool periodic = ti_onnx_int(n, "periodic", 1);
    TC_STOP(&n->m);
    if (size < 0 || size > 1 << 24) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "a window of %" PRId64, size);
        return;
    }
    tc_tensor t = ti_b_tensor(&n->m, dtype, 1, &size);
    double all = (double)(periodic ? size : size - 1);
    for (int64_t i = 0; i < size; i++) {
        double angle = all > 0 ? 2 * PI * (double)i / all : 0;
        ti_store_f64(t, i, share[0] + share[1] * ti_cos(angle) + share[2] * ti_cos(2 * angle));
    }
    ti_onnx_bind(n, 0, ti_b_const(&n->m, t, NULL));
}

/* Triangles evenly spaced by mel(f) = 2595 log10(1 + f / 700), their edges on bins of the DFT. */
void ti_onnx_build_mel_weights(tc_onnx_node *n)
{
    tc_build *m = &n->m;
    int64_t bands = ti_onnx_settled_int(n, 0, 0), length = ti_onnx_settled_int(n, 1, 0),
            rate = ti_onnx_settled_int(n, 2, 0);
    tc_floats lower = ti_onnx_settled_floats(n, 3), upper = ti_onnx_settled_floats(n, 4);
    tc_dtype dtype = ti_onnx_need_dtype(n, ti_onnx_int(n, "output_datatype", 1));
    TC_STOP(m);
    int64_t dim[2] = {length / 2 + 1, bands};
    if (bands < 1 || length < 1 || rate < 1 || lower.n != 1 || upper.n != 1 ||
        ti_dims_count(2, dim) < 0 || bands > 1 << 16 || length > 1 << 24) {
        ti_b_bad(m, TC_E_ARGUMENT, "mel weights of %" PRId64 " bands", bands);
        return;
    }
    tc_tensor t = ti_b_tensor(m, dtype, 2, dim);
    int64_t *edge = tc_new_n(&m->ctx->arena, int64_t, (size_t)bands + 2);
    double low = 2595 * ti_log10(1 + lower.v[0] / 700), high = 2595 * ti_log10(1 + upper.v[0] / 700);
    for (int64_t i = 0; i < bands + 2; i++) {
        double hertz =
            700 * (ti_pow(10, (low + (double)i * (high - low) / (double)(bands + 2)) / 2595) - 1);
        double at = floor((double)(length + 1) * hertz / (double)rate);
        if (!(fabs(at) < 0x1p40)) {
            ti_b_bad(m, TC_E_ARGUMENT, "mel weights from %g to %g hertz", lower.v[0], upper.v[0]);
            return;
        }
        edge[i] = (int64_t)at;
    }
    for (int64_t b = 0; b < bands; b++) {
        int64_t from = edge[b], top = edge[b + 1], to = edge[b + 2];
        for (int64_t f = 0; f < dim[0]; f++) {
            double w = 0;
            if (from == top ? f == top : f >= from && f <= top)
                w = from == top ? 1 : (double)(f - from) / (double)(top - from);
            if (to != top && f >= top && f < to)
                w = (double)(to - f) / (double)(to - top);
            ti_store_f64(t, f * bands + b, w);
        }
    }
    ti_onnx_bind(n, 0, ti_b_const(m, t, NULL));
}
