/* SPDX-License-Identifier: Apache-2.0 */
/* lower_compare.c -- comparisons and selects of quantized values.
 *
 * Against a constant, codes are compared with the code where the result changes, which is exact.
 * Two tensors are compared in one domain, as fine as i32 allows; where that is not enough, by a
 * list of all pairs of codes. */
#include <math.h>

#include "arith.h"
#include "table_function.h"

/* The operator of TOSA for one of ours. */
typedef struct relation {
    tc_op op;
    bool swap, invert;
} relation;

static relation relation_of(tc_op op)
{
    switch (op) {
    case TC_OP_eq:
        return (relation){TC_OP_tosa_equal, false, false};
    case TC_OP_ne:
        return (relation){TC_OP_tosa_equal, false, true};
    case TC_OP_gt:
        return (relation){TC_OP_tosa_greater, false, false};
    case TC_OP_lt:
        return (relation){TC_OP_tosa_greater, true, false};
    case TC_OP_ge:
        return (relation){TC_OP_tosa_greater_equal, false, false};
    default:
        return (relation){TC_OP_tosa_greater_equal, true, false};
    }
}

static tc_val constant_truth(tc_build *lw, const tc_type *to, bool value)
{
    return ti_b_tosa_expand(lw, ti_b_single(lw, TC_bool, to->rank, value), to->rank, to->dim);
}

/* The answer by code goes from one value to the other and perhaps back: truth from `first` to
 * `last`. */
static bool interval(const double *code, int64_t n, bool *inside, int64_t *first, int64_t *last)
{
    int changes = 0;
    for (int64_t i = 1; i < n; i++)
        changes += code[i] != code[i - 1];
    *inside = changes == 2 ? code[0] == 0 : true;
    *first = n;
    *last = -1;
    for (int64_t i = 0; i < n; i++)
        if ((code[i] != 0) == *inside) {
            *last = i;
            *first = *first == n ? i : *first;
        }
    return changes <= 2;
}

/* A comparison with one number: at most two codes decide. */
static bool by_threshold(tc_build *lw, const tc_node *node, tc_val *out)
{
    int which = ti_function_operand(lw, node);
    const tc_type *to = ti_lower_result(lw, node, 0),
                  *from = which < 0 ? NULL : ti_lower_type(lw, node, which);
    if (!from || !ti_is_activation(from))
        return false;
    const double *code = ti_function_codes(lw, node, which);
    if (!code)
        return true;
    int64_t lowest = ti_dtype_min(from->dtype), n = ti_dtype_max(from->dtype) - lowest + 1, first,
            last;
    bool inside;
    if (!interval(code, n, &inside, &first, &last))
        return false;
    if (last < 0 || (first == 0 && last == n - 1)) {
        out[0] = constant_truth(lw, to, inside == (last >= 0));
        return true;
    }
    tc_val x = ti_b_tosa_rank(lw, ti_lower_in(lw, node, which), to->rank), y;
    x = ti_put_rescale(lw, x, 1, 0, 0, TC_i32);
    tc_val low = ti_b_single(lw, TC_i32, to->rank, (double)(first + lowest));
    tc_val high = ti_b_single(lw, TC_i32, to->rank, (double)(last + lowest));
    if (first == last)
        y = ti_b_tosa_equal(lw, x, low);
    else if (last == n - 1)
        y = ti_b_tosa_greater_equal(lw, x, low);
    else if (first == 0)
        y = ti_b_tosa_greater_equal(lw, high, x);
    else
        return false;
    if (!inside)
        y = ti_b_tosa_logical_not(lw, y);
    out[0] = ti_b_tosa_expand(lw, y, to->rank, to->dim);
    return true;
}

/* As fine as both fit i32; factor 1 where the scales are equal. */
static double fine_scale(const tc_arg *a, const tc_arg *b)
{
    double sa = ti_scale_of(a->type), sb = ti_scale_of(b->type);
    if (sa == sb)
        return sa;
    double ra = sa * (a->type->dtype == TC_i8 ? 0x1p8 : 0x1p15),
           rb = sb * (b->type->dtype == TC_i8 ? 0x1p8 : 0x1p15);
    double s = fmax(sa, sb);
    while (fmax(ra, rb) / s < 0x1p28)
        s /= 2;
    return s;
}

static int order_of(double a, double b)
{
    return (a > b) - (a < b);
}

