/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.c -- follows recipes, or checks them: see recipe.h.
 *
 * The text is read once, from left to right.  Numbers beside operands wait until the operator's
 * attributes are known.  After a failure of the builder the text is read on; nothing is made. */
#include "recipe.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

enum { MOST_OPERANDS = 8, MOST_NAMES = 16 };

typedef struct cook {
    tc_build *b; /* NULL: the text is only checked */
    const tc_recipe_source *from;
    tc_arena *arena;
    const char *at;
    int n_result;
    tc_val first; /* operand that was read */
    tc_val like;  /* of the last `dtype=`: the operand that was named, or TC_NONE */
    struct {
        const char *name;
        tc_val val;
    } known[MOST_NAMES]; /* operands that were read, and names given */
    int n_known;
    bool (*argument)(const void *schema, const char *name);
    const void *schema;
    const char *wrong;
} cook;

typedef struct operand {
    enum { VALUE, NUMBER, LITERAL } kind;
    tc_val val;
    const char *name; /* NUMBER */
    double number;    /* LITERAL */
} operand;

typedef struct result {
    tc_node *node;
    tc_val val;
} result;

static void wrong(cook *c, const char *format, ...) TC_PRINTF(2, 3);
static void wrong(cook *c, const char *format, ...)
{
    if (c->wrong)
        return;
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    c->wrong = tc_text_format(c->arena, "%s before '%.24s'", text, c->at);
}

/* ---- words ---- */

static char next(cook *c)
{
    while (*c->at == ' ')
        c->at++;
    return *c->at;
}

static bool take(cook *c, char mark)
{
    if (next(c) != mark)
        return false;
    c->at++;
    return true;
}

static void need(cook *c, char mark)
{
    if (!take(c, mark))
        wrong(c, "'%c' is expected", mark);
}

static bool is_letter(char c) { return isalnum((unsigned char)c) || c == '_'; }

static tc_str word(cook *c)
{
    next(c);
    tc_str w = {c->at, 0};
    while (is_letter(*c->at) && !(w.n == 0 && isdigit((unsigned char)*c->at))) {
        c->at++;
        w.n++;
    }
    if (!w.n)
        wrong(c, "a name is expected");
    return w;
}

/* The word, where it is the next. */
static bool take_word(cook *c, const char *text)
{
    next(c);
    size_t n = strlen(text);
    if (strncmp(c->at, text, n) != 0 || is_letter(c->at[n]))
        return false;
    c->at += n;
    return true;
}

static bool literal(cook *c, double *out)
{
    bool minus = next(c) == '-';
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
    if (!tc_text_to_f64((tc_str){start, (size_t)(p - start)}, out))
        wrong(c, "this is no number");
    return true;
}

static bool is_argument(const cook *c, const char *name)
{
    return !c->argument || c->argument(c->schema, name);
}

/* name, or a|b|c: the first that the node has, or the first. */
static const char *argument(cook *c)
{
    const char *first = NULL, *found = NULL;
    do {
        const char *name = tc_text_copy(c->arena, word(c));
        if (!is_argument(c, name))
            wrong(c, "the operator has no '%s'", name);
        if (c->b && !found && c->from->has(c->b, name))
            found = name;
        first = first ? first : name;
    } while (take(c, '|'));
    return found ? found : first;
}

/* Whether the node has the argument; a message where it must have it. */
static bool given(cook *c, const char *name, bool optional, const char *expected)
{
    if (!c->b || c->b->status != TC_OK)
        return false;
    bool has = c->from->has(c->b, name);
    if (!has && !optional)
        c->from->missing(c->b, name, expected);
    return has;
}

/* ---- numbers ---- */

static double sum(cook *c);

static double factor(cook *c)
{
    double v = 0;
    if (take(c, '(')) {
        v = sum(c);
        need(c, ')');
        return v;
    }
    if (literal(c, &v))
        return v;
    const char *name = argument(c);
    bool optional = take(c, ':');
    if (optional && !literal(c, &v))
        wrong(c, "a number is expected");
    return given(c, name, optional, "a number") ? c->from->f64(c->b, name) : v;
}

