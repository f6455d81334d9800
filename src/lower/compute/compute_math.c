/* SPDX-License-Identifier: Apache-2.0 */
/* compute_math.c -- elementwise operators as shaders.
 *
 * What SPIR-V has is a row of a table or a few lines here; everything else is the operator's
 * formula (ir/formula.h), made of those. */
#include "compute.h"
#include "compute_family.h"

#include <math.h>

#include "../../ir/formula.h"
#include "../../num/eltwise.h"
#include "../../num/load.h"

enum { MOST_MADE = 192, DEEPEST = 8 };

static const tc_cs_val nothing = {0, TC_CS_BOOL};

/* An operator on values of the domain of `common`. */
static tc_cs_val apply(tc_cs *s, tc_op op, const void *attr, tc_dtype common, const tc_cs_val *in,
                       int n);

/* ---- operators that SPIR-V has ---------------------------------------------------------------- */

/* One function of the set GLSL.std.450; of integers: another one, or the number itself. */
static const struct {
    tc_op op;
    uint32_t real, whole; /* 0: the number itself */
} functions[] = {{TC_OP_abs, TC_GLSL_FAbs, TC_GLSL_SAbs}, {TC_OP_floor, TC_GLSL_Floor, 0},
                 {TC_OP_ceil, TC_GLSL_Ceil, 0},        {TC_OP_trunc, TC_GLSL_Trunc, 0},
                 {TC_OP_sin, TC_GLSL_Sin, 0},          {TC_OP_cos, TC_GLSL_Cos, 0},
                 {TC_OP_tanh, TC_GLSL_Tanh, 0},        {TC_OP_exp, TC_GLSL_Exp, 0},
                 {TC_OP_log, TC_GLSL_Log, 0},          {TC_OP_sqrt, TC_GLSL_Sqrt, 0}};

/* Comparisons: of floats, of integers; `swapped`: of y and x. */
static const struct {
    tc_op op;
    tc_spv_op real, whole;
    bool swapped;
} comparisons[] = {{TC_OP_eq, TC_SPV_FOrdEqual, TC_SPV_IEqual, false},
                   {TC_OP_ne, TC_SPV_FUnordNotEqual, TC_SPV_INotEqual, false},
                   {TC_OP_lt, TC_SPV_FOrdLessThan, TC_SPV_SLessThan, false},
                   {TC_OP_le, TC_SPV_FOrdLessThanEqual, TC_SPV_SLessThanEqual, false},
                   {TC_OP_gt, TC_SPV_FOrdLessThan, TC_SPV_SLessThan, true},
                   {TC_OP_ge, TC_SPV_FOrdLessThanEqual, TC_SPV_SLessThanEqual, true}};

/* Bits of integers. */
static const struct {
    tc_op op;
    tc_spv_op is;
} bits[] = {{TC_OP_bitwise_and, TC_SPV_BitwiseAnd},
            {TC_OP_bitwise_or, TC_SPV_BitwiseOr},
            {TC_OP_bitwise_xor, TC_SPV_BitwiseXor}};

/* Of two truths. */
static const struct {
    tc_op op;
    tc_spv_op is;
} logic[] = {{TC_OP_logical_and, TC_SPV_LogicalAnd},
             {TC_OP_logical_or, TC_SPV_LogicalOr},
             {TC_OP_logical_xor, TC_SPV_LogicalNotEqual}};

static bool is_real(tc_cs_val v)
{
    return v.kind == TC_CS_F32;
}

