/* SPDX-License-Identifier: Apache-2.0 */
/* c_lines.c -- elementwise operators as lines of C: an expression of one number, of four where MVE has it, or of a
 * float. */
#include "c_loop.h"


/* ---- operands ---- */

static bool is_inside(const tc_c_loop *l, tc_val v)
{
    return l->cg->in_chain[v] == 1 + (size_t)(l->step - l->cg->step);
}

size_t ti_c_stream_of(tc_c_loop *l, tc_val v, bool along)
{
    const tc_type *t = ti_type_of(l->cg->g, v), *out = ti_type_of(l->cg->g, l->step->out);
    tc_c_stream s = {.pointer = ti_c_pointer(l->m, l->cg, v), .type = ti_c_type(t->dtype), .v = v};
    int64_t size = 1;
    for (int i = out->rank - 1; i >= 0 && !along; i--) {
        s.step[i] = t->dim[i] == 1 ? 0 : size;
        size *= t->dim[i];
    }
    if (along && out->rank)
        s.step[out->rank - 1] = tc_type_count(t) > 1;
    for (size_t i = l->cg->stream[v]; i; i = l->stream[i - 1].next)
        if (i > 1 && memcmp(l->stream[i - 1].step, s.step, sizeof s.step) == 0)
            return i - 1;
    s.next = l->cg->stream[v];
    l->stream[l->n_stream++] = s;
    l->cg->stream[v] = l->n_stream;
    return l->n_stream - 1;
}

bool ti_c_is_number(const tc_c_loop *l, tc_val v)
{
    return ti_c_is_const(l->cg, v) && tc_type_count(ti_type_of(l->cg->g, v)) == 1;
}

static const char *number(const tc_c_loop *l, tc_val v) { return ti_c_literal(l->m, l->cg, v); }

/* The name of a value in the loop's body; "@3@" is stream 3 at its position. */
static const char *operand(tc_c_loop *l, tc_val v, bool along)
{
    if (is_inside(l, v))
        return ti_text_format(&l->m->ctx->arena, "t%zu", l->cg->line[v]);
    if (ti_c_is_number(l, v))
        return ti_text_format(&l->m->ctx->arena, l->four ? "tosac_vnumber(%s)" : "%s",
                              number(l, v));
    return ti_text_format(&l->m->ctx->arena, "@%zu@", ti_c_stream_of(l, v, along));
}

/* ---- one line for each operator ---- */

typedef const char *line_fn(tc_c_loop *l, const tc_node *node);

static const char *in(tc_c_loop *l, const tc_node *node, int i)
{
    return operand(l, node->in[i], false);
}
#define TEXT(l, ...) ti_text_format(&(l)->m->ctx->arena, __VA_ARGS__)

static const char *product(tc_c_loop *l, const tc_node *node)
{
    const char *a = in(l, node, 0), *b = in(l, node, 1);
    return TEXT(l, "%s * %s", a, b);
}

static const char *mul(tc_c_loop *l, const tc_node *node)
{
    if (ti_c_is_real(l, node->out[0]))
        return product(l, node);
    if (l->four && !ti_c_is_number(l, node->in[2]))
        return NULL;
    const char *a = in(l, node, 0), *b = in(l, node, 1), *s = operand(l, node->in[2], true);
    if (!ti_c_is_const(l->cg, node->in[2]))
        return TEXT(l, "%s ? tosac_mul_shift(%s, %s, %s) : tosac_mul(%s, %s)", s, a, b, s, a, b);
    if (l->four)
        return ti_c_const_at(l->cg, node->in[2], 0)
                   ? TEXT(l, "tosac_vmul_shift(%s, %s, %s)", a, b, number(l, node->in[2]))
                   : TEXT(l, "vmulq_s32(%s, %s)", a, b);
    return ti_text_eq(s, "0") ? TEXT(l, "tosac_mul(%s, %s)", a, b)
                              : TEXT(l, "tosac_mul_shift(%s, %s, %s)", a, b, s);
}

