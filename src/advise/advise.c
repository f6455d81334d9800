/* SPDX-License-Identifier: Apache-2.0 */
/* advise.c -- advice on a model: what is proposed, what is tried, what is worth saying. */
#include "advise.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/enter.h"
#include "../base/json_out.h"
#include "../drive/model.h"
#include "../ir/rewrite.h"
#include "../proof/proof.h"
#include "../tidy/tidy.h"

enum { TRIES = 24, OF_A_KIND = 3, NAMED = 2 };

/* The thresholds, besides a hundredth of the cycles. */
static const double AN_OPERATOR = 10, A_CONVERSION = 0.01, A_BYTE_SHARE = 0.25, A_DB = 0.02;
/* What more cycles, more flash or fewer dB take from it: a fifth of what they would add. */
static const double LOSS = 0.2;
/* What must be gained to be worth saying. */
static const double LEAST = 0.01;

static const tc_advice_kind kinds[] = {
#define ADVICE(name, needs, find, change, why) {#name, needs, find, change, why},
#include "advice.def"
};

/* ---- proposals ---- */

/* "conv2d_3 (net.py:12)"; of several "conv2d_3 (net.py:12), conv2d_5 and 3 more". */
static const char *names_of(tc_advisor *a, const size_t *at, size_t n)
{
    tc_buf text;
    ti_buf_init(&text, &a->ctx->arena);
    for (size_t i = 0; i < n && i < NAMED; i++) {
        const tc_loc *loc = a->g->node[at[i]]->loc;
        ti_buf_printf(&text, "%s%s", i ? ", " : "",
                      loc->node ? loc->node : tc_ops[a->g->node[at[i]]->op].name);
        if (!i && loc->place)
            ti_buf_printf(&text, " (%s)", loc->place);
    }
    if (n > NAMED)
        ti_buf_printf(&text, " and %zu more", n - NAMED);
    return ti_buf_cstr(&text);
}

tc_proposal *ti_propose(tc_advisor *a, const tc_advice_kind *kind, const size_t *at, size_t n,
                        const char *format, ...)
{
    char words[512];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    tc_grow(&a->ctx->arena, a->proposal, a->n_proposal, a->cap_proposal);
    tc_proposal *p = &a->proposal[a->n_proposal++];
    *p = (tc_proposal){.kind = kind,
                       .node = n ? a->g->node[at[0]] : NULL,
                       .change = n ? ti_text_format(&a->ctx->arena, "%s: %s",
                                                    names_of(a, at, n), words)
                                   : ti_text_format(&a->ctx->arena, "%s", words),
                       .at = n ? ti_arena_copy(&a->ctx->arena, at, n * sizeof *at) : NULL,
                       .n_at = n};
    for (size_t i = 0; i < n; i++)
        p->at_stake += a->cycles[at[i]];
    return p;
}

/* The kind has what it needs. */
static bool applies(const tc_advisor *a, const tc_advice_kind *kind, bool graph, bool cost)
{
    unsigned has = (graph ? TC_ADVICE_GRAPH | TC_ADVICE_RETRAIN : 0) | TC_ADVICE_LESS |
                   (a->quantized ? TC_ADVICE_QUANT : 0) | (a->data ? TC_ADVICE_DATA : 0) |
                   (a->target.machine->packing == TC_PACKED_STREAM ? TC_ADVICE_STREAM : 0) |
                   (cost ? TC_ADVICE_COST : 0);
    return !(kind->needs & ~has);
}

/* A float model as its author wrote it: nothing in it is quantized, or TOSA. */
static bool is_free(const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (tc_ops[node->op].tosa && node->op != TC_OP_const)
            return false;
        if (node->op == TC_OP_quantize || node->op == TC_OP_dequantize || ti_node_quantized(g, node))
            return false;
    }
    return true;
}

static int costlier(const void *x, const void *y)
{
    const tc_proposal *a = x, *b = y;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->at_stake != b->at_stake)
        return a->at_stake > b->at_stake ? -1 : 1;
    size_t p = a->n_at ? a->at[0] : 0, q = b->n_at ? b->at[0] : 0;
    return p != q ? (p < q ? -1 : 1) : strcmp(a->change, b->change);
}

