/* SPDX-License-Identifier: Apache-2.0 */
/* quant_config.c -- settings: presets, files, which rule wins, and mistakes with the nearest names.
 */
#include "check.h"

#include <stdlib.h>
#include <unistd.h>

#include "ir/ir_text.h"
#include "quant/quantizer.h"

/* A configuration from JSON text, by way of a file. */
static tc_status from_json(tc_ctx *ctx, const char *text, tc_config *out)
{
    char path[] = "/tmp/tosac-config-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    const char *name = ti_text_copy(&ctx->arena, ti_str_of(path));
    tc_status status = ti_config_read(ctx, name, out);
    remove(path);
    return status;
}

static bool turned_down(const char *json, const char *words)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_config c;
    bool good = from_json(ctx, json, &c) != TC_OK && strstr(tc_diagnostics(ctx), words);
    if (!good)
        fprintf(stderr, "%s\nexpected \"%s\", got: %s\n", json, words, tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return good;
}

static void presets(void)
{
    tc_config c;
    CHECK(ti_config_preset("int8", &c) && c.global.act.dtype == TC_i8 &&
          c.global.weight.per_channel);
    CHECK(c.global.act.qmin == -128 && c.global.weight.qmin == -127 && c.correct_bias &&
          c.drop_odd);
    CHECK(ti_config_preset("int8+16:4", &c) && c.n_wide == 4 && c.global.act.dtype == TC_i8);
    CHECK(ti_config_preset("a16w8", &c) && c.global.act.dtype == TC_i16 && c.global.act.symmetric);
    CHECK(ti_config_preset("a8w4", &c) && c.global.weight.dtype == TC_i4 &&
          c.global.weight.qmax == 7);
    CHECK(c.global.weight.group == 0 && ti_config_preset("a8w4:64", &c) &&
          c.global.weight.group == 64 && c.global.act.dtype == TC_i8);
    CHECK(ti_config_preset("a16w4", &c) && c.global.weight.group == 32 &&
          c.global.act.dtype == TC_i16 && ti_config_preset("a16w4:0", &c) &&
          c.global.weight.group == 0 && !ti_config_preset("a16w4:", &c));
    CHECK(ti_config_preset("a16w4", &c) && c.head8 && c.global.weight.qmin == -8 &&
          ti_config_preset("a16w4:0", &c) && c.global.weight.qmin == -7);
    CHECK(ti_config_preset("none", &c) && c.global.act.dtype == TC_none);
    CHECK(ti_config_preset("anchor", &c) && c.anchor && !c.correct_bias &&
          c.global.act.floor == 0x1p-16);
    CHECK(c.global.act.observer == TC_OBSERVER_histogram_torchao);
    CHECK(!ti_config_preset("int9", &c) && !ti_config_preset("int8+16:", &c) &&
          !ti_config_preset("int8+16:-1", &c) && !ti_config_preset("int8+16:%", &c) &&
          !ti_config_preset("int8+16:-3%", &c));
    CHECK(ti_config_preset("int8+16:2.5%", &c) && c.wide_cycles == 2.5 && !c.n_wide);
}

/* Groups that nobody asked for become few codes by channel, where the target packs weights. */
static void packed(void)
{
    tc_config c;
    CHECK(ti_config_preset("a16w4", &c) && ti_config_few_codes(&c));
    ti_config_pack(&c);
    CHECK(c.global.weight.dtype == TC_i8 && c.global.weight.qmin == -15 &&
          c.global.weight.qmax == 15 && !c.global.weight.group && c.global.weight.per_channel &&
          !c.head8 && ti_config_few_codes(&c));
    CHECK(ti_config_preset("a16w4:32", &c));
    ti_config_pack(&c);
    CHECK(c.global.weight.dtype == TC_i4 && c.global.weight.group == 32 && c.head8);
    CHECK(ti_config_preset("int8", &c) && !ti_config_few_codes(&c));
    ti_config_pack(&c);
    CHECK(c.global.weight.qmax == 127);
    tc_ctx *ctx = tc_ctx_new();
    CHECK(from_json(ctx, "{\"preset\": \"a16w4\", \"weights\": {\"group\": 64}}", &c) == TC_OK);
    ti_config_pack(&c);
    CHECK(c.global.weight.group == 64 && c.global.weight.dtype == TC_i4);
    CHECK(from_json(ctx,
                    "{\"nodes\": {\"n\": {\"weights\": {\"qmin\": -15, \"qmax\": 15}}}}",
                    &c) == TC_OK &&
          ti_config_few_codes(&c));
    tc_ctx_free(ctx);
}

