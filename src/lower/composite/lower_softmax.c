/* SPDX-License-Identifier: Apache-2.0 */
/* lower_softmax.c -- softmax, log_softmax and logsumexp in integers.
 *
 * e^(x - max) as i16, from tables of 256 entries or from one of 513 where the target has it; its
 * sum in i32; the reciprocal or the logarithm of the sum once per row; then one product or
 * difference.  Within one step of the real result (i16: two) for rows of any shape, up to 65535
 * long. */
#include <math.h>

#include "composite.h"

#include "../../base/real.h"

enum { LONGEST = 65535 };          /* so that a sum of i16 fits i32 */
static const double depth = 10.75; /* e^-depth is below the last bit */

/* ---- e^(x - max) ---- */

/* x - max, times factor. */
static tc_val below_max(tc_build *lw, tc_val x, tc_val max, double factor, int64_t zero,
                        tc_dtype to)
{
    return ti_put_fused(lw, TC_OP_tosa_sub, (tc_term){x, 0, 1}, (tc_term){max, 0, 1}, factor, zero,
                        to);
}

/* Two bytes from two tables: 128 * (high + 128) + low. */
static tc_val two_tables(tc_build *lw, tc_val code, tc_val same_code, const int *entry)
{
    double high[256], low[256];
    for (int i = 0; i < 256; i++) {
        high[i] = entry[i] / 128 - 128;
        low[i] = entry[i] % 128;
    }
    tc_val h = ti_put_table(lw, code, TC_i8, high, 256),
           l = ti_put_table(lw, same_code, TC_i8, low, 256);
    return ti_put_fused(lw, TC_OP_tosa_add, (tc_term){h, -128, 128}, (tc_term){l, 0, 1}, 1, 0,
                        TC_i16);
}

/* i8: every difference has its entry. */
static tc_val exp_of_codes(tc_build *lw, tc_val x, tc_val max, double scale)
{
    if (ti_lower_has(lw, TC_FEATURE_INT16)) {
        double entry[513];
        for (int i = 0; i < 513; i++)
            entry[i] = 32767 * ti_exp(scale * (i < 256 ? i - 256 : 0));
        tc_val wide = ti_put_table(lw, below_max(lw, x, max, 128, 0, TC_i16), TC_i16, entry, 513);
        return ti_put_rescale(lw, wide, 0x1p-7, 0, 0, TC_i16);
    }
    int entry[256];
    for (int i = 0; i < 256; i++)
        entry[i] = (int)rint(32767 * ti_exp(scale * (i - 255)));
    tc_val code = below_max(lw, x, max, 1, 127, TC_i8), same = below_max(lw, x, max, 1, 127, TC_i8);
    return two_tables(lw, code, same, entry);
}

/* i16 and i32, 16-bit table: 256 steps of `depth`, straight lines between them. */
static tc_val exp_by_lines(tc_build *lw, tc_val x, tc_val max, double scale)
{
    double entry[513], u = depth / 255;
    for (int i = 0; i < 513; i++)
        entry[i] = i < 1 ? 0 : 32767 * ti_exp(u * (i < 256 ? i - 256 : 0));
    tc_val wide =
        ti_put_table(lw, below_max(lw, x, max, scale / u * 128, 0, TC_i16), TC_i16, entry, 513);
    return ti_put_rescale(lw, wide, 0x1p-7, 0, 0, TC_i16);
}

/* fine / 256, to the nearest: an addition of nothing, which an NPU does in half the time of a
 * rescale alone. */
static tc_val high_byte(tc_build *lw, tc_val fine)
{
    tc_val nothing = fine ? ti_b_single(lw, TC_i16, ti_b_type(lw, fine)->rank, 0) : TC_NONE;
    return ti_put_fused(lw, TC_OP_tosa_add, (tc_term){fine, 0, 1}, (tc_term){nothing, 0, 1}, 0x1p-8,
                        0, TC_i8);
}

/* i16 and i32, byte tables: x - max in steps of u / 256.  Its high byte goes through the tables;
 * its low byte, r, is left when the high one is shifted out, and is so small that e^r is 1 + r,
 * with half of the largest error taken off.  Everything below `depth` is 0. */
