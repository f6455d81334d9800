/* SPDX-License-Identifier: Apache-2.0 */
/* split.c -- regions become graphs, and calls replace them. */
#include "split.h"

#include <stdio.h>

#include "../ir/rewrite.h"
#include "color.h"

typedef struct cutting {
    tc_ctx *ctx;
    tc_module *module;
    tc_graph from; /* the original program */
    tc_graph *main;
    const tc_split_request *request;
    tc_color color;
    tc_val *now;          /* by old value: in the program */
    int32_t *region_of;   /* by old value: the level of the region that makes it, or -1 */
    bool *crosses;        /* by old value: made in a region and read outside of it */
    bool *fixed;          /* by old value: it depends on constants alone */
    size_t *from_port;    /* by old value: the program's input that it is, or is made from alone */
    size_t *to_port;      /* by old value: the first output that it is, or that is made from it alone */
} cutting;

/* A value in the program, or in a region. */
static const tc_type *type_in(const cutting *c, const tc_graph *to, const tc_type *type)
{
    return to == c->main ? type : ti_type_carried(c->ctx, type);
}

static void copy_node(const cutting *c, tc_graph *to, const tc_node *node, tc_val *now)
{
    tc_node *copy =
        ti_graph_add(to, node->op, node->attr, node->in, node->n_in, node->n_out, node->loc);
    for (int i = 0; i < node->n_in; i++)
        copy->in[i] = now[node->in[i]];
    for (int i = 0; i < node->n_out; i++) {
        const tc_value *old = c->from.val[node->out[i]];
        tc_value *value = to->val[copy->out[i]];
        value->type = type_in(c, to, old->type);
        value->name = old->name;
        value->data = old->data;
        value->state = old->state;
        now[node->out[i]] = copy->out[i];
    }
}

static void find_fixed(cutting *c)
{
    const tc_graph *g = &c->from;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool all = node->n_in > 0 && c->color.place[k] == TC_PLACE_ACCELERATOR;
        for (int i = 0; i < node->n_in && all; i++)
            all = !node->in[i] || c->fixed[node->in[i]] || ti_is_const(g, node->in[i]);
        for (int i = 0; i < node->n_out; i++)
            c->fixed[node->out[i]] = all;
    }
}

/* Which values leave the region that makes them.  What depends on constants alone every region that reads
 * it makes for itself. */
static void find_crossings(cutting *c)
{
    const tc_graph *g = &c->from;
    for (size_t v = 0; v < g->n_val; v++)
        c->region_of[v] = -1;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out; i++)
            if (c->color.place[k] == TC_PLACE_ACCELERATOR)
                c->region_of[g->node[k]->out[i]] = (int32_t)c->color.level[k];
    for (size_t k = 0; k < g->n_node; k++) {
        int32_t here = c->color.place[k] == TC_PLACE_ACCELERATOR ? (int32_t)c->color.level[k] : -1;
        for (int i = 0; i < g->node[k]->n_in; i++) {
            tc_val v = g->node[k]->in[i];
            c->crosses[v] = c->crosses[v] || (c->region_of[v] >= 0 && c->region_of[v] != here &&
                                              !(here >= 0 && c->fixed[v]));
        }
    }
    for (size_t i = 0; i < g->n_out; i++)
        c->crosses[g->out[i]] = c->region_of[g->out[i]] >= 0;
    for (size_t i = 0; i < g->n_mutation; i++)
        c->crosses[g->mutation[i].after] = c->region_of[g->mutation[i].after] >= 0;
    for (size_t i = 0; i < c->module->signature.n_out; i++) {
        tc_val v = c->module->signature.out[i].val;
        c->crosses[v] = c->crosses[v] || (v && c->region_of[v] >= 0);
    }
}

/* ---- the order of ports ---- */

/* The only operand that is not a constant, or none. */
static tc_val lone_operand(const tc_graph *g, const tc_node *node)
{
    tc_val lone = TC_NONE;
    for (int i = 0; i < node->n_in; i++) {
        if (!node->in[i] || ti_is_const(g, node->in[i]) || node->in[i] == lone)
            continue;
        if (lone)
            return TC_NONE;
        lone = node->in[i];
    }
    return lone;
}

