/* SPDX-License-Identifier: Apache-2.0 */
/* model.c -- models: read, asked, run through passes, written. */
#include "model.h"

#include "borders.h"

#include "../emit/emit.h"
#include "../ir/text.h"
#include "../quant/quant.h"
#include "../read/read.h"
#include "../wire/file.h"
#include "enter.h"

tc_model *tc_model_of(tc_ctx *ctx, const char *name, tc_module *module)
{
    tc_model *model = tc_new(&ctx->arena, tc_model);
    *model = (tc_model){tc_intern_text(ctx, name), module};
    return model;
}

/* ---- reading ---- */

static tc_status take_module(tc_ctx *ctx, const char *name, tc_module *module, bool unchecked,
                             tc_model **out)
{
    if (ctx->method && !module->n_method)
        return tc_usage(
            ctx, "%s has no methods, and '%s' is asked for: a .pte or a .tflite has some", name,
            ctx->method);
    if (!unchecked)
        TC_TRY(tc_verify(ctx, module));
    *out = tc_model_of(ctx, name, module);
    return TC_OK;
}

static tc_status open_model(tc_ctx *ctx, const char *path, const tc_model_options *options,
                            tc_model **out)
{
    tc_model_options o = TC_TAKE(tc_model_options, options);
    tc_module *module;
    path = tc_intern_text(ctx, path);
    ctx->prefer_tosa = o.prefer_tosa != 0;
    ctx->method = tc_intern_text(ctx, o.method);
    TC_TRY(tc_tell_progress(ctx, "reading", 0, 1));
    ctx->sample = o.data;
    ctx->n_sample = o.n_data;
    TC_TRY(tc_read(ctx, path, &module));
    if (o.dequantize)
        TC_TRY(tc_dequantize_borders(ctx, path, module));
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
        bytes.data = tc_arena_copy(&ctx->arena, bytes.data, bytes.size);
    return bytes;
}

static tc_status read_model(tc_ctx *ctx, const char *name, tc_bytes bytes,
                            const tc_model_options *options, tc_model **out)
{
    tc_model_options o = TC_TAKE(tc_model_options, options);
    tc_module *module;
    name = tc_intern_text(ctx, name ? name : "model");
    ctx->prefer_tosa = o.prefer_tosa != 0;
    ctx->method = tc_intern_text(ctx, o.method);
    ctx->sample = o.data;
    ctx->n_sample = o.n_data;
    TC_TRY(
        tc_read_bytes(ctx, name, kept(ctx, bytes, o.borrow), kept(ctx, o.side, o.borrow), &module));
    return take_module(ctx, name, module, o.unchecked, out);
}

tc_status tc_model_read(tc_ctx *ctx, const char *name, tc_bytes bytes,
                        const tc_model_options *options, tc_model **out)
{
    TC_ENTER(ctx, read_model(ctx, name, bytes, options, out));
}

/* ---- asking ---- */

const char *tc_model_file(const tc_model *model)
{
    return model->name;
}

const char *tc_model_producer(const tc_model *model)
{
    return model->module->producer;
}

const char *tc_model_method(const tc_model *model, size_t i)
{
    return i < model->module->n_method ? model->module->method[i] : NULL;
}

tc_model_stage tc_model_get_stage(const tc_model *model)
{
    const tc_module *m = model->module;
    return tc_quant_is_lowered(m) ? TC_STAGE_LOWERED
           : tc_quant_is_pt2e(m)  ? TC_STAGE_PT2E
           : tc_quant_is_typed(m) ? TC_STAGE_TYPED
                                  : TC_STAGE_FLOAT;
}

/* The i-th of the ports that are tensors, or the value itself. */
static const char *port_name(const tc_graph *g, const tc_port *port, size_t n, tc_val val, size_t i)
{
    size_t at = 0;
    for (size_t k = 0; k < n; k++)
        if (port[k].val != TC_NONE && at++ == i)
            return port[k].name;
    return g->val[val]->name;
}

