/* SPDX-License-Identifier: Apache-2.0 */
/* recipe.c -- follows recipes, or checks them: see recipe.h.
 *
 * The text is read once, from left to right.  Scalar operands are deferred until the operator's
 * attributes are known.  After a failure of the builder the text is still parsed; nothing is
 * built. */
#include "recipe_cook.h"

#include <stddef.h>

enum { MOST_OPERANDS = 8 };

/* The value of a part of a recipe. */
typedef struct operand {
    enum { VALUE, NUMBER, LITERAL } kind;
    tc_val val;
    tc_node *node;    /* VALUE: all of its results, or NULL */
    const char *name; /* NUMBER */
    double number;    /* LITERAL */
} operand;

/* ---- operators ---- */

static const tc_field *field_named(tc_cook *c, tc_op op, tc_str name, uint32_t *said)
{
    const tc_attr_info *info = &tc_attrs[tc_ops[op].attr];
    for (int i = 0; i < info->n_field; i++)
        if (ti_str_is(name, info->field[i].name)) {
            if (*said >> i & 1)
                ti_cook_wrong(c, "'%s' is given twice", info->field[i].name);
            *said |= UINT32_C(1) << i;
            return &info->field[i];
        }
    ti_cook_wrong(c, "'%s' has no field '%.*s'", tc_ops[op].name, (int)name.n, name.p);
    return NULL;
}

static operand call(tc_cook *c, tc_str name);
static operand choice_of(tc_cook *c);

static operand operand_of(tc_cook *c)
{
    operand o = {.kind = LITERAL};
    if (ti_cook_literal(c, &o.number))
        return o;
    if (ti_cook_take(c, '(')) {
        o.number = ti_cook_number(c, REAL);
        ti_cook_need(c, ')');
        return o;
    }
    const char *start = c->at;
    tc_str name = ti_cook_word(c);
    if (ti_cook_take(c, '('))
        return ti_str_is(name, "if") ? choice_of(c) : call(c, name);
    const char *text = ti_text_copy(c->arena, name);
    const tc_val *known = ti_cook_find(c, text);
    if (known) {
        ti_cook_take(c, '?'); /* it is there */
        return (operand){.kind = VALUE, .val = *known};
    }
    c->at = start;
    text = ti_cook_argument(c);
    bool optional = ti_cook_take(c, '?');
    o = (operand){.kind = VALUE, .name = text};
    if (ti_cook_take(c, '[')) {
        int64_t i = ti_cook_whole(c);
        ti_cook_need(c, ']');
        o.val = c->b ? c->from->tensor_at(c->b, text, i) : TC_NONE;
        return o;
    }
    if (!c->b || (optional && !c->from->has(c->b, text)))
        return o;
    if (c->from->is_tensor && c->from->has(c->b, text) && !c->from->is_tensor(c->b, text))
        o.kind = NUMBER;
    else
        o.val = ti_cook_tensor(c, text);
    return o;
}

/* Numbers become constants, each after the type of an operand that is none. */
static void settle(tc_cook *c, tc_op op, const void *attr, operand *in, int n, tc_val like)
{
    tc_val beside = like;
    for (int i = op == TC_OP_where; i < n && !beside; i++)
        beside = in[i].kind == VALUE ? in[i].val : TC_NONE;
    for (int i = 0; i < n && c->b->status == TC_OK; i++) {
        bool alone = op == TC_OP_cast || op == TC_OP_where;
        if (in[i].kind == LITERAL)
            in[i].val = ti_b_scalar(c->b, beside ? ti_b_dtype(c->b, beside) : TC_f32, in[i].number);
        else if (in[i].kind == NUMBER && (tc_ops[op].traits & T_ELTWISE) && (beside || alone))
            in[i].val = c->from->number(c->b, in[i].name, beside, op, attr);
        else if (in[i].kind == NUMBER)
            in[i].val = c->from->tensor(c->b, in[i].name);
    }
}

static operand emit(tc_cook *c, tc_op op, const void *attr, operand *in, int n, tc_val like)
{
    tc_val val[MOST_OPERANDS];
    if (!c->b || c->b->status != TC_OK)
        return (operand){.val = TC_NONE};
    settle(c, op, attr, in, n, like);
    for (int i = 0; i < n; i++)
        val[i] = in[i].val;
    if (op == TC_OP_cast) {
        tc_dtype dtype = ((const tc_attr_cast *)attr)->dtype;
        return (operand){.val = dtype == TC_none ? val[0] : ti_b_cast(c->b, val[0], dtype)};
    }
    int n_out = tc_ops[op].n_out == TC_ANY ? c->from->results(c->b) : tc_ops[op].n_out;
    tc_node *node = ti_b_ops(c->b, op, attr, val, n, n_out);
    return (operand){.node = node, .val = node ? node->out[0] : TC_NONE};
}

