/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_value.c -- words of recipes, their values, and fields of attributes. */
#include "recipe_cook.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void ti_cook_wrong(tc_cook *c, const char *format, ...)
{
    if (c->wrong)
        return;
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->wrong = ti_text_format(c->arena, "%s before '%.24s'", text, c->at);
}

/* ---- words ---- */

char ti_cook_next(tc_cook *c)
{
    while (*c->at == ' ')
        c->at++;
    return *c->at;
}

bool ti_cook_take(tc_cook *c, char mark)
{
    if (ti_cook_next(c) != mark)
        return false;
    c->at++;
    return true;
}

void ti_cook_need(tc_cook *c, char mark)
{
    if (!ti_cook_take(c, mark))
        ti_cook_wrong(c, "'%c' is expected", mark);
}

tc_str ti_cook_word(tc_cook *c)
{
    ti_cook_next(c);
    tc_str w = {c->at, 0};
    while (is_letter(*c->at) && !(w.n == 0 && isdigit((unsigned char)*c->at))) {
        c->at++;
        w.n++;
    }
    if (!w.n)
        ti_cook_wrong(c, "a name is expected");
    return w;
}

/* The word, where it is the next. */
bool ti_cook_take_word(tc_cook *c, const char *text)
{
    ti_cook_next(c);
    size_t n = strlen(text);
    if (strncmp(c->at, text, n) != 0 || is_letter(c->at[n]))
        return false;
    c->at += n;
    return true;
}

bool ti_cook_literal(tc_cook *c, double *out)
{
    bool minus = ti_cook_next(c) == '-';
    const char *p = c->at + minus, *start = c->at;
    if (strncmp(p, "inf", 3) == 0 && !is_letter(p[3])) {
        *out = minus ? -(double)INFINITY : (double)INFINITY;
        c->at = p + 3;
        return true;
    }
    if (!isdigit((unsigned char)*p))
        return false;
    while (isdigit((unsigned char)*p) || *p == '.')
        p++;
    if (*p == 'e') {
        p += p[1] == '-' ? 2 : 1;
        while (isdigit((unsigned char)*p))
            p++;
    }
    c->at = p;
    if (!ti_text_to_f64((tc_str){start, (size_t)(p - start)}, out))
        ti_cook_wrong(c, "this is not a number");
    return true;
}

static bool is_argument(const tc_cook *c, const char *name)
{
    return !c->argument || c->argument(c->schema, name);
}

/* name, or a|b|c: the first that the node has, or the first. */
const char *ti_cook_argument(tc_cook *c)
{
    const char *first = NULL, *found = NULL;
    do {
        const char *name = ti_text_copy(c->arena, ti_cook_word(c));
        if (!is_argument(c, name))
            ti_cook_wrong(c, "the operator has no '%s'", name);
        if (c->b && !found && c->from->has(c->b, name))
            found = name;
        first = first ? first : name;
    } while (ti_cook_take(c, '|'));
    return found ? found : first;
}

/* Whether the node has the argument; a message where it must have it. */
bool ti_cook_given(tc_cook *c, const char *name, bool optional, const char *expected)
{
    if (!c->b || c->b->status != TC_OK)
        return false;
    bool has = c->from->has(c->b, name);
    if (!has && !optional)
        c->from->missing(c->b, name, expected);
    return has;
}

/* ---- operands ---- */

tc_val *ti_cook_find(tc_cook *c, const char *name)
{
    for (int i = 0; i < c->n_known; i++)
        if (ti_text_eq(c->known[i].name, name))
            return &c->known[i].val;
    return NULL;
}

tc_val ti_cook_keep(tc_cook *c, const char *name, tc_val val)
{
    if (c->n_known == MOST_NAMES)
        ti_cook_wrong(c, "more than %d names", MOST_NAMES);
    else {
        c->known[c->n_known].name = name;
        c->known[c->n_known++].val = val;
    }
    return val;
}

