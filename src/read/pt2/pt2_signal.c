/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_signal.c -- importers of signal processing: windows, short-time Fourier transforms and their
 * inverse, running extremes. */
#include <math.h>

#include "pt2.h"

#include "../../base/real.h"

/* ---- windows ---- */

typedef enum window_kind { HANN, HAMMING, BLACKMAN, BARTLETT, KAISER } window_kind;

/* Modified Bessel function of the first kind, order 0: sum of ((x/2)^k / k!)^2. */
static double bessel_i0(double x)
{
    double sum = 1, term = 1;
    for (int k = 1; k < 500 && term > 1e-18 * sum; k++) {
        term *= x / (2 * k) * (x / (2 * k));
        sum += term;
    }
    return sum;
}

/* The window at index i of a symmetric one whose last index is `last`. */
static double window_at(window_kind kind, int64_t i, int64_t last, double a, double b)
{
    double t = 2 * ti_acos(-1) * (double)i / (double)last, r = 2 * (double)i / (double)last - 1;
    switch (kind) {
    case HANN:
        return 0.5 - 0.5 * ti_cos(t);
    case HAMMING:
        return a - b * ti_cos(t);
    case BLACKMAN:
        return 0.42 - 0.5 * ti_cos(t) + 0.08 * ti_cos(2 * t);
    case BARTLETT:
        return 1 - fabs(r);
    case KAISER:
        return bessel_i0(a * sqrt(fmax(0, 1 - r * r))) / bessel_i0(a);
    }
    return 0;
}

/* hann_window(window_length, periodic=True) and the like; row->extra is the kind.  A periodic
 * window is the symmetric one of one element more without its last. */
static void import_window(tc_pt2_node *n)
{
    window_kind kind = (window_kind)n->row->extra;
    int64_t length = ti_pt2_need_int(n, "window_length");
    bool periodic = ti_pt2_bool(n, "periodic", true);
    double a = kind == KAISER ? ti_pt2_float(n, "beta", 12) : ti_pt2_float(n, "alpha", 0.54);
    double b = kind == KAISER ? 0 : ti_pt2_float(n, "beta", 0.46);
    const tc_type *y = ti_pt2_result_type(n, 0);
    if (n->m.status != TC_OK || !y)
        return;
    if (y->rank != 1 || y->dim[0] != length || !ti_is_float(y->dtype)) {
        ti_b_bad(&n->m, TC_E_SHAPE, "the result is not a list of floats of the window's length");
        return;
    }
    float *v = tc_new_n(&n->m.ctx->arena, float, (size_t)length);
    for (int64_t i = 0; i < length; i++)
        v[i] = length == 1 ? 1 : (float)window_at(kind, i, length - !periodic, a, b);
    const tc_type *type = ti_type_make(n->m.ctx, TC_f32, 1, &length);
    tc_val w = ti_graph_const(n->m.g, type, v, NULL, n->m.loc);
    ti_pt2_result(n, ti_b_cast(&n->m, w, y->dtype));
}

/* ---- short-time Fourier transforms ---- */

typedef struct frames {
    int64_t length, hop; /* of a frame; from one to the next */
    tc_val window;       /* of `length` elements, or none */
    bool onesided, normalized;
} frames;

static tc_val padded(tc_pt2_node *n, tc_val x, int64_t axis, int64_t before, int64_t after)
{
    int64_t border[2 * TC_MAX_RANK] = {0};
    if (n->m.status != TC_OK || (!before && !after))
        return x;
    border[2 * axis] = before;
    border[2 * axis + 1] = after;
    tc_ints borders = ti_ints_copy(&n->m.ctx->arena, border, 2 * ti_b_type(&n->m, x)->rank);
    return ti_b_1(&n->m, pad, ti_b_attr(&n->m, pad, borders, TC_pad_mode_constant, 0), x);
}

/* The arguments of both directions; a window shorter than a frame is centred. */
static frames read_frames(tc_pt2_node *n, bool onesided)
{
    frames f = {.length = ti_pt2_need_int(n, "n_fft")};
    f.hop = ti_pt2_int(n, "hop_length", f.length / 4);
    f.normalized = ti_pt2_bool(n, "normalized", false);
    f.onesided = ti_pt2_bool(n, "onesided", onesided);
    int64_t width = ti_pt2_int(n, "win_length", f.length);
    f.window = ti_pt2_tensor_opt(n, "window");
    if (n->m.status == TC_OK &&
        (f.length < 1 || f.hop < 1 || width < 1 || width > f.length || f.length > 1 << 20))
        ti_b_bad(&n->m, TC_E_ARGUMENT, "frames of this length");
    TC_STOP_WITH(&n->m, f);
    if (!f.window && width < f.length)
        f.window = ti_b_full(&n->m, 1, &width, 1, TC_f32);
    int64_t before = (f.length - width) / 2;
    if (f.window)
        f.window = padded(n, f.window, 0, before, f.length - width - before);
    return f;
}