static const char *clamp(tc_c_loop *l, const tc_node *node)
{
    const tc_attr_tosa_clamp *a = node->attr;
    if (ti_c_is_real(l, node->out[0])) {
        const char *number = a->nan_mode == TC_nan_mode_ignore ? "_number" : "";
        const char *x = in(l, node, 0), *lo = ti_c_real(l->m, a->min_val);
        return TEXT(l, "tosac_fmin%s(tosac_fmax%s(%s, %s), %s)", number, number, x, lo,
                    ti_c_real(l->m, a->max_val));
    }
    return TEXT(l, "tosac_%sclip(%s, %s, %s)", l->four ? "v" : "", in(l, node, 0),
                ti_c_number(l->m, ti_trunc_i64(a->min_val)),
                ti_c_number(l->m, ti_trunc_i64(a->max_val)));
}

static const char *right_shift(tc_c_loop *l, const tc_node *node)
{
    bool round = ((const tc_attr_tosa_shift *)node->attr)->round;
    const char *a = in(l, node, 0), *b = in(l, node, 1);
    return TEXT(l, "tosac_%sasr%s(%s, %s)", l->four ? "v" : "", round ? "_round" : "", a, b);
}

static const char *left_shift(tc_c_loop *l, const tc_node *node)
{
    if (l->four && ti_c_dtype(l, node->out[0]) != TC_i32)
        return NULL;
    const char *a = in(l, node, 0), *b = in(l, node, 1);
    return TEXT(l, "tosac_%slsl(%s, %s)", l->four ? "v" : "", a, b);
}

static const char *logical_right_shift(tc_c_loop *l, const tc_node *node)
{
    if (l->four)
        return NULL;
    const char *a = in(l, node, 0), *b = in(l, node, 1);
    return TEXT(l, "tosac_lsr((u%s)(%s), %s)", ti_c_type(ti_c_dtype(l, node->in[0])), a, b);
}

static const char *negate(tc_c_loop *l, const tc_node *node)
{
    if (l->four)
        return NULL;
    tc_dtype d = ti_c_dtype(l, node->out[0]);
    if (d == TC_f32)
        return TEXT(l, "-(%s)", in(l, node, 0));
    const char *x = in(l, node, 0), *from = operand(l, node->in[1], true);
    const char *to = operand(l, node->in[2], true);
    const char *v = TEXT(l, "tosac_sub(%s, tosac_sub(%s, %s))", to, x, from);
    return d == TC_i32 ? v
                       : TEXT(l, "tosac_clip(%s, %" PRId64 ", %" PRId64 ")", v, ti_dtype_min(d),
                              ti_dtype_max(d));
}

static const char *cast(tc_c_loop *l, const tc_node *node)
{
    tc_dtype from = ti_c_dtype(l, node->in[0]), to = ti_c_dtype(l, node->out[0]);
    bool wraps = tc_dtypes[to].bits < tc_dtypes[from].bits;
    if (to == TC_f32)
        return TEXT(l, "(float)%s", in(l, node, 0));
    if (from == TC_f32 && to != TC_bool)
        return TEXT(l, "tosac_nearest(%s, %s, %s)", in(l, node, 0), ti_c_number(l->m, ti_dtype_min(to)),
                    ti_c_number(l->m, ti_dtype_max(to)));
    if (l->four && to == TC_bool)
        return TEXT(l, "tosac_vtruth(vcmpneq_n_s32(%s, 0))", in(l, node, 0));
    if (l->four && wraps)
        return TEXT(l, "tosac_vwrap(%s, %d)", in(l, node, 0), tc_dtypes[to].bits);
    return TEXT(l, to == TC_bool ? "%s != 0" : "%s", in(l, node, 0));
}

/* "tosac_fmax(a, b)": of floats NaN propagates, or is ignored. */
static const char *extreme(tc_c_loop *l, const tc_node *node)
{
    const tc_attr_tosa_nan *nan = node->attr;
    bool most = node->op == TC_OP_tosa_maximum;
    const char *a = in(l, node, 0), *b = in(l, node, 1);
    if (l->four)
        return TEXT(l, "%s(%s, %s)", most ? "vmaxq_s32" : "vminq_s32", a, b);
    if (!ti_c_is_real(l, node->out[0]))
        return TEXT(l, "tosac_%s(%s, %s)", most ? "max" : "min", a, b);
    return TEXT(l, "tosac_f%s%s(%s, %s)", most ? "max" : "min",
                nan->nan_mode == TC_nan_mode_ignore ? "_number" : "", a, b);
}

