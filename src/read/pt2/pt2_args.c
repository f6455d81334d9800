/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_args.c -- a node's arguments by schema name. */
#include "pt2_program.h"

#include "../../num/load.h"

/* Messages: the first failure of a node is the one that counts. */

void ti_pt2_bad_argument(tc_pt2_node *n, const char *arg, const char *expected)
{
    if (n->m.status == TC_OK)
        n->m.status = ti_error(n->m.ctx, n->m.loc, TC_E_ARGUMENT,
                             "node '%s': argument '%s' of '%s' is missing or not %s",
                                 n->m.loc->node,
                             arg, n->target, expected);
}

void ti_pt2_fail_again(tc_pt2_node *n)
{
    if (n->m.status == TC_OK)
        n->m.status = TC_UNSUPPORTED;
}

/* Finding arguments: {"name": ..., "arg": {tag: value}} */

const tc_json *ti_pt2_arg_at(tc_pt2_node *n, int i, tc_str *tag)
{
    const tc_json *arg = ti_json_first(ti_json_get(n->json, "inputs"));
    while (arg && i-- > 0)
        arg = arg->next;
    return ti_json_only(ti_json_get(arg, "arg"), tag);
}

const tc_json *ti_pt2_arg(tc_pt2_node *n, const char *name, tc_str *tag)
{
    const tc_json *arg = ti_json_first(ti_json_get(n->json, "inputs"));
    size_t size = strlen(name);
    for (; arg; arg = arg->next) {
        const tc_json *key = ti_json_get(arg, "name");
        if (!ti_json_is(key, TC_JSON_TEXT) || key->n != size ||
            memcmp(key->as.text, name, size) != 0)
            continue;
        const tc_json *value = ti_json_only(ti_json_get(arg, "arg"), tag);
        if (ti_str_is(*tag, "as_optional_tensor"))
            value = ti_json_only(value, tag);
        return ti_str_is(*tag, "as_none") ? NULL : value;
    }
    *tag = (tc_str){"", 0};
    return NULL;
}

/* Names */

tc_pt2_name *ti_pt2_name_of(tc_pt2_scope *scope, tc_str name)
{
    return ti_map_get(&scope->name, name);
}

const tc_json *ti_pt2_meta(tc_pt2_scope *scope, const tc_json *named)
{
    tc_str name = ti_json_text(&scope->reader->work, ti_json_get(named, "name"));
    return name.p ? ti_map_get(&scope->declared, name) : NULL;
}

tc_pt2_cell *ti_pt2_cell_of(tc_pt2_node *n, const tc_json *named)
{
    tc_pt2_scope *scope = n->work->scope;
    tc_str text = ti_json_text(&scope->reader->work, ti_json_get(named, "name"));
    tc_pt2_name *name = ti_pt2_name_of(scope, text);
    TC_STOP_WITH(&n->m, NULL);
    if (name && name->kind == TC_PT2_PAYLOAD)
        n->m.status = ti_pt2_load(scope, name, n->m.loc);
    else if (name && name->kind == TC_PT2_BROKEN)
        ti_pt2_fail_again(n);
    else if (!name)
        n->m.status =
            ti_error(n->m.ctx, n->m.loc, TC_E_ORDER,
                     "'%s' uses '%.*s', which is not defined before it",
                     n->target, (int)text.n, text.p ? text.p : "");
    else if (name->kind == TC_PT2_UNMADE)
        n->m.status = ti_unsupported(n->m.ctx, n->m.loc, TC_E_UNSUPPORTED,
                                   "'%s' uses '%.*s', a result of '%s' that is not computed",
                                   n->target, (int)text.n, text.p, name->full_name);
    else if (name->kind != TC_PT2_CELL)
        n->m.status =
            ti_unsupported(n->m.ctx, n->m.loc, TC_E_UNSUPPORTED,
                           "'%s' uses '%.*s', which is not a tensor",
                           n->target, (int)text.n, text.p);
    return n->m.status == TC_OK ? name->cell : NULL;
}