const char *tc_input_name(const tc_graph *g, size_t i)
{
    return port_name(g, g->module->in_port, g->module->n_in_port, g->in[i], i);
}

const char *tc_output_name_of(const tc_graph *g, size_t i)
{
    return port_name(g, g->module->out_port, g->module->n_out_port, g->out[i], i);
}

const tc_type *tc_port_codes(const tc_graph *g, bool output, size_t i)
{
    const tc_module *m = g->module;
    const tc_port *port = output ? m->out_port : m->in_port;
    const tc_type *type = tc_type_of(g, output ? g->out[i] : g->in[i]);
    size_t at = 0;
    for (size_t k = 0; k < (output ? m->n_out_port : m->n_in_port) && g == tc_main(m); k++)
        if (port[k].val != TC_NONE && at++ == i) {
            const tc_type *codes = port[k].codes;
            return codes && codes->dtype == type->dtype && !type->quant ? codes : type;
        }
    return type;
}

int tc_port_fill(const tc_graph *g, bool output, size_t i, tc_port_info *out)
{
    if (i >= (output ? g->n_out : g->n_in))
        return 0;
    tc_val v = output ? g->out[i] : g->in[i];
    tc_fill_record(out,
                   &(tc_port_info){.name = output ? tc_output_name_of(g, i) : tc_input_name(g, i),
                                   .type = tc_port_codes(g, output, i),
                                   .value = v},
                   sizeof *out);
    return 1;
}

size_t tc_model_input_count(const tc_model *model)
{
    return tc_main(model->module)->n_in;
}

size_t tc_model_output_count(const tc_model *model)
{
    return tc_main(model->module)->n_out;
}

int tc_model_input(const tc_model *model, size_t i, tc_port_info *out)
{
    return tc_port_fill(tc_main(model->module), false, i, out);
}