static void find_proposals(tc_advisor *a, double cycles)
{
    bool graph = is_free(a->g);
    for (size_t i = 0; i < TC_COUNT(kinds); i++) {
        tc_mark mark = ti_arena_mark(&a->ctx->scratch);
        if (applies(a, &kinds[i], graph, cycles > 0))
            kinds[i].find(a, &kinds[i]);
        ti_arena_rewind(&a->ctx->scratch, mark);
    }
    if (a->n_proposal)
        qsort(a->proposal, a->n_proposal, sizeof *a->proposal, costlier);
}

/* ---- the unchanged program ---- */

static bool is_quantized(const tc_compiled *c)
{
    const tc_graph *g = c->work.typed ? ti_main(c->work.typed) : NULL;
    for (size_t v = 1; g && v < g->n_val; v++)
        if (g->val[v] && g->val[v]->type && g->val[v]->type->quant)
            return true;
    return false;
}

static size_t node_named(const tc_graph *g, const char *name)
{
    for (size_t k = 0; name && k < g->n_node; k++)
        if (g->node[k]->loc->node && ti_text_eq(g->node[k]->loc->node, name))
            return k;
    return g->n_node;
}

/* Where the cycles are spent, and what stays on the CPU for lack of an operator. */
static tc_status look_at(tc_advisor *a)
{
    tc_ctx *ctx = a->ctx;
    tc_profile *profile;
    double *cycles = tc_new_n(&ctx->arena, double, a->g->n_node + 1);
    const char **lost = tc_new_n(&ctx->arena, const char *, a->g->n_node + 1);
    tc_packing packing = a->target.machine->packing;
    a->cycles = cycles;
    a->lost = lost;
    for (size_t i = 0; i < a->compiled->split.n_left; i++) {
        const tc_node *node = a->compiled->split.left[i].node;
        if (!ti_advice_converts(node))
            lost[node_named(a->g, node->loc->node)] = a->compiled->split.left[i].why;
    }
    if ((packing != TC_PACKED_STREAM && packing != TC_PACKED_C) || !a->compiled->n_region)
        return TC_OK;
    TC_TRY(ti_profile_made(ctx, a->compiled, &profile));
    for (size_t i = 0; i < profile->n_entry; i++) {
        const tc_loc *loc = profile->entry[i].loc;
        cycles[node_named(a->g, loc ? loc->node : NULL)] += profile->entry[i].cost.cycles;
    }
    return TC_OK;
}

/* Samples for fast trials: the first ones. */
static tc_status keep_samples(tc_advisor *a)
{
    tc_ctx *ctx = a->ctx;
    tc_dataset *data = a->options.quant.samples;
    if (!data || !a->quantized)
        return TC_OK;
    TC_TRY(tc_dataset_bind(ctx, data, a->model, &a->samples, NULL, NULL));
    for (; a->n_kept < TC_COUNT(a->kept) && a->n_kept < a->samples; a->n_kept++) {
        tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, a->g->n_in + 1);
        for (size_t i = 0; i < a->g->n_in; i++)
            in[i] = ti_tensor_new(&ctx->arena, ti_type_of(a->g, a->g->in[i]));
        TC_TRY(tc_dataset_sample(ctx, data, a->n_kept, in, a->g->n_in));
        a->kept[a->n_kept] = in;
    }
    return TC_OK;
}

