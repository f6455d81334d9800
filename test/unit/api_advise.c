/* SPDX-License-Identifier: Apache-2.0 */
/* api_advise.c -- advice on small models: each kind is found, and following it by hand gives what was promised. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tosac/tosac.h"

enum { TEXT = 8192, ALL = 100 };

/* A model's text in which "%7 = weights [a,b]" stands for a constant of that shape: sines, which no two tensors share. */
static void expand(const char *from, char *to)
{
    static const char word[] = "= weights [";
    int fresh = 1000;
    size_t n = 0;
    for (const char *line = from; *line; line += strcspn(line, "\n") + 1) {
        int length = (int)strcspn(line, "\n");
        const char *at = strstr(line, word);
        if (!at || at >= line + length) {
            n += (size_t)snprintf(to + n, TEXT - n, "%.*s\n", length, line);
            continue;
        }
        int id = atoi(strchr(line, '%') + 1), count = 1, shape;
        const char *dims = at + sizeof word - 1;
        shape = (int)strcspn(dims, "]");
        for (const char *d = dims; d < dims + shape; d += strcspn(d, ",]") + 1)
            count *= atoi(d);
        n += (size_t)snprintf(to + n, TEXT - n,
                              "  %%%d = arange start=%d step=0.7 count=%d dtype=f32\n"
                              "  %%%d = sin %%%d\n  %%%d = reshape %%%d shape=[%.*s]\n",
                              fresh, id, count, fresh + 1, fresh, id, fresh + 1, shape, dims);
        fresh += 2;
    }
}

static tc_model *model_of(tc_ctx *ctx, const char *text)
{
    static char whole[TEXT];
    tc_model *model = NULL;
    expand(text, whole);
    tc_status status =
        tc_model_read(ctx, "net.ir", (tc_bytes){(const uint8_t *)whole, strlen(whole)}, NULL, &model);
    CHECK_ROW(tc_diagnostics(ctx), status == TC_OK);
    return model;
}

/* Advice on the text; random data, unless there are options. */
static tc_advice *advice_on(tc_ctx *ctx, const char *text, const tc_compile_options *options, size_t tries)
{
    static const char *const invented[] = {"random:1"};
    tc_advise_options how = tc_advise_options_default();
    tc_compile_options o = *options;
    tc_advice *advice = NULL;
    how.tries = tries;
    if (!o.quant.samples) {
        CHECK(tc_dataset_open(ctx, invented, 1, &o.quant.samples) == TC_OK);
        o.quant.only_if_needed = true;
    }
    tc_status status = tc_advise(ctx, model_of(ctx, text), &o, &how, &advice);
    CHECK_ROW(tc_diagnostics(ctx), status == TC_OK);
    return advice;
}

/* The item of a kind whose words hold a text; false: there is none. */
static bool find(const tc_advice *advice, const char *kind, const char *words, tc_advice_item *out)
{
    for (size_t i = 0; tc_advice_get_item(advice, i, out); i++)
        if (strcmp(out->kind, kind) == 0 && strstr(out->change, words))
            return true;
    return false;
}

static bool near(double a, double b, double part)
{
    return fabs(a - b) <= part * (fabs(a) + 1);
}

#define CONV "stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=1"
#define STEP "stride=[2,2] pad=[1,1,1,1] dilation=[1,1] groups=1"
#define POINT "stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1"