static double product(cook *c)
{
    double v = factor(c);
    for (;;)
        if (take(c, '*'))
            v *= factor(c);
        else if (take(c, '/'))
            v /= factor(c);
        else
            return v;
}

static double sum(cook *c)
{
    double v = product(c);
    for (;;)
        if (take(c, '+'))
            v += product(c);
        else if (take(c, '-'))
            v -= product(c);
        else
            return v;
}

static int64_t whole(cook *c)
{
    double v = 0;
    if (literal(c, &v))
        return (int64_t)v;
    const char *name = argument(c);
    bool optional = take(c, ':');
    int64_t missing = optional ? whole(c) : 0;
    return given(c, name, optional, "an integer") ? c->from->i64(c->b, name) : missing;
}

static bool truth(cook *c)
{
    if (take_word(c, "true"))
        return true;
    if (take_word(c, "false"))
        return false;
    const char *name = argument(c);
    bool optional = take(c, ':'), missing = optional && truth(c);
    return given(c, name, optional, "true or false") ? c->from->truth(c->b, name) : missing;
}

/* ---- operands ---- */

static tc_val *find(cook *c, const char *name)
{
    for (int i = 0; i < c->n_known; i++)
        if (tc_text_eq(c->known[i].name, name))
            return &c->known[i].val;
    return NULL;
}

static tc_val keep(cook *c, const char *name, tc_val val)
{
    if (c->n_known == MOST_NAMES)
        wrong(c, "more than %d names", MOST_NAMES);
    else {
        c->known[c->n_known].name = name;
        c->known[c->n_known++].val = val;
    }
    return val;
}

/* An operand of the node, read once. */
static tc_val tensor(cook *c, const char *name)
{
    const tc_val *known = find(c, name);
    if (known || !c->b)
        return known ? *known : TC_NONE;
    tc_val x = keep(c, name, c->from->tensor(c->b, name));
    c->first = c->first ? c->first : x;
    return x;
}

/* self.shape, self.dtype, result.shape: the type they are of; false: it is something else. */
static bool type_named(cook *c, const char *what, const tc_type **out)
{
    const char *start = c->at;
    *out = NULL;
    next(c);
    while (is_letter(*c->at))
        c->at++;
    if (*c->at != '.') {
        c->at = start;
        return false;
    }
    c->at = start;
    const char *name = tc_text_copy(c->arena, word(c));
    c->at++;
    if (!take_word(c, what))
        wrong(c, "'%s' is expected", what);
    bool declared = tc_text_eq(name, "result");
    if (!declared && !find(c, name) && !is_argument(c, name))
        wrong(c, "the operator has no '%s'", name);
    if (c->b && c->b->status == TC_OK) {
        tc_val x = c->like = declared ? TC_NONE : tensor(c, name);
        *out = declared ? c->from->result(c->b, c->n_result) : x ? tc_b_type(c->b, x) : NULL;
    }
    return true;
}

/* ---- attributes ---- */

