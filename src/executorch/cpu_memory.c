/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_memory.c -- lifetimes and addresses of a program's values.
 *
 * Mutable buffers are kept from run to run.  The new content of a buffer is computed in the buffer
 * itself if the old elements are not read any more.
 *
 * A loop is one step.  Its results are its state; values of its condition and its body are in a
 * block of the loop, which both use in turn. */
#include "cpu_select.h"

#include "../base/place.h"
#include "../ir/lives.h"
#include "../target/cortexm_call.h"

typedef struct planner {
    tc_ctx *ctx;
    const tc_graph *g;
    const tc_life *life; /* by value */
    tc_place_item *item;
    size_t n_item, cap_item;
    size_t *of;    /* by value: its item + 1, or 0 */
    size_t **more; /* by node: items of its further results + 1, up to a 0 */
    tc_memory **inner;
    tc_val *home;  /* by value: the buffer that it is made in, or TC_NONE */
    bool apart;    /* buffers are elsewhere */
    bool within;   /* a graph of a loop: its operands are outside */
} planner;

static tc_memory plan_graph(tc_ctx *ctx, const tc_graph *g, const tc_state_block *state,
                            bool within);

/* ---- in place ---- */

static bool reads(const tc_graph *g, const tc_node *node, int first, tc_val buffer)
{
    for (int i = first; i < node->n_in; i++)
        if (node->in[i] && ti_cpu_root(g, node->in[i]) == buffer)
            return true;
    return false;
}

/* Whether the node can write its result over the buffer: a delegate takes its operands along
 * before it hands anything back; index_put has a form that does. */
static bool writes_over(const tc_graph *g, const tc_node *node, tc_val buffer)
{
    tc_cm_op op;
    tc_core core;
    if (node->op == TC_OP_call)
        return !ti_cm_of(node, &op, &core);
    return node->op == TC_OP_index_put && node->in[0] == buffer && !reads(g, node, 1, buffer);
}

/* Whether the buffer's old elements are read after node k. */
static bool read_behind(const tc_graph *g, size_t k, const tc_mutation *own)
{
    for (size_t i = k + 1; i < g->n_node; i++)
        if (!ti_cpu_is_view(g->node[i]) && reads(g, g->node[i], 0, own->before))
            return true;
    for (size_t i = 0; i < g->n_out; i++)
        if (ti_cpu_root(g, g->out[i]) == own->before)
            return true;
    for (size_t i = 0; i < g->n_mutation; i++)
        if (&g->mutation[i] != own && ti_cpu_root(g, g->mutation[i].after) == own->before)
            return true;
    return false;
}

static void find_homes(planner *p, bool *in_place)
{
    const tc_graph *g = p->g;
    for (size_t i = 0; i < g->n_mutation; i++) {
        const tc_mutation *m = &g->mutation[i];
        const tc_node *def = ti_def(g, m->after);
        size_t k = 0;
        while (k < g->n_node && g->node[k] != def)
            k++;
        if (k == g->n_node || p->home[m->after] || !writes_over(g, def, m->before) ||
            tc_type_bytes(ti_type_of(g, m->after)) != tc_type_bytes(ti_type_of(g, m->before)) ||
            read_behind(g, k, m))
            continue;
        p->home[m->after] = m->before;
        in_place[i] = true;
    }
}

/* ---- items ---- */

static size_t item_new(planner *p, size_t bytes, tc_life life)
{
    bytes = (bytes + TC_CPU_ALIGN - 1) / TC_CPU_ALIGN * TC_CPU_ALIGN;
    tc_grow(&p->ctx->scratch, p->item, p->n_item, p->cap_item);
    p->item[p->n_item] = (tc_place_item){.bytes = (int64_t)bytes, .life = life};
    return ++p->n_item;
}

/* Working space of node k. */
static size_t item_at(planner *p, size_t bytes, size_t k)
{
    return item_new(p, bytes, (tc_life){(int32_t)k, (int32_t)k});
}

static void item_of(planner *p, tc_val v)
{
    p->of[v] = item_new(p, tc_type_bytes(ti_type_of(p->g, v)), p->life[v]);
}

/* Scratch bytes of a kernel for a Cortex-M. */
static void scratch(planner *p, size_t k)
{
    const tc_node *node = p->g->node[k];
    tc_cm_op op;
    tc_core core;
    tc_cm_call call;
    size_t n = 0;
    if (!ti_cm_of(node, &op, &core) ||
        ti_cm_describe(p->ctx, ti_node_callee(p->g->module, node, 0), op, core, TC_CM_EXECUTORCH, &call))
        return;
    p->more[k] = tc_new_n(&p->ctx->arena, size_t, TC_CM_MOST_ARGS);
    for (int i = 0; i < call.n_arg; i++)
        if (call.arg[i].kind == TC_CM_SCRATCH)
            p->more[k][n++] = item_at(p, call.arg[i].bytes, k);
}

/* Unused results that the kernel needs memory for. */
static void further(planner *p, size_t k)
{
    const tc_node *node = p->g->node[k];
    if (node->op == TC_OP_call) {
        scratch(p, k);
        return;
    }
    const tc_cpu_kernel *kernel = ti_cpu_kernel_for(p->g, node);
    tc_cpu_site site = ti_cpu_site_of(p->ctx, p->g, node);
    tc_cpu_arg arg;
    size_t n = 0;
    for (const char *args = kernel ? kernel->args : ""; ti_cpu_next(&args, &arg);) {
        const tc_type *type = arg.kind == TC_CPU_MORE ? ti_cpu_more(&site, &arg) : NULL;
        if (!type)
            continue;
        if (!p->more[k])
            p->more[k] =
                tc_new_n(&p->ctx->arena, size_t, strlen(kernel->args)); /* more than enough */
        p->more[k][n++] = item_at(p, tc_type_bytes(type), k);
    }
}

