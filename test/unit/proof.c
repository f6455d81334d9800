/* SPDX-License-Identifier: Apache-2.0 */
/* proof.c -- what is written, run beside the model: sound programs, and ones that were broken on
 * purpose after some pass. */
#include "check.h"

#include <stdlib.h>

#include "../../src/drive/driver.h"
#include "../../src/proof/proof.h"
#include "../../src/base/json_out.h"
#include "ir/ir_text.h"
#include "ir/verify.h"

static const char layer[] = "graph @main(%0 \"x\": f32[4,8]) {\n"
                            "  %1 \"w\" = const [0.5,-0.25,1,0.75,-1,0.125,0.5,-0.5,"
                            "0.25,1,-0.75,0.5,0.5,-1,0.125,0.25] : f32[2,8]\n"
                            "  %2 \"s\" = linear %0, %1\n"
                            "  %3 \"y\" = tanh %2\n"
                            "  return %3\n}\n";

static const char counting[] = "graph @main(%0 \"x\": i32[8]) {\n"
                               "  %1 = const [3] : i32[1]\n"
                               "  %2 \"y\" = mul %0, %1\n"
                               "  return %2\n}\n";

static tc_module *parsed(tc_ctx *ctx, const char *text)
{
    tc_module *module = NULL;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK ||
        ti_verify(ctx, module) != TC_OK) {
        fprintf(stderr, "%s", tc_diagnostics(ctx));
        exit(1);
    }
    return module;
}

static tc_status read_sample(void *user, size_t k, const tc_tensor *in, size_t n)
{
    (void)user, (void)n;
    for (int64_t i = 0; i < tc_type_count(in[0].type); i++) {
        int64_t x = ((int64_t)k * 37 + i * 13) % 64 - 32;
        if (ti_is_float(in[0].type->dtype))
            ((float *)in[0].data)[i] = (float)x / 24.0f;
        else
            ((int32_t *)in[0].data)[i] = (int32_t)x;
    }
    return TC_OK;
}

/* What the fault does: after this pass, in a graph of TOSA, constants of these types have other
 * numbers. */
typedef struct fault {
    const char *pass;
    tc_dtype dtype;
    int64_t least; /* numbers that it has */
    int done;
} fault;

static tc_status break_constants(void *user, const tc_module *module, const tc_pass *pass)
{
    fault *f = user;
    const tc_graph *g = ti_main(module);
    bool tosa = false;
    for (size_t k = 0; k < g->n_node; k++)
        tosa = tosa || (g->node[k]->op != TC_OP_const && tc_ops[g->node[k]->op].tosa);
    for (size_t k = 0; tosa && k < g->n_node && ti_text_eq(pass->name, f->pass); k++) {
        tc_value *v = g->val[g->node[k]->out[0]];
        size_t bytes = tc_type_bytes(v->type);
        if (g->node[k]->op != TC_OP_const || v->type->dtype != f->dtype ||
            tc_type_count(v->type) < f->least)
            continue;
        uint8_t *other = ti_arena_copy(&module->ctx->arena, v->data, bytes);
        for (size_t i = 0; i < bytes; i += f->dtype == TC_i32 ? 4 : 1)
            other[i] = (uint8_t)(other[i] ^ 0x55);
        v->data = other;
        f->done++;
    }
    return TC_OK;
}

static tc_status compile(tc_ctx *ctx, const char *text, const char *target, bool data, fault *f,
                         tc_compiled *c)
{
    tc_trace trace = {break_constants, f};
    tc_dataset *calib = NULL;
    if (data && tc_dataset_new(ctx, 64, read_sample, NULL, &calib) != TC_OK)
        return TC_BUG;
    tc_compile_request r = {.model = "t.ir",
                            .module = parsed(ctx, text),
                            .target = target,
                            .data.calib = calib,
                            .faults = f ? &trace : NULL};
    TC_TRY(ti_compile_stages(ctx, &r, c));
    return ti_prove(ctx, c, c->module);
}

static bool says(tc_ctx *ctx, const char *words)
{
    return strstr(tc_diagnostics(ctx), words) != NULL;
}

static void sound(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compiled c = {0};
    CHECK(compile(ctx, layer, "TOSA-1.0+INT", true, NULL, &c) == TC_OK);
    CHECK(!says(ctx, "error") && !says(ctx, "[written]") && !says(ctx, "[accuracy]"));
    CHECK(c.proof.ran == 8 && c.proof.held_out && c.proof.quantized && !c.proof.invented && c.proof.n_out == 1);
    const tc_proof_output *o = c.proof.out;
    CHECK(o->compared && o->real && !o->exact && o->by[0].n == 64);
    CHECK(ti_proof_db(&o->by[0], &o->by[0].written) > 30);
    tc_buf line;
    ti_buf_init(&line, &ctx->arena);
    ti_proof_line(&c.proof, &line);
    CHECK(strstr(ti_buf_cstr(&line), "; against float: ") &&
          strstr(ti_buf_cstr(&line), " dB on 8 held-out and "));
    tc_ctx_free(ctx);
}

