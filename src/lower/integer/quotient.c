/* SPDX-License-Identifier: Apache-2.0 */
/* quotient.c -- quotients, remainders and the combined operators on quantized values.
 *
 * Quotients of i8 are read from a list of all pairs.  Others are INTDIV of the dividend with as
 * many bits of fraction as i32 has room for; targets without it multiply by a table of reciprocals.
 * Whole quotients and remainders divide in one domain. */
#include <math.h>

#include "arith.h"
#include "channel_affine.h"
#include "table_function.h"
#include "../../base/real.h"
#include "../move/lower_move.h"

#include "../../num/load.h"

static tc_val is_zero(tc_build *lw, tc_val x)
{
    return x ? ti_b_tosa_equal(lw, x, ti_b_single(lw, TC_i32, ti_b_type(lw, x)->rank, 0)) : x;
}

/* y, and 1 where it is 0. */
static tc_val not_zero(tc_build *lw, tc_val y)
{
    return ti_b_tosa_add(lw, y, ti_b_tosa_cast(lw, is_zero(lw, y), TC_i32));
}

/* ---- quotients ---- */

static int bits_of(const tc_arg *a) { return a->type->dtype == TC_i8 ? 8 : 15; }

/* 1 / y by a table of all codes of an i8: i32 in steps of *scale, 0 for 0; and what its rounding to
 * 16 bits leaves, in steps of 2^-16 of those. */
static tc_val reciprocal(tc_build *lw, const tc_arg *y, bool rest, double *scale)
{
    double code[256];
    static const int64_t none = 0;
    *scale = 1 / ti_scale_of(y->type) / 32767;
    tc_quant q = {.axis = -1, .count = 1, .lo = -32767, .hi = 32767, .scale = scale, .zero = &none};
    for (int i = 0; i < 256; i++) {
        double n = (double)(i - 128 - ti_zero_of(y->type)), v = n == 0 ? 0 : 32767 / n;
        code[i] = rest ? fmin(0x1p16 * (v - rint(v)), 32767) : v;
    }
    tc_val stored = ti_put_lookup(lw, y->val, y->type, TC_i16, &q, code);
    return ti_put_rescale(lw, stored, 1, 0, 0, TC_i32);
}

/* x / y by reciprocals, and its scale.  fine: to 22 bits of them, since of a large divisor 16 leave
 * seven. */
static tc_val by_reciprocals(tc_build *lw, const tc_arg *x, const tc_arg *y, bool fine,
                             double *scale)
{
    double sx = ti_scale_of(x->type), inverse;
    tc_val r = reciprocal(lw, y, false, &inverse);
    *scale = sx * inverse;
    if (!fine)
        return ti_b_tosa_mul(lw, ti_put_wide(lw, x, sx), r);
    tc_val most = ti_b_tosa_mul(lw, ti_put_wide(lw, x, sx / 0x1p6), r);
    tc_val rest = reciprocal(lw, y, true, &inverse);
    tc_val more = ti_b_tosa_mul(lw, ti_put_wide(lw, x, sx), rest);
    *scale /= 0x1p6;
    return ti_b_tosa_add(lw, most, ti_put_rescale(lw, more, 0x1p-10, 0, 0, TC_i32));
}

/* x / y as i32, and its scale. */
static tc_val quotient(tc_build *lw, const tc_arg *x, const tc_arg *y, bool fine, double *scale)
{
    if (!ti_is_activation(x->type) || !ti_is_activation(y->type)) {
        ti_lower_refuse(lw, "an accumulator is divided");
        return TC_NONE;
    }
    double sx = ti_scale_of(x->type), sy = ti_scale_of(y->type);
    if (!lw->lower->target->machine->can.divides) {
        if (y->type->dtype != TC_i8) {
            ti_lower_refuse(lw, "its divisor is i16, and the target has no INTDIV");
            return TC_NONE;
        }
        return by_reciprocals(lw, x, y, fine && x->type->dtype == TC_i8, scale);
    }
    double unit = ldexp(1, 29 - bits_of(x));
    *scale = sx / sy / unit;
    tc_val by = ti_put_wide(lw, y, sy);
    tc_val shifted = ti_put_wide(lw, x, sx / unit);
    return ti_b_tosa_intdiv(lw, shifted, not_zero(lw, by));
}

