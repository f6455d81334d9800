/* SPDX-License-Identifier: Apache-2.0 */
/* grow_edges.c -- what lies at the ends of floats: numbers that stand for "never", sums of very many
 * terms, heavy tails, very small numbers. */
#include "models.h"

#include <float.h>
#include <math.h>

/* ---- never ---- */

/* What reads masked numbers: only their order counts, or their exponentials. */
static tc_val chosen(garden *d, tc_val x)
{
    int rank = type_at(d, x)->rank;
    tc_attr_axis last = {rank - 1};
    tc_attr_axes axes = {same(d, 1, rank - 1), draw(2)};
    tc_attr_arg arg = {rank - 1, draw(2)};
    switch (draw(6)) {
    case 0:
        return PUT(d, amax, axes, x);
    case 1:
        return PUT(d, argmax, arg, x);
    case 2:
        return PUT(d, softmax, last, x);
    case 3:
        return PUT(d, log_softmax, last, x);
    case 4:
        return PUT(d, logsumexp, axes, x);
    default:
        return x;
    }
}

static void never(garden *d)
{
    static const double low[] = {-1e4, -1e6, -1e8, -1e9, -1e12, -1e30, -65504, -FLT_MAX, -INFINITY};
    tc_val x = some(d, TC_f32, 1, 4);
    if (!x)
        return;
    const tc_type *t = type_at(d, x);
    double far = low[draw(TC_COUNT(low))];
    tc_val mask = draw(2) ? PUT0(d, gt, x, scalar(d, -0.25))
                          : constant(d, TC_bool, t->rank, t->dim, 0, 1);
    if (draw(3) == 0 && isfinite(far)) { /* (1 - mask) * never, added */
        tc_val off = PUT(d, cast, ((tc_attr_cast){TC_f32}), PUT0(d, logical_not, mask));
        x = PUT(d, add, ((tc_attr_alpha){1}), x, PUT0(d, mul, off, scalar(d, far)));
    } else
        x = PUT0(d, where, mask, x, scalar(d, far));
    if (draw(4) == 0) { /* the other way round: the least of what is left */
        tc_attr_axes axes = {same(d, 1, t->rank - 1), draw(2)};
        keep(d, PUT(d, amin, axes, PUT0(d, neg, x)));
        return;
    }
    keep(d, chosen(d, x));
}

/* ---- very many terms ---- */

static void long_sum(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 1);
    if (!x) {
        x = some(d, TC_f32, 1, 5);
        if (!x)
            return;
        int64_t flat = tc_type_count(type_at(d, x));
        x = PUT(d, reshape, ((tc_attr_shape){list(d, 1, &flat)}), x);
    }
    if (!x)
        return;
    int64_t n = type_at(d, x)->dim[0], times = 140000 / n + 1, all = n * times;
    int64_t shape[2] = {1, all}, square[2] = {all, 1};
    if (draw(2))
        x = PUT0(d, abs, x);
    x = PUT(d, reshape, ((tc_attr_shape){list(d, 2, shape)}),
            PUT(d, repeat, ((tc_attr_repeat){list(d, 1, &times)}), x));
    tc_attr_axes axes = {same(d, 1, 1), draw(2)};
    tc_attr_full ones = {list(d, 2, square), draw(2) ? 1 : 0.01, TC_f32};
    switch (draw(3)) {
    case 0:
        keep(d, PUT(d, mean, axes, x));
        return;
    case 1:
        keep(d, PUT(d, sum, axes, x));
        return;
    default:
        keep(d, PUT0(d, matmul, x, put(d, TC_OP_full, &ones, sizeof ones, 0, NULL)));
    }
}

/* ---- heavy tails ---- */

static void heavy(garden *d)
{
    tc_val x = some(d, TC_f32, 0, 5);
    if (!x)
        return;
    switch (draw(4)) {
    case 0:
        keep(d, PUT0(d, exp, PUT0(d, mul, x, scalar(d, (double)(1 + draw(4))))));
        return;
    case 1:
        keep(d, PUT0(d, pow, x, scalar(d, draw(2) ? 5 : 3)));
        return;
    case 2:
        keep(d, PUT0(d, reciprocal,
                     PUT(d, add, ((tc_attr_alpha){1}), PUT0(d, abs, x), scalar(d, 0.01))));
        return;
    default: /* very small: a scale far below 1 */
        keep(d, PUT0(d, mul, x, scalar(d, draw(2) ? 1e-7 : 1e-10)));
    }
}

const grow_entry grow_edges[] = {{never, 5}, {long_sum, 1}, {heavy, 4}, {NULL, 0}};
