/* SPDX-License-Identifier: Apache-2.0 */
/* door_model.c -- models: read, queried, run through passes, written. */
#include "../drive/made_by.h"
#include "../drive/model.h"

#include "../output/region_ports.h"

#include "../emit/emit.h"
#include "../ir/ir_text.h"
#include "../quant/quantizer.h"
#include "../read/read.h"
#include "../wire/file.h"
#include "../base/enter.h"

/* ---- reading ---- */

static void take_options(tc_ctx *ctx, const tc_model_options *o)
{
    tc_read_options *to = ti_reading(ctx);
    to->prefer_tosa = o->prefer_tosa != 0;
    to->keep_unread = o->keep_unread != 0;
    to->keep_open = o->unchecked != 0;
    to->open_dims = o->open_sizes != 0;
    to->method = ti_intern_text(ctx, o->method);
    to->sample = o->data;
    to->n_sample = o->n_data;
}

static tc_status take_module(tc_ctx *ctx, const char *name, tc_module *module, bool unchecked,
                             tc_model **out)
{
    const char *method = ti_reading(ctx)->method;
    if (method && !module->origin.n_method)
        return ti_usage(
            ctx, "%s has no methods, but '%s' was requested: only a .pte or a .tflite has "
                 "methods", name,
            method);
    if (!unchecked)
        TC_TRY(ti_verify(ctx, module));
    *out = ti_model_of(ctx, name, module);
    return TC_OK;
}

static tc_status open_model(tc_ctx *ctx, const char *path, const tc_model_options *options,
                            tc_model **out)
{
    tc_model_options o = TC_TAKE(tc_model_options, options);
    tc_module *module;
    path = ti_intern_text(ctx, path);
    take_options(ctx, &o);
    TC_TRY(ti_tell_progress(ctx, "reading", 0, 1));
    TC_TRY(ti_read(ctx, path, &module));
    if (o.dequantize)
        TC_TRY(ti_dequantize_borders(ctx, path, module));
    return take_module(ctx, path, module, o.unchecked, out);
}

tc_status tc_model_open(tc_ctx *ctx, const char *path, const tc_model_options *options,
                        tc_model **out)
{
    TC_ENTER(ctx, open_model(ctx, path, options, out));
}

static tc_bytes kept(tc_ctx *ctx, tc_bytes bytes, bool borrow)
{
    if (!borrow && bytes.data)
        bytes.data = ti_arena_copy(&ctx->arena, bytes.data, bytes.size);
    return bytes;
}

static tc_status read_model(tc_ctx *ctx, const char *name, tc_bytes bytes,
                            const tc_model_options *options, tc_model **out)
{
    tc_model_options o = TC_TAKE(tc_model_options, options);
    tc_module *module;
    name = ti_intern_text(ctx, name ? name : "model");
    take_options(ctx, &o);
    TC_TRY(
        ti_read_bytes(ctx, name, kept(ctx, bytes, o.borrow), kept(ctx, o.side, o.borrow), &module));
    return take_module(ctx, name, module, o.unchecked, out);
}

tc_status tc_model_read(tc_ctx *ctx, const char *name, tc_bytes bytes,
                        const tc_model_options *options, tc_model **out)
{
    TC_ENTER(ctx, read_model(ctx, name, bytes, options, out));
}

/* ---- queries ---- */

const char *tc_model_file(const tc_model *model)
{
    return model->name;
}

const char *tc_model_producer(const tc_model *model)
{
    return model->module->origin.producer;
}

const char *tc_model_method(const tc_model *model, size_t i)
{
    return i < model->module->origin.n_method ? model->module->origin.method[i] : NULL;
}

tc_model_stage tc_model_get_stage(const tc_model *model)
{
    const tc_module *m = model->module;
    return ti_quant_is_lowered(m) ? TC_STAGE_LOWERED
           : ti_quant_is_pt2e(m)  ? TC_STAGE_PT2E
           : ti_quant_is_typed(m) ? TC_STAGE_TYPED
                                  : TC_STAGE_FLOAT;
}

size_t tc_model_input_count(const tc_model *model)
{
    return ti_main(model->module)->n_in;
}

size_t tc_model_output_count(const tc_model *model)
{
    return ti_main(model->module)->n_out;
}

bool tc_model_input(const tc_model *model, size_t i, tc_port_info *out)
{
    return ti_port_fill(ti_main(model->module), false, i, out);
}

bool tc_model_output(const tc_model *model, size_t i, tc_port_info *out)
{
    return ti_port_fill(ti_main(model->module), true, i, out);
}

