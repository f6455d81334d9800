/* SPDX-License-Identifier: Apache-2.0 */
/* answers.c -- how often the model and its compiled program are right, by labels of the samples. */
#include "report.h"

#include "../data/dataset.h"
#include "../proof/inner_values.h"

enum { SAMPLES = 256 };

/* The model and what is written, and between them the quantized model. */
static size_t find_programs(tc_content *c, const tc_model **out)
{
    const tc_report_options *o = &c->options;
    size_t n = 0;
    tc_model *integer = o->compiled ? ti_compiled_watched(c->ctx, o->compiled, NULL) : NULL;
    out[n++] = o->model;
    if (integer)
        out[n++] = integer;
    else if (o->typed)
        out[n++] = o->typed;
    return n;
}

tc_status ti_content_answers(tc_content *c)
{
    const tc_report_options *o = &c->options;
    if (!o->labels || !o->samples)
        return TC_OK;
    const tc_model *program[2];
    tc_evaluate_options e = tc_evaluate_options_default();
    e.program = program;
    e.n_program = find_programs(c, program);
    e.data = o->samples;
    e.labels = o->labels;
    size_t before = o->samples->most;
    o->samples->most = SAMPLES;
    tc_status status = tc_evaluate(c->ctx, &e, &c->answers);
    o->samples->most = before;
    return status;
}
