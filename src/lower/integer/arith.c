/* SPDX-License-Identifier: Apache-2.0 */
/* arith.c -- arithmetic on quantized values: operands widened to i32 in one domain, the operation,
 * one rescale into the result's domain.
 *
 * Every widening RESCALE is private to its use, so that a target can take it into the operation.
 * Factors are those that the smaller targets take in as well: 1 where the operands' scales are
 * equal and for every product; for sums of unlike scales 2^19 (i8) or 2^14 (i16) for the larger. */
#include <math.h>

#include "arith.h"
#include "../../base/real.h"
#include "channel_affine.h"
#include "table_function.h"

#include "../../num/load.h"

/* ---- operands ---- */

static const tc_quant *domain(tc_build *lw, tc_dtype dtype, double scale)
{
    tc_quant *q = tc_new(&lw->ctx->arena, tc_quant);
    double *s = tc_new(&lw->ctx->arena, double);
    *s = scale;
    *q = (tc_quant){.axis = -1,
                    .count = 1,
                    .lo = ti_dtype_min(dtype),
                    .hi = ti_dtype_max(dtype),
                    .scale = s,
                    .zero = tc_new(&lw->ctx->arena, int64_t)};
    return q;
}

const tc_type *ti_wide_type(tc_build *lw, const tc_type *shape, tc_dtype dtype, double scale)
{
    tc_type t = *shape;
    t.dtype = dtype;
    t.quant = domain(lw, dtype, scale);
    return ti_type_intern(lw->ctx, &t);
}

/* Plain constants: into the finest i8 (one element) or i16 domain that holds them. */
static bool quantize_known(tc_build *lw, tc_arg *a, tc_tensor t)
{
    int64_t n = tc_type_count(t.type);
    double top = 0;
    bool same = true;
    for (int64_t i = 0; i < n; i++) {
        double v = ti_load_f64(t, i);
        if (!isfinite(v)) {
            ti_lower_refuse(lw, "a constant operand is not finite");
            return false;
        }
        top = fmax(top, fabs(v));
        same = same && v == ti_load_f64(t, 0);
    }
    tc_dtype dtype = same ? TC_i8 : TC_i16;
    double scale = top > 0 ? top / (double)ti_dtype_max(dtype) : 1;
    double *code = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        code[i] = rint(ti_load_f64(t, i) / scale);
    a->type = ti_wide_type(lw, t.type, dtype, scale);
    a->val = ti_b_numbers(lw, dtype, t.type->rank, t.type->dim, code);
    return true;
}

bool ti_arg_of(tc_build *lw, const tc_node *node, int i, tc_arg *a)
{
    *a = (tc_arg){.val = ti_lower_in(lw, node, i), .type = ti_lower_type(lw, node, i)};
    tc_tensor known = ti_tensor_of(lw->rw->from, node->in[i]);
    bool accumulator = a->type->quant && (a->type->dtype == TC_i32 || a->type->dtype == TC_i48);
    if (!a->type->quant && known.data) {
        if (!quantize_known(lw, a, known))
            return false;
    } else if (!ti_is_activation(a->type) && !accumulator) {
        ti_lower_refuse(lw, "operand %d does not have one scale", i);
        return false;
    }
    const tc_type *result = ti_lower_result(lw, node, 0);
    a->val = ti_b_tosa_rank(lw, a->val, result->rank);
    return true;
}

/* Whether it is known to be zero everywhere. */
static bool is_zero(const tc_build *lw, const tc_arg *a)
{
    tc_tensor t = ti_b_constant(lw, a->val);
    for (int64_t i = 0; t.data && i < tc_type_count(t.type); i++)
        if (ti_load_i64(t, i) != ti_zero_of(a->type))
            return false;
    return t.data;
}