/* A kind, words of the change, and the model before and behind it. */
static const struct {
    const char *kind, *words, *target, *model, *followed;
} changes[] = {
    {"kernel", "3x3 instead of 5x5", "ethos-u55-128",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [16,8,5,5]\n"
     "  %2 = conv %0, %1, none stride=[1,1] pad=[2,2,2,2] dilation=[1,1] groups=1 loc(node=\"c\")\n"
     "  return %2\n}\n",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [16,8,3,3]\n"
     "  %2 = conv %0, %1, none " CONV "\n"
     "  return %2\n}\n"},
    {"activation", "relu instead of 2 silu", "cortex-m4",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [8,8,3,3]\n"
     "  %2 = silu %0 loc(node=\"s\")\n"
     "  %3 = conv %2, %1, none " CONV "\n"
     "  %4 = silu %3\n"
     "  return %4\n}\n",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [8,8,3,3]\n"
     "  %2 = relu %0\n"
     "  %3 = conv %2, %1, none " CONV "\n"
     "  %4 = relu %3\n"
     "  return %4\n}\n"},
    {"activation", "hardtanh instead of 1 tanh", "ethos-u55-128",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [8,8,3,3]\n"
     "  %3 = conv %0, %1, none " CONV "\n"
     "  %4 = tanh %3\n"
     "  return %4\n}\n",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [8,8,3,3]\n"
     "  %3 = conv %0, %1, none " CONV "\n"
     "  %4 = clamp %3 lo=-1 hi=1\n"
     "  return %4\n}\n"},
    {"norm", "batch normalization instead of 1 layer_norm", "ethos-u55-128",
     "graph @main(%0 \"x\": f32[1,16,32]) {\n"
     "  %1 = weights [24,32]\n"
     "  %2 = weights [32]\n"
     "  %3 = weights [32]\n"
     "  %4 = layer_norm %0, %2, %3 n_axes=1 eps=1e-05 loc(node=\"n\")\n"
     "  %5 = linear %4, %1\n"
     "  return %5\n}\n",
     "graph @main(%0 \"x\": f32[1,16,32]) {\n"
     "  %1 = weights [24,32]\n"
     "  %5 = linear %0, %1\n"
     "  return %5\n}\n"},
    {"expand", "one dense 3x3 convolution", "ethos-u55-128",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [32,8,1,1]\n"
     "  %2 = weights [32,1,3,3]\n"
     "  %3 = conv %0, %1, none " POINT " loc(node=\"p\")\n"
     "  %4 = relu %3\n"
     "  %5 = conv %4, %2, none stride=[2,2] pad=[1,1,1,1] dilation=[1,1] groups=32 loc(node=\"d\")\n"
     "  return %5\n}\n",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [32,8,3,3]\n"
     "  %3 = conv %0, %1, none " STEP "\n"
     "  %4 = relu %3\n"
     "  return %4\n}\n"},
    {"stride", "a stride of 2 in the first", "ethos-u55-128",
     "graph @main(%0 \"x\": f32[1,8,32,32]) {\n"
     "  %1 = weights [16,8,3,3]\n"
     "  %2 = weights [24,16,3,3]\n"
     "  %3 = conv %0, %1, none " CONV " loc(node=\"a\")\n"
     "  %4 = conv %3, %2, none " STEP " loc(node=\"b\")\n"
     "  return %4\n}\n",
     "graph @main(%0 \"x\": f32[1,8,32,32]) {\n"
     "  %1 = weights [16,8,3,3]\n"
     "  %2 = weights [24,16,3,3]\n"
     "  %3 = conv %0, %1, none " STEP "\n"
     "  %4 = conv %3, %2, none " CONV "\n"
     "  return %4\n}\n"},
    /* through batch norm, prelu, a depthwise convolution, a sum, pooling and a reshape */
    {"channels", "16 output channels instead of 20", "ethos-u55-128",
     "graph @main(%0 \"x\": f32[1,8,32,32]) {\n"
     "  %1 = weights [20,8,3,3]\n"
     "  %2 = weights [20]\n"
     "  %3 = full shape=[20] value=1 dtype=f32\n"
     "  %4 = weights [20]\n"
     "  %15 = weights [20]\n"
     "  %16 = full shape=[20] value=2 dtype=f32\n"
     "  %17 = weights [20]\n"
     "  %5 = weights [20,1,3,3]\n"
     "  %6 = weights [10,20]\n"
     "  %7 = conv %0, %1, %2 " CONV " loc(node=\"a\")\n"
     "  %8 = batch_norm %7, %3, %4, %15, %16 eps=1e-05\n"
     "  %9 = prelu %8, %17\n"
     "  %10 = conv %9, %5, none stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=20 loc(node=\"d\")\n"
     "  %11 = add %9, %10 alpha=1\n"
     "  %12 = adaptive_avg_pool %11 size=[1,1]\n"
     "  %13 = reshape %12 shape=[1,20]\n"
     "  %14 = linear %13, %6 loc(node=\"l\")\n"
     "  return %14\n}\n",
     "graph @main(%0 \"x\": f32[1,8,32,32]) {\n"
     "  %1 = weights [16,8,3,3]\n"
     "  %2 = weights [16]\n"
     "  %3 = full shape=[16] value=1 dtype=f32\n"
     "  %4 = weights [16]\n"
     "  %15 = weights [16]\n"
     "  %16 = full shape=[16] value=2 dtype=f32\n"
     "  %17 = weights [16]\n"
     "  %5 = weights [16,1,3,3]\n"
     "  %6 = weights [10,16]\n"
     "  %7 = conv %0, %1, %2 " CONV "\n"
     "  %8 = batch_norm %7, %3, %4, %15, %16 eps=1e-05\n"
     "  %9 = prelu %8, %17\n"
     "  %10 = conv %9, %5, none stride=[1,1] pad=[1,1,1,1] dilation=[1,1] groups=16\n"
     "  %11 = add %9, %10 alpha=1\n"
     "  %12 = adaptive_avg_pool %11 size=[1,1]\n"
     "  %13 = reshape %12 shape=[1,16]\n"
     "  %14 = linear %13, %6\n"
     "  return %14\n}\n"},
    {"channels", "fewer output channels in 2 places", "ethos-u55-128",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [20,8,3,3]\n"
     "  %2 = weights [12,20,3,3]\n"
     "  %3 = weights [4,12,1,1]\n"
     "  %7 = conv %0, %1, none " CONV " loc(node=\"a\")\n"
     "  %8 = conv %7, %2, none " CONV " loc(node=\"b\")\n"
     "  %9 = conv %8, %3, none " POINT " loc(node=\"c\")\n"
     "  return %9\n}\n",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [16,8,3,3]\n"
     "  %2 = weights [8,16,3,3]\n"
     "  %3 = weights [4,8,1,1]\n"
     "  %7 = conv %0, %1, none " CONV "\n"
     "  %8 = conv %7, %2, none " CONV "\n"
     "  %9 = conv %8, %3, none " POINT "\n"
     "  return %9\n}\n"},
    {"width", "24 output channels instead of 32", "ethos-u55-128",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [32,8,3,3]\n"
     "  %2 = weights [10,32]\n"
     "  %3 = conv %0, %1, none " CONV " loc(node=\"a\")\n"
     "  %4 = mean %3 axes=[2,3] keepdim=false\n"
     "  %5 = linear %4, %2\n"
     "  return %5\n}\n",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [24,8,3,3]\n"
     "  %2 = weights [10,24]\n"
     "  %3 = conv %0, %1, none " CONV "\n"
     "  %4 = mean %3 axes=[2,3] keepdim=false\n"
     "  %5 = linear %4, %2\n"
     "  return %5\n}\n"},
    {"input_size", "24x24 instead of 32x32", "ethos-u55-128",
     "graph @main(%0 \"x\": f32[1,8,32,32]) {\n"
     "  %1 = weights [16,8,3,3]\n"
     "  %3 = conv %0, %1, none " STEP " loc(node=\"a\")\n"
     "  %4 = upsample_nearest %3 size=[32,32] scale=[] align_corners=false\n"
     "  return %4\n}\n",
     "graph @main(%0 \"x\": f32[1,8,24,24]) {\n"
     "  %1 = weights [16,8,3,3]\n"
     "  %3 = conv %0, %1, none " STEP "\n"
     "  %4 = upsample_nearest %3 size=[24,24] scale=[] align_corners=false\n"
     "  return %4\n}\n"},
    {"resize", "nearest instead of bilinear", "ethos-u55-128",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [8,8,3,3]\n"
     "  %2 = conv %0, %1, none " CONV "\n"
     "  %3 = upsample_linear %2 size=[32,32] scale=[] align_corners=false loc(node=\"u\")\n"
     "  return %3\n}\n",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [8,8,3,3]\n"
     "  %2 = conv %0, %1, none " CONV "\n"
     "  %3 = upsample_nearest %2 size=[32,32] scale=[] align_corners=false\n"
     "  return %3\n}\n"},
    {"tail", "end the model before it", "ethos-u55-128",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [16,8,3,3]\n"
     "  %2 = conv %0, %1, none " CONV " loc(node=\"a\")\n"
     "  %3 = relu %2 loc(node=\"r\")\n"
     "  %4 = prod %3 axes=[1] keepdim=true loc(node=\"p\")\n"
     "  return %4\n}\n",
     "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
     "  %1 = weights [16,8,3,3]\n"
     "  %2 = conv %0, %1, none " CONV "\n"
     "  %3 = relu %2\n"
     "  return %3\n}\n"},
    {"int32", "int32 instead of int64 at 1 input", "TOSA-1.0+INT",
     "graph @main(%0 \"x\": i64[1,64]) {\n"
     "  %1 = weights [64,64]\n"
     "  %2 = mul %0, %0\n"
     "  %3 = cast %2 dtype=f32 loc(node=\"c\")\n"
     "  %4 = linear %3, %1\n"
     "  return %4\n}\n",
     "graph @main(%0 \"x\": i32[1,64]) {\n"
     "  %1 = weights [64,64]\n"
     "  %2 = mul %0, %0\n"
     "  %3 = cast %2 dtype=f32\n"
     "  %4 = linear %3, %1\n"
     "  return %4\n}\n"},
};

