/* SPDX-License-Identifier: Apache-2.0 */
/* tflite.c -- TensorFlow Lite models: the file, its graphs and signatures, inputs and outputs.
 *
 * The first graph is the program.  Messages name the operator by the tensor that it makes. */
#include <math.h>

#include "../read_fixed.h"
#include "tflite_program.h"

#include "../data.h"

#define TFL(code, name, last, build, codes, op, extra, note)                                       \
    {code,        #name, last, ti_tfl_build_##build, ti_tfl_codes_##codes,                         \
     TC_OP_##op, extra, note, NULL},
#define TFL_IS(code, name, last, recipe, codes, op, extra, note)                                   \
    {code,        #name, last, ti_tfl_build_recipe, ti_tfl_codes_##codes,                          \
     TC_OP_##op, extra, note, recipe},
#define TFL_ACTIVATED(code, name, last, recipe, codes, op, extra, note)                            \
    {code,        #name, last, ti_tfl_build_activated, ti_tfl_codes_##codes,                       \
     TC_OP_##op, extra, note, recipe},
const tc_tfl_row tc_tfl_rows[] = {
#include "tflite.def"
    {0},
};

tc_status ti_tfl_broken(const tc_tfl *reader)
{
    if (!reader->fb.error)
        return TC_OK;
    tc_loc loc = {.file = reader->file,
                  .place = ti_text_format(&reader->ctx->arena, "byte %zu", reader->fb.error_at)};
    return ti_error(reader->ctx, &loc, TC_E_FORMAT, "%s", reader->fb.error);
}

bool ti_tfl_looks_like(tc_bytes file)
{
    return file.size >= 8 && memcmp(file.data + 4, TC_TFL_IDENTIFIER, 4) == 0;
}

tc_status ti_tfl_open(tc_tfl *reader)
{
    const tc_loc loc = {.file = reader->file};
    ti_fb_init(&reader->fb, reader->bytes, TC_TFL_IDENTIFIER);
    reader->root = ti_fb_root(&reader->fb);
    uint32_t version = ti_fb_u32(reader->root, MODEL_VERSION, 0);
    reader->codes = ti_fb_list(reader->root, MODEL_CODES, 4);
    reader->graphs = ti_fb_list(reader->root, MODEL_GRAPHS, 4);
    reader->buffers = ti_fb_list(reader->root, MODEL_BUFFERS, 4);
    TC_TRY(ti_tfl_broken(reader));
    if (version != TC_TFL_VERSION)
        return ti_unsupported(reader->ctx, &loc, TC_E_VERSION,
                              "version %" PRIu32 " of the schema is not supported, expected 3",
                              version);
    if (!reader->graphs.n)
        return ti_error(reader->ctx, &loc, TC_E_FORMAT, "the model has no graph");
    return TC_OK;
}

/* The producer of the file: its description, and the minimum runtime it declares. */
const char *ti_tfl_producer(tc_tfl *reader)
{
    tc_str text = ti_fb_string(reader->root, MODEL_DESCRIPTION);
    return text.n ? ti_text_format(&reader->ctx->arena, "%.80s", ti_intern(reader->ctx, text))
                  : NULL;
}

int ti_tfl_code(tc_tfl *reader, tc_fb_table op, tc_str *custom, int *version)
{
    uint32_t i = ti_fb_u32(op, OP_CODE, 0);
    *custom = (tc_str){NULL, 0};
    *version = 1;
    if (i >= reader->codes.n) {
        ti_fb_fail(&reader->fb, op.at, "an operator has a code that the file does not list");
        return -1;
    }
    tc_fb_table code = ti_fb_list_table(reader->codes, i);
    int old = ti_fb_u8(code, CODE_OLD, 0), now = ti_fb_i32(code, CODE_NEW, 0);
    *custom = ti_fb_string(code, CODE_CUSTOM);
    *version = ti_fb_i32(code, CODE_VERSION, 1);
    return reader->fb.error ? -1 : now > old ? now : old;
}

/* ---- inputs and outputs ---- */

const char *ti_tfl_signature_name(tc_tfl *reader, int64_t graph, uint32_t list, int64_t t)
{
    tc_fb_vector all = ti_fb_list(reader->root, MODEL_SIGNATURES, 4);
    for (size_t k = 0; k < all.n; k++) {
        tc_fb_table s = ti_fb_list_table(all, k);
        if (ti_fb_u32(s, SIGNATURE_GRAPH, 0) != graph ||
            (reader->signature && reader->signature != (int64_t)k + 1))
            continue;
        tc_fb_vector maps = ti_fb_list(s, list, 4);
        for (size_t i = 0; i < maps.n; i++) {
            tc_fb_table map = ti_fb_list_table(maps, i);
            if (ti_fb_u32(map, 1, 0) == t) {
                tc_str name = ti_fb_string(map, 0);
                return name.n ? ti_intern(reader->ctx, name) : NULL;
            }
        }
    }
    return NULL;
}

static const tc_loc *place(tc_tfl *reader, const char *what, const char *name)
{
    tc_loc *loc = tc_new(&reader->ctx->arena, tc_loc);
    loc->file = reader->file;
    loc->place = ti_text_format(&reader->ctx->arena, "%s '%.200s'", what, name);
    return loc;
}

/* Sizes from --shape, or from the data that the model is run on; else those of the file, where an
 * open one is the example's, and an open batch is 1. */
static tc_status sizes(const tc_tfl_scope *scope, const tc_loc *loc, tc_tfl_tensor *t,
                       const char *name, const tc_npy *sample)
{
    tc_tfl *reader = scope->reader;
    tc_shape_given *given = ti_shape_given_for(reader->ctx, name);
    given = given ? given : ti_shape_given_for(reader->ctx, t->name);
    if (given) {
        given->used = true;
        if (given->rank != t->rank)
            return ti_usage(reader->ctx, "--shape %s: %d sizes, but the input has %d axes",
                            given->input, given->rank, t->rank);
        if (scope->settled && memcmp(t->dim, given->dim, (size_t)t->rank * sizeof *t->dim))
            return ti_usage(reader->ctx, "--shape %s: the file has commands for %s; compile the "
                            "model that it was made of", given->input,
                            ti_dims_text(&reader->ctx->arena, t->rank, t->dim));
    }
    for (int i = 0; i < t->rank; i++) {
        if (given)
            t->dim[i] = given->dim[i];
        else if (t->open >> i & 1 && sample && sample->rank == t->rank)
            t->dim[i] = sample->dim[i];
        else if (t->dim[i] < 0 && i == 0 && t->rank > 1)
            t->dim[i] = 1;
        if (t->dim[i] < 0) {
            tc_status status =
                ti_error(reader->ctx, loc, TC_E_DYNAMIC, "axis %d has a dynamic size", i);
            ti_note(reader->ctx, loc, "set it with --shape %s=SIZE,...", name);
            return status;
        }
    }
    if (ti_dims_count(t->rank, t->dim) < 0)
        return ti_error(reader->ctx, loc, TC_E_TOO_LARGE, "shape %s",
                        ti_dims_text(&reader->ctx->arena, t->rank, t->dim));
    return TC_OK;
}

/* The data given for an input, if it is one sample of its type. */
static void read_sample(tc_ctx *ctx, const tc_type *type, tc_npy *array, tc_tensor *out)
{
    enum { MOST = 1 << 16 };
    *out = (tc_tensor){type, NULL};
    bool fits = array && array->rank == type->rank && tc_type_count(type) <= MOST &&
                (!type->rank ||
                 memcmp(array->dim, type->dim, (size_t)type->rank * sizeof *type->dim) == 0);
    if (!fits)
        return;
    tc_tensor t = ti_tensor_new(&ctx->arena, type);
    tc_trial trial; /* running the program reports what is wrong with the data */
    ti_trial_begin(ctx, &trial);
    if (ti_data_convert(ctx, array, 0, &t) == TC_OK)
        *out = t;
    ti_trial_end(ctx, &trial);
}

/* The quantized type of a tensor of integers with one scale. */
static const tc_type *codes_of(tc_ctx *ctx, const tc_tfl_tensor *t, const tc_type *type)
{
    if (!ti_tfl_is_codes(t) || t->n_scale != 1 || !(t->scale[0] > 0) || !isfinite(t->scale[0]))
        return NULL;
    double *scale = tc_new(&ctx->arena, double);
    int64_t *zero = tc_new(&ctx->arena, int64_t);
    *scale = t->scale[0];
    *zero = t->zero[0] + (t->shifted ? 128 : 0);
    tc_quant q = {.axis = -1,
                  .count = 1,
                  .lo = ti_dtype_min(type->dtype),
                  .hi = ti_dtype_max(type->dtype),
                  .scale = scale,
                  .zero = zero};
    return *zero >= q.lo && *zero <= q.hi ? ti_type_with(ctx, type, &q) : NULL;
}

static const char *input_name(tc_tfl_scope *scope, int64_t i)
{
    const char *name = ti_tfl_signature_name(scope->reader, scope->index, SIGNATURE_INPUTS, i);
    return name || i < 0 || (size_t)i >= scope->n_tensor ? name : scope->tensor[i].name;
}

/* k: which of the n that are not fixed. */
static tc_status bind_input(tc_tfl_scope *scope, size_t k, size_t n, int64_t i)
{
    tc_tfl *reader = scope->reader;
    tc_ctx *ctx = reader->ctx;
    if (i < 0 || (size_t)i >= scope->n_tensor)
        return ti_error(ctx, &(tc_loc){.file = reader->file}, TC_E_FORMAT,
                        "input %zu is tensor %" PRId64 ", and there are %zu", k, i,
                        scope->n_tensor);
    tc_tfl_tensor *t = &scope->tensor[i];
    const char *name = input_name(scope, i);
    const tc_loc *loc = place(reader, "input", name);
    if (!t->dtype)
        return ti_unsupported(ctx, loc, TC_E_UNSUPPORTED, "element type %s is not supported",
                              ti_tfl_type_name(t->code));
    if (t->made)
        return ti_error(ctx, loc, TC_E_STRUCTURE, "the tensor is an input twice");
    tc_npy *sample;
    TC_TRY(ti_sample_given_for(ctx, k, n, &sample));
    TC_TRY(sizes(scope, loc, t, name, sample));
    const tc_type *type =
        ti_type_make(ctx, t->shifted ? TC_u8 : t->dtype, t->rank, t->dim);
    tc_tensor fixed;
    TC_TRY(ti_fixed_value(ctx, name, type, &fixed));
    if (fixed.data) {
        tc_build m = ti_build_folding(ctx, scope->g, loc, scope->facts);
        tc_val v = ti_graph_const(scope->g, type, fixed.data, name, loc);
        t->val = t->shifted ? ti_tfl_down(&m, v) : v;
        t->made = true;
        return m.status;
    }
    read_sample(ctx, type, sample, &((tc_tensor *)(uintptr_t)scope->facts->given)[k]);
    tc_port *port = &reader->module->signature.in[reader->module->signature.n_in++];
    tc_build m = ti_build_folding(ctx, scope->g, loc, scope->facts);
    port->name = name;
    port->val = ti_graph_input(scope->g, type, name);
    port->codes = codes_of(ctx, t, type);
    port->tensor = i + 1;
    t->plain = t->shifted ? port->val : TC_NONE;
    t->val = t->shifted ? ti_tfl_down(&m, port->val) : ti_b_identity(&m, port->val);
    t->made = true;
    return m.status;
}

static tc_status bind_inputs(tc_tfl_scope *scope)
{
    tc_tfl *reader = scope->reader;
    tc_ctx *ctx = reader->ctx;
    tc_fb_vector in = ti_fb_list(scope->graph, GRAPH_INPUTS, 4);
    TC_TRY(ti_tfl_broken(reader));
    scope->facts->given = tc_new_n(&ctx->arena, tc_tensor, in.n);
    scope->facts->used = tc_new_n(&ctx->arena, bool, in.n);
    scope->facts->n_given = in.n;
    reader->module->signature.in = tc_new_n(&ctx->arena, tc_port, in.n);
    size_t n = in.n;
    for (size_t k = 0; k < in.n; k++)
        n -= ti_fixed_has(ctx, input_name(scope, ti_fb_list_i32(in, k)));
    for (size_t k = 0; k < in.n; k++)
        TC_TRY(bind_input(scope, reader->module->signature.n_in, n, ti_fb_list_i32(in, k)));
    TC_TRY(ti_said_used(ctx, reader->file,
                        "sizes have no names here; use --shape INPUT=SIZE,..."));
    return ti_tfl_broken(reader);
}

static tc_status bind_outputs(tc_tfl_scope *scope)
{
    tc_tfl *reader = scope->reader;
    tc_fb_vector out = ti_fb_list(scope->graph, GRAPH_OUTPUTS, 4);
    TC_TRY(ti_tfl_broken(reader));
    reader->module->signature.out = tc_new_n(&reader->ctx->arena, tc_port, out.n);
    for (size_t k = 0; k < out.n; k++) {
        int64_t i = ti_fb_list_i32(out, k);
        const tc_tfl_tensor *t = i >= 0 && (size_t)i < scope->n_tensor ? &scope->tensor[i] : NULL;
        const char *name = ti_tfl_signature_name(reader, scope->index, SIGNATURE_OUTPUTS, i);
        name = name ? name : t ? t->name : "";
        const tc_loc *loc = place(reader, "output", name);
        tc_build m = ti_build_folding(reader->ctx, scope->g, loc, scope->facts);
        tc_val v = ti_tfl_value(scope, i, loc, &m.status);
        if (m.status == TC_OK && t && t->shifted)
            v = ti_tfl_plain_of(&m, t, v);
        TC_TRY(m.status);
        reader->module->signature.out[reader->module->signature.n_out++] =
            (tc_port){.val = v, .name = ti_intern_text(reader->ctx, name),
                      .codes = t ? codes_of(reader->ctx, t, ti_type_of(scope->g, v)) : NULL,
                      .tensor = t ? i + 1 : 0};
        ti_graph_output(scope->g, v);
    }
    return TC_OK;
}

static void find_custom(tc_tfl *reader)
{
    ti_map_init(&reader->custom, &reader->ctx->arena);
    ti_map_init(&reader->unknown, &reader->ctx->arena);
    ti_map_init(&reader->variable, &reader->ctx->arena);
    for (const tc_tfl_row *row = tc_tfl_rows; row->name; row++)
        if (row->code == TC_TFL_CUSTOM)
            *ti_map_at(&reader->custom, ti_str_of(row->name)) = (void *)(uintptr_t)row;
}

/* ---- which graph ---- */

static const char *graph_name(tc_tfl *reader, size_t i)
{
    tc_str name = ti_fb_string(ti_fb_list_table(reader->graphs, i), GRAPH_NAME);
    return name.n ? ti_intern(reader->ctx, name) : NULL;
}

tc_status ti_tfl_choose(tc_tfl *reader, int64_t *graph)
{
    tc_ctx *ctx = reader->ctx;
    const tc_read_options *o = ti_reading(ctx);
    const char *want = o->method ? o->method : o->signature;
    tc_fb_vector all = ti_fb_list(reader->root, MODEL_SIGNATURES, 4);
    reader->key = tc_new_n(&ctx->arena, const char *, all.n + 1);
    for (size_t k = 0; k < all.n; k++) {
        tc_str key = ti_fb_string(ti_fb_list_table(all, k), SIGNATURE_KEY);
        reader->key[reader->n_key++] = key.n ? ti_intern(ctx, key) : "";
    }
    TC_TRY(ti_tfl_broken(reader));
    *graph = 0;
    for (size_t k = 0; want && k < all.n; k++)
        if (ti_text_eq(reader->key[k], want)) {
            *graph = ti_fb_u32(ti_fb_list_table(all, k), SIGNATURE_GRAPH, 0);
            reader->signature = (int64_t)k + 1;
            return ti_tfl_broken(reader);
        }
    for (size_t k = 0; want && k < reader->graphs.n; k++)
        if (ti_text_eq(graph_name(reader, k), want)) {
            *graph = (int64_t)k;
            if (!reader->n_key)
                reader->key[reader->n_key++] = want;
            return ti_tfl_broken(reader);
        }
    TC_TRY(ti_tfl_broken(reader));
    if (!want)
        return TC_OK;
    enum { TOLD = 20 };
    tc_status status = ti_error(ctx, &(tc_loc){.file = reader->file}, TC_E_STRUCTURE,
                                "there is no signature or graph '%.200s'", want);
    for (size_t k = 0; k < all.n && k < TOLD; k++)
        ti_note(ctx, NULL, "there is the signature '%.200s'", reader->key[k]);
    for (size_t k = 0; k < reader->graphs.n && k < TOLD; k++)
        if (graph_name(reader, k))
            ti_note(ctx, NULL, "there is the graph '%.200s'", graph_name(reader, k));
    return status;
}

static tc_status read_file(tc_ctx *ctx, const char *file, tc_bytes bytes, bool real, tc_tfl **out)
{
    tc_tfl *reader = *out = tc_new(&ctx->arena, tc_tfl);
    reader->ctx = ctx;
    reader->real = real;
    reader->module = ti_module_new(ctx, file);
    reader->file = reader->module->file;
    reader->bytes = bytes;
    reader->module->origin.bytes = bytes.size;
    TC_TRY(ti_tfl_open(reader));
    reader->module->origin.producer = ti_tfl_producer(reader);
    find_custom(reader);
    tc_tfl_scope scope = {.reader = reader, .prefix = ""};
    scope.g = ti_graph_new(reader->module, "main");
    scope.facts = tc_new(&ctx->arena, tc_facts);
    int64_t graph;
    TC_TRY(ti_tfl_choose(reader, &graph));
    reader->module->origin.source = bytes;
    reader->module->origin.source_graph = graph;
    reader->module->origin.method = reader->key;
    reader->module->origin.n_method = reader->n_key;
    TC_TRY(ti_tfl_tensors(&scope, graph));
    TC_TRY(bind_inputs(&scope));
    TC_TRY(ti_tfl_nodes(&scope));
    TC_TRY(bind_outputs(&scope));
    TC_TRY(ti_tfl_broken(reader));
    ti_tfl_states_done(reader, scope.g);
    ti_facts_note_fixed(scope.facts, reader->module);
    return TC_OK;
}

tc_status ti_read_tflite(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out)
{
    tc_dynamic_range how = ti_reading(ctx)->dynamic_range;
    tc_tfl *reader, *again;
    TC_TRY(read_file(ctx, file, bytes, how == TC_RANGE_REAL, &reader));
    *out = reader->module;
    if (!reader->hybrid || how != TC_RANGE_EITHER)
        return TC_OK;
    TC_TRY(read_file(ctx, file, bytes, true, &again));
    (*out)->origin.real = again->module;
    return TC_OK;
}