/* Inside torch.autocast the floats that an operator takes are of the type that it gives. */
static tc_val autocast(tc_pt2_node *n, tc_val x)
{
    const tc_pt2_slot *r = n->n_result ? &n->work->result[0] : NULL;
    const tc_type *type =
        r && r->tensor ? ti_pt2_declared(n->work->scope, r->name, n->m.loc, NULL) : NULL;
    bool floats = type && ti_is_float(type->dtype) && ti_is_float(ti_type_of(n->m.g, x)->dtype);
    return floats ? ti_b_cast(&n->m, x, type->dtype) : x;
}

tc_val ti_pt2_value(tc_pt2_node *n, const tc_json *named)
{
    tc_pt2_work *work = n->work;
    tc_pt2_cell *cell = ti_pt2_cell_of(n, named);
    tc_val val = TC_NONE;
    if (!cell)
        return TC_NONE;
    n->m.status = ti_pt2_current(n->m.g, cell, n->m.loc, &val);
    if (n->m.status == TC_OK && work->scope->autocast)
        val = autocast(n, val);
    return n->m.status == TC_OK ? val : TC_NONE;
}

/* Tensors */

bool ti_pt2_has(tc_pt2_node *n, const char *arg)
{
    tc_str tag;
    return ti_pt2_arg(n, arg, &tag) != NULL;
}

bool ti_pt2_is_tensor(tc_pt2_node *n, const char *arg)
{
    tc_str tag;
    return ti_pt2_arg(n, arg, &tag) && ti_str_is(tag, "as_tensor");
}

tc_val ti_pt2_tensor_opt(tc_pt2_node *n, const char *arg)
{
    tc_str tag;
    const tc_json *value = ti_pt2_arg(n, arg, &tag);
    if (value && !ti_str_is(tag, "as_tensor"))
        ti_pt2_bad_argument(n, arg, "a tensor");
    return value && n->m.status == TC_OK ? ti_pt2_value(n, value) : TC_NONE;
}

tc_val ti_pt2_tensor(tc_pt2_node *n, const char *arg)
{
    if (!ti_pt2_is_tensor(n, arg)) {
        ti_pt2_bad_argument(n, arg, "a tensor");
        return TC_NONE;
    }
    return ti_pt2_tensor_opt(n, arg);
}

tc_val *ti_pt2_values(tc_pt2_node *n, const tc_json *json, tc_str tag, int *count)
{
    bool optional = ti_str_is(tag, "as_optional_tensors");
    *count = 0;
    if (!optional && !ti_str_is(tag, "as_tensors"))
        return NULL;
    tc_val *list = tc_new_n(&n->m.ctx->arena, tc_val, json->n);
    for (const tc_json *item = ti_json_first(json); item; item = item->next) {
        const tc_json *named = optional ? ti_json_get(item, "as_tensor") : item;
        list[(*count)++] = named ? ti_pt2_value(n, named) : TC_NONE;
    }
    return list;
}

tc_val *ti_pt2_tensors(tc_pt2_node *n, const char *arg, int *count)
{
    tc_str tag;
    const tc_json *value = ti_pt2_arg(n, arg, &tag);
    tc_val *list = value ? ti_pt2_values(n, value, tag, count) : NULL;
    if (!list) {
        *count = 0;
        ti_pt2_bad_argument(n, arg, "a list of tensors");
    }
    return list;
}

/* Numbers */

static tc_pt2_number int_number(int64_t i)
{
    return (tc_pt2_number){TC_PT2_INT, i, (double)i};
}

static tc_pt2_number float_number(double f)
{
    return (tc_pt2_number){TC_PT2_FLOAT, 0, f};
}

