/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_rank.c -- TOSA files whose tensors have no rank, and CAST with its attribute: files made by
 * hand, as no writer of ours makes them. */
#include "check.h"

#include "emit/emit.h"
#include "ir/ir_text.h"
#include "read/read.h"
#include "read/read_options.h"
#include "target/target.h"
#include "target/tosa_schema.h"
#include "wire/flatbuf.h"

typedef struct {
    const char *name;
    tc_dtype dtype;
    int rank; /* -1: unknown */
    int64_t dim[4];
} tensor;

typedef struct {
    tc_op op;
    const char *in[3], *out;
    bool is_unsigned; /* CAST's attribute */
} operation;

static tc_fb_ref put_names(tc_fb_writer *w, const char *const *name, size_t most)
{
    tc_fb_ref ref[4];
    size_t n = 0;
    for (; n < most && name[n]; n++)
        ref[n] = ti_fb_put_string(w, ti_str_of(name[n]));
    return ti_fb_put_refs(w, ref, n);
}

static tc_fb_ref put_tensor(tc_fb_writer *w, const tensor *t)
{
    tc_fb_ref name = ti_fb_put_string(w, ti_str_of(t->name)),
              shape = t->rank < 0 ? 0 : ti_fb_put_i32s(w, t->dim, (size_t)t->rank);
    ti_fb_begin(w);
    ti_fb_set_ref(w, TOSA_TENSOR_NAME, name);
    ti_fb_set_ref(w, TOSA_TENSOR_SHAPE, shape);
    ti_fb_set_u32(w, TOSA_TENSOR_TYPE, (uint32_t)tc_dtypes[t->dtype].tosa, 0);
    ti_fb_set_u8(w, TOSA_TENSOR_IS_UNRANKED, t->rank < 0, 0);
    return ti_fb_end(w);
}

static tc_fb_ref put_operation(tc_fb_writer *w, const operation *o)
{
    tc_fb_ref in = put_names(w, o->in, 3), out = put_names(w, &o->out, 1);
    ti_fb_begin(w);
    ti_fb_set_u8(w, 0, o->is_unsigned, 0);
    tc_fb_ref attr = ti_fb_end(w);
    ti_fb_begin(w);
    ti_fb_set_u32(w, TOSA_OPERATOR_OP, tc_ops[o->op].tosa, 0);
    ti_fb_set_u8(w, TOSA_OPERATOR_ATTRIBUTE_TYPE, (uint8_t)tc_ops[o->op].tosa, 0);
    ti_fb_set_ref(w, TOSA_OPERATOR_ATTRIBUTE, attr);
    ti_fb_set_ref(w, TOSA_OPERATOR_INPUTS, in);
    ti_fb_set_ref(w, TOSA_OPERATOR_OUTPUTS, out);
    return ti_fb_end(w);
}

/* A file of one region: the first tensor is its input, the result of the last operator its output. */
static tc_bytes file_of(tc_ctx *ctx, const tensor *t, size_t n_t, const operation *o, size_t n_o)
{
    tc_fb_writer w;
    tc_fb_ref tensors[8], operators[8];
    ti_fb_write(&w, &ctx->arena, 1024);
    for (size_t i = 0; i < n_t; i++)
        tensors[i] = put_tensor(&w, &t[i]);
    for (size_t i = 0; i < n_o; i++)
        operators[i] = put_operation(&w, &o[i]);
    tc_fb_ref all = ti_fb_put_refs(&w, tensors, n_t), ops = ti_fb_put_refs(&w, operators, n_o);
    tc_fb_ref in = put_names(&w, &t[0].name, 1), out = put_names(&w, &o[n_o - 1].out, 1);
    ti_fb_begin(&w);
    ti_fb_set_ref(&w, TOSA_BLOCK_TENSORS, all);
    ti_fb_set_ref(&w, TOSA_BLOCK_OPERATORS, ops);
    ti_fb_set_ref(&w, TOSA_BLOCK_INPUTS, in);
    ti_fb_set_ref(&w, TOSA_BLOCK_OUTPUTS, out);
    tc_fb_ref block = ti_fb_end(&w), blocks = ti_fb_put_refs(&w, &block, 1),
              name = ti_fb_put_string(&w, ti_str_of("main"));
    ti_fb_begin(&w);
    ti_fb_set_ref(&w, TOSA_REGION_NAME, name);
    ti_fb_set_ref(&w, TOSA_REGION_BLOCKS, blocks);
    tc_fb_ref region = ti_fb_end(&w), regions = ti_fb_put_refs(&w, &region, 1);
    ti_fb_begin(&w);
    ti_fb_set_u32(&w, TOSA_VERSION_MAJOR, 1, UINT32_MAX);
    ti_fb_set_u32(&w, TOSA_VERSION_MINOR, 1, UINT32_MAX);
    tc_fb_ref version = ti_fb_end(&w);
    ti_fb_begin(&w);
    ti_fb_set_ref(&w, TOSA_GRAPH_VERSION, version);
    ti_fb_set_ref(&w, TOSA_GRAPH_REGIONS, regions);
    return ti_fb_finish(&w, ti_fb_end(&w), TC_TOSA_IDENTIFIER);
}

