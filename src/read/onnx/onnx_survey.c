/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_survey.c -- what an ONNX model holds, from the file alone, so that one whose operators or
 * sizes are not all known can still be looked at. */
#include "../survey.h"

#include "onnx_program.h"

static void count_nodes(tc_ctx *ctx, TcOnnxPb__Node *const *node, size_t n, tc_survey *s)
{
    for (size_t i = 0; i < n; i++) {
        const char *domain = node[i]->domain && *node[i]->domain ? node[i]->domain : NULL;
        const char *op = node[i]->op_type ? node[i]->op_type : "";
        ti_survey_count(ctx, s,
                        domain && !ti_text_eq(domain, "ai.onnx")
                            ? ti_text_format(&ctx->arena, "%s.%s", domain, op)
                            : ti_text_copy(&ctx->arena, ti_str_of(op)));
        for (size_t k = 0; k < node[i]->n_attribute; k++)
            if (node[i]->attribute[k]->g)
                count_nodes(ctx, node[i]->attribute[k]->g->node, node[i]->attribute[k]->g->n_node,
                            s);
    }
}

static void add_dim(tc_ctx *ctx, tc_survey *s, size_t *cap, const char *name, const char *input,
                    int axis)
{
    for (size_t i = 0; i < s->n_dim; i++)
        if (ti_text_eq(s->dim[i].name, name))
            return;
    tc_grow(&ctx->arena, s->dim, s->n_dim, *cap);
    s->dim[s->n_dim++] = (tc_survey_dim){name, 0, INT64_MAX, input, axis};
}

/* "f32[batch,3,48,?]"; open sizes of inputs are noted by name, or by axis. */
static const char *type_text(tc_ctx *ctx, const TcOnnxPb__ValueInfo *v, tc_survey *s, size_t *cap)
{
    const TcOnnxPb__TensorType *t = v->type ? v->type->tensor : NULL;
    if (!t)
        return v->type && v->type->has_sequence ? "a sequence" : "no tensor";
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    tc_dtype dtype = ti_onnx_dtype(t->elem_type);
    ti_buf_text(&out, dtype ? tc_dtypes[dtype].name : ti_onnx_dtype_name(t->elem_type));
    ti_buf_text(&out, t->shape ? "[" : "[...");
    for (size_t i = 0; t->shape && i < t->shape->n_dim; i++) {
        const TcOnnxPb__Dim *d = t->shape->dim[i];
        const char *name = ti_onnx_dim_name(d);
        ti_buf_text(&out, i ? "," : "");
        if (!name && d->has_value && d->value >= 0)
            ti_buf_printf(&out, "%" PRId64, d->value);
        else
            ti_buf_text(&out, name ? name : "?");
        if (cap && !(!name && d->has_value && d->value >= 0))
            add_dim(ctx, s, cap,
                    name ? name
                         : ti_text_format(&ctx->arena, "%s.%zu", v->name ? v->name : "", i),
                    v->name, (int)i);
    }
    ti_buf_text(&out, "]");
    return ti_buf_cstr(&out);
}

static void hold(const TcOnnxPb__Tensor *t, tc_survey_held *held)
{
    tc_dtype dtype = ti_onnx_dtype(t->data_type);
    int64_t count = t->n_dims <= TC_MAX_RANK ? ti_dims_count((int32_t)t->n_dims, t->dims) : -1;
    held->tensors++;
    if (count > 0) {
        held->elements += count;
        held->bytes += count * tc_dtypes[dtype].bytes;
    }
}

static tc_status survey(tc_onnx *reader, tc_survey *s)
{
    tc_ctx *ctx = reader->ctx;
    TC_TRY(ti_onnx_parse(reader));
    const TcOnnxPb__Model *model = reader->model;
    const TcOnnxPb__Graph *graph = model->graph;
    size_t cap = 0;
    tc_map weights;
    ti_map_init(&weights, &reader->work);
    for (size_t i = 0; i < graph->n_initializer; i++) {
        if (graph->initializer[i]->name)
            *ti_map_at(&weights, ti_str_of(graph->initializer[i]->name)) = reader;
        hold(graph->initializer[i], &s->parameters);
    }
    for (size_t i = 0; i < graph->n_input; i++) {
        const TcOnnxPb__ValueInfo *v = graph->input[i];
        const char *name = ti_intern_text(ctx, v->name ? v->name : "");
        if (ti_map_get(&weights, ti_str_of(name)))
            continue;
        const char *type = type_text(ctx, v, s, &cap);
        tc_grow(&ctx->arena, s->in, s->n_in, s->cap_in);
        s->in[s->n_in++] = (tc_survey_port){name, type};
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        const TcOnnxPb__ValueInfo *v = graph->output[i];
        const char *type = type_text(ctx, v, s, NULL);
        tc_grow(&ctx->arena, s->out, s->n_out, s->cap_out);
        s->out[s->n_out++] = (tc_survey_port){ti_intern_text(ctx, v->name ? v->name : ""), type};
    }
    for (size_t i = 0; i < s->n_dim; i++) { /* what the reading leaves goes with it */
        s->dim[i].name = ti_intern_text(ctx, s->dim[i].name);
        s->dim[i].input = ti_intern_text(ctx, s->dim[i].input);
    }
    count_nodes(ctx, graph->node, graph->n_node, s);
    for (size_t i = 0; i < model->n_functions; i++)
        count_nodes(ctx, model->functions[i]->node, model->functions[i]->n_node, s);
    ti_survey_sort(s);
    for (size_t i = 0; i < model->n_opset_import; i++)
        if (!model->opset_import[i]->domain || !*model->opset_import[i]->domain ||
            ti_text_eq(model->opset_import[i]->domain, "ai.onnx"))
            s->version = ti_text_format(&ctx->arena, "(operator set %" PRId64 ")",
                                        model->opset_import[i]->version);
    s->producer = ti_onnx_producer(reader);
    return TC_OK;
}

tc_status ti_survey_onnx(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_survey *out)
{
    tc_onnx *reader = tc_new(&ctx->arena, tc_onnx);
    reader->ctx = ctx;
    reader->file = file;
    reader->bytes = bytes;
    ti_arena_init_like(&reader->work, &ctx->arena);
    reader->work.limit = ctx->arena.limit;
    ti_ctx_defer(ctx, ti_arena_end, &reader->work);
    tc_status status = survey(reader, out);
    ti_arena_free(&reader->work);
    return status;
}
