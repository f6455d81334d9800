/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_eltwise.c -- functions of single numbers that have no kernel of their own: by their formulas
 * (ir/formula.def, the rows FUNCTION of ir/op.def), and the few that no formula says. */
#include "cpu_forms.h"

#include "../ir/formula.h"

static tc_term make(const tc_formula *f, tc_op op, const tc_term *in, int n)
{
    tc_build *m = f->maker;
    if (op == TC_FORMULA_LIKE)
        return (tc_term){.made = tc_b_number(m, in[0].made, in[1].number)};
    int operands = n < tc_ops[op].max_in ? n : tc_ops[op].max_in;
    tc_val v[3] = {0}, like = tc_formula_like(f, op, in, operands);
    for (int i = 0; i < operands && i < 3; i++)
        v[i] = in[i].known ? tc_b_number(m, like, in[i].number) : in[i].made;
    const void *attr = tc_formula_attr(&m->ctx->arena, f, op, in + operands, n - operands);
    return (tc_term){.made = tc_b_op(m, op, attr, v, operands)};
}

bool tc_cpu_form_formula(tc_build *m)
{
    tc_op op = m->node->op;
    tc_op_formula formula = tc_formula_of(op);
    tc_formula f = {formula.cpu, tc_ops[op].attr, m->node->attr, {0}, make, m};
    bool real = formula.on == TC_ON_floats || formula.on == TC_ON_rounding;
    tc_term out;
    const char *wrong;
    if (!f.text)
        return false;
    if (formula.on == TC_ON_rounding && !tc_is_float(tc_b_in_type(m, 0)->dtype))
        return tc_cpu_done(m, tc_b_in(m, 0));
    for (int i = 0; i < m->node->n_in; i++)
        f.in[i] = real ? tc_cpu_real(m, i) : tc_b_in(m, i);
    if (m->status == TC_OK && !tc_formula_apply(&f, &out, &wrong))
        m->status = tc_bug(m->ctx, m->loc, "the formula of '%s' cannot be read at '%s'",
                           tc_ops[op].name, wrong);
    if (m->status == TC_OK)
        tc_cpu_give(m, 0, out.made);
    return true;
}

/* A weight for each channel, or one for all. */
bool tc_cpu_form_prelu(tc_build *m)
{
    const tc_type *t = tc_b_in_type(m, 0), *weight = tc_b_in_type(m, 1);
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < t->rank; i++)
        dim[i] = i == (t->rank > 1) ? tc_type_count(weight) : 1;
    tc_val x = tc_b_in(m, 0), w = tc_b_reshape(m, tc_b_in(m, 1), t->rank, dim);
    tc_val below_zero = tc_b_mul(m, x, w);
    tc_val above = tc_b_binary(m, TC_OP_gt, x, tc_b_number(m, x, 0));
    return tc_cpu_done(m, tc_b_where(m, above, x, below_zero));
}

/* dequantize(quantize(x)) */
bool tc_cpu_form_fake_quantize(tc_build *m)
{
    tc_attr_quantize *a = tc_arena_copy(&m->ctx->arena, m->node->attr, sizeof *a);
    tc_val in[3] = {tc_b_in(m, 0), tc_b_in(m, 1), tc_b_in(m, 2)};
    bool narrow = a->qmin >= -128 && a->qmax <= 127;
    a->dtype = narrow ? TC_i8 : TC_i32;
    tc_val codes = tc_b_op(m, TC_OP_quantize, a, in, m->node->n_in);
    tc_attr_quantize *back = tc_arena_copy(&m->ctx->arena, a, sizeof *a);
    back->dtype = tc_b_out_type(m, 0)->dtype;
    in[0] = codes;
    return tc_cpu_done(m, tc_b_op(m, TC_OP_dequantize, back, in, m->node->n_in));
}
