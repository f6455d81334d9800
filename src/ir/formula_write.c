/* SPDX-License-Identifier: Apache-2.0 */
/* formula_write.c -- see formula_write.h: the text that formula.c reads.
 *
 * A value that is read once is written where it is read, others get a name first. */
#include "formula_write.h"

#include <stdlib.h>

#include "../num/load.h"
#include "formula.h"
#include "shape.h"

/* How signs bind, as in formula.c. */
enum { CHOICE = -1, OR, AND, COMPARES, SUM, PRODUCT, ALONE };

static const struct {
    tc_op op;
    int level;
    const char *sign;
} signs[] = {{TC_OP_logical_or, OR, "|"}, {TC_OP_bitwise_or, OR, "|"}, {TC_OP_logical_and, AND, "&"},
             {TC_OP_bitwise_and, AND, "&"}, {TC_OP_le, COMPARES, "<="}, {TC_OP_ge, COMPARES, ">="},
             {TC_OP_lt, COMPARES, "<"}, {TC_OP_gt, COMPARES, ">"}, {TC_OP_eq, COMPARES, "=="},
             {TC_OP_ne, COMPARES, "!="}, {TC_OP_add, SUM, "+"}, {TC_OP_sub, SUM, "-"},
             {TC_OP_mul, PRODUCT, "*"}, {TC_OP_div, PRODUCT, "/"}};

typedef struct phrase {
    tc_val of;
    const char *text;
    int level;
    bool truth;
} phrase;

typedef struct writer {
    tc_arena *arena;
    const tc_graph *g;
    phrase *made; /* of x, and of the results so far */
    int n_made;
} writer;

bool ti_formula_number(const tc_graph *g, tc_val v, double *number)
{
    tc_tensor t = v && ti_is_const(g, v) ? ti_tensor_of(g, v) : (tc_tensor){0};
    int64_t n = t.type && !t.type->quant && t.type->dtype != TC_c64 ? tc_type_count(t.type) : 0;
    if (n < 1)
        return false;
    *number = ti_load_f64(t, 0);
    for (int64_t i = 1; i < n; i++)
        if (ti_load_f64(t, i) != *number)
            return false;
    return true;
}

/* ---- what can be written ---- */

static bool on_bools(tc_op op)
{
    return TC_OP_IN(op, TC_OP_logical_and, TC_OP_logical_or, TC_OP_logical_xor, TC_OP_logical_not,
                    TC_OP_bitwise_and, TC_OP_bitwise_or, TC_OP_bitwise_xor, TC_OP_bitwise_not);
}

/* Operand i has to be true or false. */
static bool asks_truth(tc_op op, int i)
{
    return on_bools(op) || (op == TC_OP_where && i == 0);
}

/* All its attributes are numbers. */
static bool has_numbers(tc_attr_kind kind)
{
    const tc_attr_info *info = &tc_attrs[kind];
    for (int i = 0; i < info->n_field; i++)
        if (info->field[i].kind != TC_FIELD_f64 && info->field[i].kind != TC_FIELD_i64 &&
            info->field[i].kind < TC_FIELD_CHOICES)
            return false;
    return true;
}

bool ti_formula_takes(const tc_graph *g, const tc_node *node)
{
    const tc_op_info *info = &tc_ops[node->op];
    if (!(info->traits & T_ELTWISE) || node->op >= TC_OP_tosa_argmax || node->n_out != 1 ||
        node->n_in > 3 || node->op == TC_OP_prelu || node->op == TC_OP_clamp_tensor)
        return false;
    const tc_type *y = ti_type_of(g, node->out[0]);
    bool truth = node->op == TC_OP_cast || on_bools(node->op) || info->shape == ti_shape_compare ||
                 info->shape == ti_shape_bool;
    bool good = node->op == TC_OP_cast || has_numbers(info->attr);
    good = good && y && !y->quant && (y->dtype == TC_f32 || (truth && y->dtype == TC_bool));
    for (int i = 0; i < node->n_in && good; i++) {
        double number;
        const tc_type *t = ti_type_of(g, node->in[i]);
        good = t && !t->quant &&
               (t->dtype == TC_f32 || t->dtype == TC_bool ||
                (!asks_truth(node->op, i) && ti_formula_number(g, node->in[i], &number)));
    }
    return good;
}

/* ---- writing ---- */

static phrase found(const writer *w, tc_val v)
{
    for (int i = 0; i < w->n_made; i++)
        if (w->made[i].of == v)
            return w->made[i];
    double number = 0;
    const char *text = "";
    ti_formula_number(w->g, v, &number);
    for (int digits = 6; digits <= 9; digits++) { /* until it reads back as the f32 */
        text = ti_text_format(w->arena, "%.*g", digits, number);
        if (strtof(text, NULL) == (float)number)
            break;
    }
    return (phrase){v, text, ALONE, false};
}

