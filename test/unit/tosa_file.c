/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_file.c -- TOSA files: written and read back, judged, and broken in every byte. */
#include "check.h"

#include "emit/emit.h"
#include "ir/ir_text.h"
#include "read/read.h"
#include "target/target.h"
#include "target/tosa_schema.h"

static tc_module *parse(tc_ctx *ctx, const char *text)
{
    tc_module *module = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (ti_parse(ctx, "text", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    CHECK(module != NULL);
    return module;
}

/* Every kind of attribute, constant and graph that a file can hold. */
static const char everything[] =
    "graph @main(%0: f32[1,4,4,2], %1: i8[2,3], %2: bool[1]) {\n"
    "  %3 = const [1, -2, 3] : i4[3]\n"
    "  %4 = const [-140737488355328, 7] : i48[2]\n"
    "  %5 = const [true, false] : bool[2]\n"
    "  %6 = const [1, -2] : e4m3[2]\n"
    "  %7 = const [2, 8, 1, 2] : shape[4]\n"
    "  %8 = const [9, 8, 7] : i8[3]\n"
    "  %9 = tosa.variable %8 name=\"state\" : i8[3]\n"
    "  %10 = tosa.variable_read name=\"state\" : i8[3]\n"
    "  tosa.variable_write %8 name=\"state\"\n"
    "  %11 = tosa.max_pool2d %0 kernel=[2,2] stride=[2,2] pad=[0,0,0,0] nan_mode=ignore : "
    "f32[1,2,2,2]\n"
    "  %12 = tosa.clamp %11 min_val=-1.5 max_val=inf nan_mode=propagate : f32[1,2,2,2]\n"
    "  %13 = tosa.clamp %1 min_val=-128 max_val=3 nan_mode=propagate : i8[2,3]\n"
    "  %14 = const [2, 1, 2, 2] : shape[4]\n"
    "  %15 = tosa.reshape %12, %14 : f32[2,1,2,2]\n"
    "  %16 = tosa.transpose %15 perms=[3,2,1,0] : f32[2,2,1,2]\n"
    "  %17 = tosa.custom %16 operator_name=\"thing\" domain_name=\"mine\" "
    "implementation_attrs=0x010203 : f32[2]\n"
    "  %18 = tosa.cond_if %2, %13 then_graph=\"twice\" else_graph=\"twice\" : i8[2,3]\n"
    "  return %17, %18, %10\n"
    "}\n"
    "graph @twice(%0: i8[2,3]) {\n"
    "  %1 = tosa.reverse %0 axis=1 : i8[2,3]\n"
    "  return %1\n"
    "}\n";

static tc_bytes emit(tc_ctx *ctx, const tc_module *module)
{
    tc_bytes bytes = {NULL, 0};
    if (ti_emit_tosa(ctx, module, &bytes) != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    return bytes;
}

static bool same(tc_bytes a, tc_bytes b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static void test_round_trip(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes first = emit(ctx, parse(ctx, everything));
    tc_module *back = NULL;
    CHECK(first.size > 0 && first.size % 8 == 0 && memcmp(first.data + 4, "TOSA", 4) == 0);
    CHECK(ti_read_tosa(ctx, "file", first, &back) == TC_OK);
    CHECK(back && ti_verify_tosa(ctx, back, NULL) == TC_OK);
    CHECK(ti_verify_tosa(ctx, back, "TOSA-1.0+INT+FP+int4+int16+fp8e4m3+cf+var") == TC_OK);
    CHECK(ti_verify_tosa(ctx, back, "TOSA-1.0+INT+FP+int4+int16+fp8e4m3+cf") == TC_BAD_MODEL);
    CHECK(same(first, emit(ctx, back)));
    tc_ctx *other = tc_ctx_new();
    CHECK(same(first, emit(other, parse(other, everything))));
    tc_ctx_free(other);
    tc_ctx_free(ctx);
}

static void test_packing(void)
{
    const int8_t i4[3] = {-7, 7, -1};
    int8_t i4_back[3];
    uint8_t packed[12];
    CHECK(ti_tosa_packed_bytes(TC_i4, 3) == 2);
    ti_tosa_pack(TC_i4, 3, i4, packed);
    CHECK(packed[0] == 0x79 && packed[1] == 0x0f);
    ti_tosa_unpack(TC_i4, 3, packed, i4_back);
    CHECK(memcmp(i4, i4_back, 3) == 0);
    const int64_t i48[2] = {-(INT64_C(1) << 47), 0x123456789abc};
    int64_t i48_back[2];
    CHECK(ti_tosa_packed_bytes(TC_i48, 2) == 12);
    ti_tosa_pack(TC_i48, 2, i48, packed);
    CHECK(packed[5] == 0x80 && packed[6] == 0xbc && packed[11] == 0x12);
    ti_tosa_unpack(TC_i48, 2, packed, i48_back);
    CHECK(memcmp(i48, i48_back, sizeof i48) == 0);
    ti_tosa_put_number(TC_bf16, -1.5, packed);
    CHECK(packed[0] == 0xc0 && packed[1] == 0xbf && ti_tosa_number(TC_bf16, packed) == -1.5);
}

/* Names that an author gave twice, or that look like ours. */
static void test_names(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = ti_module_new(ctx, NULL), *back = NULL;
    tc_graph *g = ti_graph_new(module, "main");
    const tc_type *type = ti_type_make(ctx, TC_i32, 1, (int64_t[]){2});
    tc_val a = ti_graph_input(g, type, "x"), b = ti_graph_input(g, type, NULL),
           c = ti_graph_input(g, type, "t2");
    tc_val d = ti_graph_input(g, type, "x");
    (void)a, (void)b, (void)c;
    ti_graph_output(g, d);
    CHECK(ti_read_tosa(ctx, "file", emit(ctx, module), &back) == TC_OK);
    static const char *const want[] = {"x", "t2_1", "t2", "x_1"};
    for (size_t i = 0; back && i < TC_COUNT(want); i++)
        CHECK(ti_text_eq(ti_value_of(ti_main(back), ti_main(back)->in[i])->name, want[i]));
    tc_ctx_free(ctx);
}

static bool holds(tc_bytes file, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i + n <= file.size; i++)
        if (memcmp(file.data + i, name, n) == 0)
            return true;
    return false;
}

/* The reference model takes no tensor that nothing makes and that is no input: "Invalid inputs". */
static void test_dropped_input(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module = ti_module_new(ctx, NULL), *back = NULL;
    tc_graph *g = ti_graph_new(module, "main");
    const tc_type *type = ti_type_make(ctx, TC_i32, 1, (int64_t[]){2});
    tc_val unread = ti_graph_input(g, type, "unread"), x = ti_graph_input(g, type, "read");
    ti_graph_output(g, x);
    CHECK(holds(emit(ctx, module), "unread"));
    ti_value_of(g, x)->index = ti_value_of(g, unread)->index;
    g->in[0] = x;
    g->n_in = 1;
    tc_bytes file = emit(ctx, module);
    CHECK(!holds(file, "unread") && holds(file, "read"));
    CHECK(ti_read_tosa(ctx, "file", file, &back) == TC_OK && ti_main(back)->n_in == 1);
    tc_ctx_free(ctx);
}

/* What a file has no room for is refused. */
static void test_no_place(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes out;
    tc_module *module = ti_module_new(ctx, NULL);
    tc_graph *g = ti_graph_new(module, "main");
    tc_val x = ti_graph_input(g, ti_type_make(ctx, TC_i32, 1, (int64_t[]){2}), NULL);
    tc_attr_tosa_axis far = {.axis = INT64_C(1) << 32};
    tc_node *node = ti_graph_add(g, TC_OP_tosa_reverse, &far, &x, 1, 1, NULL);
    ti_value_of(g, node->out[0])->type = ti_type_of(g, x);
    CHECK(ti_emit_tosa(ctx, module, &out) == TC_BAD_MODEL);
    far.axis = 0;
    CHECK(ti_emit_tosa(ctx, module, &out) == TC_OK);
    ti_value_of(g, x)->type = ti_type_make(ctx, TC_f64, 1, (int64_t[]){2});
    CHECK(ti_emit_tosa(ctx, module, &out) == TC_BAD_MODEL);
    tc_ctx_free(ctx);
}

/* A chain of graphs, each running the next. */
static tc_status verify_nested(int depth)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_buf text;
    ti_buf_init(&text, &ctx->arena);
    for (int i = 0; i <= depth; i++) {
        ti_buf_printf(&text, "graph @g%d(%%0: bool[1]) {\n", i);
        if (i < depth)
            ti_buf_printf(
                &text,
                "  %%1 = tosa.cond_if %%0, %%0 then_graph=\"g%d\" else_graph=\"g%d\" : bool[1]\n",
                i + 1, i + 1);
        ti_buf_printf(&text, "  return %%%d\n}\n", i < depth);
    }
    tc_status status = ti_verify_tosa(ctx, parse(ctx, ti_buf_cstr(&text)), NULL);
    tc_ctx_free(ctx);
    return status;
}

static void test_targets(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_target a, b;
    CHECK(ti_target_parse(ctx, "TOSA-1.0+INT+int16+cf", &a) == TC_OK);
    CHECK(ti_target_parse(ctx, "TOSA-1.0+cf+int16+INT+cf", &b) == TC_OK && a.tosa == b.tosa);
    CHECK(ti_target_parse(ctx, "ethos-u85-256", &a) == TC_OK && !a.core);
    CHECK(ti_target_parse(ctx, "ethos-u85-256+cortex-m85", &b) == TC_OK && b.machine == a.machine);
    CHECK(b.tosa == a.tosa && b.core && ti_text_eq(b.name, "ethos-u85-256"));
    CHECK(ti_text_eq(b.text, "ethos-u85-256+cortex-m85") && ti_text_eq(b.core->machine->name, "cortex-m85"));
    CHECK(ti_target_parse(ctx, "vgf:TOSA-1.0+INT", &a) == TC_OK && !a.core);
    static const char *const bad[] = {"TOSA-1.0",
                                      "TOSA-2.0+INT",
                                      "TOSA-1.0+INT+int17",
                                      "TOSA-1.0+FP+int16",
                                      "TOSA-1.0INT",
                                      "TOSA-1.0+",
                                      "TOSA-1.0+INT+",
                                      "",
                                      "cortex-m55+ethos-u55-128",
                                      "ethos-u55-128+",
                                      "ethos-u55-128+cortex-m55+cortex-m4",
                                      "ethos-u55-128+cf",
                                      "TOSA-1.0+INT+cortex-m55"};
    for (size_t i = 0; i < TC_COUNT(bad); i++)
        CHECK(ti_target_parse(ctx, bad[i], &a) == TC_USAGE);
    CHECK(strstr(tc_diagnostics(ctx), "did you mean 'int16'?"));
    tc_ctx_free(ctx);
}

/* Reads and judges; any status will do, and whatever is read can be written. */
static tc_status survive(tc_bytes bytes)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *module;
    tc_bytes out;
    tc_status status = ti_read_tosa(ctx, "bad", bytes, &module);
    if (status == TC_OK)
        status = ti_verify_tosa(ctx, module, "TOSA-1.0+INT");
    if (status == TC_OK)
        status = ti_emit_tosa(ctx, module, &out);
    CHECK(status == TC_OK || tc_diagnostics(ctx)[0]);
    tc_ctx_free(ctx);
    return status;
}

static void test_hostile(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes good = emit(ctx, parse(ctx, everything));
    for (size_t n = 0; n < good.size; n += 3)
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
    tc_ctx_free(ctx);
}

int main(void)
{
    test_round_trip();
    test_packing();
    test_names();
    test_dropped_input();
    test_no_place();
    CHECK(verify_nested(6) == TC_OK);
    CHECK(verify_nested(7) == TC_BAD_MODEL);
    test_targets();
    test_hostile();
    return check_done();
}
