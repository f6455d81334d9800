/* SPDX-License-Identifier: Apache-2.0 */
/* plain_sample.c -- reading an image or a volume at the positions of a grid: along every axis a few
 * positions and their weights, computed in f32; for each combination a GATHER of all channels,
 * weighted and summed. */
#include <math.h>

#include "../move/lower_index.h"
#include "plain.h"

/* Places along one axis, [n, points, 1], inside it, and their weights; those outside weigh nothing.
 */
typedef struct taps {
    int n;
    tc_val place[4], weight[4];
} taps;

/* Grid coordinate to positions of an axis of n elements. */
static tc_val unscaled(tc_build *lw, tc_val at, int64_t n, bool align_corners)
{
    double half = (double)(align_corners ? n - 1 : n) / 2;
    at = tc_plain_scale(lw, tc_plain_add(lw, at, 1), half);
    return align_corners ? at : tc_plain_add(lw, at, -0.5);
}

/* Mirrored at the ends until it lies between them. */
static tc_val mirrored(tc_build *lw, tc_val at, int64_t n, bool align_corners)
{
    double low = align_corners ? 0 : -0.5, span = (double)(align_corners ? n - 1 : n);
    if (span <= 0)
        return tc_plain_scale(lw, at, 0);
    at = tc_b_tosa_abs(lw, tc_plain_add(lw, at, -low));
    tc_val turns = tc_b_tosa_floor(lw, tc_plain_scale(lw, at, 1 / (2 * span)));
    tc_val extra = tc_b_tosa_sub(lw, at, tc_plain_scale(lw, turns, 2 * span));
    return tc_plain_add(lw, tc_b_tosa_minimum(lw, extra, tc_plain_from(lw, 2 * span, extra)), low);
}

static tc_val bounded(tc_build *lw, tc_val at, int64_t n, const tc_attr_grid *a)
{
    if (a->pad == TC_sample_pad_reflection)
        at = mirrored(lw, at, n, a->align_corners);
    return a->pad == TC_sample_pad_zeros ? at : tc_put_clamp(lw, at, 0, (double)(n - 1));
}

static void add_tap(tc_build *lw, taps *t, tc_val at, int64_t n, tc_val weight, bool may_be_outside)
{
    if (may_be_outside) {
        tc_val place = tc_put_clamp(lw, at, 0, (double)(n - 1));
        tc_val inside = tc_b_tosa_equal(lw, place, at);
        weight = tc_b_tosa_select(lw, inside, weight, tc_plain_number(lw, weight, 0));
        at = place;
    }
    t->place[t->n] = at;
    t->weight[t->n++] = weight;
}

/* The cubic convolution kernel with a = -3/4, for distances up to 1 and from 1 to 2. */
static tc_val cubic_near(tc_build *lw, tc_val x)
{
    tc_val y = tc_plain_add(lw, tc_plain_scale(lw, x, 1.25), -2.25);
    return tc_plain_add(lw, tc_b_tosa_mul(lw, tc_b_tosa_mul(lw, y, x), x), 1);
}

static tc_val cubic_far(tc_build *lw, tc_val x)
{
    static const double c[] = {3, -6, 3.75, -0.75};
    return tc_plain_polynomial(lw, x, c, 4);
}

static taps cubic(tc_build *lw, tc_val at, int64_t n, const tc_attr_grid *a)
{
    tc_val low = tc_b_tosa_floor(lw, at), t = tc_b_tosa_sub(lw, at, low);
    tc_val weight[4] = {cubic_far(lw, tc_plain_add(lw, t, 1))};
    weight[1] = cubic_near(lw, t);
    weight[2] = cubic_near(lw, tc_plain_from(lw, 1, t));
    weight[3] = cubic_far(lw, tc_plain_from(lw, 2, t));
    taps out = {0};
    for (int i = 0; i < 4; i++)
        add_tap(lw, &out, bounded(lw, tc_plain_add(lw, low, i - 1), n, a), n, weight[i],
                a->pad == TC_sample_pad_zeros);
    return out;
}