/* The port of the program that a value is, through conversions; the number of ports if none. */
static void find_ports(cutting *c)
{
    const tc_graph *g = &c->from;
    for (size_t v = 0; v < g->n_val; v++) {
        c->from_port[v] = g->n_in;
        c->to_port[v] = g->n_out;
    }
    for (size_t i = g->n_in; i-- > 0;)
        c->from_port[g->in[i]] = i;
    for (size_t i = g->n_out; i-- > 0;)
        c->to_port[g->out[i]] = i;
    for (size_t k = 0; k < g->n_node; k++) {
        tc_val v = lone_operand(g, g->node[k]);
        for (int i = 0; v && i < g->node[k]->n_out; i++)
            c->from_port[g->node[k]->out[i]] = c->from_port[v];
    }
    for (size_t k = g->n_node; k-- > 0;) {
        tc_val v = lone_operand(g, g->node[k]);
        for (int i = 0; v && i < g->node[k]->n_out; i++)
            if (c->to_port[g->node[k]->out[i]] < c->to_port[v])
                c->to_port[v] = c->to_port[g->node[k]->out[i]];
    }
}

/* Old values in the order of the program's ports; others after them. */
static void sort_by_port(tc_val *v, size_t n, const size_t *port)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && port[v[k]] < port[v[k - 1]]; k--) {
            tc_val lower = v[k];
            v[k] = v[k - 1];
            v[k - 1] = lower;
        }
}

/* ---- regions ---- */

typedef struct region {
    tc_graph *graph;
    tc_val *inside;   /* by old value */
    tc_val *operand;  /* old values */
    size_t n_operand, cap_operand;
} region;

static void take_operand(cutting *c, region *r, tc_val v)
{
    if (!v || r->inside[v])
        return;
    if (ti_is_const(&c->from, v)) { /* a buffer that the program changes is none */
        copy_node(c, r->graph, ti_def(&c->from, v), r->inside);
        return;
    }
    if (c->fixed[v]) {
        const tc_node *node = ti_def(&c->from, v);
        for (int i = 0; i < node->n_in; i++)
            take_operand(c, r, node->in[i]);
        copy_node(c, r->graph, node, r->inside);
        return;
    }
    r->inside[v] = ti_graph_input(r->graph, ti_type_carried(c->ctx, ti_type_of(&c->from, v)),
                                  c->from.val[v]->name);
    tc_grow(&c->ctx->arena, r->operand, r->n_operand, r->cap_operand);
    r->operand[r->n_operand++] = v;
}

/* Inputs and outputs of the region, and operands and results of its call, in the program's order. */
static void order_ports(cutting *c, region *r, tc_val *result, size_t n_result)
{
    sort_by_port(r->operand, r->n_operand, c->from_port);
    sort_by_port(result, n_result, c->to_port);
    for (size_t i = 0; i < r->n_operand; i++) {
        r->graph->in[i] = r->inside[r->operand[i]];
        r->graph->val[r->graph->in[i]]->index = (int)i;
        r->operand[i] = c->now[r->operand[i]];
    }
    for (size_t i = 0; i < n_result; i++)
        ti_graph_output(r->graph, r->inside[result[i]]);
}

static void call_region(cutting *c, region *r, const tc_val *result, size_t n_result,
                        const tc_loc *loc)
{
    tc_attr_call *a = tc_new(&c->ctx->arena, tc_attr_call);
    a->graph = r->graph->name;
    a->target = ti_intern_text(c->ctx, c->request->target);
    tc_node *call =
        ti_graph_add(c->main, TC_OP_call, a, r->operand, (int)r->n_operand, (int)n_result, loc);
    for (size_t i = 0; i < n_result; i++) {
        const tc_value *old = c->from.val[result[i]];
        tc_value *value = c->main->val[call->out[i]];
        value->type = old->type;
        value->name = old->name;
        c->now[result[i]] = call->out[i];
    }
}

