/* SPDX-License-Identifier: Apache-2.0 */
/* quant_state.c -- programs that remember: a buffer has one domain for what is read and what is
 * written back, calibration goes through the calls in order, counters stay what they are. */
#include "check.h"

#include <math.h>

#include "ir/ir_text.h"
#include "ir/verify.h"
#include "num/load.h"
#include "quant/quantizer.h"
#include "run/exec.h"

enum { CALLS = 40 };

typedef struct program {
    tc_ctx *ctx;
    tc_module *module;
    tc_graph *g;
} program;

/* Call k: numbers from -1 to 1. */
static tc_status call(void *from, size_t k, const tc_tensor *in)
{
    const tc_graph *g = from;
    for (size_t i = 0; i < g->n_in; i++)
        for (int64_t e = 0; e < tc_type_count(in[i].type); e++)
            ti_store_f64(in[i], e, sin((double)(k * 7 + i * 3) + 1.7 * (double)e));
    return TC_OK;
}

static program parse(const char *text)
{
    program p = {.ctx = tc_ctx_new()};
    bool good = ti_parse(p.ctx, "t.ir", (tc_bytes){(const uint8_t *)text, strlen(text)},
                         (tc_bytes){NULL, 0}, &p.module) == TC_OK &&
                ti_infer_missing(p.ctx, p.module) == TC_OK && ti_verify(p.ctx, p.module) == TC_OK;
    if (!good)
        fprintf(stderr, "%s", tc_diagnostics(p.ctx));
    CHECK(good);
    p.g = ti_main(p.module);
    return p;
}

/* What CALLS calls in a row give, one behind the other. */
static float *calls(program *p)
{
    tc_exec *exec = ti_exec_new(p->ctx, p->module);
    tc_tensor in = ti_tensor_new(&p->ctx->arena, ti_type_of(p->g, p->g->in[0])), out;
    int64_t n = tc_type_count(ti_type_of(p->g, p->g->out[0]));
    float *all = tc_new_n(&p->ctx->arena, float, (size_t)(n * CALLS));
    for (size_t k = 0; k < CALLS; k++) {
        CHECK(call(p->g, k, &in) == TC_OK && ti_exec_run(exec, &in, &out) == TC_OK);
        for (int64_t e = 0; e < n; e++)
            all[(int64_t)k * n + e] = (float)ti_load_f64(out, e);
    }
    return all;
}

/* Quantized, the calls give what they gave, `db` above the noise. */
static program near(const char *text, double db)
{
    program p = parse(text);
    tc_config config;
    CHECK(ti_config_preset("int8", &config));
    int64_t n = CALLS * tc_type_count(ti_type_of(p.g, p.g->out[0]));
    const float *was = calls(&p);
    tc_quant_request request = {.config = &config,
                                .samples = {.n = CALLS, .read = call, .from = p.g}};
    bool good =
        ti_quantize(p.ctx, p.module, &request) == TC_OK && ti_verify(p.ctx, p.module) == TC_OK;
    if (!good)
        fprintf(stderr, "%s", tc_diagnostics(p.ctx));
    CHECK(good);
    const float *is = calls(&p);
    double signal = 0, noise = 1e-30;
    for (int64_t i = 0; i < n; i++) {
        signal += (double)was[i] * (double)was[i];
        noise += ((double)was[i] - (double)is[i]) * ((double)was[i] - (double)is[i]);
    }
    CHECK(10 * log10(signal / noise) > db);
    return p;
}

static const tc_type *buffer(const program *p, size_t i)
{
    const tc_mutation *m = &p->g->mutation[i];
    CHECK(p->g->val[m->before]->state && ti_type_of(p->g, m->before) == ti_type_of(p->g, m->after));
    return ti_type_of(p->g, m->before);
}

/* A window over the last inputs, in codes: one domain all the way round. */
static void window(void)
{
    program p = near("graph @main(%0 \"x\": f32[1,2]) {\n"
                     "  %1 \"b\" = const [0,0,0,0,0,0] : f32[1,6]\n"
                     "  %2 = slice %1 axis=1 start=2 end=6 step=1\n"
                     "  %3 = cat %2, %0 axis=1\n"
                     "  %4 = tanh %3\n"
                     "  mutate %1 -> %3\n  return %4\n}\n",
                     30);
    CHECK(buffer(&p, 0)->dtype == TC_i8 && buffer(&p, 0)->quant->scale[0] > 1.9 / 256);
    tc_ctx_free(p.ctx);
}

/* Read before it is changed, written by an operator of its own: the domain is that of what is
 * written, though the buffer starts with zeros. */
static void read_first(void)
{
    program p = near("graph @main(%0 \"x\": f32[1,4]) {\n"
                     "  %1 \"b\" = const [0,0,0,0] : f32[1,4]\n"
                     "  %2 = sin %1\n"
                     "  %3 = exp %0\n"
                     "  mutate %1 -> %3\n  return %2\n}\n",
                     25);
    CHECK(buffer(&p, 0)->dtype == TC_i8 && buffer(&p, 0)->quant->scale[0] > 2 / 256.);
    tc_ctx_free(p.ctx);
}

