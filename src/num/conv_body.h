/* SPDX-License-Identifier: Apache-2.0 */
/* conv_body.h -- convolution of elements T; conv.c includes it once per working type. */

/* Few output channels per group (depthwise): each tap adds a scaled input line to an output line.
 */
static void NAME(conv_lines)(const shape *s, const T *x, const T *weight, T *y)
{
    const tc_window *w = &s->window;
    int64_t width = w->out[2], stride = w->stride[2];
    for (int64_t c = 0; c < s->in_channels; c++, x += ti_window_plane(w))
        for (int64_t kd = 0; kd < w->kernel[0]; kd++)
            for (int64_t kh = 0; kh < w->kernel[1]; kh++)
                for (int64_t kw = 0; kw < w->kernel[2]; kw++) {
                    tc_inside at = ti_window_inside(w, kw);
                    T factor = *weight++;
                    for (int64_t i = 0; i < ti_window_lines(w); i++) {
                        int64_t line = ti_window_line(w, i, kd, kh);
                        if (line < 0)
                            continue;
                        T *out = y + i * width;
                        const T *from = x + line;
                        if (stride == 1)
                            for (int64_t j = at.lo; j < at.hi; j++)
                                out[j] += factor * from[j + at.shift];
                        else
                            for (int64_t j = at.lo; j < at.hi; j++)
                                out[j] += factor * from[j * stride + at.shift];
                    }
                }
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
    int64_t run = lines_at_once(w, depth);
    tc_mark mark = ti_arena_mark(scratch);
    T *col = ti_arena_raw(scratch, (size_t)(depth * run * width) * sizeof(T));
    for (int64_t first = 0; first < lines; first += run) {
        int64_t n = ti_min_i64(run, lines - first);
        NAME(ti_gather)(w, x, s->in_channels, first, n, col);
        NAME(ti_gemm)(scratch, s->out_channels, n * width, depth, weight, depth, 1, col, n * width,
                      1, y + first * width, plane);
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
            for (int64_t c = 0; c < s->out_channels; c++)
                NAME(conv_lines)(s, from, by + c * depth, to + c * out_plane);
        }
}

/* The window is on the result: transposed weights times x gives columns, which are summed back. x:
 * [batch, groups * in_channels, positions]   weight: [groups * in_channels, out_channels, taps] */
static void NAME(conv_transpose)(tc_arena *scratch, const shape *s, const T *x, const T *weight,
                                 const T *bias, T *y)
{
    const tc_window *w = &s->window;
    int64_t width = w->out[2], lines = ti_window_lines(w), places = lines * width;
    int64_t depth = s->out_channels * ti_window_taps(w), out_plane = ti_window_plane(w);
    int64_t run = lines_at_once(w, depth);
    NAME(start)(s, s->groups * s->out_channels, out_plane, bias, y);
    tc_mark mark = ti_arena_mark(scratch);
    T *col = ti_arena_raw(scratch, (size_t)(depth * run * width) * sizeof(T));
    for (int64_t n = 0; n < s->batch; n++)
        for (int64_t g = 0; g < s->groups; g++)
            for (int64_t first = 0; first < lines; first += run) {
                int64_t columns = ti_min_i64(run, lines - first) * width;
                memset(col, 0, (size_t)(depth * columns) * sizeof(T));
                NAME(ti_gemm)(scratch, depth, columns, s->in_channels,
                              weight + g * s->in_channels * depth, 1, depth,
                              x + (n * s->groups + g) * s->in_channels * places + first * width,
                              places, 1, col, columns);
                NAME(ti_scatter)(w, col, s->out_channels, first, columns / width,
                                 y + (n * s->groups + g) * s->out_channels * out_plane);
            }
    ti_arena_rewind(scratch, mark);
}

#undef NAME
#undef T
