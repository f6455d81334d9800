/* SPDX-License-Identifier: Apache-2.0 */
/* formula_check.c -- whether a text is the formula of a function of one value.
 *
 * A formula of op.def is read by a test; that of the operator `function` comes from outside. */
#include "formula.h"
#include "shape.h"

enum { MOST_MADE = 96 }; /* operators and numbers: what formula_kernel.c has room for */

typedef struct judge {
    uint32_t n_made;
    bool bad;
} judge;

/* A term that was made: 2 n + 1 if it is true or false, 2 n if it is a number; 0: there is none. */
static bool is_real(tc_term t) { return t.known || (t.made && !(t.made & 1)); }
static bool is_truth(tc_term t) { return !t.known && (t.made & 1); }

/* The numbers after the operands are fields that a number can fill. */
static bool fields_fit(tc_attr_kind kind, const tc_term *in, int n)
{
    const tc_attr_info *info = &tc_attrs[kind];
    bool good = n <= info->n_field;
    for (int i = 0; i < info->n_field; i++) {
        int field = (int)info->field[i].kind, words = 0;
        double v = i < n ? in[i].number : 0;
        if (field >= TC_FIELD_CHOICES)
            words = tc_choices[field - TC_FIELD_CHOICES].count;
        good = good && (field == TC_FIELD_f64 || (field == TC_FIELD_i64 && v > -1e9 && v < 1e9) ||
                        (words && v >= 0 && v < words));
    }
    return good;
}

static tc_term judged(const tc_formula *f, tc_op op, const tc_term *in, int n)
{
    judge *j = f->maker;
    j->n_made += (uint32_t)n + 1;
    j->bad = j->bad || j->n_made > MOST_MADE;
    if (op == TC_FORMULA_LIKE) {
        j->bad = j->bad || !is_real(in[0]);
        return (tc_term){.made = 2 * j->n_made};
    }
    const tc_op_info *info = &tc_ops[op];
    int operands = n < info->max_in ? n : info->max_in;
    bool logical = TC_OP_IN(op, TC_OP_logical_and, TC_OP_logical_or, TC_OP_logical_xor,
                            TC_OP_logical_not);
    bool truth = info->shape == ti_shape_compare || info->shape == ti_shape_bool;
    j->bad = j->bad || !(info->traits & T_ELTWISE) || op >= TC_OP_tosa_argmax || !info->kernel ||
             op == TC_OP_function || op == TC_OP_prelu || op == TC_OP_clamp_tensor ||
             !fields_fit(info->attr, in + operands, n - operands);
    for (int i = 0; i < operands; i++)
        j->bad = j->bad || !(logical || (op == TC_OP_where && i == 0) ? is_truth(in[i])
                                                                      : is_real(in[i]));
    return (tc_term){.made = 2 * j->n_made + truth};
}

bool ti_formula_good(const char *text, const char **wrong)
{
    judge j = {1, false};
    tc_formula f = {text, TC_ATTR_none, NULL, {2 * 1}, judged, &j};
    tc_term out;
    return ti_formula_apply(&f, &out, wrong) && !j.bad && is_real(out);
}