static void check_call(tc_cook *c, tc_op op, int n, uint32_t said)
{
    const tc_op_info *info = &tc_ops[op];
    const tc_attr_info *attr = &tc_attrs[info->attr];
    if (n < info->min_in || (info->max_in != TC_ANY && n > info->max_in))
        ti_cook_wrong(c, "'%s' does not take %d operands", info->name, n);
    for (int i = 0; i < attr->n_field; i++)
        if (!(said >> i & 1) && attr->field[i].kind != TC_FIELD_flag)
            ti_cook_wrong(c, "'%s' needs '%s'", info->name, attr->field[i].name);
}

/* The next is `name=` or `name:`, and not an operand. */
static bool at_field(tc_cook *c)
{
    const char *p = (ti_cook_next(c), c->at);
    while (is_letter(*p))
        p++;
    while (*p == ' ')
        p++;
    return p > c->at && (*p == '=' || *p == ':');
}

/* What follows `name(`. */
static operand call(tc_cook *c, tc_str name)
{
    tc_op op = ti_op_named(name);
    operand in[MOST_OPERANDS];
    uint32_t said = 0;
    int n = 0;
    if (op == TC_OP_COUNT) {
        ti_cook_wrong(c, "'%.*s' is not an operator", (int)name.n, name.p);
        return (operand){.val = TC_NONE};
    }
    size_t size = tc_attrs[tc_ops[op].attr].size;
    tc_arena *arena = c->b ? &c->b->ctx->arena : c->arena;
    char *attr = size ? ti_arena_array(arena, 1, size, _Alignof(max_align_t)) : NULL;
    tc_val like = TC_NONE;
    while (!c->wrong && ti_cook_next(c) != ')') {
        if (at_field(c)) {
            const char *start = c->at;
            const tc_field *f = field_named(c, op, ti_cook_word(c), &said);
            bool other = ti_cook_take(c, '=');
            if (!other)
                c->at = start; /* alpha:1 */
            if (!f)
                break;
            ti_cook_field(c, op, f, attr, n && in[0].kind == VALUE ? in[0].val : TC_NONE);
            like = f->kind == TC_FIELD_dtype ? c->like : like;
        } else if (n < MOST_OPERANDS)
            in[n++] = operand_of(c);
        else
            ti_cook_wrong(c, "more than %d operands", MOST_OPERANDS);
        if (ti_cook_next(c) != ')')
            ti_cook_need(c, ',');
    }
    ti_cook_need(c, ')');
    check_call(c, op, n, said);
    operand r = c->wrong ? (operand){.val = TC_NONE} : emit(c, op, attr, in, n, like);
    if (ti_cook_take(c, '[')) {
        int64_t i = ti_cook_whole(c);
        ti_cook_need(c, ']');
        if (i < 0 || i >= tc_ops[op].n_out)
            ti_cook_wrong(c, "'%s' has no result %" PRId64, tc_ops[op].name, i);
        else if (r.node)
            r.val = r.node->out[i];
        r.node = NULL;
    }
    return r;
}

/* ---- choices ---- */

/* is_int(x), is_float(x), is_complex(x), has(name), name:false,
    or two numbers with < > = between. */
static bool condition(tc_cook *c)
{
    bool real = ti_cook_take_word(c, "is_float"),
        complex = !real && ti_cook_take_word(c, "is_complex");
    if (real || complex || ti_cook_take_word(c, "is_int")) {
        ti_cook_need(c, '(');
        bool declared = ti_cook_take_word(c, "result");
        operand x = declared ? (operand){.val = TC_NONE} : operand_of(c);
        ti_cook_need(c, ')');
        const tc_type *type = declared && c->b ? c->from->result(c->b, c->n_result) : NULL;
        tc_dtype t = type                                  ? type->dtype
                     : c->b && c->b->status == TC_OK && x.val ? ti_b_dtype(c->b, x.val)
                                                              : TC_none;
        return real ? ti_is_float(t) : complex ? t == TC_c64 : ti_is_int(t);
    }
    if (ti_cook_take_word(c, "has")) {
        ti_cook_need(c, '(');
        const char *name = ti_cook_argument(c);
        ti_cook_need(c, ')');
        return c->b && c->from->has(c->b, name);
    }
    if (c->at[strcspn(c->at, ",<>=")] == ',')
        return ti_cook_number(c, TRUTH) != 0;
    double a = ti_cook_number(c, REAL);
    if (ti_cook_take(c, '<'))
        return a < ti_cook_number(c, REAL);
    if (ti_cook_take(c, '>'))
        return a > ti_cook_number(c, REAL);
    ti_cook_need(c, '=');
    return a == ti_cook_number(c, REAL);
}