/* x [signals, samples] or [samples]: its frames, each times the window, transformed:
 * [signals, frequencies, frames], complex or as pairs. */
static void import_stft(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    bool complex_in = t->dtype == TC_c64;
    frames f = read_frames(n, !complex_in);
    TC_STOP(&n->m);
    int last = t->rank - 1;
    if (t->rank < 1 || t->rank > 2 || t->dim[last] < f.length) {
        ti_b_bad(&n->m, TC_E_SHAPE, "the signal is shorter than a frame, or no list of signals");
        return;
    }
    if (ti_pt2_bool(n, "center", false)) {
        ti_b_unsupported(&n->m, "centered frames inside the operator; torch.stft pads before it");
        return;
    }
    tc_val y = ti_b_1(&n->m, unfold, ti_b_attr(&n->m, unfold, last, f.length, f.hop), x);
    if (f.window)
        y = ti_b_mul(&n->m, y, f.window);
    bool real = f.onesided && !complex_in;
    if (!real && !complex_in && n->m.status == TC_OK)
        y = ti_b_complex(&n->m, y, ti_b_scalar(&n->m, TC_f32, 0));
    int64_t axis = last + 1;
    tc_ints axes = ti_ints_copy(&n->m.ctx->arena, &axis, 1);
    y = ti_b_1(&n->m, fft,
               ti_b_attr(&n->m, fft, axes,
                         real ? TC_fft_kind_real_to_complex : TC_fft_kind_forward,
                             f.normalized ? TC_fft_norm_by_sqrt_n : TC_fft_norm_none, 0), y);
    y = ti_b_swap(&n->m, y, last, last + 1);
    if (!ti_pt2_bool(n, "return_complex", false) && n->m.status == TC_OK) {
        const void *behind = ti_b_attr(&n->m, axis, ti_b_type(&n->m, y)->rank);
        tc_val re = ti_b_real(&n->m, y), im = ti_b_imag(&n->m, y);
        y = ti_b_2(&n->m, stack, behind, re, im);
    }
    ti_pt2_result(n, y);
}

/* Frames [signals, length, count] added up where they overlap: [signals, samples]. */
static tc_val overlapped(tc_pt2_node *n, tc_val x, const frames *f)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t count = t->dim[2], samples = f->length + f->hop * (count - 1);
    int64_t size[2] = {1, samples}, kernel[2] = {1, f->length}, one[2] = {1, 1}, none[2] = {0, 0},
            stride[2] = {1, f->hop}, out[2] = {t->dim[0], samples};
    tc_arena *a = &n->m.ctx->arena;
    const void *attr = ti_b_attr(&n->m, col2im, ti_ints_copy(a, size, 2),
                                 ti_ints_copy(a, kernel, 2), ti_ints_copy(a, one, 2),
                                     ti_ints_copy(a, none, 2), ti_ints_copy(a, stride, 2));
    return ti_b_reshape(&n->m, ti_b_1(&n->m, col2im, attr, x), 2, out);
}

/* The square of the window, laid over itself as the frames are: what their sum is divided by. */
static tc_val envelope(tc_pt2_node *n, const frames *f, int64_t count)
{
    int64_t shape[3] = {1, f->length, count}, column[3] = {1, f->length, 1};
    tc_val w = f->window;
    if (!w)
        return overlapped(n, ti_b_full(&n->m, 3, shape, 1, TC_f32), f);
    w = ti_b_reshape(&n->m, ti_b_mul(&n->m, w, w), 3, column);
    return overlapped(n, ti_b_expand(&n->m, w, 3, shape), f);
}

/* [signals, frequencies, frames] back to signals: every frame transformed, times the window, added
 * up, divided by the windows' squares; centered frames lose half of one at both ends. */
