/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_dims.c -- a model's inputs: their types, and the values of open sizes.
 *
 * A size is open when the file has a name for it ("batch"), or nothing at all.  It is given, in
 * this order, by --shape for the input, by --dim for the name or the axis ("x.2": axis 2 of input
 * x), or by the data that the model is run on, if there is one array for each input.  A one-element
 * integer input, such as a rate, is given by --dim too, and becomes a constant. */
#include "../../num/load.h"
#include "../data.h"
#include "../read_fixed.h"
#include "onnx_program.h"

/* The model's inputs that are not initializers. */
static bool is_input(const tc_onnx_scope *scope, const TcOnnxPb__ValueInfo *v)
{
    return v->name && !ti_map_get(&scope->name, ti_str_of(v->name));
}

static bool is_fixed(const TcOnnxPb__Dim *d)
{
    return d && d->has_value && d->value >= 0 && !(d->param && *d->param);
}

/* Every input has a unique name, and the type of its initializer, if it has that default. */
static tc_status check_inputs(const tc_onnx *reader)
{
    const TcOnnxPb__Graph *graph = reader->model->graph;
    tc_ctx *ctx = reader->ctx;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_map seen;
    ti_map_init(&seen, &ctx->scratch);
    tc_status status = TC_OK;
    const tc_loc loc = {.file = reader->file};
    for (size_t i = 0; i < graph->n_input && status == TC_OK; i++) {
        const TcOnnxPb__ValueInfo *v = graph->input[i];
        if (!v->name)
            continue;
        void **at = ti_map_at(&seen, ti_str_of(v->name));
        if (*at)
            status = ti_error(ctx, &loc, TC_E_STRUCTURE, "two inputs are named '%.200s'", v->name);
        *at = graph->input[i];
    }
    for (size_t i = 0; i < graph->n_initializer && status == TC_OK; i++) {
        const TcOnnxPb__Tensor *t = graph->initializer[i];
        const TcOnnxPb__ValueInfo *v = t->name ? ti_map_get(&seen, ti_str_of(t->name)) : NULL;
        const TcOnnxPb__TensorType *type = v && v->type ? v->type->tensor : NULL;
        const TcOnnxPb__Shape *shape = type ? type->shape : NULL;
        bool fits = !type || type->elem_type == t->data_type;
        fits = fits && (!shape || shape->n_dim == t->n_dims);
        for (size_t k = 0; fits && shape && k < shape->n_dim; k++)
            fits = !is_fixed(shape->dim[k]) || shape->dim[k]->value == t->dims[k];
        if (!fits)
            status = ti_error(ctx, &loc, TC_E_MISMATCH,
                              "the input '%.200s' and its initializer are of different types",
                              v->name);
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

const char *ti_onnx_dim_name(const TcOnnxPb__Dim *d)
{
    return d && d->param && *d->param && !ti_text_eq(d->param, "?") ? d->param : NULL;
}

static bool said(tc_ctx *ctx, const char *name, int64_t *out)
{
    const tc_read_options *o = ti_reading(ctx);
    bool found = false;
    for (size_t i = 0; i < o->n_dim; i++)
        if (ti_text_eq(o->dim[i].name, name) && !ti_dim_open(&o->dim[i])) {
            o->dim[i].used = found = true;
            o->dim[i].symbol = o->dim[i].name;
            *out = o->dim[i].value;
        }
    return found;
}

/* The size stays open, and the model is read with one of the range. */
static void leave_open(tc_onnx *reader, const TcOnnxPb__ValueInfo *v, const tc_dim_given *d,
                       int axis, int64_t *out)
{
    enum { EXAMPLE = 8, MOST = 64 };
    tc_module *m = reader->module;
    size_t k = 0;
    while (k < m->open.n && !ti_text_eq(m->open.size[k].name, d->name))
        k++;
    *out = d->lo > EXAMPLE ? d->lo : d->hi < EXAMPLE ? d->hi : EXAMPLE;
    m->open.size = m->open.size ? m->open.size : tc_new_n(&reader->ctx->arena, tc_open_size, MOST);
    if (k == m->open.n && k < MOST)
        m->open.size[m->open.n++] = (tc_open_size){.name = d->name,
                                              .word = d->name,
                                              .input = ti_intern_text(reader->ctx, v->name),
                                              .axis = axis,
                                              .lo = d->lo,
                                              .hi = d->hi,
                                              .value = *out,
                                              .list = d->list,
                                              .n_list = d->n_list};
}

/* A range is said of the name. */
static bool ranged(tc_onnx *reader, const TcOnnxPb__ValueInfo *v, const char *name, int axis,
                   int64_t *out)
{
    const tc_read_options *o = ti_reading(reader->ctx);
    for (size_t i = 0; name && o->open_dims && i < o->n_dim; i++) {
        tc_dim_given *d = &o->dim[i];
        if (!ti_dim_open(d) || !ti_text_eq(d->name, name))
            continue;
        leave_open(reader, v, d, axis, out);
        d->used = true;
        return true;
    }
    return false;
}

/* Nothing is said, and data will say it. */
static bool unsaid(tc_onnx *reader, const TcOnnxPb__ValueInfo *v, const char *name, int axis,
                   int64_t *out)
{
    const tc_read_options *o = ti_reading(reader->ctx);
    if (!o->keep_open || !o->open_dims)
        return false;
    leave_open(reader, v,
               &(tc_dim_given){.name = ti_intern_text(reader->ctx, name), .lo = 1, .hi = INT64_MAX},
               axis, out);
    return true;
}

/* An optional value's tensor: present, since the caller supplies it. */
static const TcOnnxPb__TensorType *tensor_of(const TcOnnxPb__ValueInfo *v)
{
    enum { DEEPEST = 8 };
    const TcOnnxPb__Type *t = v->type;
    for (int i = 0; i < DEEPEST && t && !t->tensor && t->optional_type; i++)
        t = t->optional_type->elem_type;
    return t ? t->tensor : NULL;
}

/* An integer input of one number that --dim gives its number by its name: a constant. */
static bool is_said(tc_onnx_scope *scope, const TcOnnxPb__ValueInfo *v, tc_tensor *out)
{
    tc_ctx *ctx = scope->reader->ctx;
    const TcOnnxPb__TensorType *t = tensor_of(v);
    tc_dtype dtype = t ? ti_onnx_dtype(t->elem_type) : TC_none;
    int64_t number = 0, one[TC_MAX_RANK];
    size_t rank = t && t->shape ? t->shape->n_dim : 0;
    if (!t || !t->shape || rank > TC_MAX_RANK || dtype == TC_none || !ti_is_int(dtype))
        return false;
    for (size_t i = 0; i < rank; i++) {
        one[i] = 1;
        if (!is_fixed(t->shape->dim[i]) || t->shape->dim[i]->value != 1)
            return false;
    }
    if (!said(ctx, v->name, &number) || number < ti_dtype_min(dtype) ||
        number > ti_dtype_max(dtype))
        return false;
    *out = ti_tensor_new(&ctx->arena, ti_type_make(ctx, dtype, (int32_t)rank, one));
    ti_store_i64(*out, 0, number);
    return true;
}

/* What is to be said of an axis that is open: a batch is one. */
static const char *wanted(const TcOnnxPb__Dim *d, size_t axis)
{
    const char *name = ti_onnx_dim_name(d);
    return axis == 0 || (name && strstr(name, "batch")) ? "1" : "SIZE";
}

/* "1,3,SIZE": the shape with what is known of it. */
static const char *shape_words(tc_onnx *reader, const TcOnnxPb__Shape *shape)
{
    const char *words = "";
    for (size_t i = 0; i < shape->n_dim; i++) {
        const char *comma = i ? "," : "";
        const TcOnnxPb__Dim *d = shape->dim[i];
        words = is_fixed(d)
                    ? ti_text_format(&reader->work, "%s%s%" PRId64, words, comma, d->value)
                    : ti_text_format(&reader->work, "%s%s%s", words, comma, wanted(d, i));
    }
    return words;
}

static tc_status open_size(tc_onnx *reader, const tc_loc *loc, const TcOnnxPb__ValueInfo *v,
                           size_t axis)
{
    const TcOnnxPb__Dim *d = tensor_of(v)->shape->dim[axis];
    const char *name = ti_onnx_dim_name(d);
    tc_ctx *ctx = reader->ctx;
    tc_status status =
        name ? ti_error(ctx, loc, TC_E_DYNAMIC, "axis %zu has a dynamic size ('%s')", axis, name)
             : ti_error(ctx, loc, TC_E_DYNAMIC, "axis %zu has a dynamic size", axis);
    const char *shape = shape_words(reader, tensor_of(v)->shape), *size = wanted(d, axis);
    if (name)
        ti_note(ctx, loc, "set it with --dim %s=%s, or with --shape %s=%s", name, size, v->name,
                shape);
    else
        ti_note(ctx, loc, "set it with --dim %s.%zu=%s, or with --shape %s=%s", v->name, axis, size,
                v->name, shape);
    return status;
}

static tc_status size_of(tc_onnx *reader, const tc_loc *loc, const TcOnnxPb__ValueInfo *v,
                         const tc_npy *sample, int rank, int axis, int64_t *out)
{
    const TcOnnxPb__Shape *shape = tensor_of(v)->shape;
    const TcOnnxPb__Dim *d = shape ? shape->dim[axis] : NULL;
    tc_shape_given *given = ti_shape_given_for(reader->ctx, v->name);
    tc_ctx *ctx = reader->ctx;
    bool fixed = is_fixed(d);
    const char *name = ti_onnx_dim_name(d);
    *out = fixed ? d->value : -1;
    if (given) {
        given->used = true;
        if (fixed && *out != given->dim[axis])
            return ti_usage(ctx, "--shape %s: axis %d is %" PRId64 " in the file, not %" PRId64,
                            v->name, axis, *out, given->dim[axis]);
        *out = given->dim[axis];
        return TC_OK;
    }
    const char *place = ti_text_format(&reader->work, "%s.%d", v->name, axis);
    if (fixed || (name && said(ctx, name, out)) || said(ctx, place, out) ||
        ranged(reader, v, name, axis, out) || ranged(reader, v, place, axis, out))
        return TC_OK;
    int more = sample ? (int)sample->rank - rank : -1; /* samples may be along an extra axis */
    if (more == 0 || more == 1) {
        *out = sample->dim[axis + more];
        return TC_OK;
    }
    if (unsaid(reader, v, name ? name : place, axis, out))
        return TC_OK;
    return open_size(reader, loc, v, (size_t)axis);
}

static tc_status type_of(tc_onnx *reader, const tc_loc *loc, const TcOnnxPb__ValueInfo *v,
                         const tc_npy *sample, const tc_type **out)
{
    tc_ctx *ctx = reader->ctx;
    const TcOnnxPb__TensorType *t = tensor_of(v);
    if (!t)
        return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED,
                              "an input that is a %s: tosac computes on tensors only",
                              !v->type                  ? "value without type"
                              : v->type->has_sequence   ? "sequence"
                              : v->type->has_map        ? "map"
                              : v->type->optional_type ? "optional value of no tensor"
                                                        : "sparse tensor");
    tc_dtype dtype = ti_onnx_dtype(t->elem_type);
    if (dtype == TC_none)
        return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED, "element type %d (%s) is not supported",
                              t->elem_type, ti_onnx_dtype_name(t->elem_type));
    const tc_shape_given *given = ti_shape_given_for(ctx, v->name);
    int64_t rank = t->shape ? (int64_t)t->shape->n_dim
                   : given  ? given->rank
                   : sample ? sample->rank
                            : -1;
    if (rank < 0) {
        tc_status status = ti_error(ctx, loc, TC_E_DYNAMIC, "the file does not say its shape");
        ti_note(ctx, loc, "set it with --shape %s=SIZE,...", v->name);
        return status;
    }
    if (rank > TC_MAX_RANK)
        return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED,
                              "%" PRId64 " axes; at most %d are supported", rank, TC_MAX_RANK);
    if (given && given->rank != rank)
        return ti_usage(ctx, "--shape %s: %d sizes, but the input has %" PRId64 " axes", v->name,
                        given->rank, rank);
    int64_t dim[TC_MAX_RANK];
    tc_status worst = TC_OK;
    for (int i = 0; i < rank; i++) {
        tc_status status = size_of(reader, loc, v, sample, (int)rank, i, &dim[i]);
        worst = worst == TC_OK ? status : worst;
    }
    TC_TRY(worst);
    if (ti_dims_count((int32_t)rank, dim) < 0)
        return ti_error(ctx, loc, TC_E_TOO_LARGE, "shape %s",
                        ti_dims_text(&reader->work, (int32_t)rank, dim));
    *out = ti_type_make(ctx, dtype, (int32_t)rank, dim);
    return TC_OK;
}

