/* SPDX-License-Identifier: Apache-2.0 */
/* shader.c -- any bytes as a compute shader in SPIR-V: its first byte says what it is bound to; read,
 * held to that, printed, and run as far as a small budget goes. */
#include "answer.h"

#include "shader/shader.h"

enum { BUDGET = 20000, PORTS = 3, MOST = 1 << 20 };

/* Three bindings of set 0 each, the first of them an operand. */
static const struct {
    int64_t descriptor, format;
    tc_dtype dtype;
    int32_t rank;
    int64_t dim[4];
} bound[][PORTS] = {
    {{1000460000, 100, TC_f32, 1, {8}}, {1000460000, 99, TC_i32, 1, {8}}, {1000460000, 100, TC_f32, 1, {8}}},
    {{1000460000, 14, TC_i8, 4, {1, 2, 3, 4}}, {7, 100, TC_f32, 1, {9}}, {7, 100, TC_f32, 1, {9}}},
    {{1, 37, TC_i8, 4, {1, 3, 2, 4}}, {3, 109, TC_f32, 4, {1, 3, 2, 4}}, {3, 38, TC_i8, 4, {1, 3, 2, 4}}},
    {{1000460000, 100, TC_f32, 4, {1, 3, 2, 4}}, {3, 37, TC_i8, 4, {1, 3, 2, 4}}, {1000460000, 100, TC_f32, 4, {1, 3, 2, 4}}},
};

static void print(tc_ctx *ctx, tc_bytes code)
{
    tc_spv_reader words;
    tc_spv_instr instr;
    const tc_spv_names names = {ti_spv_glsl_set(code), NULL};
    ti_spv_read(&words, code);
    while (ti_spv_next(&words, &instr)) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_buf line;
        ti_buf_init(&line, &ctx->scratch);
        if (instr.op != TC_SPV_ExtInst || ti_spv_word(&instr, 2) == names.glsl)
            ti_spv_print(&instr, &names, &line);
        ti_arena_rewind(&ctx->scratch, mark);
    }
}

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    static const int64_t sets[PORTS] = {0}, bindings[PORTS] = {0, 1, 2}, groups[3] = {2, 2, 1};
    static const int64_t sampler[7] = {0, 0, 1, 1, 0, 3, 4};
    if (!bytes.size || bytes.size > MOST)
        return;
    size_t which = bytes.data[0] % TC_COUNT(bound);
    tc_bytes code = {ti_arena_copy(&ctx->arena, bytes.data + 1, bytes.size - 1), bytes.size - 1};
    int64_t descriptor[PORTS], format[PORTS];
    tc_tensor value[PORTS];
    for (int i = 0; i < PORTS; i++) {
        descriptor[i] = bound[which][i].descriptor;
        format[i] = bound[which][i].format;
        value[i] = ti_tensor_new(
            &ctx->arena, ti_type_make(ctx, bound[which][i].dtype, bound[which][i].rank, bound[which][i].dim));
        memset(value[i].data, i + 1, tc_type_bytes(value[i].type));
    }
    const tc_attr_tosa_shader a = {.entry_point = "main",
                                   .dispatch = {3, groups},
                                   .set = {PORTS, sets},
                                   .binding = {PORTS, bindings},
                                   .descriptor = {PORTS, descriptor},
                                   .format = {PORTS, format},
                                   .sampler = {7, sampler}};
    tc_sh_interface interface;
    tc_sh_program program;
    tc_sh_reader r;
    print(ctx, code);
    must(!ti_shader_interface(&ctx->arena, &a, value, 1, value + 1, 2, &interface));
    ti_shader_declarations(&r, &ctx->arena, code, "main", &interface, &program);
    if (!r.error)
        ti_shader_check(&r);
    if (!r.error)
        ti_shader_program(&r);
    if (!r.error)
        ti_shader_run(&program, &interface, &ctx->arena, BUDGET);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, (size_t)256 << 20);
    return 0;
}
