/* SPDX-License-Identifier: Apache-2.0 */
/* front.c -- from the model as it was read to the typed program in one piece: the road from READ to
 * WHOLE, and the messages on the way. */
#include "data_fit.h"
#include "driver.h"
#include "road.h"
#include "typed_cost.h"

static bool has(const tc_target *t, tc_feature feature)
{
    return t->tosa >> feature & 1u;
}

static tc_status no_data(tc_ctx *ctx, const tc_compile_request *r)
{
    tc_status status = ti_usage(
        ctx,
        "%s is a float model and the target '%s' computes with integers: calibration data is "
        "missing",
        r->model, r->target);
    ti_note(
        ctx, NULL,
        "add --calib DATA; --calib=random:1 uses random data; -q none keeps the model in float");
    return status;
}

/* Whether nothing of a quantized program would run on the accelerator. */
static bool is_float_only(const tc_compiled *c)
{
    return c->target.machine->packing != TC_PACKED_NOT && has(&c->target, TC_FEATURE_FP) &&
           !has(&c->target, TC_FEATURE_INT);
}

/* Settings that quantize. */
static bool asks_for_integers(const tc_compile_request *r)
{
    return r->settings || (r->config && !ti_text_eq(r->config, "none"));
}

/* Block-scaled operands: the target must have them. */
static tc_status check_blocks(tc_ctx *ctx, const tc_compile_request *r, const tc_compiled *c)
{
    if (!ti_config_has_blocks(&c->quant.config) || has(&c->target, TC_FEATURE_MX))
        return TC_OK;
    tc_status status = ti_usage(ctx, "%s%s: the target '%s' has no block-scaled types",
                                r->config ? "-q " : "settings", r->config ? r->config : "",
                                r->target);
    ti_note(ctx, NULL, "TOSA-1.1+FP+mxfp has them");
    return status;
}

/* A target that computes in float: settings that quantize are a mistake, data changes nothing. */
static tc_status check_float_only(tc_ctx *ctx, const tc_compile_request *r, const tc_compiled *c)
{
    if (!is_float_only(c) || r->data.only_if_needed || r->sizes.as)
        return TC_OK;
    if (asks_for_integers(r) && !ti_config_has_blocks(&c->quant.config)) {
        tc_status status = ti_usage(ctx, "%s%s: the target '%s' computes in float",
                                    r->config ? "-q " : "settings that quantize",
                                    r->config ? r->config : "", r->target);
        ti_note(ctx, NULL, "TOSA-1.0+INT computes with integers, TOSA-1.0+INT+FP with both; "
                           "without -q the program stays in float");
        return status;
    }
    if (r->data.calib && !ti_dataset_invented(r->data.calib) && !(r->config || r->check)) {
        ti_warning(ctx, NULL, TC_E_NO_EFFECT,
                   "calibration data quantizes nothing here: the target '%s' computes in float",
                   r->target);
        ti_note(ctx, NULL, "TOSA-1.0+INT computes with integers, TOSA-1.0+INT+FP with both");
    }
    return TC_OK;
}

/* Whether a float program is to be quantized. */
static tc_integers integers_of(const tc_compile_request *r, const tc_compiled *c)
{
    bool asked = asks_for_integers(r);
    if ((r->config && !asked) || is_float_only(c) || ti_config_has_blocks(&c->quant.config))
        return TC_INTEGERS_NEVER;
    bool integers_only = has(&c->target, TC_FEATURE_INT) && !has(&c->target, TC_FEATURE_FP);
    if (!asked && !integers_only && (!r->data.calib || r->data.only_if_needed))
        return TC_INTEGERS_NEVER;
    return asked ? TC_INTEGERS_ALWAYS : TC_INTEGERS_FOR_FLOATS;
}

/* While the program still has the norms, whose statistics are those of the training data. */
static tc_status judge_data(tc_ctx *ctx, const tc_compile_request *r, const tc_compiled *c,
                            bool quantizes)
{
    TC_TRY(check_float_only(ctx, r, c));
    if (r->data.calib && !r->sizes.as && !r->data.only_if_needed && quantizes)
        ti_data_fit(ctx, c->module, r->data.calib);
    return TC_OK;
}

static bool is_quantized(const tc_module *m)
{
    return ti_quant_is_pt2e(m) || ti_quant_is_typed(m) || ti_quant_is_lowered(m);
}

void ti_take_real(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c)
{
    const tc_job job = {.integers = integers_of(r, c)};
    if (!c->module->origin.real || !ti_road_when(TC_WHEN_INTEGERS, &job, c->module->origin.real))
        return;
    c->module = ti_module_clone(c->module->origin.real);
    ti_note(ctx, NULL,
            "%s makes codes of its activations when it runs: all ranges come from calibration data "
            "instead; --dynamic-range keep leaves it as it is",
            r->model);
}