/* The graphs that a loop runs: in sequence, so the larger size fits both. */
static void plan_loop(planner *p, size_t k)
{
    const tc_node *node = p->g->node[k];
    size_t bytes = 0;
    p->inner[k] = tc_new_n(&p->ctx->arena, tc_memory, 2);
    for (int i = 0; i < 2; i++) {
        p->inner[k][i] =
            plan_graph(p->ctx, ti_node_callee(p->g->module, node, i), NULL, true);
        bytes = p->inner[k][i].bytes > bytes ? p->inner[k][i].bytes : bytes;
    }
    p->more[k] = tc_new_n(&p->ctx->arena, size_t, 2);
    p->more[k][0] = item_at(p, bytes, k);
}

static void find_items(planner *p)
{
    const tc_graph *g = p->g;
    for (size_t i = 0; i < g->n_in && !p->within; i++)
        item_of(p, g->in[i]);
    for (size_t i = 0; i < g->n_mutation && !p->apart; i++)
        item_of(p, g->mutation[i].before);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_const || ti_cpu_is_view(node))
            continue;
        for (int i = 0; i < node->n_out; i++) {
            tc_val home = p->home[node->out[i]];
            if (home)
                p->of[node->out[i]] = p->of[home];
            else
                item_of(p, node->out[i]);
        }
        if (node->op == TC_OP_while_loop)
            plan_loop(p, k);
        else
            further(p, k);
    }
}

/* ---- the state of several methods ---- */

static const tc_state_place *place_of(const tc_state_block *state, const char *name)
{
    for (size_t i = 0; name && i < state->n; i++)
        if (state->place[i].name && ti_text_eq(state->place[i].name, name))
            return &state->place[i];
    return NULL;
}

tc_status ti_plan_state(tc_ctx *ctx, const tc_module *module, tc_state_block *state)
{
    const tc_graph *g = ti_main(module);
    for (size_t i = 0; i < g->n_mutation; i++) {
        tc_value *v = ti_value_of(g, g->mutation[i].before);
        const tc_state_place *there = place_of(state, v->name);
        if (there && there->type != v->type)
            return ti_error(ctx, v->def ? v->def->loc : NULL, TC_E_MISMATCH,
                            "the buffer '%s' is %s here and %s in an earlier method", v->name,
                            ti_type_text(&ctx->arena, v->type),
                            ti_type_text(&ctx->arena, there->type));
        if (there)
            continue;
        if (!v->name) /* the memory plan finds it by its name */
            v->name = ti_intern_text(ctx, ti_text_format(&ctx->arena, "state_%zu", state->n));
        tc_grow(&ctx->arena, state->place, state->n, state->cap);
        state->place[state->n++] = (tc_state_place){v->name, v->type, state->bytes};
        state->bytes += (tc_type_bytes(v->type) + TC_CPU_ALIGN - 1) / TC_CPU_ALIGN * TC_CPU_ALIGN;
    }
    return TC_OK;
}

/* Buffers, and what is computed in them, are in the block of the state. */
static void place_state(planner *p, const tc_state_block *state, tc_memory *m)
{
    const tc_graph *g = p->g;
    for (tc_val v = 1; v < g->n_val; v++) {
        tc_val root = ti_cpu_root(g, v), buffer = p->home[root] ? p->home[root] : root;
        const char *name = ti_cpu_buffer(g, buffer) >= 0 ? g->val[buffer]->name : NULL;
        const tc_state_place *at = place_of(state, name);
        m->in_state[v] = at != NULL;
        if (at)
            m->offset[v] = at->offset;
    }
    m->state_bytes = state->bytes;
}

static tc_memory plan_graph(tc_ctx *ctx, const tc_graph *g, const tc_state_block *state,
                            bool within)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    planner p = {.ctx = ctx,
                 .g = g,
                 .of = tc_new_n(&ctx->scratch, size_t, g->n_val),
                 .home = tc_new_n(&ctx->scratch, tc_val, g->n_val),
                 .life = ti_graph_lives(&ctx->scratch, g, ti_cpu_root, ti_cpu_is_view),
                 .apart = state != NULL,
                 .within = within};
    tc_memory m = {.offset = tc_new_n(&ctx->arena, size_t, g->n_val),
                   .more = tc_new_n(&ctx->arena, size_t *, g->n_node),
                   .inner = tc_new_n(&ctx->arena, tc_memory *, g->n_node),
                   .in_place = tc_new_n(&ctx->arena, bool, g->n_mutation)};
    p.more = m.more;
    p.inner = m.inner;
    find_homes(&p, m.in_place);
    find_items(&p);
    m.bytes = (size_t)ti_place_items(&ctx->scratch, p.item, p.n_item, TC_CPU_ALIGN).bytes;
    for (tc_val v = 1; v < g->n_val; v++) {
        size_t i = p.of[ti_cpu_root(g, v)];
        m.offset[v] = i ? (size_t)p.item[i - 1].address : 0;
    }
    for (size_t k = 0; k < g->n_node; k++)
        for (size_t *at = m.more[k]; at && *at; at++)
            *at = (size_t)p.item[*at - 1].address;
    if (state) {
        m.in_state = tc_new_n(&ctx->arena, bool, g->n_val);
        place_state(&p, state, &m);
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return m;
}

tc_memory ti_plan_memory(tc_ctx *ctx, const tc_module *module, const tc_state_block *state)
{
    return plan_graph(ctx, ti_main(module), state, false);
}
