/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_signature.c -- what goes in and comes out: user inputs and outputs become ports, parameters,
 * buffers and constants are bound by name, changed buffers become mutations. */
#include "pt2_program.h"

#include "../read_fixed.h"

static tc_pt2_name *add_name(tc_pt2_scope *scope, tc_str text, tc_pt2_kind kind)
{
    tc_pt2_name *name = tc_new(&scope->reader->work, tc_pt2_name);
    name->kind = kind;
    name->name = text;
    *tc_map_at(&scope->name, text) = name;
    return name;
}

/* The name that a view or an in-place result goes back to, over its first operand. */
static tc_str root_of(const tc_map *base, tc_str name)
{
    for (int i = 0; i < 64; i++) {
        const tc_str *next = tc_map_get(base, name);
        if (!next)
            break;
        name = *next;
    }
    return name;
}

static tc_str tensor_name(tc_pt2 *reader, const tc_json *arg)
{
    return tc_json_text(&reader->work, tc_json_get(tc_json_get(arg, "as_tensor"), "name"));
}

/* Everything that may be a buffer which the program changes: what the signature says, and what
 * in-place operators write to, maybe through views.  Its first numbers are nothing to compute
 * sizes or indices with. */
static void find_changed(tc_pt2 *reader, const tc_json *graph, const tc_json *signature)
{
    tc_map base;
    tc_map_init(&base, &reader->work);
    tc_map_init(&reader->changed, &reader->work);
    const tc_json *node = tc_json_first(tc_json_get(graph, "nodes"));
    for (; node; node = node->next) {
        const tc_json *first = tc_json_first(tc_json_get(node, "inputs"));
        tc_str from = tensor_name(reader, tc_json_get(first, "arg"));
        tc_str to = tensor_name(reader, tc_json_first(tc_json_get(node, "outputs")));
        tc_str target = tc_json_text(&reader->work, tc_json_get(node, "target"));
        if (from.p && tc_pt2_writes(target))
            *tc_map_at(&reader->changed, root_of(&base, from)) = reader;
        if (from.p && to.p && !tc_pt2_copies(reader, target)) {
            tc_str *root = tc_new(&reader->work, tc_str);
            *root = root_of(&base, from);
            *tc_map_at(&base, to) = root;
        }
    }
    const tc_json *spec = tc_json_first(tc_json_get(signature, "output_specs"));
    for (; spec; spec = spec->next) {
        tc_str full = tc_json_text(
            &reader->work, tc_json_get(tc_json_get(spec, "buffer_mutation"), "buffer_name"));
        if (full.p)
            *tc_map_at(&reader->changed, full) = reader;
    }
}

/* A parameter, buffer or constant: remembered by its full name, read when it is used. */
static void bind_payload(tc_pt2_scope *scope, const tc_json *spec, const char *key, bool constant)
{
    tc_pt2 *reader = scope->reader;
    tc_str text = tc_json_text(&reader->work, tc_json_get(tc_json_get(spec, "arg"), "name"));
    tc_str full = tc_json_text(&reader->work, tc_json_get(spec, key));
    tc_pt2_name *name = add_name(scope, text, full.p ? TC_PT2_PAYLOAD : TC_PT2_OBJECT);
    bool persistent = true;
    if (tc_json_get(spec, "persistent"))
        tc_json_bool(tc_json_get(spec, "persistent"), &persistent);
    name->constant = constant || !persistent;
    name->full_name = tc_intern(reader->ctx, full.p ? full : text);
    name->changes =
        tc_map_get(&reader->changed, text) || (full.p && tc_map_get(&reader->changed, full));
    *tc_map_at(&reader->full_name, tc_str_of(name->full_name)) = name;
}

