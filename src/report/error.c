/* SPDX-License-Identifier: Apache-2.0 */
/* error.c -- how far every value is from the model's own: typed, and as the target computes it. */
#include "report.h"

#include "../data/dataset.h"
#include "../drive/model.h"
#include "../proof/inner_values.h"
#include "../num/type.h"

enum { SAMPLES = 8 };

static void take(tc_content *c, const tc_comparison *from, int which)
{
    tc_compared_value v = {.size = sizeof v};
    for (size_t i = 0; tc_comparison_value(from, i, &v); i++) {
        int32_t at = ti_content_node(c, v.name);
        size_t output = 0;
        if (at < 0 && ti_text_starts(v.name, "output ")) /* named by its index */
            for (size_t k = 0; k < c->n_node; k++)
                if (ti_text_eq(c->node[k].op, "output") &&
                    ti_text_eq(v.name, ti_text_format(&c->ctx->scratch, "output %zu", output++)))
                    at = (int32_t)k;
        if (at < 0)
            continue;
        c->node[at].error[which] = (tc_report_error){.known = true,
                                                     .sqnr_db = v.sqnr_db,
                                                     .cosine = v.cosine,
                                                     .max_error = v.max_error,
                                                     .max_steps = v.max_steps,
                                                     .saturated = v.saturated};
    }
    c->samples = tc_comparison_samples(from);
}

/* A program that cannot be compared value by value leaves no errors, and no message. */
static tc_status against(tc_content *c, const tc_model *other, int which)
{
    tc_comparison *found = NULL;
    tc_trial trial;
    ti_trial_begin(c->ctx, &trial);
    tc_status status =
        tc_compare_models(c->ctx, c->options.model, other, c->options.samples, &found);
    ti_trial_end(c->ctx, &trial);
    if (status == TC_OK)
        take(c, found, which);
    return status == TC_CANCELLED || status == TC_NO_MEMORY ? status : TC_OK;
}

/* dB below the typed value at which rows are in another order: a step of the lowering costs less. */
static const double OTHERWISE = 12;

/* Why values of the program were not measured. */
static void say_why_not(tc_content *c, const tc_map *why)
{
    for (size_t k = 0; k < c->n_node; k++) {
        tc_report_node *n = &c->node[k];
        const char *reason = ti_map_get(why, ti_str_of(n->name));
        if (n->error[1].known && reason && n->error[1].sqnr_db < n->error[0].sqnr_db - OTHERWISE)
            n->error[1] = (tc_report_error){0};
        if (!n->node || n->error[1].known)
            continue;
        n->no_integer = reason;
        if (n->joined)
            n->no_integer = ti_text_format(&c->ctx->arena, "it is computed together with %s", n->joined);
        else if (!n->no_integer && n->where == TC_WHERE_MERGED)
            n->no_integer = "it is part of its neighbours or of a constant";
        else if (!n->no_integer)
            n->no_integer = "the program has no value of this name";
    }
}

static tc_status measure(tc_content *c)
{
    const tc_report_options *o = &c->options;
    tc_map why;
    ti_map_init(&why, &c->ctx->arena);
    tc_model *watched = o->compiled ? ti_compiled_watched(c->ctx, o->compiled, &why) : NULL;
    if (o->compiled && o->compiled->work.typed)
        TC_TRY(against(c, ti_model_of(c->ctx, o->compiled->model->name, o->compiled->work.typed), 0));
    else if (o->typed)
        TC_TRY(against(c, o->typed, 0));
    if (watched)
        TC_TRY(against(c, watched, 1));
    if (o->compiled)
        say_why_not(c, &why);
    return TC_OK;
}

tc_status ti_content_errors(tc_content *c)
{
    const tc_report_options *o = &c->options;
    if (o->comparison) {
        bool lowered = o->second && tc_model_get_stage(o->second) == TC_STAGE_LOWERED;
        take(c, o->comparison, lowered);
        return TC_OK;
    }
    if (!o->samples)
        return TC_OK;
    size_t before = o->samples->most;
    o->samples->most = o->most_samples ? o->most_samples : SAMPLES;
    tc_status status = measure(c);
    o->samples->most = before;
    return status;
}