tc_val ti_put_wide(tc_build *lw, const tc_arg *a, double scale)
{
    if (ti_is_activation(a->type))
        return ti_put_rescale(lw, a->val, ti_scale_of(a->type) / scale, ti_zero_of(a->type), 0,
                              TC_i32);
    if (!a->val)
        return a->val;
    return ti_put_domain(lw, a->val, a->type,
                         ti_wide_type(lw, ti_b_type(lw, a->val), TC_i32, scale));
}

tc_val ti_put_narrow(tc_build *lw, tc_val wide, double scale, const tc_type *to)
{
    if (!wide)
        return wide;
    if (!to->quant) {
        ti_lower_refuse(lw, "its result is not quantized");
        return TC_NONE;
    }
    wide = ti_put_domain(lw, wide, ti_wide_type(lw, ti_b_type(lw, wide), TC_i32, scale), to);
    return ti_b_tosa_expand(lw, wide, to->rank, to->dim);
}

static bool wide_arg(const tc_arg *a) { return !ti_is_activation(a->type); }

static double coarsest(const tc_arg *a)
{
    double s = 0;
    for (int32_t c = 0; c < a->type->quant->count; c++)
        s = fmax(s, a->type->quant->scale[c]);
    return s;
}

/* A domain in which both can be added: see the top of the file.  What comes from accumulators may
 * be larger than the result: there the unit is a fraction of the result's step, but no less than
 * the accumulator's own.  A wide result has its own. */
static double common_scale(const tc_arg *a, double sa, const tc_arg *b, double sb,
                           const tc_type *to)
{
    if (to->dtype == TC_i32)
        return ti_scale_of(to);
    if (wide_arg(a) || wide_arg(b)) {
        double s = ti_scale_of(to) / (to->dtype == TC_i16 ? 16 : 256);
        s = wide_arg(a) ? fmax(s, coarsest(a)) : s;
        return wide_arg(b) ? fmax(s, coarsest(b)) : s;
    }
    bool narrow_a = a->type->dtype == TC_i8, narrow_b = b->type->dtype == TC_i8;
    if (narrow_a == narrow_b)
        return sa == sb ? sa : fmax(sa, sb) / (narrow_a ? 0x1p19 : 0x1p14);
    return fmax(sa * (narrow_a ? 0x1p8 : 0x1p15), sb * (narrow_b ? 0x1p8 : 0x1p15)) / 0x1p29;
}

/* ---- sums ---- */

/* An operand times a positive number: the number is part of the scale. */
static tc_arg times(tc_build *lw, tc_arg a, double by)
{
    if (by == 1)
        return a;
    tc_quant *q = tc_new(&lw->ctx->arena, tc_quant);
    double *scale = tc_new_n(&lw->ctx->arena, double, (size_t)a.type->quant->count);
    for (int64_t c = 0; c < a.type->quant->count; c++)
        scale[c] = a.type->quant->scale[c] * by;
    *q = *a.type->quant;
    q->scale = scale;
    a.type = ti_type_with(lw->ctx, a.type, q);
    return a;
}

static tc_val negated(tc_build *lw, tc_val wide)
{
    tc_val zero = ti_b_zero_point(lw, wide, 0);
    return ti_b_tosa_negate(lw, wide, zero, zero);
}

/* x * by alone. */
static tc_val alone(tc_build *lw, tc_arg x, double by, const tc_type *to)
{
    x = times(lw, x, fabs(by));
    if (by > 0)
        return ti_b_tosa_expand(lw, x.val ? ti_put_domain(lw, x.val, x.type, to) : x.val, to->rank,
                                to->dim);
    double s = common_scale(&x, ti_scale_of(x.type), &x, ti_scale_of(x.type), to);
    return ti_put_narrow(lw, negated(lw, ti_put_wide(lw, &x, s)), s, to);
}