/* All accelerator nodes of a level, as a graph; nothing when there are none. */
static size_t cut_region(cutting *c, uint32_t level, size_t number)
{
    const tc_graph *g = &c->from;
    region r = {0};
    tc_val *result = NULL;
    size_t n_result = 0, cap = 0, n_node = 0;
    const tc_loc *loc = NULL;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (c->color.place[k] != TC_PLACE_ACCELERATOR || c->color.level[k] != level)
            continue;
        if (!r.graph) {
            char name[32];
            snprintf(name, sizeof name, "%s_%zu",
                     c->request->prefix ? c->request->prefix : "region", number);
            r.graph = ti_graph_new(c->module, ti_intern_text(c->ctx, name));
            r.graph->facts = c->from.facts;
            r.inside = tc_new_n(&c->ctx->arena, tc_val, g->n_val);
            loc = node->loc;
        }
        for (int i = 0; i < node->n_in; i++)
            take_operand(c, &r, node->in[i]);
        copy_node(c, r.graph, node, r.inside);
        n_node++;
        for (int i = 0; i < node->n_out; i++)
            if (c->crosses[node->out[i]]) {
                tc_grow(&c->ctx->arena, result, n_result, cap);
                result[n_result++] = node->out[i];
            }
    }
    if (!r.graph)
        return 0;
    order_ports(c, &r, result, n_result);
    call_region(c, &r, result, n_result, loc);
    return n_node;
}

static void rebuild(cutting *c, uint32_t levels, tc_split_report *report)
{
    const tc_graph *g = &c->from;
    for (size_t i = 0; i < g->n_in; i++)
        c->now[g->in[i]] = ti_graph_input(c->main, ti_type_of(g, g->in[i]), g->val[g->in[i]]->name);
    for (size_t k = 0; k < g->n_node; k++)
        if (c->color.place[k] == TC_PLACE_ANYWHERE)
            copy_node(c, c->main, g->node[k], c->now);
    for (uint32_t level = 0; level < levels; level++) {
        for (size_t k = 0; k < g->n_node; k++)
            if (c->color.place[k] == TC_PLACE_CPU && c->color.level[k] == level)
                copy_node(c, c->main, g->node[k], c->now);
        size_t n = cut_region(c, level, report->n_region);
        if (n) {
            report->region[report->n_region] = c->module->graph[c->module->n_graph - 1]->name;
            report->nodes[report->n_region++] = n;
        }
    }
    ti_graph_hand_over(g, c->main, c->now);
}

static void tell(const cutting *c, tc_split_report *report)
{
    const tc_graph *g = &c->from;
    report->left = tc_new_n(&c->ctx->arena, tc_split_left, g->n_node);
    for (size_t k = 0; k < g->n_node; k++)
        if (c->color.place[k] == TC_PLACE_CPU)
            report->left[report->n_left++] = (tc_split_left){g->node[k], c->color.why[k]};
}

tc_status ti_split(tc_ctx *ctx, tc_module *module, const tc_split_request *request,
                   tc_split_report *report)
{
    cutting c = {.ctx = ctx, .module = module, .from = *ti_main(module), .main = ti_main(module),
                 .request = request};
    *report = (tc_split_report){0};
    TC_TRY(ti_split_color(ctx, &c.from, request, &c.color));
    uint32_t levels = ti_split_levels(ctx, &c.from, &c.color);
    report->region = tc_new_n(&ctx->arena, const char *, levels);
    report->nodes = tc_new_n(&ctx->arena, size_t, levels);
    tell(&c, report);
    c.now = tc_new_n(&ctx->arena, tc_val, c.from.n_val);
    c.region_of = tc_new_n(&ctx->arena, int32_t, c.from.n_val);
    c.crosses = tc_new_n(&ctx->arena, bool, c.from.n_val);
    c.fixed = tc_new_n(&ctx->arena, bool, c.from.n_val);
    c.from_port = tc_new_n(&ctx->arena, size_t, c.from.n_val);
    c.to_port = tc_new_n(&ctx->arena, size_t, c.from.n_val);
    find_fixed(&c);
    find_ports(&c);
    find_crossings(&c);
    tc_graph fresh = ti_graph_empty(module, c.from.name);
    fresh.facts = c.from.facts;
    *c.main = fresh;
    rebuild(&c, levels, report);
    return TC_OK;
}
