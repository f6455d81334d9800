/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_segments.c -- a VGF file of a graph, a shader and a graph: read as one graph and run; the same
 * with the shader's code left out, and with what does not fit. */
#include "spirv_text.h"

#include "emit/emit.h"
#include "ir/ir_text.h"
#include "ir/verify.h"
#include "read/read.h"
#include "run/eval.h"
#include "wire/vgf.h"

static tc_module *parse(tc_ctx *ctx, const char *text)
{
    tc_module *module = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    CHECK(ti_parse(ctx, "text", bytes, (tc_bytes){NULL, 0}, &module) == TC_OK);
    return module;
}

/* The SPIR-V of a graph, whose input has binding 0 and whose output 1; with its constants. */
static tc_vgf graph_of(tc_ctx *ctx, const char *text)
{
    tc_bytes bytes;
    tc_vgf vgf = {.n_module = 0};
    CHECK(ti_emit_vgf(ctx, parse(ctx, text), &bytes) == TC_OK);
    CHECK(ti_vgf_read(ctx, "part", bytes, &vgf) == TC_OK);
    return vgf;
}

static const char negated[] = "graph @main(%0: i32[1,2,2,4]) {\n  %1 = tosa.bitwise_not %0 : i32[1,2,2,4]\n"
                              "  return %1\n}\n";
static const char largest[] = "graph @main(%0: i32[1,2,2,4]) {\n"
                              "  %1 = const [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17] : i32[1,2,2,4]\n"
                              "  %2 = tosa.maximum %0, %1 nan_mode=propagate : i32[1,2,2,4]\n  return %2\n}\n";

/* y[x, y] = the image's pixel with its components backwards; the image is an R32G32B32A32_SINT. */
static const char backwards[] =
    "OpCapability 1\nOpMemoryModel 0 1\nOpEntryPoint 5 %main \"main\" %x %y %gid\nOpExecutionMode %main 17 2 2 1\n"
    "OpDecorate %gid 11 28\nOpDecorate %x 34 0\nOpDecorate %x 33 5\nOpDecorate %y 34 1\nOpDecorate %y 33 0\n"
    "%void = OpTypeVoid\n%u32 = OpTypeInt 32 0\n%i32 = OpTypeInt 32 1\n%fn = OpTypeFunction %void\n"
    "%v4 = OpTypeVector %i32 4\n%u3 = OpTypeVector %u32 3\n%u2 = OpTypeVector %u32 2\n"
    "%four = OpConstant %u32 4\n%zero = OpConstant %u32 0\n"
    "%im = OpTypeImage %i32 1 0 0 0 2 21\n%ten = OpTypeTensorARM %i32 %four\n%pim = OpTypePointer 0 %im\n%pten = OpTypePointer 0 %ten\n"
    "%pi = OpTypePointer 1 %u3\n%gid = OpVariable %pi 1\n%x = OpVariable %pim 0\n%y = OpVariable %pten 0\n"
    "%place = OpTypeArray %u32 %four\n%row = OpTypeArray %i32 %four\n"
    "%main = OpFunction %void 0 %fn\n%l = OpLabel\n%g = OpLoad %u3 %gid\n%at = OpVectorShuffle %u2 %g %g 0 1\n"
    "%gx = OpCompositeExtract %u32 %g 0\n%gy = OpCompositeExtract %u32 %g 1\n%xt = OpLoad %im %x\n%yt = OpLoad %ten %y\n"
    "%c = OpImageRead %v4 %xt %at\n%b = OpVectorShuffle %v4 %c %c 3 2 1 0\n%b0 = OpCompositeExtract %i32 %b 0\n"
    "%b1 = OpCompositeExtract %i32 %b 1\n%b2 = OpCompositeExtract %i32 %b 2\n%b3 = OpCompositeExtract %i32 %b 3\n"
    "%r = OpCompositeConstruct %row %b0 %b1 %b2 %b3\n%to = OpCompositeConstruct %place %zero %gy %gx %zero\n"
    "OpTensorWriteARM %yt %to %r\nOpReturn\nOpFunctionEnd\n";

typedef struct {
    tc_vgf vgf;
    tc_vgf_module module[3];
    tc_vgf_resource resource[6];
    tc_vgf_slot slot[8];
    tc_vgf_set set[4];
    tc_vgf_segment segment[3];
    tc_vgf_constant constant[1];
    uint32_t first[1];
    const char *name[2];
} file;

static const int64_t dim[4] = {1, 2, 2, 4};

