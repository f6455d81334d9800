/* SPDX-License-Identifier: Apache-2.0 */
/* report_json.c -- the report's content as JSON: doc/schema/report.json describes every member. */
#include "report.h"

#include "../board/board_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../advise/advise.h"
#include "../base/json_out.h"
#include "../drive/model.h"
#include "../machine/npu_machine.h"
#include "../proof/proof.h"

/* "tosa_conv2d" is "conv2d" to people. */
static const char *bare(const char *op)
{
    return ti_text_starts(op, "tosa_") ? op + strlen("tosa_") : op;
}

/* Per-channel parameters are long: the type in short, and how many there are. */
static const char *type_text(const tc_content *c, const tc_type *t)
{
    tc_arena *arena = &c->ctx->arena;
    if (!t)
        return NULL;
    if (!t->quant || t->quant->count == 1)
        return ti_type_text(arena, t);
    tc_type bare = *t;
    bare.quant = NULL;
    return ti_text_format(arena, "%s q(%d scales along axis %d)", ti_type_text(arena, &bare),
                          (int)t->quant->count, (int)t->quant->axis);
}

static void put_ports(const tc_content *c, tc_json_out *out, const char *name, bool output)
{
    const tc_graph *g = c->model;
    ti_json_open(out, name, '[');
    for (size_t i = 0; i < (output ? g->n_out : g->n_in); i++) {
        const char *port = output ? ti_output_name_of(g, i) : ti_input_name(g, i);
        tc_json_object(out, NULL, TC_J("name", port),
                       TC_J("type", type_text(c, ti_type_of(g, output ? g->out[i] : g->in[i]))));
    }
    ti_json_close(out, ']');
}

static void put_model(const tc_content *c, tc_json_out *out)
{
    const tc_model *m = c->options.model;
    ti_json_open(out, "model", '{');
    tc_json_put(out, TC_J("file", tc_model_file(m)), TC_J_IF("producer", tc_model_producer(m)));
    put_ports(c, out, "inputs", false);
    put_ports(c, out, "outputs", true);
    ti_json_close(out, '}');
}

/* ---- summary ---- */

/* The worst of the program's outputs. */
static const tc_report_error *output_error(const tc_content *c, int which)
{
    const tc_report_error *worst = NULL;
    for (size_t k = 0; k < c->n_node; k++) {
        const tc_report_node *n = &c->node[k];
        if (!ti_text_eq(n->op, "output"))
            continue;
        const tc_report_error *e = &n->error[which];
        if (!e->known && n->n_in)
            e = &c->node[n->in[0]].error[which];
        if (e->known && (!worst || e->sqnr_db < worst->sqnr_db))
            worst = e;
    }
    return worst;
}

static void put_sqnr(tc_json_out *out, const char *name, const tc_report_error *e)
{
    if (!e)
        return;
    if (isinf(e->sqnr_db))
        ti_json_put_text(out, name, "exact");
    else
        ti_json_put_real(out, name, e->sqnr_db);
}

/* Samples that calibration left out, and how many values they reach far beyond the others in. */
static void put_aside(const tc_compiled *compiled, tc_json_out *out)
{
    const tc_quant_gains *g = &compiled->quant.gains;
    ti_json_open(out, "set_aside", '[');
    for (size_t i = 0; i < g->n_aside; i++)
        tc_json_object(out, NULL, TC_J("sample", g->outlier[i].index),
                       TC_J_IF("file", g->outlier[i].where), TC_J("far_in", g->outlier[i].far_in),
                       TC_J("of", g->n_watched));
    ti_json_close(out, ']');
}

/* Right answers, by labels: of the model and of the program. */
static void put_answers(const tc_content *c, tc_json_out *out)
{
    static const char *const who[] = {"model", "program"};
    tc_evaluated v = {.size = sizeof v};
    if (!c->answers)
        return;
    ti_json_open(out, "answers", '[');
    for (size_t i = 0; i < TC_COUNT(who) && tc_evaluation_program(c->answers, i, &v); i++)
        tc_json_object(out, NULL, TC_J("program", who[i]), TC_J("samples", v.n),
                       TC_J("classes", v.classes), TC_J("right", v.right),
                       TC_J("right_in_5", v.right5), TC_J("agree", v.agree),
                       TC_J("low", v.low), TC_J("high", v.high));
    ti_json_close(out, ']');
}

