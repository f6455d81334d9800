/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_eltwise.c -- functions of single numbers that have no kernel of their own: by their formulas
 * (ir/formula.def, the rows FUNCTION of ir/op.def), and the few that no formula says. */
#include "cpu_forms.h"

#include "../ir/formula.h"

static tc_term make(const tc_formula *f, tc_op op, const tc_term *in, int n)
{
    tc_build *m = f->maker;
    if (op == TC_FORMULA_LIKE)
        return (tc_term){.made = ti_b_number(m, in[0].made, in[1].number)};
    int operands = n < tc_ops[op].max_in ? n : tc_ops[op].max_in;
    tc_val v[3] = {0}, like = ti_formula_like(f, op, in, operands);
    for (int i = 0; i < operands && i < 3; i++)
        v[i] = in[i].known ? ti_b_number(m, like, in[i].number) : in[i].made;
    const void *attr = ti_formula_attr(&m->ctx->arena, f, op, in + operands, n - operands);
    return (tc_term){.made = ti_b_op(m, op, attr, v, operands)};
}

bool ti_cpu_form_formula(tc_build *m)
{
    tc_op op = m->node->op;
    tc_op_formula formula = ti_formula_of(op);
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