#define FILE_OF(ctx, t, o) file_of(ctx, t, TC_COUNT(t), o, TC_COUNT(o))

static tc_module *read(tc_ctx *ctx, tc_bytes bytes)
{
    tc_module *module = NULL;
    if (ti_read_tosa(ctx, "file.tosa", bytes, &module) != TC_OK)
        return NULL;
    return module;
}

static bool is_type(tc_ctx *ctx, const tc_module *module, const char *type)
{
    const tc_graph *g = ti_main(module);
    return ti_text_eq(ti_type_text(&ctx->arena, ti_type_of(g, g->out[0])), type);
}

static void test_decided(void)
{
    static const tensor t[] = {{"x", TC_f32, 2, {2, 3}},
                               {"size", TC_f32, -1, {0}},
                               {"larger", TC_bool, -1, {0}},
                               {"one", TC_f32, -1, {0}}};
    static const operation o[] = {{TC_OP_tosa_abs, {"x"}, "size", false},
                                  {TC_OP_tosa_greater, {"size", "x"}, "larger", false},
                                  {TC_OP_tosa_select, {"larger", "size", "x"}, "one", false}};
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = read(ctx, FILE_OF(ctx, t, o));
    CHECK(module && is_type(ctx, module, "f32[2,3]"));
    CHECK(module && ti_verify_tosa(ctx, module, NULL) == TC_OK);
    tc_ctx_free(ctx);
}

static void test_open(void)
{
    static const tensor t[] = {{"x", TC_f32, 2, {-1, 3}}, {"size", TC_f32, -1, {0}},
                               {"sum", TC_f32, -1, {0}}};
    static const operation one[] = {{TC_OP_tosa_abs, {"x"}, "size", false}};
    static const operation two[] = {{TC_OP_tosa_abs, {"x"}, "size", false},
                                    {TC_OP_tosa_add, {"size", "x"}, "sum", false}};
    tc_ctx *ctx = tc_ctx_new();
    ti_reading(ctx)->keep_open = true;
    tc_module *module = read(ctx, FILE_OF(ctx, t, one));
    CHECK(module && is_type(ctx, module, "f32[?,3]"));
    module = read(ctx, FILE_OF(ctx, t, two));
    CHECK(module && is_type(ctx, module, "f32[?,?]"));
    tc_ctx_free(ctx);
}

static void check_refused(const tensor *t, size_t n_t, const operation *o, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    ti_reading(ctx)->keep_open = true;
    CHECK(!read(ctx, file_of(ctx, t, n_t, o, 1)));
    CHECK(strstr(tc_diagnostics(ctx), words));
    tc_ctx_free(ctx);
}

static void test_undecided(void)
{
    static const tensor input[] = {{"x", TC_f32, -1, {0}}, {"y", TC_f32, 1, {2}}};
    static const tensor other[] = {{"x", TC_f32, 1, {2}}, {"y", TC_i32, -1, {0}}};
    static const tensor places[] = {
        {"x", TC_f32, 3, {1, -1, 2}}, {"i", TC_i32, 2, {1, 2}}, {"y", TC_f32, -1, {0}}};
    static const operation abs[] = {{TC_OP_tosa_abs, {"x"}, "y", false}};
    static const operation gather[] = {{TC_OP_tosa_gather, {"x", "x"}, "y", false}};
    static const operation custom[] = {{TC_OP_const, {NULL}, "y", false}};
    check_refused(input, 2, abs, "tensor 'x' has no rank, and it is an input");
    check_refused(other, 2, abs, "declared as i32 without a rank, and is f32[2]");
    check_refused(places, 3, gather, "tensor 'y' has no rank, and sizes that are open decide it");
    check_refused(other, 2, custom, "the constant 'y' has no rank");
}

/* The field that the draft names, and no schema has yet. */
static void test_unsigned(void)
{
    static const tensor t[] = {{"x", TC_i8, 1, {3}}, {"y", TC_i32, 1, {3}}};
    static const operation with[] = {{TC_OP_tosa_cast, {"x"}, "y", true}};
    static const operation without[] = {{TC_OP_tosa_cast, {"x"}, "y", false}};
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes again = {0};
    tc_module *module = read(ctx, FILE_OF(ctx, t, with));
    CHECK(module && ti_main(module)->node[0]->op == TC_OP_tosa_cast_unsigned);
    CHECK(module && ti_tosa_minor(module) == 1 && ti_emit_tosa(ctx, module, &again) == TC_OK);
    module = read(ctx, again);
    CHECK(module && ti_main(module)->node[0]->op == TC_OP_tosa_cast_unsigned);
    module = read(ctx, FILE_OF(ctx, t, without));
    CHECK(module && ti_main(module)->node[0]->op == TC_OP_tosa_cast && ti_tosa_minor(module) == 0);
    tc_ctx_free(ctx);
}

int main(void)
{
    test_decided();
    test_open();
    test_undecided();
    test_unsigned();
    return check_done();
}
