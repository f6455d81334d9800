/* SPDX-License-Identifier: Apache-2.0 */
/* region_loops.c -- see region_loops.h.
 *
 *     y = call region_0(x)    =>    h = call region_0_0(x)              what is before the loop, if anything
 *                                   y, h = call_times region_0_loop_0(x, h)
 *                                   y = call region_0_1(y)              what is after it, likewise
 *
 * Every call of the driver takes time, so that several steps are run together where one is short:
 * as few as keep the calls' share of the cycles small.  Numbers are those of the unrolled steps. */
#include "region_loops.h"

#include <math.h>

#include "../base/attempt.h"
#include "../ir/verify.h"
#include "../run/eval.h"
#include "../split/loops.h"
#include "own_backend.h"
#include "road.h"
#include "verdicts.h"

/* What a call takes, where the board does not say: registers, an interrupt, the caches. */
static const double CALL = 1000;
/* The share of the cycles that calls may take, and the bytes that a loop has to save. */
static const double MOST_CALLS = 0.1;
enum { FEWEST_BYTES = 4096 };

/* One step of a loop, by itself. */
typedef struct step_price {
    tc_ctx *ctx;
    const tc_compiled *c;
    tc_graph *step;
    tc_module *module; /* that has it */
    uint32_t facts;    /* of a region that has not been lowered */
    double cycles, bytes; /* of its stream; INFINITY: the back end refuses it */
} step_price;

static tc_status price_step(void *what)
{
    step_price *p = what;
    tc_module *m = ti_module_new(p->ctx, p->module->file);
    tc_codegen_result own;
    tc_grow(&p->ctx->arena, m->graph, m->n_graph, m->cap_graph);
    m->graph[m->n_graph++] = p->step;
    p->step->module = m;
    p->step->facts = p->facts;
    tc_job job = {.target = &p->c->target};
    TC_TRY(ti_road_run(p->ctx, m, TC_AT_REGION, TC_AT_TOSA, &job, NULL));
    TC_TRY(ti_own_generate(p->ctx, p->c, ti_main(m), NULL, &own));
    if (own.refused)
        return TC_OK;
    tc_ethosu_job made = {.graph = ti_main(m)};
    TC_TRY(ti_own_pack(p->ctx, p->c, &own, &made));
    p->cycles = made.cycles;
    p->bytes = (double)own.program.driver.size;
    return TC_OK;
}

static bool wants_size(const tc_compiled *c)
{
    const char *how = c->asked.ethosu.optimise;
    return c->asked.ethosu.few_bytes || (how && ti_text_eq(how, "Size"));
}

static double call_of(const tc_compiled *c)
{
    return c->asked.ethosu.call > 0 ? c->asked.ethosu.call : CALL;
}

/* The fewest steps at a time with which calls take few of the cycles; `times` where none does. */
static int64_t steps_together(const tc_compiled *c, int64_t times, double cycles)
{
    for (int64_t n = 1; n < times; n++)
        if (times % n == 0 && (wants_size(c) || call_of(c) <= MOST_CALLS * (double)n * cycles))
            return n;
    return times;
}

static const int64_t *all_ones(tc_ctx *ctx, size_t n)
{
    int64_t *one = tc_new_n(&ctx->arena, int64_t, n + 1);
    for (size_t i = 0; i < n; i++)
        one[i] = 1;
    return one;
}

typedef struct loop_choice {
    int64_t *together; /* by loop */
    double bytes;      /* of streams that it saves */
    double cycles, calls; /* of all steps, and of what calls take beside them */
} loop_choice;

/* How many steps of each loop are run together; *goes: they can be. */
static tc_status choose(tc_ctx *ctx, const tc_compiled *c, const tc_module *ruled,
                        const tc_loops *loops, uint32_t facts, loop_choice *out, bool *goes)
{
    tc_module *m = ti_module_clone(ruled);
    tc_loops again;
    ti_find_loops(ctx, ti_main(m), &again);
    *out = (loop_choice){.together = tc_new_n(&ctx->arena, int64_t, loops->n + 1)};
    *goes = false;
    TC_TRY(ti_put_loops(ctx, m, &again, all_ones(ctx, loops->n), c->target.text));
    for (size_t i = 0; i < loops->n; i++) {
        const char *name = ti_text_format(&ctx->arena, "%s_loop_%zu", ti_main(m)->name, i);
        step_price p = {ctx, c, ti_module_find(m, ti_intern_text(ctx, name)), m, facts,
                        INFINITY, INFINITY};
        if (!p.step) { /* nothing reads it */
            out->together[i] = 1;
            continue;
        }
        TC_TRY(ti_attempt_work(ctx, price_step, &p));
        int64_t times = loops->loop[i].times;
        int64_t n = isfinite(p.cycles) ? steps_together(c, times, p.cycles) : times;
        if (n == times)
            return TC_OK;
        out->together[i] = n;
        out->bytes += (double)(times - n) * p.bytes;
        out->cycles += (double)times * p.cycles;
        out->calls += (double)(times / n) * call_of(c);
    }
    *goes = true;
    return TC_OK;
}

