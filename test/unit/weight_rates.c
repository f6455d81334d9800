/* SPDX-License-Identifier: Apache-2.0 */
/* weight_rates.c -- steps of weights by layer: coarse where outputs hear little of it, none coarser
 * than a loss allows, no more bytes than a limit, and the same steps whenever they are chosen. */
#include "check.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "ir/ir_text.h"
#include "ir/verify.h"
#include "quant/weight_rates.h"

enum { N = 16, EDGE = 4, SAMPLES = 24, X = N * EDGE * EDGE };

static uint32_t next(uint32_t *s) { return (*s = *s * 1664525u + 1013904223u) >> 8; }
static double some(uint32_t *s) { return (double)next(s) / 8388608.0 - 1; }

static tc_status read_some(void *from, size_t k, const tc_tensor *in)
{
    uint32_t s = 7 + 91u * (uint32_t)k;
    (void)from;
    for (int i = 0; i < X; i++)
        ((float *)in[0].data)[i] = (float)some(&s);
    return TC_OK;
}

static void say(char **to, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    *to += vsprintf(*to, format, list);
    va_end(list);
}

static bool of_one_node; /* both layers, as groups of channels are */

/* Two layers of one size, whose results are added: one of them is a hundredth of the other. */
static tc_module *two_layers(tc_ctx *ctx)
{
    static char text[64 * N * N];
    static const struct {
        const char *name;
        double size;
    } layer[] = {{"loud", 1}, {"quiet", 0.01}};
    char *to = text;
    uint32_t s = 3;
    tc_module *module;
    say(&to, "graph @main(%%0 \"x\": f32[1,%d,%d,%d]) {\n", N, EDGE, EDGE);
    for (int k = 0; k < 2; k++) {
        say(&to, "  %%%d = const [", 2 * k + 1);
        for (int i = 0; i < N * N; i++)
            say(&to, "%s%.6f", i ? ", " : "", layer[k].size * some(&s));
        say(&to, "] : f32[%d,%d,1,1]\n  %%%d \"%s\" = conv %%0, %%%d, none stride=[1,1] "
                 "pad=[0,0,0,0] dilation=[1,1] groups=1 : f32[1,%d,%d,%d] "
                 "loc(\"m.py:%d\", node=\"%s\")\n",
            N, N, 2 * k + 2, layer[k].name, 2 * k + 1, N, EDGE, EDGE, k + 1,
            layer[of_one_node ? 0 : k].name);
    }
    say(&to, "  %%5 \"sum\" = add %%2, %%4 alpha=1 : f32[1,%d,%d,%d] loc(\"m.py:3\", node=\"sum\")\n"
             "  return %%5\n}\n", N, EDGE, EDGE);
    tc_bytes bytes = {(const uint8_t *)text, (size_t)(to - text)};
    if (ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK ||
        ti_infer_missing(ctx, module) != TC_OK || ti_verify(ctx, module) != TC_OK) {
        fputs(tc_diagnostics(ctx), stderr);
        exit(1);
    }
    return module;
}

/* A coder: the bits of each code's magnitude, and one. */
static tc_status price(void *who, const tc_module *typed, const char *const *name, size_t n,
                       tc_bytes_cycles *layer, tc_bytes_cycles *all)
{
    const tc_graph *g = ti_main(typed);
    (void)who;
    *all = (tc_bytes_cycles){0, 0, 0};
    memset(layer, 0, n * sizeof *layer);
    for (size_t k = 0; k < g->n_node; k++) {
        if (g->node[k]->op != TC_OP_conv)
            continue;
        tc_tensor w = ti_tensor_of(g, g->node[k]->in[1]);
        double bytes = 0;
        for (int64_t i = 0; i < tc_type_count(w.type); i++)
            bytes += (1 + log2(1 + fabs((double)((const int8_t *)w.data)[i]))) / 8;
        for (size_t i = 0; i < n; i++)
            if (ti_text_eq(g->node[k]->loc->node, name[i]))
                layer[i] = (tc_bytes_cycles){bytes, bytes, 0};
        all->bytes += bytes;
        all->cycles += bytes;
    }
    return TC_OK;
}

typedef struct chosen {
    tc_status status;
    double step[2]; /* of the loud layer, and of the quiet one */
    double bytes;
    char message[512];
} chosen;

