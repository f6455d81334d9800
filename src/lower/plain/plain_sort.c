/* SPDX-License-Identifier: Apache-2.0 */
/* plain_sort.c -- the first k of a row in order, and their indices: topk, sort.
 *
 * TOSA does not sort, but it finds the largest: k times, each time removing it.  Codes of 8 and 16
 * bits and their indices are combined,
 *
 *     key = code * 2^b + (n - 1 - index)      2^b > n - 1
 *
 * so no two are equal and the first of equals is the larger key; the largest key gives both.  For
 * integers of 32 bits the index is the first where the largest occurs among the rest.  Floats are
 * found by ARGMAX, and the values are gathered in the end. */
#include <float.h>
#include <math.h>

#include "plain.h"

enum { MOST_STEPS = 512 };

typedef struct order {
    int64_t axis, n, k, rows;
    bool largest;
} order;

static order order_of(tc_build *lw, const tc_node *node)
{
    const tc_type *t = ti_lower_type(lw, node, 0);
    order o = {.n = 1, .k = 1};
    if (node->op == TC_OP_topk) {
        const tc_attr_topk *a = node->attr;
        o.axis = a->axis;
        o.k = a->k;
        o.largest = a->largest;
    } else {
        const tc_attr_sort *a = node->attr;
        o.axis = a->axis;
        o.largest = a->descending;
        o.k = t->rank ? t->dim[a->axis] : 1;
    }
    if (t->rank)
        o.n = t->dim[o.axis];
    o.rows = o.n ? tc_type_count(t) / o.n : 0;
    return o;
}

static bool start(tc_build *lw, const order *o)
{
    if (!lw->lower->target->machine->can.selects)
        ti_lower_refuse(lw, "the machine does not compare");
    else if (o->k > MOST_STEPS)
        ti_lower_refuse(lw, "TOSA does not sort, and %d elements are too many to select",
                        (int)o->k);
    else if (!o->rows || !o->k)
        ti_lower_refuse(lw, "it is empty");
    return lw->status == TC_OK;
}

/* Any shape as [rows, n]. */
static tc_val as_rows(tc_build *lw, tc_val x, const order *o)
{
    if (x && ti_b_type(lw, x)->rank)
        x = ti_b_tosa_axis_last(lw, x, (int)o->axis);
    return ti_b_tosa_reshape(lw, x, 2, (int64_t[]){o->rows, o->n});
}

/* [rows, k] in the shape of t. */
static tc_val as_result(tc_build *lw, tc_val x, const order *o, const tc_type *t)
{
    int64_t dim[TC_MAX_RANK];
    int at = 0;
    for (int i = 0; i < t->rank; i++)
        if (i != o->axis)
            dim[at++] = t->dim[i];
    if (t->rank)
        dim[at] = o->k;
    x = ti_b_tosa_reshape(lw, x, t->rank, dim);
    return t->rank ? ti_b_tosa_axis_back(lw, x, (int)o->axis) : x;
}

/* [1, n] of i32 or f32: first, first + step, ... */
static tc_val counted(tc_build *lw, tc_dtype dtype, int64_t n, double first, double step)
{
    double *v = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        v[i] = first + step * (double)i;
    return ti_b_numbers(lw, dtype, 2, (int64_t[]){1, n}, v);
}

/* ---- codes ---- */

/* Keys [rows, k], from the largest down. */
static tc_val keys_in_order(tc_build *lw, tc_val key, const order *o)
{
    tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)o->k);
    tc_val nothing = ti_b_single(lw, TC_i32, 2, (double)INT32_MIN);
    for (int64_t i = 0; i < o->k; i++) {
        part[i] = ti_b_tosa_reduce_max(lw, key, 1);
        if (i + 1 == o->k)
            break;
        tc_val found = ti_b_tosa_equal(lw, key, part[i]);
        key = ti_b_tosa_select(lw, found, nothing, key);
    }
    return ti_put_join(lw, part, (int)o->k, 1);
}

static tc_val shifted(tc_build *lw, tc_op op, tc_val x, int bits)
{
    static const tc_attr_tosa_shift down = {.round = false};
    return ti_b_op(lw, op, op == TC_OP_tosa_arithmetic_right_shift ? &down : NULL,
                   (tc_val[]){x, ti_b_single(lw, TC_i32, 2, bits)}, 2);
}