/* The same without a choice, y being 0 there: y + sign x z, z = 32767 where x is divided by 0 and
 * else 0. */
static tc_val pushed(tc_build *lw, tc_val y, const tc_arg *x, const tc_arg *by, double sign,
                     const tc_type *to)
{
    static const int64_t none = 0;
    static const double one = 1;
    tc_quant q = {.axis = -1, .count = 1, .lo = 0, .hi = 32767, .scale = &one, .zero = &none};
    double code[256];
    for (int i = 0; i < 256; i++)
        code[i] = i - 128 == ti_zero_of(by->type) ? 32767 : 0;
    tc_val far = ti_put_lookup(lw, by->val, by->type, TC_i16, &q, code);
    far = ti_put_rescale(lw, far, 1, 0, 0, TC_i32);
    far = ti_b_tosa_mul(lw, ti_put_wide(lw, x, ti_scale_of(x->type)), far);
    tc_arg quotient = {.val = y, .type = to},
           push = {.val = ti_put_rescale(lw, far, 8, 0, 0, TC_i16),
                   .type = ti_wide_type(lw, to, TC_i16, ti_scale_of(to))};
    return ti_put_sum(lw, &quotient, 1, &push, sign, to);
}

/* x / 0 is as large as the result's domain goes, by the sign of x and another one. */
static tc_val guarded(tc_build *lw, tc_val y, const tc_arg *x, const tc_arg *by, double sign,
                      const tc_type *to)
{
    if (ti_b_constant(lw, by->val).data || !y)
        return y;
    if (!lw->lower->target->machine->can.divides && by->type->dtype == TC_i8)
        return pushed(lw, y, x, by, sign, to);
    if (!lw->lower->target->machine->can.selects)
        return y;
    tc_val none = is_zero(lw, ti_put_wide(lw, by, ti_scale_of(by->type)));
    int64_t zero = ti_zero_of(x->type);
    int64_t lo = ti_max_i64(zero - 1, ti_dtype_min(x->type->dtype)),
            hi = ti_min_i64(zero + 1, ti_dtype_max(x->type->dtype));
    tc_val one = ti_put_clamp(lw, x->val, (double)lo, (double)hi);
    if (sign < 0) {
        one = ti_put_rescale(lw, one, 1, zero, 0, TC_i32);
        one = ti_b_tosa_sub(lw, one ? ti_b_like(lw, one, TC_i32, 0) : one, one);
        zero = 0;
    }
    tc_val most = ti_put_rescale(lw, one, 0x1p16, zero, ti_zero_of(to), to->dtype);
    most = ti_put_codes(lw, most, to->quant);
    return ti_b_tosa_select(lw, none, most, y);
}

/* The two operands in one domain, whose scale is given, and their whole quotient; of a divisor of 0
 * the remainder is 0. */
static tc_val whole(tc_build *lw, const tc_arg *a, const tc_arg *b, bool down, tc_val *rest,
                    double *scale)
{
    double sa = ti_scale_of(a->type), sb = ti_scale_of(b->type);
    double top = fmax(sa * ldexp(1, bits_of(a)), sb * ldexp(1, bits_of(b)));
    *scale = sa == sb ? sa : top / 0x1p29;
    tc_val x = ti_put_wide(lw, a, *scale), y = not_zero(lw, ti_put_wide(lw, b, *scale));
    tc_val q = ti_b_tosa_intdiv(lw, x, y), r = ti_b_tosa_sub(lw, x, ti_b_tosa_mul(lw, q, y));
    if (down && r) { /* one less, where the remainder has the other sign */
        tc_val zero = ti_b_single(lw, TC_i32, ti_b_type(lw, r)->rank, 0);
        tc_val y_below = ti_b_tosa_greater(lw, zero, y);
        tc_val r_below = ti_b_tosa_greater(lw, zero, r);
        tc_val apart = ti_b_tosa_logical_xor(lw, r_below, y_below);
        apart = ti_b_tosa_logical_and(lw, apart, ti_b_tosa_logical_not(lw, is_zero(lw, r)));
        tc_val one = ti_b_tosa_cast(lw, apart, TC_i32);
        q = ti_b_tosa_sub(lw, q, one);
        r = ti_b_tosa_add(lw, r, ti_b_tosa_mul(lw, one, y));
    }
    *rest = r;
    return q;
}