tc_val ti_put_sum(tc_build *lw, const tc_arg *a, double by_a, const tc_arg *b, double by_b,
                  const tc_type *to)
{
    bool no_a = by_a == 0 || is_zero(lw, a), no_b = by_b == 0 || is_zero(lw, b);
    if (no_a && no_b)
        return ti_b_tosa_expand(lw, ti_b_single(lw, to->dtype, to->rank, (double)ti_zero_of(to)),
                                to->rank, to->dim);
    if (no_a || no_b)
        return no_a ? alone(lw, *b, by_b, to) : alone(lw, *a, by_a, to);
    tc_arg x = times(lw, *a, fabs(by_a)), y = times(lw, *b, fabs(by_b));
    double s = common_scale(&x, ti_scale_of(x.type), &y, ti_scale_of(y.type), to);
    tc_val p = ti_put_wide(lw, &x, s), q = ti_put_wide(lw, &y, s);
    bool opposite = (by_a < 0) != (by_b < 0);
    tc_val wide = !opposite  ? ti_b_tosa_add(lw, p, q)
                  : by_a > 0 ? ti_b_tosa_sub(lw, p, q)
                             : ti_b_tosa_sub(lw, q, p);
    if (by_a < 0 && by_b < 0)
        wide = negated(lw, wide);
    return ti_put_narrow(lw, wide, s, to);
}

/* The two operands of a node that is more than a table of i8; false: it is done, or refused. */
static bool operands(tc_build *lw, const tc_node *node, tc_val *out, tc_arg *a, tc_arg *b)
{
    if (ti_lower_result(lw, node, 0)->dtype == TC_i8 && ti_lower_try_function(lw, node, out))
        return false;
    return ti_arg_of(lw, node, 0, a) && ti_arg_of(lw, node, 1, b);
}

void ti_lower_int_add(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_alpha *alpha = node->attr;
    const tc_type *to = ti_lower_result(lw, node, 0);
    tc_arg a, b;
    if (!operands(lw, node, out, &a, &b))
        return;
    double by = node->op == TC_OP_add ? alpha->alpha : -alpha->alpha;
    if (ti_put_channel_plus(lw, &a, &b, by, to, out) ||
        (by == 1 && ti_put_channel_plus(lw, &b, &a, 1, to, out)))
        return;
    out[0] = ti_put_sum(lw, &a, 1, &b, by, to);
}

/* ---- products ---- */

tc_val ti_put_times(tc_build *lw, const tc_arg *a, const tc_arg *b, double *scale)
{
    if (wide_arg(a) || wide_arg(b)) {
        ti_lower_refuse(lw, "a factor is an accumulator");
        return TC_NONE;
    }
    *scale = ti_scale_of(a->type) * ti_scale_of(b->type);
    bool plain = a->type->dtype == TC_i16 && b->type->dtype == TC_i16 && !ti_zero_of(a->type) &&
                 !ti_zero_of(b->type);
    tc_val x = plain ? a->val : ti_put_wide(lw, a, ti_scale_of(a->type));
    tc_val y = plain ? b->val : ti_put_wide(lw, b, ti_scale_of(b->type));
    return ti_b_tosa_mul(lw, x, y);
}

/* The largest magnitude of a code, less the zero point. */
static double most_code(const tc_arg *a)
{
    const tc_quant *q = a->type->quant;
    return fmax(fabs((double)(q->lo - q->zero[0])), fabs((double)(q->hi - q->zero[0])));
}

/* x within what has a square of at most hi * 2^shift. */
static tc_val rooted(tc_build *lw, tc_val x, double hi, int shift)
{
    double most = fmin(floor(sqrt(ldexp(hi, shift))), 0x1p31 - 1);
    if (!x)
        return x;
    x = ti_b_tosa_minimum(lw, x, ti_b_like(lw, x, TC_i32, most));
    return ti_b_tosa_maximum(lw, x, ti_b_like(lw, x, TC_i32, -most));
}

/* a * b where one of them is i32: MUL shifts what i32 does not hold away.  A result of steps that
 * are a power of two of theirs, as spectra have, needs no RESCALE. */