static tc_status begin(tc_advisor *a, const tc_model *model, const tc_compile_options *compile,
                       tc_advice_figures *now)
{
    tc_ctx *ctx = a->ctx;
    tc_module *module = ti_module_clone(model->module);
    a->options = TC_TAKE(tc_compile_options, compile);
    TC_TRY(ti_tidy_fold_constants(ctx, module));
    a->model = ti_model_of(ctx, model->name, module);
    a->g = ti_main(module);
    a->readers = ti_arena_copy(&ctx->arena, ti_graph_readers(ctx, a->g),
                               a->g->n_val * sizeof *a->readers);
    a->data = a->options.quant.samples && !ti_dataset_invented(a->options.quant.samples);
    a->options.no_execute = !a->data;
    TC_TRY(tc_compile(ctx, a->model, &a->options, &a->compiled));
    a->target = a->compiled->target;
    a->config = a->compiled->quant.config;
    a->quantized = is_quantized(a->compiled) && is_free(a->g);
    if (a->data && a->quantized)
        TC_TRY(tc_compiled_prove(ctx, a->compiled));
    TC_TRY(ti_advice_figures(ctx, a->compiled, now));
    now->sqnr_db = a->data && a->quantized ? now->sqnr_db : NAN;
    TC_TRY(keep_samples(a));
    return look_at(a);
}

/* ---- what is worth saying ---- */

static double share(double before, double then)
{
    return before > 0 ? (before - then) / before : 0;
}

/* How much better `then` is than `before`: 0.01 is a hundredth of the cycles. */
static double gain_of(const tc_advice_figures *before, const tc_advice_figures *then)
{
    double cycles = share(before->cycles, then->cycles);
    double bytes = fmax(share(before->flash, then->flash), share(before->sram, then->sram));
    double cpu = (double)before->on_cpu - (double)then->on_cpu;
    double db = then->sqnr_db - before->sqnr_db;
    double converts = (double)before->converts - (double)then->converts;
    double gain = fmax(fmax(cycles, A_BYTE_SHARE * bytes), A_CONVERSION * converts);
    double loss = LOSS * fmax(0, -cycles) +
                  LOSS * A_BYTE_SHARE * fmax(0, -share(before->flash, then->flash));
    if (isfinite(db)) {
        gain = fmax(gain, A_DB * db);
        loss += LOSS * A_DB * fmax(0, -db);
    }
    return fmax(gain, AN_OPERATOR * cpu) - loss;
}

/* The whole program was compiled; what else is known of the figures. */
static const char *basis_of(const tc_advice_item *item)
{
    bool cycles = item->then.cycles > 0, db = isfinite(item->then.sqnr_db);
    return cycles && db ? "compiled, cycles estimated, dB measured"
           : cycles     ? "compiled, cycles estimated"
           : db         ? "compiled, dB measured"
                        : "compiled";
}

static void fill_item(const tc_proposal *p, tc_advice_item *out)
{
    *out = (tc_advice_item){.size = sizeof *out,
                            .kind = p->kind->name,
                            .change = p->change,
                            .why = p->kind->why,
                            .node = p->node ? p->node->loc->node : NULL,
                            .loc = p->node ? p->node->loc : NULL,
                            .option = p->option,
                            .retrain = p->kind->needs & TC_ADVICE_RETRAIN,
                            .basis = basis_of(out),
                            .before = out->before,
                            .then = out->then};
}

static int better(const void *x, const void *y)
{
    const tc_advice_item *a = x, *b = y;
    double p = gain_of(&a->before, &a->then), q = gain_of(&b->before, &b->then);
    return p != q ? (p > q ? -1 : 1) : strcmp(a->change, b->change);
}

/* Which of its kind a proposal is, the most expensive being 0. */
static size_t rank_of(const tc_advisor *a, size_t i)
{
    size_t n = 0;
    while (i > n && a->proposal[i - n - 1].kind == a->proposal[i].kind)
        n++;
    return n;
}

/* Proposals interleaved: the most expensive of every kind, the second of every kind, and so on. */
static size_t take_turns(const tc_advisor *a, size_t *turn)
{
    size_t n = 0;
    for (size_t round = 0; round < OF_A_KIND; round++)
        for (size_t i = 0; i < a->n_proposal; i++)
            if (rank_of(a, i) == round)
                turn[n++] = i;
    return n;
}

/* One proposal; *made: it could be compiled.  Accuracy is that of the program as it will be, or not
 * known. */
