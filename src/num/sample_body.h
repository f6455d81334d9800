/* SPDX-License-Identifier: Apache-2.0 */
/* sample_body.h -- grid sampling in working type T; sample.c includes it per type. */

/* Grid coordinate to an index of an axis of n elements.  The two- and three-axis forms of PyTorch
 * round differently, which matters half-way between two elements. */
static T NAME(unscale)(T at, int64_t n, int axes, bool align_corners)
{
    T size = (T)n;
    if (axes == 2)
        return align_corners ? (at + 1) * ((size - 1) / 2) : (at + 1) * (size / 2) - (T)0.5;
    return align_corners ? (at + 1) / 2 * (size - 1) : ((at + 1) * size - 1) / 2;
}

/* Into 0 .. n - 1; NaN becomes the first index of a plane and the last of a volume. */
static T NAME(clip)(T at, int64_t n, int axes)
{
    T last = (T)(n - 1);
    if (at != at)
        return axes == 2 ? 0 : last;
    at = at > 0 ? at : 0;
    return at < last ? at : last;
}

/* Reflected at the ends until it is between them. */
static T NAME(mirror)(T at, int64_t n, int axes, bool align_corners)
{
    T low = align_corners ? 0 : (T)-0.5, span = align_corners ? (T)(n - 1) : (T)n;
    if (span <= 0)
        return 0;
    at = ABS(at - low);
    T extra = axes == 2 ? at - FLOOR(at / (2 * span)) * (2 * span) : REMAINDER(at, 2 * span);
    return (extra < 2 * span - extra ? extra : 2 * span - extra) + low;
}

static T NAME(bound)(const tc_attr_grid *a, T at, int64_t n, int axes)
{
    if (a->pad == TC_sample_pad_border)
        return NAME(clip)(at, n, axes);
    if (a->pad == TC_sample_pad_reflection)
        return NAME(clip)(NAME(mirror)(at, n, axes, a->align_corners), n, axes);
    return at;
}

/* Up to four indices along one axis and their weights; -1 is outside, which reads 0. */
typedef struct NAME(taps) {
    int n;
    int64_t place[4];
    T weight[4];
} NAME(taps);

static void NAME(add_tap)(NAME(taps) *t, T at, int64_t n, T weight)
{
    bool inside = at >= 0 && at <= (T)(n - 1);
    t->place[t->n] = inside ? (int64_t)at : -1;
    t->weight[t->n++] = weight;
}

static NAME(taps) NAME(cubic)(const tc_attr_grid *a, T at, int64_t n)
{
    T low = FLOOR(at), t = at - low, c = (T)-0.75;
    const T far = t + 1, near = 1 - t, beyond = 2 - t;
    const T weight[] = {((c * far - 5 * c) * far + 8 * c) * far - 4 * c,
                        ((c + 2) * t - (c + 3)) * t * t + 1,
                        ((c + 2) * near - (c + 3)) * near * near + 1,
                        ((c * beyond - 5 * c) * beyond + 8 * c) * beyond - 4 * c};
    NAME(taps) taps = {0};
    for (int i = 0; i < 4; i++)
        NAME(add_tap)(&taps, NAME(bound)(a, low - 1 + (T)i, n, 2), n, weight[i]);
    return taps;
}

static NAME(taps) NAME(taps_at)(const tc_attr_grid *a, T coordinate, int64_t n, int axes)
{
    NAME(taps) taps = {0};
    T at = NAME(unscale)(coordinate, n, axes, a->align_corners);
    if (a->mode == TC_sample_mode_bicubic)
        return NAME(cubic)(a, at, n);
    at = NAME(bound)(a, at, n, axes);
    if (a->mode == TC_sample_mode_nearest)
        NAME(add_tap)(&taps, ROUND(at), n, 1);
    else {
        T low = FLOOR(at);
        NAME(add_tap)(&taps, low, n, low + 1 - at);
        NAME(add_tap)(&taps, low + 1, n, at - low);
    }
    return taps;
}

/* The weighted sum over the taps of three axes.  A NaN weight makes the result NaN in a plane even
 * outside, as in PyTorch, and not in a volume. */
static T NAME(read)(const NAME(taps) t[3], const int64_t extent[3], int axes, const T *plane)
{
    T sum = 0;
    for (int i = 0; i < t[0].n; i++)
        for (int j = 0; j < t[1].n; j++) {
            T part = 0;
            int64_t d = t[0].place[i], h = t[1].place[j];
            for (int k = 0; k < t[2].n; k++) {
                int64_t w = t[2].place[k];
                bool inside = d >= 0 && h >= 0 && w >= 0;
                if (inside || axes == 2)
                    part +=
                        t[2].weight[k] * (inside ? plane[(d * extent[1] + h) * extent[2] + w] : 0);
            }
            if (axes == 2 || (d >= 0 && h >= 0))
                sum += t[0].weight[i] * t[1].weight[j] * part;
        }
    return sum;
}

static void NAME(grid_sample)(const tc_attr_grid *a, const tc_type *xt, const tc_type *yt,
                              const T *x, const T *grid, T *y)
{
    int axes = xt->rank - 2;
    int64_t extent[3] = {1, 1, 1}, places = 1, plane = 1, channels = xt->dim[1];
    for (int i = 0; i < axes; i++) {
        extent[3 - axes + i] = xt->dim[2 + i];
        plane *= xt->dim[2 + i];
        places *= yt->dim[2 + i];
    }
    for (int64_t n = 0; n < xt->dim[0]; n++)
        for (int64_t p = 0; p < places; p++, grid += axes) {
            NAME(taps) t[3] = {{.n = 1, .weight = {1}}};
            for (int i = 0; i < axes; i++)
                t[2 - i] = NAME(taps_at)(a, grid[i], extent[2 - i], axes);
            for (int64_t c = 0; c < channels; c++)
                y[(n * channels + c) * places + p] =
                    NAME(read)(t, extent, axes, x + (n * channels + c) * plane);
        }
}

#undef NAME
#undef T
#undef FLOOR
#undef ROUND
#undef ABS
#undef REMAINDER