/* Two codes of i8 whose order in the common steps is not that of their real values, or a code of
 * any type that is lost in them. */
static bool too_close(const tc_arg *a, const tc_arg *b, double step)
{
    double sa = ti_scale_of(a->type), sb = ti_scale_of(b->type);
    if (fmin(sa, sb) < step)
        return true;
    if (sa == sb || a->type->dtype != TC_i8 || b->type->dtype != TC_i8)
        return false;
    for (int64_t code = -128; code < 128; code++) {
        double x = (double)(code - ti_zero_of(a->type)), y = rint(x * sa / sb);
        double near = y + (double)ti_zero_of(b->type);
        bool same = fabs(x * sa - y * sb) <= 1e-9 * fabs(x * sa);
        if (near >= -128 && near <= 127 && !same &&
            order_of(x * sa, y * sb) != order_of(rint(x * sa / step), rint(y * sb / step)))
            return true;
    }
    return false;
}

void ti_lower_int_compare(tc_build *lw, const tc_node *node, tc_val *out)
{
    relation r = relation_of(node->op);
    tc_arg a, b;
    if (by_threshold(lw, node, out) || !ti_arg_of(lw, node, 0, &a) || !ti_arg_of(lw, node, 1, &b))
        return;
    if (!ti_is_activation(a.type) || !ti_is_activation(b.type)) {
        ti_lower_refuse(lw, "an accumulator is compared");
        return;
    }
    double s = fine_scale(&a, &b);
    if (too_close(&a, &b, s)) {
        if (!ti_lower_try_pair(lw, node, out))
            ti_lower_refuse(lw, "steps of %.9g and of %.9g have no common ones of 32 bits",
                            ti_scale_of(a.type), ti_scale_of(b.type));
        return;
    }
    tc_val x = ti_put_wide(lw, &a, s), y = ti_put_wide(lw, &b, s);
    tc_val t = r.swap ? ti_b_binary(lw, r.op, y, x) : ti_b_binary(lw, r.op, x, y);
    out[0] = r.invert ? ti_b_tosa_logical_not(lw, t) : t;
}

/* A known choice without bools, for machines that have none: with `far` beyond every code,
 *
 *   max(min(x, c ? far : -far), min(y, c ? -far : far)) */
static tc_val by_limits(tc_build *lw, tc_tensor c, const tc_val *choice, const tc_type *to)
{
    enum { FAR = 1 << 17 };
    int64_t n = tc_type_count(c.type), dim[TC_MAX_RANK];
    for (int i = 0, lead = to->rank - c.type->rank; i < to->rank; i++)
        dim[i] = i < lead ? 1 : c.type->dim[i - lead];
    double *limit = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    tc_val part[2];
    for (int k = 0; k < 2; k++) {
        tc_arg a = {choice[k], to};
        for (int64_t i = 0; i < n; i++)
            limit[i] = (((const uint8_t *)c.data)[i] != 0) == (k == 0) ? FAR : -FAR;
        tc_val limits = ti_b_numbers(lw, TC_i32, to->rank, dim, limit);
        tc_val wide = ti_put_wide(lw, &a, ti_scale_of(to));
        part[k] = ti_b_tosa_minimum(lw, wide, limits);
    }
    tc_val y = ti_b_tosa_maximum(lw, part[0], part[1]);
    return ti_put_narrow(lw, y, ti_scale_of(to), to);
}

/* condition ? x : y, both in the result's domain. */
void ti_lower_int_where(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *to = ti_lower_result(lw, node, 0);
    tc_val choice[2];
    if (!ti_is_activation(to) || ti_lower_type(lw, node, 0)->dtype != TC_bool) {
        ti_lower_refuse(lw, "its result does not have one scale, or its condition no bool");
        return;
    }
    for (int i = 1; i < 3; i++) {
        tc_arg a;
        if (!ti_arg_of(lw, node, i, &a))
            return;
        choice[i - 1] = ti_put_domain(lw, a.val, a.type, to);
    }
    tc_tensor known = ti_b_constant(lw, ti_lower_in(lw, node, 0));
    if (known.data && !lw->lower->target->machine->can.selects) {
        out[0] = by_limits(lw, known, choice, to);
        return;
    }
    tc_val condition = ti_b_tosa_rank(lw, ti_lower_in(lw, node, 0), to->rank);
    out[0] = ti_b_tosa_select(lw, condition, choice[0], choice[1]);
}