static const char *table(tc_c_loop *l, const tc_node *node)
{
    const char *entries = ti_c_pointer(l->m, l->cg, node->in[1]), *x = in(l, node, 0);
    if (l->four)
        return TEXT(l, "tosac_vtable%s(%s, %s)", ti_c_dtype(l, node->in[0]) == TC_i8 ? "" : "16", entries,
                    x);
    return ti_c_dtype(l, node->in[0]) == TC_i8 ? TEXT(l, "(%s)[%s + 128]", entries, x)
                                             : TEXT(l, "tosac_table16(%s, %s)", entries, x);
}

/* ---- RESCALE ---- */

static const char *unsigned_of(tc_c_loop *l, tc_dtype d, const char *v)
{
    return TEXT(l, "(%s & %s)", v, d == TC_i8 ? "0xff" : "0xffff");
}

/* One multiplier of 2^30: shifts will do. */
bool ti_c_is_power(const tc_c_loop *l, const tc_node *node, int64_t *shift)
{
    const tc_attr_tosa_rescale *a = node->attr;
    if (!a->scale32 || a->rounding_mode == TC_rounding_inexact || a->per_channel ||
        !ti_c_is_const(l->cg, node->in[1]) || !ti_c_is_const(l->cg, node->in[2]) ||
        ti_c_const_at(l->cg, node->in[1], 0) != INT64_C(1) << 30)
        return false;
    *shift = ti_c_const_at(l->cg, node->in[2], 0) - 30;
    return *shift <= 1 || (a->rounding_mode == TC_rounding_single && *shift < 32);
}

static const char *scaled(tc_c_loop *l, const tc_node *node, const char *v)
{
    const tc_attr_tosa_rescale *a = node->attr;
    static const char *const names[] = {[TC_rounding_single] = "tosac_scale",
                                        [TC_rounding_double] = "tosac_scale_double",
                                        [TC_rounding_inexact] = "tosac_scale_inexact"};
    bool wide = !a->scale32 && a->rounding_mode != TC_rounding_inexact;
    int64_t shift;
    if (ti_c_is_power(l, node, &shift))
        return shift == 0  ? v
               : shift < 0 ? TEXT(l, "tosac_lsl(%s, %" PRId64 ")", v, -shift)
                           : TEXT(l, "tosac_asr_round(%s, %" PRId64 ")", v, shift);
    const char *m = operand(l, node->in[1], true), *s = operand(l, node->in[2], true);
    return TEXT(l, "%s(%s, %s, %s)", wide ? "tosac_scale_wide" : names[a->rounding_mode], v, m, s);
}

/* Four at once: by constants, of signed types. */
static const char *rescale_four(tc_c_loop *l, const tc_node *node)
{
    const tc_attr_tosa_rescale *a = node->attr;
    tc_dtype to = ti_c_dtype(l, node->out[0]);
    for (int i = 1; i < 5; i++)
        if (!(i < 3 ? ti_c_is_const(l->cg, node->in[i]) : ti_c_is_number(l, node->in[i])))
            return NULL;
    if (!a->scale32 || a->rounding_mode == TC_rounding_inexact || a->input_unsigned ||
        a->output_unsigned)
        return NULL;
    const char *v = in(l, node, 0);
    int64_t zero = ti_c_const_at(l->cg, node->in[3], 0), shift;
    int64_t out_zero = ti_c_const_at(l->cg, node->in[4], 0);
    if (zero)
        v = TEXT(l, "vaddq_n_s32(%s, %s)", v, ti_c_number(l->m, -zero));
    if (!ti_c_is_number(l, node->in[1])) {
        const char *m = operand(l, node->in[1], true), *s = operand(l, node->in[2], true);
        v = TEXT(l, "tosac_vscale_each(%s, %s, %s, %s)",
                 a->rounding_mode == TC_rounding_double ? "TOSAC_DOUBLE" : "TOSAC_SINGLE", v, m, s);
    } else if (!ti_c_is_power(l, node, &shift)) {
        v = TEXT(l, "tosac_vscale%s(%s, %s, %s)",
                 a->rounding_mode == TC_rounding_double ? "_double" : "", v,
                 number(l, node->in[1]), number(l, node->in[2]));
    } else if (shift) {
        v = TEXT(l, "vrshlq_s32(%s, tosac_vnumber(%" PRId64 "))", v, -shift);
    }
    if (to == TC_i32)
        return v;
    v = TEXT(l, "tosac_vclip(%s, %s, %s)", v, ti_c_number(l->m, ti_dtype_min(to) - out_zero),
             ti_c_number(l->m, ti_dtype_max(to) - out_zero));
    return out_zero ? TEXT(l, "vaddq_n_s32(%s, %s)", v, ti_c_number(l->m, out_zero)) : v;
}

