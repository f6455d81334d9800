/* SPDX-License-Identifier: Apache-2.0 */
/* plain_kernels.c -- TOSA's integer operators by ExecuTorch's kernels for any CPU: aten's on i32 and i64,
 * wide enough that nothing is lost.  RESCALE, for one, is a product, a sum and a shift in i64. */
#include "kernel_calls.h"

#include "../num/fixed.h"
#include "../num/load.h"

typedef tc_val form(tc_cm_region *r, const tc_node *node);

/* ---- what forms are made of ---- */

static tc_val operand(tc_cm_region *r, const tc_node *node, int i)
{
    return ti_cm_value(r, node->in[i]);
}

static tc_dtype result_type(const tc_cm_region *r, const tc_node *node)
{
    return ti_cm_held(ti_cm_type(r, node->out[0])->dtype);
}

static tc_val wide(tc_cm_region *r, tc_val x) { return ti_b_cast(&r->b, x, TC_i64); }

static tc_val number(tc_cm_region *r, int64_t v) { return ti_b_scalar_i64(&r->b, TC_i64, v); }

static tc_val plus(tc_cm_region *r, tc_val x, int64_t v)
{
    return v ? ti_b_add(&r->b, x, number(r, v)) : x;
}

/* Back to the type of the node's result; it fits, or its low bits are what is wanted. */
static tc_val narrow(tc_cm_region *r, const tc_node *node, tc_val x)
{
    return ti_b_cast(&r->b, x, result_type(r, node));
}

static bool is_const(const tc_cm_region *r, tc_val v) { return ti_is_const(r->from, v); }

