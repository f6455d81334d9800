/* SPDX-License-Identifier: Apache-2.0 */
/* window_body.h -- gather and scatter of elements T; window.c includes it once per working type. */

/* One output line of one tap. */
static void NAME(gather_line)(const tc_window *w, tc_inside at, const T *line, T *out)
{
    int64_t stride = w->stride[2];
    memset(out, 0, (size_t)at.lo * sizeof(T));
    if (stride == 1)
        memcpy(out + at.lo, line + at.lo + at.shift, (size_t)(at.hi - at.lo) * sizeof(T));
    else
        for (int64_t i = at.lo; i < at.hi; i++)
            out[i] = line[i * stride + at.shift];
    memset(out + at.hi, 0, (size_t)(w->out[2] - at.hi) * sizeof(T));
}

void NAME(ti_gather)(const tc_window *w, const T *x, int64_t channels, int64_t first, int64_t lines,
                     bool by_tap, T *col)
{
    int64_t width = w->out[2], taps = ti_window_taps(w), tap = 0;
    for (int64_t c = 0; c < channels; c++, x += ti_window_plane(w), tap = 0)
        for (int64_t kd = 0; kd < w->kernel[0]; kd++)
            for (int64_t kh = 0; kh < w->kernel[1]; kh++)
                for (int64_t kw = 0; kw < w->kernel[2]; kw++) {
                    tc_inside at = ti_window_inside(w, kw);
                    int64_t row = by_tap ? tap++ * channels + c : c * taps + tap++;
                    T *to = col + row * lines * width;
                    for (int64_t i = 0; i < lines; i++, to += width) {
                        int64_t line = ti_window_line(w, first + i, kd, kh);
                        if (line < 0 || at.lo == at.hi)
                            memset(to, 0, (size_t)width * sizeof(T));
                        else
                            NAME(gather_line)(w, at, x + line, to);
                    }
                }
}

/* The inverse of a gather, adding:  x[channel][input index] += col[(channel, tap)][position]. */
static void NAME(scatter)(const tc_window *w, const T *col, int64_t channels, int64_t first,
                          int64_t lines, T *x)
{
    int64_t width = w->out[2], stride = w->stride[2];
    for (int64_t c = 0; c < channels; c++, x += ti_window_plane(w))
        for (int64_t kd = 0; kd < w->kernel[0]; kd++)
            for (int64_t kh = 0; kh < w->kernel[1]; kh++)
                for (int64_t kw = 0; kw < w->kernel[2]; kw++) {
                    tc_inside at = ti_window_inside(w, kw);
                    for (int64_t i = 0; i < lines; i++, col += width) {
                        int64_t line = ti_window_line(w, first + i, kd, kh);
                        for (int64_t j = at.lo; line >= 0 && j < at.hi; j++)
                            x[line + j * stride + at.shift] += col[j];
                    }
                }
}

#undef NAME
#undef T
