/* SPDX-License-Identifier: Apache-2.0 */
/* formula.h -- what an operator computes, as text, read alike by all stages that use it.
 *
 *   formula = { name '=' value ';' } value
 *   value   = a '?' b ':' c   |   &   < <= > >= == !=   + -   * /   - !   f(a, ...)   as in C, but
 *             that | and & are logical
 *
 * f is an operator of op.def, and so is every sign: a + b is add(a, b), a ? b : c where(a, b, c).
 * Numbers after the operands are the operator's attributes: clamp(x, 0, 6), add(x, y, alpha).
 * poly(x, c0, c1, ...) is c0 + c1 x + ..., like(x, c) the number c as a constant of x's type.
 * Names: x, y, z are the operands; the fields of the operator's attributes and the words of its
 * choices; pi, ln2, inf, nan; names defined earlier in the formula. Constants are folded in f64; a
 * number combined with a value is a constant of that value's type.  Of a choice with a constant
 * condition only the chosen side is built.  Nodes are built from left to right, operands before the
 * operator. */
#ifndef TC_FORMULA_H
#define TC_FORMULA_H

#include "op.h"

/* A constant, or a value that the maker has built. */
typedef struct tc_term {
    bool known;
    double number;
    uint32_t made;
} tc_term;

typedef struct tc_formula tc_formula;
/* An operator on n terms, at least one of them built; TC_FORMULA_LIKE: like(). */
typedef tc_term tc_formula_make(const tc_formula *f, tc_op op, const tc_term *in, int n);
#define TC_FORMULA_LIKE TC_OP_COUNT

struct tc_formula {
    const char *text;
    tc_attr_kind kind; /* of the operator's attribute */
    const void *attr;
    uint32_t in[3]; /* x, y, z */
    tc_formula_make *make;
    void *maker;
};

/* What the formula builds.  false: syntax error, *wrong points to it, or the formula is a
 * constant. */
bool ti_formula_apply(const tc_formula *f, tc_term *out, const char **wrong);

/* An operator's formulas: the row FUNCTION of op.def, or formula.def, which has the fields. */
typedef struct tc_op_formula {
    enum { TC_ON_floats, TC_ON_numbers, TC_ON_wide, TC_ON_rounding } on;
    const char *tosa, *cpu; /* NULL: none */
} tc_op_formula;

/* attr: the operator's, where it is known; `function` has its formula there. */
tc_op_formula ti_formula_of(tc_op op, const void *attr);

/* Whether `text` is a formula of x alone, in elementwise operators, whose value is a number.  If
 * not, *wrong points to where it ends to be one. */
bool ti_formula_good(const char *text, const char **wrong);

/* For makers: the operand that gives a constant its type. */
uint32_t ti_formula_like(const tc_formula *f, tc_op op, const tc_term *in, int n);

/* For makers: the attributes of `op` in the formula, from the n numbers after its operands; without
 * any, those of the formula's operator if they are of one kind, 1 for alpha, else 0. */
const void *ti_formula_attr(tc_arena *arena, const tc_formula *f, tc_op op, const tc_term *in,
                            int n);

#endif