/* The most specific rule wins, whatever the order in the file. */
static void precedence(void)
{
    static const char *const files[] = {
        "{\"nodes\": {\"n\": {\"qmin\": -6, \"qmax\": 6}}, \"targets\": {\"t\": {\"qmin\": -5, "
        "\"qmax\": 5}},"
        " \"modules\": {\"a\": {\"qmin\": -3, \"qmax\": 3}, \"a.b\": {\"qmin\": -4, \"qmax\": 4}},"
        " \"module_types\": {\"M\": {\"qmin\": -2, \"qmax\": 2}}, \"activations\": {\"qmin\": -1, "
        "\"qmax\": 1}}",
        "{\"activations\": {\"qmin\": -1, \"qmax\": 1}, \"module_types\": {\"x.M\": {\"qmin\": -2, "
        "\"qmax\": 2}},"
        " \"modules\": {\"a.b\": {\"qmin\": -4, \"qmax\": 4}, \"a\": {\"qmin\": -3, \"qmax\": 3}},"
        " \"targets\": {\"t\": {\"qmin\": -5, \"qmax\": 5}}, \"nodes\": {\"n\": {\"qmin\": -6, "
        "\"qmax\": 6}}}"};
    for (size_t i = 0; i < TC_COUNT(files); i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_config c;
        tc_level level;
        tc_loc all = {NULL, NULL, "n", "t", "a.b.c", "x.M"},
               target = {NULL, NULL, "o", "t", "a.b", "x.M"},
               inner = {NULL, NULL, "o", "u", "a.b.c", "x.M"},
               outer = {NULL, NULL, "o", "u", "a.bc", "x.M"},
               type = {NULL, NULL, "o", "u", "d", "x.M"},
               none = {NULL, NULL, "o", "u", "d", "x.NM"};
        CHECK(from_json(ctx, files[i], &c) == TC_OK);
        CHECK(ti_config_scheme(&c, &all, NULL, &level).act.qmax == 6 && level == TC_LEVEL_node);
        CHECK(ti_config_scheme(&c, &none, "n", &level).act.qmax == 6 && level == TC_LEVEL_node);
        CHECK(ti_config_scheme(&c, &target, NULL, &level).act.qmax == 5 &&
              level == TC_LEVEL_target);
        CHECK(ti_config_scheme(&c, &inner, NULL, &level).act.qmax == 4 && level == TC_LEVEL_module);
        CHECK(ti_config_scheme(&c, &outer, NULL, &level).act.qmax == 3 && level == TC_LEVEL_module);
        CHECK(ti_config_scheme(&c, &type, NULL, &level).act.qmax == 2 &&
              level == TC_LEVEL_module_type);
        CHECK(ti_config_scheme(&c, &none, NULL, &level).act.qmax == 1 && level == TC_LEVEL_global);
        tc_ctx_free(ctx);
    }
}