/* An operand of the node, read once. */
tc_val ti_cook_tensor(tc_cook *c, const char *name)
{
    const tc_val *known = ti_cook_find(c, name);
    if (known || !c->b)
        return known ? *known : TC_NONE;
    tc_val x = ti_cook_keep(c, name, c->from->tensor(c->b, name));
    c->first = c->first ? c->first : x;
    return x;
}

/* self.shape, self.dtype, result.shape: the type they are of; false: it is something else. */
static bool type_named(tc_cook *c, const char *what, const tc_type **out)
{
    size_t n = (ti_cook_next(c), strcspn(c->at, " .,()[]:;=+-*/<>")), w = strlen(what);
    const char *start = c->at;
    *out = NULL;
    if (start[n] != '.' || strncmp(start + n + 1, what, w) != 0 || is_letter(start[n + 1 + w]))
        return false;
    const char *name = ti_text_copy(c->arena, ti_cook_word(c));
    c->at = start + n + 1 + w;
    bool declared = ti_text_eq(name, "result");
    if (!declared && !ti_cook_find(c, name) && !is_argument(c, name))
        ti_cook_wrong(c, "the operator has no '%s'", name);
    if (c->b && c->b->status == TC_OK) {
        tc_val x = c->like = declared ? TC_NONE : ti_cook_tensor(c, name);
        *out = declared ? c->from->result(c->b, c->n_result) : x ? ti_b_type(c->b, x) : NULL;
    }
    return true;
}

/* ---- scalars: sums and products of literals, arguments, ranks and extents ---- */

/* x.rank, x.count, x.shape[1] */
static bool extent(tc_cook *c, double *out)
{
    const tc_type *type;
    *out = 0;
    if (type_named(c, "rank", &type)) {
        *out = type ? type->rank : 0;
        return true;
    }
    if (type_named(c, "count", &type)) {
        *out = type ? (double)tc_type_count(type) : 0;
        return true;
    }
    if (!type_named(c, "shape", &type))
        return false;
    ti_cook_need(c, '[');
    int axis = (int)ti_cook_number(c, WHOLE);
    ti_cook_need(c, ']');
    if (type && axis + (axis < 0 ? type->rank : 0) < type->rank && axis >= -type->rank)
        *out = (double)type->dim[axis + (axis < 0 ? type->rank : 0)];
    else if (type)
        ti_b_bad(c->b, TC_E_SHAPE, "a tensor of rank %d has no axis %d", type->rank, axis);
    return true;
}

static double factor(tc_cook *c, sort s);

static double argument_number(tc_cook *c, sort s)
{
    static const char *const expected[] = {"a number", "an integer", "true or false"};
    const char *name = ti_cook_argument(c);
    bool optional = ti_cook_take(c, ':');
    double missing = optional ? factor(c, s) : 0;
    if (!ti_cook_given(c, name, optional, expected[s]))
        return missing;
    return s == REAL    ? c->from->f64(c->b, name)
           : s == WHOLE ? (double)c->from->i64(c->b, name)
                        : c->from->truth(c->b, name);
}

static double factor(tc_cook *c, sort s)
{
    double v = 0;
    if (ti_cook_take(c, '(')) {
        v = ti_cook_number(c, s);
        ti_cook_need(c, ')');
        return v;
    }
    if (ti_cook_literal(c, &v) || extent(c, &v))
        return v;
    if (s == TRUTH && ti_cook_take_word(c, "true"))
        return 1;
    if (s == TRUTH && ti_cook_take_word(c, "false"))
        return 0;
    return argument_number(c, s);
}

static double product(tc_cook *c, sort s)
{
    double v = factor(c, s);
    for (;;)
        if (ti_cook_take(c, '*'))
            v *= factor(c, s);
        else if (ti_cook_take(c, '/'))
            v /= factor(c, s);
        else
            return v;
}

double ti_cook_number(tc_cook *c, sort s)
{
    double v = product(c, s);
    for (;;)
        if (ti_cook_take(c, '+'))
            v += product(c, s);
        else if (ti_cook_take(c, '-'))
            v -= product(c, s);
        else
            return v;
}

