/* SPDX-License-Identifier: Apache-2.0 */
/* grow_idioms.c -- several operators that models write together. */
#include "models.h"

/* c + a b, with factors. */
static void added_product(garden *d)
{
    tc_val a = some(d, TC_f32, 2, 2);
    if (!a)
        return;
    const tc_type *t = type_at(d, a);
    int64_t columns = 1 + (int64_t)draw(6), right[2] = {t->dim[1], columns},
            sum[2] = {t->dim[0], columns};
    int cut = (int)draw(2);
    tc_attr_addmm by = {draw(3) ? 1 : (double)draw(5) / 4, draw(3) ? 1 : 0.5};
    tc_val c = constant(d, TC_f32, 2 - cut, sum + cut, -1, 1);
    keep(d, PUT(d, addmm, by, c, a, constant(d, TC_f32, 2, right, -0.7, 0.7)));
}

/* A number between two of the sorted ones: medians and quantiles; NaN where the last one is. */
static void ranked(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 4), sorted[2];
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    int64_t axis = (int64_t)draw((uint64_t)t->rank), extent = t->dim[axis],
            low = (int64_t)draw((uint64_t)extent);
    tc_attr_sort by = {axis, false};
    put_many(d, TC_OP_sort, &by, sizeof by, 1, &x, 2, sorted);
    tc_val y = PUT(d, select, ((tc_attr_select){axis, low}), sorted[0]);
    if (low + 1 < extent && draw(2))
        y = PUT0(d, lerp, y, PUT(d, select, ((tc_attr_select){axis, low + 1}), sorted[0]),
                 scalar(d, (double)draw(5) / 4));
    tc_val last = PUT(d, select, ((tc_attr_select){axis, extent - 1}), sorted[0]);
    keep(d, draw(2) ? y : PUT0(d, where, PUT0(d, isnan, last), last, y));
}

/* Slopes: differences of neighbours, with straight ends. */
static void sloped(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 4);
    const tc_type *t = type_at(d, x);
    if (!x || t->dim[t->rank - 1] < 3)
        return;
    int64_t axis = t->rank - 1, n = t->dim[axis];
    tc_attr_slice left = {axis, 0, n - 2, 1}, right = {axis, 2, n, 1};
    tc_val y = PUT(d, sub, ((tc_attr_alpha){1}), PUT(d, slice, right, x), PUT(d, slice, left, x));
    keep(d, PUT0(d, mul, y, scalar(d, 0.5)));
}

/* The share of each in a sum of sizes. */
static void shared_out(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 4);
    if (!x)
        return;
    tc_val size = PUT0(d, abs, x);
    tc_attr_axes axes = {same(d, 1, type_at(d, x)->rank - 1), true};
    tc_val sum = PUT(d, add, ((tc_attr_alpha){1}), PUT(d, sum, axes, size),
                     scalar(d, draw(2) ? 1e-6 : 0.1));
    keep(d, PUT(d, div, ((tc_attr_div){TC_div_mode_exact}), size, sum));
}

/* Overlaps of which many are 0: a / (a + b + eps) where a mask leaves nothing of either. */
static void overlapped(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 4);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    tc_val mask = PUT(d, cast, ((tc_attr_cast){TC_f32}), constant(d, TC_bool, t->rank, t->dim, 0, 1));
    tc_val a = PUT0(d, mul, PUT0(d, relu, x), mask);
    tc_val b = PUT0(d, mul, PUT0(d, sigmoid, x), mask);
    tc_val both = PUT(d, add, ((tc_attr_alpha){1}), a, b);
    both = PUT(d, add, ((tc_attr_alpha){1}), both, scalar(d, draw(2) ? 1e-6 : 1e-3));
    keep(d, PUT(d, div, ((tc_attr_div){TC_div_mode_exact}), a, both));
}

/* Batch norm by the batch's own statistics, or by known ones right after an operator of one operand. */
static void normed(garden *d)
{
    tc_val x = some(d, TC_f32, 2, 4);
    if (!x)
        return;
    int rank = type_at(d, x)->rank;
    int64_t axis[4] = {0, 2, 3}, c = type_at(d, x)->dim[1], perm[4] = {0, 1, 3, 2};
    x = draw(2) ? PUT0(d, tanh, x)
                : rank == 4 ? PUT(d, permute, ((tc_attr_perm){list(d, 4, perm)}), x) : x;
    tc_val mean = constant(d, TC_f32, 1, &c, -0.5, 0.5), var = constant(d, TC_f32, 1, &c, 0.5, 2);
    if (draw(2)) {
        tc_attr_axes axes = {list(d, rank - 1, axis), false};
        tc_attr_var spread = {list(d, rank - 1, axis), false, 0};
        mean = PUT(d, mean, axes, x);
        var = PUT(d, var, spread, x);
    }
    tc_val w = draw(2) ? constant(d, TC_f32, 1, &c, 0.5, 1.5) : TC_NONE;
    keep(d, PUT(d, batch_norm, ((tc_attr_eps){1e-3}), x, w, TC_NONE, mean, var));
}

/* One of an integer and a float, which is a float. */
static void mixed(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 4);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    tc_val whole = constant(d, draw(2) ? TC_i64 : TC_i32, t->rank, t->dim, -4, 4);
    tc_val is = PUT0(d, gt, x, scalar(d, 0));
    keep(d, draw(2) ? PUT0(d, where, is, whole, x) : PUT0(d, where, is, x, whole));
}

const grow_entry grow_idioms[] = {
    {added_product, 3}, {ranked, 2}, {sloped, 2}, {shared_out, 2},
    {overlapped, 2},    {normed, 3}, {mixed, 1}, {NULL, 0}};