/* code: [rows, n] of i32, what fits `width` bits. */
static void find_codes(tc_build *lw, tc_val code, int width, const order *o, tc_val *found,
                       tc_val *place)
{
    int bits = 0;
    while ((o->n - 1) >> bits)
        bits++;
    if (bits + width > 32) {
        ti_lower_refuse(lw, "its rows are too long");
        return;
    }
    tc_val key = shifted(lw, TC_OP_tosa_logical_left_shift,
                         o->largest ? code : ti_plain_from(lw, -1, code), bits);
    tc_val last = counted(lw, TC_i32, o->n, (double)(o->n - 1), -1);
    key = keys_in_order(lw, ti_b_tosa_add(lw, key, last), o);
    tc_val high = shifted(lw, TC_OP_tosa_arithmetic_right_shift, key, bits);
    tc_val low = ti_b_tosa_sub(lw, key, shifted(lw, TC_OP_tosa_logical_left_shift, high, bits));
    *found = o->largest ? high : ti_plain_from(lw, -1, high);
    *place = ti_plain_from(lw, (double)(o->n - 1), low);
}

/* Quantized codes, or integers of up to 16 bits. */
static void ordered_codes(tc_build *lw, const tc_node *node, const order *o, tc_val *out)
{
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0),
                  *at = ti_lower_result(lw, node, 1);
    tc_val x = as_rows(lw, ti_lower_in(lw, node, 0), o), found = TC_NONE, place = TC_NONE;
    x = from->quant ? ti_put_rescale(lw, x, 1, 0, 0, TC_i32) : ti_put_cast(lw, x, TC_i32);
    find_codes(lw, x, from->dtype == TC_bool ? 2 : tc_dtypes[from->dtype].bits, o, &found, &place);
    if (lw->rw->readers[node->out[0]]) {
        found = from->quant ? ti_put_rescale(lw, found, 1, 0, 0, from->dtype)
                            : ti_put_cast(lw, found, from->dtype);
        out[0] = as_result(lw, ti_put_convert(lw, found, from, to), o, to);
    }
    if (lw->rw->readers[node->out[1]])
        out[1] = ti_put_cast(lw, as_result(lw, place, o, at), at->dtype);
}

void ti_lower_int_sorted(tc_build *lw, const tc_node *node, tc_val *out)
{
    order o = order_of(lw, node);
    if (!ti_is_activation(ti_lower_type(lw, node, 0)) ||
        (lw->rw->readers[node->out[0]] && !ti_is_activation(ti_lower_result(lw, node, 0))))
        ti_lower_refuse(lw, "its operand or its result does not have one scale");
    else if (start(lw, &o))
        ordered_codes(lw, node, &o, out);
}

/* ---- integers of 32 bits ---- */

/* x: [rows, n] of i32, the largest first. */
static void find_numbers(tc_build *lw, tc_val x, const order *o, tc_val *found, tc_val *place)
{
    tc_val *value = tc_new_n(&lw->ctx->arena, tc_val, (size_t)o->k),
           *at = tc_new_n(&lw->ctx->arena, tc_val, (size_t)o->k);
    tc_val number = counted(lw, TC_i32, o->n, 0, 1), taken = TC_NONE, left = x,
           nothing = ti_b_single(lw, TC_i32, 2, (double)INT32_MIN),
           nowhere = ti_b_single(lw, TC_i32, 2, (double)o->n);
    for (int64_t i = 0; i < o->k; i++) {
        value[i] = ti_b_tosa_reduce_max(lw, left, 1);
        tc_val other = ti_b_tosa_greater(lw, value[i], left);
        tc_val where = ti_b_tosa_select(lw, other, nowhere, number);
        if (taken)
            where = ti_b_tosa_select(lw, taken, nowhere, where);
        at[i] = ti_b_tosa_reduce_min(lw, where, 1);
        if (i + 1 == o->k)
            break;
        tc_val here = ti_b_tosa_equal(lw, number, at[i]);
        taken = taken ? ti_b_tosa_logical_or(lw, taken, here) : here;
        left = ti_b_tosa_select(lw, taken, nothing, x);
    }
    *found = ti_put_join(lw, value, (int)o->k, 1);
    *place = ti_put_join(lw, at, (int)o->k, 1);
}

