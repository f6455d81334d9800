/* SPDX-License-Identifier: Apache-2.0 */
/* payload.c -- see payload.h. */
#include "payload.h"

#include "program_file.h"
#include "region_sample.h"
#include "stream_check.h"

static void add_spec(tc_ctx *ctx, tc_payload *p, const char *key, const char *text)
{
    tc_compile_spec *spec = tc_new_n(&ctx->arena, tc_compile_spec, p->n_spec + 1);
    for (size_t i = 0; i < p->n_spec; i++)
        spec[i] = p->spec[i];
    spec[p->n_spec] = (tc_compile_spec){key, {(const uint8_t *)text, strlen(text)}};
    p->spec = spec;
    p->n_spec++;
}

static int64_t memory_of(const tc_ethosu_job *job)
{
    return job->scratch + job->fast_scratch;
}

/* A region that needs more memory than there may be: other ways that Vela has, the quickest of
 * those that fit.  Its own aim is a wish, so that smaller ones are tried too. */
static tc_status fit(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *vela,
                     tc_ethosu_job *job)
{
    const struct {
        const char *optimise;
        double arena; /* of what there may be; 0: it is not told */
    } way[] = {{"Performance", 1}, {"Performance", 0.875}, {"Performance", 0.75}, {"Size", 0}};
    int64_t least = memory_of(job);
    if (!vela->max_scratch || least <= vela->max_scratch)
        return TC_OK;
    tc_ethosu_job best = *job;
    bool fits = false;
    for (size_t i = 0; i < TC_COUNT(way); i++) {
        tc_ethosu_options o = *vela;
        tc_ethosu_job trial = {.graph = job->graph, .tosa = job->tosa};
        o.optimise = way[i].optimise;
        o.arena = (int64_t)(way[i].arena * (double)vela->max_scratch);
        TC_TRY(ti_emit_ethosu(ctx, &c->target, &o, &trial, 1));
        least = memory_of(&trial) < least ? memory_of(&trial) : least;
        if (memory_of(&trial) > vela->max_scratch || (fits && trial.cycles >= best.cycles))
            continue;
        best = trial;
        fits = true;
    }
    if (!fits) {
        ti_error(ctx, NULL, TC_E_TOO_LARGE,
                 "the region '%s' needs %" PRId64 " bytes of working memory, --max-scratch allows "
                 "%" PRId64,
                 job->graph->name, memory_of(job), vela->max_scratch);
        ti_note(ctx, NULL, "%" PRId64 " bytes is the smallest size found", least);
        return TC_BAD_MODEL;
    }
    *job = best;
    return TC_OK;
}

static tc_status by_vela(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *vela,
                         tc_payload *out, tc_ethosu_job **jobs)
{
    *jobs = tc_new_n(&ctx->arena, tc_ethosu_job, c->n_region);
    for (size_t i = 0; i < c->n_region; i++)
        (*jobs)[i] =
            (tc_ethosu_job){.graph = ti_main(c->region[i].module), .tosa = c->region[i].tosa};
    TC_TRY(ti_emit_ethosu(ctx, &c->target, vela, *jobs, c->n_region));
    if (!c->verify_only)
        ti_hand_samples(ctx, c);
    for (size_t i = 0; i < c->n_region; i++) {
        TC_TRY(fit(ctx, c, vela, &(*jobs)[i]));
        TC_TRY(ti_tell_progress(ctx, "command streams checked", i, c->n_region));
        tc_status status = ti_stream_check(ctx, c, vela, &c->region[i], &(*jobs)[i]);
        (*jobs)[i].refused = status != TC_OK; /* a stream that is not right is none */
        TC_TRY(status);
        out[i].bytes = (*jobs)[i].payload;
        if ((*jobs)[i].version)
            add_spec(ctx, &out[i], "vela", (*jobs)[i].version);
    }
    return TC_OK;
}

/* Settings for Vela where it is not asked. */
static void tell_idle(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *vela)
{
    const struct {
        const char *option, *value;
    } given[] = {{"--vela-ini", vela->ini},
                 {"--system-config", vela->system_config},
                 {"--memory-mode", vela->memory_mode},
                 {"--optimise", vela->optimise}};
    for (size_t i = 0; i < TC_COUNT(given); i++)
        if (given[i].value)
            ti_warning(ctx, NULL, TC_E_NO_EFFECT,
                       "%s %s has no effect: it is for Ethos-U targets, not for '%s'",
                       given[i].option, given[i].value, c->target.text);
}

tc_status ti_payloads(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *vela,
                      tc_payload **out, tc_ethosu_job **jobs)
{
    tc_packing packing = c->target.machine->packing;
    *jobs = NULL;
    *out = tc_new_n(&ctx->arena, tc_payload, c->n_region);
    if (packing != TC_PACKED_STREAM)
        tell_idle(ctx, c, vela);
    for (size_t i = 0; i < c->n_region; i++) {
        tc_payload *p = &(*out)[i];
        *p = ti_program_tosa_payload(ctx, c, &c->region[i]);
        p->backend = c->target.machine->backend;
        if (packing == TC_PACKED_VGF) {
            TC_TRY(ti_emit_vgf(ctx, c->region[i].module, &p->bytes));
        } else if (packing == TC_PACKED_STREAM)
            p->tosa = c->region[i].tosa;
    }
    return packing == TC_PACKED_STREAM ? by_vela(ctx, c, vela, *out, jobs) : TC_OK;
}
