/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c -- a model or its settings changed, and the whole program compiled. */
#include "advise.h"

#include <math.h>

#include "../base/attempt.h"
#include "../drive/core_cost.h"
#include "../drive/model.h"
#include "../ir/verify.h"
#include "../proof/proof.h"

/* ---- a program in figures ---- */

static double constant_bytes(const tc_compiled *c)
{
    double bytes = 0;
    for (size_t i = 0; i < c->n_region; i++) {
        const tc_graph *g = ti_main(c->region[i].module);
        for (size_t k = 0; k < g->n_node; k++)
            if (g->node[k]->op == TC_OP_const) {
                const tc_type *t = ti_type_of(g, g->node[k]->out[0]);
                bytes += (double)tc_type_count(t) * (double)tc_dtypes[t->dtype].bits / 8;
            }
    }
    return bytes;
}

/* Of a stream's three parts, constants, working memory and its cache, those in SRAM. */
static tc_status stream_figures(tc_ctx *ctx, const tc_compiled *c, tc_advice_figures *out)
{
    const tc_ethosu_options *o = &c->asked.ethosu;
    tc_npu_system s;
    double constants = 0, work = 0, cache = 0;
    TC_TRY(ti_npu_system_find(ctx, c->target.npu, o->ini, o->system_config, o->memory_mode, &s));
    for (size_t i = 0; c->jobs && i < c->n_region; i++) {
        const tc_ethosu_job *job = &c->jobs[i];
        out->cycles += job->cycles;
        out->cycles_low += job->cycles_low;
        out->cycles_high += job->cycles_high;
        out->flash += (double)job->payload.size;
        constants += (double)job->weights;
        work = fmax(work, (double)job->scratch);
        cache = fmax(cache, (double)job->fast_scratch);
    }
    const double part[] = {constants, work, cache};
    for (size_t i = 0; i < TC_COUNT(part); i++) {
        const char *name = s.memory[s.of_region[i]].name;
        out->sram += name && ti_text_eq(name, "Sram") ? part[i] : 0;
    }
    return TC_OK;
}

/* Of a typed program on the samples that the unchanged program was run on. */
static double typed_db(tc_advisor *a, const tc_compiled *c)
{
    tc_proof p;
    if (!c->work.typed || ti_prove_typed(a->ctx, a->compiled, c->work.typed, &c->quant.gains, 0, &p) != TC_OK || !p.n_out ||
        !p.out[0].compared)
        return NAN;
    return ti_proof_measure(&p.out[0], &p.out[0].by[0], &p.out[0].by[0].typed);
}

bool ti_advice_converts(const tc_node *node)
{
    return node->op == TC_OP_rescale || node->op == TC_OP_quantize || node->op == TC_OP_dequantize;
}

tc_status ti_advice_figures(tc_ctx *ctx, tc_compiled *c, tc_advice_figures *out)
{
    *out = (tc_advice_figures){.regions = c->n_region,
                               .sqnr_db = c->quant.gains.db > 0 ? c->quant.gains.db : NAN};
    for (size_t i = 0; i < c->split.n_left; i++)
        *(ti_advice_converts(c->split.left[i].node) ? &out->converts : &out->on_cpu) += 1;
    tc_core_cost cost;
    switch (c->target.machine->packing) {
    case TC_PACKED_STREAM:
        return stream_figures(ctx, c, out);
    case TC_PACKED_C:
        TC_TRY(ti_core_cost(ctx, c, &cost));
        out->cycles = cost.cycles;
        out->cycles_low = cost.cycles_low;
        out->cycles_high = cost.cycles_high;
        out->flash = (double)(cost.constants + cost.code);
        out->sram = (double)(cost.arena + cost.ports + cost.state);
        return TC_OK;
    default:
        out->flash = constant_bytes(c);
        return TC_OK;
    }
}

/* ---- samples ---- */