/* The data given for an input, if it is one sample of its type. */
static tc_status read_sample(tc_onnx *reader, const tc_type *type, tc_npy *array, tc_tensor *out)
{
    enum { MOST = 1 << 24 };
    tc_ctx *ctx = reader->ctx;
    bool fits = array && array->rank == type->rank && tc_type_count(type) <= MOST &&
                (!type->rank ||
                 memcmp(array->dim, type->dim, (size_t)type->rank * sizeof *type->dim) == 0);
    *out = (tc_tensor){type, NULL};
    if (!fits)
        return TC_OK;
    tc_tensor t = ti_tensor_new(&ctx->arena, type);
    tc_trial trial; /* running the program reports what is wrong with the data */
    ti_trial_begin(ctx, &trial);
    if (ti_data_convert(ctx, array, 0, &t) == TC_OK)
        *out = t;
    ti_trial_end(ctx, &trial);
    return TC_OK;
}

/* The value of an input that the caller fixes; one with a default gets another. */
static tc_status fixed_input(tc_onnx *reader, const TcOnnxPb__ValueInfo *v, tc_tensor *out)
{
    const tc_type *type = NULL;
    tc_loc *loc = tc_new(&reader->ctx->arena, tc_loc);
    loc->file = reader->file;
    loc->place = ti_text_format(&reader->ctx->arena, "input '%.200s'", v->name);
    TC_TRY(type_of(reader, loc, v, NULL, &type));
    return ti_fixed_value(reader->ctx, v->name, type, out);
}

