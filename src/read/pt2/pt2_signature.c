/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_signature.c -- the signature: user inputs and outputs become ports, parameters, buffers and
 * constants are bound by name, changed buffers become mutations. */
#include "pt2_program.h"

#include "../read_fixed.h"

static tc_pt2_name *add_name(tc_pt2_scope *scope, tc_str text, tc_pt2_kind kind)
{
    tc_pt2_name *name = tc_new(&scope->reader->work, tc_pt2_name);
    name->kind = kind;
    name->name = text;
    *ti_map_at(&scope->name, text) = name;
    return name;
}

/* Everything that may be a mutable buffer: by the signature, and what in-place operators write to,
 * perhaps through views.  Its initial values must not determine sizes or indices. */
static void find_changed(tc_pt2 *reader, const tc_json *graph, const tc_json *signature)
{
    tc_map memory, written;
    ti_pt2_memory(reader, graph, &memory);
    ti_map_init(&written, &reader->work);
    ti_map_init(&reader->changed, &reader->work);
    size_t training = 0;
    const tc_json *node = ti_json_first(ti_json_get(graph, "nodes")), *to;
    for (; node; node = node->next) {
        training += ti_pt2_statistics(reader, node, 0) != NULL;
        for (int k = 0; (to = ti_pt2_written(reader, node, k)); k++) {
            tc_str name = ti_json_text(&reader->work, ti_json_get(to, "name"));
            if (name.p)
                *ti_map_at(&written, ti_pt2_memory_of(&memory, name)) = reader;
        }
    }
    for (const tc_json *in = ti_json_first(ti_json_get(graph, "inputs")); in; in = in->next) {
        tc_str name =
            ti_json_text(&reader->work, ti_json_get(ti_json_get(in, "as_tensor"), "name"));
        if (name.p && ti_map_get(&written, ti_pt2_memory_of(&memory, name)))
            *ti_map_at(&reader->changed, name) = reader;
    }
    if (training)
        ti_warning(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_NUMBERS,
                   "batch norm is in training mode (%zu of them): it normalizes by each batch, and "
                   "updates its statistics; export the model in eval mode if that is not meant",
                   training);
    const tc_json *spec = ti_json_first(ti_json_get(signature, "output_specs"));
    for (; spec; spec = spec->next) {
        tc_str full = ti_json_text(
            &reader->work, ti_json_get(ti_json_get(spec, "buffer_mutation"), "buffer_name"));
        if (full.p)
            *ti_map_at(&reader->changed, full) = reader;
    }
}

/* A parameter, buffer or constant: remembered by its full name, read when it is used. */
static void bind_payload(tc_pt2_scope *scope, const tc_json *spec, const char *key, bool constant)
{
    tc_pt2 *reader = scope->reader;
    tc_str text = ti_json_text(&reader->work, ti_json_get(ti_json_get(spec, "arg"), "name"));
    tc_str full = ti_json_text(&reader->work, ti_json_get(spec, key));
    tc_pt2_name *name = add_name(scope, text, full.p ? TC_PT2_PAYLOAD : TC_PT2_OBJECT);
    bool persistent = true;
    if (ti_json_get(spec, "persistent"))
        ti_json_bool(ti_json_get(spec, "persistent"), &persistent);
    name->constant = constant || !persistent;
    name->full_name = ti_intern(reader->ctx, full.p ? full : text);
    name->changes =
        ti_map_get(&reader->changed, text) || (full.p && ti_map_get(&reader->changed, full));
    *ti_map_at(&reader->full_name, ti_str_of(name->full_name)) = name;
}

/* A value that is not a tensor, as Python would print it. */
static const char *value_text(tc_ctx *ctx, const tc_json *json, tc_str tag)
{
    bool b;
    if (ti_str_is(tag, "as_none"))
        return "None";
    if (ti_str_is(tag, "as_bool") && ti_json_bool(json, &b))
        return b ? "True" : "False";
    if (ti_json_is(json, TC_JSON_TEXT))
        return ti_intern(ctx, ti_json_text(&ctx->arena, json));
    if (ti_json_is(json, TC_JSON_INT) || ti_json_is(json, TC_JSON_REAL))
        return ti_intern(ctx, (tc_str){json->as.text, json->n});
    return NULL;
}

