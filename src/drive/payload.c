/* SPDX-License-Identifier: Apache-2.0 */
/* payload.c -- see payload.h. */
#include "payload.h"

#include "own_backend.h"
#include "program_file.h"
#include "region_sample.h"
#include "stream_check.h"
#include "vgf_output.h"

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
 * those that fit.  Its own aim is a wish, so that smaller ones are tried too.  Our own back end has
 * been told how much there may be. */
static tc_status fit(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o,
                     tc_ethosu_job *job)
{
    const struct {
        const char *optimise;
        double arena; /* of what there may be; 0: it is not told */
    } way[] = {{"Performance", 1}, {"Performance", 0.875}, {"Performance", 0.75}, {"Size", 0}};
    int64_t least = memory_of(job);
    if (!o->max_scratch || least <= o->max_scratch)
        return TC_OK;
    tc_ethosu_job best = *job;
    bool fits = false;
    for (size_t i = 0; i < TC_COUNT(way) && !job->own; i++) {
        tc_ethosu_options other = *o;
        tc_ethosu_job trial = {.graph = job->graph, .tosa = job->tosa};
        other.optimise = way[i].optimise;
        other.arena = (int64_t)(way[i].arena * (double)o->max_scratch);
        TC_TRY(ti_emit_ethosu(ctx, &c->target, &other, &trial, 1));
        least = memory_of(&trial) < least ? memory_of(&trial) : least;
        if (memory_of(&trial) > o->max_scratch || (fits && trial.cycles >= best.cycles))
            continue;
        best = trial;
        fits = true;
    }
    if (!fits) {
        ti_error(ctx, NULL, TC_E_TOO_LARGE,
                 "the region '%s' needs %" PRId64 " bytes of working memory, --max-scratch allows "
                 "%" PRId64,
                 job->graph->name, memory_of(job), o->max_scratch);
        ti_note(ctx, NULL, "%" PRId64 " bytes is the smallest size found", least);
        return TC_BAD_MODEL;
    }
    *job = best;
    return TC_OK;
}

/* ---- who makes which region ---- */

/* Of a program that was split, Vela is not given what its limits are known to refuse. */
static bool is_for_vela(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o,
                        const tc_region *region)
{
    return o->backend == TC_BACKEND_VELA ||
           (o->backend == TC_BACKEND_AUTO && ti_vela_is_here(ctx) &&
            (!c->typed || !ti_machine_refuses(ctx, c->target.machine, ti_main(region->module))));
}

/* Our own back end did not take it, and nobody else is asked. */
static tc_status refuse(tc_ctx *ctx, const tc_region *region, tc_ethosu_job *job)
{
    const tc_node *node = region->own ? region->own->refused_node : NULL;
    const char *why = region->own ? region->own->refused : "it was not asked";
    job->own = job->refused = true;
    job->blamed = node ? node->loc->node : NULL;
    job->why = node ? ti_text_format(&ctx->arena, "our own back end does not take '%s': %s",
                                     tc_ops[node->op].name, why)
                    : ti_text_format(&ctx->arena, "our own back end does not take it: %s", why);
    return ti_unsupported(ctx, node ? node->loc : &(tc_loc){.file = region->name},
                          TC_E_UNSUPPORTED, "%s", job->why);
}

/* Every region that nobody takes, and what each is refused for; a message of the first. */
static tc_status refuse_rest(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o,
                             tc_ethosu_job *job)
{
    tc_status first = TC_OK;
    for (size_t i = 0; i < c->n_region; i++) {
        tc_trial trial;
        if (ti_own_takes(&c->region[i]) || is_for_vela(ctx, c, o, &c->region[i]))
            continue;
        if (first != TC_OK)
            ti_trial_begin(ctx, &trial);
        tc_status status = refuse(ctx, &c->region[i], &job[i]);
        if (first != TC_OK)
            ti_trial_end(ctx, &trial);
        first = first ? first : status;
    }
    return first;
}

/* Those that are not our own, by Vela, in one go. */
static tc_status rest_by_vela(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o,
                              tc_ethosu_job *job)
{
    tc_ethosu_job *rest = tc_new_n(&ctx->arena, tc_ethosu_job, c->n_region + 1);
    size_t n = 0;
    for (size_t i = 0; i < c->n_region; i++)
        if (!ti_own_takes(&c->region[i]))
            rest[n++] = job[i];
    if (!n)
        return TC_OK;
    TC_TRY(refuse_rest(ctx, c, o, job));
    tc_status status = ti_emit_ethosu(ctx, &c->target, o, rest, n);
    n = 0;
    for (size_t i = 0; i < c->n_region; i++)
        if (!ti_own_takes(&c->region[i]))
            job[i] = rest[n++];
    return status;
}

/* What is wrong with our own stream is no reason to go without one, where Vela is there. */
static bool may_ask_vela(tc_ctx *ctx, const tc_ethosu_options *o)
{
    return o->backend == TC_BACKEND_AUTO && ti_vela_is_here(ctx);
}

static tc_ethosu_job job_of(const tc_region *region)
{
    return (tc_ethosu_job){.graph = ti_main(region->module), .tosa = region->tosa};
}