tc_status ti_onnx_bind_inputs(tc_onnx_scope *scope)
{
    tc_onnx *reader = scope->reader;
    tc_ctx *ctx = reader->ctx;
    const TcOnnxPb__Graph *graph = reader->model->graph;
    size_t n = 0, k = 0;
    tc_status worst = TC_OK;
    TC_TRY(check_inputs(reader));
    for (size_t i = 0; i < graph->n_input; i++) {
        tc_tensor number = {NULL, NULL};
        const TcOnnxPb__ValueInfo *v = graph->input[i];
        if (v->name && ti_fixed_has(ctx, v->name))
            TC_TRY(fixed_input(reader, v, &number));
        if (number.data || (is_input(scope, v) && is_said(scope, v, &number)))
            ti_onnx_name_value(scope, v->name,
                               ti_graph_const(scope->g, number.type, number.data,
                                              ti_intern_text(ctx, v->name), NULL));
        n += is_input(scope, v);
    }
    tc_tensor *given = tc_new_n(&ctx->arena, tc_tensor, n);
    scope->facts->given = given;
    scope->facts->used = tc_new_n(&ctx->arena, bool, n);
    scope->facts->n_given = n;
    reader->module->signature.in = tc_new_n(&ctx->arena, tc_port, n);
    for (size_t i = 0; i < graph->n_input; i++) {
        const TcOnnxPb__ValueInfo *v = graph->input[i];
        if (!is_input(scope, v))
            continue;
        const tc_type *type = NULL;
        tc_npy *sample;
        tc_loc *loc = tc_new(&ctx->arena, tc_loc);
        loc->file = reader->file;
        loc->place = ti_text_format(&ctx->arena, "input '%.200s'", v->name);
        TC_TRY(ti_sample_given_for(reader->ctx, k, n, &sample));
        tc_status status = type_of(reader, loc, v, sample, &type);
        if (status != TC_OK) {
            worst = worst == TC_OK || worst == TC_UNSUPPORTED ? status : worst;
            k++;
            continue;
        }
        TC_TRY(read_sample(reader, type, sample, &given[k++]));
        tc_port *port = &reader->module->signature.in[reader->module->signature.n_in++];
        port->name = ti_intern_text(ctx, v->name);
        port->val = ti_graph_input(scope->g, type, v->name);
        ti_onnx_name_value(scope, v->name, port->val);
    }
    TC_TRY(worst);
    return ti_said_used(ctx, reader->file, "no dynamic size has that name");
}