static void ordered_numbers(tc_build *lw, const tc_node *node, const order *o, tc_val *out)
{
    const tc_type *to = ti_lower_result(lw, node, 0), *at = ti_lower_result(lw, node, 1);
    tc_val x = as_rows(lw, ti_lower_in(lw, node, 0), o), found = TC_NONE, place = TC_NONE;
    find_numbers(lw, o->largest ? x : ti_plain_from(lw, -1, x), o, &found, &place);
    if (lw->rw->readers[node->out[0]])
        out[0] = as_result(lw, o->largest ? found : ti_plain_from(lw, -1, found), o, to);
    if (lw->rw->readers[node->out[1]])
        out[1] = ti_put_cast(lw, as_result(lw, place, o, at), at->dtype);
}

/* ---- floats ---- */

/* Indices [rows, k] as f32; what is found becomes less than every number.  NaN is the first of the
 * largest, and the last of the smallest: less than any number but not yet found. */
static tc_val places_in_order(tc_build *lw, tc_val x, const order *o)
{
    tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)o->k);
    tc_val number = counted(lw, TC_f32, o->n, 0, 1), nothing = ti_plain_number(lw, x, -INFINITY);
    tc_attr_tosa_argmax *a = tc_new(&lw->ctx->arena, tc_attr_tosa_argmax);
    *a = (tc_attr_tosa_argmax){1, o->largest ? TC_nan_mode_propagate : TC_nan_mode_ignore};
    x = ti_b_tosa_maximum(lw, x, ti_plain_number(lw, x, (double)nextafterf(-FLT_MAX, 0)));
    if (!o->largest) {
        tc_val is_number = ti_b_tosa_equal(lw, x, x);
        x = ti_b_tosa_select(lw, is_number, x, ti_plain_number(lw, x, -FLT_MAX));
    }
    for (int64_t i = 0; i < o->k; i++) {
        tc_val at = ti_b_tosa_cast(lw, ti_b_1(lw, tosa_argmax, a, x), TC_f32);
        part[i] = ti_b_tosa_reshape(lw, at, 2, (int64_t[]){o->rows, 1});
        if (i + 1 == o->k)
            break;
        tc_val found = ti_b_tosa_equal(lw, number, part[i]);
        x = ti_b_tosa_select(lw, found, nothing, x);
    }
    return ti_put_join(lw, part, (int)o->k, 1);
}

void ti_lower_plain_sorted(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0),
                  *at = ti_lower_result(lw, node, 1);
    order o = order_of(lw, node);
    if (!start(lw, &o))
        return;
    if (ti_is_int(from->dtype) || from->dtype == TC_bool) {
        if (from->dtype == TC_i32 && to->dtype == TC_i32)
            ordered_numbers(lw, node, &o, out);
        else if (tc_dtypes[from->dtype].bits > 16)
            ti_lower_refuse(lw, "TOSA does not sort %s", tc_dtypes[from->dtype].name);
        else
            ordered_codes(lw, node, &o, out);
        return;
    }
    if (from->dtype == TC_f64) {
        ti_lower_refuse(lw, "TOSA does not sort f64");
        return;
    }
    tc_val x = as_rows(lw, ti_plain_in(lw, node, 0, TC_f32, 0), &o);
    tc_val place = places_in_order(lw, o.largest ? x : ti_plain_negate(lw, x), &o);
    if (lw->rw->readers[node->out[0]]) {
        tc_val rows = ti_b_tosa_reshape(lw, x, 3, (int64_t[]){o.rows, o.n, 1});
        tc_val found = ti_put_gather(lw, rows, ti_b_tosa_cast(lw, place, TC_i32));
        found = ti_b_tosa_reshape(lw, found, 2, (int64_t[]){o.rows, o.k});
        out[0] = ti_put_cast(lw, as_result(lw, found, &o, to), to->dtype);
    }
    if (lw->rw->readers[node->out[1]])
        out[1] = ti_b_tosa_cast(lw, as_result(lw, place, &o, at), at->dtype);
}