static tc_status give_to_vela(tc_ctx *ctx, const tc_compiled *c, tc_region *region,
                              tc_ethosu_job *job, const char *why)
{
    ti_warning(ctx, &(tc_loc){.file = region->name}, TC_E_STREAM, "Vela makes this region: %s",
               why);
    TC_TRY(ti_region_for_vela(ctx, c, region));
    *job = job_of(region);
    return TC_OK;
}

static tc_status pack_own(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o,
                          tc_region *region, tc_ethosu_job *job)
{
    tc_hold hold = ti_hold_begin(ctx);
    tc_status status = ti_own_pack(ctx, c, region->own, job);
    if (status != TC_BUG || !may_ask_vela(ctx, o)) {
        ti_hold_keep(ctx, hold);
        return status;
    }
    return give_to_vela(ctx, c, region, job, ti_hold_drop(ctx, hold));
}

static tc_status make(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o,
                      tc_ethosu_job *job)
{
    for (size_t i = 0; i < c->n_region; i++) {
        job[i] = job_of(&c->region[i]);
        if (ti_own_takes(&c->region[i]))
            TC_TRY(pack_own(ctx, c, o, &c->region[i], &job[i]));
    }
    return rest_by_vela(ctx, c, o, job);
}

/* Small enough, by the machine's rules, and with the numbers of its TOSA program. */
static tc_status accept(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o,
                        tc_region *region, tc_ethosu_job *job)
{
    TC_TRY(fit(ctx, c, o, job));
    tc_status status = ti_stream_check(ctx, c, o, region, job);
    /* A stream that is not right is none; where only our own was asked for, that is an error. */
    job->refused = status != TC_OK && !(job->own && o->backend == TC_BACKEND_OWN);
    return status;
}

static tc_status accept_or_ask_vela(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o,
                                    tc_region *region, tc_ethosu_job *job)
{
    if (!job->own || !may_ask_vela(ctx, o))
        return accept(ctx, c, o, region, job);
    tc_hold hold = ti_hold_begin(ctx);
    tc_status status = accept(ctx, c, o, region, job);
    if (status == TC_OK || ti_go_on(ctx) != TC_OK) {
        ti_hold_keep(ctx, hold);
        return status;
    }
    TC_TRY(give_to_vela(ctx, c, region, job, ti_hold_drop(ctx, hold)));
    TC_TRY(ti_emit_ethosu(ctx, &c->target, o, job, 1));
    return accept(ctx, c, o, region, job);
}

static tc_status streams(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o,
                         tc_payload *out, tc_ethosu_job **jobs)
{
    *jobs = tc_new_n(&ctx->arena, tc_ethosu_job, c->n_region + 1);
    TC_TRY(make(ctx, c, o, *jobs));
    if (!c->verify_only)
        ti_hand_samples(ctx, c);
    for (size_t i = 0; i < c->n_region; i++) {
        tc_ethosu_job *job = &(*jobs)[i];
        TC_TRY(ti_tell_progress(ctx, "command streams checked", i, c->n_region));
        TC_TRY(accept_or_ask_vela(ctx, c, o, &c->region[i], job));
        out[i].bytes = job->payload;
        out[i].tosa = c->region[i].tosa;
        if (job->version)
            add_spec(ctx, &out[i], job->own ? "tosac" : "vela", job->version);
    }
    return TC_OK;
}

/* Settings for Ethos-U where there is none. */
static void tell_idle(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o)
{
    static const char *const backend[] = {NULL, "own", "vela"};
    const struct {
        const char *option, *value;
    } given[] = {{"--ethosu-backend", backend[o->backend]},
                 {"--vela-ini", o->ini},
                 {"--system-config", o->system_config},
                 {"--memory-mode", o->memory_mode},
                 {"--optimise", o->optimise}};
    for (size_t i = 0; i < TC_COUNT(given); i++)
        if (given[i].value)
            ti_warning(ctx, NULL, TC_E_NO_EFFECT,
                       "%s %s has no effect: it is for Ethos-U targets, not for '%s'",
                       given[i].option, given[i].value, c->target.text);
}

tc_status ti_payloads(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o,
                      tc_payload **out, tc_ethosu_job **jobs)
{
    tc_packing packing = c->target.machine->packing;
    *jobs = NULL;
    *out = tc_new_n(&ctx->arena, tc_payload, c->n_region);
    if (packing != TC_PACKED_STREAM)
        tell_idle(ctx, c, o);
    for (size_t i = 0; i < c->n_region; i++) {
        tc_payload *p = &(*out)[i];
        *p = ti_program_tosa_payload(ctx, c, &c->region[i]);
        p->backend = c->target.machine->backend;
        if (packing == TC_PACKED_VGF) {
            TC_TRY(ti_emit_vgf(ctx, c->region[i].module, &p->bytes));
            ti_vgf_warn_of_images(ctx, c->region[i].module);
        }
    }
    return packing == TC_PACKED_STREAM ? streams(ctx, c, o, *out, jobs) : TC_OK;
}
