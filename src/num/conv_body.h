/* SPDX-License-Identifier: Apache-2.0 */
/* conv_body.h -- convolution of elements T; conv.c includes it once per working type. */

/* out[i] += factor * from[i] where tap kw of a line is inside. */
static void NAME(add_line)(const tc_window *w, int64_t kw, T factor, const T *from, T *out)
{
    tc_inside at = ti_window_inside(w, kw);
    int64_t stride = w->stride[2];
    if (stride == 1)
        for (int64_t j = at.lo; j < at.hi; j++)
            out[j] += factor * from[j + at.shift];
    else
        for (int64_t j = at.lo; j < at.hi; j++)
            out[j] += factor * from[j * stride + at.shift];
}

/* Few output channels per group (depthwise): each term adds a scaled input plane to `sum`, each
 * block of terms that to y. */
static void NAME(conv_lines)(const shape *s, const T *x, const T *weight, T *sum, T *y)
{
    const tc_window *w = &s->window;
    int64_t width = w->out[2], lines = ti_window_lines(w), taps = ti_window_taps(w);
    int64_t depth = taps * s->in_channels, in_line = w->kernel[2] * w->kernel[1];
    for (int64_t k = 0; k < depth; k++) {
        int64_t tap = k / s->in_channels, c = k % s->in_channels;
        int64_t kd = tap / in_line, kh = tap / w->kernel[2] % w->kernel[1];
        if (k % TC_GEMM_DEPTH == 0)
            memset(sum, 0, (size_t)(lines * width) * sizeof(T));
        for (int64_t i = 0; i < lines; i++) {
            int64_t line = ti_window_line(w, i, kd, kh);
            if (line >= 0)
                NAME(add_line)(w, tap % w->kernel[2], weight[c * taps + tap],
                               x + c * ti_window_plane(w) + line, sum + i * width);
        }
        if ((k + 1) % TC_GEMM_DEPTH == 0 || k + 1 == depth)
            for (int64_t i = 0; i < lines * width; i++)
                y[i] += sum[i];
    }
}

/* [rows][(tap, channel)] from weights with these steps. */
static T *NAME(by_tap)(tc_arena *scratch, const T *weight, int64_t rows, int64_t row,
                       int64_t channels, int64_t channel, int64_t taps)
{
    T *out = ti_arena_raw(scratch, (size_t)(rows * taps * channels) * sizeof(T)), *to = out;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t t = 0; t < taps; t++)
            for (int64_t c = 0; c < channels; c++)
                *to++ = weight[r * row + c * channel + t];
    return out;
}

/* The others: weights times the column matrix, a run of output lines at a time. */
static void NAME(conv_columns)(tc_arena *scratch, const shape *s, const T *x, const T *weight, T *y)
{
    const tc_window *w = &s->window;
    int64_t width = w->out[2], lines = ti_window_lines(w), plane = lines * width;
    int64_t depth = s->in_channels * ti_window_taps(w);
    if (pointwise(w)) {
        NAME(ti_gemm)
        (scratch, s->out_channels, plane, depth, weight, depth, 1, x, plane, 1, y, plane);
        return;
    }
    int64_t run = lines_at_once(lines, width, depth);
    tc_mark mark = ti_arena_mark(scratch);
    T *col = ti_arena_raw(scratch, (size_t)(depth * run * width) * sizeof(T));
    const T *by = NAME(by_tap)(scratch, weight, s->out_channels, depth, s->in_channels,
                               ti_window_taps(w), ti_window_taps(w));
    for (int64_t first = 0; first < lines; first += run) {
        int64_t n = ti_min_i64(run, lines - first);
        NAME(ti_gather)(w, x, s->in_channels, first, n, true, col);
        NAME(ti_gemm)(scratch, s->out_channels, n * width, depth, by, depth, 1, col, n * width, 1,
                      y + first * width, plane);
    }
    ti_arena_rewind(scratch, mark);
}

static void NAME(start)(const shape *s, int64_t channels, int64_t plane, const T *bias, T *y)
{
    for (int64_t n = 0; n < s->batch; n++)
        for (int64_t c = 0; c < channels; c++)
            for (int64_t i = 0; i < plane; i++)
                *y++ = bias ? bias[c] : 0;
}

