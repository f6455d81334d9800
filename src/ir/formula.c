/* SPDX-License-Identifier: Apache-2.0 */
/* formula.c -- see formula.h: parses and builds in one pass. */
#include "formula.h"

#include <math.h>
#include <stdlib.h>

#include "../base/real.h"
#include "../num/load.h"

enum { MOST_NAMES = 24, MOST_TERMS = 16, MOST_DEPTH = 64 };

typedef struct reader {
    const tc_formula *f;
    const char *at;
    bool wrong, skips; /* skips: parsed, not built */
    int depth, n_name;
    struct {
        tc_str name;
        tc_term is;
    } name[MOST_NAMES];
} reader;

static const tc_term nothing = {false, 0, 0};

static tc_term number(double v) { return (tc_term){true, v, 0}; }

static tc_term fail(reader *r)
{
    r->wrong = true;
    return nothing;
}

/* ---- signs and words ---- */

static void blanks(reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

static bool sign(reader *r, const char *s)
{
    size_t n = strlen(s);
    blanks(r);
    if (r->wrong || strncmp(r->at, s, n) != 0)
        return false;
    r->at += n;
    return true;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static tc_str word(reader *r)
{
    blanks(r);
    const char *from = r->at;
    while (is_letter(*r->at) || (r->at > from && is_digit(*r->at)))
        r->at++;
    return (tc_str){from, (size_t)(r->at - from)};
}

/* ---- making ---- */

static bool fold(tc_op op, const tc_term *in, tc_term *out)
{
    double a = in[0].number, b = in[1].number;
    switch (op) {
#define FOLD(name, value)                                                                          \
    case TC_OP_##name:                                                                             \
        *out = number(value);                                                                      \
        return true;
        FOLD(add, a + b)
        FOLD(sub, a - b)
        FOLD(mul, a * b)
        FOLD(div, a / b)
        FOLD(pow, ti_pow(a, b))
        FOLD(minimum, fmin(a, b))
        FOLD(maximum, fmax(a, b))
        FOLD(neg, -a)
        FOLD(abs, fabs(a))
        FOLD(sqrt, sqrt(a))
        FOLD(lt, a < b)
        FOLD(le, a <= b)
        FOLD(gt, a > b)
        FOLD(ge, a >= b)
        FOLD(eq, a == b)
        FOLD(ne, a != b)
        FOLD(logical_and, a != 0 && b != 0)
        FOLD(logical_or, a != 0 || b != 0)
        FOLD(logical_not, a == 0)
    default:
        return false;
    }
}

/* Up to three operands, then numbers. */
static bool fits(tc_op op, const tc_term *in, int n)
{
    const tc_op_info *info = &tc_ops[op];
    bool good = info->max_in <= 3 && n >= info->min_in && info->n_out == 1;
    for (int i = info->max_in; i < n; i++)
        good = good && in[i].known;
    return good;
}

static tc_term make(reader *r, tc_op op, const tc_term *in, int n)
{
    tc_term two[2] = {in[0], n > 1 ? in[1] : in[0]}, out;
    bool known = true;
    if (r->wrong || r->skips)
        return nothing;
    if (op != TC_FORMULA_LIKE && !fits(op, in, n))
        return fail(r);
    for (int i = 0; i < n; i++)
        known = known && in[i].known;
    if (!known)
        return r->f->make(r->f, op, in, n);
    return fold(op, two, &out) ? out : fail(r);
}

static tc_term pair(reader *r, tc_op op, tc_term a, tc_term b)
{
    return make(r, op, (tc_term[]){a, b}, 2);
}

/* x c[n-1], then + c[i] and * x, to c[0]. */
static tc_term polynomial(reader *r, const tc_term *in, int n)
{
    if (n < 3)
        return fail(r);
    tc_term x = in[0], y = pair(r, TC_OP_mul, x, in[n - 1]);
    for (int i = n - 2; i > 1; i--)
        y = pair(r, TC_OP_mul, pair(r, TC_OP_add, y, in[i]), x);
    return pair(r, TC_OP_add, y, in[1]);
}

/* ---- names ---- */

static bool named_field(const reader *r, tc_str name, double *v)
{
    const tc_attr_info *info = &tc_attrs[r->f->kind];
    for (int i = 0; i < info->n_field; i++) {
        const tc_field *field = &info->field[i];
        const void *at = (const char *)r->f->attr + field->at;
        const tc_choice *choice =
            field->kind >= TC_FIELD_CHOICES ? &tc_choices[field->kind - TC_FIELD_CHOICES] : NULL;
        for (int k = 0; choice && k < choice->count; k++)
            if (ti_str_is(name, choice->word[k])) {
                *v = k;
                return true;
            }
        if (!ti_str_is(name, field->name))
            continue;
        *v = field->kind == TC_FIELD_f64    ? *(const double *)at
             : field->kind == TC_FIELD_i64  ? (double)*(const int64_t *)at
             : field->kind == TC_FIELD_bool ? *(const bool *)at
                                            : (double)*(const int *)at;
        return choice || field->kind <= TC_FIELD_flag;
    }
    return false;
}

static tc_term named(reader *r, tc_str name)
{
    static const struct {
        const char *name;
        double value;
    } constant[] = {
        {"pi", 3.1415926535897931}, {"ln2", 0.69314718055994531}, {"inf", INFINITY}, {"nan", NAN}};
    double v;
    for (int i = r->n_name; i--;)
        if (r->name[i].name.n == name.n && memcmp(r->name[i].name.p, name.p, name.n) == 0)
            return r->name[i].is;
    if (name.n == 1 && *name.p >= 'x' && *name.p <= 'z')
        return (tc_term){false, 0, r->f->in[*name.p - 'x']};
    if (named_field(r, name, &v))
        return number(v);
    for (size_t i = 0; i < TC_COUNT(constant); i++)
        if (ti_str_is(name, constant[i].name))
            return number(constant[i].value);
    return fail(r);
}

/* ---- the grammar ---- */

static tc_term value(reader *r);

static tc_term call(reader *r, tc_str name)
{
    tc_term in[MOST_TERMS];
    int n = 0;
    do
        if (n == MOST_TERMS)
            return fail(r);
        else
            in[n++] = value(r);
    while (sign(r, ","));
    if (!sign(r, ")"))
        return fail(r);
    if (ti_str_is(name, "poly"))
        return polynomial(r, in, n);
    if (ti_str_is(name, "like"))
        return n == 2 && in[1].known ? make(r, TC_FORMULA_LIKE, in, 2) : fail(r);
    tc_op op = ti_op_named(name);
    return op < TC_OP_COUNT ? make(r, op, in, n) : fail(r);
}

static tc_term primary(reader *r);

static tc_term after_sign(reader *r, tc_op op)
{
    tc_term v = ++r->depth > MOST_DEPTH ? fail(r) : primary(r);
    r->depth--;
    return make(r, op, &v, 1);
}

static tc_term primary(reader *r)
{
    blanks(r);
    if (is_digit(*r->at)) {
        char *end;
        double v = strtod(r->at, &end);
        r->at = end;
        return number(v);
    }
    if (sign(r, "(")) {
        tc_term v = value(r);
        return sign(r, ")") ? v : fail(r);
    }
    if (sign(r, "-"))
        return after_sign(r, TC_OP_neg);
    if (sign(r, "!"))
        return after_sign(r, TC_OP_logical_not);
    tc_str name = word(r);
    if (!name.n)
        return fail(r);
    return sign(r, "(") ? call(r, name) : named(r, name);
}

/* Binary operators, loosest first; of two with a common prefix the longer first. */
static const struct {
    const char *sign;
    int level;
    tc_op op;
} binary[] = {{"|", 0, TC_OP_logical_or},
              {"&", 1, TC_OP_logical_and},
              {"<=", 2, TC_OP_le},
              {">=", 2, TC_OP_ge},
              {"==", 2, TC_OP_eq},
              {"!=", 2, TC_OP_ne},
              {"<", 2, TC_OP_lt},
              {">", 2, TC_OP_gt},
              {"+", 3, TC_OP_add},
              {"-", 3, TC_OP_sub},
              {"*", 4, TC_OP_mul},
              {"/", 4, TC_OP_div}};

static tc_term level(reader *r, int at)
{
    if (at > 4)
        return primary(r);
    tc_term a = level(r, at + 1);
    for (size_t i = 0; i < TC_COUNT(binary);)
        if (binary[i].level == at && sign(r, binary[i].sign)) {
            a = pair(r, binary[i].op, a, level(r, at + 1));
            i = 0;
        } else
            i++;
    return a;
}

static tc_term choice(reader *r, tc_term c)
{
    bool before = r->skips;
    r->skips = before || (c.known && c.number == 0);
    tc_term yes = value(r);
    if (!sign(r, ":"))
        return fail(r);
    r->skips = before || (c.known && c.number != 0);
    tc_term no = value(r);
    r->skips = before;
    if (c.known)
        return c.number != 0 ? yes : no;
    return make(r, TC_OP_where, (tc_term[]){c, yes, no}, 3);
}

static tc_term value(reader *r)
{
    if (r->wrong || ++r->depth > MOST_DEPTH)
        return fail(r);
    tc_term v = level(r, 0);
    v = sign(r, "?") ? choice(r, v) : v;
    r->depth--;
    return v;
}

/* name = value; */
static bool binding(reader *r)
{
    const char *from = r->at;
    tc_str name = word(r);
    if (!name.n || !sign(r, "=") || *r->at == '=') {
        r->at = from;
        return false;
    }
    tc_term v = value(r);
    if (r->n_name == MOST_NAMES || !sign(r, ";"))
        return fail(r).known;
    r->name[r->n_name].name = name;
    r->name[r->n_name++].is = v;
    return true;
}

bool ti_formula_apply(const tc_formula *f, tc_term *out, const char **wrong)
{
    reader r = {.f = f, .at = f->text};
    while (binding(&r))
        ;
    *out = r.wrong ? nothing : value(&r);
    blanks(&r);
    *wrong = r.at;
    return !r.wrong && !*r.at && !out->known;
}

/* ---- for makers ---- */

tc_op_formula ti_formula_of(tc_op op, const void *attr)
{
    static const tc_op_formula several[TC_OP_COUNT] = {
#define SAME ""
#define FORMULA(name, on, tosa, cpu) [TC_OP_##name] = {TC_ON_##on, tosa, cpu},
#include "formula.def"
    };
    static const char *const one[TC_OP_COUNT] = {
#define OP(...)
#define FUNCTION(name, attr, role, defined, kernel, formula, doc) [TC_OP_##name] = formula,
#define FUNCTION2(name, role, formula, doc) [TC_OP_##name] = formula,
#include "op.def"
    };
    tc_op_formula f = several[op];
    const char *text = op == TC_OP_function && attr ? ((const tc_attr_function *)attr)->formula
                                                     : one[op];
    if (text)
        f = (tc_op_formula){TC_ON_floats, text, text};
    if (f.cpu && !*f.cpu)
        f.cpu = f.tosa;
    return f;
}

uint32_t ti_formula_like(const tc_formula *f, tc_op op, const tc_term *in, int n)
{
    for (int i = op == TC_OP_where; i < n; i++)
        if (!in[i].known)
            return in[i].made;
    return f->in[0];
}

const void *ti_formula_attr(tc_arena *arena, const tc_formula *f, tc_op op, const tc_term *in,
                            int n)
{
    tc_attr_kind kind = tc_ops[op].attr;
    const tc_attr_info *info = &tc_attrs[kind];
    bool own = op == TC_OP_round; /* without decimals, also in the format of round itself */
    if (kind == TC_ATTR_none || (!n && kind == f->kind && !own))
        return kind == TC_ATTR_none ? NULL : f->attr;
    char *record = ti_arena_array(arena, info->size, 1, _Alignof(max_align_t));
    if (kind == TC_ATTR_alpha)
        ((tc_attr_alpha *)(void *)record)->alpha = 1;
    for (int i = 0; i < n && i < info->n_field; i++) {
        void *at = record + info->field[i].at;
        double v = in[i].number;
        if (info->field[i].kind == TC_FIELD_f64)
            *(double *)at = v;
        else if (info->field[i].kind == TC_FIELD_i64)
            *(int64_t *)at = ti_trunc_i64(v);
        else if (info->field[i].kind >= TC_FIELD_CHOICES)
            *(int *)at = (int)ti_trunc_i64(v);
    }
    return record;
}