/* A constant of the region, one number or one for each of the last axis, as i64. */
static tc_val numbers(tc_cm_region *r, tc_val v, int64_t (*of)(const tc_cm_region *, tc_val, int64_t))
{
    int64_t n = tc_type_count(ti_cm_type(r, v));
    if (n == 1)
        return number(r, of(r, v, 0));
    int64_t *each = tc_new_n(&r->ctx->arena, int64_t, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        each[i] = of(r, v, i);
    return ti_b_list(&r->b, each, n);
}

/* ---- RESCALE ---- */

enum { MULTIPLIER = 1, SHIFT = 2, ZERO_IN = 3, ZERO_OUT = 4 };

static int64_t half(const tc_cm_region *r, tc_val v, int64_t i)
{
    return INT64_C(1) << (ti_cm_at(r, v, i) - 1);
}

/* What is added before the shift where x is not negative, and where it is. */
static int64_t half_up(const tc_cm_region *r, tc_val v, int64_t i)
{
    return half(r, v, i) + (ti_cm_at(r, v, i) > 31 ? INT64_C(1) << 30 : 0);
}

static int64_t half_down(const tc_cm_region *r, tc_val v, int64_t i)
{
    return half(r, v, i) - (ti_cm_at(r, v, i) > 31 ? INT64_C(1) << 30 : 0);
}

static bool rounds_twice(const tc_cm_region *r, const tc_node *node)
{
    bool twice = false;
    if (((const tc_attr_tosa_rescale *)node->attr)->rounding_mode != TC_rounding_double)
        return false;
    for (int64_t i = 0; i < tc_type_count(ti_cm_type(r, node->in[SHIFT])); i++)
        twice = twice || ti_cm_at(r, node->in[SHIFT], i) > 31;
    return twice;
}

static tc_val within(tc_cm_region *r, tc_val x, tc_dtype t)
{
    return ti_b_clamp(&r->b, x, (double)ti_dtype_min(t), (double)ti_dtype_max(t));
}

static int64_t as_unsigned(tc_dtype t, int64_t v)
{
    return v & ((INT64_C(1) << tc_dtypes[t].bits) - 1);
}

static int64_t zero_of(const tc_cm_region *r, const tc_node *node, int i, bool is_unsigned)
{
    int64_t zero = ti_cm_at(r, node->in[i], 0);
    return is_unsigned ? as_unsigned(ti_cm_type(r, node->in[i])->dtype, zero) : zero;
}

static tc_val form_rescale(tc_cm_region *r, const tc_node *node)
{
    const tc_attr_tosa_rescale *a = node->attr;
    for (int i = 1; i < 5; i++)
        if (!is_const(r, node->in[i]))
            return TC_NONE;
    if (a->rounding_mode == TC_rounding_inexact) {
        r->why = "its rounding is INEXACT_ROUND";
        return TC_NONE;
    }
    tc_dtype from = ti_cm_type(r, node->in[0])->dtype, to = result_type(r, node);
    tc_val x = wide(r, operand(r, node, 0));
    if (a->input_unsigned)
        x = ti_b_bitwise_and(&r->b, x, number(r, as_unsigned(from, -1)));
    x = plus(r, x, -zero_of(r, node, ZERO_IN, a->input_unsigned));
    tc_val round;
    if (rounds_twice(r, node)) {
        tc_val zero = number(r, 0);
        tc_val up = numbers(r, node->in[SHIFT], half_up);
        tc_val down = numbers(r, node->in[SHIFT], half_down);
        tc_val positive = ti_b_ge(&r->b, x, zero);
        round = ti_b_where(&r->b, positive, up, down);
    } else
        round = numbers(r, node->in[SHIFT], half);
    tc_val m = numbers(r, node->in[MULTIPLIER], ti_cm_at);
    tc_val shift = numbers(r, node->in[SHIFT], ti_cm_at);
    x = ti_b_mul(&r->b, x, m);
    x = ti_b_add(&r->b, x, round);
    x = ti_b_shift_right(&r->b, x, shift);
    x = plus(r, x, zero_of(r, node, ZERO_OUT, a->output_unsigned));
    x = a->output_unsigned ? ti_b_clamp(&r->b, x, 0, (double)as_unsigned(to, -1)) : within(r, x, to);
    return narrow(r, node, x);
}

/* ---- arithmetic ---- */

static tc_val binary(tc_cm_region *r, const tc_node *node, tc_op op)
{
    tc_val x = operand(r, node, 0), y = operand(r, node, 1);
    return ti_b_binary(&r->b, op, x, y);
}

static tc_val form_add(tc_cm_region *r, const tc_node *node) { return binary(r, node, TC_OP_add); }
static tc_val form_sub(tc_cm_region *r, const tc_node *node) { return binary(r, node, TC_OP_sub); }

/* TOSA's comparisons and selects have names of ours. */
static const struct {
    tc_op tosa, op;
} same[] = {
    {TC_OP_tosa_bitwise_and, TC_OP_bitwise_and}, {TC_OP_tosa_bitwise_or, TC_OP_bitwise_or},
    {TC_OP_tosa_bitwise_xor, TC_OP_bitwise_xor}, {TC_OP_tosa_logical_and, TC_OP_logical_and},
    {TC_OP_tosa_logical_or, TC_OP_logical_or},   {TC_OP_tosa_logical_xor, TC_OP_logical_xor},
    {TC_OP_tosa_maximum, TC_OP_maximum},         {TC_OP_tosa_minimum, TC_OP_minimum},
    {TC_OP_tosa_equal, TC_OP_eq},                {TC_OP_tosa_greater, TC_OP_gt},
    {TC_OP_tosa_greater_equal, TC_OP_ge},
};

static tc_val form_same(tc_cm_region *r, const tc_node *node)
{
    size_t i = 0;
    while (same[i].tosa != node->op)
        i++;
    return binary(r, node, same[i].op);
}

static tc_val form_mul(tc_cm_region *r, const tc_node *node)
{
    if (!is_const(r, node->in[2]))
        return TC_NONE;
    int64_t shift = ti_cm_at(r, node->in[2], 0);
    tc_val x = wide(r, operand(r, node, 0)), y = wide(r, operand(r, node, 1));
    x = ti_b_mul(&r->b, x, y);
    if (shift) {
        x = plus(r, x, INT64_C(1) << (shift - 1));
        x = ti_b_shift_right(&r->b, x, number(r, shift));
    }
    return narrow(r, node, x);
}

/* Rounded: the last bit that falls away is added. */
static tc_val form_right(tc_cm_region *r, const tc_node *node)
{
    const tc_attr_tosa_shift *a = node->attr;
    tc_val x = wide(r, operand(r, node, 0)), n = wide(r, operand(r, node, 1));
    tc_val y = ti_b_shift_right(&r->b, x, n);
    if (!a->round)
        return narrow(r, node, y);
    tc_val zero = number(r, 0), one = number(r, 1);
    tc_val before = ti_b_maximum(&r->b, plus(r, n, -1), zero);
    tc_val last = ti_b_bitwise_and(&r->b, ti_b_shift_right(&r->b, x, before), one);
    tc_val shifts = ti_b_gt(&r->b, n, zero);
    tc_val carry = ti_b_where(&r->b, shifts, last, zero);
    return narrow(r, node, ti_b_add(&r->b, y, carry));
}

static tc_val form_left(tc_cm_region *r, const tc_node *node)
{
    tc_val x = wide(r, operand(r, node, 0)), n = wide(r, operand(r, node, 1));
    return narrow(r, node, ti_b_shift_left(&r->b, x, n));
}

static tc_val form_logical_right(tc_cm_region *r, const tc_node *node)
{
    tc_dtype t = ti_cm_type(r, node->in[0])->dtype;
    tc_val x = wide(r, operand(r, node, 0)), n = wide(r, operand(r, node, 1));
    x = ti_b_bitwise_and(&r->b, x, number(r, (INT64_C(1) << tc_dtypes[t].bits) - 1));
    return narrow(r, node, ti_b_shift_right(&r->b, x, n));
}

/* Zeros before the first one: how many of 1, 2, 4 ... 2^31 are larger than a number that is not
 * negative. */
static tc_val form_clz(tc_cm_region *r, const tc_node *node)
{
    enum { BITS = 32 };
    int64_t power[BITS], last = ti_cm_type(r, node->in[0])->rank;
    for (int i = 0; i < BITS; i++)
        power[i] = INT64_C(1) << i;
    if (last >= TC_MAX_RANK)
        return TC_NONE;
    tc_val x = wide(r, operand(r, node, 0)), zero = number(r, 0);
    tc_val powers = ti_b_list(&r->b, power, BITS);
    tc_val each = ti_b_unsqueeze(&r->b, x, last);
    tc_val larger = wide(r, ti_b_gt(&r->b, powers, each));
    tc_val n = ti_b_sum(&r->b, larger, ti_ints_copy(&r->ctx->arena, &last, 1), false);
    tc_val negative = ti_b_gt(&r->b, zero, x);
    return narrow(r, node, ti_b_where(&r->b, negative, zero, n));
}

static tc_val form_clamp(tc_cm_region *r, const tc_node *node)
{
    const tc_attr_tosa_clamp *a = node->attr;
    tc_dtype t = result_type(r, node);
    tc_val x = operand(r, node, 0);
    return ti_b_clamp(&r->b, x, (double)ti_max_i64((int64_t)a->min_val, ti_dtype_min(t)),
                      (double)ti_min_i64((int64_t)a->max_val, ti_dtype_max(t)));
}

#define FORM(name, ...)                                                                            \
    static tc_val form_##name(tc_cm_region *r, const tc_node *node) { return __VA_ARGS__; }

FORM(cast, narrow(r, node, operand(r, node, 0)))
FORM(abs, ti_b_abs(&r->b, operand(r, node, 0)))
FORM(bitwise_not, ti_b_bitwise_not(&r->b, operand(r, node, 0)))
FORM(logical_not, ti_b_logical_not(&r->b, operand(r, node, 0)))

static tc_val form_negate(tc_cm_region *r, const tc_node *node)
{
    if (!is_const(r, node->in[1]) || !is_const(r, node->in[2]))
        return TC_NONE;
    tc_val x = wide(r, operand(r, node, 0));
    x = ti_b_sub(&r->b, number(r, ti_cm_at(r, node->in[1], 0) + ti_cm_at(r, node->in[2], 0)), x);
    return narrow(r, node, within(r, x, result_type(r, node)));
}

static tc_val form_intdiv(tc_cm_region *r, const tc_node *node)
{
    tc_val x = operand(r, node, 0), y = operand(r, node, 1);
    return ti_b_2(&r->b, div, ti_b_attr(&r->b, div, TC_div_mode_trunc), x, y);
}

static tc_val form_select(tc_cm_region *r, const tc_node *node)
{
    tc_val c = operand(r, node, 0), x = operand(r, node, 1), y = operand(r, node, 2);
    return ti_b_where(&r->b, c, x, y);
}

/* TABLE of i16: between two of 513 entries.  That of i8 is a separate operator. */
static tc_val form_table(tc_cm_region *r, const tc_node *node)
{
    const tc_type *x = ti_cm_type(r, node->in[0]);
    int64_t flat = tc_type_count(x);
    if (x->dtype != TC_i16 || !is_const(r, node->in[1]))
        return TC_NONE;
    tc_val v = wide(r, ti_b_reshape(&r->b, operand(r, node, 0), 1, &flat));
    tc_val table = wide(r, operand(r, node, 1));
    tc_val at = plus(r, ti_b_shift_right(&r->b, v, number(r, 7)), 256);
    tc_val low = ti_b_2(&r->b, index_select, ti_b_attr(&r->b, axis, 0), table, at);
    tc_val next = plus(r, at, 1);
    tc_val high = ti_b_2(&r->b, index_select, ti_b_attr(&r->b, axis, 0), table, next);
    tc_val rest = ti_b_bitwise_and(&r->b, v, number(r, 127));
    tc_val y = ti_b_mul(&r->b, ti_b_sub(&r->b, high, low), rest);
    y = ti_b_add(&r->b, y, ti_b_mul(&r->b, low, number(r, 128)));
    return narrow(r, node, ti_b_reshape(&r->b, y, x->rank, x->dim));
}

/* ---- reductions ---- */

static tc_ints axis_of(tc_cm_region *r, const tc_node *node)
{
    return ti_ints_copy(&r->ctx->arena, &((const tc_attr_tosa_axis *)node->attr)->axis, 1);
}

/* The kernel adds the elements of one axis in f32 if it keeps their type: i64 from i32. */
static tc_val summed(tc_cm_region *r, tc_val x, tc_ints axes)
{
    return ti_b_sum(&r->b, ti_b_cast(&r->b, x, TC_i32), axes, true);
}

FORM(reduce_sum, narrow(r, node, summed(r, operand(r, node, 0), axis_of(r, node))))
FORM(reduce_max, ti_b_amax(&r->b, operand(r, node, 0), axis_of(r, node), true))
FORM(reduce_min, ti_b_amin(&r->b, operand(r, node, 0), axis_of(r, node), true))
FORM(reduce_any, ti_b_any(&r->b, operand(r, node, 0), axis_of(r, node), true))

static tc_val form_reduce_all(tc_cm_region *r, const tc_node *node)
{
    tc_val not = ti_b_logical_not(&r->b, operand(r, node, 0));
    return ti_b_logical_not(&r->b, ti_b_any(&r->b, not, axis_of(r, node), true));
}

static tc_val form_argmax(tc_cm_region *r, const tc_node *node)
{
    const tc_attr_tosa_argmax *a = node->attr;
    tc_val x = operand(r, node, 0);
    return narrow(r, node,
                  ti_b_1(&r->b, argmax, ti_b_attr(&r->b, arg, a->axis, false), x));
}

/* The mean over whole planes: their sums, scaled. */
static tc_val form_avg_pool(tc_cm_region *r, const tc_node *node)
{
    const tc_attr_tosa_avg_pool *a = node->attr;
    const tc_type *x = ti_cm_type(r, node->in[0]);
    int64_t n = x->dim[1] * x->dim[2];
    if (!ti_ints_are(a->pad, 0) || a->kernel.v[0] != x->dim[1] || a->kernel.v[1] != x->dim[2] ||
        !is_const(r, node->in[1]) || !is_const(r, node->in[2]))
        return TC_NONE;
    tc_scale s = ti_reciprocal_scale((uint32_t)n);
    tc_val y = summed(r, operand(r, node, 0), ti_ints_copy(&r->ctx->arena, (int64_t[]){1, 2}, 2));
    y = wide(r, y);
    y = plus(r, y, -n * ti_cm_at(r, node->in[1], 0));
    y = ti_b_mul(&r->b, y, number(r, s.multiplier));
    y = plus(r, y, INT64_C(1) << (s.shift - 1));
    y = ti_b_shift_right(&r->b, y, number(r, s.shift));
    y = plus(r, y, ti_cm_at(r, node->in[2], 0));
    return narrow(r, node, within(r, y, result_type(r, node)));
}

/* ---- products ---- */

enum { WEIGHTS = 1, BIAS = 2, ZERO_X = 3, ZERO_W = 4 };

/* x without its zero point, in the type of the sums. */
static tc_val centred(tc_cm_region *r, tc_val x, int64_t zero, tc_dtype sums)
{
    x = ti_b_cast(&r->b, x, sums);
    return zero ? ti_b_sub(&r->b, x, ti_b_scalar_i64(&r->b, sums, zero)) : x;
}

static bool has_constants(const tc_cm_region *r, const tc_node *node)
{
    for (int i = 1; i < 5; i++)
        if (!is_const(r, node->in[i]))
            return false;
    return true;
}

static tc_val biased(tc_cm_region *r, const tc_node *node, tc_val y, tc_dtype sums)
{
    return ti_b_add(&r->b, y, ti_b_cast(&r->b, operand(r, node, BIAS), sums));
}

/* A convolution of one pixel is a product of matrices. */
static tc_val form_conv2d(tc_cm_region *r, const tc_node *node)
{
    const tc_attr_tosa_conv *a = node->attr;
    const tc_type *w = ti_cm_type(r, node->in[WEIGHTS]), *y = ti_cm_type(r, node->out[0]);
    tc_dtype sums = result_type(r, node);
    if (!has_constants(r, node) || w->dim[1] != 1 || w->dim[2] != 1 || !ti_ints_are(a->pad, 0) ||
        !ti_ints_are(a->stride, 1))
        return TC_NONE;
    int64_t rows[] = {tc_type_count(y) / w->dim[0], w->dim[3]}, each[] = {w->dim[0], w->dim[3]};
    tc_val x = ti_b_reshape(&r->b, operand(r, node, 0), 2, rows);
    x = centred(r, x, ti_cm_at(r, node->in[ZERO_X], 0), sums);
    tc_val m = ti_b_reshape(&r->b, operand(r, node, WEIGHTS), 2, each);
    m = centred(r, m, ti_cm_at(r, node->in[ZERO_W], 0), sums);
    m = ti_b_swap(&r->b, m, 0, 1);
    x = biased(r, node, ti_b_matmul(&r->b, x, m), sums);
    return ti_b_reshape(&r->b, x, y->rank, y->dim);
}

/* A depthwise convolution of windows that are all of an axis is a sum along it. */
static tc_val form_depthwise(tc_cm_region *r, const tc_node *node)
{
    const tc_attr_tosa_conv *a = node->attr;
    const tc_type *x = ti_cm_type(r, node->in[0]), *w = ti_cm_type(r, node->in[WEIGHTS]);
    tc_dtype sums = result_type(r, node);
    int64_t axis[2], n = 0, kernel[] = {1, w->dim[0], w->dim[1], w->dim[2]};
    if (!has_constants(r, node) || w->dim[3] != 1 || !ti_ints_are(a->pad, 0) ||
        !ti_ints_are(a->dilation, 1))
        return TC_NONE;
    for (int i = 0; i < 2; i++) {
        if (w->dim[i] != x->dim[1 + i] && (w->dim[i] != 1 || a->stride.v[i] != 1))
            return TC_NONE;
        if (w->dim[i] != 1)
            axis[n++] = 1 + i;
    }
    bool ones = !ti_cm_at(r, node->in[ZERO_W], 0);
    for (int64_t i = 0; i < tc_type_count(w); i++)
        ones = ones && ti_cm_at(r, node->in[WEIGHTS], i) == 1;
    tc_val y = centred(r, operand(r, node, 0), ti_cm_at(r, node->in[ZERO_X], 0), TC_i32);
    if (!ones) {
        tc_val m = ti_b_reshape(&r->b, operand(r, node, WEIGHTS), 4, kernel);
        m = centred(r, m, ti_cm_at(r, node->in[ZERO_W], 0), TC_i32);
        y = ti_b_mul(&r->b, y, m);
    }
    if (n)
        y = ti_b_sum(&r->b, y, ti_ints_copy(&r->ctx->arena, axis, (int32_t)n), true);
    return biased(r, node, ti_b_cast(&r->b, y, sums), sums);
}

static tc_val form_matmul(tc_cm_region *r, const tc_node *node)
{
    tc_dtype sums = result_type(r, node);
    if (!is_const(r, node->in[2]) || !is_const(r, node->in[3]))
        return TC_NONE;
    tc_val x = centred(r, operand(r, node, 0), ti_cm_at(r, node->in[2], 0), sums);
    tc_val y = centred(r, operand(r, node, 1), ti_cm_at(r, node->in[3], 0), sums);
    return ti_b_matmul(&r->b, x, y);
}

/* ---- movement ---- */

static tc_val form_reshape(tc_cm_region *r, const tc_node *node)
{
    const tc_type *y = ti_cm_type(r, node->out[0]);
    return ti_b_reshape(&r->b, operand(r, node, 0), y->rank, y->dim);
}

FORM(identity, operand(r, node, 0))

static tc_val form_transpose(tc_cm_region *r, const tc_node *node)
{
    return ti_b_permute(&r->b, operand(r, node, 0),
                        ((const tc_attr_tosa_perms *)node->attr)->perms.v);
}

static tc_val form_concat(tc_cm_region *r, const tc_node *node)
{
    tc_val *in = tc_new_n(&r->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        if (!(in[i] = operand(r, node, i)))
            return TC_NONE;
    return ti_b_cat(&r->b, ((const tc_attr_tosa_axis *)node->attr)->axis, in, node->n_in);
}

static tc_val form_slice(tc_cm_region *r, const tc_node *node)
{
    const tc_type *y = ti_cm_type(r, node->out[0]);
    if (!is_const(r, node->in[1]))
        return TC_NONE;
    tc_val x = operand(r, node, 0);
    for (int i = 0; i < y->rank && x; i++) {
        int64_t start = ti_cm_at(r, node->in[1], i);
        x = ti_b_slice(&r->b, x, i, start, start + y->dim[i], 1);
    }
    return x;
}

static tc_val form_pad(tc_cm_region *r, const tc_node *node)
{
    const tc_type *x = ti_cm_type(r, node->in[0]);
    int64_t pad[2 * TC_MAX_RANK];
    if (!is_const(r, node->in[1]) || !is_const(r, node->in[2]))
        return TC_NONE;
    for (int i = 0; i < 2 * x->rank; i++)
        pad[i] = ti_cm_at(r, node->in[1], i);
    return ti_b_pad(&r->b, operand(r, node, 0), pad, (double)ti_cm_at(r, node->in[2], 0));
}

FORM(reverse, ti_b_flip(&r->b, operand(r, node, 0), ((const tc_attr_tosa_axis *)node->attr)->axis))

static tc_val form_tile(tc_cm_region *r, const tc_node *node)
{
    const tc_type *x = ti_cm_type(r, node->in[0]);
    int64_t times[TC_MAX_RANK];
    if (!is_const(r, node->in[1]))
        return TC_NONE;
    for (int i = 0; i < x->rank; i++)
        times[i] = ti_cm_at(r, node->in[1], i);
    tc_val v = operand(r, node, 0);
    tc_ints list = ti_ints_copy(&r->ctx->arena, times, x->rank);
    return ti_b_1(&r->b, repeat, ti_b_attr(&r->b, repeat, list), v);
}

/* [n,k,c] at [n,w]: [n,w,c] */
static tc_val form_gather(tc_cm_region *r, const tc_node *node)
{
    const tc_type *y = ti_cm_type(r, node->out[0]);
    tc_val x = operand(r, node, 0), at = wide(r, operand(r, node, 1));
    at = ti_b_expand(&r->b, ti_b_unsqueeze(&r->b, at, 2), 3, y->dim);
    return ti_b_gather(&r->b, x, at, 1);
}

/* ---- the table ---- */

static const struct {
    tc_op op;
    form *make;
} forms[] = {
#define G(op, form) {TC_OP_tosa_##op, form_##form}
#define F(op) G(op, op)
    F(rescale), F(add), F(sub), F(mul), G(arithmetic_right_shift, right),
    G(logical_left_shift, left), G(logical_right_shift, logical_right), G(bitwise_and, same),
    G(bitwise_or, same), G(bitwise_xor, same), G(logical_and, same), G(logical_or, same),
    G(logical_xor, same), G(maximum, same), G(minimum, same), G(equal, same), G(greater, same),
    G(greater_equal, same), F(clz), F(clamp), F(cast), F(abs), F(bitwise_not), F(logical_not),
    F(negate), F(intdiv), F(select), F(table), F(reduce_sum), F(reduce_max), F(reduce_min),
    F(reduce_any), F(reduce_all), F(argmax), G(avg_pool2d, avg_pool), F(conv2d),
    G(depthwise_conv2d, depthwise), F(matmul), F(reshape), F(identity), F(transpose), F(concat),
    F(slice), F(pad), F(reverse), F(tile), F(gather),
};

bool ti_cm_plain(tc_cm_region *r, const tc_node *node, tc_val *out)
{
    for (size_t i = 0; i < TC_COUNT(forms); i++)
        if (forms[i].op == node->op)
            *out = forms[i].make(r, node);
    return *out != TC_NONE;
}