static tc_ints axes_of(cook *c, tc_ints axes, const tc_type *x, bool all)
{
    int64_t list[TC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    if (!x || (!axes.n && !all))
        return (tc_ints){0, NULL};
    if (axes.n > (x->rank ? x->rank : 1)) {
        tc_b_bad(c->b, TC_E_ARGUMENT, "%d axes of a tensor of rank %d", axes.n, x->rank);
        return (tc_ints){0, NULL};
    }
    for (int i = 0; i < axes.n; i++)
        list[i] = tc_b_axis(c->b, axes.v[i], x->rank);
    return tc_ints_copy(&c->b->ctx->arena, list, axes.n && x->rank ? axes.n : x->rank);
}

/* As many as `axes` numbers: one stands for all. */
static tc_ints spread(cook *c, tc_ints list, int axes, int64_t missing)
{
    if (list.n == axes || !c->b)
        return list;
    if (list.n > 1)
        tc_b_bad(c->b, TC_E_ARGUMENT, "a list has neither one number nor one per axis");
    return tc_ints_fill(&c->b->ctx->arena, list.n == 1 ? list.v[0] : missing, axes);
}

static tc_ints written_list(cook *c)
{
    int64_t v[2 * TC_MAX_RANK];
    int n = 0;
    while (!take(c, ']')) {
        if (n == 2 * TC_MAX_RANK || *c->at == 0) {
            wrong(c, "']' is expected");
            break;
        }
        v[n++] = whole(c);
        take(c, ',');
    }
    return c->b ? tc_ints_copy(&c->b->ctx->arena, v, n) : (tc_ints){0, NULL};
}

static tc_ints given_list(cook *c, bool *all)
{
    tc_ints list = {0, NULL}, missing = {0, NULL};
    const char *name = argument(c);
    int axes = 0;
    int64_t one = 0;
    if (take(c, '[')) {
        axes = (int)whole(c);
        need(c, ']');
    }
    bool optional = take(c, ':');
    *all = optional && take_word(c, "all");
    if (optional && !*all) {
        double v;
        if (literal(c, &v))
            one = (int64_t)v;
        else
            missing = given_list(c, all);
    }
    if (given(c, name, optional, "a list of integers"))
        list = c->from->ints(c->b, name);
    list = list.n ? list : missing;
    return axes && c->b && c->b->status == TC_OK ? spread(c, list, axes, one) : list;
}

static tc_ints list_of(cook *c, const char *field, const tc_type *x)
{
    const tc_type *type;
    bool all = false;
    tc_ints list;
    if (type_named(c, "shape", &type))
        return type ? tc_ints_copy(&c->b->ctx->arena, type->dim, type->rank) : (tc_ints){0, NULL};
    list = take(c, '[') ? written_list(c) : given_list(c, &all);
    bool built = c->b && c->b->status == TC_OK;
    return built && tc_text_eq(field, "axes") ? axes_of(c, list, x, all) : list;
}

static const char *text_of(cook *c)
{
    if (take(c, '\'')) {
        tc_str text = {c->at, strcspn(c->at, "'")};
        c->at += text.n;
        need(c, '\'');
        return c->b ? tc_intern(c->b->ctx, text) : tc_text_copy(c->arena, text);
    }
    const char *name = argument(c);
    return given(c, name, false, "text") ? c->from->text(c->b, name) : "";
}

static int among(const tc_choice *choice, const char *name)
{
    for (int i = 0; i < choice->count; i++)
        if (tc_text_eq(choice->word[i], name))
            return i;
    return -1;
}

/* {theirs:ours, same}: what the node's word is here. */
static int translated(cook *c, const tc_choice *choice, const char *name)
{
    const char *theirs = given(c, name, true, "text") ? c->from->text(c->b, name) : NULL;
    const char *list = "";
    int found = -1;
    bool first = true;
    do {
        const char *from = next(c) == ':' ? "" : tc_text_copy(c->arena, word(c));
        const char *to = take(c, ':') ? tc_text_copy(c->arena, word(c)) : from;
        int value = among(choice, to);
        if (value < 0)
            wrong(c, "'%s' is no word of '%s'", to, choice->name);
        if (found < 0 && (theirs ? tc_text_eq(theirs, from) : first))
            found = value;
        list = tc_text_format(c->arena, "%s%s%s", list, *list && *from ? ", " : "", from);
        first = false;
    } while (take(c, ','));
    need(c, '}');
    if (found < 0 && c->b)
        tc_b_bad(c->b, TC_E_ARGUMENT, "'%s' is '%s'; known are %s", name, theirs, list);
    return found < 0 ? 0 : found;
}

static int chosen(cook *c, const tc_choice *choice)
{
    if (next(c) == '\'') {
        const char *name = text_of(c);
        int value = among(choice, name);
        if (value < 0)
            wrong(c, "'%s' is no word of '%s'", name, choice->name);
        return value;
    }
    const char *name = argument(c);
    if (take(c, '{'))
        return translated(c, choice, name);
    int64_t value = take(c, ':') ? whole(c) : 0;
    if (given(c, name, true, "an integer"))
        value = c->from->i64(c->b, name);
    if (value >= 0 && value < choice->count)
        return (int)value;
    if (c->b)
        tc_b_bad(c->b, TC_E_ARGUMENT, "'%s' is %" PRId64 ", which is not known", name, value);
    return 0;
}

static tc_dtype type_of(cook *c)
{
    const tc_type *type;
    c->like = TC_NONE;
    if (type_named(c, "dtype", &type))
        return type ? type->dtype : TC_none;
    const char *start = c->at;
    tc_dtype named = tc_dtype_named(word(c));
    if (named != TC_none)
        return named;
    c->at = start;
    const char *name = argument(c);
    bool optional = take(c, '?');
    tc_dtype missing = take(c, ':') ? tc_dtype_named(word(c)) : TC_none;
    return given(c, name, optional || missing, "an element type") ? c->from->dtype(c->b, name)
                                                                  : missing;
}

/* One field of the operator's record, from the text behind `=`. */
static void set_field(cook *c, tc_op op, const tc_field *f, char *record, tc_val first)
{
    void *to = record + f->at;
    const tc_type *x = c->b && c->b->status == TC_OK && first ? tc_b_type(c->b, first) : NULL;
    switch (f->kind) {
    case TC_FIELD_f64:
        *(double *)to = sum(c);
        return;
    case TC_FIELD_i64: {
        int64_t v = whole(c);
        bool axis = tc_text_starts(f->name, "axis") && x;
        *(int64_t *)to = axis ? tc_b_axis(c->b, v, x->rank + (op == TC_OP_stack)) : v;
        return;
    }
    case TC_FIELD_bool:
    case TC_FIELD_flag:
        *(bool *)to = truth(c);
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
            wrong(c, "field '%s' cannot be said here", f->name);
        else
            *(int *)to = chosen(c, &tc_choices[f->kind - TC_FIELD_CHOICES]);
    }
}

static const tc_field *field_named(cook *c, tc_op op, tc_str name, uint32_t *said)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[op].attr];
    for (int i = 0; i < info->n_field; i++)
        if (tc_str_is(name, info->field[i].name)) {
            if (*said >> i & 1)
                wrong(c, "'%s' is said twice", info->field[i].name);
            *said |= UINT32_C(1) << i;
            return &info->field[i];
        }
    wrong(c, "'%s' has no field '%.*s'", tc_ops[op].name, (int)name.n, name.p);
    return NULL;
}

