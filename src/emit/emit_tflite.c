/* SPDX-License-Identifier: Apache-2.0 */
/* emit_tflite.c -- a TensorFlow Lite model, as a file. */
#include "tflite_file.h"

enum { DATA_ALIGN = 16 };

typedef struct writer {
    tc_ctx *ctx;
    const tc_tfw_model *model;
    tc_fb_writer w;
    const tc_tfw_op **code; /* one operator of each code */
    size_t n_code, cap_code;
    tc_bytes *buffer; /* the first is unused */
    size_t n_buffer, cap_buffer;
} writer;

/* ---- buffers ---- */

static uint32_t buffer_of(writer *e, tc_bytes data)
{
    for (size_t i = 1; i < e->n_buffer; i++)
        if (e->buffer[i].size == data.size &&
            (e->buffer[i].data == data.data ||
             (data.size && memcmp(e->buffer[i].data, data.data, data.size) == 0)))
            return (uint32_t)i;
    tc_grow(&e->ctx->arena, e->buffer, e->n_buffer, e->cap_buffer);
    e->buffer[e->n_buffer] = data;
    return (uint32_t)e->n_buffer++;
}

static tc_fb_ref put_buffers(writer *e)
{
    tc_fb_ref *ref = tc_new_n(&e->ctx->arena, tc_fb_ref, e->n_buffer);
    for (size_t i = 0; i < e->n_buffer; i++) {
        tc_bytes b = e->buffer[i];
        tc_fb_ref data = b.size ? ti_fb_put_bytes(&e->w, b.data, b.size, DATA_ALIGN) : 0;
        ti_fb_begin(&e->w);
        ti_fb_set_ref(&e->w, BUFFER_DATA, data);
        ref[i] = ti_fb_end(&e->w);
    }
    return ti_fb_put_refs(&e->w, ref, e->n_buffer);
}

/* ---- tensors ---- */

static tc_fb_ref put_quant(writer *e, const tc_tfw_tensor *t)
{
    if (!t->n_scale)
        return 0;
    tc_buf scale;
    ti_buf_init(&scale, &e->ctx->arena);
    uint64_t *zero = tc_new_n(&e->ctx->arena, uint64_t, (size_t)t->n_scale);
    for (int i = 0; i < t->n_scale; i++) {
        float v = (float)t->scale[i];
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        ti_buf_u32(&scale, bits);
        zero[i] = (uint64_t)t->zero[i];
    }
    tc_fb_ref scales = ti_fb_put_words(&e->w, (tc_bytes){scale.data, scale.size});
    tc_fb_ref zeros = ti_fb_put_u64s(&e->w, zero, (size_t)t->n_scale);
    ti_fb_begin(&e->w);
    ti_fb_set_ref(&e->w, QUANT_SCALE, scales);
    ti_fb_set_ref(&e->w, QUANT_ZERO, zeros);
    ti_fb_set_u32(&e->w, QUANT_AXIS, (uint32_t)t->axis, 0);
    return ti_fb_end(&e->w);
}

static tc_fb_ref put_tensor(writer *e, const tc_tfw_tensor *t)
{
    uint32_t buffer = t->constant ? buffer_of(e, t->data) : 0;
    tc_fb_ref name = ti_fb_put_string(&e->w, ti_str_of(t->name));
    tc_fb_ref quant = put_quant(e, t);
    tc_fb_ref shape = ti_fb_put_i32s(&e->w, t->dim, (size_t)t->rank);
    ti_fb_begin(&e->w);
    ti_fb_set_ref(&e->w, TENSOR_SHAPE, shape);
    ti_fb_set_u8(&e->w, TENSOR_TYPE, (uint8_t)t->type, 0);
    ti_fb_set_u32(&e->w, TENSOR_BUFFER, buffer, 0);
    ti_fb_set_ref(&e->w, TENSOR_NAME, name);
    ti_fb_set_ref(&e->w, TENSOR_QUANT, quant);
    ti_fb_set_u8(&e->w, TENSOR_VARIABLE, t->variable, 0);
    ti_fb_set_u8(&e->w, TENSOR_HAS_RANK, t->rank == 0, 0);
    return ti_fb_end(&e->w);
}

static tc_fb_ref put_tensors(writer *e)
{
    const tc_tfw_model *m = e->model;
    tc_fb_ref *ref = tc_new_n(&e->ctx->arena, tc_fb_ref, m->n_tensor);
    for (size_t i = 0; i < m->n_tensor; i++)
        ref[i] = put_tensor(e, &m->tensor[i]);
    return ti_fb_put_refs(&e->w, ref, m->n_tensor);
}

/* ---- operators ---- */

static bool same_code(const tc_tfw_op *a, const tc_tfw_op *b)
{
    return a->code == b->code && a->version == b->version &&
           (a->code != TC_TFL_CUSTOM || ti_text_eq(a->custom, b->custom));
}

