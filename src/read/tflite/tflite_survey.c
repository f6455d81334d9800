/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_survey.c -- what a TensorFlow Lite model holds, from the file alone, so that one whose
 * operators are not all known can still be looked at. */
#include "../survey.h"

#include "tflite_program.h"

static const char *op_name(tc_tfl *reader, tc_fb_table op)
{
    tc_str custom;
    int version, code = ti_tfl_code(reader, op, &custom, &version);
    const tc_tfl_row *row = ti_tfl_row_of(reader, code);
    return row ? row->name : ti_tfl_unlisted(reader, code, custom);
}

/* "i8[1,224,224,3] q(0.0078:-1)"; open sizes as "?". */
static const char *type_text(tc_tfl *reader, const tc_tfl_tensor *t)
{
    tc_buf out;
    ti_buf_init(&out, &reader->ctx->arena);
    tc_dtype dtype = t->shifted ? TC_u8 : t->dtype;
    ti_buf_text(&out, dtype ? tc_dtypes[dtype].name : ti_tfl_type_name(t->code));
    ti_buf_text(&out, "[");
    for (int i = 0; i < t->rank; i++) {
        ti_buf_printf(&out, t->open >> i & 1 || t->dim[i] < 0 ? "%s?" : "%s%" PRId64, i ? "," : "",
                      t->dim[i]);
    }
    ti_buf_text(&out, "]");
    if (t->n_scale == 1)
        ti_buf_printf(&out, " q(%.7g:%" PRId64 ")", t->scale[0],
                      t->zero[0] + (t->shifted ? 128 : 0));
    else if (t->n_scale)
        ti_buf_printf(&out, " q(%d scales, axis %d)", t->n_scale, t->axis);
    return ti_buf_cstr(&out);
}

static void ports(tc_tfl_scope *scope, uint32_t field, tc_survey_port **list, size_t *n,
                  size_t *cap)
{
    tc_fb_vector v = ti_fb_list(scope->graph, field, 4);
    for (size_t k = 0; k < v.n; k++) {
        int64_t i = ti_fb_list_i32(v, k);
        if (i < 0 || (size_t)i >= scope->n_tensor)
            continue;
        const tc_tfl_tensor *t = &scope->tensor[i];
        const char *type = type_text(scope->reader, t);
        uint32_t named = field == GRAPH_INPUTS ? SIGNATURE_INPUTS : SIGNATURE_OUTPUTS;
        const char *name = ti_tfl_signature_name(scope->reader, scope->index, named, i);
        tc_grow(&scope->reader->ctx->arena, *list, *n, *cap);
        (*list)[(*n)++] = (tc_survey_port){name ? name : t->name, type};
    }
}

static void hold(tc_tfl_scope *scope, tc_survey *s)
{
    for (size_t i = 0; i < scope->n_tensor; i++) {
        const tc_tfl_tensor *t = &scope->tensor[i];
        tc_bytes raw =
            ti_tfl_buffer(scope->reader, (int64_t)ti_fb_u32(t->table, TENSOR_BUFFER, 0));
        int64_t count = ti_dims_count(t->rank, t->dim);
        if (!raw.data || count < 0)
            continue;
        s->parameters.tensors++;
        s->parameters.elements += count;
        s->parameters.bytes += (int64_t)raw.size;
    }
}

tc_status ti_survey_tflite(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_survey *s)
{
    tc_tfl *reader = tc_new(&ctx->arena, tc_tfl);
    reader->ctx = ctx;
    reader->file = file;
    reader->bytes = bytes;
    TC_TRY(ti_tfl_open(reader));
    int64_t chosen;
    TC_TRY(ti_tfl_choose(reader, &chosen));
    s->producer = ti_tfl_producer(reader);
    for (size_t g = 0; g < reader->graphs.n; g++) {
        tc_tfl_scope scope = {.reader = reader, .prefix = ""};
        TC_TRY(ti_tfl_tensors(&scope, (int64_t)g));
        if ((int64_t)g == chosen) {
            ports(&scope, GRAPH_INPUTS, &s->in, &s->n_in, &s->cap_in);
            ports(&scope, GRAPH_OUTPUTS, &s->out, &s->n_out, &s->cap_out);
        }
        hold(&scope, s);
        tc_fb_vector ops = ti_fb_list(scope.graph, GRAPH_OPERATORS, 4);
        for (size_t i = 0; i < ops.n && !reader->fb.error; i++)
            ti_survey_count(ctx, s, op_name(reader, ti_fb_list_table(ops, i)));
        TC_TRY(ti_tfl_broken(reader));
    }
    tc_fb_vector signatures = ti_fb_list(reader->root, MODEL_SIGNATURES, 4);
    if (reader->graphs.n > 1 || signatures.n > 1) {
        tc_buf names;
        ti_buf_init(&names, &ctx->arena);
        for (size_t k = 0; k < signatures.n && k < 20; k++)
            ti_buf_printf(&names, "%s %.60s", k ? "," : ":", reader->key[k]);
        s->version = ti_text_format(&ctx->arena, "(%zu graphs, %zu signatures%s)",
                                    reader->graphs.n, signatures.n, ti_buf_cstr(&names));
    }
    ti_survey_sort(s);
    return ti_tfl_broken(reader);
}
