/* SPDX-License-Identifier: Apache-2.0 */
/* report_memory.c -- addresses and lifetimes: a program's own values, the memories of an Ethos-U,
 * and elsewhere the values of a region as they would be packed. */
#include "report.h"

#include <stdlib.h>

#include "../base/place.h"
#include "../ir/lives.h"
#include "../target/cpu.h"

static tc_report_memory *add_memory(tc_content *c, const char *name, const char *unit)
{
    tc_grow(&c->ctx->arena, c->memory, c->n_memory, c->cap_memory);
    tc_report_memory *m = &c->memory[c->n_memory++];
    *m = (tc_report_memory){.name = name, .unit = unit};
    return m;
}

static void add_block(tc_content *c, tc_report_memory *m, tc_report_block block)
{
    tc_grow(&c->ctx->arena, m->block, m->n_block, m->cap_block);
    m->block[m->n_block++] = block;
    if (block.offset + block.bytes > m->bytes)
        m->bytes = block.offset + block.bytes;
    if (block.last + 1 > m->steps)
        m->steps = block.last + 1;
}

/* Blocks are named by their value.  Of several with one name it is the input, else the last one
 * made; the others have their operator appended. */
static void tell_apart(tc_content *c, tc_report_memory *m)
{
    tc_map last;
    ti_map_init(&last, &c->ctx->scratch);
    for (size_t i = 0; i < m->n_block; i++) {
        tc_report_block *b = &m->block[i],
                        **slot = (tc_report_block **)ti_map_at(&last, ti_str_of(b->name));
        if (!*slot || ((*slot)->op && (!b->op || (*slot)->first <= b->first)))
            *slot = b;
    }
    for (size_t i = 0; i < m->n_block; i++) {
        tc_report_block *b = &m->block[i];
        if (b->op && ti_map_get(&last, ti_str_of(b->name)) != b)
            b->name = ti_text_format(&c->ctx->arena, "%s: %s", b->name, b->op);
    }
}

/* "tosa_conv2d" is "conv2d" to people. */
static const char *op_name(const tc_node *node)
{
    const char *name = node ? tc_ops[node->op].name : NULL;
    return name && ti_text_starts(name, "tosa_") ? name + strlen("tosa_") : name;
}

static const char *value_name(tc_ctx *ctx, const tc_graph *g, tc_val v)
{
    const tc_value *value = ti_value_of(g, v);
    if (value->name)
        return value->name;
    if (value->def && value->def->loc->node)
        return value->def->loc->node;
    return ti_text_format(&ctx->arena, "%%%u", v);
}

/* Outputs stay after the last step, which a report does not show. */
static tc_life shown(const tc_graph *g, tc_life life)
{
    int32_t end = (int32_t)g->n_node - 1;
    return (tc_life){life.first, life.last > end ? end : life.last};
}

/* A value that aliases another one only extends its lifetime. */
static void program_memory(tc_content *c, const tc_written *w)
{
    const tc_graph *g = w->planned;
    tc_report_memory *m = add_memory(c, "planned memory of the program", "instruction");
    const tc_life *lives = ti_graph_lives(&c->ctx->scratch, g, ti_cpu_root, NULL);
    for (tc_val v = 1; v < g->n_val; v++) {
        const tc_value *value = ti_value_of(g, v);
        if (ti_cpu_root(g, v) != v || !value->type || value->data ||
            (value->def && value->def->op == TC_OP_const))
            continue;
        tc_life life = shown(g, lives[v]);
        add_block(c, m,
                  (tc_report_block){.name = value_name(c->ctx, g, v),
                                    .op = op_name(value->def),
                                    .first = life.first,
                                    .last = life.last,
                                    .offset = (int64_t)w->plan.offset[v],
                                    .bytes = (int64_t)tc_type_bytes(value->type)});
    }
    m->bytes = (int64_t)w->memory;
}

static const char *place_of(tc_ctx *ctx, const tc_compiled *c, size_t region, const char *what)
{
    return c->n_region == 1 ? what
                            : ti_text_format(&ctx->arena, "%s, %s", c->region[region].name, what);
}

static tc_report_memory *memory_called(tc_content *c, size_t from, const char *name)
{
    for (size_t i = from; i < c->n_memory; i++)
        if (ti_text_eq(c->memory[i].name, name))
            return &c->memory[i];
    return add_memory(c, name, "operation");
}

