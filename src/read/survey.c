/* SPDX-License-Identifier: Apache-2.0 */
/* survey.c -- counting operators and constants of a graph that has been read. */
#include "survey.h"

#include <stdlib.h>

void ti_survey_count(tc_ctx *ctx, tc_survey *s, const char *name)
{
    s->n_node++;
    if (!s->seen.arena)
        ti_map_init(&s->seen, &ctx->arena);
    void **slot = ti_map_at(&s->seen, ti_str_of(name));
    if (*slot) {
        s->op[(uintptr_t)*slot - 1].count++;
        return;
    }
    tc_grow(&ctx->arena, s->op, s->n_op, s->cap_op);
    s->op[s->n_op++] = (tc_survey_op){name, 1};
    *slot = (void *)(uintptr_t)s->n_op;
}

static int by_count(const void *a, const void *b)
{
    const tc_survey_op *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

void ti_survey_sort(tc_survey *s)
{
    if (s->n_op)
        qsort(s->op, s->n_op, sizeof *s->op, by_count);
}

static void add_port(tc_ctx *ctx, const tc_graph *g, tc_val val, const char *name, const char *text,
                     tc_survey_port **list, size_t *n, size_t *cap)
{
    const tc_type *type = ti_type_of(g, val);
    if (!name)
        name =
            val && g->val[val]->name ? g->val[val]->name : ti_text_format(&ctx->arena, "%zu", *n);
    tc_grow(&ctx->arena, *list, *n, *cap);
    (*list)[(*n)++] = (tc_survey_port){name, type   ? ti_type_text(&ctx->arena, type)
                                             : text ? text
                                                    : "-"};
}

static void add_ports(const tc_module *m, tc_survey *s)
{
    const tc_graph *g = ti_main(m);
    for (size_t i = 0; i < m->signature.n_in; i++)
        add_port(m->ctx, g, m->signature.in[i].val, m->signature.in[i].name, m->signature.in[i].text, &s->in,
                 &s->n_in, &s->cap_in);
    for (size_t i = 0; i < g->n_in && !m->signature.n_in; i++)
        add_port(m->ctx, g, g->in[i], NULL, NULL, &s->in, &s->n_in, &s->cap_in);
    for (size_t i = 0; i < m->signature.n_out; i++)
        add_port(m->ctx, g, m->signature.out[i].val, m->signature.out[i].name, m->signature.out[i].text, &s->out,
                 &s->n_out, &s->cap_out);
    for (size_t i = 0; i < g->n_out && !m->signature.n_out; i++)
        add_port(m->ctx, g, g->out[i], NULL, NULL, &s->out, &s->n_out, &s->cap_out);
}

static const char *op_name(tc_ctx *ctx, tc_op op)
{
    const char *name = tc_ops[op].name;
    return ti_text_starts(name, "tosa_") ? ti_text_format(&ctx->arena, "tosa.%s", name + 5) : name;
}

void ti_survey_module(const tc_module *m, tc_survey *s)
{
    add_ports(m, s);
    if (!s->producer)
        s->producer = m->origin.producer;
    s->made_by = m->origin.made_by;
    for (size_t i = 0; i < m->n_graph; i++) {
        const tc_graph *g = m->graph[i];
        for (size_t k = 0; k < g->n_node; k++) {
            const tc_node *node = g->node[k];
            if (node->op != TC_OP_const) {
                ti_survey_count(m->ctx, s, op_name(m->ctx, node->op));
                continue;
            }
            const tc_type *type = ti_type_of(g, node->out[0]);
            s->constants.tensors++;
            s->constants.elements += tc_type_count(type);
            s->constants.bytes += (int64_t)tc_type_bytes(type);
        }
    }
    ti_survey_sort(s);
}