static tc_val exp_by_bytes(tc_build *lw, tc_val x, tc_val max, double scale)
{
    const double u = depth / 128, one = 1 + u * u / 16;
    int entry[256] = {0};
    for (int i = 1; i <= 128; i++)
        entry[i] = (int)rint(32767 * ti_exp(u * (i - 128)));
    tc_val fine = below_max(lw, x, max, scale / u * 256, 0, TC_i16);
    if (!fine)
        return fine;
    tc_val second = high_byte(lw, fine);
    tc_val e = two_tables(lw, high_byte(lw, fine), second, entry);
    tc_val eight = ti_b_single(lw, TC_i16, ti_b_type(lw, fine)->rank, 8);
    tc_val rest = ti_b_tosa_logical_left_shift(lw, fine, eight);
    tc_val more = ti_put_rescale(lw, ti_b_tosa_mul(lw, e, rest), u * 0x1p-16 * 16, 0, 0, TC_i16);
    return ti_put_fused(lw, TC_OP_tosa_add, (tc_term){e, 0, one * 0x1p14},
                        (tc_term){more, 0, 0x1p10}, 0x1p-14, 0, TC_i16);
}

/* i16 and i32, as exact as i16 can hold, down to e^-deep: coarse steps of u by tables, the
 * remainder in steps of u / 2^15 by 1 + r + r^2 / 2.  summed: only sums of many are read, and
 * entries carry their rounding error to the next one. */
static tc_val exp_by_steps(tc_build *lw, tc_val x, tc_val max, double scale, double deep,
                           bool summed)
{
    const double u = deep / 255, own = fmax(scale, deep * 1.05 / 32768);
    if (scale > u / 8) { /* what is far below depth would not fit what follows */
        x = ti_put_clamp(lw, below_max(lw, x, max, 1, 0, TC_i16), -ceil(1.1 * deep / scale), 0);
        max = ti_b_single(lw, TC_i16, x ? ti_b_type(lw, x)->rank : 0, 0);
    }
    int entry[256] = {0};
    double carry = 0;
    for (int i = 1; i < 256; i++) {
        carry += 32767 * ti_exp(u * (i - 255));
        entry[i] = (int)fmin(32767, rint(carry));
        carry = summed ? carry - entry[i] : 0;
    }
    tc_val code = below_max(lw, x, max, scale / u, 127, TC_i8),
           same = below_max(lw, x, max, scale / u, 127, TC_i8);
    tc_val e = two_tables(lw, code, same, entry);
    tc_val coarse = below_max(lw, x, max, scale / u, 0, TC_i16),
           fine = below_max(lw, x, max, scale / own, 0, TC_i16);
    tc_val r = ti_put_fused(lw, TC_OP_tosa_sub, (tc_term){fine, 0, own / u * 0x1p15},
                            (tc_term){coarse, 0, 0x1p15}, 1, 0, TC_i16);
    tc_val square = ti_put_rescale(lw, ti_b_tosa_mul(lw, r, r), u * 0x1p-16, 0, 0, TC_i16);
    r = ti_put_fused(lw, TC_OP_tosa_add, (tc_term){r, 0, 1}, (tc_term){square, 0, 1}, 1, 0, TC_i16);
    tc_val more = ti_put_rescale(lw, ti_b_tosa_mul(lw, e, r), u * 0x1p-15 * 32, 0, 0, TC_i16);
    return ti_put_fused(lw, TC_OP_tosa_add, (tc_term){e, 0, 0x1p14}, (tc_term){more, 0, 0x1p9},
                        0x1p-14, 0, TC_i16);
}

/* The same, coarser, in a third of the operations: one table for the last `near` below the maximum,
 * one for the rest.  Entries of the second carry their rounding error to the next one, so that sums
 * of many are right.  A probability is off by less than 1/256, except next to hundreds of equal
 * values far below. */
static tc_val exp_by_ranges(tc_build *lw, tc_val x, tc_val max, double scale, int64_t n)
{
    double near = fmin(fmax(ti_log((double)n / 2), 2.6), 3.6), floor_e = ti_exp(-near), carry = 0,
           top[256], deep[256];
    for (int i = 0; i < 256; i++) {
        top[i] = rint(255 * (ti_exp(near / 255 * (i - 255)) - floor_e) / (1 - floor_e)) - 128;
        carry += i ? fmin(1, ti_exp(near + depth / 255 * (i - 255))) * 255 : 0;
        deep[i] = fmin(255, rint(carry));
        carry -= deep[i];
        deep[i] -= 128;
    }
    tc_val a =
        ti_put_table(lw, below_max(lw, x, max, scale * 255 / near, 127, TC_i8), TC_i8, top, 256);
    tc_val b =
        ti_put_table(lw, below_max(lw, x, max, scale * 255 / depth, 127, TC_i8), TC_i8, deep, 256);
    double one = 32767 * 0x1p8 / 255;
    return ti_put_fused(lw, TC_OP_tosa_add, (tc_term){a, -128, one * (1 - floor_e)},
                        (tc_term){b, -128, one * floor_e}, 0x1p-8, 0, TC_i16);
}