/* An input that is a Python number without a fixed value: the caller gives it. */
static tc_status bind_number(tc_pt2_scope *scope, const tc_json *value, const tc_loc *loc)
{
    tc_pt2 *reader = scope->reader;
    tc_ctx *ctx = reader->ctx;
    tc_str name = ti_json_text(&ctx->arena, ti_json_get(value, "as_name"));
    const char *text = name.p ? ti_intern(ctx, name) : "";
    int64_t number = 0;
    if (!ti_fixed_has(ctx, text)) {
        tc_status status = ti_error(ctx, loc, TC_E_DYNAMIC,
                                    "the input '%s' is a number that is not fixed", text);
        ti_note(ctx, loc, "--set %s=NUMBER makes it a constant", text);
        return status;
    }
    TC_TRY(ti_fixed_i64(ctx, text, &number));
    add_name(scope, name, TC_PT2_INT)->number =
        (tc_pt2_number){TC_PT2_INT, number, (double)number};
    if (scope->numbers)
        ti_pt2_learn(reader, ti_json_get(scope->numbers, text), number);
    reader->module->signature.n_in--;
    reader->module->signature.in_tree = NULL;
    return TC_OK;
}

static tc_status bind_user_input(tc_pt2_scope *scope, const tc_json *arg, tc_port *port)
{
    tc_pt2 *reader = scope->reader;
    tc_ctx *ctx = reader->ctx;
    tc_str tag;
    const tc_json *value = ti_json_only(arg, &tag);
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = reader->file;
    if (!ti_str_is(tag, "as_tensor")) {
        port->text = value ? value_text(ctx, value, tag) : "None";
        return port->text ? TC_OK : bind_number(scope, value, loc);
    }
    tc_str name = ti_json_text(&reader->work, ti_json_get(value, "name"));
    if (!name.p)
        return ti_error(ctx, loc, TC_E_FORMAT, "an input without a name");
    loc->place = ti_text_format(&ctx->arena, "input '%.*s'", (int)name.n, name.p);
    tc_status status = TC_OK;
    size_t before = ctx->n_error;
    const tc_type *type = ti_pt2_declared(scope, name, loc, &status);
    if (!type) {
        if (ctx->n_error > before && status == TC_BAD_MODEL)
            ti_note(ctx, loc,
                    "export the model without dynamic_shapes for '%.*s' (or with Dim.STATIC)",
                    (int)name.n, name.p);
        return status;
    }
    tc_pt2_cell *cell = tc_new(&reader->work, tc_pt2_cell);
    tc_tensor fixed;
    TC_TRY(ti_fixed_value(ctx, ti_intern(ctx, name), type, &fixed));
    if (fixed.data) {
        cell->val = ti_graph_const(scope->g, type, fixed.data, ti_intern(ctx, name), loc);
        cell->meta = ti_map_get(&scope->declared, name);
        add_name(scope, name, TC_PT2_CELL)->cell = cell;
        reader->module->signature.n_in--;
        reader->module->signature.in_tree = NULL;
        return TC_OK;
    }
    port->name = cell->input = ti_intern(ctx, name);
    port->val = cell->val = ti_graph_input(scope->g, type, port->name);
    cell->meta = ti_map_get(&scope->declared, name);
    add_name(scope, name, TC_PT2_CELL)->cell = cell;
    return TC_OK;
}

/* The name that an input's specification gives it: a tensor's, or that of a parameter or buffer. */
static tc_str spec_name(tc_pt2 *reader, const tc_json *body)
{
    const tc_json *arg = ti_json_get(body, "arg"), *tensor = ti_json_get(arg, "as_tensor");
    return ti_json_text(&reader->work, ti_json_get(tensor ? tensor : arg, "name"));
}