/* Ranges that the model chooses at run time are replaced by those of calibration data. */
static tc_status settle_ranges(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c,
                               const tc_job *job)
{
    if (ti_road_when(TC_WHEN_DYNAMIC, job, c->module))
        ti_note(ctx, NULL,
                "%s is quantized dynamically, or only its weights are: all ranges come from "
                "calibration data instead; -t cpu without data and -q keeps them",
                r->model);
    TC_TRY(ti_road_run(ctx, c->module, TC_AT_TIDY, TC_AT_REAL, job, r->trace));
    if ((r->config || r->settings) && !ti_quant_is_dynamic(ctx, c->module) &&
        is_quantized(c->module))
        return ti_usage(ctx, "%s%s: %s is quantized already", r->config ? "-q " : "settings",
                        r->config ? r->config : "", r->model);
    return TC_OK;
}

/* The float program is quantized; what may be chosen by cost is chosen by the target's cost. */
static tc_status quantize(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c, tc_job *job)
{
    tc_samples samples, learned = {0}, held_out = {0};
    tc_quant_request q = {.figure = !c->quant.config.proved && !c->quant.config.quiet, .held_out = &held_out,
                          .labels = r->data.labels, .keep_odd = r->data.keep_odd, .gains = &c->quant.gains,
                          .fouriers = &c->quant.fouriers,
                          .record = r->sizes.record ? &c->quant.record : NULL, .as = r->sizes.as, .largest = r->sizes.largest,
                          .size = r->sizes.calib, .n_size = r->sizes.n_calib};
    if (r->data.calib && !r->sizes.as && r->data.only_if_needed && ti_dataset_invented(r->data.calib))
        ti_data_missing(ctx, &c->quant.config);
    if (r->sizes.as)
        samples = (tc_samples){0};
    else if (r->data.calib)
        TC_TRY(ti_open_calibration(ctx, r->data.calib, ti_main(c->module), &c->quant.config, r->data.all_samples,
                                   &samples, &learned, &held_out));
    else /* a program without inputs contains all its data */
        TC_TRY(ti_open_samples(ctx, ti_main(c->module), NULL, 0, &samples));
    if (held_out.n && r->data.only_learned)
        samples = learned;
    else if (held_out.n && !c->quant.config.quiet)
        q.learned = &learned;
    if (!r->sizes.as)
        TC_TRY(ti_typed_cost(ctx, r, c, &q.cost));
    job->samples = &samples;
    job->quant = &q;
    tc_status status = ti_road_run(ctx, c->module, TC_AT_READY, TC_AT_TYPED, job, r->trace);
    c->given.held_out = c->quant.gains.n_held_out > 0;
    job->samples = NULL;
    job->quant = NULL;
    job->fresh = true;
    return status;
}

tc_status ti_compile_front(tc_ctx *ctx, const tc_compile_request *r, tc_compiled *c)
{
    tc_job job = {.target = &c->target, .config = &c->quant.config, .integers = integers_of(r, c),
                  .cpu = r->cpu, .n_cpu = r->n_cpu};
    TC_TRY(check_blocks(ctx, r, c));
    if (ti_config_has_blocks(&c->quant.config))
        job.blocks = &c->blocks;
    TC_TRY(ti_tell_progress(ctx, "tidying", 0, 1));
    if (!is_quantized(c->module))
        TC_TRY(judge_data(ctx, r, c, ti_road_when(TC_WHEN_INTEGERS, &job, c->module)));
    TC_TRY(ti_road_run(ctx, c->module, TC_AT_READ, TC_AT_TIDY, &job, r->trace));
    TC_TRY(ti_check_places(c->module));
    TC_TRY(settle_ranges(ctx, r, c, &job));
    bool quantizes = ti_road_when(TC_WHEN_INTEGERS, &job, c->module);
    if (quantizes && !r->data.calib && !r->sizes.as && ti_main(c->module)->n_in)
        return no_data(ctx, r);
    TC_TRY(ti_road_run(ctx, c->module, TC_AT_REAL, TC_AT_READY, &job, r->trace));
    if (r->sizes.ready_only) {
        ti_quant_number_values(c->module);
        return TC_OK;
    }
    if (quantizes)
        TC_TRY(quantize(ctx, r, c, &job));
    else
        TC_TRY(ti_road_run(ctx, c->module, TC_AT_READY, TC_AT_TYPED, &job, r->trace));
    return ti_road_run(ctx, c->module, TC_AT_TYPED, TC_AT_WHOLE, &job, r->trace);
}
