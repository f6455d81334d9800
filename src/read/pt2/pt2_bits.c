/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_bits.c -- view(dtype): the bits of a tensor as another element type, in little-endian order.
 *
 * Integers are split and combined by shifts, complex numbers are pairs of floats, and constants are
 * reinterpreted as stored. */
#include "pt2_program.h"

static int64_t bytes_of(tc_dtype t)
{
    return (int64_t)tc_dtypes[t].bytes;
}

/* The shape with `by` before, or instead of, the last axis' factor. */
static tc_val with_last(tc_build *b, tc_val x, int64_t last, int64_t further)
{
    const tc_type *t = ti_b_type(b, x);
    int64_t dim[TC_MAX_RANK + 1];
    int rank = t->rank;
    memcpy(dim, t->dim, (size_t)rank * sizeof *dim);
    if (!further) { /* [..., n, k] -> [..., n * k] */
        rank--;
        dim[rank - 1] = last;
    } else { /* [..., n * k] -> [..., n, k] */
        dim[rank - 1] = last;
        dim[rank++] = further;
    }
    return ti_b_reshape(b, x, rank, dim);
}

/* Each integer becomes k narrower ones, the lowest bits first. */
static tc_val split_bits(tc_build *b, tc_val x, tc_dtype to, int64_t k)
{
    const tc_type *t = ti_b_type(b, x);
    tc_dtype wide = bytes_of(t->dtype) > 4 ? TC_i64 : TC_i32;
    int64_t last = t->dim[t->rank - 1] * k;
    tc_val part[8], whole = ti_b_cast(b, x, wide);
    for (int64_t i = 0; i < k; i++) {
        tc_val by = ti_b_scalar_i64(b, wide, 8 * bytes_of(to) * i);
        tc_val shifted = i ? ti_b_2(b, shift_right, NULL, whole, by) : whole;
        part[i] = ti_b_cast(b, shifted, to);
    }
    tc_val all = ti_b_op(b, TC_OP_stack, ti_b_attr(b, axis, t->rank), part, (int)k);
    return b->status == TC_OK ? with_last(b, all, last, 0) : TC_NONE;
}

/* k integers become a wider one. */
static tc_val join_bits(tc_build *b, tc_val x, tc_dtype to, int64_t k)
{
    const tc_type *t = ti_b_type(b, x);
    tc_dtype wide = bytes_of(to) > 4 ? TC_i64 : TC_i32;
    int64_t width = 8 * bytes_of(t->dtype), axis = t->rank;
    tc_val sum = TC_NONE, rows = with_last(b, x, t->dim[t->rank - 1] / k, k);
    for (int64_t i = 0; i < k; i++) {
        tc_val part = ti_b_cast(b, ti_b_select(b, rows, axis, i), wide);
        tc_val mask = ti_b_scalar_i64(b, wide, ((int64_t)1 << width) - 1);
        part = ti_b_2(b, bitwise_and, NULL, part, mask);
        if (i)
            part = ti_b_2(b, shift_left, NULL, part, ti_b_scalar_i64(b, wide, width * i));
        sum = sum ? ti_b_2(b, bitwise_or, NULL, sum, part) : part;
    }
    return ti_b_cast(b, sum, to);
}

static tc_val pairs(tc_build *b, tc_val x)
{
    tc_val half[2];
    half[0] = ti_b_real(b, x);
    half[1] = ti_b_imag(b, x);
    const tc_type *t = ti_b_type(b, x);
    tc_val all = ti_b_op(b, TC_OP_stack, ti_b_attr(b, axis, t->rank), half, 2);
    return b->status == TC_OK ? with_last(b, all, 2 * t->dim[t->rank - 1], 0) : TC_NONE;
}

static tc_val from_pairs(tc_build *b, tc_val x)
{
    const tc_type *t = ti_b_type(b, x);
    tc_val rows = with_last(b, x, t->dim[t->rank - 1] / 2, 2), half[2];
    half[0] = ti_b_select(b, rows, t->rank, 0);
    half[1] = ti_b_select(b, rows, t->rank, 1);
    return ti_b_complex(b, half[0], half[1]);
}

/* The last axis is as many times longer as elements are shorter. */
static bool fits(const tc_type *t, tc_dtype to)
{
    int64_t from = bytes_of(t->dtype), into = bytes_of(to);
    return from == into || (t->rank && t->rank < TC_MAX_RANK &&
                            t->dim[t->rank - 1] * from % into == 0);
}

tc_val ti_pt2_bits(tc_build *b, tc_val x, tc_dtype to)
{
    TC_STOP_WITH(b, TC_NONE);
    const tc_type *t = ti_b_type(b, x);
    int64_t from = bytes_of(t->dtype), into = bytes_of(to);
    tc_tensor known;
    if (t->dtype == to)
        return ti_b_identity(b, x);
    if (!fits(t, to)) {
        ti_b_bad(b, TC_E_SHAPE, "bits that make no whole number of elements");
        return TC_NONE;
    }
    if (ti_is_whole(t->dtype) && ti_is_whole(to))
        return from == into ? ti_b_cast(b, x, to)
               : from > into ? split_bits(b, x, to, from / into)
                             : join_bits(b, x, to, into / from);
    if (t->dtype == TC_c64 && to == TC_f32)
        return pairs(b, x);
    if (t->dtype == TC_f32 && to == TC_c64)
        return from_pairs(b, x);
    if (ti_b_known(b, x, &known)) {
        tc_type y = *t;
        y.dtype = to;
        if (y.rank)
            y.dim[y.rank - 1] = y.dim[y.rank - 1] * from / into;
        return ti_b_data(b, ti_type_intern(b->ctx, &y), known.data);
    }
    ti_b_unsupported(b, "the bits of %s as %s, of numbers that are computed",
                     tc_dtypes[t->dtype].name, tc_dtypes[to].name);
    return TC_NONE;
}

static void import_bits(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    tc_dtype to = ti_pt2_dtype(n, "dtype", TC_none);
    ti_pt2_result(n, ti_pt2_bits(&n->m, x, to));
}

const tc_pt2_row tc_pt2_bits[] = {
    VIEW_ROW("view.dtype", import_bits, cast, BITS),
    ROW("view_copy.dtype", import_bits, cast, 0),
    {0},
};