/* Fields that a rule does not name stay what a wider rule says. */
static void patches(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_config c;
    tc_level level;
    CHECK(from_json(ctx,
                    "{\"preset\": \"int8\", \"observer\": \"minmax\", \"weights\": "
                    "{\"per_channel\": false},"
                    " \"modules\": {\"a\": \"a16w8\", \"b\": null},"
                    " \"nodes\": {\"n\": {\"scale\": 0.05, \"zero_point\": -3}, \"m\": "
                    "{\"percentile\": 99.5},"
                    "             \"w\": {\"weights\": {\"dtype\": \"int4\"}}},"
                    " \"io\": {\"inputs\": \"int8\", \"outputs\": \"float\"}}",
                    &c) == TC_OK);
    tc_loc n = {NULL, NULL, "n", NULL, NULL, NULL}, a = {NULL, NULL, NULL, NULL, "a", NULL},
           b = {NULL, NULL, NULL, NULL, "b", NULL}, m = {NULL, NULL, "m", NULL, "a", NULL},
           w = {NULL, NULL, "w", NULL, NULL, NULL};
    tc_scheme s = ti_config_scheme(&c, &n, NULL, &level);
    CHECK(s.act.observer == TC_OBSERVER_fixed && s.act.scale == 0.05 && s.act.zero == -3 &&
          s.act.dtype == TC_i8);
    s = ti_config_scheme(&c, &a, NULL, &level);
    CHECK(s.act.dtype == TC_i16 && s.act.qmax == 32767 && s.act.observer == TC_OBSERVER_minmax);
    CHECK(ti_config_scheme(&c, &b, NULL, &level).act.dtype == TC_none);
    s = ti_config_scheme(&c, &m, NULL, &level);
    CHECK(s.act.dtype == TC_i16 && s.act.observer == TC_OBSERVER_percentile &&
          s.act.percentile == 99.5);
    s = ti_config_scheme(&c, &w, NULL, &level);
    CHECK(s.weight.dtype == TC_i4 && s.weight.qmax == 7 && !s.weight.per_channel &&
          s.act.dtype == TC_i8);
    CHECK(c.in.has && c.in.to.dtype == TC_i8 && !c.out.has);
    tc_config_entry again = {.level = TC_LEVEL_node, .name = "n"};
    size_t before = c.n_entry;
    ti_config_add(ctx, &c, again);
    CHECK(c.n_entry == before &&
          ti_config_scheme(&c, &n, NULL, &level).act.observer == TC_OBSERVER_minmax);
    tc_ctx_free(ctx);
}

static bool same_setting(const tc_setting *a, const tc_setting *b)
{
    return a->dtype == b->dtype && a->qmin == b->qmin && a->qmax == b->qmax &&
           a->symmetric == b->symmetric && a->per_channel == b->per_channel &&
           a->group == b->group && a->observer == b->observer && a->percentile == b->percentile &&
           a->floor == b->floor && ti_setting_step(a) == ti_setting_step(b);
}