/* As large as it can be where the file's number is too large for a double to hold exactly. */
int64_t ti_cook_whole(tc_cook *c)
{
    double v = ti_cook_number(c, WHOLE);
    return v >= 0x1p63 ? INT64_MAX : v <= -0x1p63 ? INT64_MIN : v == v ? (int64_t)v : 0;
}

/* ---- attributes ---- */

/* `axes` entries: one applies to all. */
static tc_ints spread(tc_cook *c, tc_ints list, int axes, int64_t missing)
{
    if (list.n == axes || !c->b)
        return list;
    if (list.n > 1)
        ti_b_bad(c->b, TC_E_ARGUMENT, "a list has neither one number nor one per axis");
    return ti_ints_fill(&c->b->ctx->arena, list.n == 1 ? list.v[0] : missing, axes);
}

static tc_ints written_list(tc_cook *c)
{
    int64_t v[2 * TC_MAX_RANK];
    int n = 0;
    while (!ti_cook_take(c, ']')) {
        if (n == 2 * TC_MAX_RANK || *c->at == 0) {
            ti_cook_wrong(c, "']' is expected");
            break;
        }
        v[n++] = ti_cook_whole(c);
        ti_cook_take(c, ',');
    }
    return c->b ? ti_ints_copy(&c->b->ctx->arena, v, n) : (tc_ints){0, NULL};
}

static tc_ints given_list(tc_cook *c, bool *all)
{
    tc_ints list = {0, NULL}, missing = {0, NULL};
    const char *name = ti_cook_argument(c);
    int axes = 0;
    int64_t one = 0;
    if (ti_cook_take(c, '[')) {
        axes = (int)ti_cook_whole(c);
        ti_cook_need(c, ']');
    }
    bool optional = ti_cook_take(c, ':');
    *all = optional && ti_cook_take_word(c, "all");
    if (optional && !*all) {
        double v;
        if (ti_cook_literal(c, &v))
            one = (int64_t)v;
        else
            missing = given_list(c, all);
    }
    if (ti_cook_given(c, name, optional, "a list of integers"))
        list = c->from->ints(c->b, name);
    list = list.n ? list : missing;
    return axes && c->b && c->b->status == TC_OK ? spread(c, list, axes, one) : list;
}

static tc_ints list_of(tc_cook *c, const char *field, const tc_type *x)
{
    const tc_type *type;
    bool all = false;
    tc_ints list;
    if (type_named(c, "shape", &type))
        return type ? ti_ints_copy(&c->b->ctx->arena, type->dim, type->rank) : (tc_ints){0, NULL};
    list = ti_cook_take(c, '[') ? written_list(c) : given_list(c, &all);
    bool built = c->b && c->b->status == TC_OK;
    bool axes = built && x && ti_text_eq(field, "axes") && (list.n || all);
    return axes ? ti_b_axes(c->b, list, x->rank) : list;
}

static const char *text_of(tc_cook *c)
{
    if (ti_cook_take(c, '\'')) {
        tc_str text = {c->at, strcspn(c->at, "'")};
        c->at += text.n;
        ti_cook_need(c, '\'');
        return c->b ? ti_intern(c->b->ctx, text) : ti_text_copy(c->arena, text);
    }
    const char *name = ti_cook_argument(c);
    return ti_cook_given(c, name, false, "text") ? c->from->text(c->b, name) : "";
}

static int among(const tc_choice *choice, const char *name)
{
    for (int i = 0; i < choice->count; i++)
        if (ti_text_eq(choice->word[i], name))
            return i;
    return -1;
}

