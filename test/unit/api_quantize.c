/* SPDX-License-Identifier: Apache-2.0 */
/* api_quantize.c -- quantizing as a caller does it: samples from a callback, settings as text and
 * as functions, observations that merge. */
#include "tosac/tosac.h"

#include <stdbool.h>
#include <string.h>

#include "check.h"

enum { SAMPLES = 24, PARTS = 3, EACH = SAMPLES / PARTS };

/* A part of the samples: each a picture of waves. */
typedef struct part {
    size_t first;
    size_t asked;
    size_t fail_at; /* 0: never */
    float times;    /* 0: once */
} part;

static tc_status read_sample(void *user, size_t k, const tc_tensor *in, size_t n_in)
{
    part *p = user;
    p->asked++;
    if (n_in != 1 || (p->fail_at && k + 1 == p->fail_at))
        return TC_BAD_MODEL;
    int64_t n = tc_type_count(in[0].type);
    uint32_t state = (uint32_t)(p->first + k) * 2654435761u + 12345u;
    for (int64_t i = 0; i < n; i++) {
        state = state * 1664525u + 1013904223u;
        ((float *)in[0].data)[i] =
            ((float)(state >> 16 & 1023) / 400.0f - 0.4f) * (p->times > 0 ? p->times : 1);
    }
    return TC_OK;
}

static tc_model *digits(tc_ctx *ctx)
{
    tc_model *model = NULL;
    CHECK(tc_model_open(ctx, TOSAC_FIXTURES "/digits/model.pt2", NULL, &model) == TC_OK);
    return model;
}

static tc_dataset *samples(tc_ctx *ctx, part *p, size_t n)
{
    tc_dataset *data = NULL;
    CHECK(tc_dataset_new(ctx, n, read_sample, p, &data) == TC_OK);
    return data;
}