static tc_val exp_below(tc_build *lw, tc_val x, tc_val max, double scale, int bits)
{
    if (!x)
        return x;
    const tc_type *t = ti_b_type(lw, x);
    if (t->dtype == TC_i8)
        return exp_of_codes(lw, x, max, scale);
    if (bits > 12)
        return exp_by_steps(lw, x, max, scale, depth, false);
    if (ti_lower_has(lw, TC_FEATURE_INT16))
        return exp_by_lines(lw, x, max, scale);
    return bits > 8 ? exp_by_bytes(lw, x, max, scale)
                    : exp_by_ranges(lw, x, max, scale,
                                    ti_lower_longest(lw, t->dim[t->rank - 1]));
}

tc_val ti_put_row_exp(tc_build *lw, tc_val x, double scale, int bits)
{
    return exp_below(lw, x, ti_put_row_max(lw, x), scale, bits);
}

/* ---- softmax ---- */

tc_val ti_put_row_sum(tc_build *lw, tc_val x, int64_t zero)
{
    return x ? ti_b_tosa_reduce_sum(lw, ti_put_widened(lw, x, zero), ti_b_type(lw, x)->rank - 1)
             : x;
}

/* 1 / sum as i16 times *unit, for sums of 32767 and more; quotients 32767 / sum above `top` may
 * saturate. */
static tc_val row_quotient(tc_build *lw, tc_val sum, double top, double *unit)
{
    int more = top >= 0.5 ? 1 : (int)fmin(15, floor(-ti_log2(top)));
    tc_inverse r = ti_put_inverse(lw, sum);
    tc_val shift = ti_b_tosa_sub(lw, r.zeros, ti_b_like(lw, r.zeros, TC_i32, 1));
    tc_val big = ti_b_tosa_logical_left_shift(lw, r.inverse, shift);
    *unit = TC_INVERSE_UNIT * ldexp(2, 16 - more);
    return ti_put_rescale(lw, big, ldexp(1, more - 16), 0, 0, TC_i16);
}

/* How many bits of an exponential a result of this domain can show. */
static int fine_bits(const tc_type *to)
{
    return to->dtype == TC_i16 ? 16 : 12;
}
static int bits_of(const tc_type *to)
{
    return ti_scale_of(to) > 0.003 ? 8 : fine_bits(to);
}

/* max - x, of i32 below 2^30. */
static tc_val below(tc_build *lw, tc_val x)
{
    return ti_put_fused(lw, TC_OP_tosa_sub, (tc_term){ti_put_row_max(lw, x), 0, 1},
                        (tc_term){x, 0, 1}, 1, 0, TC_i32);
}

/* Results of 16 bits where the target has 16-bit tables. */
static tc_val shares_fine(tc_build *lw, tc_val x, double scale, const tc_type *to)
{
    double unit;
    tc_val y = ti_put_fine_shares(lw, below(lw, x), scale, &unit);
    return ti_put_rescale(lw, y, unit / ti_scale_of(to), 0, ti_zero_of(to), to->dtype);
}

/* e / sum for results of 16 bits, in i32. */
static tc_val shares_wide(tc_build *lw, tc_val e, const tc_type *to)
{
    const double one = TC_FINE_ONE;
    tc_inverse r = ti_put_inverse(lw, ti_put_row_sum(lw, e, 0));
    tc_val fine = ti_put_fine_inverse(lw, &r);
    tc_val shift = ti_b_tosa_sub(lw, r.zeros, ti_b_like(lw, r.zeros, TC_i32, 1));
    tc_val big = ti_b_tosa_logical_left_shift(lw, ti_put_widened(lw, e, 0), shift);
    double unit = 2 * TC_INVERSE_UNIT * 0x1p15 / one; /* of big * fine */
    int down = (int)ceil(-ti_log2(unit)) - 29;
    return ti_put_rescale(lw, ti_b_tosa_mul_shift(lw, big, fine, down),
                          ldexp(unit, down) / ti_scale_of(to), 0, ti_zero_of(to), to->dtype);
}

/* Softmax of each row: x holds i8, i16 or i32 in a domain of one scale, the result is of domain
 * `to`. */
