/* SPDX-License-Identifier: Apache-2.0 */
/* vgf.c -- VGF files: written and read back, what has no place in one, and broken in every byte. */
#include "check.h"

#include "run/eval.h"
#include "emit/emit.h"
#include "ir/ir_text.h"
#include "read/read.h"
#include "target/target.h"
#include "target/vgf_schema.h"
#include "wire/flatbuf.h"
#include "wire/spirv.h"
#include "wire/vgf.h"

static tc_module *parse(tc_ctx *ctx, const char *text)
{
    tc_module *module = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (ti_parse(ctx, "text", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    CHECK(module != NULL);
    return module;
}

static tc_bytes emit(tc_ctx *ctx, const tc_module *module)
{
    tc_bytes bytes = {NULL, 0};
    if (ti_emit_vgf(ctx, module, &bytes) != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    CHECK(bytes.size > 0 && bytes.size % 8 == 0);
    return bytes;
}

static tc_module *back(tc_ctx *ctx, tc_bytes bytes)
{
    tc_module *module = NULL;
    if (ti_read_vgf(ctx, "file.vgf", bytes, &module) != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    CHECK(module != NULL);
    return module;
}

static const char *printed(tc_ctx *ctx, const tc_module *module)
{
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    ti_print(module, &(tc_print_options){.locs = false}, &text);
    return ti_buf_cstr(&text);
}

/* Every kind of attribute and of constant: in the code, beside it, zeros, several ranks.  In the
 * order in which the reader makes it again. */
static const char everything[] =
    "graph @main(%0 \"image\": f32[1,4,4,2], %1 \"unread\": i8[2,3], %2 \"codes\": i8[1,4] "
    "q(0.05:-3)) {\n"
    "  %3 \"pooled\" = tosa.max_pool2d %0 kernel=[2,2] stride=[2,2] pad=[0,0,0,0] nan_mode=ignore "
    ": f32[1,2,2,2]\n"
    "  %4 \"bounded\" = tosa.clamp %3 min_val=-1.5 max_val=inf nan_mode=propagate : f32[1,2,2,2]\n"
    "  %5 = const [2, 1, 2, 2] : shape[4]\n"
    "  %6 \"shaped\" = tosa.reshape %4, %5 : f32[2,1,2,2]\n"
    "  %7 = const [0, 0, 0, 0] : i8[1,1,1,4]\n"
    "  %8 = const [1, -2, 3, 140737488355327] : i48[4]\n"
    "  %9 = const [0] : i16[1]\n"
    "  %10 = const [-7] : i8[1]\n"
    "  %11 = const [0, 1, 0, 1] : shape[4]\n"
    "  %12 = const [5] : i8[1]\n"
    "  %13 \"padded\" = tosa.pad %2, %11, %12 : i8[2,5]\n"
    "  %14 = const [10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, "
    "29] : i8[2,10]\n"
    "  %15 \"joined\" = tosa.concat %13, %14 axis=1 : i8[2,15]\n"
    "  return %6, %15\n"
    "}\n";

static void test_round_trip(void)
{
    tc_ctx *ctx = tc_ctx_new(), *other = tc_ctx_new();
    tc_bytes first = emit(ctx, parse(ctx, everything));
    tc_module *module = back(ctx, first);
    CHECK(module && ti_verify_tosa(ctx, module, "TOSA-1.0+INT+FP") == TC_OK);
    tc_bytes second = emit(ctx, module), elsewhere = emit(other, parse(other, everything));
    CHECK(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
    CHECK(first.size == elsewhere.size && memcmp(first.data, elsewhere.data, first.size) == 0);
    const char *text = printed(ctx, module);
    static const char *const kept[] = {"\"image\"",          "\"unread\"",
                                       "\"pooled\"",         "\"joined\"",
                                       "i8[1,4] q(0.05:-3)", "min_val=-1.5 max_val=inf"};
    for (size_t i = 0; i < TC_COUNT(kept); i++)
        CHECK(strstr(text, kept[i]));
    tc_ctx_free(other);
    tc_ctx_free(ctx);
}

/* Bindings: every input, also the one that nothing reads, then the outputs; constants come first
 * among resources. */
static void test_signature(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_vgf v;
    CHECK(ti_vgf_read(ctx, "file", emit(ctx, parse(ctx, everything)), &v) == TC_OK);
    CHECK(v.n_constant == 1 && v.constant[0].data.size == 20 && v.n_resource == 6);
    CHECK(v.in.n == 3 && v.out.n == 2 && v.n_segment == 1 && v.segment[0].set[0].slots.n == 5);
    for (uint32_t i = 0; i < 5; i++)
        CHECK(v.segment[0].set[0].slots.v[i].binding == i && v.segment[0].set[0].slots.v[i].resource == i + 1);
    CHECK(v.n_in_name == 3 && ti_text_eq(v.in_name[1], "unread") &&
          ti_text_eq(v.out_name[1], "joined"));
    CHECK(v.resource[0].category == TC_VGF_CONSTANT &&
          v.resource[0].descriptor == TC_VGF_NO_DESCRIPTOR);
    CHECK(v.resource[1].format == 100 && v.resource[2].format == 14 &&
          v.resource[2].descriptor == TC_VGF_TENSOR);
    tc_ctx_free(ctx);
}

static void swap_ports(tc_vgf_slots *slots, const char **name)
{
    tc_vgf_slot slot = slots->v[0];
    const char *text = name[0];
    slots->v[0] = slots->v[1];
    slots->v[1] = slot;
    name[0] = name[1];
    name[1] = text;
}

/* A file of others may list its ports in another order than the graph: the file's is the signature. */
static void test_listed_order(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_vgf v;
    tc_bytes bytes = {NULL, 0};
    tc_module *module = parse(ctx, "graph @main(%0 \"a\": i32[2], %1 \"b\": i32[2]) {\n"
                                   "  %2 \"d\" = tosa.sub %0, %1 : i32[2]\n"
                                   "  %3 \"m\" = tosa.abs %1 : i32[2]\n"
                                   "  return %2, %3\n}\n");
    CHECK(ti_vgf_read(ctx, "file", emit(ctx, module), &v) == TC_OK && v.in.n == 2 && v.out.n == 2);
    swap_ports(&v.in, v.in_name);
    swap_ports(&v.out, v.out_name);
    CHECK(ti_vgf_write(ctx, "file", &v, &bytes) == TC_OK);
    const tc_graph *g = ti_main(back(ctx, bytes));
    CHECK(ti_text_eq(ti_value_of(g, g->in[0])->name, "b") &&
          ti_text_eq(ti_value_of(g, g->in[1])->name, "a"));
    const tc_node *abs = ti_def(g, g->out[0]), *sub = ti_def(g, g->out[1]);
    CHECK(abs->op == TC_OP_tosa_abs && abs->in[0] == g->in[0]);
    CHECK(sub->op == TC_OP_tosa_sub && sub->in[0] == g->in[1] && sub->in[1] == g->in[0]);
    tc_ctx_free(ctx);
}

/* What RESCALE takes or gives as unsigned has an unsigned format; rank 0 stays rank 0 in the
 * container. */
static void test_formats(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_vgf v;
    tc_module *module = parse(ctx, "graph @main(%0: i8[2], %1: f32[], %2: f32[3]) {\n"
                                   "  %3 = const [1073741824] : i32[1]\n"
                                   "  %4 = const [30] : i8[1]\n"
                                   "  %5 = const [-128] : i8[1]\n"
                                   "  %6 = const [0] : i16[1]\n"
                                   "  %7 = tosa.rescale %0, %3, %4, %5, %6 scale32=true "
                                   "rounding_mode=single per_channel=false "
                                   "input_unsigned=true output_unsigned=false : i16[2]\n"
                                   "  %8 = tosa.abs %1 : f32[]\n"
                                   "  %9 = tosa.argmax %2 axis=0 nan_mode=propagate : i32[]\n"
                                   "  return %7, %8, %9\n}\n");
    tc_bytes bytes = emit(ctx, module);
    CHECK(ti_vgf_read(ctx, "file", bytes, &v) == TC_OK);
    CHECK(v.resource[0].format == 13 && v.resource[3].format == 75);
    CHECK(v.resource[1].n_dim == 0 && v.resource[4].n_dim == 0 && v.resource[5].n_dim == 0);
    tc_module *again = back(ctx, bytes);
    CHECK(again && ti_verify_tosa(ctx, again, NULL) == TC_OK);
    for (size_t i = 0; again && i < 3; i++)
        CHECK(ti_type_of(ti_main(again), ti_main(again)->out[i]) ==
              ti_type_of(ti_main(module), ti_main(module)->out[i]));
    tc_ctx_free(ctx);
}

/* A value that is an output twice has two ids, and is one value again when it is written the second
 * time. */
static void test_outputs(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes first =
        emit(ctx, parse(ctx, "graph @main(%0: i32[2], %1: i8[]) {\n  return %0, %0, %1, %1\n}\n"));
    tc_module *module = back(ctx, first);
    const tc_graph *g = ti_main(module);
    CHECK(g->n_out == 4 && g->out[0] != g->out[1] && g->out[2] != g->out[3] &&
          ti_verify_tosa(ctx, module, NULL) == TC_OK);
    tc_bytes second = emit(ctx, module);
    CHECK(first.size == second.size && memcmp(first.data, second.data, first.size) == 0);
    tc_ctx_free(ctx);
}

static void test_schema(void)
{
    CHECK(ti_vgf_instruction(TC_OP_tosa_argmax) == 0 &&
          ti_vgf_instruction(TC_OP_tosa_rescale) == 65);
    CHECK(ti_vgf_instruction(TC_OP_tosa_identity) < 0 && ti_vgf_instruction(TC_OP_const) < 0);
    for (uint32_t i = 0; i < TC_VGF_INSTRUCTIONS; i++)
        CHECK(ti_vgf_instruction(ti_vgf_operator(i)) == (int)i);
    CHECK(ti_vgf_operator(TC_VGF_INSTRUCTIONS) == TC_OP_COUNT);
    /* acc_type stands in front of local_bound */
    const tc_attr_info *conv = &tc_attrs[TC_ATTR_tosa_conv];
    CHECK(ti_text_eq(conv->field[ti_vgf_field(conv, 3)].name, "acc_type"));
    CHECK(ti_text_eq(conv->field[ti_vgf_field(conv, 4)].name, "local_bound"));
    CHECK(ti_vgf_shape_operand(TC_OP_tosa_slice, 2) && !ti_vgf_shape_operand(TC_OP_tosa_slice, 0));
    CHECK(ti_vgf_acc_type(TC_i48) == 4 && ti_vgf_acc_dtype(2) == TC_f16);
}

/* Loops, state, other forms, and branches that SELECT or a guess cannot stand for, have no place in
 * a VGF file. */
static void test_refused(void)
{
    static const char *const bad[] = {
        ("graph @main(%0: i8[2]) {\n"
         "  %1 = tosa.while_loop %0 cond_graph=\"go\" body_graph=\"same\" : i8[2]\n  return %1\n}\n"
         "graph @go(%0: i8[2]) {\n  %1 = const [false] : bool[1]\n  return %1\n}\n"
         "graph @same(%0: i8[2]) {\n  return %0\n}\n"),
        ("graph @main(%0: bool[1], %1: i48[2], %2: i48[2]) {\n"
         "  %3 = tosa.cond_if %0, %1, %2 then_graph=\"a\" else_graph=\"b\" : i48[2]\n  return "
         "%3\n}\n"
         "graph @a(%0: i48[2], %1: i48[2]) {\n  return %0\n}\n"
         "graph @b(%0: i48[2], %1: i48[2]) {\n  return %1\n}\n"),
        ("graph @main(%0: bool[1], %1: i32[2]) {\n"
         "  %2 = tosa.cond_if %0, %1 then_graph=\"a\" else_graph=\"b\" : i32[2]\n  return %2\n}\n"
         "graph @a(%0: i32[2]) {\n  %1 = tosa.intdiv %0, %0 : i32[2]\n  return %1\n}\n"
         "graph @b(%0: i32[2]) {\n  return %0\n}\n"),
        ("graph @main(%0: i8[2]) {\n  %1 = const [1, 2] : i8[2]\n  %2 = tosa.variable %1 "
         "name=\"v\" : i8[2]\n"
         "  tosa.variable_write %0 name=\"v\"\n  return %0\n}\n"),
        "graph @main(%0: f64[2]) {\n  return %0\n}\n",
        "graph @main(%0: f32[2]) {\n  %1 = relu %0 : f32[2]\n  return %1\n}\n",
    };
    for (size_t i = 0; i < TC_COUNT(bad); i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_bytes out;
        CHECK(ti_emit_vgf(ctx, parse(ctx, bad[i]), &out) == TC_BAD_MODEL);
        CHECK(strstr(tc_diagnostics(ctx), "a VGF file cannot hold"));
        tc_ctx_free(ctx);
    }
}

/* What a program of one bool and one i32[2] gives. */
static int32_t first_result(tc_ctx *ctx, tc_module *module, bool condition)
{
    tc_graph *g = ti_main(module);
    tc_tensor in[2], out[1] = {{NULL, NULL}};
    for (size_t i = 0; i < 2; i++)
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
    *(uint8_t *)in[0].data = condition;
    ((int32_t *)in[1].data)[0] = ((int32_t *)in[1].data)[1] = 5;
    CHECK(ti_eval(g, in, out, &ctx->arena) == TC_OK);
    return out[0].data ? *(int32_t *)out[0].data : -1;
}

/* Branches, one inside the other, become SELECTs; a condition that is known takes its branch,
 * whatever is in it. */
static void test_branches(void)
{
    static const char text[] =
        "graph @main(%0: bool[1], %1: i32[1,2]) {\n"
        "  %2 = tosa.cond_if %0, %1 then_graph=\"twice\" else_graph=\"maybe\" : i32[1,2]\n  return "
        "%2\n}\n"
        "graph @twice(%0: i32[1,2]) {\n  %1 = tosa.add %0, %0 : i32[1,2]\n  return %1\n}\n"
        "graph @maybe(%0: i32[1,2]) {\n  %1 = const [true] : bool[1]\n"
        "  %2 = tosa.cond_if %1, %0 then_graph=\"less\" else_graph=\"one\" : i32[1,2]\n  return "
        "%2\n}\n"
        "graph @less(%0: i32[1,2]) {\n  %1 = const [1, 1] : i32[1,2]\n  %2 = tosa.sub %0, %1 : "
        "i32[1,2]\n  return %2\n}\n"
        "graph @one(%0: i32[1,2]) {\n  %1 = tosa.intdiv %0, %0 : i32[1,2]\n  return %1\n}\n";
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = parse(ctx, text), *again = back(ctx, emit(ctx, module));
    CHECK(again->n_graph == 1 && ti_verify_tosa(ctx, again, "TOSA-1.0+INT") == TC_OK);
    CHECK(first_result(ctx, module, true) == 10 && first_result(ctx, again, true) == 10);
    CHECK(first_result(ctx, module, false) == 4 && first_result(ctx, again, false) == 4);
    CHECK(!strstr(printed(ctx, again), "intdiv") && strstr(printed(ctx, again), "tosa.select"));
    tc_ctx_free(ctx);
}

static void test_disassembly(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_vgf v;
    CHECK(ti_vgf_read(ctx, "file", emit(ctx, parse(ctx, everything)), &v) == TC_OK);
    tc_spv_reader words;
    tc_spv_instr instr;
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    ti_spv_read(&words, v.module[0].code);
    while (ti_spv_next(&words, &instr)) {
        ti_spv_print(&instr, &(tc_spv_names){0, ti_vgf_spelled}, &text);
        ti_buf_text(&text, "\n");
    }
    CHECK(!words.error);
    static const char *const lines[] = {
        "OpCapability 4191\n", "OpName %",
        "OpTypeTensorARM",     " MAX_POOL2D %",
        "\nOpGraphEndARM\n",   "OpModuleProcessed \"tosac.quant input 2 q(0.05:-3)\"\n"};
    for (size_t i = 0; i < TC_COUNT(lines); i++)
        CHECK(strstr(ti_buf_cstr(&text), lines[i]));
    tc_ctx_free(ctx);
}

/* A container with everything that a segment and a resource can have comes back as it was. */
static void test_segments(void)
{
    static const int64_t image[] = {1, 4, 6, 4}, open[] = {-1, 3}, stride[] = {12, 4};
    static const tc_vgf_sampler sampler = {1, 0, 2, 3, 4};
    static const char glsl[] = "void main() {}";
    tc_vgf_module module[] = {
        {TC_VGF_GRAPH, TC_VGF_SPIRV, "g", "g", {(const uint8_t *)"\1\0\0\0", 4}},
        {TC_VGF_COMPUTE, TC_VGF_GLSL, "c", "main", {(const uint8_t *)glsl, strlen(glsl)}},
        {TC_VGF_COMPUTE, TC_VGF_NO_CODE, "later", "main", {NULL, 0}}};
    tc_vgf_resource resource[] = {
        {.descriptor = TC_VGF_NO_DESCRIPTOR, .format = 100, .category = TC_VGF_CONSTANT,
         .dim = image, .n_dim = 1},
        {.descriptor = TC_VGF_TENSOR, .format = 14, .category = TC_VGF_INTERMEDIATE, .dim = image,
         .n_dim = 4, .aliases = true, .alias = 0},
        {.descriptor = TC_VGF_IMAGE_SAMPLER, .format = 38, .category = TC_VGF_INTERMEDIATE,
         .dim = image, .n_dim = 4, .sampler = &sampler, .aliases = true, .alias = 0},
        {.descriptor = TC_VGF_TENSOR, .format = 100, .category = TC_VGF_INPUT, .dim = open,
         .n_dim = 2, .stride = stride, .n_stride = 2},
        {.descriptor = TC_VGF_STORAGE_BUFFER, .format = 100, .category = TC_VGF_OUTPUT,
         .dim = open, .n_dim = 2}};
    tc_vgf_slot slot[] = {{5, 2}, {7, 4}};
    tc_vgf_set set[] = {{{slot, 1}, 3}, {{slot + 1, 1}, TC_VGF_SET_BY_PLACE}};
    uint32_t constant[] = {0}, number[] = {9};
    tc_vgf_push push[] = {{32, 4, 8}};
    tc_vgf_segment segment[] = {
        {.type = TC_VGF_COMPUTE, .name = "s", .module = 1, .set = set, .n_set = 2,
         .in = {slot, 1}, .out = {slot + 1, 1}, .dispatch = {2, 3, 4}, .push = push, .n_push = 1},
        {.type = TC_VGF_GRAPH, .name = "t", .constant = constant, .n_constant = 1}};
    tc_vgf_constant bytes = {0, -1, {(const uint8_t *)"abcd", 4}};
    tc_vgf all = {.version = {0, 4, 0}, .module = module, .n_module = 3, .resource = resource,
                  .n_resource = 5, .segment = segment, .n_segment = 2, .constant = &bytes,
                  .n_constant = 1, .in = {slot, 1}, .out = {slot + 1, 1}};
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes file;
    tc_vgf v;
    CHECK(ti_vgf_write(ctx, "file", &all, &file) == TC_OK && file.data[9] == 4 && file.data[10] == 3);
    segment[1].constant_id = number;
    CHECK(ti_vgf_write(ctx, "file", &all, &file) == TC_OK && file.data[9] == 5 && file.data[10] == 0);
    CHECK(ti_vgf_read(ctx, "file", file, &v) == TC_OK);
    CHECK(v.n_module == 3 && v.module[1].code_type == TC_VGF_GLSL &&
          v.module[1].code.size == strlen(glsl) && !memcmp(v.module[1].code.data, glsl, strlen(glsl)));
    CHECK(v.module[2].code_type == TC_VGF_NO_CODE && !v.module[2].code.size);
    CHECK(v.resource[2].aliases && v.resource[2].alias == 0 && !v.resource[3].aliases);
    CHECK(v.resource[2].sampler && !memcmp(v.resource[2].sampler, &sampler, sizeof sampler));
    CHECK(!v.resource[1].sampler && v.resource[3].dim[0] == -1 && v.resource[3].n_stride == 2 &&
          v.resource[3].stride[0] == 12 && v.resource[4].n_stride == 0);
    const tc_vgf_segment *s = &v.segment[0];
    CHECK(s->n_set == 2 && s->set[0].index == 3 && s->set[1].index == 1);
    CHECK(s->set[0].slots.v[0].binding == 5 && s->set[1].slots.v[0].resource == 4);
    CHECK(s->dispatch[0] == 2 && s->dispatch[2] == 4 && s->n_push == 1);
    CHECK(s->push[0].stages == 32 && s->push[0].offset == 4 && s->push[0].size == 8);
    CHECK(v.segment[1].constant_id[0] == 9 && v.segment[1].constant[0] == 0);
    tc_ctx_free(ctx);
}

/* Reads, judges and writes; any status will do. */
static tc_status survive(tc_bytes bytes)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module;
    tc_bytes out;
    tc_status status = ti_read_vgf(ctx, "bad", bytes, &module);
    if (status == TC_OK)
        status = ti_verify_tosa(ctx, module, "TOSA-1.0+INT");
    if (status == TC_OK)
        status = ti_emit_vgf(ctx, module, &out);
    CHECK(status == TC_OK || tc_diagnostics(ctx)[0]);
    tc_ctx_free(ctx);
    return status;
}

/* The file as format 0.3.0 has it: constants in a flatbuffer of their own. */
static tc_bytes as_0_3(tc_ctx *ctx, tc_bytes file)
{
    enum { CONSTANTS = 16 + 16 * 3 };
    tc_vgf vgf;
    tc_fb_writer w;
    tc_buf out;
    CHECK(ti_vgf_read(ctx, "file.vgf", file, &vgf) == TC_OK);
    tc_fb_ref row[8];
    CHECK(vgf.n_constant > 0 && vgf.n_constant <= TC_COUNT(row));
    ti_fb_write(&w, &ctx->arena, file.size);
    for (size_t i = 0; i < vgf.n_constant; i++) {
        const tc_vgf_constant *c = &vgf.constant[i];
        tc_fb_ref raw = ti_fb_put_bytes(&w, c->data.data, c->data.size, 8);
        ti_fb_begin(&w);
        ti_fb_set_u32(&w, 0, c->resource, 0);
        ti_fb_set_u64(&w, 1, (uint64_t)(int64_t)c->sparsity, 0);
        ti_fb_set_ref(&w, 2, raw);
        row[i] = ti_fb_end(&w);
    }
    tc_fb_ref rows = ti_fb_put_refs(&w, row, vgf.n_constant);
    ti_fb_begin(&w);
    ti_fb_set_ref(&w, 0, rows);
    tc_bytes constants = ti_fb_finish(&w, ti_fb_end(&w), NULL);
    uint64_t at = ti_le64(file.data + CONSTANTS), size = constants.size;
    ti_buf_init(&out, &ctx->arena);
    ti_buf_put(&out, file.data, (size_t)at);
    ti_buf_put(&out, constants.data, constants.size);
    memcpy(out.data + 8, (const uint8_t[]){0, 3, 0}, 3);
    memcpy(out.data + CONSTANTS + 8, &size, sizeof size);
    return (tc_bytes){out.data, out.size};
}

static void test_old_constants(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = parse(ctx, everything);
    tc_bytes file = emit(ctx, module), old = as_0_3(ctx, file);
    const char *was = printed(ctx, back(ctx, file)), *is = printed(ctx, back(ctx, old));
    CHECK(strstr(is, "VGF 0.3.0") && ti_text_eq(strchr(is, '\n'), strchr(was, '\n')));
    uint8_t *newer = ti_arena_copy(&ctx->arena, old.data, old.size);
    newer[9] = 4;
    tc_module *refused;
    CHECK(ti_read_vgf(ctx, "file.vgf", (tc_bytes){newer, old.size}, &refused) == TC_BAD_MODEL);
    CHECK(strstr(tc_diagnostics(ctx), "do not begin with CONST00"));
    tc_ctx_free(ctx);
}

static void hostile(tc_ctx *ctx, tc_bytes good)
{
    for (size_t n = 0; n + 8 < good.size; n += 3)
        CHECK(survive((tc_bytes){ti_arena_copy(&ctx->arena, good.data, n), n}) != TC_OK);
    uint8_t *bad = ti_arena_copy(&ctx->arena, good.data, good.size);
    for (size_t i = 0; i < good.size; i++) {
        static const uint8_t evil[] = {0, 1, 0x7f, 0xff};
        for (size_t k = 0; k < TC_COUNT(evil); k++) {
            bad[i] = evil[k];
            survive((tc_bytes){bad, good.size});
        }
        bad[i] = good.data[i];
    }
}

static void test_hostile(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes good = emit(ctx, parse(ctx, everything));
    hostile(ctx, good);
    hostile(ctx, as_0_3(ctx, good));
    tc_ctx_free(ctx);
}

int main(void)
{
    test_round_trip();
    test_signature();
    test_listed_order();
    test_formats();
    test_outputs();
    test_schema();
    test_refused();
    test_branches();
    test_disassembly();
    test_segments();
    test_old_constants();
    test_hostile();
    return check_done();
}