static const char *rescale(tc_c_loop *l, const tc_node *node)
{
    if (l->four)
        return rescale_four(l, node);
    const tc_attr_tosa_rescale *a = node->attr;
    tc_dtype from = ti_c_dtype(l, node->in[0]), to = ti_c_dtype(l, node->out[0]);
    const char *v = in(l, node, 0), *zero = operand(l, node->in[3], true);
    if (a->input_unsigned) {
        v = unsigned_of(l, from, v);
        zero = unsigned_of(l, from, zero);
    }
    if (!ti_text_eq(zero, "0"))
        v = TEXT(l, from == TC_i48 ? "%s - %s" : "tosac_sub(%s, %s)", v, zero);
    v = scaled(l, node, v);
    if (to == TC_i32)
        return v;
    zero = operand(l, node->in[4], true);
    if (a->output_unsigned)
        zero = unsigned_of(l, to, zero);
    int64_t lo = a->output_unsigned ? 0 : ti_dtype_min(to);
    int64_t hi = lo + ti_dtype_max(to) - ti_dtype_min(to);
    return TEXT(l, "tosac_clip(%s, %" PRId64 " - %s, %" PRId64 " - %s) + %s", v, lo,
                TEXT(l, "(%s)", zero), hi, TEXT(l, "(%s)", zero), TEXT(l, "(%s)", zero));
}

/* Operators that have other words for floats. */
static const struct {
    tc_op op;
    const char *text;
    bool libm; /* a function of the C library, not one or a few instructions */
} reals[] = {
    {TC_OP_tosa_add, "$0 + $1", false},
    {TC_OP_tosa_sub, "$0 - $1", false},
    {TC_OP_tosa_abs, "fabsf($0)", false},
    {TC_OP_tosa_ceil, "ceilf($0)", false},
    {TC_OP_tosa_floor, "floorf($0)", false},
    {TC_OP_tosa_cos, "cosf($0)", true},
    {TC_OP_tosa_sin, "sinf($0)", true},
    {TC_OP_tosa_erf, "erff($0)", true},
    {TC_OP_tosa_exp, "expf($0)", true},
    {TC_OP_tosa_log, "logf($0)", true},
    {TC_OP_tosa_pow, "powf($0, $1)", true},
    {TC_OP_tosa_reciprocal, "1.0f / $0", false},
    {TC_OP_tosa_rsqrt, "1.0f / sqrtf($0)", false},
    {TC_OP_tosa_sigmoid, "tosac_sigmoid($0)", true},
    {TC_OP_tosa_tanh, "tanhf($0)", true},
};

