/* SPDX-License-Identifier: Apache-2.0 */
/* quant_rotate.c -- values between norms turn: the program gives what it gave, one loud channel
 * becomes many quiet ones, and what others read is left alone. */
#include <math.h>

#include "quant/rotate.h"
#include "run/exec.h"
#include "quant_case.h"

enum { TOKENS = 4, CHANNELS = 48, VOCABULARY = 6 };

/* A table, a sum with a layer of its norm, and another norm before the last layer; SUM is what may
 * read the sum besides. */
#define MODEL(NORM, SUM, LAST)                                                                           \
    "graph @main(%0 \"x\": i64[1,4]) {\n"                                                          \
    "  %1 = const @bin(0) : f32[6,48]\n"                                                           \
    "  %2 \"embedding\" = embedding %1, %0 : f32[1,4,48]\n"                                        \
    "  %3 = const @bin(1152) : f32[48]\n"                                                          \
    "  %4 = const @bin(1344) : f32[48]\n"                                                          \
    "  %5 \"norm\" = " NORM " : f32[1,4,48]\n"                                                     \
    "  %6 = const @bin(1536) : f32[48,48]\n"                                                       \
    "  %7 \"own\" = linear %5, %6, %4 : f32[1,4,48]\n"                                             \
    "  %8 \"sum\" = add %2, %7 alpha=1 : f32[1,4,48]\n" SUM                                        \
    "  %10 \"last\" = " LAST " : f32[1,4,48]\n"                                                   \
    "  %11 = const @bin(10752) : f32[3,48]\n"                                                      \
    "  %12 \"y\" = linear %10, %11, none : f32[1,4,3]\n"                                           \
    "  return %12\n"                                                                               \
    "}\n"
#define SIZED(V) "rms_norm %" V ", %3 n_axes=1 eps=1e-05"
#define CENTRED(V) "layer_norm %" V ", %3, %4 n_axes=1 eps=1e-05"

static float constants[2832];

static void fill(void)
{
    case_noise(constants, TC_COUNT(constants), 7);
    for (int i = 0; i < VOCABULARY; i++)
        constants[i * CHANNELS + 5] *= 40; /* loud */
}

static size_t rotate(tc_ctx *ctx, tc_module *m)
{
    tc_config config;
    size_t n = 99;
    CHECK(ti_config_preset("int8", &config));
    CHECK(ti_quant_rotate(ctx, m, &config, &n) == TC_OK && ti_verify(ctx, m) == TC_OK);
    return n;
}

/* What the program gives, and how far the loudest element of the first node of that kind stands out
 * of the root of their mean square. */
static double run(tc_ctx *ctx, tc_module *m, tc_op op, double *out)
{
    tc_module *shown = ti_module_copy(m);
    tc_graph *g = ti_main(shown);
    for (size_t k = 0, found = 0; k < g->n_node && !found; k++)
        if (g->node[k]->op == op) {
            ti_graph_output(g, g->node[k]->out[0]);
            found = 1;
        }
    tc_exec *exec = ti_exec_new(ctx, shown);
    tc_tensor in = ti_tensor_new(&ctx->arena, ti_type_of(g, g->in[0])), y[2];
    memcpy(in.data, (int64_t[]){0, 3, 5, 1}, tc_type_bytes(in.type));
    CHECK(ti_exec_run(exec, &in, y) == TC_OK);
    for (int i = 0; i < TOKENS * 3; i++)
        out[i] = (double)((const float *)y[0].data)[i];
    double most = 0, sum = 0;
    int64_t n = tc_type_count(y[1].type);
    for (int64_t i = 0; i < n; i++) {
        double x = fabs((double)((const float *)y[1].data)[i]);
        most = fmax(most, x);
        sum += x * x;
    }
    return most / sqrt(sum / (double)n);
}

static bool has_name(const tc_module *m, const char *name)
{
    const tc_graph *g = ti_main(m);
    for (tc_val v = 1; v < g->n_val; v++)
        if (g->val[v]->name && !strcmp(g->val[v]->name, name))
            return true;
    return false;
}

static void test_turned(const char *text)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = case_parse(ctx, text, constants, TC_COUNT(constants)), *was = ti_module_copy(m);
    double y[TOKENS * 3], z[TOKENS * 3];
    CHECK(rotate(ctx, m) == 1);
    double before = run(ctx, was, TC_OP_add, y), after = run(ctx, m, TC_OP_add, z);
    CHECK(before > 4.5 && after < 3.5);
    for (int i = 0; i < TOKENS * 3; i++)
        CHECK(fabs(y[i] - z[i]) < 1e-5 * (1 + fabs(y[i])));
    /* other numbers than the model's have no names of the model's */
    CHECK(!has_name(m, "sum") && !has_name(m, "embedding") && has_name(m, "y"));
    tc_ctx_free(ctx);
}

static void test_left(const char *text)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *m = case_parse(ctx, text, constants, TC_COUNT(constants));
    CHECK(rotate(ctx, m) == 0 && has_name(m, "sum"));
    tc_ctx_free(ctx);
}

int main(void)
{
    fill();
    test_turned(MODEL(SIZED("2"), "", SIZED("8")));
    test_turned(MODEL(CENTRED("2"), "", CENTRED("8")));
    /* something reads the sum channel by channel */
    test_left(MODEL(SIZED("2"), "  %9 = relu %8 : f32[1,4,48]\n", SIZED("9")));
    /* one norm takes the mean off, the other does not */
    test_left(MODEL(CENTRED("2"), "", SIZED("8")));
    /* a layer needs the mean */
    test_left(MODEL(CENTRED("2"), "  %9 \"bare\" = linear %8, %6, none : f32[1,4,48]\n",
                    CENTRED("8")));
    return check_done();
}
