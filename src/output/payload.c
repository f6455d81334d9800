/* SPDX-License-Identifier: Apache-2.0 */
/* payload.c -- see payload.h. */
#include "payload.h"

#include "../base/version.h"
#include "../drive/model.h"
#include "../drive/own_backend.h"
#include "../drive/program_file.h"
#include "../drive/region_sample.h"
#include "../proof/stream_check.h"
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

/* The back end has been given the memory limit. */
static tc_status fit(tc_ctx *ctx, const tc_ethosu_options *o, const tc_ethosu_job *job)
{
    int64_t needs = job->scratch + job->fast_scratch;
    if (!o->max_scratch || needs <= o->max_scratch)
        return TC_OK;
    return ti_error(ctx, NULL, TC_E_TOO_LARGE,
                    "the region '%s' needs %" PRId64 " bytes of working memory, --max-scratch allows "
                    "%" PRId64,
                    job->graph->name, needs, o->max_scratch);
}

static tc_status refuse(tc_ctx *ctx, const tc_region *region)
{
    const char *why = ti_own_refusal(ctx, region).why;
    const tc_node *node = why ? region->own->refused_node : NULL;
    return why ? ti_unsupported(ctx, node ? node->loc : &(tc_loc){.file = region->name},
                                TC_E_UNSUPPORTED, "%s", why)
               : TC_OK;
}

/* Checks the regions' streams: small enough, within the machine's rules, and with the results of
 * the TOSA program. */
static tc_status streams(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o,
                         tc_payload *out, tc_ethosu_job *job)
{
    for (size_t i = 0; i < c->n_region; i++)
        TC_TRY(refuse(ctx, &c->region[i]));
    for (size_t i = 0; i < c->n_region; i++) {
        job[i] = (tc_ethosu_job){.graph = ti_main(c->region[i].module),
                                 .times = c->region[i].times,
                                 .tosa = c->region[i].tosa};
        TC_TRY(ti_own_pack(ctx, c, c->region[i].own, &job[i]));
    }
    ti_hand_samples(ctx, c);
    for (size_t i = 0; i < c->n_region; i++) {
        TC_TRY(ti_tell_progress(ctx, "command streams checked", i, c->n_region));
        TC_TRY(fit(ctx, o, &job[i]));
        TC_TRY(ti_stream_check(ctx, c, &c->region[i], &job[i]));
        out[i].bytes = job[i].payload;
        out[i].tosa = c->region[i].tosa;
        add_spec(ctx, &out[i], "tosac", TC_VERSION_TEXT);
    }
    return TC_OK;
}

/* Settings for Ethos-U where there is none. */
static void tell_idle(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o)
{
    const struct {
        const char *option, *value;
    } given[] = {{"--system", ti_system_name_text(ctx, &(tc_system_name){o->ini, o->system_config,
                                                                         o->memory_mode})},
                 {"--optimise", o->optimise}};
    for (size_t i = 0; i < TC_COUNT(given); i++)
        if (given[i].value)
            ti_warning(ctx, NULL, TC_E_NO_EFFECT,
                       "%s %s has no effect: it is for Ethos-U targets, not for '%s'",
                       given[i].option, given[i].value, c->target.text);
}

static tc_status pack(tc_ctx *ctx, const tc_compiled *c, const tc_ethosu_options *o,
                      tc_payload *out, tc_ethosu_job *jobs)
{
    tc_packing packing = c->target.machine->packing;
    if (packing != TC_PACKED_STREAM)
        tell_idle(ctx, c, o);
    for (size_t i = 0; i < c->n_region; i++) {
        tc_payload *p = &out[i];
        *p = ti_program_tosa_payload(ctx, c, &c->region[i]);
        p->backend = c->target.machine->backend;
        if (packing == TC_PACKED_VGF) {
            TC_TRY(ti_emit_vgf(ctx, c->region[i].module, &p->bytes));
            ti_vgf_warn_of_images(ctx, c->region[i].module);
        }
    }
    return packing == TC_PACKED_STREAM ? streams(ctx, c, o, out, jobs) : TC_OK;
}

static bool is_refused(tc_ctx *ctx, const tc_compiled *c)
{
    for (size_t i = 0; i < c->n_region; i++)
        if (ti_own_refusal(ctx, &c->region[i]).why)
            return true;
    return false;
}

tc_status ti_pack_regions(tc_ctx *ctx, tc_compiled *c)
{
    if (c->payload)
        return TC_OK;
    if (c->work.typed && !c->request.strict && is_refused(ctx, c)) {
        TC_TRY(ti_fall_back(ctx, c, SIZE_MAX, NULL));
        c->model = ti_model_of(ctx, c->model->name, c->module);
    }
    tc_payload *payload = tc_new_n(&ctx->arena, tc_payload, c->n_region);
    tc_ethosu_job *jobs = tc_new_n(&ctx->arena, tc_ethosu_job, c->n_region + 1);
    TC_TRY(pack(ctx, c, &c->asked.ethosu, payload, jobs));
    c->payload = payload;
    c->jobs = c->target.machine->packing == TC_PACKED_STREAM ? jobs : NULL;
    return TC_OK;
}
