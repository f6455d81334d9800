/* SPDX-License-Identifier: Apache-2.0 */
/* method_state.c -- several models as the methods of one program.
 *
 * What a method stores in a buffer, the others read there: a buffer of the same name has one
 * address and, by construction, one type.  The first method decides on it; for those that follow it
 * is fixed. */
#include "driver.h"

/* The buffer of that name in an earlier method, or NULL. */
static const tc_type *type_before(const tc_compiled *before, const char *name)
{
    for (; before; before = before->asked.beside) {
        const tc_graph *g = ti_main(before->work.typed ? before->work.typed : before->module);
        for (size_t i = 0; i < g->n_mutation; i++) {
            const tc_value *v = ti_value_of(g, g->mutation[i].before);
            if (v->name && ti_text_eq(v->name, name))
                return v->type;
        }
    }
    return NULL;
}

void ti_methods_adopt_state(tc_graph *g, const tc_compiled *before)
{
    for (tc_val v = 1; v < g->n_val; v++) {
        const tc_value *value = ti_value_of(g, v);
        const tc_type *there = value->data && value->name ? type_before(before, value->name) : NULL;
        if (there && ti_same_dims(there, value->type) && !ti_graph_keeps(g, v))
            ti_graph_mutate(g, v, v);
    }
}

static tc_patch as_type(const tc_type *type)
{
    const tc_quant *q = type->quant;
    tc_patch p = {.has = TC_HAS_DTYPE, .to = {.dtype = TC_none}};
    if (!q)
        return p;
    p.has = TC_HAS_DTYPE | TC_HAS_RANGE | TC_HAS_SYMMETRIC | TC_HAS_FIXED;
    p.to = (tc_setting){.dtype = type->dtype,
                        .qmin = q->lo,
                        .qmax = q->hi,
                        .symmetric = q->zero[0] == 0,
                        .observer = TC_OBSERVER_fixed,
                        .scale = q->scale[0],
                        .zero = q->zero[0]};
    return p;
}

void ti_methods_same_state(tc_ctx *ctx, const tc_graph *g, const tc_compiled *before,
                           tc_config *config)
{
    ti_config_own_entries(ctx, config);
    for (size_t i = 0; i < g->n_mutation; i++) {
        const char *name = ti_value_of(g, g->mutation[i].before)->name;
        const tc_type *type = name ? type_before(before, name) : NULL;
        if (type && (!type->quant || type->quant->axis < 0))
            ti_config_add(ctx, config,
                          (tc_config_entry){.level = TC_LEVEL_node,
                                            .name = name,
                                            .act = as_type(type)});
    }
}

static const tc_known_weights *programs_of(tc_ctx *ctx, const tc_compiled *before)
{
    tc_known_weights *known = tc_new(&ctx->arena, tc_known_weights);
    for (const tc_compiled *m = before; m; m = m->asked.beside)
        known->n++;
    known->graph = tc_new_n(&ctx->arena, const tc_graph *, known->n + 1);
    size_t i = known->n; /* the first method decides */
    for (const tc_compiled *m = before; m; m = m->asked.beside)
        known->graph[--i] = ti_main(m->work.typed ? m->work.typed : m->module);
    return known;
}

/* The type of a table of that name and shape: one scale for all of it. */
static const tc_type *table_type(const tc_known_weights *known, const tc_value *table)
{
    for (size_t i = 0; i < known->n && table->name; i++)
        for (tc_val v = 1; v < known->graph[i]->n_val; v++) {
            const tc_value *other = ti_value_of(known->graph[i], v);
            if (other->data && other->name && ti_text_eq(other->name, table->name) &&
                other->type->quant && other->type->quant->axis < 0 &&
                ti_same_dims(other->type, table->type))
                return other->type;
        }
    return NULL;
}

void ti_methods_same_weights(tc_ctx *ctx, const tc_graph *g, const tc_compiled *before,
                             tc_config *config)
{
    const tc_known_weights *known = programs_of(ctx, before);
    config->known = known;
    ti_config_own_entries(ctx, config);
    for (size_t i = 0; i < g->n_node; i++) {
        const tc_node *node = g->node[i];
        if (node->op != TC_OP_embedding)
            continue;
        const tc_type *type = table_type(known, ti_value_of(g, node->in[0]));
        const char *name = ti_value_of(g, node->out[0])->name;
        if (type && name) /* rows have the table's type */
            ti_config_add(ctx, config,
                          (tc_config_entry){
                              .level = TC_LEVEL_node, .name = name, .act = as_type(type)});
    }
}