/* When each command of our own stream begins. */
static double *own_clock(const tc_content *c, size_t region)
{
    const tc_codegen_result *own = c->options.compiled->region[region].own;
    double *clock = tc_new_n(&c->ctx->arena, double, own->n_origin + 2), now = 0;
    size_t at = 0;
    for (size_t i = 0; i < c->n_step; i++) {
        if (c->step[i].region != region)
            continue;
        for (; at < own->n_origin && own->origin[at].word <= c->step[i].word; at++)
            clock[at] = now;
        now += c->step[i].cost.cycles;
    }
    for (; at < own->n_origin + 2; at++)
        clock[at] = now;
    return clock;
}

static const tc_node *node_at(const tc_codegen_result *own, size_t command)
{
    return command < own->n_origin ? own->origin[command].node : NULL;
}

/* What is not a value of the program, as weights that are copied in, has its last reader's name. */
static tc_report_block own_block(tc_content *c, const tc_codegen_result *own,
                                 const tc_codegen_place *p)
{
    const tc_node *reader = node_at(own, p->last);
    tc_report_block b = {p->name,          op_name(node_at(own, p->first)), (int64_t)p->first,
                         (int64_t)p->last, p->offset,                       p->bytes};
    if (ti_content_node(c, p->name) < 0 && reader && reader->loc->node) {
        b.name = ti_text_format(&c->ctx->arena, "%s: %s", reader->loc->node, p->name);
        b.op = NULL;
    }
    return b;
}

/* Our own back end knows what it put where. */
static void own_memory(tc_content *c, size_t region)
{
    const tc_compiled *compiled = c->options.compiled;
    const tc_codegen_result *own = compiled->region[region].own;
    size_t from = c->n_memory;
    for (size_t i = 0; i < own->n_place; i++) {
        const tc_codegen_place *p = &own->place[i];
        const char *name =
            place_of(c->ctx, compiled, region,
                     ti_text_format(&c->ctx->arena, "%s of the accelerator", p->memory));
        add_block(c, memory_called(c, from, name), own_block(c, own, p));
    }
    double *clock = own_clock(c, region);
    for (size_t i = from; i < c->n_memory; i++)
        c->memory[i].clock = clock;
}

/* Without addresses: the values of a region, packed as tightly as possible. */
static void region_memory(tc_content *c, size_t region)
{
    enum { ALIGN = 16 };
    const tc_graph *g = ti_main(c->options.compiled->region[region].module);
    const tc_life *lives = ti_graph_lives(&c->ctx->scratch, g, NULL, NULL);
    tc_place_item *item = tc_new_n(&c->ctx->scratch, tc_place_item, g->n_val);
    tc_val *value = tc_new_n(&c->ctx->scratch, tc_val, g->n_val);
    size_t n = 0;
    for (tc_val v = 1; v < g->n_val; v++) {
        const tc_value *at = ti_value_of(g, v);
        if (!at->type || at->data || at->type->dtype == TC_shape ||
            (at->def && at->def->op == TC_OP_const))
            continue;
        value[n] = v;
        item[n++] = (tc_place_item){
            .bytes = (int64_t)(tc_type_bytes(at->type) + ALIGN - 1) / ALIGN * ALIGN,
            .life = shown(g, lives[v])};
    }
    (void)ti_place_items(&c->ctx->scratch, item, n, ALIGN);
    tc_report_memory *m =
        add_memory(c, place_of(c->ctx, c->options.compiled, region, "values of the region, packed"),
                   "operator");
    for (size_t i = 0; i < n; i++)
        add_block(c, m,
                  (tc_report_block){value_name(c->ctx, g, value[i]),
                                    op_name(ti_value_of(g, value[i])->def),
                                    item[i].life.first, item[i].life.last, item[i].address,
                                    item[i].bytes});
}

void ti_content_memory(tc_content *c)
{
    const tc_compiled *compiled = c->options.compiled;
    const tc_written *w = &compiled->written;
    if (w->planned)
        program_memory(c, w);
    for (size_t r = 0; r < compiled->n_region; r++) {
        if (compiled->jobs && compiled->region[r].own && compiled->region[r].own->n_place)
            own_memory(c, r);
        else
            region_memory(c, r);
    }
    for (size_t i = 0; i < c->n_memory; i++)
        tell_apart(c, &c->memory[i]);
}
