/* SPDX-License-Identifier: Apache-2.0 */
/* attention_values.c -- see composite.h: rows of scores by v, through exponentials of 8 bits.
 *
 * e^(score - max) has 8 bits, the largest of a row all of them, and is multiplied with v directly.
 * The result, few elements, is divided by the sum of the rounded exponentials: a column of the same
 * product, if v can have a constant column. */
#include <math.h>

#include "composite.h"

#include "../../base/real.h"

/* e^-DEPTH is nothing; the column's constant, less the zero point of v. */
enum { TOP = 255, DEPTH = 8, COLUMN_BITS = 6, COLUMN = 1 << COLUMN_BITS };

/* 255 e^x, less 128, for x = step * (score - max).  The rounding error of one entry is carried to
 * the next, so that sums of many small values are right. */
static tc_val exponentials(tc_build *lw, const tc_rows *r)
{
    double entry[256] = {-128}, left = 0;
    for (int i = 1; i < 256; i++) {
        double x = TOP * ti_exp(DEPTH / 255.0 * (i - 255)) + left;
        entry[i] = fmin(TOP, rint(x));
        left = x - entry[i];
        entry[i] -= 128;
    }
    tc_val max = ti_put_row_max(lw, r->scores);
    tc_val index = ti_put_fused(lw, TC_OP_tosa_sub, (tc_term){r->scores, 0, 1},
                                (tc_term){max, 0, 1}, r->step * 255 / DEPTH, 127, TC_i8);
    tc_val e = ti_put_table(lw, index, TC_i8, entry, 256);
    return r->mask && e ? ti_b_tosa_select(lw, r->mask, e, ti_b_single(lw, TC_i8, 3, -128)) : e;
}

/* How many bits 1 / sum can have, so that |sum of e v| / sum, in steps of the result, stays below
 * 2^31 without a shift; 0: so few that it shows. */
static int bits_left(const tc_rows *r, int64_t keys, double v_scale, const tc_type *to)
{
    double most =
        fmax(127 - (double)r->v_zero, (double)r->v_zero + 128) * v_scale / ti_scale_of(to);
    int bits = (int)floor(31 - ti_log2(most * 1.01 + 1));
    double least = ldexp(v_scale / ti_scale_of(to), bits) / (TOP * (double)keys);
    return least >= 128 ? bits : 0;
}

/* e by v as i32, and COLUMN times the sum of each row of e: a further column of the product, or
 * summed up. */
static tc_val multiplied(tc_build *lw, const tc_rows *r, tc_val e, tc_val *row)
{
    int64_t out = ti_b_type(lw, r->v)->dim[2];
    int column = r->v_zero < COLUMN ? COLUMN : -COLUMN;
    tc_val v = ti_put_column(lw, r->v, r->v_zero, column);
    if (!v) {
        tc_val sum = ti_put_row_sum(lw, e, -128), bits = ti_b_like(lw, sum, TC_i32, COLUMN_BITS);
        *row = ti_b_tosa_logical_left_shift(lw, sum, bits);
        return ti_put_matrices(lw, e, -128, r->v, r->v_zero);
    }
    tc_val all = ti_put_matrices(lw, e, -128, v, r->v_zero);
    *row = ti_b_tosa_slice_axis(lw, all, 2, out, 1);
    if (column < 0)
        *row = ti_b_tosa_sub(lw, ti_b_like(lw, *row, TC_i32, 0), *row);
    return ti_b_tosa_slice_axis(lw, all, 2, 0, out);
}

tc_val ti_put_attended(tc_build *lw, const tc_rows *r, double v_scale, const tc_type *to)
{
    if (!r->scores || !r->v)
        return TC_NONE;
    tc_val e = exponentials(lw, r), row = TC_NONE, y = e ? multiplied(lw, r, e, &row) : e;
    if (!y || !row)
        return TC_NONE;
    int64_t keys = ti_b_type(lw, e)->dim[2];
    if (r->mask)
        row = ti_b_tosa_maximum(lw, row, ti_b_like(lw, row, TC_i32, COLUMN * TOP));
    /* the sum is COLUMN * TOP or more: its inverse times 2^zeros / 4 is below 2^31 */
    tc_inverse inv = ti_put_inverse(lw, row);
    tc_val less = ti_b_tosa_sub(lw, inv.zeros, ti_b_like(lw, inv.zeros, TC_i32, 2));
    tc_val big = ti_b_tosa_logical_left_shift(lw, inv.inverse, less);
    double unit = COLUMN * 4 * TC_INVERSE_UNIT * v_scale / ti_scale_of(to); /* of y * big */
    int bits = bits_left(r, ti_lower_longest(lw, keys), v_scale, to), shift = 0;
    if (bits) {
        big = ti_put_rescale(lw, big, ldexp(unit, bits), 0, 0, TC_i32);
        unit = ldexp(1, -bits);
    } else /* |y * big| is 2^8 steps of v at most */
        shift = (int)ceil(ti_log2(0x1p8 * v_scale / ti_scale_of(to) / unit)) - 29;
    y = ti_put_rescale(lw, ti_b_tosa_mul_shift(lw, y, big, shift), ldexp(unit, shift), 0,
                       ti_zero_of(to), to->dtype);
    return ti_put_codes(lw, y, to->quant);
}