/* Each key with no more than it needs changes what it names, and nothing else. */
static void alone(void)
{
    static const char *const same[] = {
        "{\"activations\": {\"dtype\": \"int8\"}}", "{\"activations\": {\"symmetric\": false}}",
        "{\"activations\": {\"qmin\": -128, \"qmax\": 127}}", "{\"observer\": \"mse\"}",
        "{\"activations\": {\"observer\": \"mse\"}}", "{\"weights\": {\"dtype\": \"int8\"}}",
        "{\"weights\": {\"per_channel\": true}}", "{\"weights\": {\"group\": 0}}",
        "{\"weights\": {\"step\": 1}}",
        "{\"weights\": {\"symmetric\": true}}", "{\"weights\": {\"observer\": \"minmax\"}}",
        "{\"preset\": \"a8w4\", \"weights\": {\"dtype\": \"int8\"}}",
        "{\"preset\": \"a8w4:32\", \"weights\": {\"dtype\": \"int8\"}}",
        ("{\"preset\": \"none\", \"weights\": {\"dtype\": \"int8\"},"
         " \"activations\": {\"dtype\": \"int8\"}}")};
    static const struct {
        const char *json;
        tc_observer observer;
        double percentile;
    } observers[] = {
        {"{\"observer\": \"percentile\"}", TC_OBSERVER_percentile, 99.99},
        {"{\"activations\": {\"observer\": \"percentile\"}}", TC_OBSERVER_percentile, 99.99},
        {"{\"activations\": {\"percentile\": 99}}", TC_OBSERVER_percentile, 99},
        {"{\"activations\": {\"percentile\": 99, \"observer\": \"percentile\"}}",
         TC_OBSERVER_percentile, 99},
        {"{\"activations\": {\"observer\": \"percentile\", \"percentile\": 99}}",
         TC_OBSERVER_percentile, 99},
        {"{\"observer\": \"minmax\"}", TC_OBSERVER_minmax, 99.99},
        {"{\"observer\": \"ema\"}", TC_OBSERVER_ema, 99.99}};
    tc_ctx *ctx = tc_ctx_new();
    tc_config usual, c;
    CHECK(ti_config_preset("int8", &usual));
    for (size_t i = 0; i < TC_COUNT(same); i++)
        CHECK(from_json(ctx, same[i], &c) == TC_OK &&
              same_setting(&c.global.act, &usual.global.act) &&
              same_setting(&c.global.weight, &usual.global.weight));
    for (size_t i = 0; i < TC_COUNT(observers); i++) {
        tc_setting want = usual.global.act;
        want.observer = observers[i].observer;
        want.percentile = observers[i].percentile;
        CHECK(from_json(ctx, observers[i].json, &c) == TC_OK &&
              same_setting(&c.global.act, &want) &&
              same_setting(&c.global.weight, &usual.global.weight));
    }
    tc_ctx_free(ctx);
}

/* An entry's step is its own; another preset for the node has none. */
static void steps(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_config c;
    tc_level level;
    tc_loc a = {.node = "a"}, b = {.node = "b"};
    CHECK(from_json(ctx,
                    "{\"weights\": {\"step\": 4}, \"nodes\": {\"a\": {\"weights\": {\"step\": 2}},"
                    " \"b\": \"int8\"}}",
                    &c) == TC_OK);
    CHECK(ti_setting_step(&c.global.weight) == 4 && c.global.weight.qmax == 127);
    CHECK(ti_setting_step(&(tc_setting){0}) == 1);
    CHECK(ti_config_needs_rounding(&c) && !ti_config_few_codes(&c));
    tc_scheme of_a = ti_config_scheme(&c, &a, NULL, &level),
              of_b = ti_config_scheme(&c, &b, NULL, &level);
    CHECK(ti_config_preset("int8x4", &c) && ti_setting_step(&c.global.weight) == 4 &&
          c.small8 > 0 && ti_config_preset("int8x1.5", &c));
    CHECK(ti_config_preset("int8", &c) && !ti_config_needs_rounding(&c));
    CHECK(!ti_config_preset("int8x", &c) && !ti_config_preset("int8x0.5", &c) &&
          !ti_config_preset("int8x65", &c) && !ti_config_preset("int8xnan", &c));
    CHECK(ti_setting_step(&of_a.weight) == 2 && ti_setting_step(&of_b.weight) == 1);
    tc_ctx_free(ctx);
}