/* About what the constants of a graph take in flash, each once. */
static double constants_of(tc_ctx *ctx, const tc_graph *g)
{
    enum { TABLE = 2048 }; /* bytes of the machine's, however many entries TOSA's has */
    tc_map seen;
    double bytes = 0;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    ti_map_init(&seen, &ctx->scratch);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++) {
            tc_val v = g->node[k]->in[i];
            if (!ti_is_const(g, v) || ti_type_of(g, v)->dtype == TC_shape)
                continue;
            void **slot = ti_map_at(&seen, (tc_str){(const char *)&g->val[v]->data, sizeof(void *)});
            double all = (double)tc_type_bytes(ti_type_of(g, v));
            bool table = g->node[k]->op == TC_OP_tosa_gather || g->node[k]->op == TC_OP_tosa_table;
            bytes += *slot ? 0 : table ? fmin(all, TABLE) : all;
            *slot = &seen;
        }
    ti_arena_rewind(&ctx->scratch, mark);
    return bytes;
}

/* ---- the region as regions ---- */

static bool is_in_region(void *who, const tc_graph *g, const tc_node *node, const char **why)
{
    (void)who, (void)g;
    *why = "the program runs it several times";
    return node->op != TC_OP_call_times;
}

/* Outputs are what regions give, each once. */
static bool can_be_joined(const tc_graph *g)
{
    for (size_t i = 0; i < g->n_out; i++) {
        const tc_node *def = ti_def(g, g->out[i]);
        if (!def || !ti_region_run_by(def))
            return false;
        for (size_t k = 0; k < i; k++)
            if (g->out[k] == g->out[i])
                return false;
    }
    return true;
}

/* The results of the call are made by what replaces it, whose nodes come in its place. */
static void put_in_place(tc_ctx *ctx, tc_module *to, const tc_graph *parts, const char *name)
{
    tc_graph *g = ti_main(to);
    tc_node *call = ti_call_of(g, name);
    size_t at = 0, n_old = g->n_node;
    while (g->node[at] != call)
        at++;
    tc_val *now = tc_new_n(&ctx->arena, tc_val, parts->n_val);
    for (size_t i = 0; i < parts->n_in; i++)
        now[parts->in[i]] = call->in[i];
    for (size_t k = 0; k < parts->n_node; k++) {
        const tc_node *node = parts->node[k];
        tc_node *copy = ti_graph_add(g, node->op, node->attr, node->in, node->n_in, node->n_out, node->loc);
        for (int i = 0; i < node->n_in; i++)
            copy->in[i] = now[node->in[i]];
        for (int i = 0; i < node->n_out; i++) {
            g->val[copy->out[i]]->type = ti_type_of(parts, node->out[i]);
            g->val[copy->out[i]]->data = parts->val[node->out[i]]->data;
            now[node->out[i]] = copy->out[i];
        }
    }
    for (size_t i = 0; i < parts->n_out; i++) {
        tc_value *made = g->val[now[parts->out[i]]], *old = g->val[call->out[i]];
        made->def->out[made->index] = call->out[i];
        old->def = made->def;
        old->index = made->index;
    }
    for (size_t k = n_old; k < g->n_node; k++) /* what reads a result reads the call's */
        for (int i = 0; i < g->node[k]->n_in; i++)
            for (size_t o = 0; o < parts->n_out; o++)
                if (g->node[k]->in[i] == now[parts->out[o]])
                    g->node[k]->in[i] = call->out[o];
    size_t more = g->n_node - n_old;
    tc_node **added = ti_arena_copy(&ctx->arena, g->node + n_old, more * sizeof *added);
    memmove(g->node + at + more, g->node + at + 1, (n_old - at - 1) * sizeof *g->node);
    memcpy(g->node + at, added, more * sizeof *added);
    g->n_node--;
}

