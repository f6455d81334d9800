/* SPDX-License-Identifier: Apache-2.0 */
/* plain_sample.c -- reading an image or a volume at the positions of a grid: along every axis a few
 * positions and their weights, computed in f32; for each combination a GATHER of all channels,
 * weighted and summed. */
#include <math.h>

#include "../move/lower_index.h"
#include "plain.h"

/* Positions along one axis, [n, points, 1], inside it, and their weights; those outside weigh
 * nothing. */
typedef struct taps {
    int n;
    tc_val place[4], weight[4];
} taps;

/* Grid coordinate to positions of an axis of n elements. */
static tc_val unscaled(tc_build *lw, tc_val at, int64_t n, bool align_corners)
{
    double half = (double)(align_corners ? n - 1 : n) / 2;
    at = ti_plain_scale(lw, ti_plain_add(lw, at, 1), half);
    return align_corners ? at : ti_plain_add(lw, at, -0.5);
}

/* Reflected at the ends until it is between them. */
static tc_val mirrored(tc_build *lw, tc_val at, int64_t n, bool align_corners)
{
    double low = align_corners ? 0 : -0.5, span = (double)(align_corners ? n - 1 : n);
    if (span <= 0)
        return ti_plain_scale(lw, at, 0);
    at = ti_b_tosa_abs(lw, ti_plain_add(lw, at, -low));
    tc_val turns = ti_b_tosa_floor(lw, ti_plain_scale(lw, at, 1 / (2 * span)));
    tc_val extra = ti_b_tosa_sub(lw, at, ti_plain_scale(lw, turns, 2 * span));
    return ti_plain_add(lw, ti_b_tosa_minimum(lw, extra, ti_plain_from(lw, 2 * span, extra)), low);
}

static tc_val bounded(tc_build *lw, tc_val at, int64_t n, const tc_attr_grid *a)
{
    if (a->pad == TC_sample_pad_reflection)
        at = mirrored(lw, at, n, a->align_corners);
    return a->pad == TC_sample_pad_zeros ? at : ti_put_clamp(lw, at, 0, (double)(n - 1));
}

static void add_tap(tc_build *lw, taps *t, tc_val at, int64_t n, tc_val weight, bool may_be_outside)
{
    if (may_be_outside) {
        tc_val place = ti_put_clamp(lw, at, 0, (double)(n - 1));
        tc_val inside = ti_b_tosa_equal(lw, place, at);
        weight = ti_b_tosa_select(lw, inside, weight, ti_plain_number(lw, weight, 0));
        at = place;
    }
    t->place[t->n] = at;
    t->weight[t->n++] = weight;
}

/* The cubic convolution kernel with a = -3/4, for distances up to 1 and from 1 to 2. */
static tc_val cubic_near(tc_build *lw, tc_val x)
{
    tc_val y = ti_plain_add(lw, ti_plain_scale(lw, x, 1.25), -2.25);
    return ti_plain_add(lw, ti_b_tosa_mul(lw, ti_b_tosa_mul(lw, y, x), x), 1);
}

static tc_val cubic_far(tc_build *lw, tc_val x)
{
    static const double c[] = {3, -6, 3.75, -0.75};
    return ti_plain_polynomial(lw, x, c, 4);
}

static taps cubic(tc_build *lw, tc_val at, int64_t n, const tc_attr_grid *a)
{
    tc_val low = ti_b_tosa_floor(lw, at), t = ti_b_tosa_sub(lw, at, low);
    tc_val weight[4] = {cubic_far(lw, ti_plain_add(lw, t, 1))};
    weight[1] = cubic_near(lw, t);
    weight[2] = cubic_near(lw, ti_plain_from(lw, 1, t));
    weight[3] = cubic_far(lw, ti_plain_from(lw, 2, t));
    taps out = {0};
    for (int i = 0; i < 4; i++)
        add_tap(lw, &out, bounded(lw, ti_plain_add(lw, low, i - 1), n, a), n, weight[i],
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
        tc_val one = ti_plain_number(lw, at, 1);
        add_tap(lw, &out, ti_plain_round(lw, at), n, one, zeros);
    } else {
        tc_val low = ti_b_tosa_floor(lw, at), part = ti_b_tosa_sub(lw, at, low);
        add_tap(lw, &out, low, n, ti_plain_from(lw, 1, part), zeros);
        add_tap(lw, &out, ti_plain_add(lw, low, 1), n, part, true);
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
            at = ti_b_tosa_add(lw, ti_plain_scale(lw, place, (double)extent[axis]), at);
        if (weight)
            by = ti_b_tosa_mul(lw, weight, by);
        if (axis + 1 < axes) {
            sum = read_taps(lw, values, t, extent, axes, axis + 1, at, by, sum);
            continue;
        }
        if (!at)
            return TC_NONE;
        const tc_type *shape = ti_b_type(lw, at);
        tc_val index = ti_b_tosa_cast(lw, ti_b_tosa_reshape(lw, at, 2, shape->dim), TC_i32);
        tc_val one = ti_b_tosa_mul(lw, ti_put_gather(lw, values, index), by);
        sum = sum ? ti_b_tosa_add(lw, sum, one) : one;
    }
    return sum;
}

void ti_lower_plain_grid_sample(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_grid *a = node->attr;
    const tc_type *x = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    int axes = x->rank - 2;
    int64_t n = x->dim[0], c = x->dim[1], elements = 1, points = 1;
    for (int i = 0; i < axes; i++) {
        elements *= x->dim[2 + i];
        points *= y->dim[2 + i];
    }
    if (y->dtype == TC_f64 || elements >= 1 << 24) {
        ti_lower_refuse(lw, "its indices do not fit f32");
        return;
    }
    tc_val grid =
        ti_b_tosa_reshape(lw, ti_plain_in(lw, node, 1, TC_f32, 0), 3, (int64_t[]){n, points, axes});
    tc_val values =
        ti_b_tosa_reshape(lw, ti_plain_in(lw, node, 0, TC_f32, 0), 3, (int64_t[]){n, c, elements});
    values = ti_b_tosa_transpose(lw, values, (int64_t[]){0, 2, 1});
    taps t[3];
    for (int i = 0; i < axes; i++) /* the last coordinate is of the first axis */
        t[i] = taps_at(lw, ti_b_tosa_slice_axis(lw, grid, 2, axes - 1 - i, 1), x->dim[2 + i], a);
    tc_val sum = read_taps(lw, values, t, x->dim + 2, axes, 0, TC_NONE, TC_NONE, TC_NONE);
    sum = ti_b_tosa_transpose(lw, sum, (int64_t[]){0, 2, 1});
    out[0] = ti_put_cast(lw, ti_b_tosa_reshape(lw, sum, y->rank, y->dim), y->dtype);
}