static uint32_t code_of(writer *e, const tc_tfw_op *op)
{
    for (size_t i = 0; i < e->n_code; i++)
        if (same_code(e->code[i], op))
            return (uint32_t)i;
    tc_grow(&e->ctx->arena, e->code, e->n_code, e->cap_code);
    e->code[e->n_code] = op;
    return (uint32_t)e->n_code++;
}

static tc_fb_ref put_codes(writer *e)
{
    enum { OLD_MOST = 127 }; /* later ones are encoded as this */
    tc_fb_ref *ref = tc_new_n(&e->ctx->arena, tc_fb_ref, e->n_code);
    for (size_t i = 0; i < e->n_code; i++) {
        const tc_tfw_op *op = e->code[i];
        bool custom = op->code == TC_TFL_CUSTOM && op->custom;
        tc_fb_ref name = custom ? ti_fb_put_string(&e->w, ti_str_of(op->custom)) : 0;
        ti_fb_begin(&e->w);
        ti_fb_set_u8(&e->w, CODE_OLD, (uint8_t)(op->code < OLD_MOST ? op->code : OLD_MOST), 0);
        ti_fb_set_ref(&e->w, CODE_CUSTOM, name);
        ti_fb_set_u32(&e->w, CODE_VERSION, (uint32_t)op->version, 1);
        ti_fb_set_u32(&e->w, CODE_NEW, (uint32_t)op->code, 0);
        ref[i] = ti_fb_end(&e->w);
    }
    return ti_fb_put_refs(&e->w, ref, e->n_code);
}

static tc_fb_ref put_options(writer *e, const tc_tfw_op *op)
{
    if (!op->options)
        return 0;
    if (op->copied.at)
        return ti_tfw_put_copy(&e->w, op->options, op->copied);
    ti_fb_begin(&e->w);
    for (int i = 0; i < op->n_field; i++) {
        const tc_tfw_field *f = &op->field[i];
        float real = (float)f->v;
        uint32_t bits;
        memcpy(&bits, &real, sizeof bits);
        if (f->kind == 'b')
            ti_fb_set_u8(&e->w, f->at, (uint8_t)f->v, 0);
        else
            ti_fb_set_u32(&e->w, f->at, f->kind == 'f' ? bits : (uint32_t)(int32_t)f->v, 0);
    }
    return ti_fb_end(&e->w);
}

static tc_fb_ref put_op(writer *e, const tc_tfw_op *op)
{
    uint32_t code = code_of(e, op);
    tc_bytes custom = op->custom_options;
    tc_fb_ref in = ti_fb_put_i32s(&e->w, op->in, op->n_in);
    tc_fb_ref out = ti_fb_put_i32s(&e->w, op->out, op->n_out);
    tc_fb_ref options = put_options(e, op);
    tc_fb_ref own = custom.size ? ti_fb_put_bytes(&e->w, custom.data, custom.size, 1) : 0;
    tc_fb_ref between = op->n_between ? ti_fb_put_i32s(&e->w, op->between, op->n_between) : 0;
    ti_fb_begin(&e->w);
    ti_fb_set_u32(&e->w, OP_CODE, code, 0);
    ti_fb_set_ref(&e->w, OP_INPUTS, in);
    ti_fb_set_ref(&e->w, OP_OUTPUTS, out);
    bool second = op->options & TC_TFW_SECOND;
    ti_fb_set_u8(&e->w, second ? OP_OPTIONS_2_TYPE : OP_OPTIONS_TYPE, (uint8_t)op->options, 0);
    ti_fb_set_ref(&e->w, second ? OP_OPTIONS_2 : OP_OPTIONS, options);
    ti_fb_set_ref(&e->w, OP_CUSTOM, own);
    ti_fb_set_ref(&e->w, OP_INTERMEDIATES, between);
    return ti_fb_end(&e->w);
}

static tc_fb_ref put_ops(writer *e)
{
    const tc_tfw_model *m = e->model;
    tc_fb_ref *ref = tc_new_n(&e->ctx->arena, tc_fb_ref, m->n_op);
    for (size_t i = 0; i < m->n_op; i++)
        ref[i] = put_op(e, &m->op[i]);
    return ti_fb_put_refs(&e->w, ref, m->n_op);
}

/* ---- the model ---- */

static tc_fb_ref put_graph(writer *e)
{
    const tc_tfw_model *m = e->model;
    tc_fb_ref tensors = put_tensors(e), ops = put_ops(e);
    tc_fb_ref in = ti_fb_put_i32s(&e->w, m->in, m->n_in);
    tc_fb_ref out = ti_fb_put_i32s(&e->w, m->out, m->n_out);
    tc_fb_ref name = ti_fb_put_string(&e->w, ti_str_of(m->graph));
    ti_fb_begin(&e->w);
    ti_fb_set_ref(&e->w, GRAPH_TENSORS, tensors);
    ti_fb_set_ref(&e->w, GRAPH_INPUTS, in);
    ti_fb_set_ref(&e->w, GRAPH_OUTPUTS, out);
    ti_fb_set_ref(&e->w, GRAPH_OPERATORS, ops);
    ti_fb_set_ref(&e->w, GRAPH_NAME, name);
    tc_fb_ref graph = ti_fb_end(&e->w);
    return ti_fb_put_refs(&e->w, &graph, 1);
}

