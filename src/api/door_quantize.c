/* SPDX-License-Identifier: Apache-2.0 */
/* door_quantize.c -- a float model becomes a typed one; or only observations are recorded. */
#include "../base/attempt.h"
#include "../ir/verify.h"
#include "../drive/data_fit.h"
#include "../data/dataset.h"
#include "../base/enter.h"
#include "../drive/made_by.h"
#include "../drive/model.h"
#include "../drive/own_backend.h"
#include "../drive/road.h"
#include "../drive/typed_cost.h"
#include "../proof/proof.h"

typedef struct quantizing {
    tc_ctx *ctx;
    const tc_model *model;
    tc_quantize_options o;
    tc_config config;
    tc_module *module; /* a copy of the model's, being quantized */
    tc_job job;
    tc_compile_request asked; /* its target; the rest is empty */
    tc_compiled compiled;     /* and the same */
    tc_quant_request request;
    tc_quant_times times;
    tc_quant_gains gains;
    tc_samples learned, held_out;
} quantizing;

/* What quantization needs of the target: what it can select, how it packs weights, its cost in
 * cycles. */
static tc_status take_target(quantizing *q)
{
    if (!q->o.target)
        return TC_OK;
    TC_TRY(ti_target_parse(q->ctx, ti_intern_text(q->ctx, q->o.target), &q->compiled.target));
    TC_TRY(ti_own_judges(q->ctx, &q->compiled));
    q->job.target = &q->compiled.target;
    if (q->job.target->machine->packing == TC_PACKED_STREAM)
        ti_config_pack(&q->config);
    q->asked.target = q->o.target;
    return ti_typed_cost(q->ctx, &q->asked, &q->compiled, &q->request.cost);
}

/* Up to the float program, or one that is quantized already. */
static tc_status prepare(quantizing *q)
{
    tc_ctx *ctx = q->ctx;
    if (q->o.config)
        q->config = *q->o.config;
    else
        TC_TRY(ti_config_read(ctx, NULL, &q->config));
    if (ti_config_has_blocks(&q->config)) {
        tc_status status = ti_usage(ctx, "block-scaled settings: integers are made here");
        ti_note(ctx, NULL, "'tosac compile -t TOSA-1.1+FP+mxfp' takes them, without calibration data");
        return status;
    }
    TC_TRY(take_target(q));
    const tc_module *from = q->model->module;
    q->module = ti_module_clone(from->origin.real ? from->origin.real : from);
    TC_TRY(ti_config_check(ctx, &q->config, ti_main(q->module)));
    q->config.checked = true;
    q->job.config = &q->config;
    q->job.integers = TC_INTEGERS_ALWAYS;
    TC_TRY(ti_road_run(ctx, q->module, TC_AT_READ, TC_AT_REAL, &q->job, NULL));
    if (ti_quant_is_typed(q->module))
        return ti_usage(ctx, "%s is quantized already", q->model->name);
    return TC_OK;
}

/* Data from files; a program without inputs needs none. */
static tc_status open_samples(quantizing *q)
{
    const tc_graph *g = ti_main(q->module);
    if (q->o.samples && (q->o.n_merge || q->request.observe_only))
        return ti_open_dataset(q->ctx, q->o.samples, g, &q->request.samples);
    if (q->o.samples)
        return ti_open_calibration(q->ctx, q->o.samples, g, &q->config, q->o.all_samples,
                                   &q->request.samples, &q->learned, &q->held_out);
    if (q->o.n_merge)
        return TC_OK;
    if (!g->n_in)
        return ti_open_samples(q->ctx, g, NULL, 0, &q->request.samples);
    tc_status status = ti_usage(q->ctx, "there is no calibration data");
    ti_note(q->ctx, NULL,
            "add --calib DATA, or observations with --merge; --calib=random:1 uses random data");
    return status;
}

/* An export that went through PT2E contains its quantization. */
static tc_status check_own(const quantizing *q)
{
    if (q->o.samples || q->o.n_merge || q->o.config || q->request.observe_only)
        return ti_usage(q->ctx,
                        "%s has its own parameters of quantization (a PT2E export, or a program that "
                        "was quantized before): it takes neither data nor -q",
                        q->model->name);
    return TC_OK;
}

