/* SPDX-License-Identifier: Apache-2.0 */
/* window.h -- windows of up to three axes, as convolution, pooling and im2col see them.
 *
 * Position o and tap k of the window read input index  o * stride - before + k * dilation. Fewer
 * than three axes are the last ones; the others have extent 1. */
#ifndef TC_WINDOW_H
#define TC_WINDOW_H

#include "attr.h"
#include "../base/arena.h"

typedef struct tc_window {
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], before[3];
} tc_window;

/* The last n of three axes from a list of n; the others get `missing`.  `step` 2 reads every
 * second. */
static inline void ti_window_spread(const int64_t *list, int n, int step, int64_t missing, int64_t out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = i < 3 - n ? missing : list[(i - (3 - n)) * step];
}

static inline int64_t ti_window_taps(const tc_window *w)
{
    return w->kernel[0] * w->kernel[1] * w->kernel[2];
}
/* Positions are grouped in lines along the last axis. */
static inline int64_t ti_window_lines(const tc_window *w) { return w->out[0] * w->out[1]; }
static inline int64_t ti_window_plane(const tc_window *w) { return w->in[0] * w->in[1] * w->in[2]; }

/* Offset of the input line that tap (kd, kh) of output line `line` reads; -1: in the padding. */
static inline int64_t ti_window_line(const tc_window *w, int64_t line, int64_t kd, int64_t kh)
{
    int64_t d = line / w->out[1] * w->stride[0] - w->before[0] + kd * w->dilation[0];
    int64_t h = line % w->out[1] * w->stride[1] - w->before[1] + kh * w->dilation[1];
    if (d < 0 || d >= w->in[0] || h < 0 || h >= w->in[1])
        return -1;
    return (d * w->in[1] + h) * w->in[2];
}

/* The positions lo <= i < hi of a line where tap kw is inside the input, at i * stride + shift. */
typedef struct tc_inside {
    int64_t lo, hi, shift;
} tc_inside;

static inline tc_inside ti_window_inside(const tc_window *w, int64_t kw)
{
    int64_t stride = w->stride[2], shift = kw * w->dilation[2] - w->before[2];
    int64_t lo = shift < 0 ? (-shift + stride - 1) / stride : 0;
    int64_t hi = w->in[2] > shift ? (w->in[2] - shift - 1) / stride + 1 : 0;
    hi = ti_min_i64(hi, w->out[2]);
    return (tc_inside){ti_min_i64(lo, hi), hi, shift};
}

/* The column matrix of output lines first .. first + lines:
 *   col[(channel, tap)][position] = x[channel][input index], 0 in the padding,
 * or, by_tap, col[(tap, channel)][position]. */
void ti_gather_f32(const tc_window *w, const float *x, int64_t channels, int64_t first,
                   int64_t lines, bool by_tap, float *col);
void ti_gather_f64(const tc_window *w, const double *x, int64_t channels, int64_t first,
                   int64_t lines, bool by_tap, double *col);
void ti_gather_i64(const tc_window *w, const uint64_t *x, int64_t channels, int64_t first,
                   int64_t lines, bool by_tap, uint64_t *col);

#endif
