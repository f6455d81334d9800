/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_state.c -- what outlives a run: variable tensors, and resources with a name.
 *
 * A variable is a buffer of the program: read, it is the value that was last given to it; what it
 * holds at the end is what the next run begins with. */
#include "../../num/load.h"
#include "tflite_program.h"

static tc_tfl_variable *variable_of(tc_tfl *reader, const char *name)
{
    void **slot = ti_map_at(&reader->variable, ti_str_of(name));
    if (!*slot) {
        tc_tfl_variable *v = *slot = tc_new(&reader->ctx->arena, tc_tfl_variable);
        v->name = ti_intern_text(reader->ctx, name);
    }
    return *slot;
}

/* The buffer that a variable is, before everything that is made of it. */
static bool declare(tc_tfl_node *n, tc_tfl_variable *v, const tc_type *type)
{
    if (n->scope->kept) {
        ti_b_unsupported(&n->m, "state inside a loop or branch that is kept");
        return false;
    }
    if (v->start.data && v->start.type != type) {
        ti_b_bad(&n->m, TC_E_MISMATCH, "variable '%s' is %s, and its initial value is %s", v->name,
                 ti_type_text(&n->m.ctx->arena, type),
                 ti_type_text(&n->m.ctx->arena, v->start.type));
        return false;
    }
    tc_tensor start = v->start;
    if (!start.data) {
        start = ti_tensor_new(&n->m.ctx->arena, type);
        memset(start.data, 0, tc_type_bytes(type));
    }
    v->before = v->now = ti_graph_const(n->m.g, type, start.data, v->name, n->m.loc);
    ti_value_of(n->m.g, v->before)->state = true;
    return true;
}

tc_val ti_tfl_state(tc_tfl_node *n, const char *name, const tc_type *type, int64_t fill)
{
    tc_tfl_variable *v = variable_of(n->scope->reader, name);
    TC_STOP_WITH(&n->m, TC_NONE);
    if (!v->now && fill && !v->start.data) {
        v->start = ti_tensor_new(&n->m.ctx->arena, type);
        for (int64_t i = 0; i < tc_type_count(type); i++)
            ti_store_i64(v->start, i, fill);
    }
    return v->now || declare(n, v, type) ? v->now : TC_NONE;
}

void ti_tfl_state_set(tc_tfl_node *n, const char *name, tc_val value)
{
    tc_tfl *reader = n->scope->reader;
    tc_tfl_variable *v = variable_of(reader, name);
    TC_STOP(&n->m);
    if (reader->once) { /* before the first run */
        tc_tensor t;
        if (ti_b_known(&n->m, value, &t))
            v->start = t;
        else
            ti_b_unsupported(&n->m, "variable '%s' has an initial value that is computed", v->name);
        return;
    }
    const tc_type *type = ti_b_type(&n->m, value);
    if (!v->now && !declare(n, v, type))
        return;
    if (ti_b_type(&n->m, v->before) != type) {
        ti_b_bad(&n->m, TC_E_MISMATCH, "variable '%s' is %s, and is assigned %s", v->name,
                 ti_type_text(&n->m.ctx->arena, ti_b_type(&n->m, v->before)),
                 ti_type_text(&n->m.ctx->arena, type));
        return;
    }
    v->now = value;
}

const char *ti_tfl_variable_name(tc_tfl_scope *scope, int64_t i)
{
    return ti_text_format(&scope->reader->ctx->arena, "%" PRId64 ":%" PRId64, scope->index, i);
}

void ti_tfl_variable_set(tc_tfl_node *n, int i, tc_val value)
{
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
    if (t && t->variable)
        ti_tfl_state_set(n, ti_tfl_variable_name(n->scope, t - n->scope->tensor), value);
}

void ti_tfl_variables_made(tc_tfl_node *n)
{
    for (int i = 0; i < n->n_out && n->m.status == TC_OK; i++) {
        const tc_tfl_tensor *t = ti_tfl_out_tensor(n, i);
        if (t && t->variable && t->made)
            ti_tfl_state_set(n, ti_tfl_variable_name(n->scope, t - n->scope->tensor), t->val);
    }
}

void ti_tfl_states_done(tc_tfl *reader, tc_graph *g)
{
    for (size_t i = 0; i < reader->variable.n; i++) {
        const tc_tfl_variable *v = reader->variable.entry[i].value;
        if (v->before && v->now != v->before)
            ti_graph_mutate(g, v->before, v->now);
        else if (v->before) /* never written */
            ti_value_of(g, v->before)->state = false;
    }
}

/* ---- VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, CALL_ONCE ---- */

/* "container/name" of the handle that is input i. */
static const char *handle_of(tc_tfl_node *n, int i)
{
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
    if (t && t->handle)
        return t->handle;
    ti_b_bad(&n->m, TC_E_STRUCTURE, "input %d is not a handle of a variable", i);
    return NULL;
}

void ti_tfl_build_var_handle(tc_tfl_node *n)
{
    tc_tfl_tensor *t = ti_tfl_out_tensor(n, 0);
    tc_str name = ti_fb_string(n->opt, 1), container = ti_fb_string(n->opt, 0);
    if (!t || t->code != TFL_RESOURCE) {
        ti_b_bad(&n->m, TC_E_STRUCTURE, "a handle that is not a resource");
        return;
    }
    t->handle = ti_text_format(&n->m.ctx->arena, "%s%s%s",
                               container.n ? ti_intern(n->m.ctx, container) : "",
                               container.n ? "/" : "", name.n ? ti_intern(n->m.ctx, name) : "");
}

void ti_tfl_build_read_variable(tc_tfl_node *n)
{
    const char *name = handle_of(n, 0);
    const tc_tfl_tensor *t = ti_tfl_out_tensor(n, 0);
    if (!name || !t)
        return;
    tc_tfl_variable *v = variable_of(n->scope->reader, name);
    const tc_type *type = v->start.data ? v->start.type
                                        : ti_type_make(n->m.ctx, t->dtype, t->rank, t->dim);
    if (!t->dtype || ti_dims_count(type->rank, type->dim) < 0) {
        ti_b_bad(&n->m, TC_E_TOO_LARGE, "variable of the shape %s",
                 ti_dims_text(&n->m.ctx->arena, t->rank, t->dim));
        return;
    }
    tc_val x = ti_tfl_state(n, name, type, 0);
    ti_tfl_bind(n, 0, x);
}

void ti_tfl_build_assign_variable(tc_tfl_node *n)
{
    const char *name = handle_of(n, 0);
    tc_val x = ti_tfl_need(n, 1);
    if (name)
        ti_tfl_state_set(n, name, x);
}

void ti_tfl_build_call_once(tc_tfl_node *n)
{
    tc_tfl *reader = n->scope->reader;
    bool was = reader->once;
    reader->once = true;
    ti_tfl_inline(n, ti_tfl_int(n, 0, 0), NULL, 0, NULL, 0);
    reader->once = was;
}