static tc_status quantize(quantizing *q, tc_bytes *observe_only)
{
    if (q->o.samples)
        q->o.samples->reset = q->o.reset;
    q->request = (tc_quant_request){.merge = q->o.merge,
                                    .n_merge = q->o.n_merge,
                                    .observe_only = observe_only,
                                    .keep_odd = q->o.keep_odd,
                                    .until = q->o.budget_seconds > 0
                                                 ? ti_seconds() + q->o.budget_seconds
                                                 : 0,
                                    .times = &q->times,
                                    .gains = &q->gains,
                                    .figure = true,
                                    .held_out = &q->held_out};
    TC_TRY(prepare(q));
    bool own = ti_quant_is_pt2e(q->module);
    if (own)
        TC_TRY(check_own(q));
    TC_TRY(ti_road_run(q->ctx, q->module, TC_AT_REAL, TC_AT_READY, &q->job, NULL));
    if (!own)
        TC_TRY(open_samples(q));
    q->request.learned = q->held_out.n ? &q->learned : NULL;
    if (!own && q->o.samples)
        ti_data_fit(q->ctx, q->model->module, q->o.samples);
    q->job.samples = &q->request.samples;
    q->job.quant = &q->request;
    ti_made_by_note(q->ctx, q->module, q->o.config ? q->o.config->said : NULL, q->o.keep_odd,
                    q->o.all_samples);
    return ti_road_run(q->ctx, q->module, TC_AT_READY, TC_AT_TYPED, &q->job, NULL);
}

/* Values of each kind, constants not counted.  Sums between quantized values are 32-bit integers
 * wherever the program is compiled, and values that only leave it in float are quantized before. */
static void count(tc_ctx *ctx, const tc_module *typed, size_t *quantized, size_t *real)
{
    tc_attempt attempt;
    ti_attempt_begin(ctx, &attempt);
    tc_module *m = ti_module_clone(typed);
    if (ti_road_run(ctx, m, TC_AT_SETTLED, TC_AT_WIDE, NULL, NULL) != TC_OK)
        m = ti_module_clone(typed);
    const tc_graph *g = ti_main(m);
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out && g->node[k]->op != TC_OP_const; i++) {
            const tc_type *type = ti_type_of(g, g->node[k]->out[i]);
            *quantized += type->quant != NULL;
            *real += ti_is_float(type->dtype) && g->node[k]->op != TC_OP_rescale;
        }
    ti_attempt_end(ctx, &attempt);
}

/* As the summary names them. */
static const char *measured_on(const quantizing *q)
{
    tc_buf text;
    tc_measured_on on = {.samples = q->gains.n_held_out,
                         .held_out = q->gains.n_held_out > 0,
                         .calibrated = q->gains.n_measured};
    on.invented = q->o.samples && ti_dataset_invented(q->o.samples);
    on.seen = !on.held_out && !on.invented;
    ti_buf_init(&text, &q->ctx->arena);
    ti_put_measured_on(&on, &text);
    ti_buf_u8(&text, 0);
    return (const char *)text.data;
}

static void fill_report(const quantizing *q, tc_quantize_report *report)
{
    tc_quantize_report r = {.samples = q->request.samples.n,
                            .first_pass = q->times.first,
                            .second_pass = q->times.second,
                            .read = q->times.read,
                            .search = q->times.search,
                            .rank = q->times.rank,
                            .correct = q->times.correct};
    count(q->ctx, q->module, &r.quantized, &r.real);
    const tc_quant_gains *gains = &q->gains;
    tc_method_gain *method = tc_new_n(&q->ctx->arena, tc_method_gain, gains->n + 1);
    for (size_t i = 0; i < gains->n; i++)
        method[i] = (tc_method_gain){gains->method[i].name, gains->method[i].what,
                                     gains->method[i].db, gains->method[i].taken};
    r.sqnr_db = gains->least_db;
    r.kept_back = gains->n_held_out;
    r.measured_on = gains->n_measured ? measured_on(q) : NULL;
    r.plain_sqnr_db = gains->plain_db;
    r.agreement = gains->agree;
    r.method = method;
    r.n_method = gains->n;
    ti_fill_record(report, &r, sizeof r);
}

static tc_status quantize_model(tc_ctx *ctx, const tc_model *model,
                                const tc_quantize_options *options, tc_model **out,
                                tc_quantize_report *report)
{
    quantizing q = {.ctx = ctx, .model = model, .o = TC_TAKE(tc_quantize_options, options)};
    TC_TRY(quantize(&q, NULL));
    *out = ti_model_of(ctx, model->name, q.module);
    if (report)
        fill_report(&q, report);
    return TC_OK;
}

tc_status tc_quantize_model(tc_ctx *ctx, const tc_model *model, const tc_quantize_options *options,
                            tc_model **out, tc_quantize_report *report)
{
    TC_ENTER(ctx, quantize_model(ctx, model, options, out, report));
}

static tc_status observe_model(tc_ctx *ctx, const tc_model *model,
                               const tc_quantize_options *options, tc_bytes *out)
{
    quantizing q = {.ctx = ctx, .model = model, .o = TC_TAKE(tc_quantize_options, options)};
    return quantize(&q, out);
}

tc_status tc_observe_model(tc_ctx *ctx, const tc_model *model, const tc_quantize_options *options,
                           tc_bytes *out)
{
    TC_ENTER(ctx, observe_model(ctx, model, options, out));
}
