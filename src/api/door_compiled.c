/* SPDX-License-Identifier: Apache-2.0 */
/* door_compiled.c -- the compiled program: what runs where, its accuracy, and its cost. */
#include <math.h>

#include "../base/enter.h"
#include "../drive/verdicts.h"
#include "../drive/driver.h"
#include "../output/etrecord.h"
#include "../drive/model.h"
#include "../proof/proof.h"
#include "../quant/weight_rates.h"

const tc_frontier_row *tc_compiled_frontier(const tc_compiled *compiled, size_t *n)
{
    *n = compiled->quant.n_frontier;
    return compiled->quant.frontier;
}

static tc_status region_tosa(tc_ctx *ctx, const tc_compiled *c, size_t region, tc_bytes *out)
{
    if (region >= c->n_region)
        return ti_usage(ctx, "there is no region %zu: the program has %zu", region, c->n_region);
    return ti_region_tosa(ctx, &c->region[region], out);
}

tc_status tc_compiled_region_tosa(tc_ctx *ctx, const tc_compiled *compiled, size_t region,
                                  tc_bytes *out)
{
    TC_ENTER(ctx, region_tosa(ctx, compiled, region, out));
}

tc_status tc_compiled_etrecord(tc_ctx *ctx, const tc_compiled *compiled, tc_bytes *out)
{
    TC_ENTER(ctx, ti_etrecord_make(ctx, compiled, out));
}

const tc_model *tc_compiled_model(const tc_compiled *compiled)
{
    return compiled->model;
}

static tc_status made(tc_ctx *ctx, const tc_compiled *c, const tc_model **out)
{
    const tc_graph *planned = c->written.planned;
    *out = planned ? ti_model_of(ctx, c->model->name, planned->module) : c->model;
    return TC_OK;
}

tc_status tc_compiled_made(tc_ctx *ctx, const tc_compiled *compiled, const tc_model **out)
{
    TC_ENTER(ctx, made(ctx, compiled, out));
}

void tc_compiled_get_info(const tc_compiled *compiled, tc_compiled_info *out)
{
    const tc_compiled *c = compiled;
    tc_compiled_info info = {.target = c->target.text,
                             .n_region = c->n_region,
                             .on_cpu = c->split.n_left,
                             .bytes = c->written.bytes,
                             .memory = c->written.memory,
                             .state = c->written.state,
                             .method = c->asked.method,
                             .samples = c->proof.ran - c->proof.odd,
                             .set_aside = c->proof.odd,
                             .invented = c->proof.invented,
                             .kept_back = c->proof.held_out,
                             .calibration_samples = c->proof.calibrated};
    for (size_t i = 0; i < c->split.n_region; i++)
        info.on_target += c->split.nodes[i];
    ti_fill_record(out, &info, sizeof info);
}

tc_status tc_compiled_prove(tc_ctx *ctx, tc_compiled *compiled)
{
    TC_ENTER(ctx, ti_prove(ctx, compiled, compiled->module));
}

bool tc_compiled_accuracy(const tc_compiled *compiled, size_t i, tc_accuracy *out)
{
    const tc_proof *p = &compiled->proof;
    if (!p->of || i >= p->n_out)
        return 0;
    const tc_proof_output *o = &p->out[i];
    const tc_proof_sums *s = &o->by[0], *odd = &o->by[1];
    ti_fill_record(out,
                   &(tc_accuracy){
                       .output = o->name,
                       .real = o->real,
                       .sqnr_db = o->real && o->compared ? ti_proof_db(s, &s->written) : NAN,
                       .agreement = o->compared ? ti_proof_agreement(s, &s->written) : NAN,
                       .lost = s->written.lost + odd->written.lost,
                       .typed_sqnr_db = o->real && p->quantized ? ti_proof_db(s, &s->typed) : NAN,
                       .typed_agreement = p->quantized ? ti_proof_agreement(s, &s->typed) : NAN,
                       .aside_sqnr_db = o->real && odd->n ? ti_proof_db(odd, &odd->written) : NAN,
                       .aside_agreement = odd->n ? ti_proof_agreement(odd, &odd->written) : NAN,
                   },
                   sizeof *out);
    return 1;
}

static tc_stream_figures figures(const tc_ethosu_job *job)
{
    return (tc_stream_figures){.cycles = job->cycles,
                             .macs = job->macs,
                             .sram_kib = job->sram_kib,
                             .inferences_per_second = job->inferences_per_second,
                             .scratch = job->scratch,
                             .fast_scratch = job->fast_scratch,
                             .weights = job->weights,
                             .payload = (int64_t)job->payload.size};
}

bool tc_compiled_region(const tc_compiled *compiled, size_t i, tc_region_info *out)
{
    const tc_compiled *c = compiled;
    if (i >= c->n_region)
        return 0;
    tc_region_border b = ti_border_of(&c->region[i]);
    const tc_graph *g = ti_main(c->region[i].module);
    tc_region_info info = {.name = c->region[i].name,
                           .operators = i < c->split.n_region ? c->split.nodes[i] : b.n_tosa,
                           .tosa_operators = b.n_tosa,
                           .transposes = b.n_transpose,
                           .bytes_in = b.bytes_in,
                           .bytes_out = b.bytes_out,
                           .n_in = g->n_in,
                           .n_out = g->n_out};
    if (c->jobs) {
        info.has_stream = 1;
        info.stream = figures(&c->jobs[i]);
    }
    ti_fill_record(out, &info, sizeof info);
    return 1;
}

const tc_type *tc_compiled_region_port(const tc_compiled *compiled, size_t region, bool output,
                                       size_t i)
{
    if (region >= compiled->n_region)
        return NULL;
    const tc_graph *g = ti_main(compiled->region[region].module);
    if (i >= (output ? g->n_out : g->n_in))
        return NULL;
    return ti_type_of(g, output ? g->out[i] : g->in[i]);
}

bool tc_compiled_cpu_node(const tc_compiled *compiled, size_t i, tc_cpu_node_info *out)
{
    if (i >= compiled->split.n_left)
        return 0;
    const tc_split_left *l = &compiled->split.left[i];
    const char *op = tc_ops[l->node->op].name;
    ti_fill_record(out,
                   &(tc_cpu_node_info){.node = l->node->loc->node ? l->node->loc->node : op,
                                       .op = op,
                                       .loc = l->node->loc,
                                       .why = l->why},
                   sizeof *out);
    return 1;
}

static tc_status report(tc_ctx *ctx, const tc_compiled *c, tc_report_kind kind, const char **out)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    if (kind == TC_REPORT_LINE)
        ti_report_line(c, &text);
    else if (kind == TC_REPORT_EXPLAIN)
        ti_report_text(c, &text);
    else if (kind == TC_REPORT_CHOICES) {
        ti_verdicts_text(c->work.choices, &text);
        ti_rates_text(&c->quant.gains, &text);
    } else if (kind == TC_REPORT_JSON || kind == TC_REPORT_EXPLAIN_JSON)
        ti_report_json(ctx, c, kind == TC_REPORT_JSON, &text);
    else
        return ti_usage(ctx, "unknown kind of report %d (see tc_report_kind)", (int)kind);
    *out = ti_buf_cstr(&text);
    return TC_OK;
}

tc_status tc_compiled_report(tc_ctx *ctx, const tc_compiled *compiled, tc_report_kind kind,
                             const char **out)
{
    TC_ENTER(ctx, report(ctx, compiled, kind, out));
}