static taps taps_at(tc_build *lw, tc_val coordinate, int64_t n, const tc_attr_grid *a)
{
    tc_val at = unscaled(lw, coordinate, n, a->align_corners);
    bool zeros = a->pad == TC_sample_pad_zeros;
    if (a->mode == TC_sample_mode_bicubic)
        return cubic(lw, at, n, a);
    at = bounded(lw, at, n, a);
    taps out = {0};
    if (a->mode == TC_sample_mode_nearest) {
        tc_val one = tc_plain_number(lw, at, 1);
        add_tap(lw, &out, tc_plain_round(lw, at), n, one, zeros);
    } else {
        tc_val low = tc_b_tosa_floor(lw, at), part = tc_b_tosa_sub(lw, at, low);
        add_tap(lw, &out, low, n, tc_plain_from(lw, 1, part), zeros);
        add_tap(lw, &out, tc_plain_add(lw, low, 1), n, part, true);
    }
    return out;
}

/* values [n, elements, c] read at the positions of all axes, from the slowest on. */
static tc_val read_taps(tc_build *lw, tc_val values, const taps *t, const int64_t *extent, int axes,
                        int axis, tc_val place, tc_val weight, tc_val sum)
{
    for (int i = 0; i < t[axis].n; i++) {
        tc_val at = t[axis].place[i], by = t[axis].weight[i];
        if (place)
            at = tc_b_tosa_add(lw, tc_plain_scale(lw, place, (double)extent[axis]), at);
        if (weight)
            by = tc_b_tosa_mul(lw, weight, by);
        if (axis + 1 < axes) {
            sum = read_taps(lw, values, t, extent, axes, axis + 1, at, by, sum);
            continue;
        }
        if (!at)
            return TC_NONE;
        const tc_type *shape = tc_b_type(lw, at);
        tc_val index = tc_b_tosa_cast(lw, tc_b_tosa_reshape(lw, at, 2, shape->dim), TC_i32);
        tc_val one = tc_b_tosa_mul(lw, tc_put_gather(lw, values, index), by);
        sum = sum ? tc_b_tosa_add(lw, sum, one) : one;
    }
    return sum;
}

void tc_lower_plain_grid_sample(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_grid *a = node->attr;
    const tc_type *x = tc_lower_type(lw, node, 0), *y = tc_lower_result(lw, node, 0);
    int axes = x->rank - 2;
    int64_t n = x->dim[0], c = x->dim[1], elements = 1, points = 1;
    for (int i = 0; i < axes; i++) {
        elements *= x->dim[2 + i];
        points *= y->dim[2 + i];
    }
    if (y->dtype == TC_f64 || elements >= 1 << 24) {
        tc_lower_refuse(lw, "its indices do not fit f32");
        return;
    }
    tc_val grid =
        tc_b_tosa_reshape(lw, tc_plain_in(lw, node, 1, TC_f32, 0), 3, (int64_t[]){n, points, axes});
    tc_val values =
        tc_b_tosa_reshape(lw, tc_plain_in(lw, node, 0, TC_f32, 0), 3, (int64_t[]){n, c, elements});
    values = tc_b_tosa_transpose(lw, values, (int64_t[]){0, 2, 1});
    taps t[3];
    for (int i = 0; i < axes; i++) /* the last coordinate is of the first axis */
        t[i] = taps_at(lw, tc_b_tosa_slice_axis(lw, grid, 2, axes - 1 - i, 1), x->dim[2 + i], a);
    tc_val sum = read_taps(lw, values, t, x->dim + 2, axes, 0, TC_NONE, TC_NONE, TC_NONE);
    sum = tc_b_tosa_transpose(lw, sum, (int64_t[]){0, 2, 1});
    out[0] = tc_put_cast(lw, tc_b_tosa_reshape(lw, sum, y->rank, y->dim), y->dtype);
}