static tc_fb_ref put_names(writer *e, const tc_tfw_name *name, size_t n)
{
    tc_fb_ref *ref = tc_new_n(&e->ctx->arena, tc_fb_ref, n);
    for (size_t i = 0; i < n; i++) {
        tc_fb_ref text = ti_fb_put_string(&e->w, ti_str_of(name[i].name));
        ti_fb_begin(&e->w);
        ti_fb_set_ref(&e->w, 0, text);
        ti_fb_set_u32(&e->w, 1, (uint32_t)name[i].tensor, 0);
        ref[i] = ti_fb_end(&e->w);
    }
    return ti_fb_put_refs(&e->w, ref, n);
}

static tc_fb_ref put_signatures(writer *e)
{
    const tc_tfw_model *m = e->model;
    tc_fb_ref *ref = tc_new_n(&e->ctx->arena, tc_fb_ref, m->n_signature);
    for (size_t i = 0; i < m->n_signature; i++) {
        const tc_tfw_signature *s = &m->signature[i];
        tc_fb_ref in = put_names(e, s->in, s->n_in), out = put_names(e, s->out, s->n_out);
        tc_fb_ref key = ti_fb_put_string(&e->w, ti_str_of(s->key));
        ti_fb_begin(&e->w);
        ti_fb_set_ref(&e->w, SIGNATURE_INPUTS, in);
        ti_fb_set_ref(&e->w, SIGNATURE_OUTPUTS, out);
        ti_fb_set_ref(&e->w, SIGNATURE_KEY, key);
        ref[i] = ti_fb_end(&e->w);
    }
    return m->n_signature ? ti_fb_put_refs(&e->w, ref, m->n_signature) : 0;
}

/* Each in a separate buffer: readers may access the elements as words. */
static tc_fb_ref put_metadata(writer *e)
{
    const tc_tfw_model *m = e->model;
    tc_fb_ref *ref = tc_new_n(&e->ctx->arena, tc_fb_ref, m->n_metadata);
    for (size_t i = 0; i < m->n_metadata; i++) {
        uint32_t buffer = buffer_of(e, m->metadata[i].data);
        tc_fb_ref name = ti_fb_put_string(&e->w, ti_str_of(m->metadata[i].name));
        ti_fb_begin(&e->w);
        ti_fb_set_ref(&e->w, METADATA_NAME, name);
        ti_fb_set_u32(&e->w, METADATA_BUFFER, buffer, 0);
        ref[i] = ti_fb_end(&e->w);
    }
    return m->n_metadata ? ti_fb_put_refs(&e->w, ref, m->n_metadata) : 0;
}

tc_status ti_emit_tflite(tc_ctx *ctx, const tc_tfw_model *model, tc_bytes *out)
{
    enum { SMALL = 1 << 16 };
    writer e = {.ctx = ctx, .model = model};
    size_t bytes = SMALL;
    for (size_t i = 0; i < model->n_tensor; i++)
        bytes += model->tensor[i].constant ? model->tensor[i].data.size : 0;
    ti_fb_write(&e.w, &ctx->arena, bytes);
    (void)buffer_of(&e, (tc_bytes){NULL, 0});
    tc_fb_ref graphs = put_graph(&e), signatures = put_signatures(&e), metadata = put_metadata(&e);
    tc_fb_ref codes = put_codes(&e), buffers = put_buffers(&e);
    tc_fb_ref text = ti_fb_put_string(&e.w, ti_str_of(model->description));
    ti_fb_begin(&e.w);
    ti_fb_set_u32(&e.w, MODEL_VERSION, TC_TFL_VERSION, 0);
    ti_fb_set_ref(&e.w, MODEL_CODES, codes);
    ti_fb_set_ref(&e.w, MODEL_GRAPHS, graphs);
    ti_fb_set_ref(&e.w, MODEL_DESCRIPTION, text);
    ti_fb_set_ref(&e.w, MODEL_BUFFERS, buffers);
    ti_fb_set_ref(&e.w, MODEL_METADATA, metadata);
    ti_fb_set_ref(&e.w, MODEL_SIGNATURES, signatures);
    tc_fb_ref root = ti_fb_end(&e.w);
    *out = ti_fb_finish(&e.w, root, TC_TFL_IDENTIFIER);
    return out->size ? TC_OK
                     : ti_error(ctx, NULL, TC_E_TOO_LARGE, "the .tflite would be past 2 GiB");
}