/* What is promised is what the followed model has. */
static void check_promises(void)
{
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_compile_options o = tc_compile_options_default();
        tc_advice_item item = tc_advice_item_default();
        tc_advice_info info = tc_advice_info_default();
        o.target = changes[i].target;
        tc_advice *advice = advice_on(ctx, changes[i].model, &o, ALL);
        bool found = find(advice, changes[i].kind, changes[i].words, &item);
        CHECK_ROW(changes[i].words, found);
        if (found) {
            tc_advice_get_info(advice_on(ctx, changes[i].followed, &o, 1), &info);
            CHECK_ROW(changes[i].words, near(item.then.cycles, info.now.cycles, 0.01)); /* they wait for weights */
            CHECK_ROW(changes[i].words, item.then.sram == info.now.sram);
            CHECK_ROW(changes[i].words, near(item.then.flash, info.now.flash, 0.1));
            CHECK_ROW(changes[i].words, item.then.on_cpu == info.now.on_cpu);
            CHECK_ROW(changes[i].words, item.then.regions == info.now.regions);
            CHECK_ROW(changes[i].words, isnan(item.then.sqnr_db) && !item.option);
        }
        tc_ctx_free(ctx);
    }
}

/* ---- settings ---- */

static const char small[] =
    "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
    "  %1 = weights [32,8,3,3]\n"
    "  %2 = weights [16,32,3,3]\n"
    "  %3 = conv %0, %1, none " CONV " loc(node=\"a\")\n"
    "  %4 = relu %3 loc(node=\"r\")\n"
    "  %5 = conv %4, %2, none " CONV " loc(node=\"b\")\n"
    "  return %5\n}\n";

