/* SPDX-License-Identifier: Apache-2.0 */
/* pte.c -- programs: written, read back, run; every row of the table of kernels; files broken in
 * every byte. */
#include "check.h"

#include <stdlib.h>

#include "drive/passes.h"
#include "emit/emit.h"
#include "executorch/cpu_select.h"
#include "ir/ir_text.h"
#include "read/read_pte.h"
#include "read/read.h"
#include "run/exec.h"

static tc_module *parse(tc_ctx *ctx, const char *text)
{
    tc_module *module = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (ti_parse(ctx, "text", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK ||
        ti_verify(ctx, module) != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    CHECK(module != NULL);
    return module;
}

/* Graphs after the first become TOSA delegates; `kept`: beside a payload that cannot be run here.
 */
static tc_bytes write(tc_ctx *ctx, tc_module *module, bool kept)
{
    tc_payload payload[4];
    tc_bytes out = {NULL, 0};
    size_t n = 0;
    for (size_t i = 1; i < module->n_graph; i++) {
        tc_module *alone = ti_module_new(ctx, "region");
        alone->graph = &module->graph[i];
        alone->n_graph = 1;
        tc_bytes tosa;
        CHECK(ti_emit_tosa(ctx, alone, &tosa) == TC_OK);
        payload[n] =
            (tc_payload){.graph = module->graph[i]->name, .backend = "TOSABackend", .bytes = tosa};
        if (kept)
            payload[n] = (tc_payload){.graph = module->graph[i]->name,
                                      .backend = "EthosUBackend",
                                      .bytes = {(const uint8_t *)"????", 4},
                                      .tosa = tosa};
        n++;
    }
    CHECK(ti_run_passes(ctx, module, "program", NULL) == TC_OK);
    tc_memory memory = ti_plan_memory(ctx, module, NULL);
    tc_emit_method forward = {.name = "forward", .module = module, .memory = &memory, .payload = payload, .n_payload = n};
    if (ti_emit_methods(ctx, &forward, 1, &out) != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    return out;
}

static tc_tensor *run(tc_ctx *ctx, tc_module *module, int times)
{
    const tc_graph *g = ti_main(module);
    tc_tensor *in = tc_new_n(&ctx->arena, tc_tensor, g->n_in),
              *out = tc_new_n(&ctx->arena, tc_tensor, g->n_out);
    for (size_t i = 0; i < g->n_in; i++) {
        in[i] = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[i]));
        for (size_t k = 0; k < tc_type_bytes(in[i].type); k++)
            ((uint8_t *)in[i].data)[k] =
                in[i].type->dtype == TC_f32 ? (k % 4 == 3 ? 0x3f : (uint8_t)(37 * k)) : k % 2 == 0;
    }
    tc_exec *exec = ti_exec_new(ctx, module);
    for (int i = 0; i < times; i++)
        CHECK(ti_exec_run(exec, in, out) == TC_OK);
    return out;
}

/* What is read back gives what the text gives, bit for bit, on the second run too. */
static void round_trip(const char *text, bool kept)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *plain = parse(ctx, text), *back = NULL;
    tc_bytes one = write(ctx, parse(ctx, text), kept), two = write(ctx, parse(ctx, text), kept);
    CHECK(one.size && one.size == two.size && memcmp(one.data, two.data, one.size) == 0);
    ti_reading(ctx)->prefer_tosa = kept; /* there is no stream in it */
    tc_status status = ti_read_pte(ctx, "written.pte", one, &back);
    CHECK(status == TC_OK && ti_verify(ctx, back) == TC_OK);
    if (status != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    size_t n = ti_main(plain)->n_out;
    CHECK(back && ti_main(back)->n_out == n && ti_main(back)->n_in == ti_main(plain)->n_in);
    tc_tensor *want = run(ctx, plain, 2), *have = run(ctx, back, 2);
    for (size_t i = 0; i < n; i++)
        CHECK(tc_type_bytes(want[i].type) == tc_type_bytes(have[i].type) &&
              memcmp(want[i].data, have[i].data, tc_type_bytes(want[i].type)) == 0);
    tc_ctx_free(ctx);
}

static const char borders[] = "graph @main(%0 \"x\": f32[1,4], %1: f32[2]) {\n"
                              "  %2 = rescale %0 : i8[1,4] q(0.05:-3)\n"
                              "  %3 = call %2 graph=\"npu.0\" target=\"t\" : i8[4,1] q(0.05:-3)\n"
                              "  %4 = permute %3 perm=[1,0] : i8[1,4] q(0.05:-3)\n"
                              "  %5 = rescale %4 : i16[1,4] q(0.001:0)\n"
                              "  %6 = relu %4 : i8[1,4] q(0.1:-128)\n"
                              "  %7 = rescale %5 : f32[1,4]\n"
                              "  %8 = rescale %6 : f32[1,4]\n"
                              "  %9 = rescale %0 : i8[1,4] q(axis=1; 0.1:0, 0.2:1, 0.3:2, 0.4:3)\n"
                              "  %10 = rescale %9 : f32[1,4]\n"
                              "  return %7, %8, %10, %4\n"
                              "}\n"
                              "graph @npu.0(%0: i8[1,4] q(0.05:-3)) {\n"
                              "  %1 = const [4, 1] : shape[2]\n"
                              "  %2 = tosa.reshape %0, %1 : i8[4,1] q(0.05:-3)\n"
                              "  return %2\n"
                              "}\n";

/* Numbers of 4 and of 48 bits lie in one and in eight bytes outside regions. */
static const char odd_bits[] =
    "graph @main(%0: i48[2], %1: i4[3]) {\n"
    "  %2, %3 = call %0, %1 graph=\"npu.0\" target=\"t\" : i48[2], i4[3]\n"
    "  return %2, %3\n"
    "}\n"
    "graph @npu.0(%0: i48[2], %1: i4[3]) {\n"
    "  %2 = tosa.identity %0 : i48[2]\n"
    "  %3 = tosa.identity %1 : i4[3]\n"
    "  return %2, %3\n"
    "}\n";

static const char signature[] =
    "graph @main(%0 \"x\": f32[2,3], %1: bool[2], %2: f32[0,4]) {\n"
    "  %3 = const [1, 2, 3] : f32[3]\n"
    "  %4 = const [true] : bool[]\n"
    "  %5 = abs %0 : f32[2,3]\n"
    "  %6 = reshape %5 shape=[3,2] : f32[3,2]\n"
    "  %7 = reshape %0 shape=[6] : f32[6]\n"
    "  %8 = logical_not %1 : bool[2]\n"
    "  %9, %10 = split %0 axis=1 sizes=[1,2] : f32[2,1], f32[2,2]\n"
    "  %11, %12 = topk %0 k=2 axis=1 largest=true : f32[2,2], i64[2,2]\n"
    "  %13 = layer_norm %0, %3, none n_axes=1 eps=0.001 : f32[2,3]\n"
    "  takes %0 \"x\"\n  takes \"None\"\n  takes %1\n  takes \"5\"\n  takes %2\n"
    "  gives %5\n  gives \"None\"\n  gives %5\n  gives %0\n  gives %3\n  gives "
    "%4\n  gives %6\n  gives %7\n  gives %8\n"
    "  gives %10\n  gives %9\n  gives %12\n  gives %11\n  gives %13\n"
    "  return %5, %5, %0, %3, %4, %6, %7, %8, %10, %9, %12, %11, %13\n"
    "}\n";

static const char state[] = "graph @main(%0 \"x\": f32[2]) {\n"
                            "  %1 = const [1, 2] : f32[2]\n"
                            "  %2 = const [10, 20] : f32[2]\n"
                            "  %3 = add %1, %0 alpha=1 : f32[2]\n"
                            "  %4 = reshape %1 shape=[2,1] : f32[2,1]\n"
                            "  mutate %1 -> %3\n"
                            "  mutate %2 -> %1\n"
                            "  return %1, %3, %4, %2\n"
                            "}\n";

/* What goes to one place is added up. */
static const char scattered[] =
    "graph @main(%0 \"x\": f32[4,2]) {\n"
    "  %1 = const [1, 2, 3, 4] : f32[2,2]\n"
    "  %2 = const [0, 1, 1, 1, 0, 1, 0, 0] : i64[4,2]\n"
    "  %3 = scatter %1, %2, %0 axis=0 combine=add include_self=true : f32[2,2]\n"
    "  return %3\n"
    "}\n";

/* Values that are alive together are apart. */
static void check_memory(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = parse(ctx, signature);
    CHECK(ti_run_passes(ctx, m, "program", NULL) == TC_OK);
    tc_memory memory = ti_plan_memory(ctx, m, NULL);
    const tc_graph *g = ti_main(m);
    for (size_t i = 0; i < g->n_out; i++)
        for (size_t k = 0; k < g->n_out; k++) {
            tc_val a = ti_cpu_root(g, g->out[i]), b = ti_cpu_root(g, g->out[k]);
            if (a == b || ti_is_const(g, a) || ti_is_const(g, b))
                continue;
            size_t x = memory.offset[a], y = memory.offset[b];
            CHECK(x % TC_CPU_ALIGN == 0 && x + tc_type_bytes(ti_type_of(g, a)) <= memory.bytes);
            CHECK(x + tc_type_bytes(ti_type_of(g, a)) <= y ||
                  y + tc_type_bytes(ti_type_of(g, b)) <= x);
        }
    tc_ctx_free(ctx);
}

/* Rows name operands, fields and functions that are there. */
static void check_rows(void)
{
    for (size_t i = 0; i < tc_cpu_n_kernel; i++) {
        const tc_cpu_kernel *k = &tc_cpu_kernels[i];
        const tc_attr_info *info = &tc_attrs[tc_ops[k->op].attr];
        const char *rest = k->args;
        tc_cpu_arg arg;
        while (ti_cpu_next(&rest, &arg)) {
            bool found = !arg.field.n || arg.kind == TC_CPU_MORE;
            for (int f = 0; f < info->n_field; f++)
                found = found || ti_str_is(arg.field, info->field[f].name);
            CHECK(found && arg.index <= tc_ops[k->op].max_in);
            CHECK(arg.word.p[0] != '@' || !k->when || tc_attrs[tc_ops[k->op].attr].size ||
                  ti_str_is(arg.word, "@order"));
        }
    }
}

/* Any change of a byte, any length: an answer or a message. */
static void break_bytes(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes file = write(ctx, parse(ctx, borders), false);
    uint8_t *copy = malloc(file.size);
    for (size_t at = 0; at < file.size; at++) {
        tc_ctx *own = tc_ctx_new();
        tc_module *module;
        memcpy(copy, file.data, file.size);
        copy[at] ^= (uint8_t)(1u << at % 8);
        tc_status status =
            ti_read_pte(own, "broken.pte", (tc_bytes){copy, at % 2 ? file.size : at}, &module);
        CHECK(status != TC_BUG && (status == TC_OK || own->n_error > 0));
        tc_ctx_free(own);
    }
    free(copy);
    tc_ctx_free(ctx);
}

static void check_borders(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_bytes file = write(ctx, parse(ctx, borders), false);
    tc_pte_file f;
    CHECK(ti_pte_open(ctx, "written.pte", file, &f) == TC_OK && f.n_method == 1);
    const tc_pte_method *m = &f.method[0];
    for (size_t k = 0; k < m->n_step; k++) {
        if (m->step[k].tag != PTE_DELEGATE_CALL)
            continue;
        const tc_pte_border *b = ti_pte_borders(&f, m, k);
        CHECK(m->step[k].arg.n == 2 && b[0].is_input && !b[1].is_input);
        CHECK(b[0].known && b[0].scale == 0.05 && b[0].zero == -3 && b[0].axis == -1);
        CHECK(m->value[b[1].value].type->dtype == TC_i8);
    }
    tc_ctx_free(ctx);
}

int main(void)
{
    round_trip(borders, false);
    round_trip(borders, true);
    round_trip(odd_bits, false);
    round_trip(odd_bits, true);
    round_trip(signature, false);
    round_trip(state, false);
    round_trip(scattered, false);
    check_memory();
    check_rows();
    check_borders();
    break_bytes();
    return check_done();
}