/* {"as_name": ...} or one of the plain ones. */
static tc_pt2_number sym_number(tc_pt2_scope *scope, const tc_json *json)
{
    tc_str tag;
    const tc_json *value = ti_json_only(json, &tag);
    if (!value || !ti_str_is(tag, "as_name"))
        return value ? ti_pt2_number_of(scope, value, tag) : (tc_pt2_number){TC_PT2_NOTHING, 0, 0};
    tc_pt2_name *name = ti_pt2_name_of(scope, ti_json_text(&scope->reader->work, value));
    bool known = name && name->kind >= TC_PT2_INT && name->kind <= TC_PT2_BOOL;
    if (name && name->kind == TC_PT2_BROKEN)
        return (tc_pt2_number){TC_PT2_BROKEN, 0, 0};
    return known ? name->number : (tc_pt2_number){TC_PT2_NOTHING, 0, 0};
}

tc_pt2_number ti_pt2_number_of(tc_pt2_scope *scope, const tc_json *json, tc_str tag)
{
    static const char *const whole[] = {"as_int", "as_memory_format", "as_layout",
                                        "as_scalar_type"};
    int64_t i;
    double f;
    bool b;
    for (size_t k = 0; k < TC_COUNT(whole); k++)
        if (ti_str_is(tag, whole[k]) && ti_json_i64(json, &i))
            return int_number(i);
    if (ti_str_is(tag, "as_float") && ti_json_f64(json, &f))
        return float_number(f);
    if (ti_str_is(tag, "as_bool") && ti_json_bool(json, &b))
        return (tc_pt2_number){TC_PT2_BOOL, b, b};
    if (ti_str_is(tag, "as_sym_int") || ti_str_is(tag, "as_sym_float") ||
        ti_str_is(tag, "as_sym_bool"))
        return sym_number(scope, json);
    return (tc_pt2_number){TC_PT2_NOTHING, 0, 0};
}

static tc_pt2_number number(tc_pt2_node *n, const char *arg, const char *expected, bool *found)
{
    tc_str tag;
    const tc_json *value = ti_pt2_arg(n, arg, &tag);
    tc_pt2_number none = {TC_PT2_NOTHING, 0, 0};
    *found = value != NULL;
    if (!value || n->m.status != TC_OK)
        return none;
    tc_pt2_number result = ti_pt2_number_of(n->work->scope, value, tag);
    if (result.kind == TC_PT2_BROKEN)
        ti_pt2_fail_again(n);
    if (result.kind == TC_PT2_NOTHING && ti_pt2_later(n, arg))
        ti_pt2_tell_later(n);
    if (result.kind == TC_PT2_NOTHING)
        ti_pt2_bad_argument(n, arg, expected);
    return result;
}

int64_t ti_pt2_int(tc_pt2_node *n, const char *arg, int64_t missing)
{
    bool found;
    tc_pt2_number v = number(n, arg, "an integer", &found);
    if (v.kind == TC_PT2_FLOAT)
        ti_pt2_bad_argument(n, arg, "an integer");
    return !found ? missing : v.i;
}

int64_t ti_pt2_need_int(tc_pt2_node *n, const char *arg)
{
    if (!ti_pt2_has(n, arg))
        ti_pt2_bad_argument(n, arg, "an integer");
    return ti_pt2_int(n, arg, 0);
}

double ti_pt2_float(tc_pt2_node *n, const char *arg, double missing)
{
    bool found;
    tc_pt2_number v = number(n, arg, "a number", &found);
    return !found ? missing : v.f;
}

bool ti_pt2_bool(tc_pt2_node *n, const char *arg, bool missing)
{
    bool found;
    tc_pt2_number v = number(n, arg, "true or false", &found);
    return !found ? missing : v.f != 0;
}