/* Element i of a tensor of type `to`, in one of type `from`: the nearest before it. */
static int64_t place_in(const tc_type *from, const tc_type *to, int64_t i)
{
    int64_t at = 0, step = 1;
    for (int32_t axis = to->rank; axis-- > 0;) {
        at += i % to->dim[axis] * from->dim[axis] / to->dim[axis] * step;
        i /= to->dim[axis];
        step *= from->dim[axis];
    }
    return at;
}

/* Samples that were kept, stretched where the change gives an input another extent. */
static tc_status read_kept(void *user, size_t k, const tc_tensor *in, size_t n)
{
    const tc_advisor *a = user;
    for (size_t i = 0; i < n; i++) {
        const tc_tensor *from = &a->kept[k][i];
        int64_t count = tc_type_count(in[i].type);
        size_t size = tc_type_bytes(in[i].type) / (size_t)(count > 0 ? count : 1);
        if (in[i].type == from->type)
            memcpy(in[i].data, from->data, tc_type_bytes(in[i].type));
        else
            for (int64_t e = 0; e < count; e++)
                memcpy((char *)in[i].data + (size_t)e * size,
                       (const char *)from->data + (size_t)place_in(from->type, in[i].type, e) * size,
                       size);
    }
    return TC_OK;
}

/* ---- a trial ---- */

static void be_quick(tc_config *config)
{
    config->correct_bias = config->round_weights = config->drop_odd = false;
    config->quiet = true;
}

static tc_status compile(tc_advisor *a, const tc_proposal *p, bool quick, tc_advice_figures *out)
{
    tc_ctx *ctx = a->ctx;
    tc_compiled *c;
    tc_altered to = {ti_module_clone(a->model->module), a->options, a->config};
    to.options.no_execute = true;
    if (p)
        TC_TRY(p->kind->change(a, p, &to));
    if (p && (p->kind->needs & TC_ADVICE_GRAPH)) {
        TC_TRY(ti_refit(ctx, to.module, a->g));
        TC_TRY(ti_verify(ctx, to.module));
    }
    if (quick && a->quantized && a->n_kept) {
        be_quick(&to.config);
        TC_TRY(tc_dataset_new(ctx, a->n_kept, read_kept, a, &to.options.quant.samples));
    }
    if (a->quantized) {
        to.options.quant.config = NULL;
        to.options.quant.settings = &to.config;
    }
    TC_TRY(tc_compile(ctx, ti_model_of(ctx, a->model->name, to.module), &to.options, &c));
    TC_TRY(ti_advice_figures(ctx, c, out));
    if (p && (p->kind->needs & TC_ADVICE_LESS))
        out->sqnr_db = typed_db(a, c);
    return TC_OK;
}

tc_status ti_advice_try(tc_advisor *a, const tc_proposal *p, bool quick, tc_advice_figures *out,
                        bool *made)
{
    tc_attempt attempt;
    ti_attempt_begin(a->ctx, &attempt);
    tc_status status = compile(a, p, quick, out);
    if (status == TC_NO_MEMORY)
        return status;
    ti_attempt_end(a->ctx, &attempt);
    *made = status == TC_OK;
    return status == TC_CANCELLED ? status : TC_OK;
}

bool ti_refits(tc_advisor *a, const tc_proposal *p, size_t keeps)
{
    tc_attempt attempt;
    ti_attempt_begin(a->ctx, &attempt);
    tc_altered to = {ti_module_clone(a->model->module), a->options, a->config};
    bool fits = p->kind->change(a, p, &to) == TC_OK && ti_refit(a->ctx, to.module, a->g) == TC_OK;
    tc_val v = keeps < a->g->n_node ? a->g->node[keeps]->out[0] : TC_NONE;
    fits = fits && ti_type_of(ti_main(to.module), v) == ti_type_of(a->g, v);
    ti_attempt_end(a->ctx, &attempt);
    return fits;
}
