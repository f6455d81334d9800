/* SPDX-License-Identifier: Apache-2.0 */
/* report_json.c -- the report's content as JSON: doc/schema/report.json describes every member. */
#include "report.h"

#include <math.h>
#include <stdlib.h>

#include "../base/json_out.h"
#include "../drive/model.h"
#include "../npu/npu_machine.h"

/* "tosa_conv2d" is "conv2d" to people. */
static const char *bare(const char *op)
{
    return tc_text_starts(op, "tosa_") ? op + strlen("tosa_") : op;
}

static void put_if(tc_json_out *out, const char *name, const char *text)
{
    if (text && *text)
        tc_json_put_text(out, name, text);
}

static void put_number_if(tc_json_out *out, const char *name, double value)
{
    if (value != 0)
        tc_json_put_real(out, name, value);
}

/* Per-channel parameters are long: the type in short, and how many there are. */
static const char *type_text(const tc_content *c, const tc_type *t)
{
    tc_arena *arena = &c->ctx->arena;
    if (!t)
        return NULL;
    if (!t->quant || t->quant->count == 1)
        return tc_type_text(arena, t);
    tc_type bare = *t;
    bare.quant = NULL;
    return tc_text_format(arena, "%s q(%d scales along axis %d)", tc_type_text(arena, &bare),
                          (int)t->quant->count, (int)t->quant->axis);
}

static void put_ports(const tc_content *c, tc_json_out *out, const char *name, bool output)
{
    const tc_graph *g = c->model;
    tc_json_open(out, name, '[');
    for (size_t i = 0; i < (output ? g->n_out : g->n_in); i++) {
        const char *port = output ? tc_output_name_of(g, i) : tc_input_name(g, i);
        tc_json_open(out, NULL, '{');
        tc_json_put_text(out, "name", port);
        tc_json_put_text(out, "type", type_text(c, tc_type_of(g, output ? g->out[i] : g->in[i])));
        tc_json_close(out, '}');
    }
    tc_json_close(out, ']');
}

static void put_model(const tc_content *c, tc_json_out *out)
{
    const tc_model *m = c->options.model;
    tc_json_open(out, "model", '{');
    tc_json_put_text(out, "file", tc_model_file(m));
    put_if(out, "producer", tc_model_producer(m));
    put_ports(c, out, "inputs", false);
    put_ports(c, out, "outputs", true);
    tc_json_close(out, '}');
}

/* ---- summary ---- */

