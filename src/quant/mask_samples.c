/* SPDX-License-Identifier: Apache-2.0 */
/* mask_samples.c -- the pass over the samples whose results mask_values.c uses. */
#include "mask_values.h"
#include "sample_runner.h"

/* State of one thread. */
typedef struct guest {
    tc_reach **reach; /* by value: of suspects */
} guest;

static void see(void *who, tc_val v, tc_tensor seen, const int8_t *order)
{
    (void)order;
    ti_reach_see(((guest *)who)->reach[v], seen.data, tc_type_count(seen.type));
}

static tc_reach **new_reach(tc_ctx *ctx, const bool *wanted, size_t n)
{
    tc_reach **reach = tc_new_n(&ctx->scratch, tc_reach *, n);
    for (size_t v = 0; v < n; v++)
        if (wanted[v]) {
            reach[v] = tc_new(&ctx->scratch, tc_reach);
            ti_reach_init(reach[v]);
        }
    return reach;
}

/* The range of every suspect over the samples. */
static tc_status look(tc_ctx *ctx, tc_graph *g, const tc_quant_request *request, tc_reach ***out)
{
    bool *wanted = ti_mask_suspects(ctx, g);
    for (size_t v = 1; v < g->n_val; v++) {
        const tc_type *t = ti_type_of(g, (tc_val)v);
        wanted[v] = wanted[v] && t && t->dtype == TC_f32 && !ti_is_const(g, (tc_val)v);
    }
    tc_runner *runner;
    TC_TRY(ti_runner_new(ctx, g, wanted, request->samples.n, &runner));
    size_t n = ti_runner_threads(runner);
    guest *who = tc_new_n(&ctx->arena, guest, n);
    void **guests = tc_new_n(&ctx->arena, void *, n);
    for (size_t i = 0; i < n; i++) {
        who[i].reach = new_reach(ctx, wanted, g->n_val);
        guests[i] = &who[i];
    }
    tc_visit visit = {
        .samples = &request->samples, .what = "samples, masks", .guest = guests, .see = see};
    tc_status status = ti_runner_run(runner, &visit);
    ti_runner_end(runner);
    TC_TRY(status);
    for (size_t i = 1; i < n; i++)
        for (size_t v = 0; v < g->n_val; v++)
            if (wanted[v])
                ti_reach_add(who[0].reach[v], who[i].reach[v]);
    *out = who[0].reach;
    return TC_OK;
}

static tc_status find(tc_ctx *ctx, tc_graph *g, const tc_quant_request *request, tc_far **far)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_reach **reach = NULL;
    bool at_hand = request->samples.n && !request->observe_only && !request->n_merge;
    tc_status status = at_hand ? look(ctx, g, request, &reach) : TC_OK;
    if (status == TC_OK)
        *far = ti_mask_values_find(ctx, g, (const tc_reach *const *)reach);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

static void take_step(tc_mask_steps *steps, const tc_far *far)
{
    if (steps->n < TC_MASK_STEPS)
        steps->far[steps->n++] = far;
}

tc_status ti_mask_repeat(tc_module *module, const tc_mask_steps *steps)
{
    size_t n;
    for (size_t i = 0; i < steps->n; i++)
        TC_TRY(steps->far[i] ? ti_mask_select(module, steps->far[i], &n) : ti_mask_split(module));
    return TC_OK;
}

tc_status ti_quant_mask_values(tc_ctx *ctx, tc_module *module, const tc_quant_request *request,
                               const float **never, tc_mask_steps *steps)
{
    tc_graph *g = ti_main(module);
    tc_far *far;
    size_t n = 0, n_node = g->n_node;
    *never = NULL;
    TC_TRY(ti_mask_split(module));
    if (g->n_node != n_node)
        take_step(steps, NULL);
    TC_TRY(find(ctx, g, request, &far));
    TC_TRY(ti_mask_select(module, far, &n));
    if (n) {
        take_step(steps, far);
        TC_TRY(find(ctx, g, request, &far));
    }
    float *marks = tc_new_n(&ctx->arena, float, g->n_val + 1);
    for (size_t v = 1; v < g->n_val; v++) {
        marks[v] = (float)far[v].from;
        *never = far[v].from > 0 ? marks : *never;
    }
    return TC_OK;
}