/* ---- operators ---- */

static result call(cook *c, tc_str name);

static operand operand_of(cook *c)
{
    operand o = {.kind = LITERAL};
    if (literal(c, &o.number))
        return o;
    const char *start = c->at;
    tc_str name = word(c);
    if (take(c, '('))
        return (operand){.kind = VALUE, .val = call(c, name).val};
    const char *text = tc_text_copy(c->arena, name);
    const tc_val *known = find(c, text);
    if (known)
        return (operand){.kind = VALUE, .val = *known};
    c->at = start;
    text = argument(c);
    bool optional = take(c, '?');
    o = (operand){.kind = VALUE, .name = text};
    if (take(c, '[')) {
        int64_t i = whole(c);
        need(c, ']');
        o.val = c->b ? c->from->tensor_at(c->b, text, i) : TC_NONE;
        return o;
    }
    if (!c->b || (optional && !c->from->has(c->b, text)))
        return o;
    if (c->from->is_tensor && c->from->has(c->b, text) && !c->from->is_tensor(c->b, text))
        o.kind = NUMBER;
    else
        o.val = tensor(c, text);
    return o;
}

/* Numbers become constants, each after the type of an operand that is none. */
static void settle(cook *c, tc_op op, const void *attr, operand *in, int n, tc_val like)
{
    tc_val beside = like;
    for (int i = op == TC_OP_where; i < n && !beside; i++)
        beside = in[i].kind == VALUE ? in[i].val : TC_NONE;
    for (int i = 0; i < n && c->b->status == TC_OK; i++) {
        bool alone = op == TC_OP_cast || op == TC_OP_where;
        if (in[i].kind == LITERAL)
            in[i].val = tc_b_scalar(c->b, beside ? tc_b_dtype(c->b, beside) : TC_f32, in[i].number);
        else if (in[i].kind == NUMBER && (tc_ops[op].traits & T_ELTWISE) && (beside || alone))
            in[i].val = c->from->number(c->b, in[i].name, beside, op, attr);
        else if (in[i].kind == NUMBER)
            in[i].val = c->from->tensor(c->b, in[i].name);
    }
}