/* The steps of weights, from the scales in the program. */
static void look(const tc_module *typed, const tc_module *plain, chosen *out)
{
    const tc_graph *g[] = {ti_main(plain), ti_main(typed)};
    double scale[2][2] = {{0}};
    for (int m = 0; m < 2; m++)
        for (size_t k = 0, n = 0; k < g[m]->n_node && n < 2; k++)
            if (g[m]->node[k]->op == TC_OP_conv)
                scale[m][n++] = ti_type_of(g[m], g[m]->node[k]->in[1])->quant->scale[0];
    for (int i = 0; i < 2; i++)
        out->step[i] = scale[1][i] / scale[0][i];
    tc_bytes_cycles none, all;
    CHECK(price(NULL, typed, NULL, 0, &none, &all) == TC_OK);
    out->bytes = all.bytes;
}

static tc_status quantize(tc_ctx *ctx, tc_module *module, const tc_config *config, bool priced,
                          size_t n)
{
    tc_quant_request request = {.config = config,
                                .samples = {.n = n, .read = read_some},
                                .cost = {.layers = priced ? price : NULL}};
    return ti_quantize(ctx, module, &request);
}

static chosen choose(tc_rate rate, tc_rates *known, bool priced, size_t n)
{
    tc_ctx *ctx = tc_ctx_new();
    chosen out = {0};
    tc_config config;
    tc_module *plain = two_layers(ctx), *typed = ti_module_copy(plain);
    ctx->threads = 1;
    CHECK(ti_config_read(ctx, "int8", &config) == TC_OK);
    CHECK(quantize(ctx, plain, &config, priced, SAMPLES) == TC_OK);
    config.rate = rate;
    config.rate.known = known;
    out.status = quantize(ctx, typed, &config, priced, n);
    if (out.status == TC_OK)
        look(typed, plain, &out);
    snprintf(out.message, sizeof out.message, "%s", tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return out;
}

static void test_loss(void)
{
    chosen none = choose((tc_rate){0}, NULL, true, SAMPLES),
           some = choose((tc_rate){.db = 0.3}, NULL, true, SAMPLES),
           again = choose((tc_rate){.db = 0.3}, NULL, true, SAMPLES),
           more = choose((tc_rate){.db = 3}, NULL, true, SAMPLES);
    CHECK(none.status == TC_OK && none.step[0] == 1 && none.step[1] == 1);
    CHECK(some.status == TC_OK && some.step[1] > 4 && some.step[1] > 2 * some.step[0]);
    CHECK(some.bytes < none.bytes);
    CHECK(!memcmp(some.step, again.step, sizeof some.step) && some.bytes == again.bytes);
    CHECK(more.status == TC_OK && more.bytes < some.bytes && more.step[0] >= some.step[0]);
}

static void test_limit(void)
{
    chosen none = choose((tc_rate){0}, NULL, true, SAMPLES);
    for (double part = 0.9; part > 0.6; part -= 0.1) {
        chosen c = choose((tc_rate){.bytes = part * none.bytes}, NULL, true, SAMPLES);
        CHECK(c.status == TC_OK && c.bytes < 1.01 * part * none.bytes);
        CHECK(c.step[1] >= c.step[0]);
    }
}

/* Products of one node share a step. */
static void test_one_node(void)
{
    of_one_node = true;
    chosen c = choose((tc_rate){.db = 2}, NULL, true, SAMPLES);
    of_one_node = false;
    CHECK(c.status == TC_OK && c.step[0] > 1.2 && c.step[1] > 1.2 &&
          fabs(c.step[0] - c.step[1]) < 0.35 * c.step[0]);
}

/* What was found of a program serves for other losses; its curve falls, and begins without any. */
static void test_known(void)
{
    enum { MOST = 12 };
    tc_ctx *ctx = tc_ctx_new();
    tc_rates *rates = ti_rates_new(ctx);
    tc_rate_point point[MOST];
    double noise;
    CHECK(ti_rates_curve(rates, point, MOST, &noise) == 0);
    chosen a = choose((tc_rate){.db = 1}, rates, true, SAMPLES);
    double db = ti_rates_foreseen(rates);
    chosen b = choose((tc_rate){.db = 0.1}, rates, true, SAMPLES);
    CHECK(a.status == TC_OK && b.status == TC_OK && a.bytes < b.bytes);
    CHECK(db < ti_rates_foreseen(rates));
    size_t n = ti_rates_curve(rates, point, MOST, &noise);
    CHECK(n > 2 && noise > 0 && point[0].noise == 0);
    for (size_t i = 1; i < n; i++)
        CHECK(point[i].bytes < point[i - 1].bytes && point[i].noise >= point[i - 1].noise);
    tc_ctx_free(ctx);
}

/* The same model at another size has the same steps. */
static void test_sizes(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_config config;
    tc_quant_record record = {0};
    tc_module *plain = two_layers(ctx), *first = ti_module_copy(plain),
              *other = ti_module_copy(plain);
    chosen a = {0}, b = {0};
    CHECK(ti_config_read(ctx, "int8-0.3dB", &config) == TC_OK);
    tc_quant_request request = {.config = &config,
                                .samples = {.n = SAMPLES, .read = read_some},
                                .cost = {.layers = price},
                                .record = &record};
    CHECK(ti_quantize(ctx, first, &request) == TC_OK && record.stepped);
    request.record = NULL;
    request.as = &record;
    request.samples.n = 0;
    CHECK(ti_quantize(ctx, other, &request) == TC_OK);
    config.rate = (tc_rate){0};
    CHECK(quantize(ctx, plain, &config, true, SAMPLES) == TC_OK);
    look(first, plain, &a);
    look(other, plain, &b);
    CHECK(a.step[1] > 4 && !memcmp(a.step, b.step, sizeof a.step) && a.bytes == b.bytes);
    tc_ctx_free(ctx);
}

/* The bits of the largest code. */
static int bits_of(tc_tensor w)
{
    int bits = 2;
    for (int64_t i = 0; i < tc_type_count(w.type); i++)
        while (abs(((const int8_t *)w.data)[i]) >= 1 << (bits - 1))
            bits++;
    return bits;
}

/* Weights that are packed: each takes the bits of the layer's largest. */
static tc_status price_packed(void *who, const tc_module *typed, const char *const *name, size_t n,
                              tc_bytes_cycles *layer, tc_bytes_cycles *all)
{
    const tc_graph *g = ti_main(typed);
    (void)who;
    *all = (tc_bytes_cycles){0, 1, 0};
    memset(layer, 0, n * sizeof *layer);
    for (size_t k = 0; k < g->n_node; k++) {
        if (g->node[k]->op != TC_OP_conv)
            continue;
        tc_tensor w = ti_tensor_of(g, g->node[k]->in[1]);
        double bytes = (double)tc_type_count(w.type) * bits_of(w) / 8;
        for (size_t i = 0; i < n; i++)
            if (ti_text_eq(g->node[k]->loc->node, name[i]))
                layer[i].bytes = bytes;
        all->bytes += bytes;
    }
    return TC_OK;
}

/* The quiet layer takes fewer bits, and rounding leaves none of its codes beyond them. */
static void test_packed(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_config config;
    tc_module *typed = two_layers(ctx);
    int bits[2] = {0};
    ctx->threads = 1;
    CHECK(ti_config_read(ctx, "int8", &config) == TC_OK);
    config.rate.db = 1;
    tc_quant_request request = {.config = &config,
                                .samples = {.n = SAMPLES, .read = read_some},
                                .cost = {.layers = price_packed, .packs = true}};
    CHECK(ti_quantize(ctx, typed, &request) == TC_OK);
    const tc_graph *g = ti_main(typed);
    for (size_t k = 0, n = 0; k < g->n_node && n < 2; k++)
        if (g->node[k]->op == TC_OP_conv) {
            tc_tensor w = ti_tensor_of(g, g->node[k]->in[1]);
            CHECK(bits_of(w) == 8 || w.type->quant->hi == (1 << (bits_of(w) - 1)) - 1);
            bits[n++] = bits_of(w);
        }
    CHECK(bits[1] <= 5 && bits[0] > bits[1]);
    tc_ctx_free(ctx);
}

static void test_mistakes(void)
{
    chosen unknown = choose((tc_rate){.db = 1}, NULL, false, SAMPLES),
           few = choose((tc_rate){.db = 1}, NULL, true, 3);
    CHECK(unknown.status == TC_USAGE && strstr(unknown.message, "a target that codes its weights"));
    CHECK(few.status == TC_USAGE && strstr(few.message, "samples or more"));
    tc_config c;
    CHECK(ti_config_preset("int8-0.3dB", &c) && c.rate.db == 0.3);
    CHECK(ti_config_preset("int8-2dB", &c) && c.rate.db == 2);
    static const char *const wrong[] = {"int8-", "int8-dB", "int8-0dB", "int8-1", "int8--1dB", "int8-nandB",
                                        "int8-99dB"};
    for (size_t i = 0; i < TC_COUNT(wrong); i++)
        CHECK(!ti_config_preset(wrong[i], &c));
}

int main(void)
{
    test_loss();
    test_one_node();
    test_limit();
    test_known();
    test_sizes();
    test_packed();
    test_mistakes();
    return check_done();
}