/* A value that is not a tensor, as Python would print it. */
static const char *value_text(tc_ctx *ctx, const tc_json *json, tc_str tag)
{
    bool b;
    if (tc_str_is(tag, "as_none"))
        return "None";
    if (tc_str_is(tag, "as_bool") && tc_json_bool(json, &b))
        return b ? "True" : "False";
    if (tc_json_is(json, TC_JSON_TEXT))
        return tc_intern(ctx, tc_json_text(&ctx->arena, json));
    if (tc_json_is(json, TC_JSON_INT) || tc_json_is(json, TC_JSON_REAL))
        return tc_intern(ctx, (tc_str){json->as.text, json->n});
    return NULL;
}

/* An input that is a Python number of no fixed value: the caller says it. */
static tc_status bind_number(tc_pt2_scope *scope, const tc_json *value, const tc_loc *loc)
{
    tc_pt2 *reader = scope->reader;
    tc_ctx *ctx = reader->ctx;
    tc_str name = tc_json_text(&ctx->arena, tc_json_get(value, "as_name"));
    const char *text = name.p ? tc_intern(ctx, name) : "";
    int64_t number = 0;
    if (!tc_fixed_has(ctx, text)) {
        tc_status status = tc_error(ctx, loc, TC_E_DYNAMIC,
                                    "the input '%s' is a number that is not fixed", text);
        tc_note(ctx, loc, "--set %s=NUMBER makes it a constant", text);
        return status;
    }
    TC_TRY(tc_fixed_i64(ctx, text, &number));
    add_name(scope, name, TC_PT2_INT)->number =
        (tc_pt2_number){TC_PT2_INT, number, (double)number};
    if (scope->numbers)
        tc_pt2_learn(reader, tc_json_get(scope->numbers, text), number);
    reader->module->n_in_port--;
    reader->module->in_tree = NULL;
    return TC_OK;
}

static tc_status bind_user_input(tc_pt2_scope *scope, const tc_json *arg, tc_port *port)
{
    tc_pt2 *reader = scope->reader;
    tc_ctx *ctx = reader->ctx;
    tc_str tag;
    const tc_json *value = tc_json_only(arg, &tag);
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = reader->file;
    if (!tc_str_is(tag, "as_tensor")) {
        port->text = value ? value_text(ctx, value, tag) : "None";
        return port->text ? TC_OK : bind_number(scope, value, loc);
    }
    tc_str name = tc_json_text(&reader->work, tc_json_get(value, "name"));
    if (!name.p)
        return tc_error(ctx, loc, TC_E_FORMAT, "an input without a name");
    loc->place = tc_text_format(&ctx->arena, "input '%.*s'", (int)name.n, name.p);
    tc_status status = TC_OK;
    size_t before = ctx->n_error;
    const tc_type *type = tc_pt2_declared(scope, name, loc, &status);
    if (!type) {
        if (ctx->n_error > before && status == TC_BAD_MODEL)
            tc_note(ctx, loc,
                    "export the model without dynamic_shapes for '%.*s' (or with Dim.STATIC)",
                    (int)name.n, name.p);
        return status;
    }
    tc_pt2_cell *cell = tc_new(&reader->work, tc_pt2_cell);
    tc_tensor fixed;
    TC_TRY(tc_fixed_value(ctx, tc_intern(ctx, name), type, &fixed));
    if (fixed.data) {
        cell->val = tc_graph_const(scope->g, type, fixed.data, tc_intern(ctx, name), loc);
        add_name(scope, name, TC_PT2_CELL)->cell = cell;
        reader->module->n_in_port--;
        reader->module->in_tree = NULL;
        return TC_OK;
    }
    port->name = cell->input = tc_intern(ctx, name);
    port->val = cell->val = tc_graph_input(scope->g, type, port->name);
    add_name(scope, name, TC_PT2_CELL)->cell = cell;
    return TC_OK;
}

/* The name that an input's specification gives it: a tensor's, or that of a parameter or buffer. */
static tc_str spec_name(tc_pt2 *reader, const tc_json *body)
{
    const tc_json *arg = tc_json_get(body, "arg"), *tensor = tc_json_get(arg, "as_tensor");
    return tc_json_text(&reader->work, tc_json_get(tensor ? tensor : arg, "name"));
}

