/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_dims.c -- dynamic sizes of an export (torch.export.Dim), and their values from the caller.
 *
 * The file knows them by symbols ("s77") with a range each; the names that the author gave to the
 * Dims are not in it.  A caller may name the symbol, its axis ("x.2": axis 2 of input x), or, with
 * one name for each open size, use any names in the order in which the sizes appear. */
#include "pt2_program.h"
#include "../read.h"

/* ---- what is open ---- */

static tc_pt2_dim *find(const tc_pt2 *reader, tc_str symbol)
{
    for (size_t i = 0; i < reader->n_dim; i++)
        if (ti_str_is(symbol, reader->dim[i].symbol))
            return &reader->dim[i];
    return NULL;
}

static void add_symbol(tc_pt2 *reader, tc_str symbol, const char *input, int axis, bool alone,
                       const tc_json *hint)
{
    tc_pt2_dim *dim = find(reader, symbol);
    if (!dim) {
        tc_grow(&reader->ctx->arena, reader->dim, reader->n_dim, reader->cap_dim);
        dim = &reader->dim[reader->n_dim++];
        *dim = (tc_pt2_dim){.symbol = ti_intern(reader->ctx, symbol), .lo = 0, .hi = INT64_MAX};
        const tc_json *range =
            ti_json_get(ti_json_get(reader->program, "range_constraints"), dim->symbol);
        ti_json_i64(ti_json_get(range, "min_val"), &dim->lo);
        ti_json_i64(ti_json_get(range, "max_val"), &dim->hi);
        dim->known = dim->lo == dim->hi;
        dim->value = dim->lo;
    }
    if (alone && !dim->input) {
        dim->input = input;
        dim->axis = axis;
        dim->has_hint = ti_json_i64(ti_json_get(hint, "as_int"), &dim->hint);
    }
}

/* Every Symbol('name', ...) of an expression; older files write a lone name. */
static void add_symbols(tc_pt2 *reader, const tc_json *size, const char *input, int axis)
{
    static const char mark[] = "Symbol('";
    const tc_json *expr = ti_json_get(size, "as_expr"), *hint = ti_json_get(expr, "hint");
    tc_str text = ti_json_text(&reader->work, ti_json_get(expr, "expr_str"));
    if (!text.p)
        return;
    const char *at = ti_text_copy(&reader->work, text), *begin = at;
    if (!strchr(at, '(')) {
        int64_t number;
        if (!ti_text_to_i64(text, &number))
            add_symbol(reader, text, input, axis, true, hint);
        return;
    }
    while ((at = strstr(at, mark))) {
        at += sizeof mark - 1;
        add_symbol(reader, (tc_str){at, strcspn(at, "'")}, input, axis,
                   at == begin + sizeof mark - 1, hint);
    }
}

void ti_pt2_find_dims(tc_pt2 *reader)
{
    const tc_json *module = ti_json_get(reader->program, "graph_module");
    const tc_json *values = ti_json_get(ti_json_get(module, "graph"), "tensor_values");
    const tc_json *spec =
        ti_json_first(ti_json_get(ti_json_get(module, "signature"), "input_specs"));
    for (; spec; spec = spec->next) {
        const tc_json *arg = ti_json_get(ti_json_get(spec, "user_input"), "arg");
        tc_str name =
            ti_json_text(&reader->work, ti_json_get(ti_json_get(arg, "as_tensor"), "name"));
        if (!name.p)
            continue;
        const char *input = ti_intern(reader->ctx, name);
        int axis = 0;
        const tc_json *size = ti_json_first(ti_json_get(ti_json_get(values, input), "sizes"));
        for (; size; size = size->next)
            add_symbols(reader, size, input, axis++);
    }
}

/* ---- values from the caller ---- */

static const char *range_text(const tc_pt2 *reader, const tc_pt2_dim *dim)
{
    tc_arena *arena = &reader->ctx->arena;
    return dim->hi >= INT64_MAX / 2
               ? ti_text_format(arena, "%" PRId64 " or more", dim->lo)
               : ti_text_format(arena, "%" PRId64 " to %" PRId64, dim->lo, dim->hi);
}

static const char *dim_text(const tc_pt2 *reader, const tc_pt2_dim *dim)
{
    tc_arena *arena = &reader->ctx->arena;
    if (!dim->input)
        return ti_text_format(arena, "%s (%s)", dim->symbol, range_text(reader, dim));
    return ti_text_format(arena, "%s (axis %d of '%s', %s)", dim->symbol, dim->axis, dim->input,
                          range_text(reader, dim));
}

