/* SPDX-License-Identifier: Apache-2.0 */
/* region_sample.c -- see region_sample.h.
 *
 * The program is run once, by the quick kernels, with what its calls read and give as outputs. */
#include "region_sample.h"

#include "../num/quant.h"
#include "../run/exec.h"
#include "check.h"
#include "dataset.h"
#include "model.h"

static tc_status read_first(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c)
{
    static const char *const invented[] = {"random:1"};
    const tc_graph *g = tc_main(c->module);
    tc_samples samples;
    if (r->calib)
        TC_TRY(tc_open_dataset(ctx, r->calib, g, &samples));
    else
        TC_TRY(tc_open_samples(ctx, g, invented, g->n_in ? 1 : 0, &samples));
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in + 1);
    for (size_t i = 0; i < g->n_in; i++)
        in[i] = tc_tensor_new(&ctx->arena, tc_type_of(g, g->in[i]));
    if (samples.n) {
        TC_TRY(samples.read(samples.from, 0, in));
        c->given = in;
    }
    return TC_OK;
}

void tc_take_sample(tc_ctx *ctx, const tc_compile_request *request, tc_compiled *c)
{
    tc_trial trial;
    tc_trial_begin(ctx, &trial);
    if (read_first(ctx, request, c) != TC_OK)
        c->given = NULL;
    tc_trial_end(ctx, &trial);
}

/* ---- what the regions are handed ---- */

static const tc_node *call_of(const tc_graph *g, const char *name)
{
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == TC_OP_call && ((const tc_attr_call *)g->node[k]->attr)->graph == name)
            return g->node[k];
    return NULL;
}

/* Where a value comes out of the program that is run; outputs grow by those that do not yet. */
static size_t place_of(tc_graph *g, size_t *place, tc_val v)
{
    if (!place[v]) {
        tc_graph_output(g, v);
        place[v] = g->n_out;
    }
    return place[v] - 1;
}

static void ask_for(tc_graph *g, size_t *place, const tc_node *call)
{
    for (int i = 0; i < call->n_in; i++)
        place_of(g, place, call->in[i]);
    for (int i = 0; i < call->n_out; i++)
        place_of(g, place, call->out[i]);
}

static tc_tensor kept(tc_arena *arena, const tc_type *type, tc_tensor t)
{
    return (tc_tensor){type, tc_arena_copy(arena, t.data, tc_type_bytes(t.type))};
}

static tc_status run_once(tc_ctx *ctx, const tc_compiled *c, tc_module *m, tc_tensor *out)
{
    tc_graph *g = tc_main(m);
    const tc_tensor *in = tc_check_taken(g, c->given, &ctx->arena);
    tc_state_drop(m);
    if (!ctx->reference_kernels)
        TC_TRY(tc_run_passes(ctx, m, "tidy", NULL));
    return tc_exec_run(tc_exec_new(ctx, m), in, out);
}

static tc_status hand(tc_ctx *ctx, const tc_compiled *c)
{
    tc_module *m = tc_module_clone(c->module);
    tc_graph *g = tc_main(m);
    const tc_graph *old = tc_main(c->module);
    bool whole = c->n_region == 1 && c->region->module == c->module;
    size_t *place = tc_new_n(&ctx->arena, size_t, g->n_val);
    if (!whole) {
        g->n_out = 0;
        for (size_t i = 0; i < c->n_region; i++)
            ask_for(g, place, call_of(g, c->region[i].name));
    }
    tc_tensor *out = tc_new_n(&ctx->arena, tc_tensor, g->n_out + 1);
    TC_TRY(run_once(ctx, c, m, out));
    for (size_t i = 0; i < c->n_region; i++) {
        tc_region *r = &c->region[i];
        const tc_node *call = whole ? NULL : call_of(old, r->name);
        size_t n_in = whole ? old->n_in : (size_t)call->n_in;
        size_t n_out = whole ? old->n_out : (size_t)call->n_out;
        r->sample[0] = tc_new_n(&ctx->arena, tc_tensor, n_in + 1);
        r->want = tc_new_n(&ctx->arena, tc_tensor, n_out + 1);
        for (size_t k = 0; k < n_in; k++) {
            tc_val v = whole ? old->in[k] : call->in[k];
            r->sample[0][k] = whole ? c->given[k]
                                    : kept(&ctx->arena, tc_type_of(old, v), out[place[v] - 1]);
        }
        for (size_t k = 0; k < n_out; k++) {
            tc_val v = whole ? old->out[k] : call->out[k];
            r->want[k] = kept(&ctx->arena, tc_type_of(old, v), out[whole ? k : place[v] - 1]);
        }
        r->n_sample = 1;
    }
    return TC_OK;
}

void tc_hand_samples(tc_ctx *ctx, const tc_compiled *c)
{
    tc_trial trial;
    if (!c->given || !c->n_region || c->region->n_sample)
        return;
    tc_trial_begin(ctx, &trial);
    if (hand(ctx, c) != TC_OK)
        for (size_t i = 0; i < c->n_region; i++)
            c->region[i].n_sample = 0;
    tc_trial_end(ctx, &trial);
}