static tc_status bind_input(tc_pt2_scope *scope, const tc_json *spec, const tc_json *input)
{
    tc_pt2 *reader = scope->reader;
    tc_module *module = reader->module;
    tc_str kind;
    const tc_json *body = ti_json_only(spec, &kind);
    tc_str name = spec_name(reader, body);
    if (name.p && ti_pt2_name_of(scope, name))
        return ti_error(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_STRUCTURE,
                        "two inputs are named '%.*s'", (int)name.n, name.p);
    if (ti_str_is(kind, "parameter"))
        bind_payload(scope, body, "parameter_name", false);
    else if (ti_str_is(kind, "buffer"))
        bind_payload(scope, body, "buffer_name", false);
    else if (ti_str_is(kind, "tensor_constant"))
        bind_payload(scope, body, "tensor_constant_name", true);
    else if (ti_str_is(kind, "user_input"))
        return bind_user_input(scope, ti_json_get(body, "arg"),
                               &module->signature.in[module->signature.n_in++]);
    else if (ti_str_is(kind, "constant_input")) {
        tc_port *port = &module->signature.in[module->signature.n_in++];
        name = ti_json_text(&reader->work, ti_json_get(body, "name"));
        port->name = name.p ? ti_intern(reader->ctx, name) : NULL;
        tc_str tag;
        const tc_json *value = ti_json_only(ti_json_get(body, "value"), &tag);
        port->text = value ? value_text(reader->ctx, value, tag) : "None";
        port->text = port->text ? port->text : "None";
    } else if (ti_str_is(kind, "custom_obj") || ti_str_is(kind, "token"))
        bind_payload(scope, body, "", false);
    else
        return ti_error(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_FORMAT,
                        "an input of unknown kind '%.*s'", (int)kind.n, kind.p);
    (void)input;
    return TC_OK;
}

tc_status ti_pt2_bind_inputs(tc_pt2_scope *scope, const tc_json *graph, const tc_json *signature)
{
    tc_pt2 *reader = scope->reader;
    const tc_json *specs = ti_json_get(signature, "input_specs"),
                  *inputs = ti_json_get(graph, "inputs");
    if (!ti_json_is(specs, TC_JSON_LIST) || !ti_json_is(inputs, TC_JSON_LIST) ||
        specs->n != inputs->n)
        return ti_error(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_FORMAT,
                        "the signature does not list the inputs that the graph has");
    reader->module->signature.in = tc_new_n(&reader->ctx->arena, tc_port, specs->n);
    find_changed(reader, graph, signature);
    tc_status worst = TC_OK;
    for (const tc_json *s = ti_json_first(specs), *i = ti_json_first(inputs); s;
         s = s->next, i = i->next)
        worst = ti_pt2_worse(worst, bind_input(scope, s, i));
    return worst;
}

/* A value at the end of the program.  A view may be rebuilt there: its nodes keep their
 * location. */
static tc_status final_value(tc_pt2_scope *scope, tc_str text, tc_pt2_name **name, tc_val *out)
{
    tc_pt2 *reader = scope->reader;
    tc_loc *loc = tc_new(&reader->ctx->arena, tc_loc);
    *loc = (tc_loc){.file = reader->file, .place = "outputs"};
    *name = text.p ? ti_pt2_name_of(scope, text) : NULL;
    if (!*name)
        return ti_error(reader->ctx, loc, TC_E_ORDER,
                        "the program returns '%.*s', which is not defined", (int)text.n,
                        text.p ? text.p : "");
    if ((*name)->kind == TC_PT2_PAYLOAD)
        TC_TRY(ti_pt2_load(scope, *name, loc));
    if ((*name)->kind == TC_PT2_UNMADE)
        return ti_unsupported(reader->ctx, loc, TC_E_UNSUPPORTED,
                              "the program returns '%.*s', a result of '%s' that is not computed",
                              (int)text.n, text.p, (*name)->full_name);
    if ((*name)->kind == TC_PT2_CELL)
        return ti_pt2_current(scope->g, (*name)->cell, loc, out);
    *out = TC_NONE;
    return TC_OK;
}