/* The elements of a list of numbers, in any of the file's spellings. */
static tc_pt2_number *numbers(tc_pt2_node *n, const char *arg, int32_t *count)
{
    static const struct {
        const char *list, *element;
    } spelling[] = {{"as_ints", "as_int"},           {"as_floats", "as_float"},
                    {"as_bools", "as_bool"},         {"as_sym_ints", "as_sym_int"},
                    {"as_sym_floats", "as_sym_float"}, {"as_sym_bools", "as_sym_bool"}};
    tc_str tag;
    const tc_json *value = ti_pt2_arg(n, arg, &tag);
    *count = 0;
    if (!value || n->m.status != TC_OK || (ti_str_is(tag, "as_tensors") && value->n == 0))
        return NULL;
    tc_pt2_scope *scope = n->work->scope;
    const tc_json *item = value;
    int32_t most = 1;
    for (size_t k = 0; k < TC_COUNT(spelling); k++)
        if (ti_str_is(tag, spelling[k].list) && ti_json_is(value, TC_JSON_LIST)) {
            tag = ti_str_of(spelling[k].element);
            item = ti_json_first(value);
            most = (int32_t)value->n;
        }
    tc_pt2_number *list = tc_new_n(&scope->reader->work, tc_pt2_number, (size_t)most);
    for (; *count < most; item = item->next) {
        list[*count] = ti_pt2_number_of(scope, item, tag);
        tc_pt2_kind kind = list[(*count)++].kind;
        if (kind == TC_PT2_NOTHING || kind == TC_PT2_BROKEN) {
            if (kind == TC_PT2_BROKEN)
                ti_pt2_fail_again(n);
            ti_pt2_bad_argument(n, arg, "a list of numbers that are known");
            *count = 0;
            return NULL;
        }
    }
    return list;
}

tc_ints ti_pt2_ints(tc_pt2_node *n, const char *arg)
{
    int32_t count;
    const tc_pt2_number *list = numbers(n, arg, &count);
    int64_t *v = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)count);
    for (int32_t i = 0; i < count; i++) {
        v[i] = list[i].i;
        if (list[i].kind == TC_PT2_FLOAT)
            ti_pt2_bad_argument(n, arg, "a list of integers");
    }
    return (tc_ints){count, v};
}

tc_floats ti_pt2_floats(tc_pt2_node *n, const char *arg)
{
    int32_t count;
    const tc_pt2_number *list = numbers(n, arg, &count);
    double *v = tc_new_n(&n->m.ctx->arena, double, (size_t)count);
    for (int32_t i = 0; i < count; i++)
        v[i] = list[i].f;
    return (tc_floats){count, v};
}

const char *ti_pt2_text(tc_pt2_node *n, const char *arg, const char *missing)
{
    tc_str tag;
    const tc_json *value = ti_pt2_arg(n, arg, &tag);
    if (value && !(ti_str_is(tag, "as_string") && ti_json_is(value, TC_JSON_TEXT)))
        ti_pt2_bad_argument(n, arg, "text");
    if (!value || n->m.status != TC_OK)
        return missing;
    return ti_intern(n->m.ctx, ti_json_text(&n->work->scope->reader->work, value));
}

tc_dtype ti_pt2_dtype(tc_pt2_node *n, const char *arg, tc_dtype missing)
{
    tc_str tag;
    int64_t code = 0;
    const tc_json *value = ti_pt2_arg(n, arg, &tag);
    if (!value || n->m.status != TC_OK)
        return missing;
    if (!ti_str_is(tag, "as_scalar_type") || !ti_json_i64(value, &code))
        ti_pt2_bad_argument(n, arg, "an element type");
    tc_dtype dtype = ti_dtype_from_pt2(code);
    if (n->m.status == TC_OK && dtype == TC_none)
        n->m.status =
            ti_unsupported(n->m.ctx, n->m.loc, TC_E_UNSUPPORTED,
                           "'%s': element type %" PRId64 " of torch.export", n->target, code);
    return dtype;
}

/* Constants */

static tc_val scalar(tc_pt2_node *n, tc_dtype dtype, tc_pt2_number v)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    tc_tensor t = {ti_type_make(n->m.ctx, dtype, 0, NULL), ti_arena_raw(&n->m.ctx->arena, 16)};
    if (v.kind == TC_PT2_FLOAT)
        ti_store_f64(t, 0, v.f);
    else
        ti_store_i64(t, 0, v.i);
    return ti_graph_const(n->m.g, t.type, t.data, NULL, n->m.loc);
}