static const tc_graph *graph_at(const tc_model *model, size_t graph)
{
    return graph < model->module->n_graph ? model->module->graph[graph] : NULL;
}

size_t tc_model_graph_count(const tc_model *model)
{
    return model->module->n_graph;
}

const char *tc_model_graph_name(const tc_model *model, size_t graph)
{
    const tc_graph *g = graph_at(model, graph);
    return g ? g->name : NULL;
}

size_t tc_model_node_count(const tc_model *model, size_t graph)
{
    const tc_graph *g = graph_at(model, graph);
    return g ? g->n_node : 0;
}

bool tc_model_node(const tc_model *model, size_t graph, size_t i, tc_node_info *out)
{
    const tc_graph *g = graph_at(model, graph);
    if (!g || i >= g->n_node)
        return 0;
    const tc_node *node = g->node[i];
    ti_fill_record(out,
                   &(tc_node_info){.op = tc_ops[node->op].name,
                                   .loc = node->loc,
                                   .in = node->in,
                                   .n_in = (size_t)node->n_in,
                                   .out = node->out,
                                   .n_out = (size_t)node->n_out},
                   sizeof *out);
    return 1;
}

size_t tc_model_value_count(const tc_model *model, size_t graph)
{
    const tc_graph *g = graph_at(model, graph);
    return g && g->n_val ? g->n_val - 1 : 0;
}

bool tc_model_value(const tc_model *model, size_t graph, uint32_t value, tc_value_info *out)
{
    const tc_graph *g = graph_at(model, graph);
    if (!g || value == TC_NONE || value >= g->n_val)
        return 0;
    const tc_value *v = g->val[value];
    ti_fill_record(out, &(tc_value_info){.name = v->name, .type = v->type, .data = v->data},
                   sizeof *out);
    return 1;
}

/* ---- passes ---- */

static tc_status run_passes(tc_ctx *ctx, tc_model *model, const char *passes, tc_on_pass *on_pass,
                            void *user)
{
    tc_pass_hook hook = {on_pass, user};
    tc_trace trace = ti_hook_trace(&hook);
    return ti_run_passes(ctx, model->module, passes ? passes : "", on_pass ? &trace : NULL);
}

tc_status tc_model_run_passes(tc_ctx *ctx, tc_model *model, const char *passes, tc_on_pass *on_pass,
                              void *user)
{
    TC_ENTER(ctx, run_passes(ctx, model, passes, on_pass, user));
}

bool tc_pass_at(size_t i, tc_pass_info *out)
{
    size_t n = 0;
    for (const tc_pass *p = tc_passes; p->name; p++, n++)
        if (n == i) {
            ti_fill_record(out, &(tc_pass_info){.name = p->name, .doc = p->doc}, sizeof *out);
            return 1;
        }
    for (const tc_pass_list *l = tc_pass_lists; l->name; l++, n++)
        if (n == i) {
            ti_fill_record(out, &(tc_pass_info){.name = l->name, .doc = l->doc, .list = l->passes},
                           sizeof *out);
            return 1;
        }
    return 0;
}

/* ---- writing ---- */

static tc_status print_text(tc_ctx *ctx, const tc_model *model, bool locations, tc_bytes *out)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    ti_print(model->module, &(tc_print_options){.locs = locations}, &text);
    *out = (tc_bytes){(const uint8_t *)ti_buf_cstr(&text), text.size};
    return TC_OK;
}

tc_status tc_model_text(tc_ctx *ctx, const tc_model *model, bool locations, tc_bytes *out)
{
    TC_ENTER(ctx, print_text(ctx, model, locations, out));
}

tc_status tc_model_write(tc_ctx *ctx, const tc_model *model, const char *path)
{
    TC_ENTER(ctx, ti_write_text(ctx, model->module, ti_made_by_typed(ctx, model->module), path));
}

static tc_status qparams(tc_ctx *ctx, const tc_model *model, tc_bytes *out)
{
    *out = ti_qparams_json(ctx, model->module);
    return TC_OK;
}

tc_status tc_model_qparams(tc_ctx *ctx, const tc_model *model, tc_bytes *out)
{
    TC_ENTER(ctx, qparams(ctx, model, out));
}

tc_status tc_model_write_qparams(tc_ctx *ctx, const tc_model *model, const char *path)
{
    TC_ENTER(ctx, ti_file_write(ctx, path, ti_qparams_json(ctx, model->module)));
}