/* The worst of the program's outputs. */
static const tc_report_error *output_error(const tc_content *c, int which)
{
    const tc_report_error *worst = NULL;
    for (size_t k = 0; k < c->n_node; k++) {
        const tc_report_node *n = &c->node[k];
        if (!tc_text_eq(n->op, "output"))
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
        tc_json_put_text(out, name, "exact");
    else
        tc_json_put_real(out, name, e->sqnr_db);
}

static void put_compiled(const tc_content *c, const tc_compiled *compiled, tc_json_out *out)
{
    const tc_written *w = &compiled->written;
    size_t on_target = 0;
    double sram = 0, weights = 0;
    for (size_t i = 0; i < compiled->split.n_region; i++)
        on_target += compiled->split.nodes[i];
    tc_json_put_text(out, "target", compiled->target.text);
    put_if(out, "file", w->path);
    put_number_if(out, "bytes", (double)w->bytes);
    put_number_if(out, "memory", (double)w->memory);
    tc_json_put_int(out, "regions", (int64_t)compiled->n_region);
    tc_json_put_int(out, "on_target", (int64_t)on_target);
    tc_json_put_int(out, "on_cpu", (int64_t)compiled->split.n_left);
    put_number_if(out, "macs", c->macs);
    for (size_t i = 0; w->jobs && i < compiled->n_region; i++) {
        sram = fmax(sram, w->jobs[i].sram_kib * 1024);
        weights += (double)w->jobs[i].weights;
    }
    put_number_if(out, "cycles", c->cycles);
    put_number_if(out, "seconds", c->seconds);
    if (c->cycles > 0 && c->seconds > 0)
        tc_json_put_real(out, "clock_hz", rint(c->cycles / c->seconds));
    put_number_if(out, "macs_per_cycle", c->macs_per_cycle);
    put_number_if(out, "sram", sram);
    put_number_if(out, "weights", weights);
}

static void put_summary(const tc_content *c, tc_json_out *out)
{
    tc_json_open(out, "summary", '{');
    if (c->options.compiled)
        put_compiled(c, c->options.compiled, out);
    if (c->options.compiled)
        tc_proof_json(&c->options.compiled->proof, out);
    tc_json_put_int(out, "operators", (int64_t)(c->n_node - c->model->n_in - c->model->n_out));
    if (c->samples) {
        tc_json_put_int(out, "samples", (int64_t)c->samples);
        put_sqnr(out, "sqnr_typed_db", output_error(c, 0));
        put_sqnr(out, "sqnr_integer_db", output_error(c, 1));
    }
    tc_json_close(out, '}');
}

static void put_settings(const tc_content *c, tc_json_out *out)
{
    const tc_report_options *o = &c->options;
    const tc_compiled *compiled = o->compiled;
    tc_json_open(out, "settings", '{');
    tc_json_put_text(out, "version", tc_version());
    put_if(out, "command", o->command);
    put_if(out, "quantization", o->config);
    if (o->n_data) {
        tc_json_open(out, "data", '[');
        for (size_t i = 0; i < o->n_data; i++)
            tc_json_put_text(out, NULL, o->data[i]);
        tc_json_close(out, ']');
    }
    if (o->second)
        tc_json_put_text(out, "second", tc_model_file(o->second));
    if (compiled && compiled->written.jobs && compiled->n_region) {
        const tc_vela_options *v = &compiled->vela;
        tc_json_open(out, "vela", '{');
        put_if(out, "version", compiled->written.jobs[0].version);
        tc_json_put_text(out, "system_config",
                         v->system_config ? v->system_config
                                          : compiled->target.machine->system_config);
        tc_json_put_text(out, "memory_mode",
                         v->memory_mode ? v->memory_mode : compiled->target.machine->memory_mode);
        put_if(out, "ini", v->ini);
        put_if(out, "optimise", v->optimise);
        tc_json_close(out, '}');
    }
    tc_json_close(out, '}');
}

/* Settings that were tried for a goal. */
static void put_frontier(const tc_content *c, tc_json_out *out)
{
    size_t n = 0;
    const tc_frontier_row *row =
        c->options.compiled ? tc_compiled_frontier(c->options.compiled, &n) : NULL;
    tc_json_open(out, "frontier", '[');
    for (size_t i = 0; i < n; i++) {
        tc_json_open(out, NULL, '{');
        tc_json_put_text(out, "name", row[i].name);
        tc_report_error e = {.known = true, .sqnr_db = row[i].sqnr_db};
        put_sqnr(out, "sqnr_db", &e);
        tc_json_put_real(out, "agreement", row[i].agreement);
        tc_json_put_real(out, "drop", row[i].drop);
        if (row[i].cycles > 0)
            tc_json_put_real(out, "cycles", row[i].cycles);
        tc_json_put_real(out, "flash", row[i].flash);
        tc_json_put_bool(out, "chosen", row[i].chosen != 0);
        tc_json_close(out, '}');
    }
    tc_json_close(out, ']');
}

/* ---- what went where ---- */

static void put_types(const tc_content *c, tc_json_out *out, const char *name, const tc_graph *g,
                      const tc_val *v, size_t n)
{
    tc_json_open(out, name, '[');
    for (size_t i = 0; i < n; i++)
        tc_json_put_text(out, NULL, type_text(c, tc_type_of(g, v[i])));
    tc_json_close(out, ']');
}

static void put_regions(const tc_content *c, tc_json_out *out)
{
    const tc_compiled *compiled = c->options.compiled;
    tc_json_open(out, "regions", '[');
    for (size_t i = 0; compiled && i < compiled->n_region; i++) {
        tc_region_border b = tc_border_of(&compiled->region[i]);
        const tc_graph *g = tc_main(compiled->region[i].module);
        tc_json_open(out, NULL, '{');
        tc_json_put_text(out, "name", compiled->region[i].name);
        tc_json_put_int(
            out, "operators",
            (int64_t)(i < compiled->split.n_region ? compiled->split.nodes[i] : b.n_tosa));
        tc_json_put_int(out, "tosa_operators", (int64_t)b.n_tosa);
        tc_json_put_int(out, "transposes", (int64_t)b.n_transpose);
        tc_json_put_int(out, "bytes_in", b.bytes_in);
        tc_json_put_int(out, "bytes_out", b.bytes_out);
        put_types(c, out, "inputs", g, g->in, g->n_in);
        put_types(c, out, "outputs", g, g->out, g->n_out);
        if (compiled->written.jobs) {
            const tc_vela_job *job = &compiled->written.jobs[i];
            tc_json_put_real(out, "cycles", job->cycles);
            tc_json_put_int(out, "scratch", job->scratch);
            tc_json_put_int(out, "fast_scratch", job->fast_scratch);
            tc_json_put_int(out, "weights", job->weights);
        }
        tc_json_close(out, '}');
    }
    tc_json_close(out, ']');
}

static void put_cpu(const tc_content *c, tc_json_out *out)
{
    tc_cpu_node_info info = {.size = sizeof info};
    tc_json_open(out, "cpu", '[');
    for (size_t i = 0; c->options.compiled && tc_compiled_cpu_node(c->options.compiled, i, &info);
         i++) {
        tc_json_open(out, NULL, '{');
        tc_json_put_text(out, "node", info.node);
        tc_json_put_text(out, "operator", info.op);
        put_if(out, "place", info.loc->place);
        put_if(out, "module", info.loc->module);
        tc_json_put_text(out, "why", info.why);
        tc_json_close(out, '}');
    }
    tc_json_close(out, ']');
}

/* ---- nodes ---- */

static void put_error(tc_json_out *out, const char *name, const tc_report_error *e)
{
    if (!e->known)
        return;
    tc_json_open(out, name, '{');
    put_sqnr(out, "sqnr_db", e);
    tc_json_put_real(out, "cosine", e->cosine);
    tc_json_put_real(out, "max_error", e->max_error);
    if (!isnan(e->max_steps))
        tc_json_put_real(out, "max_steps", e->max_steps);
    if (!isnan(e->saturated))
        tc_json_put_real(out, "saturated", e->saturated);
    tc_json_close(out, '}');
}

static void put_cost(tc_json_out *out, const tc_report_cost *cost)
{
    put_number_if(out, "cycles", cost->cycles);
    put_number_if(out, "macs", cost->macs);
    put_number_if(out, "bytes", cost->bytes);
    put_number_if(out, "traffic", cost->traffic);
}

static void put_where(tc_json_out *out, const tc_report_node *n)
{
    static const char *const word[] = {"cpu", "merged"};
    if (n->where >= 0)
        tc_json_put_int(out, "region", n->where);
    else if (n->where != TC_WHERE_UNKNOWN)
        tc_json_put_text(out, "where", word[-1 - n->where]);
}

static void put_node(const tc_content *c, tc_json_out *out, const tc_report_node *n)
{
    tc_json_open(out, NULL, '{');
    tc_json_put_text(out, "name", n->name);
    tc_json_put_text(out, "op", n->op);
    put_if(out, "target", n->loc->target);
    put_if(out, "module", n->loc->module);
    put_if(out, "module_type", n->loc->module_type);
    put_if(out, "place", n->loc->place);
    put_if(out, "type", type_text(c, n->type));
    if (n->typed)
        tc_json_put_text(out, "typed", type_text(c, n->typed));
    if (n->second)
        tc_json_put_text(out, "second", type_text(c, n->second));
    put_where(out, n);
    put_if(out, "why", n->why);
    if (n->n_tosa) {
        tc_json_open(out, "tosa", '[');
        for (size_t i = 0; i < n->n_tosa; i++)
            tc_json_put_text(out, NULL, bare(n->tosa[i]));
        tc_json_close(out, ']');
    }
    put_cost(out, &n->cost);
    put_if(out, "hint", n->hint);
    put_error(out, "error_typed", &n->error[0]);
    put_error(out, "error_integer", &n->error[1]);
    tc_json_open(out, "in", '[');
    for (size_t i = 0; i < n->n_in; i++)
        tc_json_put_int(out, NULL, n->in[i]);
    tc_json_close(out, ']');
    tc_json_close(out, '}');
}

static void put_layout(const tc_content *c, tc_json_out *out)
{
    tc_json_open(out, "groups", '[');
    for (size_t i = 0; i < c->layout.n_group; i++) {
        const tc_layout_group *g = &c->layout.group[i];
        tc_json_open(out, NULL, '{');
        tc_json_put_text(out, "name", g->name);
        tc_json_put_text(out, "path", g->path);
        put_if(out, "type", g->type);
        tc_json_put_int(out, "parent", g->parent);
        tc_json_open(out, "items", '[');
        for (size_t k = 0; k < g->n_item; k++)
            tc_json_put_int(out, NULL, g->item[k]);
        tc_json_close(out, ']');
        tc_json_open(out, "edges", '[');
        for (size_t k = 0; k < g->n_edge; k++) {
            tc_json_put_int(out, NULL, g->edge[k].from);
            tc_json_put_int(out, NULL, g->edge[k].to);
        }
        tc_json_close(out, ']');
        tc_json_open(out, "rows", '[');
        for (size_t r = 0; r < g->n_row; r++) {
            tc_json_open(out, NULL, '[');
            for (size_t k = 0; k < g->n_in_row[r]; k++)
                tc_json_put_int(out, NULL, g->row[r][k]);
            tc_json_close(out, ']');
        }
        tc_json_close(out, ']');
        tc_json_close(out, '}');
    }
    tc_json_close(out, ']');
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
    tc_json_open(out, "errors", '[');
    for (size_t i = 0; i < n; i++)
        tc_json_put_int(out, NULL, list[i] - c->node);
    tc_json_close(out, ']');
}

static void put_steps(const tc_content *c, tc_json_out *out)
{
    tc_json_open(out, "steps", '[');
    for (size_t i = 0; i < c->n_step; i++) {
        const tc_report_step *s = &c->step[i];
        tc_json_open(out, NULL, '{');
        tc_json_put_text(out, "kind", s->kind);
        if (s->tosa)
            tc_json_put_text(out, "tosa", bare(s->tosa));
        tc_json_put_int(out, "node", s->node);
        tc_json_put_int(out, "region", (int64_t)s->region);
        put_cost(out, &s->cost);
        put_if(out, "hint", s->hint);
        tc_json_close(out, '}');
    }
    tc_json_close(out, ']');
}

/* A block is [name, first, last, offset, bytes]. */
static void put_memory(const tc_content *c, tc_json_out *out)
{
    tc_json_open(out, "memory", '[');
    for (size_t i = 0; i < c->n_memory; i++) {
        const tc_report_memory *m = &c->memory[i];
        tc_json_open(out, NULL, '{');
        tc_json_put_text(out, "name", m->name);
        tc_json_put_text(out, "unit", m->unit);
        tc_json_put_int(out, "bytes", m->bytes);
        tc_json_put_int(out, "steps", m->steps);
        if (m->clock) {
            tc_json_open(out, "clock", '[');
            for (int64_t k = 0; k <= m->steps; k++)
                tc_json_put_real(out, NULL, m->clock[k]);
            tc_json_close(out, ']');
        }
        tc_json_open(out, "blocks", '[');
        for (size_t k = 0; k < m->n_block; k++) {
            const tc_report_block *b = &m->block[k];
            tc_json_open(out, NULL, '[');
            tc_json_put_text(out, NULL, b->name);
            tc_json_put_int(out, NULL, b->first);
            tc_json_put_int(out, NULL, b->last);
            tc_json_put_int(out, NULL, b->offset);
            tc_json_put_int(out, NULL, b->bytes);
            tc_json_close(out, ']');
        }
        tc_json_close(out, ']');
        tc_json_close(out, '}');
    }
    tc_json_close(out, ']');
}

void tc_content_json(const tc_content *c, bool compact, tc_buf *to)
{
    tc_json_out out = {.to = to, .compact = compact};
    tc_json_open(&out, NULL, '{');
    tc_json_put_text(&out, "schema", "tosac-report");
    tc_json_put_int(&out, "schema_version", TC_REPORT_SCHEMA);
    tc_json_put_text(&out, "kind",
                     c->options.compiled     ? "compile"
                     : c->options.comparison ? "compare"
                     : c->options.typed      ? "quantize"
                                             : "model");
    put_model(c, &out);
    put_summary(c, &out);
    put_settings(c, &out);
    put_frontier(c, &out);
    put_regions(c, &out);
    put_cpu(c, &out);
    tc_json_open(&out, "nodes", '[');
    for (size_t k = 0; k < c->n_node; k++)
        put_node(c, &out, &c->node[k]);
    tc_json_close(&out, ']');
    put_layout(c, &out);
    put_errors(c, &out);
    put_steps(c, &out);
    put_memory(c, &out);
    tc_json_close(&out, '}');
}