/* $0, $1, $2: the operands; of one number, and of four. */
static const struct {
    tc_op op;
    const char *one, *four;
    line_fn *line; /* instead of both */
} lines[] = {
    {TC_OP_tosa_add, "tosac_add($0, $1)", "vaddq_s32($0, $1)", NULL},
    {TC_OP_tosa_sub, "tosac_sub($0, $1)", "vsubq_s32($0, $1)", NULL},
    {TC_OP_tosa_mul, NULL, NULL, mul},
    {TC_OP_tosa_intdiv, "tosac_div($0, $1)", NULL, NULL},
    {TC_OP_tosa_maximum, NULL, NULL, extreme},
    {TC_OP_tosa_minimum, NULL, NULL, extreme},
    {TC_OP_tosa_bitwise_and, "$0 & $1", "vandq_s32($0, $1)", NULL},
    {TC_OP_tosa_bitwise_or, "$0 | $1", "vorrq_s32($0, $1)", NULL},
    {TC_OP_tosa_bitwise_xor, "$0 ^ $1", "veorq_s32($0, $1)", NULL},
    {TC_OP_tosa_bitwise_not, "~$0", "vmvnq_s32($0)", NULL},
    {TC_OP_tosa_logical_and, "$0 & $1", "vandq_s32($0, $1)", NULL},
    {TC_OP_tosa_logical_or, "$0 | $1", "vorrq_s32($0, $1)", NULL},
    {TC_OP_tosa_logical_xor, "$0 ^ $1", "veorq_s32($0, $1)", NULL},
    {TC_OP_tosa_logical_not, "!$0", "veorq_s32($0, tosac_vnumber(1))", NULL},
    {TC_OP_tosa_logical_left_shift, NULL, NULL, left_shift},
    {TC_OP_tosa_logical_right_shift, NULL, NULL, logical_right_shift},
    {TC_OP_tosa_arithmetic_right_shift, NULL, NULL, right_shift},
    {TC_OP_tosa_equal, "$0 == $1", "tosac_vtruth(vcmpeqq_s32($0, $1))", NULL},
    {TC_OP_tosa_greater, "$0 > $1", "tosac_vtruth(vcmpgtq_s32($0, $1))", NULL},
    {TC_OP_tosa_greater_equal, "$0 >= $1", "tosac_vtruth(vcmpgeq_s32($0, $1))", NULL},
    {TC_OP_tosa_select, "$0 ? $1 : $2", "tosac_vselect($0, $1, $2)", NULL},
    {TC_OP_tosa_abs, "tosac_abs($0)", "vabsq_s32($0)", NULL},
    {TC_OP_tosa_clz, "tosac_clz($0)", "vclzq_s32($0)", NULL},
    {TC_OP_tosa_clamp, NULL, NULL, clamp},
    {TC_OP_tosa_negate, NULL, NULL, negate},
    {TC_OP_tosa_cast, NULL, NULL, cast},
    {TC_OP_tosa_table, NULL, NULL, table},
    {TC_OP_tosa_rescale, NULL, NULL, rescale},
};

/* The line's text of an operator that has words. */
static const char *words_of(const tc_c_loop *l, const tc_node *node)
{
    for (size_t i = 0; i < TC_COUNT(reals) && ti_c_is_real(l, node->out[0]); i++)
        if (reals[i].op == node->op)
            return l->four ? NULL : reals[i].text;
    for (size_t i = 0; i < TC_COUNT(lines); i++)
        if (lines[i].op == node->op)
            return l->four ? lines[i].four : lines[i].one;
    return NULL;
}

/* NULL: there is no line for it. */
const char *ti_c_line_of(tc_c_loop *l, const tc_node *node)
{
    tc_buf text;
    if (ti_c_is_real(l, node->out[0]) || ti_c_is_real(l, node->in[0]))
        l->m->used[TC_C_FLOAT_LINES] = true;
    for (size_t i = 0; i < TC_COUNT(lines); i++)
        if (lines[i].op == node->op && lines[i].line)
            return lines[i].line(l, node);
    ti_buf_init(&text, &l->m->ctx->arena);
    for (const char *p = words_of(l, node); p && *p; p++)
        if (*p == '$')
            ti_buf_text(&text, in(l, node, *++p - '0'));
        else
            ti_buf_u8(&text, (uint8_t)*p);
    return text.size ? ti_buf_cstr(&text) : NULL;
}

bool ti_c_calls_libm(tc_op op)
{
    for (size_t i = 0; i < TC_COUNT(reals); i++)
        if (reals[i].op == op)
            return reals[i].libm;
    return false;
}