static void put_compiled(const tc_content *c, const tc_compiled *compiled, tc_json_out *out)
{
    const tc_written *w = &compiled->written;
    size_t on_target = 0;
    double sram = 0, weights = 0;
    for (size_t i = 0; i < compiled->split.n_region; i++)
        on_target += compiled->split.nodes[i];
    tc_json_put(out, TC_J("target", compiled->target.text), TC_J_IF("file", w->path),
                TC_J_IF("bytes", (double)w->bytes), TC_J_IF("memory", (double)w->memory),
                TC_J("regions", compiled->n_region), TC_J("on_target", on_target),
                TC_J("on_cpu", compiled->split.n_left), TC_J_IF("macs", c->macs));
    for (size_t i = 0; compiled->jobs && i < compiled->n_region; i++) {
        sram = fmax(sram, compiled->jobs[i].sram_kib * 1024);
        weights += (double)compiled->jobs[i].weights;
    }
    tc_json_put(out, TC_J_IF("cycles", c->cycles), TC_J_IF("cycles_low", c->cycles_low),
                TC_J_IF("cycles_high", c->cycles_high), TC_J_IF("seconds", c->seconds));
    if (c->cycles > 0 && c->seconds > 0)
        ti_json_put_real(out, "clock_hz", rint(c->cycles / c->seconds));
    tc_json_put(out, TC_J_IF("macs_per_cycle", (double)c->macs_per_cycle), TC_J_IF("sram", sram),
                TC_J_IF("weights", weights));
}

static void put_summary(const tc_content *c, tc_json_out *out)
{
    ti_json_open(out, "summary", '{');
    if (c->options.compiled)
        put_compiled(c, c->options.compiled, out);
    if (c->options.compiled) {
        ti_proof_json(&c->options.compiled->proof, out);
        ti_fouriers_json(c->options.compiled, out);
        put_aside(c->options.compiled, out);
    }
    put_answers(c, out);
    ti_json_put_int(out, "operators", (int64_t)(c->n_node - c->model->n_in - c->model->n_out));
    if (c->samples) {
        ti_json_put_int(out, "samples", (int64_t)c->samples);
        put_sqnr(out, "sqnr_typed_db", output_error(c, 0));
        put_sqnr(out, "sqnr_integer_db", output_error(c, 1));
    }
    ti_json_close(out, '}');
}

static void put_settings(const tc_content *c, tc_json_out *out)
{
    const tc_report_options *o = &c->options;
    const tc_compiled *compiled = o->compiled;
    ti_json_open(out, "settings", '{');
    tc_json_put(out, TC_J("version", tc_version()), TC_J_IF("command", o->command),
                TC_J_IF("quantization", o->config));
    if (o->n_data) {
        tc_json_list(out, "data", o->n_data, o->data);
    }
    if (o->second)
        ti_json_put_text(out, "second", tc_model_file(o->second));
    if (compiled && compiled->jobs && compiled->n_region) {
        const tc_ethosu_options *v = &compiled->asked.ethosu;
        const tc_machine *machine = compiled->target.machine;
        const char *config = v->system_config ? v->system_config : machine->system_config,
                   *mode = v->memory_mode ? v->memory_mode : machine->memory_mode;
        tc_json_object(out, "system", TC_J("system_config", config), TC_J("memory_mode", mode),
                       TC_J_IF("file", v->ini), TC_J_IF("optimise", v->optimise));
    }
    ti_json_close(out, '}');
}

