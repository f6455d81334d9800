/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_sym.c -- symbolic sizes: sym_size and the Python arithmetic on its results, computed while
 * reading.
 *
 * Shapes are static here, so every size is known; otherwise an error. */
#include "pt2_program.h"

#include <math.h>

#include "../../base/real.h"
#include "../../num/load.h"

typedef tc_pt2_number number;

static const number unknown = {TC_PT2_NOTHING, 0, 0};

static number of_int(int64_t i) { return (number){TC_PT2_INT, i, (double)i}; }
static number of_float(double f) { return (number){TC_PT2_FLOAT, 0, f}; }
static number of_bool(bool b) { return (number){TC_PT2_BOOL, b, b}; }
static bool is_float(number a) { return a.kind == TC_PT2_FLOAT; }
static bool either_float(number a, number b) { return is_float(a) || is_float(b); }

/* Python's integers do not overflow; here overflow is an error. */

static number add(number a, number b)
{
    int64_t r = 0;
    bool fits = either_float(a, b) || !__builtin_add_overflow(a.i, b.i, &r);
    return !fits ? unknown : either_float(a, b) ? of_float(a.f + b.f) : of_int(r);
}

static number sub(number a, number b)
{
    int64_t r = 0;
    bool fits = either_float(a, b) || !__builtin_sub_overflow(a.i, b.i, &r);
    return !fits ? unknown : either_float(a, b) ? of_float(a.f - b.f) : of_int(r);
}

static number mul(number a, number b)
{
    int64_t r = 0;
    bool fits = either_float(a, b) || !__builtin_mul_overflow(a.i, b.i, &r);
    return !fits ? unknown : either_float(a, b) ? of_float(a.f * b.f) : of_int(r);
}

static number truediv(number a, number b)
{
    return b.f == 0 ? unknown : of_float(a.f / b.f);
}

static number floordiv(number a, number b)
{
    if (b.f == 0)
        return unknown;
    if (either_float(a, b))
        return of_float(floor(a.f / b.f));
    if (b.i == -1)
        return sub(of_int(0), a);
    int64_t q = a.i / b.i;
    return of_int(q - (a.i % b.i != 0 && (a.i < 0) != (b.i < 0)));
}

static number mod(number a, number b)
{
    if (b.f == 0)
        return unknown;
    if (either_float(a, b))
        return of_float(a.f - b.f * floor(a.f / b.f));
    int64_t r = b.i == -1 ? 0 : a.i % b.i;
    return of_int(r + (r && (r < 0) != (b.i < 0) ? b.i : 0));
}

static number power(number a, number b)
{
    if (either_float(a, b) || b.i < 0)
        return of_float(ti_pow(a.f, b.f));
    number r = of_int(1);
    for (int64_t i = 0; i < b.i && r.kind; i++) {
        if (i == 64 && (a.i == 0 || a.i == 1))
            break;
        if (i == 64 && a.i == -1)
            return of_int(b.i % 2 ? -1 : 1);
        r = mul(r, a);
    }
    return r;
}

static number shift_left(number a, number b)
{
    return b.i < 0 || b.i > 62 ? unknown : mul(a, of_int(INT64_C(1) << b.i));
}

static number shift_right(number a, number b)
{
    return b.i < 0 || b.i > 62 ? unknown : floordiv(a, of_int(INT64_C(1) << b.i));
}

static int order(number a, number b)
{
    if (either_float(a, b))
        return (a.f > b.f) - (a.f < b.f);
    return (a.i > b.i) - (a.i < b.i);
}