static tc_val wide_product(tc_build *lw, const tc_arg *a, const tc_arg *b, const tc_type *to)
{
    double sa = a->type->quant->scale[0], sb = b->type->quant->scale[0];
    if (a->type->quant->axis >= 0 || b->type->quant->axis >= 0 || !to->quant ||
        to->quant->axis >= 0 || (wide_arg(a) && ti_zero_of(a->type)) ||
        (wide_arg(b) && ti_zero_of(b->type))) {
        ti_lower_refuse(lw, "a factor is an accumulator");
        return TC_NONE;
    }
    int least = (int)fmax(0, ceil(ti_log2(most_code(a) * most_code(b) / (0x1p31 - 1))));
    double asked = ti_log2(ti_scale_of(to) / (sa * sb)), scale = ti_scale_of(to);
    bool exact = to->dtype == TC_i32 && fabs(asked - rint(asked)) < 1e-6 && asked > -0.5;
    bool cut = exact && a->val == b->val && asked < least - 0.5, fits = exact && (cut || asked > least - 0.5);
    int shift = fits ? (int)rint(asked) : least + 2;
    if (shift > 63) {
        ti_lower_refuse(lw, "its result's steps are too wide");
        return TC_NONE;
    }
    tc_val x = ti_put_wide(lw, a, sa), y = a->val == b->val ? x : ti_put_wide(lw, b, sb);
    if (cut)
        x = y = rooted(lw, x, (double)to->quant->hi, shift);
    x = shift ? ti_b_tosa_mul_shift(lw, x, y, shift) : ti_b_tosa_mul(lw, x, y);
    if (fits)
        return ti_b_tosa_expand(lw, x, to->rank, to->dim);
    scale = ldexp(sa * sb, shift);
    if (to->dtype == TC_i32 && scale > ti_scale_of(to)) {
        x = ti_put_cut(lw, x, &scale, 1, ti_scale_of(to) * 0x1p29, ti_scale_of(to));
        scale = ti_scale_of(to);
    }
    return ti_put_narrow(lw, x, scale, to);
}

/* An i32 times one positive number: the number is part of the scale. */
static bool by_scalar(tc_build *lw, const tc_arg *a, const tc_arg *b, const tc_type *to,
                      tc_val *out)
{
    for (int i = 0; i < 2; i++) {
        const tc_arg *x = i ? b : a, *c = i ? a : b;
        tc_tensor t = ti_b_constant(lw, c->val);
        double by = t.data && tc_type_count(t.type) == 1 && wide_arg(x)
                        ? ti_real(c->type, 0, ti_load_i64(t, 0))
                        : 0;
        if (!(by > 0) || x->type->quant->axis >= 0)
            continue;
        double scale = by * x->type->quant->scale[0];
        bool same = to->quant && to->dtype == TC_i32 && to->quant->axis < 0 &&
                    fabs(scale / ti_scale_of(to) - 1) < 1e-6;
        out[0] = same ? ti_b_tosa_expand(lw, x->val, to->rank, to->dim) : alone(lw, *x, by, to);
        return true;
    }
    return false;
}

/* A table of 8 bits is exact, and joins what is before it. */
void ti_lower_int_square(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *to = ti_lower_result(lw, node, 0);
    tc_arg a;
    double scale;
    bool narrow = to->dtype == TC_i8 && ti_lower_type(lw, node, 0)->dtype == TC_i8;
    if ((narrow && ti_lower_try_function(lw, node, out)) || !ti_arg_of(lw, node, 0, &a))
        return;
    if (wide_arg(&a)) {
        out[0] = wide_product(lw, &a, &a, to);
        return;
    }
    tc_val wide = ti_put_times(lw, &a, &a, &scale);
    out[0] = ti_put_narrow(lw, wide, scale, to);
}

void ti_lower_int_mul(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *to = ti_lower_result(lw, node, 0);
    tc_arg a, b;
    double scale;
    if (node->in[0] == node->in[1]) {
        tc_node square = *node;
        square.op = TC_OP_square;
        square.n_in = 1;
        ti_lower_int_square(lw, &square, out);
        return;
    }
    if (!operands(lw, node, out, &a, &b))
        return;
    if (ti_put_channel_times(lw, &a, &b, to, out) || ti_put_channel_times(lw, &b, &a, to, out))
        return;
    if (wide_arg(&a) || wide_arg(&b)) {
        out[0] = by_scalar(lw, &a, &b, to, out) ? out[0] : wide_product(lw, &a, &b, to);
        return;
    }
    tc_val wide = ti_put_times(lw, &a, &b, &scale);
    out[0] = ti_put_narrow(lw, wide, scale, to);
}