static bool same(tc_bytes a, tc_bytes b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static bool holds(tc_bytes text, const char *word)
{
    return strstr((const char *)text.data, word) != NULL;
}

/* The same samples twice, the model untouched in between. */
static void test_callback(tc_ctx *ctx)
{
    tc_model *model = digits(ctx), *one, *two;
    tc_bytes before = {0}, after = {0}, a = {0}, b = {0};
    part p = {0};
    tc_quantize_options o = tc_quantize_options_default();
    tc_quantize_report report = {.size = sizeof report};
    CHECK(tc_quantize_model(ctx, model, &o, &one, NULL) == TC_USAGE);
    o.samples = samples(ctx, &p, SAMPLES);
    CHECK(tc_model_text(ctx, model, 1, &before) == TC_OK);
    CHECK(tc_quantize_model(ctx, model, &o, &one, &report) == TC_OK);
    CHECK(p.asked >= SAMPLES && report.samples == SAMPLES && report.quantized > 20);
    CHECK(tc_model_get_stage(one) == TC_STAGE_TYPED && tc_model_get_stage(model) == TC_STAGE_FLOAT);
    CHECK(tc_quantize_model(ctx, model, &o, &two, NULL) == TC_OK);
    CHECK(tc_model_text(ctx, model, 1, &after) == TC_OK && same(before, after));
    CHECK(tc_model_text(ctx, one, 0, &a) == TC_OK && tc_model_text(ctx, two, 0, &b) == TC_OK);
    CHECK(same(a, b));
    CHECK(tc_model_qparams(ctx, one, &a) == TC_OK && holds(a, "\"zero_point\": "));
    CHECK(tc_quantize_model(ctx, one, &o, &two, NULL) == TC_USAGE); /* it is typed already */

    part failing = {.fail_at = 7};
    o.samples = samples(ctx, &failing, SAMPLES);
    CHECK(tc_quantize_model(ctx, model, &o, &one, NULL) == TC_BAD_MODEL);
    tc_dataset *none;
    CHECK(tc_dataset_new(ctx, 1, NULL, NULL, &none) == TC_USAGE);
}

/* Two rounds over three parts give what one round over everything gives. */
static void test_merge(tc_ctx *ctx)
{
    tc_model *model = digits(ctx), *whole, *merged;
    part all = {0}, p[PARTS];
    tc_observations first[PARTS], second[PARTS];
    tc_bytes a = {0}, b = {0};
    tc_quantize_options o = tc_quantize_options_default();
    for (size_t i = 0; i < PARTS; i++) {
        p[i] = (part){.first = i * EACH};
        o.samples = samples(ctx, &p[i], EACH);
        first[i].name = "first";
        CHECK(tc_observe_model(ctx, model, &o, &first[i].bytes) == TC_OK);
    }
    o.merge = first;
    o.n_merge = PARTS;
    for (size_t i = 0; i < PARTS; i++) {
        o.samples = samples(ctx, &p[i], EACH);
        second[PARTS - 1 - i].name = "second";
        CHECK(tc_observe_model(ctx, model, &o, &second[PARTS - 1 - i].bytes) == TC_OK);
    }
    o.merge = second;
    o.samples = NULL;
    CHECK(tc_quantize_model(ctx, model, &o, &merged, NULL) == TC_OK);
    o = tc_quantize_options_default();
    o.samples = samples(ctx, &all, SAMPLES);
    CHECK(tc_quantize_model(ctx, model, &o, &whole, NULL) == TC_OK);
    tc_port_info x = {.size = sizeof x}, y = {.size = sizeof y};
    CHECK(tc_model_output(whole, 0, &x) && tc_model_output(merged, 0, &y));
    CHECK(tc_model_qparams(ctx, whole, &a) == TC_OK && tc_model_qparams(ctx, merged, &b) == TC_OK);
    CHECK(same(a, b));

    o.merge = second;
    o.n_merge = PARTS - 1;
    o.samples = NULL;
    CHECK(tc_quantize_model(ctx, model, &o, &merged, NULL) == TC_BAD_MODEL); /* one is missing */
}

static tc_model *with(tc_ctx *ctx, const tc_model *model, const tc_config *config)
{
    static part p;
    tc_model *typed = NULL;
    tc_quantize_options o = tc_quantize_options_default();
    p = (part){0};
    o.config = config;
    o.samples = samples(ctx, &p, 4);
    CHECK(tc_quantize_model(ctx, model, &o, &typed, NULL) == TC_OK);
    return typed;
}

/* The same settings as text and by functions; what one entry says of one node. */
static void test_settings(tc_ctx *ctx)
{
    static const char JSON[] = "{\"preset\": \"int8\", \"activations\": {\"observer\": \"minmax\"},"
                               " \"nodes\": {\"conv2d\": {\"dtype\": \"int16\"}}}";
    tc_model *model = digits(ctx);
    tc_config *text, *made;
    tc_bytes a = {0}, b = {0};
    CHECK(tc_config_parse(ctx, "x.json", (tc_bytes){(const uint8_t *)JSON, sizeof JSON - 1},
                          &text) == TC_OK);
    CHECK(tc_config_open(ctx, "int8", &made) == TC_OK);
    tc_quant_entry e = tc_quant_entry_default();
    e.has = TC_ENTRY_OBSERVER;
    e.observer = TC_OBSERVE_MINMAX;
    CHECK(tc_config_add_entry(ctx, made, &e) == TC_OK);
    e = tc_quant_entry_default();
    e.scope = TC_SCOPE_NODE;
    e.name = "conv2d";
    e.has = TC_ENTRY_DTYPE;
    e.dtype = TC_i16;
    CHECK(tc_config_add_entry(ctx, made, &e) == TC_OK);
    tc_model *typed = with(ctx, model, text);
    CHECK(tc_model_qparams(ctx, typed, &a) == TC_OK);
    CHECK(tc_model_qparams(ctx, with(ctx, model, made), &b) == TC_OK);
    CHECK(same(a, b) && holds(a, "torch.int16"));

    e.has = TC_ENTRY_FIXED;
    e.scale = 0.125;
    CHECK(tc_config_add_entry(ctx, made, &e) == TC_OK); /* over the one before: 16 bits stay */
    CHECK(tc_model_qparams(ctx, with(ctx, model, made), &b) == TC_OK);
    CHECK(holds(b, "\"scale\": 0.125, \"zero_point\": 0") && holds(b, "torch.int16"));

    CHECK(tc_config_open(ctx, "int9", &text) == TC_USAGE);
    CHECK(tc_config_parse(ctx, "x.json", (tc_bytes){(const uint8_t *)"[]", 2}, &text) ==
          TC_BAD_MODEL);
}

static void test_mistakes(tc_ctx *ctx)
{
    tc_config *config;
    CHECK(tc_config_open(ctx, NULL, &config) == TC_OK);
    const tc_quant_entry fine = tc_quant_entry_default();
    tc_quant_entry e[8];
    for (size_t i = 0; i < 8; i++)
        e[i] = fine;
    e[0].scope = (tc_scope)9;
    e[1].name = "everything";
    e[2].scope = TC_SCOPE_NODE;
    e[3].has = TC_ENTRY_DTYPE, e[3].dtype = TC_f64;
    e[4].has = TC_ENTRY_RANGE, e[4].qmin = 4, e[4].qmax = 4;
    e[5].has = TC_ENTRY_OBSERVER, e[5].observer = (tc_observer_kind)17;
    e[6].has = TC_ENTRY_OBSERVER, e[6].observer = TC_OBSERVE_PERCENTILE, e[6].percentile = 30;
    e[7].has = TC_ENTRY_FIXED, e[7].scale = -1;
    for (size_t i = 0; i < 8; i++)
        CHECK(tc_config_add_entry(ctx, config, &e[i]) == TC_USAGE);
    CHECK(tc_config_add_entry(ctx, config, &fine) == TC_OK);
}

/* Data that is scaled otherwise than what the model's first norm was trained on, and invented data,
 * are told of by quantize and compile; data that is as it should be is not. */
static void test_fit(void)
{
    static const float times[] = {1, 100, 0.1f, 0 /* random:7 */};
    static const char *const invented[] = {"random:7"};
    for (size_t i = 0; i < 2 * sizeof times / sizeof *times; i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_model *model = digits(ctx), *typed;
        tc_compiled *compiled;
        part p = {.times = times[i / 2]};
        tc_dataset *data = samples(ctx, &p, SAMPLES);
        if (!(p.times > 0))
            CHECK(tc_dataset_open(ctx, invented, 1, &data) == TC_OK);
        tc_quantize_options q = tc_quantize_options_default();
        tc_compile_options c = tc_compile_options_default();
        q.samples = c.quant.samples = data;
        c.target = "TOSA-1.0+INT";
        CHECK((i % 2 ? tc_quantize_model(ctx, model, &q, &typed, NULL)
                     : tc_compile(ctx, model, &c, &compiled)) == TC_OK);
        const char *said = tc_diagnostics(ctx);
        CHECK((strstr(said, "not scaled as in training") != NULL) == (i / 2 == 1 || i / 2 == 2));
        CHECK((strstr(said, "random:7: random data") != NULL) == (i / 2 == 3));
        tc_ctx_free(ctx);
    }
}

/* What contributes most to the error comes first; the input of a sigmoid is cut on purpose, and what
 * is cut there is far from what it was. */
static void test_compare(void)
{
    static const char TEXT[] =
        "graph @main(%0 \"x\": f32[1,64]) {\n"
        "  %1 = const [40] : f32[1]\n"
        "  %2 \"mul\" = mul %0, %1 : f32[1,64]\n"
        "  %3 = flip %0 axes=[1] : f32[1,64]\n"
        "  %4 \"add\" = add %2, %3 alpha=1 : f32[1,64]\n"
        "  %5 \"sigmoid\" = sigmoid %4 : f32[1,64]\n"
        "  return %5\n}\n";
    tc_ctx *ctx = tc_ctx_new();
    tc_model *model = NULL, *typed = NULL;
    tc_comparison *c = NULL;
    part p = {0}, again = {0};
    tc_quantize_options o = tc_quantize_options_default();
    tc_compared_value v = {.size = sizeof v};
    CHECK(tc_model_read(ctx, "m.ir", (tc_bytes){(const uint8_t *)TEXT, sizeof TEXT - 1}, NULL,
                         &model) == TC_OK);
    o.samples = samples(ctx, &p, 40);
    CHECK(tc_quantize_model(ctx, model, &o, &typed, NULL) == TC_OK);
    CHECK(tc_compare_models(ctx, model, typed, samples(ctx, &again, 40), &c) == TC_OK);
    double before = -100;
    bool cut = false;
    for (size_t i = 0; c && tc_comparison_value(c, i, &v); i++) {
        CHECK(v.alone_db >= before);
        before = v.alone_db;
        if (!strcmp(v.name, "add"))
            cut = v.cut && v.sqnr_db < 15 && v.alone_db > 30;
        else
            CHECK(!v.cut);
    }
    CHECK(cut);
    tc_ctx_free(ctx);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_compare();
    test_fit();
    test_callback(ctx);
    test_merge(ctx);
    test_settings(ctx);
    test_mistakes(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