int tc_model_output(const tc_model *model, size_t i, tc_port_info *out)
{
    return tc_port_fill(tc_main(model->module), true, i, out);
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

int tc_model_node(const tc_model *model, size_t graph, size_t i, tc_node_info *out)
{
    const tc_graph *g = graph_at(model, graph);
    if (!g || i >= g->n_node)
        return 0;
    const tc_node *node = g->node[i];
    tc_fill_record(out,
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

int tc_model_value(const tc_model *model, size_t graph, uint32_t value, tc_value_info *out)
{
    const tc_graph *g = graph_at(model, graph);
    if (!g || value == TC_NONE || value >= g->n_val)
        return 0;
    const tc_value *v = g->val[value];
    tc_fill_record(out, &(tc_value_info){.name = v->name, .type = v->type, .data = v->data},
                   sizeof *out);
    return 1;
}

/* ---- passes ---- */

static tc_status after_pass(void *user, const tc_module *module, const tc_pass *pass)
{
    tc_pass_hook *hook = user;
    tc_model lent = {module->file, (tc_module *)(uintptr_t)module};
    return hook->on_pass(hook->user, &lent, pass->name);
}

tc_trace tc_hook_trace(tc_pass_hook *hook)
{
    return (tc_trace){after_pass, hook};
}

static tc_status run_passes(tc_ctx *ctx, tc_model *model, const char *passes, tc_on_pass *on_pass,
                            void *user)
{
    tc_pass_hook hook = {on_pass, user};
    tc_trace trace = tc_hook_trace(&hook);
    return tc_run_passes(ctx, model->module, passes ? passes : "", on_pass ? &trace : NULL);
}

tc_status tc_model_run_passes(tc_ctx *ctx, tc_model *model, const char *passes, tc_on_pass *on_pass,
                              void *user)
{
    TC_ENTER(ctx, run_passes(ctx, model, passes, on_pass, user));
}

int tc_pass_at(size_t i, tc_pass_info *out)
{
    size_t n = 0;
    for (const tc_pass *p = tc_passes; p->name; p++, n++)
        if (n == i) {
            tc_fill_record(out, &(tc_pass_info){.name = p->name, .doc = p->doc}, sizeof *out);
            return 1;
        }
    for (const tc_pass_list *l = tc_pass_lists; l->name; l++, n++)
        if (n == i) {
            tc_fill_record(out, &(tc_pass_info){.name = l->name, .doc = l->doc, .list = l->passes},
                           sizeof *out);
            return 1;
        }
    return 0;
}

/* ---- writing ---- */

static tc_status print_text(tc_ctx *ctx, const tc_model *model, int places, tc_bytes *out)
{
    tc_buf text;
    tc_buf_init(&text, &ctx->arena);
    tc_print(model->module, &(tc_print_options){.locs = places != 0}, &text);
    *out = (tc_bytes){(const uint8_t *)tc_buf_cstr(&text), text.size};
    return TC_OK;
}

tc_status tc_model_text(tc_ctx *ctx, const tc_model *model, int places, tc_bytes *out)
{
    TC_ENTER(ctx, print_text(ctx, model, places, out));
}

tc_status tc_model_write(tc_ctx *ctx, const tc_model *model, const char *path)
{
    TC_ENTER(ctx, tc_write_text(ctx, model->module, path));
}

static tc_status qparams(tc_ctx *ctx, const tc_model *model, tc_bytes *out)
{
    *out = tc_qparams_json(ctx, model->module);
    return TC_OK;
}

tc_status tc_model_qparams(tc_ctx *ctx, const tc_model *model, tc_bytes *out)
{
    TC_ENTER(ctx, qparams(ctx, model, out));
}

tc_status tc_model_write_qparams(tc_ctx *ctx, const tc_model *model, const char *path)
{
    TC_ENTER(ctx, tc_file_write(ctx, path, tc_qparams_json(ctx, model->module)));
}

/* ---- copies ---- */

static void *again(tc_arena *arena, const void *data, size_t n, size_t size)
{
    void *copy = tc_arena_array(arena, n, size, _Alignof(max_align_t));
    return n ? memcpy(copy, data, n * size) : copy;
}

static tc_graph *clone_graph(tc_module *module, const tc_graph *from)
{
    tc_arena *arena = &module->ctx->arena;
    tc_graph *g = again(arena, from, 1, sizeof *from);
    g->module = module;
    g->val = tc_new_n(arena, tc_value *, from->n_val);
    for (size_t v = 1; v < from->n_val; v++)
        g->val[v] = again(arena, from->val[v], 1, sizeof *from->val[v]);
    g->node = tc_new_n(arena, tc_node *, from->n_node);
    for (size_t k = 0; k < from->n_node; k++) {
        tc_node *node = g->node[k] = again(arena, from->node[k], 1, sizeof **from->node);
        node->in = again(arena, node->in, (size_t)node->n_in, sizeof *node->in);
        node->out = again(arena, node->out, (size_t)node->n_out, sizeof *node->out);
        for (int i = 0; i < node->n_out; i++)
            g->val[node->out[i]]->def = node;
    }
    g->in = again(arena, from->in, from->n_in, sizeof *from->in);
    g->out = again(arena, from->out, from->n_out, sizeof *from->out);
    g->mutation = again(arena, from->mutation, from->n_mutation, sizeof *from->mutation);
    g->cap_val = from->n_val;
    g->cap_node = from->n_node;
    g->cap_in = from->n_in;
    g->cap_out = from->n_out;
    g->cap_mutation = from->n_mutation;
    return g;
}

tc_module *tc_module_clone(const tc_module *module)
{
    tc_module *copy = tc_module_copy(module);
    for (size_t i = 0; i < module->n_graph; i++)
        copy->graph[i] = clone_graph(copy, module->graph[i]);
    copy->variable = NULL;
    copy->n_variable = copy->cap_variable = 0;
    return copy;
}