static void import_istft(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    frames f = read_frames(n, true);
    const tc_type *y = ti_pt2_result_type(n, 0);
    if (n->m.status != TC_OK || !y)
        return;
    const tc_type *t = ti_b_type(&n->m, x);
    if (t->dtype != TC_c64 || t->rank < 2 || t->rank > 3 || y->dtype == TC_c64) {
        ti_b_unsupported(&n->m,
                         "an inverse transform of other than complex frames to real signals");
        return;
    }
    if (t->rank == 2)
        x = ti_b_unsqueeze(&n->m, x, 0);
    x = ti_b_swap(&n->m, x, 1, 2);
    int64_t bins = f.length / 2 + 1, axis = 2, count = t->dim[t->rank - 1];
    if (!f.onesided)
        x = ti_pt2_slice(n, x, 2, 0, bins, 1);
    tc_ints axes = ti_ints_copy(&n->m.ctx->arena, &axis, 1);
    x = ti_b_1(&n->m, fft,
               ti_b_attr(&n->m, fft, axes, TC_fft_kind_complex_to_real,
                         f.normalized ? TC_fft_norm_by_sqrt_n : TC_fft_norm_by_n, f.length), x);
    if (f.window)
        x = ti_b_mul(&n->m, x, f.window);
    x = overlapped(n, ti_b_swap(&n->m, x, 1, 2), &f);
    tc_val weight = envelope(n, &f, count);
    TC_STOP(&n->m);
    int64_t total = ti_b_type(&n->m, x)->dim[1], half = f.length / 2,
            start = ti_pt2_bool(n, "center", true) ? half : 0;
    int64_t length = ti_pt2_int(n, "length", total - 2 * start), have;
    have = ti_min_i64(length, total - start);
    x = ti_pt2_slice(n, x, 1, start, start + have, 1);
    weight = ti_pt2_slice(n, weight, 1, start, start + have, 1);
    x = ti_b_div(&n->m, x, weight);
    x = padded(n, x, 1, 0, length - have);
    ti_pt2_result(n, ti_b_reshape_as(&n->m, x, y));
}

/* ---- running extremes ---- */

/* cummax, cummin: by doubling, after step k every element holds the extreme of the 2^k before it
 * and its index; of equals the later one.  NaN is the extreme from there on, as in maximum and
 * minimum. */
static void import_running(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), at = TC_NONE;
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t axis = ti_b_axis(&n->m, ti_pt2_need_int(n, "dim"), t->rank);
    int64_t extent = t->rank ? t->dim[axis] : 1, column[TC_MAX_RANK];
    for (int i = 0; i < TC_MAX_RANK; i++)
        column[i] = i == axis ? extent : 1;
    at = ti_b_arange(&n->m, extent, TC_i64);
    at = ti_b_reshape(&n->m, at, t->rank, column);
    at = ti_b_expand_as(&n->m, at, t);
    const void *join = ti_b_attr(&n->m, axis, axis);
    for (int64_t step = 1; step < extent && n->m.status == TC_OK; step *= 2) {
        tc_val head = ti_pt2_slice(n, x, axis, 0, step, 1);
        tc_val tail = ti_pt2_slice(n, x, axis, step, extent, 1);
        tc_val before = ti_pt2_slice(n, x, axis, 0, extent - step, 1);
        tc_val later = ti_b_op(&n->m, n->row->op, NULL, (tc_val[]){tail, before}, 2);
        tc_val best = !ti_is_float(t->dtype)     ? ti_b_where(&n->m, later, tail, before)
                      : n->row->op == TC_OP_ge ? ti_b_maximum(&n->m, tail, before)
                                               : ti_b_minimum(&n->m, tail, before);
        tc_val place = ti_pt2_slice(n, at, axis, step, extent, 1);
        tc_val place_before = ti_pt2_slice(n, at, axis, 0, extent - step, 1);
        tc_val where = ti_b_where(&n->m, later, place, place_before);
        tc_val first = ti_pt2_slice(n, at, axis, 0, step, 1);
        x = ti_b_2(&n->m, cat, join, head, best);
        at = ti_b_2(&n->m, cat, join, first, where);
    }
    TC_STOP(&n->m);
    ti_pt2_bind(n, 0, extent > 1 ? x : ti_b_identity(&n->m, x));
    if (n->n_result > 1)
        ti_pt2_bind(n, 1, at);
}

const tc_pt2_row tc_pt2_signal[] = {
    ROW("hann_window hann_window.periodic", import_window, const, HANN),
    ROW("hamming_window hamming_window.periodic hamming_window.periodic_alpha "
        "hamming_window.periodic_alpha_beta", import_window, const, HAMMING),
    ROW("blackman_window blackman_window.periodic", import_window, const, BLACKMAN),
    ROW("bartlett_window bartlett_window.periodic", import_window, const, BARTLETT),
    ROW("kaiser_window kaiser_window.periodic kaiser_window.beta", import_window, const, KAISER),
    ROW("stft stft.center", import_stft, fft, 0),
    ROW("istft", import_istft, fft, 0),
    ROW("cummax", import_running, ge, 0),
    ROW("cummin", import_running, le, 0),
    {0},
};