static tc_cs_val refuse(tc_cs *s, tc_cs_val v, const char *why)
{
    s->why = s->why ? s->why : why;
    return v;
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

/* x + alpha y; of a narrow float the product is rounded first. */
static tc_cs_val scaled_sum(tc_cs *s, tc_dtype common, double alpha, bool minus, tc_cs_val x,
                            tc_cs_val y)
{
    if (alpha != 1)
        y = ti_cs_wrap(s, common, ti_cs_mul(s, ti_cs_number(s, y.kind, alpha), y));
    return (minus ? ti_cs_sub : ti_cs_add)(s, x, y);
}

/* A divisor that no machine stumbles over: 1 for 0 and -1. */
static tc_cs_val tame(tc_cs *s, tc_cs_val y, tc_cs_val minus_one)
{
    tc_cs_val zero = ti_cs_equal(s, y, ti_cs_number(s, y.kind, 0));
    tc_cs_val one = ti_cs_number(s, y.kind, 1);
    return ti_cs_select(s, ti_cs_or(s, zero, minus_one), one, y);
}

typedef struct division {
    tc_cs_val quotient, rest; /* towards zero */
} division;

static division divide(tc_cs *s, tc_cs_val x, tc_cs_val y)
{
    tc_cs_val minus_one = ti_cs_equal(s, y, ti_cs_number(s, y.kind, -1)), by = tame(s, y, minus_one);
    tc_cs_val q = ti_cs_do(s, TC_SPV_SDiv, x.kind, x, by), back = ti_cs_mul(s, q, by);
    tc_cs_val rest = ti_cs_sub(s, x, back), negated = ti_cs_one(s, TC_SPV_SNegate, x.kind, x);
    return (division){ti_cs_select(s, minus_one, negated, q), rest};
}

/* Whether a remainder has to go to the divisor's side of zero. */
static tc_cs_val crosses(tc_cs *s, tc_cs_val rest, tc_cs_val y)
{
    tc_cs_val zero = ti_cs_number(s, rest.kind, 0);
    tc_cs_val left = ti_cs_not(s, ti_cs_equal(s, rest, zero)), below = ti_cs_less(s, rest, zero);
    tc_cs_val other = ti_cs_do(s, TC_SPV_LogicalNotEqual, TC_CS_BOOL, below, ti_cs_less(s, y, zero));
    return ti_cs_and(s, left, other);
}

static tc_cs_val quotient(tc_cs *s, tc_field_div_mode mode, tc_dtype common, tc_cs_val x,
                          tc_cs_val y)
{
    if (is_real(x) && mode == TC_div_mode_floor)
        return refuse(s, x, "shaders have no exact remainder of floats");
    if (is_real(x)) {
        tc_cs_val q = ti_cs_do(s, TC_SPV_FDiv, TC_CS_F32, x, y);
        return mode == TC_div_mode_exact ? q
                                         : ti_cs_ext(s, TC_GLSL_Trunc, ti_cs_wrap(s, common, q), nothing);
    }
    division d = divide(s, x, y);
    tc_cs_val down = ti_cs_sub(s, d.quotient, ti_cs_number(s, x.kind, 1));
    return mode == TC_div_mode_trunc ? d.quotient
                                     : ti_cs_select(s, crosses(s, d.rest, y), down, d.quotient);
}

static tc_cs_val remainder_of(tc_cs *s, bool floored, tc_cs_val x, tc_cs_val y)
{
    if (is_real(x))
        return refuse(s, x, "shaders have no exact remainder of floats");
    tc_cs_val rest = divide(s, x, y).rest;
    return floored ? ti_cs_select(s, crosses(s, rest, y), ti_cs_add(s, rest, y), rest) : rest;
}

/* The larger or smaller; NaN wins. */
static tc_cs_val extreme(tc_cs *s, bool larger, tc_cs_val x, tc_cs_val y)
{
    tc_cs_val first = larger ? ti_cs_less(s, y, x) : ti_cs_less(s, x, y);
    if (is_real(x))
        first = ti_cs_or(s, first, ti_cs_nan(s, x));
    return ti_cs_select(s, first, x, y);
}

/* x^y of integers by squaring; 1 / x^-y, cut, where y is negative. */
static tc_cs_val whole_power(tc_cs *s, tc_cs_val x, tc_cs_val y)
{
    tc_cs_val one = ti_cs_number(s, x.kind, 1), zero = ti_cs_number(s, x.kind, 0);
    tc_cs_val minus = ti_cs_number(s, x.kind, -1);
    tc_cs_var result = ti_cs_var(s, one), square = ti_cs_var(s, x), left = ti_cs_var(s, y);
    tc_cs_loop l = ti_cs_loop(s, ti_cs_i32(s, 64));
    tc_cs_val rest = ti_cs_get(s, left), by = ti_cs_get(s, square), so_far = ti_cs_get(s, result);
    tc_cs_val odd = ti_cs_equal(s, ti_cs_do(s, TC_SPV_BitwiseAnd, x.kind, rest, one), one);
    ti_cs_set(s, result, ti_cs_select(s, odd, ti_cs_mul(s, so_far, by), so_far));
    ti_cs_set(s, square, ti_cs_mul(s, by, by));
    ti_cs_set(s, left, ti_cs_do(s, TC_SPV_ShiftRightLogical, x.kind, rest, one));
    ti_cs_again(s, &l);
    tc_cs_val even = ti_cs_equal(s, ti_cs_do(s, TC_SPV_BitwiseAnd, x.kind, y, one), zero);
    tc_cs_val of_minus = ti_cs_select(s, even, one, minus);
    tc_cs_val below = ti_cs_select(s, ti_cs_equal(s, x, minus), of_minus, zero);
    below = ti_cs_select(s, ti_cs_equal(s, x, one), one, below);
    tc_cs_val above = ti_cs_get(s, result);
    return ti_cs_select(s, ti_cs_less(s, y, zero), below, above);
}

/* Counts outside 0 .. bits - 1 shift everything out; to the right the sign stays. */
static tc_cs_val shifted(tc_cs *s, bool left, tc_dtype common, tc_cs_val x, tc_cs_val y)
{
    tc_cs_val zero = ti_cs_number(s, x.kind, 0), most = ti_cs_number(s, x.kind, tc_dtypes[common].bits);
    tc_cs_val from = ti_cs_not(s, ti_cs_less(s, y, zero)), up_to = ti_cs_less(s, y, most);
    tc_cs_val inside = ti_cs_and(s, from, up_to);
    tc_cs_val by = ti_cs_select(s, inside, y, zero);
    tc_cs_val v = ti_cs_do(s, left ? TC_SPV_ShiftLeftLogical : TC_SPV_ShiftRightArithmetic, x.kind, x, by);
    tc_cs_val sign = ti_cs_number(s, x.kind, -1);
    sign = ti_cs_select(s, ti_cs_less(s, x, zero), sign, zero);
    return ti_cs_select(s, inside, v, left ? zero : sign);
}

static tc_cs_val bound(tc_cs *s, tc_dtype common, tc_cs_kind kind, double v)
{
    if (kind == TC_CS_F32)
        return ti_cs_number(s, kind, v);
    int64_t whole = isinf(v) ? (v > 0 ? INT64_MAX : INT64_MIN) : ti_wrap(common, ti_trunc_i64(v));
    if (kind == TC_CS_I64)
        return ti_cs_i64(s, whole);
    return ti_cs_i32(s, whole > INT32_MAX ? INT32_MAX : whole < INT32_MIN ? INT32_MIN : whole);
}

/* min(max(x, lo), hi); a bound with id 0 is none, NaN anywhere wins. */
static tc_cs_val clamped(tc_cs *s, tc_cs_val x, tc_cs_val lo, tc_cs_val hi)
{
    tc_cs_val v = x;
    if (lo.id) {
        tc_cs_val below = ti_cs_less(s, v, lo);
        v = ti_cs_select(s, ti_cs_or(s, below, ti_cs_nan(s, lo)), lo, v);
    }
    if (hi.id) {
        tc_cs_val above = ti_cs_less(s, hi, v);
        v = ti_cs_select(s, ti_cs_or(s, above, ti_cs_nan(s, hi)), hi, v);
    }
    return ti_cs_select(s, ti_cs_nan(s, x), x, v);
}

/* 2 / sqrt(pi) x (1 - x^2/3 + x^4/10 - ...) near 0, else 1 - erfc(|x|) with x's sign. */
static tc_cs_val error_function(tc_cs *s, tc_cs_val x)
{
    static const double near[] = {1.1283791670955126,   -0.37612638903183754, 0.11283791670955126,
                                  -0.026866170645131252, 0.0052239776254421878,
                                  -0.00085483270234508531};
    tc_cs_val square = ti_cs_mul(s, x, x), sum = ti_cs_number(s, TC_CS_F32, near[5]);
    for (int i = 4; i >= 0; i--) {
        tc_cs_val next = ti_cs_number(s, TC_CS_F32, near[i]);
        sum = ti_cs_add(s, ti_cs_mul(s, sum, square), next);
    }
    tc_cs_val small = ti_cs_mul(s, x, sum), size = ti_cs_ext(s, TC_GLSL_FAbs, x, nothing);
    tc_cs_val rest = apply(s, TC_OP_erfc, NULL, TC_f32, &size, 1);
    tc_cs_val far = ti_cs_sub(s, ti_cs_number(s, TC_CS_F32, 1), rest);
    tc_cs_val minus = ti_cs_one(s, TC_SPV_FNegate, TC_CS_F32, far);
    far = ti_cs_select(s, ti_cs_less(s, x, ti_cs_number(s, TC_CS_F32, 0)), minus, far);
    return ti_cs_select(s, ti_cs_less(s, size, ti_cs_number(s, TC_CS_F32, 0.5)), small, far);
}

/* ---- one operator ---------------------------------------------------------------------------- */

static bool from_tables(tc_cs *s, tc_op op, const tc_cs_val *in, tc_cs_val *out)
{
    for (size_t i = 0; i < TC_COUNT(functions); i++)
        if (functions[i].op == op) {
            uint32_t f = is_real(in[0]) ? functions[i].real : functions[i].whole;
            *out = f ? ti_cs_ext(s, f, in[0], nothing) : in[0];
            return true;
        }
    for (size_t i = 0; i < TC_COUNT(comparisons); i++)
        if (comparisons[i].op == op) {
            bool swap = comparisons[i].swapped;
            tc_spv_op is = is_real(in[0]) ? comparisons[i].real : comparisons[i].whole;
            *out = ti_cs_do(s, is, TC_CS_BOOL, in[swap], in[!swap]);
            return true;
        }
    for (size_t i = 0; i < TC_COUNT(bits); i++)
        if (bits[i].op == op) {
            *out = ti_cs_do(s, bits[i].is, in[0].kind, in[0], in[1]);
            return true;
        }
    for (size_t i = 0; i < TC_COUNT(logic); i++)
        if (logic[i].op == op) {
            tc_cs_val a = ti_cs_to(s, TC_CS_BOOL, in[0]), b = ti_cs_to(s, TC_CS_BOOL, in[1]);
            *out = ti_cs_do(s, logic[i].is, TC_CS_BOOL, a, b);
            return true;
        }
    return false;
}

/* Those that need more than an instruction; false: by the formula. */
static bool by_hand(tc_cs *s, tc_op op, const void *attr, tc_dtype common, const tc_cs_val *in,
                    tc_cs_val *out)
{
    tc_cs_val x = in[0], y = in[1], one = ti_cs_number(s, TC_CS_F32, 1);
    switch (op) {
    case TC_OP_add:
    case TC_OP_sub:
        *out = scaled_sum(s, common, ((const tc_attr_alpha *)attr)->alpha, op == TC_OP_sub, x, y);
        return true;
    case TC_OP_mul:
        *out = ti_cs_mul(s, x, y);
        return true;
    case TC_OP_div:
        *out = quotient(s, ((const tc_attr_div *)attr)->mode, common, x, y);
        return true;
    case TC_OP_remainder:
    case TC_OP_fmod:
        *out = remainder_of(s, op == TC_OP_remainder, x, y);
        return true;
    case TC_OP_maximum:
    case TC_OP_minimum:
        *out = extreme(s, op == TC_OP_maximum, x, y);
        return true;
    case TC_OP_neg:
        *out = ti_cs_one(s, is_real(x) ? TC_SPV_FNegate : TC_SPV_SNegate, x.kind, x);
        return true;
    case TC_OP_relu:
        y = ti_cs_number(s, x.kind, 0);
        *out = ti_cs_select(s, ti_cs_less(s, x, y), y, x);
        return true;
    case TC_OP_clamp: {
        const tc_attr_clamp *a = attr;
        tc_cs_val lo = bound(s, common, x.kind, a->lo);
        tc_cs_val hi = bound(s, common, x.kind, a->hi);
        *out = clamped(s, x, lo, hi);
        return true;
    }
    case TC_OP_clamp_tensor:
        *out = clamped(s, x, y, in[2]);
        return true;
    case TC_OP_where:
        *out = ti_cs_select(s, ti_cs_to(s, TC_CS_BOOL, x), y, in[2]);
        return true;
    case TC_OP_logical_not:
        *out = ti_cs_not(s, ti_cs_to(s, TC_CS_BOOL, x));
        return true;
    case TC_OP_bitwise_not:
        *out = common == TC_bool ? ti_cs_not(s, ti_cs_to(s, TC_CS_BOOL, x))
                                 : ti_cs_one(s, TC_SPV_Not, x.kind, x);
        return true;
    case TC_OP_isnan:
        *out = ti_cs_nan(s, x);
        return true;
    case TC_OP_isinf:
    case TC_OP_isfinite:
        if (!is_real(x))
            *out = ti_cs_number(s, TC_CS_BOOL, op == TC_OP_isfinite);
        return !is_real(x);
    case TC_OP_shift_left:
    case TC_OP_shift_right:
        *out = shifted(s, op == TC_OP_shift_left, common, x, y);
        return true;
    case TC_OP_cast:
    case TC_OP_identity:
        *out = x;
        return true;
    case TC_OP_reciprocal:
        *out = ti_cs_do(s, TC_SPV_FDiv, TC_CS_F32, one, x);
        return true;
    case TC_OP_rsqrt:
        *out = ti_cs_do(s, TC_SPV_FDiv, TC_CS_F32, one, ti_cs_ext(s, TC_GLSL_Sqrt, x, nothing));
        return true;
    case TC_OP_sigmoid: {
        tc_cs_val e = ti_cs_ext(s, TC_GLSL_Exp, ti_cs_one(s, TC_SPV_FNegate, TC_CS_F32, x), nothing);
        *out = ti_cs_do(s, TC_SPV_FDiv, TC_CS_F32, one, ti_cs_add(s, one, e));
        return true;
    }
    case TC_OP_erf:
        *out = error_function(s, x);
        return true;
    case TC_OP_round:
        if (!is_real(x))
            *out = x;
        else if (((const tc_attr_round *)attr)->decimals == 0)
            *out = ti_cs_ext(s, TC_GLSL_RoundEven, x, nothing);
        else
            return false;
        return true;
    case TC_OP_pow:
        if (!is_real(x))
            *out = whole_power(s, x, y);
        return !is_real(x);
    case TC_OP_nan_to_num:
        *out = x;
        return !is_real(x);
    default:
        return false;
    }
}

/* ---- formulas -------------------------------------------------------------------------------- */

typedef struct desk {
    tc_cs *s;
    tc_op op;
    tc_dtype common;
    tc_cs_val made[MOST_MADE];
    uint32_t n_made;
} desk;

static int depth(tc_cs *s, int by)
{
    return s->depth += by;
}

static tc_term keep(desk *d, tc_cs_val v)
{
    if (d->n_made + 1 >= MOST_MADE) {
        refuse(d->s, v, "its formula has too many steps");
        return (tc_term){.made = 1};
    }
    d->made[++d->n_made] = v;
    return (tc_term){.made = d->n_made};
}

/* A constant of that kind. */
static tc_cs_val beside(tc_cs *s, tc_cs_kind kind, double v)
{
    if (kind != TC_CS_F32 && v != floor(v))
        refuse(s, (tc_cs_val){0, kind}, "its formula has a fraction beside integers");
    return ti_cs_number(s, kind, v);
}

static tc_term compute(const tc_formula *f, tc_op op, const tc_term *in, int n)
{
    desk *d = f->maker;
    tc_cs *s = d->s;
    if (op == TC_FORMULA_LIKE)
        return keep(d, beside(s, d->made[in[0].made].kind, in[1].number));
    int operands = n < tc_ops[op].max_in ? n : tc_ops[op].max_in;
    tc_cs_val operand[3] = {nothing, nothing, nothing};
    tc_cs_kind kind = d->made[ti_formula_like(f, op, in, operands)].kind;
    for (int i = 0; i < operands && i < 3; i++)
        operand[i] = in[i].known ? beside(s, kind, in[i].number) : d->made[in[i].made];
    const void *attr = ti_formula_attr(&s->ctx->scratch, f, op, in + operands, n - operands);
    if (op == d->op && op == TC_OP_pow)
        return keep(d, ti_cs_ext(s, TC_GLSL_Pow, operand[0], operand[1]));
    return keep(d, apply(s, op, attr, d->common, operand, operands));
}

static tc_cs_val by_formula(tc_cs *s, tc_op op, const void *attr, tc_dtype common,
                            const tc_cs_val *in, int n)
{
    tc_op_formula texts = ti_formula_of(op, attr);
    /* As the CPU computes it; but for erfc, of which error_function is made. */
    const char *text = texts.cpu && op != TC_OP_erfc ? texts.cpu : texts.tosa, *wrong;
    if (!text || n > 3 || depth(s, 1) > DEEPEST)
        return refuse(s, in[0], "it has no formula for a shader");
    if (texts.on == TC_ON_floats && !is_real(in[0]))
        return refuse(s, in[0], "its formula is of floats");
    desk *d = tc_new(&s->ctx->scratch, desk);
    *d = (desk){.s = s, .op = op, .common = common};
    tc_formula f = {.text = text, .kind = tc_ops[op].attr, .attr = attr, .make = compute, .maker = d};
    for (int i = 0; i < n; i++)
        f.in[i] = keep(d, in[i]).made;
    tc_term out = {0};
    if (!ti_formula_apply(&f, &out, &wrong))
        return refuse(s, in[0], "its formula cannot be read");
    depth(s, -1);
    return d->made[out.made];
}

static tc_cs_val apply(tc_cs *s, tc_op op, const void *attr, tc_dtype common, const tc_cs_val *in,
                       int n)
{
    tc_cs_val out = nothing, operand[3] = {nothing, nothing, nothing};
    for (int i = 0; i < n && i < 3; i++)
        operand[i] = in[i];
    if (from_tables(s, op, operand, &out) || by_hand(s, op, attr, common, operand, &out))
        return out;
    return by_formula(s, op, attr, common, operand, n);
}

/* ---- the family ------------------------------------------------------------------------------ */

/* The type of computation: the result's; that of the operands if it is bool. */
static tc_dtype common_type(const tc_cs *s, const tc_node *node)
{
    tc_tensor in[3] = {{0}};
    tc_type real = {.dtype = TC_f32, .rank = 1};
    int n = 0;
    const tc_type *out = ti_cs_type(s, s->n_in);
    for (int i = node->op == TC_OP_where; i < node->n_in && n < 3; i++)
        if (ti_cs_type(s, i))
            in[n++].type = ti_cs_type(s, i)->quant ? &real : ti_cs_type(s, i);
    return out->quant ? TC_f32 : out->dtype != TC_bool || !n ? out->dtype : ti_promote(in, n);
}

void ti_cs_elementwise(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_type *to = ti_cs_type(s, s->n_in);
    tc_dtype common = common_type(s, node);
    tc_cs_kind kind = ti_cs_kind_of(common);
    tc_cs_val in[3] = {nothing, nothing, nothing};
    if (node->n_in > 3 || common == TC_none || !ti_cs_holds(common)) {
        s->why = "its operands have no common type that a shader computes in";
        return;
    }
    for (int i = 0; i < node->n_in; i++) {
        if (!ti_cs_type(s, i))
            continue;
        in[i] = ti_cs_load(s, i, ti_cs_spread(s, to, ti_cs_type(s, i), at));
        bool truth = common == TC_bool || (node->op == TC_OP_where && i == 0);
        if (truth)
            in[i] = ti_cs_to(s, TC_CS_BOOL, in[i]);
        if (!(node->op == TC_OP_where && i == 0))
            in[i] = ti_cs_wrap(s, common, ti_cs_to(s, kind, in[i]));
    }
    ti_cs_store(s, s->n_in, at, apply(s, node->op, node->attr, common, in, node->n_in));
}