/* The element type of a number combined with a tensor of type `beside`: the tensor's own, unless
 * the number is of a higher category. */
static tc_dtype number_type(tc_pt2_kind kind, tc_dtype beside)
{
    bool is_bool = beside == TC_bool || beside == TC_none;
    if (kind == TC_PT2_FLOAT)
        return is_bool || ti_is_int(beside) ? TC_f32 : beside;
    if (kind == TC_PT2_INT)
        return is_bool ? TC_i64 : beside;
    return beside == TC_none ? TC_bool : beside;
}

/* {"real": ..., "imag": ...}; TC_NONE when the argument is none of that kind. */
static tc_val complex_number(tc_pt2_node *n, const char *arg)
{
    tc_str tag;
    double re, im;
    const tc_json *value = ti_pt2_arg(n, arg, &tag);
    if (!value || n->m.status != TC_OK || !ti_str_is(tag, "as_complex") ||
        !ti_json_f64(ti_json_get(value, "real"), &re) ||
        !ti_json_f64(ti_json_get(value, "imag"), &im))
        return TC_NONE;
    tc_val part[2];
    part[0] = ti_b_scalar(&n->m, TC_f32, re);
    part[1] = ti_b_scalar(&n->m, TC_f32, im);
    return ti_b_op(&n->m, TC_OP_complex, NULL, part, 2);
}

tc_val ti_pt2_operand(tc_pt2_node *n, const char *arg, tc_val other)
{
    bool found;
    if (ti_pt2_is_tensor(n, arg))
        return ti_pt2_tensor(n, arg);
    tc_val pair = complex_number(n, arg), later = ti_pt2_later(n, arg);
    if (pair)
        return pair;
    tc_dtype beside = other && n->m.status == TC_OK ? ti_type_of(n->m.g, other)->dtype : TC_none;
    if (later) {
        bool real = ti_is_float(ti_type_of(n->m.g, later)->dtype);
        return ti_b_cast(&n->m, later, number_type(real ? TC_PT2_FLOAT : TC_PT2_INT, beside));
    }
    tc_pt2_number v = number(n, arg, "a number or a tensor", &found);
    if (!found)
        ti_pt2_bad_argument(n, arg, "a number or a tensor");
    TC_STOP_WITH(&n->m, TC_NONE);
    return scalar(n, number_type(v.kind, beside), v);
}

/* What many importers share */

static int64_t clamp_index(int64_t i, int64_t extent)
{
    return ti_max_i64(0, ti_min_i64(i < 0 ? i + extent : i, extent));
}

tc_attr_slice *ti_pt2_slice_attr(tc_pt2_node *n, const tc_type *x, int64_t axis, int64_t start,
                                 int64_t end, int64_t step)
{
    int64_t extent = x->rank ? x->dim[axis] : 0;
    start = clamp_index(start, extent);
    end = ti_max_i64(start, clamp_index(end, extent));
    return ti_b_attr(&n->m, slice, axis, start, end, step);
}

tc_val ti_pt2_slice(tc_pt2_node *n, tc_val x, int64_t axis, int64_t start, int64_t end,
                    int64_t step)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    return ti_b_1(&n->m, slice, ti_pt2_slice_attr(n, ti_b_type(&n->m, x), axis, start, end, step),
                  x);
}

tc_val *ti_pt2_list_of(tc_pt2_node *n, const char *arg, int *count)
{
    tc_val *list = ti_pt2_tensors(n, arg, count);
    for (int i = 0; i < *count && n->m.status == TC_OK; i++)
        if (!list[i])
            ti_b_bad(&n->m, TC_E_ARGUMENT, "None in a list of tensors");
    *count = n->m.status == TC_OK ? *count : 0;
    return list;
}
