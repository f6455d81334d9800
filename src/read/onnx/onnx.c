/* SPDX-License-Identifier: Apache-2.0 */
/* onnx.c -- ONNX models: the file, its versions and functions, inputs and outputs.
 *
 * Messages name the node as the file does.  Shapes follow by our own rules from the inputs'. */
#include <ctype.h>

#include "onnx_program.h"

#define ONNX(name, first, last, build, op, extra, note)                                            \
    {#name, "", first, last, ti_onnx_build_##build, TC_OP_##op, extra, note, NULL},
#define ONNX_MS(name, first, last, build, op, extra, note)                                         \
    {#name, "com.microsoft", first, last, ti_onnx_build_##build, TC_OP_##op, extra, note, NULL},
#define ONNX_IS(name, first, last, recipe, note)                                                   \
    {#name, "", first, last, ti_onnx_build_recipe, TC_OP_COUNT, 0, note, recipe},
#define ONNX_MS_IS(name, first, last, recipe, note)                                                \
    {#name, "com.microsoft", first, last, ti_onnx_build_recipe, TC_OP_COUNT, 0, note, recipe},
/* ended by a row without name */
static const tc_onnx_row rows[] = {
#include "onnx.def"
    {0},
};

static void *take(void *arena, size_t size)
{
    return ti_arena_array(arena, 1, size ? size : 1, _Alignof(max_align_t));
}

static void give(void *arena, void *what)
{
    (void)arena; /* it goes with the reading */
    (void)what;
}

tc_status ti_onnx_parse(tc_onnx *reader)
{
    const tc_loc loc = {.file = reader->file};
    tc_bytes small;
    const char *wrong = ti_onnx_cut(&reader->work, reader->bytes, &small);
    if (wrong)
        return ti_error(reader->ctx, &loc, TC_E_FORMAT, "this is not an ONNX model: %s", wrong);
    ProtobufCAllocator allocator = {take, give, &reader->work};
    reader->model = tc_onnx_pb__model__unpack(&allocator, small.size, small.data);
    if (!reader->model)
        return ti_error(reader->ctx, &loc, TC_E_FORMAT,
                        "this is not an ONNX model: protobuf cannot read it");
    if (!reader->model->graph)
        return ti_error(reader->ctx, &loc, TC_E_FORMAT, "the model has no graph");
    return TC_OK;
}

const char *ti_onnx_producer(const tc_onnx *reader)
{
    const TcOnnxPb__Model *m = reader->model;
    const char *name = m->producer_name && *m->producer_name ? m->producer_name : NULL;
    const char *version = m->producer_version && *m->producer_version ? m->producer_version : NULL;
    if (!name)
        return NULL;
    return ti_text_format(&reader->ctx->arena, "%.60s%s%.40s", name, version ? " " : "",
                          version ? version : "");
}

static tc_status check_versions(const tc_onnx_scope *scope)
{
    tc_onnx *reader = scope->reader;
    const tc_loc loc = {.file = reader->file};
    int64_t version = ti_onnx_opset(scope, "");
    if (!version || (version >= TC_ONNX_OLDEST && version <= TC_ONNX_NEWEST))
        return TC_OK; /* without the standard set: the first node that needs it reports it */
    tc_status status = ti_unsupported(reader->ctx, &loc, TC_E_VERSION,
                                      "operator set %" PRId64 ", expected %d to %d", version,
                                      (int)TC_ONNX_OLDEST, (int)TC_ONNX_NEWEST);
    ti_note(reader->ctx, &loc, "onnx.version_converter.convert_version changes it");
    return status;
}

/* bitwise_not -> BitwiseNot */
static const char *camel_case(tc_arena *arena, const char *name)
{
    char *text = ti_text_copy(arena, ti_str_of(name)), *to = text;
    for (const char *p = name; *p; p++)
        if (*p != '_')
            *to++ = p == name || p[-1] == '_' ? (char)toupper((unsigned char)*p) : *p;
    *to = 0;
    return text;
}

/* Functions of one tensor without attributes need no row. */
static void add_functions(tc_onnx *reader)
{
    for (int op = 0; op < TC_OP_tosa_argmax; op++) {
        const tc_op_info *info = &tc_ops[op];
        if (!(info->traits & T_ELTWISE) || info->max_in != 1 || info->attr != TC_ATTR_none)
            continue;
        const char *name = camel_case(&reader->work, info->name);
        void **slot =
            ti_map_at(&reader->row, ti_str_of(ti_text_format(&reader->work, ":%s", name)));
        tc_onnx_row *row = *slot ? NULL : tc_new(&reader->work, tc_onnx_row);
        if (!row)
            continue;
        *row = (tc_onnx_row){name, "", TC_ONNX_OLDEST, TC_ONNX_NEWEST, ti_onnx_build_recipe,
                             (tc_op)op, 0, "", ti_text_format(&reader->work, "%s(in0)", info->name)};
        *slot = row;
    }
}

static void find_functions(tc_onnx *reader)
{
    for (size_t i = 0; i < reader->model->n_functions; i++) {
        TcOnnxPb__Function *f = reader->model->functions[i];
        const char *domain = f->domain && !ti_text_eq(f->domain, "ai.onnx") ? f->domain : "";
        const char *key =
            ti_text_format(&reader->work, "%s:%s:%s", domain, f->name ? f->name : "",
                           f->overload ? f->overload : "");
        *ti_map_at(&reader->function, ti_str_of(key)) = f;
    }
    for (const tc_onnx_row *row = rows; row->name; row++) {
        const char *key = ti_text_format(&reader->work, "%s:%s", row->domain, row->name);
        *ti_map_at(&reader->row, ti_str_of(key)) = (void *)(uintptr_t)row;
    }
    add_functions(reader);
}

/* The element type that the file declares is the one that follows from the nodes. */
static tc_status check_output(const tc_onnx_scope *scope, const TcOnnxPb__ValueInfo *info, tc_val v,
                              const tc_loc *loc)
{
    const TcOnnxPb__TensorType *t = info->type ? info->type->tensor : NULL;
    tc_dtype said = t ? ti_onnx_dtype(t->elem_type) : TC_none, is = ti_type_of(scope->g, v)->dtype;
    if (said == TC_none || said == is)
        return TC_OK;
    return ti_error(scope->reader->ctx, loc, TC_E_MISMATCH,
                    "the file declares elements of type %s, inferred is %s",
                    tc_dtypes[said].name, tc_dtypes[is].name);
}

static tc_status bind_outputs(tc_onnx_scope *scope)
{
    tc_onnx *reader = scope->reader;
    tc_module *module = reader->module;
    const TcOnnxPb__Graph *graph = reader->model->graph;
    module->signature.out = tc_new_n(&reader->ctx->arena, tc_port, graph->n_output);
    for (size_t i = 0; i < graph->n_output; i++) {
        const char *name = graph->output[i]->name ? graph->output[i]->name : "";
        tc_loc *loc = tc_new(&reader->ctx->arena, tc_loc);
        loc->file = reader->file;
        loc->place = ti_text_format(&reader->ctx->arena, "output '%.200s'", name);
        tc_status status = TC_OK;
        tc_val v = ti_onnx_value(scope, name, loc, &status);
        TC_TRY(status);
        TC_TRY(check_output(scope, graph->output[i], v, loc));
        tc_port *port = &module->signature.out[module->signature.n_out++];
        port->name = ti_intern_text(reader->ctx, name);
        port->val = v;
        ti_graph_output(scope->g, v);
    }
    return TC_OK;
}

static tc_status read_model(tc_onnx *reader)
{
    TC_TRY(ti_onnx_parse(reader));
    const TcOnnxPb__Model *model = reader->model;
    ti_map_init(&reader->row, &reader->work);
    ti_map_init(&reader->function, &reader->work);
    ti_map_init(&reader->beside, &reader->work);
    ti_map_init(&reader->unknown, &reader->work);
    reader->module->origin.producer = ti_onnx_producer(reader);
    find_functions(reader);
    tc_onnx_scope scope;
    tc_facts facts = {0};
    ti_onnx_scope_init(&scope, reader, NULL);
    scope.g = ti_graph_new(reader->module, "main");
    scope.facts = &facts;
    scope.opset = model->opset_import;
    scope.n_opset = model->n_opset_import;
    TC_TRY(check_versions(&scope));
    TC_TRY(ti_onnx_initializers(&scope, model->graph));
    TC_TRY(ti_onnx_bind_inputs(&scope));
    TC_TRY(ti_onnx_nodes(&scope, model->graph->node, model->graph->n_node));
    TC_TRY(bind_outputs(&scope));
    ti_facts_note_fixed(scope.facts, scope.reader->module);
    return TC_OK;
}

tc_status ti_read_onnx(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out)
{
    tc_onnx *reader = tc_new(&ctx->arena, tc_onnx);
    reader->ctx = ctx;
    reader->module = ti_module_new(ctx, file);
    reader->file = reader->module->file;
    reader->bytes = bytes;
    reader->module->origin.bytes = bytes.size;
    ti_arena_init_like(&reader->work, &ctx->arena);
    reader->work.limit = ctx->arena.limit;
    ti_ctx_defer(ctx, ti_arena_end, &reader->work);
    tc_status status = read_model(reader);
    ti_arena_free(&reader->work);
    if (status == TC_OK)
        *out = reader->module;
    return status;
}
