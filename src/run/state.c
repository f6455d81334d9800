/* SPDX-License-Identifier: Apache-2.0 */
/* state.c -- TOSA's variables: VARIABLE, VARIABLE_READ, VARIABLE_WRITE.
 *
 * A variable is created by the first declaration that a run executes.  It has two values: of
 * earlier runs, and of the present one. */
#include "eval.h"

typedef struct tc_variable {
    const char *name; /* interned */
    const tc_type *type;
    const void *initial; /* NULL: zeros */
    void *kept, *now;
    bool written; /* by the present run: its value is `now` */
} tc_variable;

typedef struct tc_state {
    tc_variable *variable;
    size_t n, cap;
} tc_state;

static tc_state *state_of(tc_module *module)
{
    if (!module->state)
        module->state = tc_new(&module->ctx->arena, tc_state);
    return module->state;
}

static tc_variable *find(const tc_state *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->variable[i].name == name)
            return &s->variable[i];
    return NULL;
}

static void set_initial(tc_variable *v)
{
    size_t size = tc_type_bytes(v->type);
    if (v->initial)
        memcpy(v->kept, v->initial, size);
    else
        memset(v->kept, 0, size);
    v->written = false;
}

static void declare(tc_arena *arena, tc_state *s, const char *name, const tc_type *type,
                    const void *initial)
{
    if (find(s, name))
        return;
    size_t size = tc_type_bytes(type);
    tc_grow(arena, s->variable, s->n, s->cap);
    tc_variable *v = &s->variable[s->n++];
    *v = (tc_variable){name, type, initial, ti_arena_raw(arena, size), ti_arena_raw(arena, size),
                       false};
    set_initial(v);
}

tc_status ti_eval_variable(tc_graph *g, const tc_node *node, const tc_tensor *in, tc_tensor *out,
                           tc_arena *arena)
{
    tc_ctx *ctx = g->module->ctx;
    tc_state *s = state_of(g->module);
    const char *name = ((const tc_attr_tosa_variable *)node->attr)->name;
    const tc_type *type = node->n_out ? ti_type_of(g, node->out[0]) : in[0].type;
    if (node->op == TC_OP_tosa_variable)
        declare(&ctx->arena, s, name, type, node->n_in ? ti_tensor_of(g, node->in[0]).data : NULL);

    tc_variable *v = find(s, name);
    if (!v || v->type->dtype != type->dtype || !ti_same_dims(v->type, type))
        return ti_error(ctx, node->loc, TC_E_STRUCTURE,
                        v ? "the variable '%s' has another type" : "there is no variable '%s'",
                        name);
    size_t size = tc_type_bytes(type);
    if (node->op == TC_OP_tosa_variable_write) {
        memcpy(v->now, in[0].data, size);
        v->written = true;
    } else {
        out[0] = ti_tensor_new(arena, type);
        memcpy(out[0].data, v->written ? v->now : v->kept, size);
    }
    return TC_OK;
}

void ti_state_keep(tc_module *module)
{
    for (size_t i = 0; module->state && i < module->state->n; i++) {
        tc_variable *v = &module->state->variable[i];
        if (v->written)
            memcpy(v->kept, v->now, tc_type_bytes(v->type));
    }
    ti_state_drop(module);
}

void ti_state_drop(tc_module *module)
{
    for (size_t i = 0; module->state && i < module->state->n; i++)
        module->state->variable[i].written = false;
}

void ti_state_reset(tc_module *module)
{
    for (size_t i = 0; module->state && i < module->state->n; i++)
        set_initial(&module->state->variable[i]);
}