static bool two_args(tc_build *lw, const tc_node *node, tc_arg *a, tc_arg *b)
{
    if (!ti_arg_of(lw, node, 0, a) || !ti_arg_of(lw, node, 1, b))
        return false;
    if (!ti_is_activation(a->type) || !ti_is_activation(b->type))
        ti_lower_refuse(lw, "an accumulator is divided");
    return lw->status == TC_OK;
}

void ti_lower_int_div(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_div *mode = node->attr;
    const tc_type *to = ti_lower_result(lw, node, 0);
    tc_arg a, b;
    double scale;
    if (ti_lower_type(lw, node, 0)->dtype != TC_i16 && ti_lower_try_function(lw, node, out))
        return;
    if (ti_lower_try_pair(lw, node, out) || !two_args(lw, node, &a, &b))
        return;
    if (mode->mode == TC_div_mode_exact) {
        tc_val wide = quotient(lw, &a, &b, false, &scale);
        out[0] = guarded(lw, ti_put_narrow(lw, wide, scale, to), &a, &b, 1, to);
        return;
    }
    tc_val rest, q = whole(lw, &a, &b, mode->mode == TC_div_mode_floor, &rest, &scale);
    out[0] = guarded(lw, ti_put_narrow(lw, q, 1, to), &a, &b, 1, to);
}

void ti_lower_int_remainder(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_arg a, b;
    double scale;
    tc_val rest;
    if (ti_lower_try_function(lw, node, out) || ti_lower_try_pair(lw, node, out) ||
        !two_args(lw, node, &a, &b))
        return;
    whole(lw, &a, &b, node->op == TC_OP_remainder, &rest, &scale);
    out[0] = ti_put_narrow(lw, rest, scale, ti_lower_result(lw, node, 0));
}

/* ---- combined operators ---- */

/* Something wide of this scale as an operand. */
static tc_arg wide_arg(tc_build *lw, tc_val val, double scale, const tc_type *shape)
{
    return (tc_arg){.val = val,
                    .type = ti_wide_type(lw, val ? ti_b_type(lw, val) : shape, TC_i32, scale)};
}

void ti_lower_int_addcmul(tc_build *lw, const tc_node *node, tc_val *out)
{
    const bool divide = node->op == TC_OP_addcdiv;
    const tc_attr_scale *by = node->attr;
    const tc_type *to = ti_lower_result(lw, node, 0);
    tc_arg x, y, z;
    double scale = 1;
    if (!ti_is_activation(to) || !ti_arg_of(lw, node, 0, &x) || !ti_arg_of(lw, node, 1, &y) ||
        !ti_arg_of(lw, node, 2, &z)) {
        ti_lower_refuse(lw, "its result does not have one scale");
        return;
    }
    tc_val wide = divide ? quotient(lw, &y, &z, true, &scale) : ti_put_times(lw, &y, &z, &scale);
    tc_arg term = wide_arg(lw, wide, scale, to);
    tc_val sum = ti_put_sum(lw, &x, 1, &term, by->value, to);
    out[0] = divide && by->value != 0 ? guarded(lw, sum, &y, &z, by->value < 0 ? -1 : 1, to) : sum;
}