static tc_val put_softmax(tc_build *lw, tc_val x, double scale, const tc_type *to)
{
    if (to->dtype == TC_i16 && ti_lower_fine(lw))
        return ti_put_codes(lw, shares_fine(lw, x, scale, to), to->quant);
    tc_val e = ti_put_row_exp(lw, x, scale, bits_of(to));
    if (to->dtype == TC_i16)
        return ti_put_codes(lw, shares_wide(lw, e, to), to->quant);
    double unit, top = ti_scale_of(to) * (double)(to->quant->hi - to->quant->lo + 1);
    tc_val r = row_quotient(lw, ti_put_row_sum(lw, e, 0), top, &unit);
    tc_val y = ti_put_rescale(lw, ti_b_tosa_mul(lw, e, r), unit / ti_scale_of(to), 0,
                              ti_zero_of(to), to->dtype);
    return ti_put_codes(lw, y, to->quant);
}

/* ---- logarithms ---- */

static const double log_one = 0x1p20; /* 1.0 in the i32 that holds a logarithm */

/* ln(sum / of): the zeros of the sum count as ln 2 each, a table has the logarithm of the guess,
 * and the excess is what the guess was off by. */
static tc_val log_of(tc_build *lw, tc_val sum, double of)
{
    tc_inverse r = ti_put_inverse(lw, sum);
    double high[256], low[256];
    for (int i = 0; i < 256; i++) {
        double q = 0.75 + (i - 128) / 512.0;
        int v = (int)rint(0x1p16 * ti_log(rint(127.5 / q) / 127.5));
        high[i] = v / 256 - 128;
        low[i] = v % 256 - 128;
    }
    tc_term low_byte = {ti_put_table(lw, r.index, TC_i8, low, 256), -128, log_one / 0x1p16};
    tc_term high_byte = {ti_put_table(lw, r.index, TC_i8, high, 256), -128, 256 * log_one / 0x1p16};
    tc_val guess = ti_put_fused(lw, TC_OP_tosa_add, high_byte, low_byte, 1, 0, TC_i32);
    tc_val off =
        ti_put_rescale(lw, r.excess, log_one / TC_INVERSE_ONE, 0, 0, TC_i32); /* one too many */
    tc_val zeros =
        ti_b_tosa_mul(lw, r.zeros, ti_b_like(lw, r.zeros, TC_i32, rint(ti_log(2) * log_one)));
    tc_val gone = ti_b_tosa_add(lw, guess, zeros);
    double constant = (32 * ti_log(2) - ti_log(of) - 1) * log_one;
    tc_val kept = ti_b_tosa_add(lw, off, ti_b_like(lw, off, TC_i32, rint(constant)));
    return ti_b_tosa_sub(lw, kept, gone);
}

/* The logarithm of the sum of e^(x - max) over each row. */
static tc_val log_of_sum(tc_build *lw, tc_val x, tc_val max, double scale, const tc_type *to)
{
    if (to->dtype == TC_i16 && ti_lower_fine(lw)) {
        int bits;
        tc_val far = ti_put_fused(lw, TC_OP_tosa_sub, (tc_term){max, 0, 1}, (tc_term){x, 0, 1}, 1, 0,
                                  TC_i32);
        tc_val sum = ti_put_fine_sum(lw, far, scale, &bits);
        return log_of(lw, sum, ldexp(1, bits));
    }
    const double deeper = 14; /* thousands of values that far down count */
    bool fine = x && fine_bits(to) > 12 && ti_b_dtype(lw, x) != TC_i8;
    tc_val e = fine ? exp_by_steps(lw, x, max, scale, deeper, true)
                    : exp_below(lw, x, max, scale, fine_bits(to));
    return log_of(lw, ti_put_row_sum(lw, e, 0), 32767);
}

/* Results of 16 bits: the difference in i32, in steps that leave it below 2^28. */
static tc_val log_shares_wide(tc_build *lw, tc_val x, tc_val max, tc_val log, double scale,
                              const tc_type *to)
{
    double largest = scale * 65536 + 12,
           one = fmin(log_one, ldexp(1, (int)floor(ti_log2(0x1p28 / largest))));
    tc_val down = below_max(lw, x, max, 1, 0, TC_i32);
    tc_val y = ti_put_fused(lw, TC_OP_tosa_sub, (tc_term){down, 0, scale * one},
                            (tc_term){log, 0, one / log_one}, 1 / (one * ti_scale_of(to)),
                            ti_zero_of(to), to->dtype);
    return ti_put_codes(lw, y, to->quant);
}