/* m = 0.9 m + x: sums have 16 bits and the range that many calls reach. */
static void running_sum(void)
{
    program p = near("graph @main(%0 \"x\": f32[1,4]) {\n"
                     "  %1 \"m\" = const [0,0,0,0] : f32[1,4]\n"
                     "  %2 = const 0.9 : f32[]\n"
                     "  %3 = mul %1, %2\n"
                     "  %4 = add %3, %0 alpha=1\n"
                     "  %5 = relu %4\n"
                     "  mutate %1 -> %4\n  return %5\n}\n",
                     25);
    CHECK(buffer(&p, 0)->dtype == TC_i16);
    tc_ctx_free(p.ctx);
}

/* A counter is no data: it counts on in float, past what calibration has seen. */
static void counter(void)
{
    program p = near("graph @main(%0 \"x\": f32[1,4]) {\n"
                     "  %1 \"n\" = const 0 : f32[]\n"
                     "  %2 = const 1 : f32[]\n"
                     "  %3 = add %1, %2 alpha=1\n"
                     "  %4 = mul %0, %3\n"
                     "  mutate %1 -> %3\n  return %4\n}\n",
                     30);
    CHECK(buffer(&p, 0)->dtype == TC_f32);
    tc_ctx_free(p.ctx);
}

/* Two buffers change places; one is put back to a constant. */
static void swapped(void)
{
    program p = near("graph @main(%0 \"x\": f32[1,4]) {\n"
                     "  %1 \"a\" = const [0,0,0,0] : f32[1,4]\n"
                     "  %2 \"b\" = const [0,0,0,0] : f32[1,4]\n"
                     "  %3 \"c\" = const [1,1,1,1] : f32[1,4]\n"
                     "  %4 = const [0.5,0.5,0.5,0.5] : f32[1,4]\n"
                     "  %5 = add %2, %0 alpha=1\n"
                     "  %6 = mul %5, %3\n"
                     "  mutate %1 -> %0\n  mutate %2 -> %1\n  mutate %3 -> %4\n  return %6\n}\n",
                     30);
    CHECK(buffer(&p, 0) == buffer(&p, 1) && buffer(&p, 0)->quant && buffer(&p, 2));
    tc_ctx_free(p.ctx);
}

/* Call k of a few: smaller the first time. */
static tc_status later_is_large(void *from, size_t k, const tc_tensor *in)
{
    const tc_graph *g = from;
    for (int64_t e = 0; e < tc_type_count(ti_type_of(g, g->in[0])); e++)
        ti_store_f64(in[0], e, k ? 1 : 0.5);
    return TC_OK;
}

/* y = x m, and m becomes a tenth of x: 1 is seen only where a sample after the first is looked at
 * as the first call too. */
static void as_first_call(void)
{
    program p = parse("graph @main(%0 \"x\": f32[1,4]) {\n"
                      "  %1 \"m\" = const [1,1,1,1] : f32[1,4]\n"
                      "  %2 \"y\" = mul %0, %1\n"
                      "  %3 = tanh %2\n"
                      "  %4 = const 0.1 : f32[]\n"
                      "  %5 = mul %0, %4\n"
                      "  mutate %1 -> %5\n  return %3\n}\n");
    tc_config config;
    CHECK(ti_config_preset("int8", &config));
    tc_quant_request request = {.config = &config,
                                .samples = {.n = 3, .read = later_is_large, .from = p.g}};
    CHECK(ti_quantize(p.ctx, p.module, &request) == TC_OK);
    double reach = 0;
    for (tc_val v = 1; v < p.g->n_val; v++)
        if (p.g->val[v]->name && ti_text_eq(p.g->val[v]->name, "y")) {
            const tc_quant *q = ti_type_of(p.g, v)->quant;
            reach = q->scale[0] * (double)(q->hi - q->zero[0]);
        }
    CHECK(reach > 0.9);
    tc_ctx_free(p.ctx);
}

/* One channel a hundred times the others: eight bits would leave nothing of those.  The noise is
 * measured with what the program remembers, and the sum gets 16. */
static void outlier(void)
{
    program p = near("graph @main(%0 \"x\": f32[1,4]) {\n"
                     "  %1 \"m\" = const [0,0,0,0] : f32[1,4]\n"
                     "  %2 = const [100,1,1,1] : f32[4]\n"
                     "  %3 = mul %0, %2\n"
                     "  %4 \"big\" = add %3, %1 alpha=1\n"
                     "  %5 = const [0.01,1,1,1] : f32[4]\n"
                     "  %6 = mul %4, %5\n"
                     "  %7 = tanh %0\n"
                     "  mutate %1 -> %7\n  return %6\n}\n",
                     30);
    tc_ctx_free(p.ctx);
}

int main(void)
{
    as_first_call();
    outlier();
    window();
    read_first();
    running_sum();
    counter();
    swapped();
    return check_done();
}