/* x -> bitwise_not -> t0 = image i0 -> backwards -> t1 -> maximum with a constant -> y */
static void make(tc_ctx *ctx, file *f)
{
    tc_vgf before = graph_of(ctx, negated), after = graph_of(ctx, largest);
    const char *piece[] = {backwards, NULL};
    *f = (file){.name = {"x", "y"}};
    f->module[0] = before.module[0];
    f->module[1] = (tc_vgf_module){TC_VGF_COMPUTE, TC_VGF_SPIRV, "backwards", "main",
                                   spirv_text(&ctx->arena, piece)};
    f->module[2] = after.module[0];
    for (int i = 0; i < 6; i++)
        f->resource[i] = (tc_vgf_resource){.descriptor = TC_VGF_TENSOR, .format = 99, .dim = dim,
                                           .n_dim = 4, .category = TC_VGF_INTERMEDIATE};
    f->resource[0].category = TC_VGF_INPUT;
    f->resource[4].category = TC_VGF_OUTPUT;
    f->resource[1].aliases = f->resource[2].aliases = true;
    f->resource[2].descriptor = TC_VGF_STORAGE_IMAGE;
    f->resource[2].format = 108;
    const tc_vgf_slot slot[8] = {{0, 0}, {1, 1}, {5, 2}, {0, 3}, {0, 3}, {1, 4}, {7, 2}, {8, 3}};
    memcpy(f->slot, slot, sizeof slot);
    f->set[0] = (tc_vgf_set){{f->slot, 2}, 0};
    f->set[1] = (tc_vgf_set){{f->slot + 3, 1}, 1};
    f->set[2] = (tc_vgf_set){{f->slot + 2, 1}, 0};
    f->set[3] = (tc_vgf_set){{f->slot + 4, 2}, 0};
    f->segment[0] = (tc_vgf_segment){.type = TC_VGF_GRAPH, .name = "before", .set = f->set, .n_set = 1,
                                     .in = {f->slot, 1}, .out = {f->slot + 1, 1}};
    f->segment[1] = (tc_vgf_segment){.type = TC_VGF_COMPUTE, .name = "shader", .module = 1, .set = f->set + 1,
                                     .n_set = 2, .in = {f->slot + 6, 1}, .out = {f->slot + 7, 1},
                                     .dispatch = {1, 1, 1}};
    f->segment[2] = (tc_vgf_segment){.type = TC_VGF_GRAPH, .name = "after", .module = 2, .set = f->set + 3,
                                     .n_set = 1, .in = {f->slot + 4, 1}, .out = {f->slot + 5, 1}};
    f->vgf = (tc_vgf){.version = {0, 4, 0}, .module = f->module, .n_module = 3, .resource = f->resource,
                      .n_resource = 6, .segment = f->segment, .n_segment = 3, .in = {f->slot, 1},
                      .out = {f->slot + 5, 1}, .in_name = f->name, .n_in_name = 1,
                      .out_name = f->name + 1, .n_out_name = 1};
}

static tc_status reads(tc_ctx *ctx, const file *f, tc_module **module)
{
    tc_bytes bytes;
    CHECK(ti_vgf_write(ctx, "file", &f->vgf, &bytes) == TC_OK);
    return ti_read_vgf(ctx, "file.vgf", bytes, module);
}

