/* SPDX-License-Identifier: Apache-2.0 */
/* plain_scan.c -- running sums and products of floats, running sums of integers in 32 bits.
 *
 * By doubling: after step k every element holds the sum of the 2^k before it, so that n elements
 * take log2(n) additions. */
#include "../composite/composite.h"
#include "../move/lower_move.h"

/* x moved up by `by` along an axis, `fill` before it. */
static tc_val moved(tc_build *lw, tc_val x, int axis, int64_t by, double fill)
{
    const tc_type *t = ti_b_type(lw, x);
    int64_t pad[2 * TC_MAX_RANK] = {0};
    pad[2 * axis] = by;
    return ti_b_tosa_pad(lw, ti_b_tosa_slice_axis(lw, x, axis, 0, t->dim[axis] - by), pad, fill);
}

/* 0 times a product that has overflowed is 0, as in sequence. */
static tc_val times(tc_build *lw, tc_val before, tc_val x)
{
    tc_val zero = before ? ti_b_like(lw, before, ti_b_dtype(lw, before), 0) : before;
    tc_val none = ti_b_tosa_equal(lw, before, zero);
    return ti_b_tosa_select(lw, none, before, ti_b_tosa_mul(lw, x, before));
}

static tc_val scan(tc_build *lw, tc_val x, int axis, bool product)
{
    if (!x)
        return x;
    int64_t n = ti_b_type(lw, x)->dim[axis];
    for (int64_t by = 1; x && by < n; by *= 2) {
        tc_val before = moved(lw, x, axis, by, product);
        x = product ? times(lw, before, x) : ti_b_tosa_add(lw, x, before);
    }
    return x;
}

static int axis_of(const tc_node *node)
{
    return (int)((const tc_attr_axis *)node->attr)->axis;
}

void ti_lower_real_cumsum(tc_build *lw, const tc_node *node, tc_val *out)
{
    const bool product = node->op == TC_OP_cumprod;
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    bool whole = !product && to->dtype == TC_i32 && !ti_is_float(from->dtype) &&
                 from->dtype != TC_i64 && ti_lower_has(lw, TC_FEATURE_INT);
    if (!ti_is_float(from->dtype) && !whole) {
        ti_lower_refuse(lw, "its operand is %s", tc_dtypes[from->dtype].name);
        return;
    }
    tc_val x = ti_lower_in(lw, node, 0);
    x = whole ? ti_put_cast(lw, x, TC_i32) : ti_b_tosa_cast(lw, x, TC_f32);
    x = scan(lw, ti_b_tosa_rank(lw, x, 1), axis_of(node), product);
    x = whole ? x : ti_b_tosa_cast(lw, x, to->dtype);
    out[0] = ti_b_tosa_reshape(lw, x, to->rank, to->dim);
}