static tc_status bind_input(tc_pt2_scope *scope, const tc_json *spec, const tc_json *input)
{
    tc_pt2 *reader = scope->reader;
    tc_module *module = reader->module;
    tc_str kind;
    const tc_json *body = tc_json_only(spec, &kind);
    tc_str name = spec_name(reader, body);
    if (name.p && tc_pt2_name_of(scope, name))
        return tc_error(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_STRUCTURE,
                        "two inputs are named '%.*s'", (int)name.n, name.p);
    if (tc_str_is(kind, "parameter"))
        bind_payload(scope, body, "parameter_name", false);
    else if (tc_str_is(kind, "buffer"))
        bind_payload(scope, body, "buffer_name", false);
    else if (tc_str_is(kind, "tensor_constant"))
        bind_payload(scope, body, "tensor_constant_name", true);
    else if (tc_str_is(kind, "user_input"))
        return bind_user_input(scope, tc_json_get(body, "arg"),
                               &module->in_port[module->n_in_port++]);
    else if (tc_str_is(kind, "constant_input")) {
        tc_port *port = &module->in_port[module->n_in_port++];
        name = tc_json_text(&reader->work, tc_json_get(body, "name"));
        port->name = name.p ? tc_intern(reader->ctx, name) : NULL;
        tc_str tag;
        const tc_json *value = tc_json_only(tc_json_get(body, "value"), &tag);
        port->text = value ? value_text(reader->ctx, value, tag) : "None";
        port->text = port->text ? port->text : "None";
    } else if (tc_str_is(kind, "custom_obj") || tc_str_is(kind, "token"))
        bind_payload(scope, body, "", false);
    else
        return tc_error(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_FORMAT,
                        "an input of unknown kind '%.*s'", (int)kind.n, kind.p);
    (void)input;
    return TC_OK;
}

tc_status tc_pt2_bind_inputs(tc_pt2_scope *scope, const tc_json *graph, const tc_json *signature)
{
    tc_pt2 *reader = scope->reader;
    const tc_json *specs = tc_json_get(signature, "input_specs"),
                  *inputs = tc_json_get(graph, "inputs");
    if (!tc_json_is(specs, TC_JSON_LIST) || !tc_json_is(inputs, TC_JSON_LIST) ||
        specs->n != inputs->n)
        return tc_error(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_FORMAT,
                        "the signature does not list the inputs that the graph has");
    reader->module->in_port = tc_new_n(&reader->ctx->arena, tc_port, specs->n);
    find_changed(reader, graph, signature);
    tc_status worst = TC_OK;
    for (const tc_json *s = tc_json_first(specs), *i = tc_json_first(inputs); s;
         s = s->next, i = i->next)
        worst = tc_pt2_worse(worst, bind_input(scope, s, i));
    return worst;
}

/* A value at the end of the program. */
static tc_status final_value(tc_pt2_scope *scope, tc_str text, tc_pt2_name **name, tc_val *out)
{
    tc_pt2 *reader = scope->reader;
    tc_loc loc = {.file = reader->file, .place = "outputs"};
    *name = text.p ? tc_pt2_name_of(scope, text) : NULL;
    if (!*name)
        return tc_error(reader->ctx, &loc, TC_E_ORDER,
                        "the program returns '%.*s', which is not defined", (int)text.n,
                        text.p ? text.p : "");
    if ((*name)->kind == TC_PT2_PAYLOAD)
        TC_TRY(tc_pt2_load(scope, *name, &loc));
    if ((*name)->kind == TC_PT2_UNMADE)
        return tc_unsupported(reader->ctx, &loc, TC_E_UNSUPPORTED,
                              "the program returns '%.*s', a result of '%s' that is not computed",
                              (int)text.n, text.p, (*name)->full_name);
    if ((*name)->kind == TC_PT2_CELL)
        return tc_pt2_current(scope->g, (*name)->cell, &loc, out);
    *out = TC_NONE;
    return TC_OK;
}