static void test_run(void)
{
    tc_ctx *ctx = tc_ctx_new();
    file f;
    tc_module *module = NULL;
    make(ctx, &f);
    CHECK(reads(ctx, &f, &module) == TC_OK);
    if (!module) {
        fprintf(stderr, "%s", tc_diagnostics(ctx));
        tc_ctx_free(ctx);
        return;
    }
    CHECK(ti_verify(ctx, module) == TC_OK);
    int32_t x[16];
    for (int i = 0; i < 16; i++)
        x[i] = -2 * i;
    tc_graph *g = ti_main(module);
    tc_tensor in = {ti_type_of(g, g->in[0]), x}, out;
    CHECK(g->n_in == 1 && g->n_out == 1 && ti_text_eq(ti_value_of(g, g->in[0])->name, "x"));
    CHECK(ti_eval(g, &in, &out, &ctx->arena) == TC_OK);
    for (int i = 0; i < 16; i++) {
        int32_t from = 2 * (i / 4 * 4 + 3 - i % 4) - 1, least = i == 15 ? 17 : i + 1;
        CHECK(((const int32_t *)out.data)[i] == (from > least ? from : least));
    }
    /* Written, and read and written again. */
    tc_bytes first, second;
    tc_module *back = NULL;
    tc_tensor result;
    CHECK(ti_emit_vgf(ctx, module, &first) == TC_OK);
    CHECK(ti_read_vgf(ctx, "first.vgf", first, &back) == TC_OK);
    if (!back) {
        fprintf(stderr, "%s", tc_diagnostics(ctx));
        tc_ctx_free(ctx);
        return;
    }
    CHECK(ti_eval(ti_main(back), &in, &result, &ctx->arena) == TC_OK &&
          memcmp(result.data, out.data, sizeof x) == 0);
    CHECK(ti_emit_vgf(ctx, back, &second) == TC_OK && first.size == second.size &&
          memcmp(first.data, second.data, first.size) == 0);
    tc_vgf parts;
    CHECK(ti_vgf_read(ctx, "first.vgf", first, &parts) == TC_OK && parts.n_segment == 3 &&
          parts.segment[1].n_set == 2 && parts.segment[1].set[1].index == 1 &&
          parts.segment[1].dispatch[0] == 1);
    /* The text form holds all of it. */
    tc_buf text, again;
    ti_buf_init(&text, &ctx->arena);
    ti_print(module, &(tc_print_options){.locs = false}, &text);
    tc_module *parsed = parse(ctx, ti_buf_cstr(&text));
    ti_buf_init(&again, &ctx->arena);
    ti_print(parsed, &(tc_print_options){.locs = false}, &again);
    CHECK(ti_text_eq(ti_buf_cstr(&text), ti_buf_cstr(&again)));
    CHECK(strstr(ti_buf_cstr(&text), "tosa.shader %1 name=\"backwards\" entry_point=\"main\" language=spirv "
                                     "dispatch=[1,1,1] set=[0,1] binding=[5,0] descriptor=[3,1000460000] "
                                     "format=[108,99] sampler=[] push_ranges=[] push=0x code=0x0302"));
    tc_ctx_free(ctx);
}

/* As TOSA the shader is a CUSTOM operator; read again it is the same shader. */
static void test_custom(void)
{
    tc_ctx *ctx = tc_ctx_new();
    file f;
    tc_module *module = NULL, *back = NULL;
    tc_bytes tosa = {0}, again = {0};
    make(ctx, &f);
    CHECK(reads(ctx, &f, &module) == TC_OK);
    CHECK(module && ti_emit_tosa(ctx, module, &tosa) == TC_OK);
    CHECK(ti_read_tosa(ctx, "file.tosa", tosa, &back) == TC_OK);
    CHECK(back && ti_verify(ctx, back) == TC_OK && ti_emit_tosa(ctx, back, &again) == TC_OK);
    CHECK(tosa.size == again.size && memcmp(tosa.data, again.data, tosa.size) == 0);
    tc_graph *g = ti_main(back);
    const tc_attr_tosa_shader *a = NULL;
    for (size_t i = 0; i < g->n_node; i++)
        a = g->node[i]->op == TC_OP_tosa_shader ? g->node[i]->attr : a;
    CHECK(a && ti_text_eq(a->name, "backwards") && a->descriptor.v[0] == 3 &&
          a->descriptor.v[1] == 1000460000 && a->format.v[0] == 108 && a->format.v[1] == 99 &&
          a->set.v[1] == 1 && a->binding.v[0] == 5 && a->dispatch.v[0] == 1 &&
          a->code.size == f.module[1].code.size &&
          memcmp(a->code.data, f.module[1].code.data, a->code.size) == 0);
    int32_t x[16];
    for (int i = 0; i < 16; i++)
        x[i] = -2 * i;
    tc_tensor in = {ti_type_of(g, g->in[0]), x}, one, other;
    CHECK(ti_eval(ti_main(module), &in, &one, &ctx->arena) == TC_OK);
    CHECK(ti_eval(g, &in, &other, &ctx->arena) == TC_OK);
    CHECK(memcmp(one.data, other.data, sizeof x) == 0);
    tc_ctx_free(ctx);
}