/* x + w * (y - x); by one weight everywhere: (1 - w) x + w y. */
void ti_lower_int_lerp(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *to = ti_lower_result(lw, node, 0);
    tc_arg x, y, w;
    if (!ti_is_activation(to) || !ti_arg_of(lw, node, 0, &x) || !ti_arg_of(lw, node, 1, &y) ||
        !ti_arg_of(lw, node, 2, &w)) {
        ti_lower_refuse(lw, "its result does not have one scale");
        return;
    }
    tc_tensor known = ti_b_constant(lw, w.val);
    if (known.data && tc_type_count(known.type) == 1) {
        double by = ti_real(w.type, 0, ti_load_i64(known, 0));
        out[0] = ti_put_sum(lw, &x, 1 - by, &y, by, to);
        return;
    }
    double top = fmax(ti_scale_of(x.type) * ldexp(1, bits_of(&x)),
                      ti_scale_of(y.type) * ldexp(1, bits_of(&y)));
    double fine = top / 0x1p28, coarse = top / 0x1p14, scale;
    tc_val x_wide = ti_put_wide(lw, &x, fine), y_wide = ti_put_wide(lw, &y, fine);
    tc_val d = ti_b_tosa_sub(lw, y_wide, x_wide);
    tc_arg step = {.val = ti_put_rescale(lw, d, fine / coarse, 0, 0, TC_i16)};
    step.type = ti_wide_type(lw, to, TC_i16, coarse);
    tc_val product = ti_put_times(lw, &step, &w, &scale);
    double limit = top + ti_scale_of(to) * ldexp(1, tc_dtypes[to->dtype].bits);
    if (scale * 0x1p23 > limit) { /* a weight of 256 and more: past the result it is all one */
        product = ti_put_cut(lw, product, &scale, 1, limit, limit * 0x1p-29);
        scale = limit * 0x1p-29;
    }
    tc_arg term = wide_arg(lw, product, 1, to);
    term.type = ti_wide_type(lw, term.type, TC_i32, scale);
    out[0] = ti_put_sum(lw, &x, 1, &term, 1, to);
}

/* ---- gates ---- */

static double sigmoid(double x, const void *unused)
{
    (void)unused;
    return 1 / (1 + ti_exp(-x));
}

/* How far operands of a domain reach from 0. */
static double reach_of(const tc_type *t)
{
    double zero = (double)ti_zero_of(t);
    return ti_scale_of(t) * fmax((double)t->quant->hi - zero, zero - (double)t->quant->lo);
}

/* First half times sigmoid of the second.  The sigmoid has 8 bits from 0 to 1 where that leaves the
 * product within half a step, else 16 from 0 to the largest there is. */
void ti_lower_int_glu(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_axis *a = node->attr;
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    if (!ti_is_activation(from) || !ti_is_activation(to)) {
        ti_lower_refuse(lw, "its operand or its result does not have one scale");
        return;
    }
    bool narrow = from->dtype == TC_i8 && reach_of(from) / 512 <= ti_scale_of(to) / 2;
    double most = sigmoid(ti_scale_of(from) * (double)(from->quant->hi - ti_zero_of(from)), NULL);
    double unit = narrow ? 1.0 / 256 : most / 32767;
    int64_t zero = narrow ? -128 : 0;
    if (!narrow && reach_of(from) * unit / 2 > 4 * ti_scale_of(to)) {
        ti_lower_refuse(lw, "16 bits of its gate are too few for results in steps of %g",
                        ti_scale_of(to));
        return;
    }
    tc_quant q = {.axis = -1, .count = 1, .lo = zero, .hi = narrow ? 127 : 32767,
                  .scale = &unit, .zero = &zero};
    tc_type gate = *to;
    gate.dtype = narrow ? TC_i8 : TC_i16;
    gate.quant = &q;
    int64_t half = from->dim[a->axis] / 2;
    tc_val x = ti_lower_in(lw, node, 0);
    tc_arg value = {.val = ti_b_tosa_slice_axis(lw, x, (int)a->axis, 0, half), .type = from},
           open = {.type = &gate};
    if (!narrow && from->dtype == TC_i8) {
        value.val = ti_put_rescale(lw, value.val, 1, ti_zero_of(from), 0, TC_i16);
        value.type = ti_wide_type(lw, to, TC_i16, ti_scale_of(from));
    }
    open.val = ti_put_function(lw, ti_b_tosa_slice_axis(lw, x, (int)a->axis, half, half), from,
                               &gate, sigmoid, NULL);
    double scale;
    tc_val wide = ti_put_times(lw, &value, &open, &scale);
    out[0] = ti_put_narrow(lw, wide, scale, to);
}