static result emit(cook *c, tc_op op, const void *attr, operand *in, int n, tc_val like)
{
    tc_val val[MOST_OPERANDS];
    if (!c->b || c->b->status != TC_OK)
        return (result){NULL, TC_NONE};
    settle(c, op, attr, in, n, like);
    for (int i = 0; i < n; i++)
        val[i] = in[i].val;
    if (op == TC_OP_cast) {
        tc_dtype dtype = ((const tc_attr_cast *)attr)->dtype;
        return (result){NULL, dtype == TC_none ? val[0] : tc_b_cast(c->b, val[0], dtype)};
    }
    int n_out = tc_ops[op].n_out == TC_ANY ? c->from->results(c->b) : tc_ops[op].n_out;
    tc_node *node = tc_b_ops(c->b, op, attr, val, n, n_out);
    return (result){node, node ? node->out[0] : TC_NONE};
}

static void check_call(cook *c, tc_op op, int n, uint32_t said)
{
    const tc_op_info *info = &tc_ops[op];
    const tc_attr_info *attr = &tc_attrs[info->attr];
    if (n < info->min_in || (info->max_in != TC_ANY && n > info->max_in))
        wrong(c, "'%s' does not take %d operands", info->name, n);
    for (int i = 0; i < attr->n_field; i++)
        if (!(said >> i & 1) && attr->field[i].kind != TC_FIELD_flag)
            wrong(c, "'%s' needs '%s'", info->name, attr->field[i].name);
}

/* The next is `name=` or `name:`, and not an operand. */
static bool at_field(cook *c)
{
    const char *p = (next(c), c->at);
    while (is_letter(*p))
        p++;
    while (*p == ' ')
        p++;
    return p > c->at && (*p == '=' || *p == ':');
}

/* What is behind `name(`. */
static result call(cook *c, tc_str name)
{
    tc_op op = tc_op_named(name);
    operand in[MOST_OPERANDS];
    uint32_t said = 0;
    int n = 0;
    if (op == TC_OP_COUNT) {
        wrong(c, "'%.*s' is no operator", (int)name.n, name.p);
        return (result){NULL, TC_NONE};
    }
    size_t size = tc_attrs[tc_ops[op].attr].size;
    tc_arena *arena = c->b ? &c->b->ctx->arena : c->arena;
    char *attr = size ? tc_arena_array(arena, 1, size, _Alignof(max_align_t)) : NULL;
    tc_val like = TC_NONE;
    while (!c->wrong && next(c) != ')') {
        if (at_field(c)) {
            const char *start = c->at;
            const tc_field *f = field_named(c, op, word(c), &said);
            bool other = take(c, '=');
            if (!other)
                c->at = start; /* alpha:1 */
            if (!f)
                break;
            set_field(c, op, f, attr, n && in[0].kind == VALUE ? in[0].val : TC_NONE);
            like = f->kind == TC_FIELD_dtype ? c->like : like;
        } else if (n < MOST_OPERANDS)
            in[n++] = operand_of(c);
        else
            wrong(c, "more than %d operands", MOST_OPERANDS);
        if (next(c) != ')')
            need(c, ',');
    }
    need(c, ')');
    check_call(c, op, n, said);
    result r = c->wrong ? (result){NULL, TC_NONE} : emit(c, op, attr, in, n, like);
    if (take(c, '[')) {
        int64_t i = whole(c);
        need(c, ']');
        if (i < 0 || i >= tc_ops[op].n_out)
            wrong(c, "'%s' has no result %" PRId64, tc_ops[op].name, i);
        else if (r.node)
            r.val = r.node->out[i];
        r.node = NULL;
    }
    return r;
}