static void set_number_text(tc_ctx *ctx, tc_pt2_number v, tc_port *port)
{
    char text[32];
    tc_text_f64(v.f, text);
    port->text = v.kind == TC_PT2_BOOL    ? (v.i ? "True" : "False")
                 : v.kind == TC_PT2_FLOAT ? ti_intern_text(ctx, text)
                                          : ti_text_format(&ctx->arena, "%" PRId64, v.i);
}

static tc_status add_output(tc_pt2_scope *scope, const tc_json *arg)
{
    tc_pt2 *reader = scope->reader;
    tc_module *module = reader->module;
    tc_port *port = &module->signature.out[module->signature.n_out++];
    tc_str tag;
    const tc_json *value = ti_json_only(arg, &tag);
    bool sym = ti_str_is(tag, "as_sym_int") || ti_str_is(tag, "as_sym_float") ||
               ti_str_is(tag, "as_sym_bool");
    if (sym) {
        tc_pt2_number v = ti_pt2_number_of(scope, value, tag);
        if (v.kind == TC_PT2_NOTHING)
            return ti_error(reader->ctx, &(tc_loc){.file = reader->file, .place = "outputs"},
                            TC_E_DYNAMIC, "output %zu is a number that is not known",
                            module->signature.n_out - 1);
        set_number_text(reader->ctx, v, port);
        return TC_OK;
    }
    if (!ti_str_is(tag, "as_tensor")) {
        port->text = value ? value_text(reader->ctx, value, tag) : "None";
        port->text = port->text ? port->text : "None";
        return TC_OK;
    }
    tc_str text = ti_json_text(&reader->work, ti_json_get(value, "name"));
    tc_pt2_name *name;
    TC_TRY(final_value(scope, text, &name, &port->val));
    port->name = ti_intern(reader->ctx, text);
    if (port->val)
        ti_graph_output(scope->g, port->val);
    else if (name->kind >= TC_PT2_INT && name->kind <= TC_PT2_BOOL)
        set_number_text(reader->ctx, name->number, port);
    else
        port->text = "None";
    return TC_OK;
}

/* Decompositions of `b[...] = 2` give a number: it is copied to all elements. */
static tc_status spread(tc_graph *g, const tc_type *to, tc_val *x)
{
    tc_arena *arena = &g->module->ctx->arena;
    const tc_type *t = ti_type_of(g, *x);
    if (t->dtype != to->dtype || t->rank > to->rank || tc_type_count(t) != 1)
        return TC_OK;
    const tc_node *def = ti_def(g, *x);
    tc_attr_shape *shape = tc_new(arena, tc_attr_shape);
    tc_node *node;
    shape->shape = ti_ints_copy(arena, to->dim, to->rank);
    TC_TRY(ti_graph_emit(g, TC_OP_expand, shape, x, 1, 1, def ? def->loc : NULL, &node));
    *x = node->out[0];
    return TC_OK;
}

static tc_status add_mutation(tc_pt2_scope *scope, tc_str full_name, tc_val after)
{
    tc_pt2 *reader = scope->reader;
    tc_graph *g = scope->g;
    tc_loc loc = {.file = reader->file, .place = "outputs"};
    tc_pt2_name *name = ti_map_get(&reader->full_name, full_name);
    if (!name || name->kind == TC_PT2_OBJECT)
        return ti_error(reader->ctx, &loc, TC_E_FORMAT,
                        "the program changes '%.*s', which it does not have", (int)full_name.n,
                        full_name.p ? full_name.p : "");
    if (name->kind == TC_PT2_PAYLOAD)
        TC_TRY(ti_pt2_load(scope, name, &loc));
    tc_pt2_cell *cell = ti_pt2_owner(name->cell);
    tc_val before = cell->stored;
    if (ti_type_of(g, before) != ti_type_of(g, after))
        TC_TRY(spread(g, ti_type_of(g, before), &after));
    if (ti_type_of(g, before) != ti_type_of(g, after))
        return ti_error(reader->ctx, &loc, TC_E_MISMATCH, "'%s' changes its type", name->full_name);
    ti_graph_mutate(g, before, after);
    cell->stored = TC_NONE; /* mutated once */
    return TC_OK;
}

