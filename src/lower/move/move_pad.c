/* SPDX-License-Identifier: Apache-2.0 */
/* move_pad.c -- borders, diagonals and triangles. */
#include "lower_move.h"

#include <math.h>

#include "../../num/load.h"

/* A real value as stored in type t. */
static double stored(double real, const tc_type *t)
{
    if (t->dtype == TC_bool)
        return real != 0;
    if (!t->quant) /* what no integer of the type is, as the typed program stores it */
        return ti_is_float(t->dtype) ? real : (double)ti_int_of(t->dtype, real);
    double v = rint(real / t->quant->scale[0]) + (double)t->quant->zero[0];
    double lo = (double)t->quant->lo, hi = (double)t->quant->hi;
    return v < lo ? lo : v > hi ? hi : v;
}

/* The elements before the first, or after the last, of an axis of extent n. */
static tc_val border(tc_build *lw, tc_val x, int axis, tc_field_pad_mode mode, int64_t count,
                     bool before)
{
    int64_t n = ti_b_type(lw, x)->dim[axis], times[TC_MAX_RANK];
    if (mode == TC_pad_mode_circular)
        return ti_b_tosa_slice_axis(lw, x, axis, before ? n - count : 0, count);
    if (mode == TC_pad_mode_reflect)
        return ti_put_reverse(
            lw, ti_b_tosa_slice_axis(lw, x, axis, before ? 1 : n - 1 - count, count), axis);
    for (int i = 0; i < TC_MAX_RANK; i++)
        times[i] = i == axis ? count : 1;
    return ti_b_tosa_tile(lw, ti_b_tosa_slice_axis(lw, x, axis, before ? 0 : n - 1, 1), times);
}

static tc_val extend(tc_build *lw, tc_val x, int axis, tc_field_pad_mode mode, int64_t before,
                     int64_t after)
{
    tc_val part[3];
    int n = 0;
    if (before > 0 && x)
        part[n++] = border(lw, x, axis, mode, before, true);
    part[n++] = x;
    if (after > 0 && x)
        part[n++] = border(lw, x, axis, mode, after, false);
    return ti_put_concat(lw, part, n, axis);
}

/* Borders are added first, then what negative ones crop is cut off. */
void ti_lower_pad(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_pad *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    tc_val x = ti_move_in(lw, node, 0);
    int64_t grown[2 * TC_MAX_RANK], start[TC_MAX_RANK];
    for (int i = 0; i < t->rank; i++) {
        int64_t before = a->pad.v[2 * i], after = a->pad.v[2 * i + 1];
        grown[2 * i] = before > 0 ? before : 0;
        grown[2 * i + 1] = after > 0 ? after : 0;
        start[i] = before < 0 ? -before : 0;
        if (a->mode != TC_pad_mode_constant)
            x = extend(lw, x, i, a->mode, before, after);
    }
    if (a->mode == TC_pad_mode_constant)
        x = ti_b_tosa_pad(lw, x, grown, stored(a->value, y));
    out[0] = ti_b_tosa_slice(lw, x, start, y->dim);
}

void ti_lower_diagonal(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_diagonal *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    int64_t step[TC_MAX_RANK], walk = 1;
    for (int i = t->rank - 1; i >= 0; i--) {
        step[i] = walk;
        walk *= t->dim[i];
    }
    tc_stride axis[TC_MAX_RANK];
    int n = 0;
    for (int i = 0; i < t->rank; i++)
        if (i != a->axis1 && i != a->axis2)
            axis[n++] = (tc_stride){t->dim[i], step[i]};
    axis[n] = (tc_stride){y->dim[n], step[a->axis1] + step[a->axis2]};
    int64_t offset = a->offset >= 0 ? a->offset * step[a->axis2] : -a->offset * step[a->axis1];
    out[0] = ti_put_strided(lw, ti_move_in(lw, node, 0), offset, y->rank, axis);
}

/* bool [1,..,h,w]: inside the triangle. */
static tc_val triangle(tc_build *lw, const tc_type *t, int64_t diagonal, bool lower, tc_dtype dtype)
{
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1}, h = t->dim[t->rank - 2],
            w = t->dim[t->rank - 1];
    dim[t->rank - 2] = h;
    dim[t->rank - 1] = w;
    double *in = tc_new_n(&lw->ctx->arena, double, (size_t)(h * w));
    diagonal = diagonal > w ? w : diagonal < -h ? -h : diagonal;
    for (int64_t i = 0; i < h * w; i++) {
        int64_t over = i % w - i / w - diagonal; /* > 0: above the diagonal */
        in[i] = lower ? over <= 0 : over >= 0;
    }
    return ti_b_numbers(lw, dtype, t->rank, dim, in);
}

/* Zero outside; if the target has no SELECT, quantized elements are multiplied by ones and zeros.
 */
static tc_val masked(tc_build *lw, const tc_node *node, bool lower)
{
    const tc_attr_tri *a = node->attr;
    const tc_type *y = ti_lower_result(lw, node, 0);
    tc_val x = ti_move_in(lw, node, 0);
    if (y->dtype == TC_bool)
        return ti_b_tosa_logical_and(lw, x, triangle(lw, y, a->diagonal, lower, TC_bool));
    if (!lw->lower->target->machine->can.selects && ti_is_activation(y)) {
        tc_val ones = triangle(lw, y, a->diagonal, lower, y->dtype);
        ones = ti_put_rescale(lw, ones, 1, 0, 0, TC_i32);
        x = ti_b_tosa_mul(lw, ti_put_rescale(lw, x, 1, ti_zero_of(y), 0, TC_i32), ones);
        return ti_put_rescale(lw, x, 1, 0, ti_zero_of(y), y->dtype);
    }
    tc_val zero = ti_b_single(lw, y->dtype, y->rank, stored(0, y));
    return ti_b_tosa_select(lw, triangle(lw, y, a->diagonal, lower, TC_bool), x, zero);
}

void ti_lower_tril(tc_build *lw, const tc_node *node, tc_val *out)
{
    out[0] = masked(lw, node, node->op == TC_OP_tril);
}