static number lt(number a, number b) { return of_bool(order(a, b) < 0); }
static number le(number a, number b) { return of_bool(order(a, b) <= 0); }
static number gt(number a, number b) { return of_bool(order(a, b) > 0); }
static number ge(number a, number b) { return of_bool(order(a, b) >= 0); }
static number eq(number a, number b) { return of_bool(order(a, b) == 0); }
static number ne(number a, number b) { return of_bool(order(a, b) != 0); }
static number both(number a, number b)
{
    return a.kind == TC_PT2_BOOL ? of_bool(a.i && b.i) : of_int(a.i & b.i);
}
static number any_of(number a, number b)
{
    return a.kind == TC_PT2_BOOL ? of_bool(a.i || b.i) : of_int(a.i | b.i);
}
static number sym_max(number a, number b) { return order(a, b) >= 0 ? a : b; }
static number sym_min(number a, number b) { return order(a, b) <= 0 ? a : b; }

static number whole(double f)
{
    return f >= -0x1p62 && f <= 0x1p62 ? of_int((int64_t)f) : unknown;
}

static number neg(number a, number b)
{
    (void)b;
    return is_float(a) ? of_float(-a.f) : sub(of_int(0), a);
}
static number pos(number a, number b) { (void)b; return a; }
static number magnitude(number a, number b) { return a.f < 0 ? neg(a, b) : a; }
static number not_a(number a, number b) { (void)b; return of_bool(a.f == 0); }
static number truncate(number a, number b)
{
    (void)b;
    return is_float(a) ? whole(trunc(a.f)) : of_int(a.i);
}
static number down(number a, number b)
{
    (void)b;
    return is_float(a) ? whole(floor(a.f)) : of_int(a.i);
}
static number up(number a, number b)
{
    (void)b;
    return is_float(a) ? whole(ceil(a.f)) : of_int(a.i);
}
static number nearest(number a, number b)
{
    (void)b;
    return is_float(a) ? whole(nearbyint(a.f)) : of_int(a.i);
}
static number to_float(number a, number b) { (void)b; return of_float(a.f); }
static number root(number a, number b) { (void)b; return of_float(sqrt(a.f)); }

/* Python functions of one or two numbers. */
static const struct {
    const char *target;
    int n_in;
    number (*compute)(number a, number b);
} arithmetic[] = {
    {"_operator.add", 2, add},         {"_operator.sub", 2, sub},
    {"_operator.mul", 2, mul},         {"_operator.truediv", 2, truediv},
    {"_operator.floordiv", 2, floordiv}, {"_operator.mod", 2, mod},
    {"_operator.pow", 2, power},       {"_operator.lshift", 2, shift_left},
    {"_operator.rshift", 2, shift_right}, {"_operator.neg", 1, neg},
    {"_operator.pos", 1, pos},         {"_operator.abs", 1, magnitude},
    {"_operator.lt", 2, lt},           {"_operator.le", 2, le},
    {"_operator.gt", 2, gt},           {"_operator.ge", 2, ge},
    {"_operator.eq", 2, eq},           {"_operator.ne", 2, ne},
    {"_operator.and_", 2, both},       {"_operator.or_", 2, any_of},
    {"_operator.not_", 1, not_a},      {"math.trunc", 1, truncate},
    {"math.floor", 1, down},           {"math.ceil", 1, up},
    {"math.sqrt", 1, root},            {"builtins.round", 1, nearest},
    {"builtins.max", 2, sym_max},      {"builtins.min", 2, sym_min},
    {"torch.sym_max", 2, sym_max},     {"torch.sym_min", 2, sym_min},
    {"torch.sym_float", 1, to_float},  {"torch.sym_int", 1, truncate},
    {"torch.sym_not", 1, not_a},       {"torch._sym_sqrt", 1, root},
    {"torch.sym_sum", 2, add},
};

static tc_val tensor_at(tc_pt2_node *n, int i)
{
    tc_str tag;
    const tc_json *json = ti_pt2_arg_at(n, i, &tag);
    if (!json || !ti_str_is(tag, "as_tensor"))
        ti_b_bad(&n->m, TC_E_ARGUMENT, "its first argument is not a tensor");
    return n->m.status == TC_OK ? ti_pt2_value(n, json) : TC_NONE;
}

