/* SPDX-License-Identifier: Apache-2.0 */
/* choose.c -- see choose.h. */
#include "choose.h"

#include "../base/attempt.h"
#include "../ir/rewrite.h"
#include "../lower/layout/offer.h"

enum { NODES_MAX = 400000, KINDS_MAX = 32 }; /* of all copies that one pass is tried on; of them */

tc_status ti_verdicts_for(tc_ctx *ctx, const tc_target *target, const char *ini,
                         const char *system_config, const char *memory_mode, tc_verdicts **out)
{
    tc_pricer *pricer;
    *out = NULL;
    TC_TRY(ti_pricer_for(ctx, target, ini, system_config, memory_mode, &pricer));
    if (!pricer)
        return TC_OK;
    *out = tc_new(&ctx->arena, tc_verdicts);
    (*out)->pricer = pricer;
    return TC_OK;
}

static size_t nodes_of(const tc_module *module)
{
    size_t n = 0;
    for (size_t i = 0; i < module->n_graph; i++)
        n += module->graph[i]->n_node;
    return n;
}

/* The content of the other's graphs. */
static void become(tc_module *module, const tc_module *other)
{
    for (size_t i = 0; i < module->n_graph; i++) {
        *module->graph[i] = *other->graph[i];
        module->graph[i]->module = module;
    }
}

static tc_status run_with(tc_ctx *ctx, tc_module *module, const tc_pass *pass, tc_offer *offer)
{
    *ti_offer_now(ctx) = offer;
    tc_status status = pass->run(ctx, module);
    *ti_offer_now(ctx) = NULL;
    return status;
}

void ti_verdicts_add(tc_ctx *ctx, tc_verdicts *c, const tc_verdict *one)
{
    tc_grow(&ctx->arena, c->choice, c->n, c->cap);
    c->choice[c->n++] = *one;
}

static const char *shape_of(tc_ctx *ctx, const tc_graph *g, const tc_node *node)
{
    return node->n_out ? ti_type_text(&ctx->arena, ti_type_of(g, node->out[0])) : "";
}

/* A pass on a copy whose memory is given back. */
typedef struct form_trial {
    tc_ctx *ctx;
    const tc_module *before;
    const tc_pass *pass;
    const tc_verdicts *c;
    uint64_t key;
    /* out */
    bool acts;
    double cycles;
} form_trial;

/* Whether the pass does anything at all. */
static tc_status try_all(void *what)
{
    form_trial *t = what;
    tc_module *module = ti_module_copy(t->before);
    tc_offer all = {0};
    TC_TRY(run_with(t->ctx, module, t->pass, &all));
    t->acts = all.n > 0;
    for (size_t i = 0; i < module->n_graph; i++)
        t->acts = t->acts || !ti_graph_same(module->graph[i], t->before->graph[i]);
    return TC_OK;
}

/* The pass where one kind stands, and nowhere else. */
static tc_status try_kind(void *what)
{
    form_trial *t = what;
    tc_module *module = ti_module_copy(t->before);
    tc_offer one = {.only = true, .key = t->key};
    TC_TRY(run_with(t->ctx, module, t->pass, &one));
    t->cycles = ti_price_cycles(t->ctx, t->c->pricer, module);
    return TC_OK;
}

/* Each kind by itself, beside none at all. */
static tc_status by_kind(tc_ctx *ctx, tc_module *module, const tc_module *before,
                         const tc_pass *pass, const tc_offer *all, double none, tc_verdicts *c)
{
    uint64_t *refused = tc_new_n(&ctx->arena, uint64_t, all->n);
    size_t n_refused = 0;
    for (size_t i = 0; i < all->n; i++) {
        const tc_offer_kind *kind = &all->kind[i];
        form_trial trial = {.ctx = ctx, .before = before, .pass = pass, .c = c, .key = kind->key};
        TC_TRY(ti_attempt_work(ctx, try_kind, &trial));
        tc_verdict choice = {.pass = pass->name,
                            .region = ti_main(module)->name,
                            .node = kind->node,
                            .shape = shape_of(ctx, ti_main(before), kind->node),
                            .places = kind->places,
                            .without = none,
                            .with = trial.cycles};
        choice.taken = choice.with <= none;
        if (!choice.taken)
            refused[n_refused++] = kind->key;
        ti_verdicts_add(ctx, c, &choice);
    }
    if (!n_refused)
        return TC_OK;
    become(module, before);
    tc_offer some = {.refused = refused, .n_refused = n_refused};
    return run_with(ctx, module, pass, &some);
}

bool ti_choose_can(const tc_module *module)
{
    return nodes_of(module) <= NODES_MAX / 4;
}

tc_status ti_choose(tc_ctx *ctx, tc_module *module, const tc_pass *pass, tc_verdicts *c)
{
    tc_offer all = {0};
    size_t nodes = nodes_of(module);
    form_trial trial = {.ctx = ctx, .before = module, .pass = pass};
    TC_TRY(ti_attempt_work(ctx, try_all, &trial));
    if (!trial.acts)
        return TC_OK;
    tc_module *before = ti_module_copy(module);
    TC_TRY(run_with(ctx, module, pass, &all));
    double none = ti_price_cycles(ctx, c->pricer, before);
    if (all.n > 1 && all.n <= KINDS_MAX && all.n * nodes <= NODES_MAX)
        return by_kind(ctx, module, before, pass, &all, none, c);
    double with = ti_price_cycles(ctx, c->pricer, module);
    if (!all.n && with == none)
        return TC_OK;
    tc_verdict choice = {.pass = pass->name,
                        .region = ti_main(module)->name,
                        .node = all.n == 1 ? all.kind[0].node : NULL,
                        .shape = all.n == 1 ? shape_of(ctx, ti_main(before), all.kind[0].node) : "",
                        .without = none,
                        .with = with,
                        .taken = with <= none};
    for (size_t i = 0; i < all.n; i++)
        choice.places += all.kind[i].places;
    ti_verdicts_add(ctx, c, &choice);
    if (!choice.taken)
        become(module, before);
    return TC_OK;
}

void ti_verdicts_text(const tc_verdicts *c, tc_buf *out)
{
    if (!c) {
        ti_buf_printf(out,
                      "the costs of this machine are not known: every offered form is used\n");
        return;
    }
    ti_buf_printf(out, "alternative forms, cycles of the region on %s without and with them:\n",
                  c->pricer->options.machine->name);
    ti_buf_printf(out, "  %-10s %-25s %7s %12s %12s %10s  %-6s %s\n", "region", "form",
                  "matches", "without", "with", "", "", "where");
    for (size_t i = 0; i < c->n; i++) {
        const tc_verdict *k = &c->choice[i];
        const tc_loc *loc = k->node ? k->node->loc : NULL;
        ti_buf_printf(out, "  %-10s %-25s %7zu %12.0f %12.0f %+10.0f  %-6s %s%s%s\n", k->region,
                      k->pass, k->places, k->without, k->with, k->with - k->without,
                      k->taken ? "used" : "not", k->shape, loc && loc->node ? " " : "",
                      loc && loc->node ? loc->node : "");
    }
    if (!c->n)
        ti_buf_printf(out, "  none\n");
}