/* In parentheses where it binds less. */
static const char *bound(const writer *w, phrase p, int level)
{
    return p.level >= level ? p.text : ti_text_format(w->arena, "(%s)", p.text);
}

static phrase operand(const writer *w, const tc_node *node, int i)
{
    phrase p = found(w, node->in[i]);
    bool asked = asks_truth(node->op, i) ||
                 (node->op == TC_OP_cast && ti_type_of(w->g, node->out[0])->dtype == TC_bool);
    if (asked && !p.truth)
        p = (phrase){p.of, ti_text_format(w->arena, "%s != 0", bound(w, p, COMPARES + 1)), COMPARES, true};
    else if (!asked && p.truth)
        p = (phrase){p.of, ti_text_format(w->arena, "%s ? 1 : 0", bound(w, p, OR)), CHOICE, false};
    return p;
}

/* A call, its attributes after the operands. */
static const char *called(const writer *w, const tc_node *node)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[node->op].attr];
    const char *name = node->op == TC_OP_bitwise_xor ? "logical_xor" : tc_ops[node->op].name;
    const char *text = ti_text_format(w->arena, "%s(", name);
    for (int i = 0; i < node->n_in; i++)
        text = ti_text_format(w->arena, "%s%s%s", text, i ? ", " : "", operand(w, node, i).text);
    for (int i = 0; i < info->n_field; i++) {
        const void *at = (const char *)node->attr + info->field[i].at;
        char number[32];
        tc_text_f64(info->field[i].kind == TC_FIELD_f64   ? *(const double *)at
                    : info->field[i].kind == TC_FIELD_i64 ? (double)*(const int64_t *)at
                                                          : (double)*(const int *)at,
                    number);
        text = ti_text_format(w->arena, "%s, %s", text, number);
    }
    return ti_text_format(w->arena, "%s)", text);
}

/* Without attributes, or with those that a sign stands for. */
static bool is_usual(const tc_node *node)
{
    if (node->op == TC_OP_add || node->op == TC_OP_sub)
        return ((const tc_attr_alpha *)node->attr)->alpha == 1;
    return node->op != TC_OP_div || ((const tc_attr_div *)node->attr)->mode == TC_div_mode_exact;
}

static phrase written(const writer *w, const tc_node *node)
{
    tc_val y = node->out[0];
    bool truth = ti_type_of(w->g, y)->dtype == TC_bool;
    phrase a = operand(w, node, 0);
    if (node->op == TC_OP_cast)
        return (phrase){y, a.text, a.level, truth};
    if (node->op == TC_OP_neg)
        return (phrase){y, ti_text_format(w->arena, "-%s", bound(w, a, ALONE)), ALONE, false};
    if (node->op == TC_OP_logical_not || node->op == TC_OP_bitwise_not)
        return (phrase){y, ti_text_format(w->arena, "!%s", bound(w, a, ALONE)), ALONE, true};
    if (node->op == TC_OP_where) {
        phrase yes = operand(w, node, 1), no = operand(w, node, 2);
        return (phrase){y,
                        ti_text_format(w->arena, "%s ? %s : %s", bound(w, a, OR),
                                       bound(w, yes, OR), no.text),
                        CHOICE, false};
    }
    for (size_t i = 0; i < TC_COUNT(signs) && is_usual(node); i++)
        if (signs[i].op == node->op)
            return (phrase){y,
                            ti_text_format(w->arena, "%s %s %s", bound(w, a, signs[i].level),
                                           signs[i].sign,
                                           bound(w, operand(w, node, 1), signs[i].level + 1)),
                            signs[i].level, truth};
    return (phrase){y, called(w, node), ALONE, truth};
}

static int count_reads(const tc_node *const *node, int n, tc_val v)
{
    int reads = 0;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < node[k]->n_in; i++)
            reads += node[k]->in[i] == v;
    return reads;
}

const char *ti_formula_write(tc_arena *arena, const tc_graph *g, tc_val x,
                             const tc_node *const *node, int n)
{
    writer w = {arena, g, tc_new_n(arena, phrase, (size_t)n + 1), 1};
    const char *before = "", *wrong;
    char name[2] = "a"; /* to w: x, y and z are operands */
    w.made[0] = (phrase){x, "x", ALONE, ti_type_of(g, x)->dtype == TC_bool};
    for (int k = 0; k < n; k++) {
        phrase p = written(&w, node[k]);
        if (k + 1 == n) {
            const char *text = ti_text_format(arena, "%s%s", before, p.text);
            return ti_formula_good(text, &wrong) ? text : NULL;
        }
        if (strlen(p.text) > 1 && count_reads(node, n, p.of) > 1) {
            if (*name == 'x')
                return NULL;
            before = ti_text_format(arena, "%s%s = %s; ", before, name, p.text);
            p = (phrase){p.of, ti_text_format(arena, "%s", name), ALONE, p.truth};
            ++*name;
        }
        w.made[w.n_made++] = p;
    }
    return NULL;
}
