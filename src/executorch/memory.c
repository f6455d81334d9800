/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c -- lifetimes and addresses of a program's values.
 *
 * Step k is node k; inputs are there before the first, outputs stay to the end, and so do, from run
 * to run, the buffers that the program changes.  A view lies where its root does and keeps it
 * alive. */
#include "cpu.h"

#include "../run/pack.h"

typedef struct planner {
    tc_ctx *ctx;
    const tc_graph *g;
    tc_span *span;
    size_t n_span, cap_span;
    size_t *of;    /* by value: its span + 1, or 0 */
    size_t **more; /* by node: spans of its further results + 1, up to a 0 */
} planner;

static size_t span_new(planner *p, const tc_type *type, size_t first, size_t last)
{
    size_t bytes = (tc_type_bytes(type) + TC_CPU_ALIGN - 1) / TC_CPU_ALIGN * TC_CPU_ALIGN;
    tc_grow(&p->ctx->scratch, p->span, p->n_span, p->cap_span);
    p->span[p->n_span] = (tc_span){.size = bytes, .first = first, .last = last};
    return p->n_span++;
}

static void keep(planner *p, tc_val v, size_t step)
{
    size_t i = v ? p->of[tc_cpu_root(p->g, v)] : 0;
    if (i && p->span[i - 1].last < step)
        p->span[i - 1].last = step;
}

/* Results that the kernel wants a place for, and nobody reads. */
static void further(planner *p, size_t k)
{
    const tc_node *node = p->g->node[k];
    const tc_cpu_kernel *kernel = tc_cpu_kernel_for(p->g, node);
    tc_cpu_site site = tc_cpu_site_of(p->ctx, p->g, node);
    tc_cpu_arg arg;
    size_t n = 0;
    for (const char *args = kernel ? kernel->args : ""; tc_cpu_next(&args, &arg);) {
        const tc_type *type = arg.kind == TC_CPU_MORE ? tc_cpu_more(&site, &arg) : NULL;
        if (!type)
            continue;
        if (!p->more[k])
            p->more[k] =
                tc_new_n(&p->ctx->arena, size_t, strlen(kernel->args)); /* more than enough */
        p->more[k][n++] = 1 + span_new(p, type, k, k);
    }
}

static void find_spans(planner *p)
{
    const tc_graph *g = p->g;
    size_t end = g->n_node;
    for (size_t i = 0; i < g->n_in; i++)
        p->of[g->in[i]] = 1 + span_new(p, tc_type_of(g, g->in[i]), 0, 0);
    for (size_t i = 0; i < g->n_mutation; i++)
        p->of[g->mutation[i].before] =
            1 + span_new(p, tc_type_of(g, g->mutation[i].before), 0, end);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        for (int i = 0; i < node->n_in && !tc_cpu_is_view(node); i++)
            keep(p, node->in[i], k);
        if (node->op == TC_OP_const || tc_cpu_is_view(node))
            continue;
        for (int i = 0; i < node->n_out; i++)
            p->of[node->out[i]] = 1 + span_new(p, tc_type_of(g, node->out[i]), k, k);
        further(p, k);
    }
    for (size_t i = 0; i < g->n_out; i++)
        keep(p, g->out[i], end);
    for (size_t i = 0; i < g->n_mutation; i++)
        keep(p, g->mutation[i].after, end);
}

tc_memory tc_plan_memory(tc_ctx *ctx, const tc_module *module)
{
    tc_mark mark = tc_arena_mark(&ctx->scratch);
    const tc_graph *g = tc_main(module);
    planner p = {.ctx = ctx, .g = g, .of = tc_new_n(&ctx->scratch, size_t, g->n_val)};
    tc_memory m = {.offset = tc_new_n(&ctx->arena, size_t, g->n_val),
                   .more = tc_new_n(&ctx->arena, size_t *, g->n_node)};
    p.more = m.more;
    find_spans(&p);
    m.bytes = tc_pack_best(&ctx->scratch, p.span, p.n_span, TC_CPU_ALIGN);
    for (tc_val v = 1; v < g->n_val; v++) {
        size_t i = p.of[tc_cpu_root(g, v)];
        m.offset[v] = i ? p.span[i - 1].offset : 0;
    }
    for (size_t k = 0; k < g->n_node; k++)
        for (size_t *at = m.more[k]; at && *at; at++)
            *at = p.span[*at - 1].offset;
    tc_arena_rewind(&ctx->scratch, mark);
    return m;
}
