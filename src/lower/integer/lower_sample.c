/* SPDX-License-Identifier: Apache-2.0 */
/* lower_sample.c -- reading quantized images or volumes at the positions of a quantized grid, with
 * linear interpolation.
 *
 * Along every axis a coordinate is a position in units of 2^-14: the two neighbouring elements, and
 * their weights.  For each combination of axes GATHER reads all channels; they are weighted by the
 * product of the weights, again in units of 2^-14, and summed in 32 bits.  One rescale makes the
 * result, so what is rounded before it is far below a step. */
#include <math.h>

#include "../move/lower_move.h"
#include "arith.h"

enum { FRACTION = 14, UNIT = 1 << FRACTION };

/* Two positions along one axis, [n, points, 1], inside it; those outside have no share. */
typedef struct taps {
    tc_val place[2], share[2];
} taps;

static tc_val between(tc_build *lw, tc_val x, double lo, double hi)
{
    x = ti_b_tosa_maximum(lw, x, ti_b_single(lw, TC_i32, 3, lo));
    return ti_b_tosa_minimum(lw, x, ti_b_single(lw, TC_i32, 3, hi));
}

/* Grid codes [n, points, 1] as positions of an axis of n elements, in units. */
static tc_val unscaled(tc_build *lw, tc_val code, const tc_type *grid, int64_t n, bool corners)
{
    double half = (double)(corners ? n - 1 : n) / 2, factor = ti_scale_of(grid) * half * UNIT,
           first = (half - (corners ? 0 : 0.5)) * UNIT;
    double most = fmax(fabs((double)(grid->quant->lo - ti_zero_of(grid))),
                       fabs((double)(grid->quant->hi - ti_zero_of(grid)))) * factor;
    if (most + fabs(first) >= 0x1p29) {
        ti_lower_refuse(lw, "its indices do not fit 32 bits");
        return TC_NONE;
    }
    tc_val offset = ti_b_single(lw, TC_i32, 3, rint(first));
    if (factor <= 0) /* the only position there is */
        factor = 0x1p-40;
    return ti_b_tosa_add(lw, ti_put_rescale(lw, code, factor, ti_zero_of(grid), 0, TC_i32), offset);
}

static void add_tap(tc_build *lw, taps *t, int i, tc_val at, int64_t n, tc_val share)
{
    tc_val place = between(lw, at, 0, (double)(n - 1));
    tc_val inside = ti_b_tosa_equal(lw, place, at);
    t->place[i] = place;
    t->share[i] = ti_b_tosa_select(lw, inside, share, ti_b_single(lw, TC_i32, 3, 0));
}

static taps taps_at(tc_build *lw, tc_val code, const tc_type *grid, int64_t n,
                    const tc_attr_grid *a)
{
    static const tc_attr_tosa_shift down = {.round = false};
    taps t = {0};
    tc_val at = unscaled(lw, code, grid, n, a->align_corners),
           bits = ti_b_single(lw, TC_i32, 3, FRACTION);
    if (a->pad == TC_sample_pad_border)
        at = between(lw, at, 0, (double)(n - 1) * UNIT);
    tc_val low = ti_b_2(lw, tosa_arithmetic_right_shift, &down, at, bits);
    tc_val part = ti_b_tosa_sub(lw, at, ti_b_tosa_logical_left_shift(lw, low, bits));
    tc_val rest = ti_b_tosa_sub(lw, ti_b_single(lw, TC_i32, 3, UNIT), part),
           next = ti_b_tosa_add(lw, low, ti_b_single(lw, TC_i32, 3, 1));
    add_tap(lw, &t, 0, low, n, rest);
    add_tap(lw, &t, 1, next, n, part);
    return t;
}

typedef struct reading {
    tc_val values; /* [n, elements, c] */
    const tc_type *type;
    const taps *t; /* by axis, from the slowest on */
    const int64_t *extent;
    int axes;
} reading;

static tc_val read_taps(tc_build *lw, const reading *r, int axis, tc_val place, tc_val share,
                        tc_val sum)
{
    for (int i = 0; i < 2; i++) {
        tc_val at = r->t[axis].place[i], by = r->t[axis].share[i];
        if (place)
            at = ti_b_tosa_add(
                lw, ti_b_tosa_mul(lw, place, ti_b_single(lw, TC_i32, 3, (double)r->extent[axis])),
                at);
        if (share)
            by = ti_put_rescale(lw, ti_b_tosa_mul(lw, share, by), 1.0 / UNIT, 0, 0, TC_i32);
        if (axis + 1 < r->axes) {
            sum = read_taps(lw, r, axis + 1, at, by, sum);
            continue;
        }
        if (!at)
            return TC_NONE;
        tc_val index = ti_b_tosa_reshape(lw, at, 2, ti_b_type(lw, at)->dim);
        tc_val one = ti_put_gather(lw, r->values, index);
        one = ti_put_rescale(lw, one, 1, ti_zero_of(r->type), 0, TC_i32);
        one = ti_b_tosa_mul(lw, one, by);
        sum = sum ? ti_b_tosa_add(lw, sum, one) : one;
    }
    return sum;
}

void ti_lower_int_grid_sample(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_grid *a = node->attr;
    const tc_type *x = ti_lower_type(lw, node, 0), *grid = ti_lower_type(lw, node, 1),
                  *y = ti_lower_result(lw, node, 0);
    if (!ti_is_activation(x) || !ti_is_activation(grid) || !ti_is_activation(y))
        ti_lower_refuse(lw, "its operands or its result do not have one scale");
    else if (a->mode != TC_sample_mode_bilinear || a->pad == TC_sample_pad_reflection)
        ti_lower_refuse(lw, "only linear sampling without reflection has an integer form");
    else if (x->dtype != TC_i8 || y->dtype != TC_i8)
        ti_lower_refuse(lw, "shares of 14 bits are too coarse for 16-bit numbers");
    else if (!lw->lower->target->machine->can.gathers || !lw->lower->target->machine->can.selects)
        ti_lower_refuse(lw, "the machine has no gather");
    TC_STOP(lw);
    int axes = x->rank - 2;
    int64_t n = x->dim[0], c = x->dim[1], elements = 1, points = 1;
    for (int i = 0; i < axes; i++) {
        elements *= x->dim[2 + i];
        points *= y->dim[2 + i];
    }
    tc_val places =
        ti_b_tosa_reshape(lw, ti_lower_in(lw, node, 1), 3, (int64_t[]){n, points, axes});
    tc_val values = ti_b_tosa_reshape(lw, ti_lower_in(lw, node, 0), 3, (int64_t[]){n, c, elements});
    values = ti_b_tosa_transpose(lw, values, (int64_t[]){0, 2, 1});
    taps t[3];
    for (int i = 0; i < axes; i++) /* the last coordinate is of the first axis */
        t[i] = taps_at(lw, ti_b_tosa_slice_axis(lw, places, 2, axes - 1 - i, 1), grid,
                       x->dim[2 + i], a);
    reading r = {values, x, t, x->dim + 2, axes};
    tc_val sum = read_taps(lw, &r, 0, TC_NONE, TC_NONE, TC_NONE);
    sum = ti_put_rescale(lw, sum, ti_scale_factor(ti_scale_of(x), ti_scale_of(y)) / UNIT, 0,
                         ti_zero_of(y), y->dtype);
    sum = ti_b_tosa_transpose(lw, ti_put_codes(lw, sum, y->quant), (int64_t[]){0, 2, 1});
    out[0] = ti_b_tosa_reshape(lw, sum, y->rank, y->dim);
}