/* Settings that were tried for a goal. */
static void put_frontier(const tc_content *c, tc_json_out *out)
{
    size_t n = 0;
    const tc_frontier_row *row =
        c->options.compiled ? tc_compiled_frontier(c->options.compiled, &n) : NULL;
    ti_json_open(out, "frontier", '[');
    for (size_t i = 0; i < n; i++) {
        ti_json_open(out, NULL, '{');
        ti_json_put_text(out, "name", row[i].name);
        tc_report_error e = {.known = true, .sqnr_db = row[i].sqnr_db};
        put_sqnr(out, "sqnr_db", &e);
        tc_json_put(out, TC_J("agreement", row[i].agreement), TC_J("drop", row[i].drop));
        if (row[i].cycles > 0)
            ti_json_put_real(out, "cycles", row[i].cycles);
        tc_json_put(out, TC_J("flash", row[i].flash), TC_J("chosen", (bool)(row[i].chosen != 0)));
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

/* ---- what went where ---- */

static void put_types(const tc_content *c, tc_json_out *out, const char *name, const tc_graph *g,
                      const tc_val *v, size_t n)
{
    ti_json_open(out, name, '[');
    for (size_t i = 0; i < n; i++)
        ti_json_put_text(out, NULL, type_text(c, ti_type_of(g, v[i])));
    ti_json_close(out, ']');
}

static void put_regions(const tc_content *c, tc_json_out *out)
{
    const tc_compiled *compiled = c->options.compiled;
    ti_json_open(out, "regions", '[');
    for (size_t i = 0; compiled && i < compiled->n_region; i++) {
        tc_region_border b = ti_border_of(&compiled->region[i]);
        const tc_graph *g = ti_main(compiled->region[i].module);
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("name", compiled->region[i].name),
                    TC_J("operators",
                         i < compiled->split.n_region ? compiled->split.nodes[i] : b.n_tosa),
                    TC_J("tosa_operators", b.n_tosa), TC_J("transposes", b.n_transpose),
                    TC_J("bytes_in", b.bytes_in), TC_J("bytes_out", b.bytes_out),
                    TC_J_IF("times", (size_t)(compiled->region[i].times > 1 ? compiled->region[i].times : 0)));
        put_types(c, out, "inputs", g, g->in, g->n_in);
        put_types(c, out, "outputs", g, g->out, g->n_out);
        if (compiled->jobs) {
            const tc_ethosu_job *job = &compiled->jobs[i];
            tc_json_put(out, TC_J("cycles", job->cycles), TC_J("scratch", job->scratch),
                        TC_J("fast_scratch", job->fast_scratch), TC_J("weights", job->weights));
        }
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

static void put_cpu(const tc_content *c, tc_json_out *out)
{
    tc_cpu_node_info info = {.size = sizeof info};
    ti_json_open(out, "cpu", '[');
    for (size_t i = 0; c->options.compiled && tc_compiled_cpu_node(c->options.compiled, i, &info);
         i++) {
        tc_json_object(out, NULL, TC_J("node", info.node), TC_J("operator", info.op),
                       TC_J_IF("place", info.loc->place), TC_J_IF("module", info.loc->module),
                       TC_J("why", info.why));
    }
    ti_json_close(out, ']');
}

/* ---- nodes ---- */

static void put_error(tc_json_out *out, const char *name, const tc_report_error *e)
{
    if (!e->known)
        return;
    ti_json_open(out, name, '{');
    put_sqnr(out, "sqnr_db", e);
    tc_json_put(out, TC_J("cosine", e->cosine), TC_J("max_error", e->max_error));
    if (!isnan(e->max_steps))
        ti_json_put_real(out, "max_steps", e->max_steps);
    if (!isnan(e->saturated))
        ti_json_put_real(out, "saturated", e->saturated);
    ti_json_close(out, '}');
}

static void put_cost(tc_json_out *out, const tc_report_cost *cost)
{
    tc_json_put(out, TC_J_IF("cycles", cost->cycles), TC_J_IF("macs", cost->macs),
                TC_J_IF("bytes", cost->bytes), TC_J_IF("traffic", cost->traffic));
}

static void put_where(tc_json_out *out, const tc_report_node *n)
{
    static const char *const word[] = {"cpu", "merged"};
    if (n->where >= 0)
        ti_json_put_int(out, "region", n->where);
    else if (n->where != TC_WHERE_UNKNOWN)
        ti_json_put_text(out, "where", word[-1 - n->where]);
}

/* Four digits are enough for a picture. */
static void put_rounded(tc_json_out *out, const char *name, double v)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", v);
    ti_json_put_real(out, name, strtod(text, NULL));
}

static void put_row(tc_json_out *out, const char *name, const double *v, size_t n)
{
    ti_json_open(out, name, '[');
    for (size_t i = 0; i < n; i++)
        put_rounded(out, NULL, v[i]);
    ti_json_close(out, ']');
}

static void put_spread(const tc_content *c, tc_json_out *out, const char *name,
                       const tc_spread_of *s)
{
    if (!s)
        return;
    ti_json_open(out, name, '{');
    if (s->type->quant)
        ti_json_put_text(out, "type", type_text(c, s->type));
    put_rounded(out, "lo", s->lo);
    put_rounded(out, "hi", s->hi);
    put_rounded(out, "least", s->least);
    put_rounded(out, "most", s->most);
    tc_json_put(out, TC_J_IF("step", s->step), TC_J_IF("below", (double)s->below),
                TC_J_IF("above", (double)s->above));
    tc_json_list(out, "bins", TC_SPREAD_BINS, s->bin);
    tc_json_put(out, TC_J("axis", s->axis), TC_J("channels", s->channels), TC_J("each", s->each));
    put_row(out, "low", s->low, s->n_row);
    put_row(out, "high", s->high, s->n_row);
    if (s->steps)
        put_row(out, "steps", s->steps, s->n_row);
    ti_json_close(out, '}');
}

static void put_node(const tc_content *c, tc_json_out *out, const tc_report_node *n)
{
    ti_json_open(out, NULL, '{');
    tc_json_put(out, TC_J("name", n->name), TC_J("op", n->op), TC_J_IF("target", n->loc->target),
                TC_J_IF("module", n->loc->module), TC_J_IF("module_type", n->loc->module_type),
                TC_J_IF("place", n->loc->place), TC_J_IF("type", type_text(c, n->type)));
    if (n->typed)
        ti_json_put_text(out, "typed", type_text(c, n->typed));
    tc_json_put(out, TC_J_IF("joined", n->joined));
    if (n->second)
        ti_json_put_text(out, "second", type_text(c, n->second));
    put_where(out, n);
    tc_json_put(out, TC_J_IF("why", n->why));
    if (n->n_tosa) {
        ti_json_open(out, "tosa", '[');
        for (size_t i = 0; i < n->n_tosa; i++)
            ti_json_put_text(out, NULL, bare(n->tosa[i]));
        ti_json_close(out, ']');
    }
    put_cost(out, &n->cost);
    tc_json_put(out, TC_J_IF("hint", n->hint));
    put_error(out, "error_typed", &n->error[0]);
    put_error(out, "error_integer", &n->error[1]);
    tc_json_put(out, TC_J_IF("no_integer", n->no_integer));
    put_spread(c, out, "values", n->values);
    put_spread(c, out, "weights", n->weights);
    tc_json_list(out, "in", n->n_in, n->in);
    ti_json_close(out, '}');
}

static void put_layout(const tc_content *c, tc_json_out *out)
{
    ti_json_open(out, "groups", '[');
    for (size_t i = 0; i < c->layout.n_group; i++) {
        const tc_layout_group *g = &c->layout.group[i];
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("name", g->name), TC_J("path", g->path), TC_J_IF("type", g->type),
                    TC_J("parent", g->parent));
        tc_json_list(out, "items", g->n_item, g->item);
        ti_json_open(out, "edges", '[');
        for (size_t k = 0; k < g->n_edge; k++) {
            ti_json_put_int(out, NULL, g->edge[k].from);
            ti_json_put_int(out, NULL, g->edge[k].to);
        }
        ti_json_close(out, ']');
        ti_json_open(out, "rows", '[');
        for (size_t r = 0; r < g->n_row; r++) {
            tc_json_list(out, NULL, g->n_in_row[r], g->row[r]);
        }
        ti_json_close(out, ']');
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

/* ---- lists ---- */

/* What a value is judged by: as the target computes it, where that is known. */
static double judged(const tc_report_node *n)
{
    return n->error[1].known ? n->error[1].sqnr_db : n->error[0].sqnr_db;
}

static int worst_first(const void *a, const void *b)
{
    const tc_report_node *x = *(const tc_report_node *const *)a,
                         *y = *(const tc_report_node *const *)b;
    double p = judged(x), q = judged(y);
    if (p != q)
        return p < q ? -1 : 1;
    return x < y ? -1 : x > y;
}

static void put_errors(const tc_content *c, tc_json_out *out)
{
    const tc_report_node **list = tc_new_n(&c->ctx->scratch, const tc_report_node *, c->n_node + 1);
    size_t n = 0;
    for (size_t k = 0; k < c->n_node; k++)
        if (c->node[k].error[0].known || c->node[k].error[1].known)
            list[n++] = &c->node[k];
    if (n)
        qsort(list, n, sizeof *list, worst_first);
    ti_json_open(out, "errors", '[');
    for (size_t i = 0; i < n; i++)
        ti_json_put_int(out, NULL, list[i] - c->node);
    ti_json_close(out, ']');
}

static void put_steps(const tc_content *c, tc_json_out *out)
{
    ti_json_open(out, "steps", '[');
    for (size_t i = 0; i < c->n_step; i++) {
        const tc_report_step *s = &c->step[i];
        ti_json_open(out, NULL, '{');
        ti_json_put_text(out, "kind", s->kind);
        if (s->tosa)
            ti_json_put_text(out, "tosa", bare(s->tosa));
        tc_json_put(out, TC_J("node", s->node), TC_J("region", s->region));
        put_cost(out, &s->cost);
        tc_json_put(out, TC_J_IF("hint", s->hint));
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

/* A block is [name, first, last, offset, bytes]. */
static void put_memory(const tc_content *c, tc_json_out *out)
{
    ti_json_open(out, "memory", '[');
    for (size_t i = 0; i < c->n_memory; i++) {
        const tc_report_memory *m = &c->memory[i];
        ti_json_open(out, NULL, '{');
        tc_json_put(out, TC_J("name", m->name), TC_J("unit", m->unit), TC_J("bytes", m->bytes),
                    TC_J("steps", m->steps));
        if (m->clock) {
            ti_json_open(out, "clock", '[');
            for (int64_t k = 0; k <= m->steps; k++)
                ti_json_put_real(out, NULL, m->clock[k]);
            ti_json_close(out, ']');
        }
        ti_json_open(out, "blocks", '[');
        for (size_t k = 0; k < m->n_block; k++) {
            const tc_report_block *b = &m->block[k];
            ti_json_open(out, NULL, '[');
            ti_json_put_text(out, NULL, b->name);
            ti_json_put_int(out, NULL, b->first);
            ti_json_put_int(out, NULL, b->last);
            ti_json_put_int(out, NULL, b->offset);
            ti_json_put_int(out, NULL, b->bytes);
            ti_json_close(out, ']');
        }
        ti_json_close(out, ']');
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}

void ti_content_json(const tc_content *c, bool compact, tc_buf *to)
{
    tc_json_out out = {.to = to, .compact = compact};
    ti_json_open(&out, NULL, '{');
    tc_json_put(&out, TC_J("schema", "tosac-report"), TC_J("schema_version", TC_REPORT_SCHEMA),
                TC_J("kind", c->options.compiled     ? "compile"
                             : c->options.comparison ? "compare"
                             : c->options.typed      ? "quantize"
                                                     : "model"));
    if (c->options.compiled && c->options.compiled->fit)
        ti_fit_json(c->options.compiled->fit, &out);
    put_model(c, &out);
    put_summary(c, &out);
    put_settings(c, &out);
    put_frontier(c, &out);
    if (c->options.advice)
        ti_advice_json(c->options.advice, "advice", &out);
    put_regions(c, &out);
    put_cpu(c, &out);
    ti_json_open(&out, "nodes", '[');
    for (size_t k = 0; k < c->n_node; k++)
        put_node(c, &out, &c->node[k]);
    ti_json_close(&out, ']');
    put_layout(c, &out);
    put_errors(c, &out);
    put_steps(c, &out);
    put_memory(c, &out);
    ti_json_close(&out, '}');
}