/* {theirs:ours, same}: our word for the node's. */
static int translated(tc_cook *c, const tc_choice *choice, const char *name)
{
    const char *theirs = ti_cook_given(c, name, true, "text") ? c->from->text(c->b, name) : NULL;
    const char *list = "";
    int found = -1;
    bool first = true;
    do {
        const char *from = ti_cook_next(c) == ':' ? "" : ti_text_copy(c->arena, ti_cook_word(c));
        const char *to = ti_cook_take(c, ':') ? ti_text_copy(c->arena, ti_cook_word(c)) : from;
        int value = among(choice, to);
        if (value < 0)
            ti_cook_wrong(c, "'%s' is not a word of '%s'", to, choice->name);
        if (found < 0 && (theirs ? ti_text_eq(theirs, from) : first))
            found = value;
        list = ti_text_format(c->arena, "%s%s%s", list, *list && *from ? ", " : "", from);
        first = false;
    } while (ti_cook_take(c, ','));
    ti_cook_need(c, '}');
    if (found < 0 && c->b)
        ti_b_bad(c->b, TC_E_ARGUMENT, "'%s' is '%s'; known are %s", name, theirs, list);
    return found < 0 ? 0 : found;
}

static int chosen(tc_cook *c, const tc_choice *choice)
{
    if (ti_cook_next(c) == '\'') {
        const char *name = text_of(c);
        int value = among(choice, name);
        if (value < 0)
            ti_cook_wrong(c, "'%s' is not a word of '%s'", name, choice->name);
        return value;
    }
    const char *name = ti_cook_argument(c);
    if (ti_cook_take(c, '{'))
        return translated(c, choice, name);
    int64_t value = ti_cook_take(c, ':') ? ti_cook_whole(c) : 0;
    if (ti_cook_given(c, name, true, "an integer"))
        value = c->from->i64(c->b, name);
    if (value >= 0 && value < choice->count)
        return (int)value;
    if (c->b)
        ti_b_bad(c->b, TC_E_ARGUMENT, "'%s' is %" PRId64 ", which is not known", name, value);
    return 0;
}

static tc_dtype type_of(tc_cook *c)
{
    const tc_type *type;
    c->like = TC_NONE;
    if (type_named(c, "dtype", &type))
        return type ? type->dtype : TC_none;
    const char *start = c->at;
    tc_dtype named = ti_dtype_named(ti_cook_word(c));
    if (named != TC_none)
        return named;
    c->at = start;
    const char *name = ti_cook_argument(c);
    bool optional = ti_cook_take(c, '?');
    tc_dtype missing = ti_cook_take(c, ':') ? ti_dtype_named(ti_cook_word(c)) : TC_none;
    return ti_cook_given(c, name, optional || missing, "an element type") ? c->from->dtype(c->b,
                                                                                           name)
                                                                  : missing;
}

/* One field of the operator's record, from the text after `=`. */
void ti_cook_field(tc_cook *c, tc_op op, const tc_field *f, char *record, tc_val first)
{
    void *to = record + f->at;
    const tc_type *x = c->b && c->b->status == TC_OK && first ? ti_b_type(c->b, first) : NULL;
    switch (f->kind) {
    case TC_FIELD_f64:
        *(double *)to = ti_cook_number(c, REAL);
        return;
    case TC_FIELD_i64: {
        int64_t v = ti_cook_whole(c);
        bool axis = ti_text_starts(f->name, "axis") && x;
        *(int64_t *)to = axis ? ti_b_axis(c->b, v, x->rank + (op == TC_OP_stack)) : v;
        return;
    }
    case TC_FIELD_bool:
    case TC_FIELD_flag:
        *(bool *)to = ti_cook_number(c, TRUTH) != 0;
        return;
    case TC_FIELD_ints:
        *(tc_ints *)to = list_of(c, f->name, x);
        return;
    case TC_FIELD_text:
        *(const char **)to = text_of(c);
        return;
    case TC_FIELD_dtype:
        *(tc_dtype *)to = type_of(c);
        return;
    default:
        if (f->kind < TC_FIELD_CHOICES)
            ti_cook_wrong(c, "field '%s' is not allowed here", f->name);
        else
            *(int *)to = chosen(c, &tc_choices[f->kind - TC_FIELD_CHOICES]);
    }
}