static const char *all_dims(const tc_pt2 *reader)
{
    tc_buf out;
    ti_buf_init(&out, &reader->ctx->arena);
    for (size_t i = 0; i < reader->n_dim; i++)
        ti_buf_printf(&out, i ? ", %s" : "%s", dim_text(reader, &reader->dim[i]));
    return ti_buf_cstr(&out);
}

/* The open size of that symbol, or at that axis. */
static tc_pt2_dim *named(const tc_pt2 *reader, const char *name)
{
    for (size_t i = 0; i < reader->n_dim; i++) {
        tc_pt2_dim *dim = &reader->dim[i];
        if (ti_text_eq(dim->symbol, name))
            return dim;
        size_t n = dim->input ? strlen(dim->input) : 0;
        int64_t axis;
        if (n && ti_text_starts(name, dim->input) && name[n] == '.' &&
            ti_text_to_i64(ti_str_of(name + n + 1), &axis) && axis == dim->axis)
            return dim;
    }
    return NULL;
}

/* A range inside the export's, or a size of it. */
static tc_status narrow(tc_pt2 *reader, tc_pt2_dim *dim, const tc_dim_given *given)
{
    if (given->lo < dim->lo || given->hi > dim->hi)
        return ti_usage(reader->ctx, "--dim %s=%" PRId64 "..%" PRId64 ": %s was exported for %s",
                        given->name, given->lo, given->hi, dim->symbol, range_text(reader, dim));
    if (!ti_reading(reader->ctx)->open_dims)
        return ti_usage(reader->ctx, "--dim %s: one size is needed here, not a %s", given->name,
                        given->list ? "list" : "range");
    dim->lo = given->lo;
    dim->hi = given->hi;
    dim->word = given->name;
    dim->list = given->list;
    dim->n_list = given->n_list;
    dim->ranged = true;
    return TC_OK;
}

static tc_status give(tc_pt2 *reader, tc_pt2_dim *dim, tc_dim_given *given)
{
    given->symbol = dim->symbol;
    if (ti_dim_open(given))
        return narrow(reader, dim, given);
    if (given->value < dim->lo || given->value > dim->hi) {
        tc_status status = ti_usage(reader->ctx, "--dim %s=%" PRId64 ": %s was exported for %s",
                                    given->name, given->value, dim->symbol,
                                    range_text(reader, dim));
        ti_note(reader->ctx, NULL,
                "export the model with a wider Dim, or choose a size inside that range");
        return status;
    }
    if (dim->known && dim->value != given->value)
        return ti_usage(reader->ctx,
                        "--dim %s=%" PRId64 ": %s is %" PRId64 " by an earlier --dim", given->name,
                        given->value, dim->symbol, dim->value);
    dim->value = given->value;
    dim->known = true;
    return TC_OK;
}

/* A symbol (s77, u0) or an axis (x.0): not a name of the caller, so it has to exist. */
static bool is_exact(const char *name)
{
    size_t letters = strspn(name, "su");
    bool symbol = letters == 1 && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1);
    return symbol || strchr(name, '.');
}

/* Words of the caller's own, in the order in which open sizes appear: one for each, or none. */
static tc_status give_in_order(tc_pt2 *reader, size_t n_open, size_t n_word)
{
    tc_ctx *ctx = reader->ctx;
    const tc_read_options *said = ti_reading(ctx);
    size_t k = 0;
    for (size_t i = 0; i < said->n_dim && n_word; i++) {
        tc_dim_given *given = &said->dim[i];
        if (named(reader, given->name))
            continue;
        if (!reader->n_dim)
            return ti_usage(ctx, "--dim %s: the model has no dynamic sizes", given->name);
        if (n_word != n_open || is_exact(given->name))
            return ti_usage(ctx, "--dim %s: the dynamic sizes of the model are %s", given->name,
                            all_dims(reader));
        while (reader->dim[k].known || reader->dim[k].ranged)
            k++;
        ti_note(ctx, &(tc_loc){.file = reader->file},
                "the file has no names for its dynamic sizes: '%s' is taken for %s", given->name,
                dim_text(reader, &reader->dim[k]));
        TC_TRY(give(reader, &reader->dim[k], given));
    }
    return TC_OK;
}