static tc_status bind_output(tc_pt2_scope *scope, const tc_json *spec)
{
    static const char *const mutation[][2] = {{"buffer_mutation", "buffer_name"},
                                              {"parameter_mutation", "parameter_name"}};
    tc_pt2 *reader = scope->reader;
    tc_loc loc = {.file = reader->file, .place = "outputs"};
    tc_str kind;
    const tc_json *body = ti_json_only(spec, &kind);
    for (size_t i = 0; i < TC_COUNT(mutation); i++)
        if (ti_str_is(kind, mutation[i][0])) {
            tc_pt2_name *name;
            tc_val after = TC_NONE;
            tc_str text =
                ti_json_text(&reader->work, ti_json_get(ti_json_get(body, "arg"), "name"));
            TC_TRY(final_value(scope, text, &name, &after));
            if (!after)
                return ti_error(reader->ctx, &loc, TC_E_FORMAT,
                                "a buffer that is given something other than a tensor");
            return add_mutation(
                scope, ti_json_text(&reader->work, ti_json_get(body, mutation[i][1])), after);
        }
    if (ti_str_is(kind, "user_output") || ti_str_is(kind, "loss_output"))
        return add_output(scope, ti_str_is(kind, "loss_output") &&
                                         !ti_json_get(ti_json_get(body, "arg"), "as_tensor")
                                     ? NULL
                                     : ti_json_get(body, "arg"));
    if (ti_str_is(kind, "user_input_mutation")) {
        tc_str name = ti_json_text(&reader->work, ti_json_get(body, "user_input_name"));
        ti_warning(
            reader->ctx, &loc, TC_E_UNSUPPORTED,
            "the model changes its input '%.*s' in place; the caller's copy is not changed",
            (int)name.n, name.p ? name.p : "");
        return TC_OK;
    }
    if (ti_str_is(kind, "token"))
        return TC_OK;
    return ti_unsupported(reader->ctx, &loc, TC_E_UNSUPPORTED, "an output of kind '%.*s'",
                          (int)kind.n, kind.p);
}

/* Whether another used tensor shares the storage. */
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
        tc_pt2_cell *cell = name && name->kind == TC_PT2_CELL ? ti_pt2_owner(name->cell) : NULL;
        if (!cell || !cell->version || !cell->stored)
            continue;
        if (storage_shared(reader, cell))
            return ti_unsupported(
                reader->ctx, &(tc_loc){.file = reader->file}, TC_E_UNSUPPORTED,
                "'%s' is changed in place and shares its storage with another tensor",
                name->full_name);
        TC_TRY(add_mutation(scope, reader->full_name.entry[i].key, cell->val));
    }
    return TC_OK;
}

tc_status ti_pt2_bind_outputs(tc_pt2_scope *scope, const tc_json *graph, const tc_json *signature)
{
    tc_pt2 *reader = scope->reader;
    const tc_json *specs = ti_json_get(signature, "output_specs"),
                  *outputs = ti_json_get(graph, "outputs");
    if (!ti_json_is(specs, TC_JSON_LIST) || !ti_json_is(outputs, TC_JSON_LIST) ||
        specs->n != outputs->n)
        return ti_error(reader->ctx, &(tc_loc){.file = reader->file}, TC_E_FORMAT,
                        "the signature does not list the outputs that the graph has");
    reader->module->signature.out = tc_new_n(&reader->ctx->arena, tc_port, specs->n);
    tc_status worst = TC_OK;
    for (const tc_json *s = ti_json_first(specs); s; s = s->next)
        worst = ti_pt2_worse(worst, bind_output(scope, s));
    worst = ti_pt2_worse(worst, add_in_place_mutations(scope));
    for (tc_val v = 1; v < scope->g->n_val; v++) /* now it is known which of them it changes */
        scope->g->val[v]->state = false;
    for (size_t i = 0; i < scope->g->n_mutation; i++)
        scope->g->val[scope->g->mutation[i].before]->state = true;
    return worst;
}