/* x: [batch, groups * in_channels, plane]   weight: [groups * out_channels, in_channels, taps] */
static void NAME(conv)(tc_arena *scratch, const shape *s, const T *x, const T *weight,
                       const T *bias, T *y)
{
    const tc_window *w = &s->window;
    int64_t in_plane = ti_window_plane(w), out_plane = ti_window_lines(w) * w->out[2];
    int64_t depth = s->in_channels * ti_window_taps(w);
    NAME(start)(s, s->groups * s->out_channels, out_plane, bias, y);
    for (int64_t n = 0; n < s->batch; n++)
        for (int64_t g = 0; g < s->groups; g++) {
            const T *from = x + (n * s->groups + g) * s->in_channels * in_plane;
            const T *by = weight + g * s->out_channels * depth;
            T *to = y + (n * s->groups + g) * s->out_channels * out_plane;
            if (s->out_channels >= 4) {
                NAME(conv_columns)(scratch, s, from, by, to);
                continue;
            }
            tc_mark mark = ti_arena_mark(scratch);
            T *sum = ti_arena_raw(scratch, (size_t)out_plane * sizeof(T));
            for (int64_t c = 0; c < s->out_channels; c++)
                NAME(conv_lines)(s, from, by + c * depth, sum, to + c * out_plane);
            ti_arena_rewind(scratch, mark);
        }
}

/* The column matrix of result lines first .. first + lines of a transposed convolution, whose window
 * is on the result: col[(tap, channel)][position] = the x that this tap brings there, or 0. */
static void NAME(gather_back)(const tc_window *w, const T *x, int64_t channels, int64_t first,
                              int64_t lines, T *col)
{
    int64_t plane = w->out[0] * w->out[1] * w->out[2], line = w->kernel[1] * w->kernel[2];
    for (int64_t k = 0; k < ti_window_taps(w) * channels; k++) {
        int64_t tap = k / channels;
        const T *from = x + k % channels * plane;
        for (int64_t i = first; i < first + lines; i++) {
            int64_t d = source(w, 0, i / w->in[1], tap / line);
            int64_t h = source(w, 1, i % w->in[1], tap / w->kernel[2] % w->kernel[1]);
            const T *at = from + (d * w->out[1] + h) * w->out[2];
            for (int64_t j = 0; j < w->in[2]; j++) {
                int64_t v = d < 0 || h < 0 ? -1 : source(w, 2, j, tap % w->kernel[2]);
                *col++ = v < 0 ? 0 : at[v];
            }
        }
    }
}

/* x: [batch, groups * in_channels, positions]   weight: [groups * in_channels, out_channels, taps]
 */
static void NAME(conv_transpose)(tc_arena *scratch, const shape *s, const T *x, const T *weight,
                                 const T *bias, T *y)
{
    const tc_window *w = &s->window;
    int64_t width = w->in[2], lines = w->in[0] * w->in[1], plane = lines * width;
    int64_t taps = ti_window_taps(w), depth = s->in_channels * taps;
    int64_t places = ti_window_lines(w) * w->out[2], run = lines_at_once(lines, width, depth);
    NAME(start)(s, s->groups * s->out_channels, plane, bias, y);
    tc_mark mark = ti_arena_mark(scratch);
    T *col = ti_arena_raw(scratch, (size_t)(depth * run * width) * sizeof(T));
    for (int64_t g = 0; g < s->groups; g++) {
        tc_mark inner = ti_arena_mark(scratch);
        const T *by = NAME(by_tap)(scratch, weight + g * s->out_channels * depth, s->out_channels,
                                   taps, s->in_channels, s->out_channels * taps, taps);
        for (int64_t n = 0; n < s->batch; n++)
            for (int64_t first = 0; first < lines; first += run) {
                int64_t some = ti_min_i64(run, lines - first), at = n * s->groups + g;
                NAME(gather_back)(w, x + at * s->in_channels * places, s->in_channels, first, some,
                                  col);
                NAME(ti_gemm)(scratch, s->out_channels, some * width, depth, by, depth, 1, col,
                              some * width, 1, y + at * s->out_channels * plane + first * width,
                              plane);
            }
        ti_arena_rewind(scratch, inner);
    }
    ti_arena_rewind(scratch, mark);
}

#undef NAME
#undef T
