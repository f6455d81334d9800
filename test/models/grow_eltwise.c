/* SPDX-License-Identifier: Apache-2.0 */
/* grow_eltwise.c -- operators on each element by itself, drawn from the operator table. */
#include "models.h"

tc_val brought(garden *d, tc_val x, int to)
{
    if (to == ON_positive || to == ON_above_1) {
        tc_val y = draw(2) ? PUT0(d, abs, x) : PUT0(d, sigmoid, x);
        double more = (to == ON_above_1 ? 1.1 : 0.1) + (double)draw(8) / 4;
        return PUT(d, add, ((tc_attr_alpha){1}), y, scalar(d, more));
    }
    if (to == ON_inside)
        return draw(2) ? PUT(d, clamp, ((tc_attr_clamp){-0.9, 0.9}), x)
                       : PUT0(d, mul, PUT0(d, tanh, x), scalar(d, 0.9));
    return to == ON_share ? PUT0(d, sigmoid, x) : x;
}

/* With attributes that make sense. */
static tc_val put_op(garden *d, tc_op op, int n, const tc_val *in)
{
    bool fine, whole = !ti_is_float(type_at(d, in[op == TC_OP_where])->dtype);
    const void *attr = some_attr(d, tc_ops[op].attr, whole, &fine);
    return fine ? put(d, op, attr, tc_attrs[tc_ops[op].attr].size, n, in) : TC_NONE;
}

/* Of the pool: f32, now and then any type. */
static tc_val any_operand(garden *d)
{
    return some(d, draw(8) ? TC_f32 : TC_none, 0, 6);
}

static void one(garden *d)
{
    tc_op op = drawn_op(T_ELTWISE, 1);
    tc_val x = any_operand(d);
    if (!x || !op_takes(op, type_at(d, x)->dtype))
        return;
    if (type_at(d, x)->dtype == TC_f32)
        x = brought(d, x, defined_on[op]);
    keep(d, put_op(d, op, 1, &x));
}

/* What models have most of. */
static void common(garden *d)
{
    static const tc_op op[] = {TC_OP_relu, TC_OP_relu, TC_OP_silu, TC_OP_exp, TC_OP_sigmoid};
    tc_val x = some(d, TC_f32, 0, 6);
    if (x)
        keep(d, put(d, op[draw(TC_COUNT(op))], NULL, 0, 1, &x));
}

/* Of the same type, or one that broadcasts: a constant row, channel or number, or from the pool. */
static tc_val partner(garden *d, tc_val x, double lo, double hi)
{
    const tc_type *t = type_at(d, x);
    int64_t dim[8];
    for (int i = 0; i < 20; i++) {
        tc_val y = some(d, t->dtype, 0, 6);
        const tc_type *u = type_at(d, y);
        bool fits = y && u->rank <= t->rank;
        for (int k = 0; fits && k < u->rank; k++)
            fits = u->dim[k] == 1 || u->dim[k] == t->dim[t->rank - u->rank + k];
        if (fits && draw(3))
            return y;
    }
    int from = t->rank ? (int)draw((uint64_t)t->rank + 1) : 0;
    for (int k = from; k < t->rank; k++)
        dim[k - from] = draw(3) ? t->dim[k] : 1;
    return constant(d, t->dtype, t->rank - from, dim, lo, hi);
}

static void two(garden *d)
{
    static const tc_op often[] = {TC_OP_add, TC_OP_add, TC_OP_sub, TC_OP_mul, TC_OP_mul};
    tc_op op = draw(2) ? often[draw(TC_COUNT(often))] : drawn_op(T_ELTWISE, 2);
    tc_val x = any_operand(d);
    if (!x || !op_takes(op, type_at(d, x)->dtype))
        return;
    bool whole = !ti_is_float(type_at(d, x)->dtype), swapped = draw(4) == 0;
    tc_val y = partner(d, x, whole ? -3 : -1, whole ? 3 : 1);
    tc_val in[2] = {swapped ? y : x, swapped ? x : y};
    if (divides(op) && whole) /* by_a_number has them */
        return;
    in[1] = divides(op) ? brought(d, in[1], ON_positive) : in[1];
    in[0] = op == TC_OP_pow ? brought(d, in[0], ON_positive) : in[0];
    keep(d, put_op(d, op, 2, in));
}

static void by_a_number(garden *d)
{
    tc_val x = some(d, TC_f32, 0, 6);
    if (!x)
        return;
    double c = 0.5 + (double)draw(8) / 2;
    switch (draw(6)) {
    case 0:
        keep(d, PUT0(d, pow, x, scalar(d, draw(2) ? 2 : 3)));
        return;
    case 1:
        keep(d, PUT0(d, pow, brought(d, x, ON_positive), scalar(d, c - 2)));
        return;
    case 2:
        keep(d, PUT(d, div, ((tc_attr_div){(tc_field_div_mode)draw(3)}), x, scalar(d, c)));
        return;
    case 3:
        keep(d, PUT0(d, remainder, x, scalar(d, c)));
        return;
    case 4:
        keep(d, PUT0(d, fmod, x, scalar(d, c)));
        return;
    default:
        keep(d, PUT0(d, mul, x, scalar(d, c - 2)));
    }
}

