/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_eltwise.c -- elementwise functions without a kernel: by their formulas (ir/formula.def, the
 * rows FUNCTION of ir/op.def), and the few without a formula. */
#include <math.h>

#include "cpu_forms.h"

#include "../ir/formula.h"
#include "../num/load.h"
#include "../target/cpu.h"

/* A scalar for values like this one; what their type cannot hold is compared as a float. */
static tc_val number_beside(tc_build *m, tc_op op, tc_val like, double number)
{
    bool compares = TC_OP_IN(op, TC_OP_lt, TC_OP_le, TC_OP_gt, TC_OP_ge, TC_OP_eq, TC_OP_ne);
    tc_dtype t = ti_b_dtype(m, like);
    bool narrow = t == TC_bool || (ti_is_int(t) && tc_dtypes[t].bits < 64);
    double least = t == TC_bool ? 0 : narrow ? (double)ti_dtype_min(t) : 0,
           most = t == TC_bool ? 1 : narrow ? (double)ti_dtype_max(t) : 0;
    bool held = number >= least && number <= most && number == floor(number);
    return compares && narrow && !held ? ti_b_scalar(m, TC_f32, number)
                                       : ti_b_number(m, like, number);
}

static tc_term make(const tc_formula *f, tc_op op, const tc_term *in, int n)
{
    tc_build *m = f->maker;
    if (op == TC_FORMULA_LIKE)
        return (tc_term){.made = ti_b_number(m, in[0].made, in[1].number)};
    int operands = n < tc_ops[op].max_in ? n : tc_ops[op].max_in;
    tc_val v[3] = {0}, like = ti_formula_like(f, op, in, operands);
    for (int i = 0; i < operands && i < 3; i++)
        v[i] = in[i].known ? number_beside(m, op, like, in[i].number) : in[i].made;
    const void *attr = ti_formula_attr(&m->ctx->arena, f, op, in + operands, n - operands);
    return (tc_term){.made = ti_b_op(m, op, attr, v, operands)};
}

bool ti_cpu_form_formula(tc_build *m)
{
    tc_op op = m->node->op;
    tc_op_formula formula = ti_formula_of(op, m->node->attr);
    tc_formula f = {formula.cpu, tc_ops[op].attr, m->node->attr, {0}, make, m};
    bool real = formula.on == TC_ON_floats || formula.on == TC_ON_rounding;
    tc_term out;
    const char *wrong;
    if (!f.text)
        return false;
    if (formula.on == TC_ON_rounding && !ti_is_float(ti_b_in_type(m, 0)->dtype))
        return ti_cpu_done(m, ti_b_in(m, 0));
    for (int i = 0; i < m->node->n_in; i++)
        f.in[i] = real ? ti_cpu_real(m, i) : ti_b_in(m, i);
    if (m->status == TC_OK && !ti_formula_apply(&f, &out, &wrong))
        m->status = ti_bug(m->ctx, m->loc, "the formula of '%s' cannot be read at '%s'",
                           tc_ops[op].name, wrong);
    if (m->status == TC_OK)
        ti_cpu_give(m, 0, out.made);
    return true;
}

/* A weight for each channel, or one for all. */
bool ti_cpu_form_prelu(tc_build *m)
{
    const tc_type *t = ti_b_in_type(m, 0), *weight = ti_b_in_type(m, 1);
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < t->rank; i++)
        dim[i] = i == (t->rank > 1) ? tc_type_count(weight) : 1;
    tc_val x = ti_b_in(m, 0), w = ti_b_reshape(m, ti_b_in(m, 1), t->rank, dim);
    tc_val below_zero = ti_b_mul(m, x, w);
    tc_val above = ti_b_binary(m, TC_OP_gt, x, ti_b_number(m, x, 0));
    return ti_cpu_done(m, ti_b_where(m, above, x, below_zero));
}

/* x - floor(x / y) y, of integers */
bool ti_cpu_form_remainder(tc_build *m)
{
    tc_dtype t = ti_b_out_type(m, 0)->dtype;
    tc_val x = ti_b_cast(m, ti_b_in(m, 0), t), y = ti_b_cast(m, ti_b_in(m, 1), t);
    tc_val times = ti_b_2(m, div, ti_b_attr(m, div, TC_div_mode_floor), x, y);
    return ti_cpu_done(m, ti_b_sub(m, x, ti_b_mul(m, times, y)));
}

/* x x x, of integers: by squares */
bool ti_cpu_form_pow(tc_build *m)
{
    int by = ti_cpu_whole_power(m->rw->from, m->node);
    if (by < 0)
        return false;
    tc_val x = ti_b_cast(m, ti_b_in(m, 0), ti_b_out_type(m, 0)->dtype),
           y = by & 1 ? x : ti_b_number(m, x, 1);
    for (by >>= 1; by; by >>= 1) {
        x = ti_b_mul(m, x, x);
        y = by & 1 ? ti_b_mul(m, y, x) : y;
    }
    return ti_cpu_done(m, y);
}

/* A bound that the type does not hold is one of the same low bits, as in PyTorch. */
static double held(tc_dtype t, double bound)
{
    return isinf(bound) ? bound : (double)ti_wrap(t, ti_trunc_i64(bound));
}

bool ti_cpu_form_clamp(tc_build *m)
{
    const tc_attr_clamp *a = m->node->attr;
    tc_dtype t = ti_b_out_type(m, 0)->dtype;
    return ti_cpu_done(m, ti_b_clamp(m, ti_b_in(m, 0), held(t, a->lo), held(t, a->hi)));
}

/* Rounded from f32, which holds every bf16. */
bool ti_cpu_form_quantize(tc_build *m)
{
    tc_val in[3] = {ti_cpu_real(m, 0), ti_b_in(m, 1), ti_b_in(m, 2)};
    if (ti_b_in_type(m, 0)->dtype != TC_bf16)
        return false;
    return ti_cpu_done(m, ti_b_typed(m, TC_OP_quantize, m->node->attr, in, m->node->n_in,
                                     ti_b_out_type(m, 0)));
}

bool ti_cpu_form_dequantize(tc_build *m)
{
    tc_attr_quantize *a = ti_arena_copy(&m->ctx->arena, m->node->attr, sizeof *a);
    tc_val in[3] = {ti_b_in(m, 0), ti_b_in(m, 1), ti_b_in(m, 2)};
    if (ti_b_out_type(m, 0)->dtype != TC_bf16)
        return false;
    a->dtype = TC_f32;
    return ti_cpu_done(m, ti_b_op(m, TC_OP_dequantize, a, in, m->node->n_in));
}

/* dequantize(quantize(x)) */
bool ti_cpu_form_fake_quantize(tc_build *m)
{
    tc_attr_quantize *a = ti_arena_copy(&m->ctx->arena, m->node->attr, sizeof *a);
    tc_val in[3] = {ti_b_in(m, 0), ti_b_in(m, 1), ti_b_in(m, 2)};
    bool narrow = a->qmin >= -128 && a->qmax <= 127;
    a->dtype = narrow ? TC_i8 : TC_i32;
    tc_val codes = ti_b_op(m, TC_OP_quantize, a, in, m->node->n_in);
    tc_attr_quantize *back = ti_arena_copy(&m->ctx->arena, a, sizeof *a);
    back->dtype = ti_b_out_type(m, 0)->dtype;
    in[0] = codes;
    return ti_cpu_done(m, ti_b_op(m, TC_OP_dequantize, back, in, m->node->n_in));
}