static void mistakes(void)
{
    CHECK(turned_down("{\"observer\": \"fixed\"}", "needs a 'scale'"));
    CHECK(turned_down("{\"activations\": {\"percentile\": 99, \"observer\": \"mse\"}}",
                      "only the observer 'percentile' takes it"));
    CHECK(turned_down("{\"nodes\": {\"n\": {\"weights\": {\"scale\": 1}}}}",
                      "weights cannot have a fixed scale"));
    CHECK(turned_down("{\"weights\": {\"step\": 0.5}}", "a number of 1 to 64"));
    CHECK(turned_down("{\"weights\": {\"step\": 65}}", "a number of 1 to 64"));
    CHECK(turned_down("{\"activations\": {\"step\": 2}}", "'step' is for weights"));
    CHECK(turned_down("{\"observers\": \"mse\"}", "the nearest is 'observer'"));
    CHECK(turned_down("{\"observer\": \"minmx\"}", "the nearest is 'minmax'"));
    CHECK(turned_down("{\"preset\": \"int9\"}", "the nearest is 'int8'"));
    CHECK(turned_down("{\"activations\": {\"dtype\": \"int7\"}}", "the nearest is 'int8'"));
    CHECK(turned_down("{\"activations\": {\"qmin\": 5, \"qmax\": -5}}", "qmin below qmax"));
    CHECK(turned_down("{\"activations\": {\"qmin\": -5}}", "are needed together"));
    CHECK(turned_down("{\"activations\": {\"dtype\": \"int8\", \"qmin\": -200, \"qmax\": 5}}",
                      "i8 has -128 to 127"));
    CHECK(turned_down("{\"nodes\": {\"n\": {\"scale\": 0}}}", "above 0"));
    CHECK(turned_down("{\"nodes\": {\"n\": {\"scale\": 1e-60}}}", "above 0"));
    CHECK(turned_down("{\"nodes\": {\"n\": {\"zero_point\": 3}}}", "without 'scale'"));
    CHECK(turned_down("{\"nodes\": {\"n\": {\"observer\": \"fixed\"}}}", "needs a 'scale'"));
    CHECK(turned_down("{\"nodes\": {\"n\": \"anchor\"}}", "for a whole program"));
    CHECK(turned_down("{\"nodes\": [1]}", "wants an object"));
    CHECK(turned_down("{\"io\": {\"input\": \"int8\"}}", "the nearest is 'inputs'"));
    CHECK(turned_down("{\"nodes\": {\"a\": {\"scale\": 0.05, \"zero_point\": 300}}}",
                      "outside the codes"));
    CHECK(turned_down("{\"weights\": {\"qmin\": -500, \"qmax\": 500}}", "i8 has -128 to 127"));
    CHECK(turned_down("{\"weights\": {\"dtype\": \"int16\"}}", "'weights' cannot have type i16"));
    CHECK(turned_down("{\"activations\": {\"dtype\": \"uint8\"}}",
                      "'activations' cannot have type u8"));
    CHECK(turned_down("[]", "expected an object"));
    CHECK(turned_down("{", "byte"));
    tc_ctx *ctx = tc_ctx_new();
    tc_config c;
    CHECK(ti_config_read(ctx, "int88", &c) != TC_OK &&
          strstr(tc_diagnostics(ctx), "presets are int8"));
    tc_ctx_free(ctx);
}

/* A rule about nothing is an error that names the nearest. */
static void about_nothing(void)
{
    static const char text[] =
        "graph @main(%0 \"x\": f32[2]) {\n"
        "  %1 \"relu\" = relu %0 : f32[2] loc(\"m.py:1\", node=\"relu\", "
        "target=\"aten.relu.default\","
        " module=\"layers.0\", module_type=\"torch.nn.modules.activation.ReLU\")\n"
        "  return %1\n}\n";
    static const struct {
        tc_level level;
        const char *name, *words; /* words NULL: it matches */
    } cases[] = {{TC_LEVEL_node, "relu", NULL},
                 {TC_LEVEL_node, "x", NULL},
                 {TC_LEVEL_node, "rlu", "the nearest is 'relu'"},
                 {TC_LEVEL_target, "aten.relu.defult", "'aten.relu.default'"},
                 {TC_LEVEL_module, "layers", NULL},
                 {TC_LEVEL_module, "layer", "'layers.0'"},
                 {TC_LEVEL_module_type, "ReLU", NULL},
                 {TC_LEVEL_module_type, "ReLU6", "the nearest is 'ReLU'"}};
    for (size_t i = 0; i < TC_COUNT(cases); i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_module *module;
        tc_config c;
        CHECK(ti_parse(ctx, "t.ir", (tc_bytes){(const uint8_t *)text, sizeof text - 1},
                       (tc_bytes){NULL, 0}, &module) == TC_OK);
        CHECK(ti_config_preset("int8", &c));
        ti_config_add(ctx, &c, (tc_config_entry){.level = cases[i].level, .name = cases[i].name});
        bool found = ti_config_check(ctx, &c, ti_main(module)) == TC_OK;
        CHECK(found == !cases[i].words);
        bool named = !cases[i].words || strstr(tc_diagnostics(ctx), cases[i].words);
        if (!named)
            fprintf(stderr, "%s", tc_diagnostics(ctx));
        CHECK(named);
        tc_ctx_free(ctx);
    }
}