static void set_number_text(tc_ctx *ctx, tc_pt2_number v, tc_port *port)
{
    char text[32];
    tc_text_f64(v.f, text);
    port->text = v.kind == TC_PT2_BOOL    ? (v.i ? "True" : "False")
                 : v.kind == TC_PT2_FLOAT ? tc_intern_text(ctx, text)
                                          : tc_text_format(&ctx->arena, "%" PRId64, v.i);
}

static tc_status add_output(tc_pt2_scope *scope, const tc_json *arg)
{
    tc_pt2 *reader = scope->reader;
    tc_module *module = reader->module;
    tc_port *port = &module->out_port[module->n_out_port++];
    tc_str tag;
    const tc_json *value = tc_json_only(arg, &tag);
    bool sym = tc_str_is(tag, "as_sym_int") || tc_str_is(tag, "as_sym_float") ||
               tc_str_is(tag, "as_sym_bool");
    if (sym) {
        tc_pt2_number v = tc_pt2_number_of(scope, value, tag);
        if (v.kind == TC_PT2_NOTHING)
            return tc_error(reader->ctx, &(tc_loc){.file = reader->file, .place = "outputs"},
                            TC_E_DYNAMIC, "output %zu is a number that is not known",
                            module->n_out_port - 1);
        set_number_text(reader->ctx, v, port);
        return TC_OK;
    }
    if (!tc_str_is(tag, "as_tensor")) {
        port->text = value ? value_text(reader->ctx, value, tag) : "None";
        port->text = port->text ? port->text : "None";
        return TC_OK;
    }
    tc_str text = tc_json_text(&reader->work, tc_json_get(value, "name"));
    tc_pt2_name *name;
    TC_TRY(final_value(scope, text, &name, &port->val));
    port->name = tc_intern(reader->ctx, text);
    if (port->val)
        tc_graph_output(scope->g, port->val);
    else if (name->kind >= TC_PT2_INT && name->kind <= TC_PT2_BOOL)
        set_number_text(reader->ctx, name->number, port);
    else
        port->text = "None";
    return TC_OK;
}

static tc_status add_mutation(tc_pt2_scope *scope, tc_str full_name, tc_val after)
{
    tc_pt2 *reader = scope->reader;
    tc_graph *g = scope->g;
    tc_loc loc = {.file = reader->file, .place = "outputs"};
    tc_pt2_name *name = tc_map_get(&reader->full_name, full_name);
    if (!name || name->kind == TC_PT2_OBJECT)
        return tc_error(reader->ctx, &loc, TC_E_FORMAT,
                        "the program changes '%.*s', which it does not have", (int)full_name.n,
                        full_name.p ? full_name.p : "");
    if (name->kind == TC_PT2_PAYLOAD)
        TC_TRY(tc_pt2_load(scope, name, &loc));
    tc_val before = name->cell->stored;
    if (tc_type_of(g, before) != tc_type_of(g, after))
        return tc_error(reader->ctx, &loc, TC_E_MISMATCH, "'%s' changes its type", name->full_name);
    tc_graph_mutate(g, before, after);
    name->cell->stored = TC_NONE; /* told once */
    return TC_OK;
}