/* Constant weights w: x where x > 0, else w x, is the larger of x and w x where w <= 1, the smaller
 * where w > 1.  Rounding is monotonic, so w x may be computed in the result's domain, and what
 * saturates there is not selected.  false: not this case, and no node was made. */
static bool by_extremes(tc_build *lw, tc_arg x, const tc_arg *w, const tc_type *to, tc_val *y)
{
    tc_tensor t = ti_b_constant(lw, w->val);
    if (!t.data || !ti_is_activation(w->type))
        return false;
    int64_t n = tc_type_count(t.type), large = 0;
    bool *wanted[2] = {tc_new_n(&lw->ctx->arena, bool, (size_t)n),
                       tc_new_n(&lw->ctx->arena, bool, (size_t)n)};
    for (int64_t i = 0; i < n; i++) {
        wanted[0][i] = ti_real(w->type, 0, ti_load_i64(t, i)) > 1;
        wanted[1][i] = !wanted[0][i];
        large += wanted[0][i];
    }
    tc_op op[2] = {TC_OP_tosa_minimum, TC_OP_tosa_maximum};
    tc_arg product = {.type = to}, one = x;
    for (int i = 0; i < 2; i++) {
        if ((i ? n - large : large) == 0)
            continue;
        bool all = large == 0 || large == n;
        if (!(all ? ti_put_channel_times(lw, &one, w, to, &product.val)
                  : ti_put_channel_bound(lw, op[i], &one, w, wanted[i], to, &product.val))) {
            double scale;
            if (!all)
                return false;
            tc_val wide = ti_put_times(lw, &one, w, &scale);
            product.val = ti_put_narrow(lw, wide, scale, to);
        }
        *y = ti_put_extreme_of(lw, op[i], &x, &product, to);
        x = (tc_arg){.val = *y, .type = to};
    }
    return true;
}

/* x > 0 ? x : w[c] * x; where no extremes serve, max(x, 0) + w[c] * min(x, 0).  One weight for all
 * channels is a table. */
void ti_lower_int_prelu(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    tc_arg x, w;
    double scale;
    if (ti_lower_try_function(lw, node, out))
        return;
    if (!ti_is_activation(from) || !ti_is_activation(to) || !ti_arg_of(lw, node, 0, &x) ||
        !ti_arg_of(lw, node, 1, &w)) {
        ti_lower_refuse(lw, "its operand or its result does not have one scale");
        return;
    }
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1}, zero = ti_zero_of(from);
    if (from->rank > 1)
        dim[1] = tc_type_count(ti_lower_type(lw, node, 1));
    w.val = ti_b_tosa_reshape(lw, w.val, from->rank, dim);
    if (by_extremes(lw, x, &w, to, out))
        return;
    tc_arg above = {.val = ti_put_clamp(lw, x.val, (double)zero, (double)ti_dtype_max(from->dtype)),
                    .type = from};
    tc_arg below = {.val = ti_put_clamp(lw, x.val, (double)ti_dtype_min(from->dtype), (double)zero),
                    .type = from};
    tc_val wide = ti_put_times(lw, &below, &w, &scale);
    tc_arg term = wide_arg(lw, wide, scale, to);
    out[0] = ti_put_sum(lw, &above, 1, &term, 1, to);
}