/* Small layers keep 8 bits beside 4: from the smallest, up to a share of all weights, those of a table
 * counted; not those that a rule is about. */
static void small_layers(void)
{
    static const char layers[] =
        "  %1 = const [1, 2] : f32[1,2]\n"
        "  %2 = const [1, 2, 3] : f32[3,1]\n"
        "  %3 = const [1, 2, 3, 4, 5, 6, 7, 8, 9] : f32[3,3]\n"
        "  %4 = linear %0, %1 : f32[1,1] loc(\"m.py:1\", node=\"a\")\n"
        "  %5 = linear %4, %2 : f32[1,3] loc(\"m.py:2\", node=\"b\")\n"
        "  %6 = linear %5, %3 : f32[1,3] loc(\"m.py:3\", node=\"c\")\n"
        "  return %6\n"
        "}\n";
    static const char rows[] = "graph @main(%9 \"i\": i64[1]) {\n"
                               "  %8 = const [1, 2, 3, 4, 5, 6, 7, 8] : f32[4,2]\n"
                               "  %0 = embedding %8, %9 : f32[1,2]\n";
    static const struct {
        double share;
        const char *rule;
        bool eight[3], table;
    } cases[] = {{0, NULL, {false, false, false}, false},
                 {10, NULL, {false, false, false}, false},
                 {20, NULL, {true, false, false}, false},
                 {40, NULL, {true, true, false}, false},
                 {20, "a", {false, false, false}, false},
                 {25, "a", {false, true, false}, false},
                 {9, NULL, {false, false, false}, true},
                 {10, NULL, {true, false, false}, true}};
    for (size_t i = 0; i < TC_COUNT(cases); i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_module *m;
        tc_config c;
        tc_level level;
        char text[2048];
        snprintf(text, sizeof text, "%s%s",
                 cases[i].table ? rows : "graph @main(%0 \"x\": f32[1,2]) {\n", layers);
        CHECK(ti_parse(ctx, "m.ir", (tc_bytes){(const uint8_t *)text, strlen(text)},
                       (tc_bytes){NULL, 0}, &m) == TC_OK);
        CHECK(ti_config_preset("a8w4", &c));
        tc_patch own = ti_patch_all(&c.global.weight);
        c.small8 = cases[i].share;
        if (cases[i].rule)
            ti_config_add(ctx, &c,
                          (tc_config_entry){TC_LEVEL_node, cases[i].rule, .weight = own});
        tc_config with = ti_quant_small_layers(ctx, ti_main(m), &c);
        static const char *const name[] = {"a", "b", "c"};
        for (int k = 0; k < 3; k++) {
            tc_loc loc = {NULL, NULL, name[k], NULL, NULL, NULL};
            tc_scheme s = ti_config_scheme(&with, &loc, NULL, &level);
            CHECK((s.weight.dtype == TC_i8) == cases[i].eight[k] && level == TC_LEVEL_global);
        }
        tc_ctx_free(ctx);
    }
}

int main(void)
{
    presets();
    packed();
    precedence();
    patches();
    alone();
    steps();
    mistakes();
    about_nothing();
    small_layers();
    return check_done();
}