static tc_status bind_output(tc_pt2_scope *scope, const tc_json *spec)
{
    static const char *const mutation[][2] = {{"buffer_mutation", "buffer_name"},
                                              {"parameter_mutation", "parameter_name"}};
    tc_pt2 *reader = scope->reader;
    tc_loc loc = {.file = reader->file, .place = "outputs"};
    tc_str kind;
    const tc_json *body = tc_json_only(spec, &kind);
    for (size_t i = 0; i < TC_COUNT(mutation); i++)
        if (tc_str_is(kind, mutation[i][0])) {
            tc_pt2_name *name;
            tc_val after = TC_NONE;
            tc_str text =
                tc_json_text(&reader->work, tc_json_get(tc_json_get(body, "arg"), "name"));
            TC_TRY(final_value(scope, text, &name, &after));
            if (!after)
                return tc_error(reader->ctx, &loc, TC_E_FORMAT,
                                "a buffer that is given something other than a tensor");
            return add_mutation(
                scope, tc_json_text(&reader->work, tc_json_get(body, mutation[i][1])), after);
        }
    if (tc_str_is(kind, "user_output") || tc_str_is(kind, "loss_output"))
        return add_output(scope, tc_str_is(kind, "loss_output") &&
                                         !tc_json_get(tc_json_get(body, "arg"), "as_tensor")
                                     ? NULL
                                     : tc_json_get(body, "arg"));
    if (tc_str_is(kind, "user_input_mutation")) {
        tc_str name = tc_json_text(&reader->work, tc_json_get(body, "user_input_name"));
        tc_warning(
            reader->ctx, &loc, TC_E_UNSUPPORTED,
            "the model changes its input '%.*s' in place; the caller's copy is not changed",
            (int)name.n, name.p ? name.p : "");
        return TC_OK;
    }
    if (tc_str_is(kind, "token"))
        return TC_OK;
    return tc_unsupported(reader->ctx, &loc, TC_E_UNSUPPORTED, "an output of kind '%.*s'",
                          (int)kind.n, kind.p);
}

/* Whether another tensor that is used lies in the same storage. */
static bool storage_shared(const tc_pt2 *reader, const tc_pt2_cell *cell)
{
    for (size_t i = 0; i < reader->cell.n; i++) {
        const tc_pt2_cell *other = reader->cell.entry[i].value;
        if (other && other != cell && other->payload->storage.data == cell->payload->storage.data)
            return true;
    }
    return false;
}

/* Parameters and buffers that in-place operators have changed. */
static tc_status add_in_place_mutations(tc_pt2_scope *scope)
{
    tc_pt2 *reader = scope->reader;
    for (size_t i = 0; i < reader->full_name.n; i++) {
        tc_pt2_name *name = reader->full_name.entry[i].value;
        if (!name || name->kind != TC_PT2_CELL || !name->cell->version || !name->cell->stored)
            continue;
        if (storage_shared(reader, name->cell))
            return tc_unsupported(
                reader->ctx, &(tc_loc){.file = reader->file}, TC_E_UNSUPPORTED,
                "'%s' is changed in place and shares its storage with another tensor",
                name->full_name);
        TC_TRY(add_mutation(scope, reader->full_name.entry[i].key, name->cell->val));
    }
    return TC_OK;
}

tc_status tc_pt2_bind_outputs(tc_pt2_scope *scope, const tc_json *graph, const tc_json *signature)
{
    tc_pt2 *reader = scope->reader;
    const tc_json *specs = tc_json_get(signature, "output_specs"),
                  *outputs = tc_json_get(graph, "outputs");
    if (!tc_json_is(specs, TC_JSON_LIST) || !tc_json_is(outputs, TC_JSON_LIST) ||
        specs->n != outputs->n)
        return tc_error(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_FORMAT,
                        "the signature does not list the outputs that the graph has");
    reader->module->out_port = tc_new_n(&reader->ctx->arena, tc_port, specs->n);
    tc_status worst = TC_OK;
    for (const tc_json *s = tc_json_first(specs); s; s = s->next)
        worst = tc_pt2_worse(worst, bind_output(scope, s));
    worst = tc_pt2_worse(worst, add_in_place_mutations(scope));
    for (tc_val v = 1; v < scope->g->n_val; v++) /* now it is known which of them it changes */
        scope->g->val[v]->state = false;
    for (size_t i = 0; i < scope->g->n_mutation; i++)
        scope->g->val[scope->g->mutation[i].before]->state = true;
    return worst;
}
