/* SPDX-License-Identifier: Apache-2.0 */
/* tied_table.c -- a table of embeddings that is a layer's weights too: stored once, in 8 bits, and
 * rows near the model's; a table of its own, a small one and one of 8-bit rows stay as they were. */
#include "check.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "ir/ir_text.h"
#include "ir/verify.h"
#include "num/load.h"
#include "quant/quantizer.h"

enum { ROWS = 512, WIDTH = 128, SAMPLES = 32, TOKENS = 4 };

static tc_status read_tokens(void *from, size_t k, const tc_tensor *in)
{
    (void)from;
    for (size_t i = 0; i < TOKENS; i++)
        ((int64_t *)in[0].data)[i] = (int64_t)((k * 71 + i * 13) % (ROWS / 2));
    return TC_OK;
}

static void say(char **to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    *to += vsprintf(*to, format, list);
    va_end(list);
}

/* Row r is (r % 7 + 1) / 7 of the largest. */
static void say_table(char **to, int value, int rows)
{
    uint32_t s = 3;
    say(to, "  %%%d = const [", value);
    for (int i = 0; i < rows * WIDTH; i++) {
        s = s * 1664525u + 1013904223u;
        say(to, "%s%.4f", i ? ", " : "",
            ((double)(s >> 8) / 8388608.0 - 1) * (i / WIDTH % 7 + 1) / 7);
    }
    say(to, "] : f32[%d,%d]\n", rows, WIDTH);
}

/* Rows through a norm with a gain into a last layer, whose weights are the table or like it. */
static tc_module *decoder(tc_ctx *ctx, bool tied, int rows)
{
    char *text = malloc((size_t)(2 * rows * WIDTH + 2 * WIDTH) * 9 + 2000), *to = text;
    tc_module *module;
    say(&to, "graph @main(%%0 \"token\": i64[1,%d]) {\n", TOKENS);
    say_table(&to, 1, rows);
    say_table(&to, 2, rows);
    say(&to, "  %%3 = const [");
    for (int i = 0; i < WIDTH; i++)
        say(&to, "%s%.2f", i ? ", " : "", 0.5 + i % 3);
    say(&to, "] : f32[%d]\n", WIDTH);
    say(&to, "  %%4 \"rows\" = embedding %%1, %%0 : f32[1,%d,%d]\n", TOKENS, WIDTH);
    say(&to, "  %%5 \"norm\" = rms_norm %%4, %%3 n_axes=1 eps=1e-05 : f32[1,%d,%d]\n", TOKENS, WIDTH);
    say(&to, "  %%6 \"score\" = linear %%5, %%%d, none : f32[1,%d,%d]\n  return %%6\n}\n",
        tied ? 1 : 2, TOKENS, rows);
    tc_bytes bytes = {(const uint8_t *)text, (size_t)(to - text)};
    if (ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK ||
        ti_infer_missing(ctx, module) != TC_OK || ti_verify(ctx, module) != TC_OK) {
        fputs(tc_diagnostics(ctx), stderr);
        exit(1);
    }
    free(text);
    return module;
}

/* Bytes of different constants, embeddings, and how far rows are from the model's, in the largest
 * number of each row. */
typedef struct looked {
    size_t bytes;
    int tables;
    double error;
} looked;

static double error_of(const tc_graph *g, const tc_node *product, const float *real)
{
    tc_tensor code = ti_tensor_of(g, ti_def(g, product->in[0])->in[0]),
              scale = ti_tensor_of(g, ti_def(g, product->in[1])->in[0]);
    double worst = 0;
    for (int64_t i = 0; i < ROWS * WIDTH; i++) {
        int64_t r = i / WIDTH;
        double is = code.type->quant->scale[0] * (double)ti_load_i64(code, i) *
                    scale.type->quant->scale[0] * (double)ti_load_i64(scale, r);
        worst = fmax(worst, fabs(is - (double)real[i]) * 7 / (double)(r % 7 + 1));
    }
    return worst;
}

static looked quantized(bool tied, int rows, const char *settings)
{
    looked out = {0};
    tc_ctx *ctx = tc_ctx_new();
    tc_config config;
    tc_module *module = decoder(ctx, tied, rows);
    const float *real = ti_tensor_of(ti_main(module), ti_main(module)->node[0]->out[0]).data;
    CHECK(ti_config_read(ctx, settings, &config) == TC_OK);
    tc_quant_request request = {.config = &config,
                                .samples = {.n = SAMPLES, .read = read_tokens}};
    CHECK(ti_quantize(ctx, module, &request) == TC_OK);
    CHECK(ti_verify(ctx, module) == TC_OK);
    const tc_graph *g = ti_main(module);
    for (size_t v = 1; v < g->n_val; v++) {
        bool first = g->val[v]->data != NULL;
        for (size_t w = 1; w < v; w++)
            first = first && g->val[w]->data != g->val[v]->data;
        out.bytes += first ? tc_type_bytes(g->val[v]->type) : 0;
    }
    for (size_t k = 0; k < g->n_node; k++) {
        out.tables += g->node[k]->op == TC_OP_embedding;
        if (g->node[k]->op == TC_OP_mul)
            out.error = error_of(g, g->node[k], real);
    }
    tc_ctx_free(ctx);
    return out;
}

static void test_tied(void)
{
    looked tied = quantized(true, ROWS, "a16w8"), own = quantized(false, ROWS, "a16w8"),
           small = quantized(true, ROWS / 2, "a16w8"), eight = quantized(true, ROWS, "int8");
    CHECK(tied.tables == 2 && tied.error > 0 && tied.error < 0.6 / 127);
    CHECK(tied.bytes < ROWS * WIDTH + ROWS * WIDTH / 8);
    CHECK(own.tables == 1 && own.bytes >= 3 * ROWS * WIDTH);
    CHECK(small.tables == 1 && small.bytes >= 3 * ROWS / 2 * WIDTH);
    CHECK(eight.tables == 1 && eight.error == 0);
}

int main(void)
{
    test_tied();
    return check_done();
}