/* --shape is for files whose inputs have open sizes without names. */
static void tell_unused(const tc_pt2 *reader)
{
    const tc_read_options *said = ti_reading(reader->ctx);
    for (size_t i = 0; i < said->n_shape; i++)
        if (!said->shape[i].used)
            ti_warning(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_NO_EFFECT,
                       "--shape %s has no effect: a PyTorch export has its own sizes, and --dim "
                       "gives those that it leaves open",
                       said->shape[i].input);
}

static tc_status must_settle(const tc_pt2 *reader)
{
    tc_status status =
        ti_error(reader->ctx, NULL, TC_E_DYNAMIC,
                 "the model has dynamic sizes; set each with --dim NAME=VALUE: %s",
                 all_dims(reader));
    ti_note(reader->ctx, NULL,
            "'compile' makes one program for all sizes on targets with shape operators "
            "(-t TOSA-1.1+FP+shape), and one with a method for each on others: --dim NAME=A,B,C");
    return status;
}

/* For reading the file again at other sizes. */
static void leave_open(tc_pt2 *reader, const tc_pt2_dim *dim)
{
    tc_module *m = reader->module;
    if (!m->open.size)
        m->open.size = tc_new_n(&reader->ctx->arena, tc_open_size, reader->n_dim);
    m->open.size[m->open.n++] = (tc_open_size){.name = dim->symbol,
                                          .word = dim->word ? dim->word : dim->symbol,
                                          .input = dim->input,
                                          .axis = dim->axis,
                                          .lo = dim->lo > 1 ? dim->lo : 1,
                                          .hi = dim->hi,
                                          .value = dim->value,
                                          .list = dim->list,
                                          .n_list = dim->n_list};
}

tc_status ti_pt2_settle_dims(tc_pt2 *reader)
{
    tell_unused(reader);
    tc_ctx *ctx = reader->ctx;
    const tc_read_options *said = ti_reading(ctx);
    size_t n_open = 0, n_word = 0;
    for (size_t i = 0; i < said->n_dim; i++) {
        tc_pt2_dim *dim = named(reader, said->dim[i].name);
        n_word += !dim;
        said->dim[i].used = true;
        if (dim)
            TC_TRY(give(reader, dim, &said->dim[i]));
    }
    for (size_t i = 0; i < reader->n_dim; i++)
        n_open += !reader->dim[i].known && !reader->dim[i].ranged;
    TC_TRY(give_in_order(reader, n_open, n_word));
    for (size_t i = 0; i < reader->n_dim; i++) {
        tc_pt2_dim *dim = &reader->dim[i];
        if (dim->known)
            continue;
        if (!said->example_dims && !said->open_dims)
            return must_settle(reader);
        bool inside = dim->has_hint && dim->hint >= dim->lo && dim->hint <= dim->hi;
        dim->value = inside ? dim->hint : dim->lo;
        dim->known = true;
        if (said->open_dims)
            leave_open(reader, dim);
    }
    return TC_OK;
}

bool ti_pt2_dim_value(const tc_pt2 *reader, tc_str symbol, int64_t *out)
{
    const tc_pt2_dim *dim = find(reader, symbol);
    if (dim && dim->known)
        *out = dim->value;
    return dim && dim->known;
}

void ti_pt2_learn(tc_pt2 *reader, const tc_json *sym_int, int64_t value)
{
    static const char mark[] = "Symbol('";
    enum { BEFORE = sizeof mark - 1 };
    tc_str text =
        ti_json_text(&reader->work, ti_json_get(ti_json_get(sym_int, "as_expr"), "expr_str"));
    bool called = text.n > BEFORE && memcmp(text.p, mark, BEFORE) == 0;
    if (called)
        text = (tc_str){text.p + BEFORE, text.n - BEFORE};
    size_t n = 0;
    while (n < text.n && text.p[n] != '\'' && text.p[n] != '(')
        n++;
    tc_str symbol = {text.p, n};
    if (!n || (symbol.p[0] != 'u' && symbol.p[0] != 's') || (n < text.n && !called) ||
        find(reader, symbol))
        return;
    add_symbol(reader, symbol, NULL, 0, false, NULL);
    tc_pt2_dim *dim = find(reader, symbol);
    dim->known = true;
    dim->value = value;
}
