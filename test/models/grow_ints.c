/* SPDX-License-Identifier: Apache-2.0 */
/* grow_ints.c -- whole numbers of 8 to 64 bits, that wrap, become floats and truths, and count. */
#include "models.h"

static tc_val cast(garden *d, tc_val x, tc_dtype to)
{
    return PUT(d, cast, ((tc_attr_cast){to}), x);
}

static tc_val number(garden *d, tc_dtype dtype, double value)
{
    return d->broken ? TC_NONE : ti_graph_scalar(d->g, dtype, value, NULL);
}

static tc_dtype width(void)
{
    static const tc_dtype t[] = {TC_i8, TC_i8, TC_u8, TC_i16, TC_i16, TC_i32, TC_i64};
    return t[draw(TC_COUNT(t))];
}

/* Any whole number of the pool, or one that a float becomes. */
static tc_val whole(garden *d)
{
    tc_val x = some(d, width(), 0, 4);
    if (x && draw(3))
        return x;
    x = some(d, TC_f32, 0, 4);
    if (!x)
        return x;
    x = PUT(d, clamp, ((tc_attr_clamp){-4, 4}), x);
    return cast(d, PUT0(d, mul, x, scalar(d, draw(2) ? 30 : 8000)), TC_i32);
}

static tc_val numbers_like(garden *d, tc_val x, double lo, double hi)
{
    const tc_type *t = type_at(d, x);
    int from = t->rank ? (int)draw((uint64_t)t->rank + 1) : 0;
    return constant(d, t->dtype, t->rank - from, t->dim + from, lo, hi);
}

/* Sums and products that leave the type, bits, quotients. */
static void arithmetic(garden *d)
{
    static const tc_op op[] = {TC_OP_add,         TC_OP_sub,        TC_OP_mul,
                               TC_OP_maximum,     TC_OP_minimum,    TC_OP_bitwise_and,
                               TC_OP_bitwise_or,  TC_OP_bitwise_xor, TC_OP_shift_left,
                               TC_OP_shift_right, TC_OP_remainder};
    tc_val x = whole(d);
    if (!x || d->broken)
        return;
    x = cast(d, x, width());
    tc_op way = op[draw(TC_COUNT(op))];
    bool shifts = way == TC_OP_shift_left || way == TC_OP_shift_right;
    tc_val y = shifts || way == TC_OP_remainder ? numbers_like(d, x, 1, 7)
                                                : numbers_like(d, x, -100, 100);
    tc_attr_alpha once = {draw(4) ? 1 : 3};
    bool scaled = way == TC_OP_add || way == TC_OP_sub;
    if (!d->broken)
        keep(d, put(d, way, scaled ? &once : NULL, scaled ? sizeof once : 0, 2,
                    (const tc_val[]){x, draw(3) || shifts || way == TC_OP_remainder ? y : x}));
}

static void alone(garden *d)
{
    static const tc_op op[] = {TC_OP_neg, TC_OP_abs, TC_OP_square, TC_OP_bitwise_not, TC_OP_sign,
                               TC_OP_relu};
    tc_val x = whole(d);
    if (x && !d->broken)
        x = cast(d, x, width());
    if (x && !d->broken)
        keep(d, put(d, op[draw(TC_COUNT(op))], NULL, 0, 1, &x));
}

/* As a float again, a truth, or in another width. */
static void turned(garden *d)
{
    tc_val x = whole(d);
    if (!x || d->broken)
        return;
    tc_dtype t = type_at(d, x)->dtype;
    switch (draw(4)) {
    case 0:
        keep(d, cast(d, x, TC_bool));
        return;
    case 1:
        keep(d, cast(d, cast(d, x, width()), width()));
        return;
    default:
        x = cast(d, x, TC_f32);
        keep(d, PUT0(d, mul, x, scalar(d, t == TC_i8 ? 0.02 : t == TC_i16 ? 1e-4 : 1e-6)));
    }
}

/* 64 bits that 32 do not hold: products, sums, comparisons, and what is left of them. */
static void far(garden *d)
{
    tc_val x = whole(d);
    if (!x || d->broken)
        return;
    x = cast(d, x, TC_i64);
    x = draw(2) ? PUT0(d, mul, x, number(d, TC_i64, (double)(1 + draw(9)) * 1e9))
                : PUT(d, add, ((tc_attr_alpha){1}), x, number(d, TC_i64, draw(2) ? 1.7e12 : -3e9));
    switch (draw(6)) {
    case 0:
        keep(d, PUT0(d, mul, cast(d, x, TC_f32), scalar(d, 1e-11)));
        return;
    case 1:
        keep(d, PUT0(d, gt, x, number(d, TC_i64, 3e9)));
        return;
    case 2:
        keep(d, cast(d, x, TC_bool));
        return;
    case 3:
        keep(d, PUT0(d, remainder, x, number(d, TC_i64, (double)(2 + draw(90)))));
        return;
    case 4:
        keep(d, cast(d, x, draw(2) ? TC_i8 : TC_i32));
        return;
    default:
        keep(d, cast(d, PUT(d, clamp, ((tc_attr_clamp){-1000, 1000}), x), TC_f32));
    }
}

/* A counter from call to call, by one or by more than 32 bits last. */
static void counted(garden *d)
{
    int64_t one = 1;
    tc_val x = some(d, TC_f32, 0, 4);
    if (!x || d->broken)
        return;
    double step = draw(2) ? 1 : 1e9;
    tc_val before = constant(d, TC_i64, 1, &one, 0, 0),
           after = PUT(d, add, ((tc_attr_alpha){1}), before, number(d, TC_i64, step));
    if (d->broken)
        return;
    tc_val share = PUT0(d, mul, cast(d, draw(2) ? after : before, TC_f32), scalar(d, 0.1 / step));
    keep(d, PUT(d, add, ((tc_attr_alpha){1}), x, share));
    tc_grow(&d->ctx->arena, d->g->mutation, d->g->n_mutation, d->g->cap_mutation);
    d->g->mutation[d->g->n_mutation++] = (tc_mutation){before, after};
}

static void summed(garden *d)
{
    tc_val x = whole(d);
    if (!x || d->broken || !type_at(d, x)->rank)
        return;
    int axis = (int)draw((uint64_t)type_at(d, x)->rank);
    tc_attr_axes over = {same(d, 1, axis), draw(2)};
    keep(d, draw(2) ? PUT(d, sum, over, x) : PUT(d, cumsum, ((tc_attr_axis){axis}), x));
}

const grow_entry grow_ints[] = {{arithmetic, 8}, {alone, 3},  {turned, 8}, {far, 4},
                                {counted, 2},    {summed, 3}, {NULL, 0}};