/* ---- recipes ---- */

static bool at_name(cook *c)
{
    return at_field(c) && c->at[strcspn(c->at, "=:(;")] == '=';
}

static void bind(cook *c, result r)
{
    int n = r.node ? r.node->n_out : 1;
    for (int i = 0; i < n && c->b; i++)
        if (c->b->status == TC_OK)
            c->from->bind(c->b, c->n_result + i, r.node ? r.node->out[i] : r.val);
    c->n_result += n;
}

/* unless name: reason */
static void refuse(cook *c)
{
    const char *name = argument(c);
    need(c, ':');
    next(c);
    if (given(c, name, true, "a number") && c->from->f64(c->b, name) != 0)
        tc_b_unsupported(c->b, "%s", c->at);
    c->at += strlen(c->at);
}

static void follow(cook *c)
{
    const char *guard = strstr(c->at, " unless "), *start = c->at;
    if (guard) {
        c->at = guard + strlen(" unless ");
        refuse(c);
        c->at = start;
    }
    do {
        const char *name = NULL;
        if (at_name(c)) {
            name = tc_text_copy(c->arena, word(c));
            need(c, '=');
        }
        operand one = {.kind = VALUE};
        result r = {NULL, TC_NONE};
        const char *text = (next(c), c->at);
        tc_str op = word(c);
        if (take(c, '('))
            r = call(c, op);
        else {
            c->at = text;
            one = operand_of(c);
            r.val = one.val;
        }
        if (name)
            keep(c, name, r.val);
        else
            bind(c, r);
    } while (!c->wrong && take(c, ';'));
    if (next(c) && !(guard && c->at == guard + 1))
        wrong(c, "the end is expected");
}

tc_val tc_recipe(tc_build *b, const tc_recipe_source *from, const char *text)
{
    if (*text == '!') {
        tc_b_unsupported(b, "%s", text + 1 + strspn(text + 1, " "));
        return TC_NONE;
    }
    tc_mark mark = tc_arena_mark(&b->ctx->scratch);
    cook c = {.b = b, .from = from, .arena = &b->ctx->scratch, .at = text};
    follow(&c);
    if (c.wrong && b->status == TC_OK)
        b->status = tc_bug(b->ctx, b->loc, "recipe '%s': %s", text, c.wrong);
    tc_arena_rewind(&b->ctx->scratch, mark);
    return c.first;
}

tc_op tc_recipe_op(const char *text)
{
    cook c = {.at = text};
    while (at_name(&c) && strchr(c.at, ';'))
        c.at = strchr(c.at, ';') + 1;
    next(&c);
    size_t n = strspn(c.at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    return *c.at == '!' ? TC_OP_COUNT : tc_op_named((tc_str){c.at, n});
}

const char *tc_recipe_check(tc_arena *arena, const char *text,
                            bool (*known)(const void *schema, const char *name),
                            const void *schema)
{
    cook c = {.arena = arena, .at = text, .argument = known, .schema = schema};
    if (*text != '!')
        follow(&c);
    return c.wrong;
}