static tc_val log_softmax(tc_build *lw, tc_val x, double scale, const tc_type *to)
{
    if (!x)
        return x;
    tc_val max = ti_put_row_max(lw, x), log = log_of_sum(lw, x, max, scale, to);
    if (to->dtype == TC_i16 && ti_b_dtype(lw, x) != TC_i32)
        return log_shares_wide(lw, x, max, log, scale, to);
    double widest = scale * (ti_b_dtype(lw, x) == TC_i8 ? 255 : 0x1p31);
    double d = fmin(widest, ti_scale_of(to) * (double)(to->quant->hi - to->quant->lo) + 13) / 32767;
    double l = 12.0 / 32767, one = fmax(d, l) / 0x1p14;
    tc_val down = below_max(lw, x, max, scale / d, 0, TC_i16),
           log16 = ti_put_rescale(lw, log, 1 / (l * log_one), 0, 0, TC_i16);
    tc_val y =
        ti_put_fused(lw, TC_OP_tosa_sub, (tc_term){down, 0, d / one}, (tc_term){log16, 0, l / one},
                     one / ti_scale_of(to), ti_zero_of(to), to->dtype);
    return ti_put_codes(lw, y, to->quant);
}

/* max * scale + ln(sum), one number per row. */
static tc_val logsumexp(tc_build *lw, tc_val x, const tc_type *from, const tc_type *to)
{
    double scale = ti_scale_of(from);
    tc_val max = ti_put_row_max(lw, x), log = log_of_sum(lw, x, max, scale, to);
    double largest = scale * 65536 + 12,
           one = fmin(log_one, ldexp(1, (int)floor(ti_log2(0x1p30 / largest))));
    tc_val y = ti_put_fused(lw, TC_OP_tosa_add, (tc_term){max, ti_zero_of(from), scale * one},
                            (tc_term){log, 0, one / log_one}, 1 / (one * ti_scale_of(to)),
                            ti_zero_of(to), to->dtype);
    return ti_put_codes(lw, y, to->quant);
}

/* ---- rules ---- */

static bool accepted(tc_build *lw, const tc_node *node, int64_t row)
{
    const tc_type *x = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    bool good = x->quant && x->quant->axis < 0 &&
                (x->dtype == TC_i8 || x->dtype == TC_i16 || x->dtype == TC_i32);
    if (!good || !ti_is_activation(y))
        ti_lower_refuse(lw, "its operand or its result does not have one scale");
    else if (row > LONGEST)
        ti_lower_refuse(lw, "its rows are longer than %d", LONGEST);
    return lw->status == TC_OK;
}

/* Rows of several planes as those of one, which an NPU walks in one go: [1, 1, rows, n]. */
static tc_val one_plane(tc_build *lw, tc_val x)
{
    const tc_type *t = ti_b_type(lw, x);
    int64_t n = t->dim[t->rank - 1], all = tc_type_count(t);
    bool several = t->rank > 2 && all > 0 && all != n * t->dim[t->rank - 2];
    return several ? ti_b_tosa_reshape(lw, x, 4, (int64_t[]){1, 1, all / n, n}) : x;
}

void ti_lower_int_softmax(tc_build *lw, const tc_node *node, tc_val *out)
{
    int axis = (int)((const tc_attr_axis *)node->attr)->axis;
    const tc_type *x = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    if (!accepted(lw, node, x->rank ? x->dim[axis] : 1))
        return;
    tc_val v = ti_b_tosa_axis_last(lw, ti_b_tosa_rank(lw, ti_lower_in(lw, node, 0), 1), axis);
    if (!v)
        return;
    const tc_type *t = ti_b_type(lw, v);
    v = (node->op == TC_OP_softmax ? put_softmax : log_softmax)(lw, one_plane(lw, v), ti_scale_of(x), y);
    v = ti_b_tosa_axis_back(lw, ti_b_tosa_reshape(lw, v, t->rank, t->dim), axis);
    out[0] = ti_b_tosa_reshape(lw, v, y->rank, y->dim);
}

void ti_lower_int_logsumexp(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_axes *a = node->attr;
    const tc_type *x = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    if (!accepted(lw, node, ti_axes_count(x, a->axes)))
        return;
    tc_val v = ti_put_axes_last(lw, ti_lower_in(lw, node, 0), a->axes);
    out[0] = ti_b_tosa_reshape(lw, logsumexp(lw, v, x, y), y->rank, y->dim);
}
