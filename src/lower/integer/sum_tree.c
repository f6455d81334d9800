/* SPDX-License-Identifier: Apache-2.0 */
/* sum_tree.c -- sums over a plane, or one axis, by adding halves.
 *
 * Each step adds the first half of an axis to the second, 16 bits between the steps; what is odd is
 * added when the axis is done.  On an NPU an element costs a quarter of a cycle that way, a fourth
 * of what windows of ones cost, and no extension is needed. */
#include "../composite/composite.h"
#include "lower_pool.h"

/* A sum of n codes: (a + b) / unit, the operands not yet added; or a alone. */
typedef struct part {
    tc_term a, b; /* b.val none: alone */
    double unit;
    int64_t n;
} part;

/* The finest unit in which n codes of i8 fit 16 bits. */
static double unit_for(int64_t n)
{
    double unit = 1;
    while (255.0 * (double)n * unit > 32767)
        unit /= 2;
    return unit;
}

/* The sum in one tensor. */
static part done(tc_build *lw, part p)
{
    if (!p.b.val)
        return p;
    double unit = unit_for(p.n);
    tc_val v = ti_put_fused(lw, TC_OP_tosa_add, p.a, p.b, unit / p.unit, 0, TC_i16);
    return (part){.a = {v, 0, 1}, .unit = unit, .n = p.n};
}

/* A code as 16 bits: plus 0, which costs a third of a rescale alone. */
static tc_val widened(tc_build *lw, tc_term a)
{
    if (!a.val)
        return a.val;
    tc_term none = {ti_b_single(lw, TC_i8, ti_b_type(lw, a.val)->rank, 0), 0, 1};
    return ti_put_fused(lw, TC_OP_tosa_add, a, none, 1, 0, TC_i16);
}

/* Both as 16 bits, the coarser one in the other's unit. */
static part plus(tc_build *lw, part x, part y)
{
    x = done(lw, x);
    y = done(lw, y);
    if (x.a.val && y.a.val && ti_b_dtype(lw, x.a.val) != ti_b_dtype(lw, y.a.val)) {
        part *narrow = ti_b_dtype(lw, x.a.val) == TC_i8 ? &x : &y;
        narrow->a = (tc_term){widened(lw, narrow->a), 0, 1};
    }
    double unit = x.unit > y.unit ? x.unit : y.unit;
    x.a.factor = unit / x.unit;
    y.a.factor = unit / y.unit;
    return (part){.a = x.a, .b = y.a, .unit = unit, .n = x.n + y.n};
}

/* Elements start .. start + count of an axis. */
static part cut(tc_build *lw, part p, int axis, int64_t start, int64_t count)
{
    p.a.val = ti_b_tosa_slice_axis(lw, p.a.val, axis, start, count);
    return p;
}

static part over_axis(tc_build *lw, part p, int axis)
{
    part rest[64];
    int n_rest = 0;
    for (int64_t k = ti_b_type(lw, p.a.val)->dim[axis]; k > 1 && lw->status == TC_OK; k /= 2) {
        p = done(lw, p);
        if (k % 2)
            rest[n_rest++] = cut(lw, p, axis, k - 1, 1);
        part second = cut(lw, p, axis, k / 2, k / 2), first = cut(lw, p, axis, 0, k / 2);
        p = plus(lw, first, second);
    }
    while (n_rest > 0 && lw->status == TC_OK)
        p = plus(lw, p, rest[--n_rest]);
    return p;
}

tc_val ti_put_tree_sum(tc_build *lw, tc_val x, int first, int last, const tc_type *from,
                       double scale, const tc_type *to)
{
    if (!x)
        return x;
    part p = {.a = {x, ti_zero_of(from), 1}, .unit = 1, .n = 1};
    for (int axis = first; axis <= last && lw->status == TC_OK; axis++) {
        if (ti_b_type(lw, x)->dim[axis] == 1)
            continue;
        p = over_axis(lw, done(lw, p), axis);
    }
    TC_STOP_WITH(lw, TC_NONE);
    double factor = ti_scale_factor(scale, ti_scale_of(to)) / p.unit;
    tc_val y = p.b.val
                   ? ti_put_fused(lw, TC_OP_tosa_add, p.a, p.b, factor, ti_zero_of(to), to->dtype)
                   : ti_put_rescale(lw, p.a.val, factor, p.a.zero, ti_zero_of(to), to->dtype);
    return ti_put_codes(lw, y, to->quant);
}