/* ---- the larger and the smaller: rounding keeps the order, so each operand may be rounded first
 * ---- */

/* An operand as i32 of scale s; targets of the first generation take in no factor but 1. */
static tc_val ordered(tc_build *lw, const tc_arg *a, double s, const tc_type *to)
{
    if (s == ti_scale_of(a->type) || lw->lower->target->machine->can.scales_operands)
        return ti_put_wide(lw, a, s);
    if (!a->val)
        return a->val;
    tc_arg narrow = {.type = to, .val = ti_put_domain(lw, a->val, a->type, to)};
    return ti_put_wide(lw, &narrow, s);
}

tc_val ti_put_extreme_of(tc_build *lw, tc_op op, const tc_arg *a, const tc_arg *b,
                         const tc_type *to)
{
    bool equal = !wide_arg(a) && !wide_arg(b) && ti_scale_of(a->type) == ti_scale_of(b->type);
    double s = equal ? ti_scale_of(a->type) : ti_scale_of(to);
    tc_val second = ordered(lw, b, s, to), first = ordered(lw, a, s, to);
    tc_val y = ti_b_binary(lw, op, first, second);
    return ti_put_narrow(lw, y, s, to);
}

static bool gives_codes(tc_build *lw, const tc_type *to)
{
    if (!to->quant)
        ti_lower_refuse(lw, "its result is not quantized");
    return to->quant != NULL;
}

void ti_lower_int_extreme(tc_build *lw, const tc_node *node, tc_val *out)
{
    bool most = node->op == TC_OP_maximum || node->op == TC_OP_fmax;
    const tc_type *to = ti_lower_result(lw, node, 0);
    tc_arg a, b;
    if (!operands(lw, node, out, &a, &b) || !gives_codes(lw, to))
        return;
    out[0] = ti_put_extreme_of(lw, most ? TC_OP_tosa_maximum : TC_OP_tosa_minimum, &a, &b, to);
}

/* min(max(x, lo), hi), each bound may be missing. */
void ti_lower_int_clamp_tensor(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *to = ti_lower_result(lw, node, 0);
    tc_arg a, bound;
    if (to->dtype == TC_i8 && ti_lower_try_function(lw, node, out))
        return;
    if (!gives_codes(lw, to) || !ti_arg_of(lw, node, 0, &a))
        return;
    double s = ti_scale_of(to);
    tc_val y = ordered(lw, &a, s, to);
    for (int i = 1; i < node->n_in; i++) {
        if (!node->in[i])
            continue;
        if (!ti_arg_of(lw, node, i, &bound))
            return;
        y = ti_b_binary(lw, i == 1 ? TC_OP_tosa_maximum : TC_OP_tosa_minimum, y,
                        ordered(lw, &bound, s, to));
    }
    out[0] = ti_put_narrow(lw, y, s, to);
}

/* ---- one operand, where i16 would lose by a table ---- */

void ti_lower_int_neg(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *to = ti_lower_result(lw, node, 0);
    tc_arg a;
    if ((to->dtype == TC_i8 && ti_lower_try_function(lw, node, out)) || !gives_codes(lw, to) ||
        !ti_arg_of(lw, node, 0, &a))
        return;
    double s = wide_arg(&a) ? common_scale(&a, 1, &a, 1, to) : ti_scale_of(a.type);
    tc_val x = ti_put_wide(lw, &a, s);
    x = node->op == TC_OP_neg ? negated(lw, x) : ti_b_tosa_abs(lw, x);
    out[0] = ti_put_narrow(lw, x, s, to);
}
