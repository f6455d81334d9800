/* SPDX-License-Identifier: Apache-2.0 */
/* start_state.c -- buffers that do not start as TFLM starts its variables.
 *
 * A variable more, `started`, is 0 before the first run and 1 from then on: until it is, a buffer is
 * read as the constant that it starts with. */
#include "../num/load.h"
#include "tflm_forms.h"
#include "tflm_select.h"

/* TFLM starts codes of int8 at their zero point, everything else at zeros. */
static int64_t fill_of(const tc_type *t)
{
    return t->dtype == TC_i8 && t->quant ? t->quant->zero[0] : 0;
}

static bool starts_otherwise(const tc_value *v)
{
    tc_tensor t = {v->type, (void *)(uintptr_t)v->data};
    bool real = v->type->dtype == TC_f32;
    if (!real && v->type->dtype != TC_i8 && v->type->dtype != TC_i16) /* no SELECT_V2 takes it */
        return false;
    for (int64_t i = 0; i < tc_type_count(v->type); i++)
        if (real ? ti_load_f64(t, i) != 0 : ti_load_i64(t, i) != fill_of(v->type))
            return true;
    return false;
}

static tc_val one_number(tc_graph *g, float value, const char *name, const tc_loc *loc)
{
    tc_ctx *ctx = g->module->ctx;
    int64_t one = 1;
    return ti_graph_const(g, ti_type_make(ctx, TC_f32, 1, &one),
                          ti_arena_copy(&ctx->arena, &value, sizeof value), name, loc);
}

/* Whether it has run before. */
static tc_val has_started(tc_graph *g, const tc_loc *loc)
{
    tc_ctx *ctx = g->module->ctx;
    int64_t one = 1;
    tc_val in[2];
    in[0] = one_number(g, 0, ti_intern_text(ctx, "started"), loc);
    in[1] = one_number(g, 0, NULL, loc);
    ti_graph_mutate(g, in[0], one_number(g, 1, NULL, loc));
    tc_node *node = ti_graph_add(g, TC_OP_gt, NULL, in, 2, 1, loc);
    g->val[node->out[0]]->type = ti_type_make(ctx, TC_bool, 1, &one);
    return node->out[0];
}

static void replace(tc_graph *g, tc_val old, tc_val now, const tc_node *but)
{
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in && g->node[k] != but; i++)
            g->node[k]->in[i] = g->node[k]->in[i] == old ? now : g->node[k]->in[i];
    for (size_t i = 0; i < g->n_out; i++)
        g->out[i] = g->out[i] == old ? now : g->out[i];
    for (size_t i = 0; i < g->n_mutation; i++)
        if (g->mutation[i].after == old && g->mutation[i].before != old)
            g->mutation[i].after = now;
}

/* The content of the buffer, or before the first run its initial value. */
static void start(tc_graph *g, tc_val buffer, tc_val started)
{
    tc_ctx *ctx = g->module->ctx;
    tc_value *v = ti_value_of(g, buffer);
    tc_tensor fill = ti_tensor_new(&ctx->arena, v->type);
    for (int64_t i = 0; i < tc_type_count(v->type); i++)
        if (v->type->dtype == TC_f32)
            ti_store_f64(fill, i, 0);
        else
            ti_store_i64(fill, i, fill_of(v->type));
    tc_val in[3] = {started, buffer,
                    ti_graph_const(g, v->type, v->data, NULL, v->def->loc)};
    tc_node *node = ti_graph_add(g, TC_OP_where, NULL, in, 3, 1, v->def->loc);
    g->val[node->out[0]]->type = v->type;
    v->data = fill.data;
    replace(g, buffer, node->out[0], node);
}

/* Constants first, then the nodes from `from` on, then the rest. */
static void put_in_front(tc_graph *g, size_t from)
{
    tc_node **order = tc_new_n(&g->module->ctx->arena, tc_node *, g->cap_node);
    size_t n = 0;
    for (int turn = 0; turn < 3; turn++)
        for (size_t k = 0; k < g->n_node; k++) {
            int own = g->node[k]->op == TC_OP_const ? 0 : k >= from ? 1 : 2;
            if (own == turn)
                order[n++] = g->node[k];
        }
    g->node = order;
}

void ti_tflm_start_state(tc_module *module)
{
    tc_graph *g = ti_main(module);
    size_t from = g->n_node, n = g->n_mutation;
    tc_val started = TC_NONE;
    for (size_t i = 0; i < n; i++) {
        tc_val buffer = g->mutation[i].before;
        if (!starts_otherwise(ti_value_of(g, buffer)))
            continue;
        if (!started)
            started = has_started(g, ti_def(g, buffer)->loc);
        start(g, buffer, started);
    }
    if (started)
        put_in_front(g, from);
}