/* Weights that somebody has changed after a pass: the error names the pass behind it, which finds
 * other numbers than there were. */
static void broken(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compiled c = {0};
    fault f = {.pass = "sink-transposes", .dtype = TC_i8, .least = 16};
    CHECK(compile(ctx, layer, "TOSA-1.0+INT", true, &f, &c) == TC_BUG);
    CHECK(f.done >= 2); /* compiled, and compiled again step by step */
    CHECK(says(ctx, "output 'y' of the compiled program is wrong: against the model it has "));
    CHECK(says(ctx, ", and the typed program "));
    CHECK(says(ctx, "[written]") && says(ctx, "the pass '") && says(ctx, "[promise]"));
    CHECK(says(ctx, "nothing is written"));
    tc_ctx_free(ctx);
}

/* After the last pass nothing looks any more: no step is to blame, and that is a warning, which names
 * the node that is better off on the CPU. */
static void broken_late(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compiled c = {0};
    CHECK(compile(ctx, layer, "TOSA-1.0+INT", true, NULL, &c) == TC_OK);
    tc_graph *g = ti_main(c.region[0].module);
    for (size_t k = 0; k < g->n_node; k++) {
        tc_value *v = g->val[g->node[k]->out[0]];
        if (g->node[k]->op != TC_OP_const || v->type->dtype != TC_i8 || tc_type_count(v->type) != 16)
            continue;
        int8_t *other = ti_arena_copy(&ctx->arena, v->data, tc_type_bytes(v->type));
        for (int64_t i = 0; i < tc_type_count(v->type); i++)
            other[i] = (int8_t)-other[i];
        v->data = other;
    }
    c.proof = (tc_proof){0};
    CHECK(ti_prove(ctx, &c, c.module) == TC_OK);
    CHECK(says(ctx, "warning: output 'y' of the compiled program has ") &&
          says(ctx, "loses the most where the target computes it: with --cpu ") &&
          says(ctx, ", tried here, output 'y' has "));
    tc_ctx_free(ctx);
}

/* A program that the model runs beside, and that does not run itself. */
static void stuck(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compiled c = {0};
    fault f = {.pass = "sink-transposes", .dtype = TC_i8}; /* zero points among them */
    CHECK(compile(ctx, layer, "TOSA-1.0+INT", true, &f, &c) == TC_OK);
    CHECK(!c.proof.of && says(ctx, "warning: the compiled program does not run here: "));
    tc_ctx_free(ctx);
}

/* Integers that follow from integers: one other number is an error, on any target. */
static void whole_numbers(void)
{
    static const char *const targets[] = {"TOSA-1.0+INT", "TOSA-1.0+FP", "cpu"};
    for (size_t i = 0; i < TC_COUNT(targets); i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_compiled c = {0};
        CHECK(compile(ctx, counting, targets[i], i == 0, NULL, &c) == TC_OK);
        CHECK(c.proof.n_out == 1 && c.proof.out[0].exact && !c.proof.out[0].real);
        CHECK(c.proof.out[0].by[0].written.same == c.proof.out[0].by[0].n);
        CHECK(c.proof.ran == (i == 0 ? 6 : 2) && c.proof.invented == (i != 0));
        tc_ctx_free(ctx);
    }
    tc_ctx *ctx = tc_ctx_new();
    tc_compiled c = {0};
    fault f = {.pass = "sink-transposes", .dtype = TC_i32};
    CHECK(compile(ctx, counting, "TOSA-1.0+INT", true, &f, &c) == TC_BUG);
    CHECK(says(ctx, " % of its elements equal on 6 samples") && says(ctx, "the pass '"));
    tc_ctx_free(ctx);
}

/* Nothing is run that nobody asked for. */
static void left_out(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compiled c = {0};
    tc_compile_request r = {.model = "t.ir",
                            .module = parsed(ctx, layer),
                            .target = "cpu",
                            .unexecuted = true};
    CHECK(ti_compile_stages(ctx, &r, &c) == TC_OK && ti_prove(ctx, &c, c.module) == TC_OK);
    CHECK(!c.proof.of && !c.work.real);
    tc_ctx_free(ctx);
}

int main(void)
{
    sound();
    broken();
    broken_late();
    stuck();
    whole_numbers();
    left_out();
    return check_done();
}