static tc_status try_one(tc_advisor *a, const tc_proposal *p, const tc_advice *advice,
                         const tc_advice_figures *quick, tc_advice_item *out, bool *made)
{
    bool full = p->full || (p->kind->needs & TC_ADVICE_QUANT);
    tc_advice_figures then;
    TC_TRY(ti_advice_try(a, p, !full, &then, made));
    if (!*made)
        return TC_OK;
    out->before = full ? advice->info.now : *quick;
    out->then = then;
    if (!full || !a->data)
        out->before.sqnr_db = out->then.sqnr_db = NAN;
    if (p->kind->needs & TC_ADVICE_LESS) {
        const tc_proof_output *o = &a->compiled->proof.out[0];
        out->before = then;
        out->then = advice->info.now;
        out->then.sqnr_db = ti_proof_measure(o, &o->by[0], &o->by[0].typed);
    }
    fill_item(p, out);
    return TC_OK;
}

static tc_status try_all(tc_advisor *a, size_t tries, tc_advice *advice)
{
    tc_ctx *ctx = a->ctx;
    size_t *turn = tc_new_n(&ctx->arena, size_t, a->n_proposal + 1), n = take_turns(a, turn);
    tc_advice_figures quick = advice->info.now;
    bool made = true;
    if (n && a->quantized)
        TC_TRY(ti_advice_try(a, NULL, true, &quick, &made));
    advice->item = tc_new_n(&ctx->arena, tc_advice_item, n + 1);
    for (size_t i = 0; i < n && made; i++) {
        bool here;
        if (advice->info.tried == tries) {
            advice->info.left = n - i;
            break;
        }
        TC_TRY(ti_tell_progress(ctx, "changes", i, n < tries ? n : tries));
        TC_TRY(try_one(a, &a->proposal[turn[i]], advice, &quick, &advice->item[advice->n_all],
                       &here));
        advice->n_all += here;
        advice->info.tried += here;
    }
    return TC_OK;
}

static tc_status advise(tc_ctx *ctx, const tc_model *model, const tc_compile_options *compile,
                        const tc_advise_options *options, tc_advice **out)
{
    tc_advise_options o = TC_TAKE(tc_advise_options, options);
    tc_advisor *a = tc_new(&ctx->arena, tc_advisor);
    tc_advice *advice = tc_new(&ctx->arena, tc_advice);
    a->ctx = ctx;
    TC_TRY(begin(a, model, compile, &advice->info.now));
    find_proposals(a, advice->info.now.cycles);
    TC_TRY(try_all(a, o.tries ? o.tries : TRIES, advice));
    if (advice->n_all)
        qsort(advice->item, advice->n_all, sizeof *advice->item, better);
    for (size_t i = 0; i < advice->n_all; i++)
        advice->info.n_item +=
            gain_of(&advice->item[i].before, &advice->item[i].then) >= LEAST;
    advice->compiled = a->compiled;
    advice->info.target = a->target.text;
    advice->info.samples = a->data ? a->samples : 0;
    *out = advice;
    return TC_OK;
}

/* ---- doors ---- */

tc_status tc_advise(tc_ctx *ctx, const tc_model *model, const tc_compile_options *compile,
                    const tc_advise_options *options, tc_advice **out)
{
    TC_ENTER(ctx, advise(ctx, model, compile, options, out));
}

tc_compiled *tc_advice_compiled(const tc_advice *advice)
{
    return advice->compiled;
}

void tc_advice_get_info(const tc_advice *advice, tc_advice_info *out)
{
    ti_fill_record(out, &advice->info, sizeof advice->info);
}

bool tc_advice_get_item(const tc_advice *advice, size_t i, tc_advice_item *out)
{
    if (i >= advice->n_all)
        return 0;
    ti_fill_record(out, &advice->item[i], sizeof *out);
    return 1;
}

static tc_status report(tc_ctx *ctx, const tc_advice *advice, tc_form form, const char **out)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    if (form == TC_FORM_JSON) {
        tc_json_out json = {.to = &text};
        ti_advice_json(advice, NULL, &json);
    } else
        ti_advice_text(ctx, advice, &text);
    *out = ti_buf_cstr(&text);
    return TC_OK;
}

tc_status tc_advice_report(tc_ctx *ctx, const tc_advice *advice, tc_form form, const char **out)
{
    TC_ENTER(ctx, report(ctx, advice, form, out));
}