static void take_graphs(tc_ctx *ctx, tc_module *to, const tc_module *from, const char *instead)
{
    const uint32_t facts = ti_module_find(to, instead)->facts; /* none of them has been lowered */
    size_t kept = 0;
    for (size_t i = 0; i < to->n_graph; i++)
        if (to->graph[i]->name != instead)
            to->graph[kept++] = to->graph[i];
    to->n_graph = kept;
    for (size_t i = 1; i < from->n_graph; i++) {
        tc_grow(&ctx->arena, to->graph, to->n_graph, to->cap_graph);
        to->graph[to->n_graph++] = from->graph[i];
        from->graph[i]->module = to;
        from->graph[i]->facts = facts;
    }
}

/* The model's nodes that a part is made of, those of parts before it left aside. */
static size_t nodes_of(const tc_graph *g, tc_map *seen)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++) {
        const char *name = g->node[k]->op == TC_OP_const ? NULL : g->node[k]->loc->node;
        void **slot = name ? ti_map_at(seen, ti_str_of(name)) : NULL;
        n += slot && !*slot;
        if (slot)
            *slot = seen;
    }
    return n;
}

/* The list of regions, with the parts in the place of region i. */
static void list_parts(tc_ctx *ctx, tc_split_report *split, size_t i, const tc_module *parts)
{
    const tc_graph *g = ti_main(parts);
    size_t n = 0, most = split->n_region + g->n_node, left = split->nodes[i];
    const char **name = tc_new_n(&ctx->arena, const char *, most);
    size_t *nodes = tc_new_n(&ctx->arena, size_t, most);
    tc_map seen;
    ti_map_init(&seen, &ctx->arena);
    for (size_t k = 0; k < split->n_region; k++) {
        if (k != i) {
            name[n] = split->region[k];
            nodes[n++] = split->nodes[k];
            continue;
        }
        for (size_t p = 0; p < g->n_node; p++) {
            if (!ti_region_run_by(g->node[p]))
                continue;
            name[n] = ti_region_run_by(g->node[p]);
            nodes[n] = nodes_of(ti_module_find(parts, name[n]), &seen);
            left -= nodes[n] < left ? nodes[n] : left;
            n++;
        }
        nodes[i] += left;
    }
    split->region = name;
    split->nodes = nodes;
    split->n_region = n;
}

/* The node's result, if all that it reads is known. */
static tc_status known_result(tc_ctx *ctx, tc_graph *g, const tc_node *node, tc_tensor *at)
{
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, (size_t)node->n_in + 1);
    bool known = tc_ops[node->op].kernel && node->n_in && node->n_out == 1;
    for (int i = 0; known && i < node->n_in; i++) {
        in[i] = at[node->in[i]];
        known = in[i].data != NULL;
    }
    return known ? ti_eval_node(g, node, in, &at[node->out[0]], &ctx->arena) : TC_OK;
}

/* What a loop starts with is computed here where it is known: a core copies it. */
static tc_status fold_starts(tc_ctx *ctx, tc_graph *g)
{
    const size_t n_node = g->n_node;
    tc_tensor *at = tc_new_n(&ctx->arena, tc_tensor, g->n_val);
    for (size_t k = 0; k < n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_const)
            at[node->out[0]] = ti_tensor_of(g, node->out[0]);
        TC_TRY(known_result(ctx, g, node, at));
        for (int i = 0; node->op == TC_OP_call_times && i < node->n_in; i++)
            if (at[node->in[i]].data && !ti_is_const(g, node->in[i]))
                node->in[i] = ti_graph_const(g, ti_type_of(g, node->in[i]), at[node->in[i]].data, NULL, node->loc);
    }
    ti_graph_to_front(g, g->n_node - n_node);
    return TC_OK;
}

/* The region with its loops, in regions of its own; false: it stays as it is. */
static tc_status make_parts(tc_ctx *ctx, const tc_compiled *c, tc_module *m, const tc_loops *loops,
                            const int64_t *together, bool *done)
{
    tc_split_report report;
    tc_split_request request = {.target = c->target.text, .prefix = ti_main(m)->name, .ask = is_in_region};
    TC_TRY(ti_put_loops(ctx, m, loops, together, c->target.text));
    TC_TRY(ti_run_passes(ctx, m, "fold-constants", NULL));
    TC_TRY(fold_starts(ctx, ti_main(m)));
    TC_TRY(ti_run_passes(ctx, m, "remove-dead-code", NULL));
    TC_TRY(ti_split(ctx, m, &request, &report));
    TC_TRY(ti_run_passes(ctx, m, "remove-dead-code", NULL));
    *done = can_be_joined(ti_main(m));
    return TC_OK;
}