static const char product[] = "graph @main(%0 \"x\": f32[1,16,24], %1 \"y\": f32[1,24,16]) {\n"
                              "  %2 = matmul %0, %1 loc(node=\"m\")\n"
                              "  return %2\n}\n";

/* Samples in which one channel in eight is a hundred times as loud as the others. */
static tc_status loud(void *user, size_t k, const tc_tensor *in, size_t n)
{
    (void)user, (void)n;
    float *x = in[0].data;
    for (int i = 0; i < 8 * 256; i++)
        x[i] = sinf((float)(i * 7 + (int)k * 31)) * (i < 256 ? 100.0f : 1.0f);
    return TC_OK;
}

static tc_compile_options with_data(tc_ctx *ctx, const char *target, size_t n)
{
    tc_compile_options o = tc_compile_options_default();
    o.target = target;
    CHECK(tc_dataset_new(ctx, n, loud, NULL, &o.quant.samples) == TC_OK);
    return o;
}

/* The same by the option that the item names, set by hand. */
static void check_settings(void)
{
    static const struct {
        const char *kind, *option, *model, *optimise, *mode, *config;
        bool products;
    } rows[] = {
        {"optimise", "--optimise Size", small, "Size", NULL, NULL, false},
        {"memory_mode", "--system Sram_Only", small, NULL, "Sram_Only", NULL, false},
        {"weights4", "-q a8w4", small, NULL, NULL, "a8w4", false},
        {"products", "--optimise products", product, NULL, NULL, NULL, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tc_ctx *ctx = tc_ctx_new();
        tc_compile_options o = tc_compile_options_default();
        tc_advice_item item = tc_advice_item_default();
        tc_advice_info info = tc_advice_info_default();
        o.target = "ethos-u55-128";
        bool found = find(advice_on(ctx, rows[i].model, &o, ALL), rows[i].kind, "", &item);
        CHECK_ROW(rows[i].kind, found && strcmp(item.option, rows[i].option) == 0 && !item.retrain);
        o.ethosu.optimise = rows[i].optimise;
        o.ethosu.system = rows[i].mode;
        o.ethosu.u55_products = rows[i].products;
        o.quant.config = rows[i].config;
        tc_advice_get_info(advice_on(ctx, rows[i].model, &o, 1), &info);
        CHECK_ROW(rows[i].kind, near(item.then.cycles, info.now.cycles, 0.01));
        CHECK_ROW(rows[i].kind, item.then.sram == info.now.sram);
        CHECK_ROW(rows[i].kind, near(item.then.flash, info.now.flash, 0.05));
        tc_ctx_free(ctx);
    }
}

/* With data: dB are measured, and what gains them is found. */
static void check_accuracy(void)
{
    static const char per_tensor[] = "{\"weights\": {\"per_channel\": false}}";
    tc_ctx *ctx = tc_ctx_new();
    tc_advice_item item = tc_advice_item_default();
    tc_advice_info info = tc_advice_info_default();
    tc_compile_options o = with_data(ctx, "ethos-u85-256", 8);
    tc_advice *advice = advice_on(ctx, small, &o, ALL);
    tc_advice_get_info(advice, &info);
    CHECK(info.samples == 8 && info.now.sqnr_db > 10 && info.now.converts == 2);
    CHECK(find(advice, "io", "int8", &item) && item.then.converts == 0);
    CHECK(find(advice, "rate", "coarser weights", &item) && item.then.sqnr_db < item.before.sqnr_db &&
          item.then.flash < item.before.flash && strstr(item.basis, "dB measured"));
    CHECK(!find(advice, "weights4", "", &item));
    CHECK(find(advice, "optimise", "little memory", &item) && isfinite(item.then.sqnr_db) &&
          item.then.flash < item.before.flash);
    CHECK(find(advice, "mixed", "16 bits", &item) && item.before.sqnr_db == info.now.sqnr_db);
    CHECK(find(advice, "calibration", "than these 8", &item) && isfinite(item.before.sqnr_db) &&
          item.then.cycles == info.now.cycles);
    CHECK(!find(advice, "per_channel", "", &item) && !find(advice, "preset", "", &item));
    CHECK(find(advice, "prune", "half of the weights", &item) && item.retrain &&
          item.then.flash < item.before.flash && isnan(item.then.sqnr_db));

    tc_config *config = NULL;
    CHECK(tc_config_parse(ctx, "per tensor", (tc_bytes){(const uint8_t *)per_tensor, sizeof per_tensor - 1},
                          &config) == TC_OK);
    o.quant.settings = config;
    advice = advice_on(ctx, small, &o, ALL);
    CHECK(find(advice, "per_channel", "each output channel", &item) &&
          item.then.sqnr_db == info.now.sqnr_db);
    CHECK(find(advice, "preset", "usual settings", &item) && item.then.sqnr_db == info.now.sqnr_db);
    tc_ctx_free(ctx);
}

/* Small numbers beside large ones, which the next operator makes small. */
static void check_noise(void)
{
    static const char noisy[] = "graph @main(%0 \"x\": f32[1,8,16,16]) {\n"
                                "  %1 = const [0.01,1,1,1,1,1,1,1] : f32[8,1,1]\n"
                                "  %2 \"sq\" = square %0 loc(node=\"sq\")\n"
                                "  %3 \"m\" = mul %2, %1 loc(node=\"m\")\n"
                                "  return %3\n}\n";
    tc_ctx *ctx = tc_ctx_new();
    tc_advice_item item = tc_advice_item_default();
    tc_compile_options o = with_data(ctx, "TOSA-1.0+INT+int16", 8);
    tc_advice *advice = advice_on(ctx, noisy, &o, ALL);
    bool found = find(advice, "bits16", "16 bits", &item);
    CHECK(found && item.then.sqnr_db > item.before.sqnr_db + 3 && strcmp(item.node, "sq") == 0 &&
          strstr(item.option, "\"sq\""));
    tc_ctx_free(ctx);
}

/* ---- order, bounds, reports ---- */

static void check_lists(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compile_options o = tc_compile_options_default();
    tc_advice_info info = tc_advice_info_default(), few = tc_advice_info_default();
    tc_advice_item item = tc_advice_item_default();
    const char *text = NULL, *again = NULL;
    o.target = "ethos-u55-128";
    tc_advice *advice = advice_on(ctx, small, &o, ALL);
    tc_advice_get_info(advice, &info);
    CHECK(info.tried > 4 && info.left == 0 && info.n_item > 0 && info.n_item <= info.tried);
    CHECK(isnan(info.now.sqnr_db) && info.samples == 0 && info.now.regions == 1);
    CHECK(tc_advice_get_item(advice, info.tried - 1, &item));
    CHECK(!tc_advice_get_item(advice, info.tried, &item));
    tc_advice_get_info(advice_on(ctx, small, &o, 3), &few);
    CHECK(few.tried == 3 && few.left >= info.tried - 3);
    CHECK(tc_advice_report(ctx, advice, TC_FORM_TEXT, &text) == TC_OK);
    CHECK(tc_advice_report(ctx, advice_on(ctx, small, &o, ALL), TC_FORM_TEXT, &again) == TC_OK);
    CHECK(strcmp(text, again) == 0);
    CHECK(strstr(text, "cycles estimated (")  && strstr(text, "worth making") &&
          strstr(text, "\n 1. ") && strstr(text, "tried, and not worth it:"));
    CHECK(tc_advice_report(ctx, advice, TC_FORM_JSON, &text) == TC_OK);
    CHECK(strstr(text, "\"advice\": [") && strstr(text, "\"rejected\": [") &&
          strstr(text, "\"then\": {"));
    tc_ctx_free(ctx);
}

/* What is quantized already keeps its graph; what is TOSA already its settings only. */
static void check_bounds(void)
{
    static const char typed[] = "graph @main(%0 \"x\": i8[1,8,16,16] q(0.5:0)) {\n"
                                "  %1 = silu %0 : i8[1,8,16,16] q(0.25:0)\n"
                                "  return %1\n}\n";
    tc_ctx *ctx = tc_ctx_new();
    tc_compile_options o = tc_compile_options_default();
    tc_advice_item item = tc_advice_item_default();
    o.target = "ethos-u85-256";
    tc_advice *advice = advice_on(ctx, typed, &o, ALL);
    CHECK(find(advice, "optimise", "", &item));
    CHECK(!find(advice, "activation", "", &item) && !find(advice, "weights4", "", &item));
    o.target = "ethos-u95";
    tc_advice *none = NULL;
    CHECK(tc_advise(ctx, model_of(ctx, small), &o, NULL, &none) == TC_USAGE && !none);
    tc_ctx_free(ctx);
}

int main(void)
{
    check_promises();
    check_settings();
    check_accuracy();
    check_noise();
    check_lists();
    check_bounds();
    return check_done();
}