/* A custom operator of the domain that is not understood stays one, with a warning that says why. */
static void test_not_understood(void)
{
    static const struct {
        const char *json, *words;
    } cases[] = {
        {"no json", "is not taken as a shader"},
        {"{}", "'workgroup_sizes' is missing or not known"},
        {"{\"workgroup_sizes\":[1,1,1]}", "'shader_language' is missing or not known"},
        {"{\"workgroup_sizes\":[1,1,1],\"shader_language\":\"SPIR-V\",\"shader_code\":\"?\"}",
         "'shader_code' is missing or not known"},
        {"{\"workgroup_sizes\":[1,1,1],\"shader_language\":\"SPIR-V\",\"shader_code\":\"AAAA\"}",
         "'input_0_vkformat' is missing or not known"},
        {"{\"workgroup_sizes\":[1,1,1],\"shader_language\":\"SPIR-V\",\"shader_code\":\"AAAA\","
         "\"input_0_vkformat\":\"VK_FORMAT_R8_SINT\",\"input_0_vkdescriptortype\":\"SAMPLER\"}",
         "'input_0_vkdescriptortype' is missing or not known"},
    };
    for (size_t i = 0; i < TC_COUNT(cases); i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_module *module = parse(ctx, "graph @main(%0: i8[4]) {\n  %1 = tosa.custom %0 operator_name=\"a\" "
                                       "domain_name=\"com.arm.VulkanCustomShader\" implementation_attrs=0x : i8[4]\n"
                                       "  return %1\n}\n"),
                  *back = NULL;
        tc_attr_tosa_custom a = {"a", "com.arm.VulkanCustomShader",
                                 {(const uint8_t *)cases[i].json, strlen(cases[i].json)}};
        tc_bytes tosa;
        ti_main(module)->node[0]->attr = &a;
        CHECK(ti_emit_tosa(ctx, module, &tosa) == TC_OK);
        CHECK(ti_read_tosa(ctx, "file.tosa", tosa, &back) == TC_OK);
        CHECK(back && ti_main(back)->node[0]->op == TC_OP_tosa_custom);
        CHECK_ROW(cases[i].words, strstr(tc_diagnostics(ctx), cases[i].words));
        tc_ctx_free(ctx);
    }
}

/* What does not fit, and the words that say so. */
static void no_code(file *f) { f->module[1].code_type = TC_VGF_NO_CODE; }
static void glsl(file *f) { f->module[1].code_type = TC_VGF_GLSL; f->module[1].code = (tc_bytes){(const uint8_t *)"void", 4}; }
static void other_format(file *f) { f->resource[2].format = 42; }
static void other_shape(file *f) { f->resource[3].dim = dim + 1; f->resource[3].n_dim = 3; }
static void unknown_format(file *f) { f->resource[3].format = 2; }
static void too_early(file *f) { f->segment[1].in.v = f->slot + 1; f->slot[2].resource = 5; f->slot[1].resource = 5; f->segment[0].out.n = 0; f->set[0].slots.n = 1; }
static void other_entry(file *f) { f->module[1].entry_point = "other"; }
static void never_written(file *f) { f->vgf.out.v = f->slot; f->slot[0].resource = 5; f->vgf.in.n = 0; }

static void test_refused(void)
{
    static const struct {
        void (*change)(file *);
        bool reads; /* and cannot be run */
        const char *words;
    } cases[] = {
        {no_code, true, "its code is not in the file"},
        {glsl, true, "only SPIR-V can be run"},
        {other_format, false, "seen as another type"},
        {other_shape, false, "cannot be"},
        {unknown_format, false, "format 2 is not supported"},
        {too_early, false, "before anything is written"},
        {other_entry, false, "no compute shader 'other'"},
        {never_written, false, "before anything is written"},
    };
    for (size_t i = 0; i < TC_COUNT(cases); i++) {
        tc_ctx *ctx = tc_ctx_new();
        file f;
        tc_module *module = NULL;
        make(ctx, &f);
        cases[i].change(&f);
        tc_status status = reads(ctx, &f, &module);
        CHECK_ROW(cases[i].words, (status == TC_OK) == cases[i].reads);
        if (status == TC_OK) {
            int32_t x[16] = {0};
            tc_graph *g = ti_main(module);
            tc_tensor in = {ti_type_of(g, g->in[0]), x}, out;
            CHECK(ti_eval(g, &in, &out, &ctx->arena) != TC_OK);
        }
        if (!strstr(tc_diagnostics(ctx), cases[i].words))
            fprintf(stderr, "%s", tc_diagnostics(ctx));
        CHECK_ROW(cases[i].words, strstr(tc_diagnostics(ctx), cases[i].words));
        tc_ctx_free(ctx);
    }
}

int main(void)
{
    test_run();
    test_custom();
    test_not_understood();
    test_refused();
    return check_done();
}