static tc_status keep_loop(tc_ctx *ctx, tc_compiled *c, const char *name, const tc_trace *trace,
                           tc_module **parts)
{
    tc_module *m;
    tc_loops loops;
    loop_choice choice;
    bool goes = false;
    *parts = NULL;
    TC_TRY(ti_region_ruled(ctx, c, name, trace, &m));
    TC_TRY(ti_run_passes(ctx, m, "remove-dead-code", NULL));
    ti_find_loops(ctx, ti_main(m), &loops);
    if (!loops.n)
        return TC_OK;
    TC_TRY(choose(ctx, c, m, &loops, ti_module_find(c->module, name)->facts, &choice, &goes));
    if (!goes)
        return TC_OK;
    double twice = -constants_of(ctx, ti_main(m)); /* what several parts have */
    TC_TRY(make_parts(ctx, c, m, &loops, choice.together, &goes));
    for (size_t i = 0; i < m->n_graph; i++)
        twice += constants_of(ctx, m->graph[i]);
    double saved = choice.bytes - twice;
    goes = goes && saved >= FEWEST_BYTES;
    if (c->work.choices)
        ti_verdicts_add(ctx, c->work.choices,
                        &(tc_verdict){.form = "keep-loops", .region = name, .shape = "", .places = loops.n,
                                      .without = choice.cycles, .with = choice.cycles + choice.calls,
                                      .taken = goes});
    *parts = goes ? m : NULL;
    return TC_OK;
}

/* Nodes by operator and types of the results: how many kinds there are. */
static size_t kinds_of(tc_ctx *ctx, const tc_graph *g)
{
    tc_map seen;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    ti_map_init(&seen, &ctx->scratch);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        struct {
            uint64_t op;
            const tc_type *type;
        } kind = {(uint64_t)node->op, node->n_out ? ti_type_of(g, node->out[0]) : NULL};
        *ti_map_at(&seen, (tc_str){(const char *)&kind, sizeof kind}) = &seen;
    }
    size_t n = seen.n;
    ti_arena_rewind(&ctx->scratch, mark);
    return n;
}

/* Recurrent layers, or many nodes of few kinds: steps that the model itself has unrolled. */
static bool may_have_loops(tc_ctx *ctx, const tc_graph *g)
{
    enum { MANY = 64, OF_A_KIND = 4 };
    static const bool recurrent[TC_OP_COUNT] = {
        [TC_OP_lstm] = true,     [TC_OP_lstm_cell] = true,     [TC_OP_gru] = true,
        [TC_OP_gru_cell] = true, [TC_OP_rnn_tanh] = true,      [TC_OP_rnn_tanh_cell] = true,
        [TC_OP_rnn_relu] = true, [TC_OP_rnn_relu_cell] = true,
    };
    for (size_t k = 0; k < g->n_node; k++)
        if (recurrent[g->node[k]->op])
            return true;
    return g->n_node >= MANY && OF_A_KIND * kinds_of(ctx, g) <= g->n_node;
}

tc_status ti_keep_loops(tc_ctx *ctx, tc_compiled *c, const tc_trace *trace)
{
    if (!c->target.core || c->target.machine->packing != TC_PACKED_STREAM || c->request.method)
        return TC_OK;
    static const tc_pass pass = {.name = "keep-loops", .numbers = TC_APPROX};
    bool any = false;
    for (size_t i = c->split.n_region; i-- > 0;) {
        const char *name = c->split.region[i];
        tc_module *parts;
        if (!may_have_loops(ctx, ti_module_find(c->module, name)))
            continue;
        TC_TRY(keep_loop(ctx, c, name, trace, &parts));
        if (!parts)
            continue;
        list_parts(ctx, &c->split, i, parts);
        put_in_place(ctx, c->module, ti_main(parts), name);
        take_graphs(ctx, c->module, parts, name);
        any = true;
    }
    c->module->changed += any;
    if (any)
        TC_TRY(ti_verify(ctx, c->module));
    return any && trace ? trace->after(trace->user, c->module, &pass) : TC_OK;
}