static number size_of_axis(tc_pt2_node *n)
{
    tc_val x = tensor_at(n, 0);
    const tc_type *t = ti_type_of(n->m.g, x);
    int64_t axis = t ? ti_b_axis(&n->m, ti_pt2_need_int(n, "dim"), t->rank) : 0;
    if (n->m.status == TC_OK && !t->rank)
        ti_b_bad(&n->m, TC_E_ARGUMENT, "the size of a tensor without axes");
    return n->m.status == TC_OK ? of_int(t->dim[axis]) : unknown;
}

static number count_of(tc_pt2_node *n)
{
    tc_val x = tensor_at(n, 0);
    return x ? of_int(tc_type_count(ti_type_of(n->m.g, x))) : unknown;
}

/* The number in a tensor that is known. */
static number item_of(tc_pt2_node *n)
{
    tc_val x = tensor_at(n, 0);
    if (!x)
        return unknown;
    tc_tensor t;
    if (tc_type_count(ti_type_of(n->m.g, x)) != 1 || !ti_b_known(&n->m, x, &t)) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "it takes a tensor of one number");
        return unknown;
    }
    if (t.type->dtype == TC_bool)
        return of_bool(ti_load_i64(t, 0));
    return ti_is_float(t.type->dtype) ? of_float(ti_load_f64(t, 0)) : of_int(ti_load_i64(t, 0));
}

static const struct {
    const char *target;
    number (*compute)(tc_pt2_node *n);
} of_tensor[] = {
    {"aten.sym_size.int", size_of_axis},
    {"aten.sym_numel.default", count_of},
    {"aten._local_scalar_dense.default", item_of},
    {"aten.item.default", item_of},
};

/* torch.sym_ite(condition, a, b) */
static number choose(tc_pt2_node *n, const number *in)
{
    (void)n;
    return in[0].f != 0 ? in[1] : in[2];
}

static number compute(tc_pt2_node *n)
{
    for (size_t i = 0; i < TC_COUNT(of_tensor); i++)
        if (ti_text_eq(of_tensor[i].target, n->target))
            return of_tensor[i].compute(n);
    number in[3] = {unknown, unknown, unknown};
    int n_in = 0;
    tc_str tag;
    for (const tc_json *arg; n_in < 3 && (arg = ti_pt2_arg_at(n, n_in, &tag)); n_in++)
        in[n_in] = ti_pt2_number_of(n->work->scope, arg, tag);
    for (int i = 0; i < n_in; i++)
        if (in[i].kind == TC_PT2_NOTHING || in[i].kind == TC_PT2_BROKEN) {
            if (in[i].kind == TC_PT2_BROKEN)
                ti_pt2_fail_again(n);
            return unknown;
        }
    if (n_in == 3 && ti_text_eq(n->target, "torch.sym_ite"))
        return choose(n, in);
    for (size_t i = 0; i < TC_COUNT(arithmetic); i++)
        if (ti_text_eq(arithmetic[i].target, n->target) && arithmetic[i].n_in == n_in)
            return arithmetic[i].compute(in[0], in[1]);
    return unknown;
}

bool ti_pt2_is_sym(const char *target)
{
    for (size_t i = 0; i < TC_COUNT(of_tensor); i++)
        if (ti_text_eq(of_tensor[i].target, target))
            return true;
    for (size_t i = 0; i < TC_COUNT(arithmetic); i++)
        if (ti_text_eq(arithmetic[i].target, target))
            return true;
    return ti_text_eq(target, "torch.sym_ite");
}

bool ti_pt2_sym(tc_pt2_node *n)
{
    if (!ti_pt2_is_sym(n->target))
        return false;
    if (ti_pt2_compute_later(n))
        return true;
    number result = compute(n);
    if (n->m.status == TC_OK && result.kind == TC_PT2_NOTHING)
        n->m.status =
            ti_error(n->m.ctx, n->m.loc, TC_E_DYNAMIC, "'%s': a size that is not known", n->target);
    ti_pt2_bind_number(n, 0, result);
    return true;
}

