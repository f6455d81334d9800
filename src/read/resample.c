/* SPDX-License-Identifier: Apache-2.0 */
/* resample.c -- see resample.h.
 *
 * out[i] = sum over k of weight(i, k) * in[first(i) + k], weights of the filter at
 * (k + first + 1/2 - centre) / step, centre = (i + 1/2) * step, their sum 1; with 22 fraction bits,
 * halves up, clamped to 0 .. 255. */
#include "resample.h"

#include <math.h>

enum { BITS = 22 };

static double bilinear(double x)
{
    x = fabs(x);
    return x < 1 ? 1 - x : 0;
}

/* Keys' cubic with a = -1/2. */
static double bicubic(double x)
{
    const double a = -0.5;
    x = fabs(x);
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

static const struct {
    double (*at)(double x);
    double reach;
} filters[] = {[TC_FILTER_BILINEAR] = {bilinear, 1}, [TC_FILTER_BICUBIC] = {bicubic, 2}};

typedef struct taps {
    int32_t first, n;
    int32_t *weight;
} taps;

static taps *find_taps(tc_arena *arena, int32_t in, int32_t out, tc_filter filter)
{
    double step = (double)in / out, wide = step < 1 ? 1 : step;
    double reach = filters[filter].reach * wide;
    taps *all = tc_new_n(arena, taps, (size_t)out);
    double *w = tc_new_n(arena, double, (size_t)(2 * ceil(reach) + 3));
    for (int32_t i = 0; i < out; i++) {
        double centre = (i + 0.5) * step, sum = 0;
        int32_t first = (int32_t)(centre - reach + 0.5), last = (int32_t)(centre + reach + 0.5);
        first = first < 0 ? 0 : first;
        last = last > in ? in : last;
        taps *t = &all[i];
        *t = (taps){first, last - first, tc_new_n(arena, int32_t, (size_t)(last - first))};
        for (int32_t k = 0; k < t->n; k++)
            sum += w[k] = filters[filter].at((k + first - centre + 0.5) * (1 / wide));
        for (int32_t k = 0; k < t->n; k++) {
            double part = (sum != 0 ? w[k] / sum : w[k]) * (1 << BITS);
            t->weight[k] = (int32_t)(part < 0 ? part - 0.5 : part + 0.5);
        }
    }
    return all;
}

static uint8_t cut(int64_t sum)
{
    sum >>= BITS;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

static tc_picture across(tc_arena *arena, tc_picture from, int32_t w, tc_filter filter)
{
    tc_picture to = {from.h, w, from.c,
                     ti_arena_raw(arena, (size_t)from.h * (size_t)w * (size_t)from.c)};
    const taps *t = find_taps(arena, from.w, w, filter);
    for (int32_t y = 0; y < from.h; y++) {
        const uint8_t *row = from.pixel + (size_t)y * (size_t)from.w * (size_t)from.c;
        uint8_t *out = to.pixel + (size_t)y * (size_t)w * (size_t)from.c;
        for (int32_t x = 0; x < w; x++)
            for (int32_t c = 0; c < from.c; c++) {
                int64_t sum = 1 << (BITS - 1);
                for (int32_t k = 0; k < t[x].n; k++)
                    sum += (int64_t)row[(t[x].first + k) * from.c + c] * t[x].weight[k];
                *out++ = cut(sum);
            }
    }
    return to;
}

static tc_picture down(tc_arena *arena, tc_picture from, int32_t h, tc_filter filter)
{
    size_t row = (size_t)from.w * (size_t)from.c;
    tc_picture to = {h, from.w, from.c, ti_arena_raw(arena, (size_t)h * row)};
    const taps *t = find_taps(arena, from.h, h, filter);
    for (int32_t y = 0; y < h; y++)
        for (size_t x = 0; x < row; x++) {
            int64_t sum = 1 << (BITS - 1);
            for (int32_t k = 0; k < t[y].n; k++)
                sum += (int64_t)from.pixel[(size_t)(t[y].first + k) * row + x] * t[y].weight[k];
            to.pixel[(size_t)y * row + x] = cut(sum);
        }
    return to;
}

tc_picture ti_resample(tc_arena *arena, tc_picture from, int32_t h, int32_t w, tc_filter filter)
{
    if (w != from.w)
        from = across(arena, from, w, filter);
    return h != from.h ? down(arena, from, h, filter) : from;
}