static void compared(garden *d)
{
    static const tc_op op[] = {TC_OP_eq, TC_OP_ne, TC_OP_lt, TC_OP_le, TC_OP_gt, TC_OP_ge};
    tc_val x = some(d, TC_f32, 0, 6);
    if (!x)
        return;
    tc_val y = draw(2) ? scalar(d, (double)draw(5) / 4 - 0.5) : partner(d, x, -1, 1);
    tc_val is = put(d, op[draw(TC_COUNT(op))], NULL, 0, 2, (tc_val[]){x, y});
    if (draw(3) == 0)
        is = PUT0(d, logical_not, is);
    if (draw(3) == 0) {
        keep(d, is);
        return;
    }
    tc_val other = draw(3) == 0 ? scalar(d, draw(3) ? 0 : -1e4) : partner(d, x, -1, 1);
    keep(d, draw(2) ? PUT0(d, where, is, x, other) : PUT0(d, where, is, other, x));
}

static void three(garden *d)
{
    tc_op op = drawn_op(T_ELTWISE, 3);
    tc_val x = some(d, TC_f32, 0, 6);
    if (!x || !op_takes(op, TC_f32))
        return;
    tc_val y = partner(d, x, -1, 1), z = partner(d, x, 0.25, 1);
    if (op == TC_OP_where)
        x = PUT0(d, gt, x, scalar(d, 0));
    if (op == TC_OP_clamp_tensor && draw(4) == 0)
        y = TC_NONE;
    z = divides(op) ? brought(d, z, ON_positive) : z;
    keep(d, put_op(d, op, 3, (tc_val[]){x, y, z}));
}

/* A function of one value, spelled out; now and then with something that it may not have. */
static void spelled(garden *d)
{
    tc_val made[9], x = some(d, TC_f32, 0, 6);
    int steps = 2 + (int)draw(7);
    made[0] = x;
    for (int n = 1; x && n <= steps; n++) {
        tc_val a = made[draw(3) ? (uint64_t)n - 1 : draw((uint64_t)n)],
               b = draw(3) ? made[draw((uint64_t)n)] : scalar(d, (double)draw(17) / 4 - 2);
        switch (draw(9)) {
        case 0:
            x = PUT0(d, sigmoid, a);
            break;
        case 1:
            x = PUT0(d, tanh, a);
            break;
        case 2:
            x = PUT(d, clamp, ((tc_attr_clamp){-1, 3}), a);
            break;
        case 3:
            x = PUT(d, add, ((tc_attr_alpha){draw(4) ? 1 : 0.5}), a, b);
            break;
        case 4:
            x = PUT0(d, where, PUT0(d, gt, a, scalar(d, 0.25)), b, a);
            break;
        case 5:
            x = PUT0(d, maximum, a, b);
            break;
        case 6:
            x = draw(6) ? PUT0(d, softsign, a) : PUT0(d, mul, a, partner(d, a, -1, 1));
            break;
        default:
            x = PUT0(d, mul, a, b);
        }
        made[n] = x;
        if (x && draw(8) == 0)
            keep(d, x);
    }
    if (x)
        keep(d, x);
}

static void by_channel(garden *d)
{
    tc_val x = some(d, TC_f32, 2, 6);
    if (x)
        keep(d, PUT0(d, prelu, x, constant(d, TC_f32, 1, &type_at(d, x)->dim[1], 0, 0.5)));
}

static void gated(garden *d)
{
    tc_val x = some(d, TC_f32, 1, 5);
    const tc_type *t = type_at(d, x);
    for (int64_t i = 0; x && i < t->rank; i++)
        if (t->dim[i] % 2 == 0) {
            keep(d, PUT(d, glu, ((tc_attr_axis){i}), x));
            return;
        }
}

static void another_type(garden *d)
{
    static const tc_dtype to[] = {TC_i32, TC_i64, TC_bool, TC_f16, TC_i8, TC_f64, TC_bf16};
    tc_val x = some(d, TC_f32, 0, 6);
    if (!x)
        return;
    tc_dtype type = to[draw(TC_COUNT(to))];
    if (type == TC_i32 || type == TC_i64) /* what a float past the type becomes is not defined */
        x = PUT(d, clamp, ((tc_attr_clamp){-2e9, 2e9}), x);
    x = PUT(d, cast, ((tc_attr_cast){type}), x);
    keep(d, draw(2) ? x : PUT(d, cast, ((tc_attr_cast){TC_f32}), x));
}

const grow_entry grow_eltwise[] = {
    {one, 18},   {common, 4}, {two, 14},        {by_a_number, 4}, {compared, 4},
    {three, 3},  {spelled, 5}, {gated, 2},  {by_channel, 1},  {another_type, 1}, {NULL, 0}};