/* Expressions as sympy writes them, "Mul(Integer(2), Symbol('s77', integer=True))", and older
 * files' lone "s77".  A symbol is known when its range is one number. */
typedef struct expression {
    tc_pt2 *reader;
    const char *at, *end;
} expression;

static const struct {
    const char *name;
    number (*compute)(number a, number b);
} functions[] = {{"Add", add},           {"Mul", mul},     {"Pow", power},
                 {"Max", sym_max},       {"Min", sym_min}, {"FloorDiv", floordiv},
                 {"CleanDiv", floordiv}, {"Mod", mod},     {"PythonMod", mod}};

static bool eat(expression *e, char c)
{
    while (e->at < e->end && *e->at == ' ')
        e->at++;
    bool there = e->at < e->end && *e->at == c;
    e->at += there;
    return there;
}

/* The text before the next of these characters. */
static tc_str until(expression *e, const char *stop)
{
    const char *begin = e->at;
    while (e->at < e->end && *e->at && !strchr(stop, *e->at))
        e->at++;
    return (tc_str){begin, (size_t)(e->at - begin)};
}

static number symbol(const expression *e, tc_str name)
{
    int64_t settled;
    if (ti_pt2_dim_value(e->reader, name, &settled))
        return of_int(settled);
    tc_mark mark = ti_arena_mark(&e->reader->ctx->scratch);
    const tc_json *ranges = ti_json_get(e->reader->program, "range_constraints");
    const tc_json *range = ti_json_get(ranges, ti_text_copy(&e->reader->ctx->scratch, name));
    ti_arena_rewind(&e->reader->ctx->scratch, mark);
    int64_t lo, hi;
    bool known = ti_json_i64(ti_json_get(range, "min_val"), &lo) &&
                 ti_json_i64(ti_json_get(range, "max_val"), &hi);
    return known && lo == hi ? of_int(lo) : unknown;
}

static number literal(tc_str text)
{
    int64_t i;
    return ti_text_to_i64(text, &i) ? of_int(i) : unknown;
}

static number evaluate(expression *e, int depth)
{
    enum { DEEPEST = 32 };
    eat(e, ' ');
    tc_str name = until(e, "(,)");
    if (depth == DEEPEST)
        return unknown;
    if (!eat(e, '(')) {
        number n = literal(name);
        return n.kind ? n : symbol(e, name);
    }
    if (ti_str_is(name, "Integer")) {
        number n = literal(until(e, ")"));
        return eat(e, ')') ? n : unknown;
    }
    if (ti_str_is(name, "Symbol")) {
        eat(e, '\'');
        number n = symbol(e, until(e, "'),"));
        until(e, ")");
        return eat(e, ')') ? n : unknown;
    }
    for (size_t i = 0; i < TC_COUNT(functions); i++) {
        if (!ti_str_is(name, functions[i].name))
            continue;
        number n = evaluate(e, depth + 1);
        while (n.kind && eat(e, ',')) {
            number next = evaluate(e, depth + 1);
            n = next.kind ? functions[i].compute(n, next) : unknown;
        }
        return eat(e, ')') ? n : unknown;
    }
    return unknown;
}

bool ti_pt2_fixed(tc_pt2 *reader, const tc_json *sym_int, int64_t *out)
{
    if (ti_json_i64(ti_json_get(sym_int, "as_int"), out))
        return true;
    tc_str text =
        ti_json_text(&reader->work, ti_json_get(ti_json_get(sym_int, "as_expr"), "expr_str"));
    if (!text.n)
        return false;
    expression e = {reader, text.p, text.p + text.n};
    number n = evaluate(&e, 0);
    *out = n.i;
    return n.kind == TC_PT2_INT && e.at == e.end;
}