/* A part of the recipe that is followed, or only read. */
static operand part(tc_cook *c, bool followed)
{
    tc_build *b = c->b;
    operand r = {.val = TC_NONE};
    c->b = followed ? b : NULL;
    if (ti_cook_take(c, '!')) {
        ti_cook_need(c, '\'');
        int n = (int)strcspn(c->at, "'");
        if (c->b)
            ti_b_unsupported(c->b, "%.*s", n, c->at);
        c->at += n;
        ti_cook_need(c, '\'');
    } else
        r = operand_of(c);
    c->b = b;
    return r;
}

/* What follows `if(`. */
static operand choice_of(tc_cook *c)
{
    bool yes = condition(c);
    ti_cook_need(c, ',');
    operand first = part(c, yes);
    ti_cook_need(c, ',');
    operand second = part(c, !yes);
    ti_cook_need(c, ')');
    return yes ? first : second;
}

/* ---- recipes ---- */

static bool at_name(tc_cook *c)
{
    return at_field(c) && c->at[strcspn(c->at, "=:(;")] == '=';
}

static void bind(tc_cook *c, operand r)
{
    int n = r.node ? r.node->n_out : 1;
    for (int i = 0; i < n && c->b; i++)
        if (c->b->status == TC_OK)
            c->from->bind(c->b, c->n_result + i, r.node ? r.node->out[i] : r.val);
    c->n_result += n;
}

/* unless name: reason */
static void refuse(tc_cook *c)
{
    const char *name = ti_cook_argument(c);
    ti_cook_need(c, ':');
    ti_cook_next(c);
    if (ti_cook_given(c, name, true, "a number") && c->from->f64(c->b, name) != 0)
        ti_b_unsupported(c->b, "%s", c->at);
    c->at += strlen(c->at);
}

static void follow(tc_cook *c)
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
            name = ti_text_copy(c->arena, ti_cook_word(c));
            ti_cook_need(c, '=');
        }
        operand r = part(c, true);
        if (name)
            ti_cook_keep(c, name, r.val);
        else
            bind(c, r);
    } while (!c->wrong && ti_cook_take(c, ';'));
    if (ti_cook_next(c) && !(guard && c->at == guard + 1))
        ti_cook_wrong(c, "the end is expected");
}

tc_val ti_recipe(tc_build *b, const tc_recipe_source *from, const char *text)
{
    if (*text == '!') {
        ti_b_unsupported(b, "%s", text + 1 + strspn(text + 1, " "));
        return TC_NONE;
    }
    tc_mark mark = ti_arena_mark(&b->ctx->scratch);
    tc_cook c = {.b = b, .from = from, .arena = &b->ctx->scratch, .at = text};
    follow(&c);
    if (c.wrong && b->status == TC_OK)
        b->status = ti_bug(b->ctx, b->loc, "recipe '%s': %s", text, c.wrong);
    ti_arena_rewind(&b->ctx->scratch, mark);
    return c.first;
}

tc_op ti_recipe_op(const char *text)
{
    tc_cook c = {.at = text};
    while (at_name(&c) && strchr(c.at, ';'))
        c.at = strchr(c.at, ';') + 1;
    while (ti_cook_next(&c) && strncmp(c.at, "if(", 3) == 0) { /* the first choice */
        int depth = 0;
        for (c.at += 2; *c.at && !(*c.at == ',' && depth == 1); c.at++)
            depth += (*c.at == '(') - (*c.at == ')');
        c.at += *c.at == ',';
    }
    size_t n = strspn(c.at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    return *c.at == '!' ? TC_OP_COUNT : ti_op_named((tc_str){c.at, n});
}

const char *ti_recipe_check(tc_arena *arena, const char *text,
                            bool (*known)(const void *schema, const char *name),
                            const void *schema)
{
    tc_cook c = {.arena = arena, .at = text, .argument = known, .schema = schema};
    if (*text != '!')
        follow(&c);
    return c.wrong;
}
