/* SPDX-License-Identifier: Apache-2.0 */
/* quant_parts.c -- calibration as a whole: parts in any order on any number of threads give the
 * same program, corrected biases have the means they should, mistaken data and files are told. */
#include "wire/file.h"
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/exec.h"
#include "ir/ir_text.h"
#include "ir/verify.h"
#include "quant/quantizer.h"

enum { N = 3 * 8 * 8, SAMPLES = 42, PARTS = 7 };

#define CONV " stride=[1,1] pad=[0,0,0,0] dilation=[1,1] groups=1"
static const char *const MODEL =
    "graph @main(%0 \"x\": f32[1,3,8,8]) {\n"
    "  %1 = const [0.5, -0.25, 0.125, 1, 0.3, -0.7, 0.11, 0.9, -0.4, 0.2, 0.21, -0.33] : "
    "f32[4,3,1,1]\n"
    "  %2 = const [0.1, -0.2, 0.05, 0] : f32[4]\n"
    "  %3 \"conv\" = conv %0, %1, %2" CONV " : f32[1,4,8,8] loc(\"m.py:1\")\n"
    "  %4 \"silu\" = silu %3 : f32[1,4,8,8] loc(\"m.py:2\")\n"
    "  %5 = const [1, 0.5, -0.25, 0.125, 0.3, -0.7, 0.11, 0.9, -0.4, 0.2, 0.21, -0.33, 0.6, 0.7, "
    "-0.8, 0.9] : f32[4,4,1,1]\n"
    "  %6 \"conv_1\" = conv %4, %5, none" CONV " : f32[1,4,8,8] loc(\"m.py:3\")\n"
    "  %7 \"mean\" = mean %6 axes=[2,3] keepdim=false : f32[1,4] loc(\"m.py:4\")\n"
    "  return %7\n"
    "}\n";

/* ---- data ---- */

typedef struct data {
    float x[SAMPLES][N];
    int order[SAMPLES];
} data;

/* Samples first .. in some order. */
typedef struct part {
    const data *d;
    int first;
} part;

static uint32_t next(uint32_t *s) { return (*s = *s * 1664525u + 1013904223u) >> 8; }

static data *some_data(uint32_t seed)
{
    data *d = calloc(1, sizeof *d);
    for (int k = 0; k < SAMPLES; k++) {
        uint32_t s = seed + (uint32_t)k * 77u;
        for (int i = 0; i < N; i++)
            d->x[k][i] = ((float)next(&s) / 8388608.0f - 1) * (1 + 0.01f * (float)k);
        d->order[k] = k;
    }
    return d;
}

static void shuffle(data *d, uint32_t seed)
{
    for (int k = SAMPLES - 1; k > 0; k--) {
        int j = (int)(next(&seed) % (uint32_t)(k + 1)), t = d->order[k];
        d->order[k] = d->order[j];
        d->order[j] = t;
    }
}

static tc_status read_part(void *from, size_t k, const tc_tensor *in)
{
    const part *p = from;
    memcpy(in[0].data, p->d->x[p->d->order[p->first + (int)k]], N * sizeof(float));
    return TC_OK;
}

/* ---- quantizing ---- */

typedef struct result {
    tc_status status;
    char *text;
    char message[512];
    size_t n_aside, aside; /* samples that were set aside, and the first of them */
    bool weighed;
} result;

static tc_module *parse(tc_ctx *ctx, const char *text)
{
    tc_module *module;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    if (ti_parse(ctx, "t.ir", bytes, (tc_bytes){NULL, 0}, &module) != TC_OK ||
        ti_infer_missing(ctx, module) != TC_OK || ti_verify(ctx, module) != TC_OK) {
        fputs(tc_diagnostics(ctx), stderr);
        exit(1);
    }
    return module;
}

typedef struct how {
    const char *model, *config, *observe_only;
    const char *const *merge;
    size_t n_merge;
    int threads;
    bool keep_odd, uncorrected;
    tc_quant_cost cost;
} how;

static result quantize(const data *d, int first, size_t n, how h)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_config config;
    part p = {d, first};
    result r = {0};
    ctx->threads = h.threads ? h.threads : 1;
    ctx->reference_kernels = true;
    tc_module *module = parse(ctx, h.model ? h.model : MODEL);
    CHECK(ti_config_read(ctx, h.config ? h.config : "int8", &config) == TC_OK);
    config.correct_bias = config.correct_bias && !h.uncorrected;
    tc_bytes seen;
    tc_observations *merge = tc_new_n(&ctx->arena, tc_observations, h.n_merge);
    for (size_t i = 0; i < h.n_merge; i++)
        merge[i].name = h.merge[i];
    tc_quant_gains gains = {0};
    tc_quant_request request = {.config = &config,
                                .gains = &gains,
                                .samples = {.n = n, .read = read_part, .from = &p},
                                .merge = merge,
                                .n_merge = h.n_merge,
                                .observe_only = h.observe_only ? &seen : NULL,
                                .keep_odd = h.keep_odd,
                                .cost = h.cost};
    r.status = ti_quantize(ctx, module, &request);
    r.n_aside = gains.n_aside;
    r.aside = gains.n_aside ? gains.aside[0] : 0;
    r.weighed = gains.weighed;
    if (h.observe_only && r.status == TC_OK)
        CHECK(ti_file_write(ctx, h.observe_only, seen) == TC_OK);
    tc_buf out;
    tc_print_options options = {0};
    ti_buf_init(&out, &ctx->arena);
    ti_print(module, &options, &out);
    r.text = calloc(out.size + 1, 1);
    memcpy(r.text, out.data, out.size);
    snprintf(r.message, sizeof r.message, "%s", tc_diagnostics(ctx));
    tc_ctx_free(ctx);
    return r;
}

static bool fails(result r, const char *message)
{
    bool good = r.status != TC_OK && strstr(r.message, message);
    if (!good)
        fprintf(stderr, "status %d: %s\n", (int)r.status, r.message);
    free(r.text);
    return good;
}

static bool same(result r, const char *text)
{
    bool good = r.status == TC_OK && strcmp(r.text, text) == 0;
    if (!good)
        fprintf(stderr, "status %d: %s\n%s\n", (int)r.status, r.message, r.text);
    free(r.text);
    return good;
}

/* ---- parts ---- */

typedef char path[96];

static void name_files(path *file, const char **name, const char *dir, const char *what)
{
    for (int i = 0; i < PARTS; i++) {
        snprintf(file[i], sizeof file[i], "%s/%s%d.obs", dir, what, i);
        name[(i * 3) % PARTS] = file[i]; /* in another order than they were made */
    }
}

static result in_parts(data *d, const char *dir, int threads)
{
    path first[PARTS], second[PARTS];
    const char *first_name[PARTS], *second_name[PARTS];
    enum { EACH = SAMPLES / PARTS };
    name_files(first, first_name, dir, "first");
    name_files(second, second_name, dir, "second");
    for (int i = 0; i < PARTS; i++) {
        result r = quantize(d, i * EACH, EACH, (how){.observe_only = first[i], .threads = threads});
        CHECK(r.status == TC_OK);
        free(r.text);
    }
    for (int i = 0; i < PARTS; i++) {
        result r = quantize(d, i * EACH, EACH,
                            (how){.observe_only = second[i],
                                  .merge = first_name,
                                  .n_merge = PARTS,
                                  .threads = threads});
        CHECK(r.status == TC_OK);
        free(r.text);
    }
    return quantize(d, 0, SAMPLES,
                    (how){.merge = second_name, .n_merge = PARTS, .threads = threads});
}

static void test_parts(const char *dir)
{
    data *d = some_data(1);
    result one = quantize(d, 0, SAMPLES, (how){0});
    CHECK(one.status == TC_OK && strstr(one.text, "q("));
    CHECK(same(quantize(d, 0, SAMPLES, (how){.threads = 3}), one.text));
    shuffle(d, 5);
    CHECK(same(quantize(d, 0, SAMPLES, (how){.threads = 2}), one.text));
    CHECK(same(in_parts(d, dir, 1), one.text));
    shuffle(d, 9);
    CHECK(same(in_parts(d, dir, 2), one.text));
    free(one.text);
    free(d);
}

static char *edited(const char *text, const char *old, const char *new)
{
    const char *at = strstr(text, old);
    size_t n = strlen(text) + strlen(new) + 1;
    char *out = calloc(n, 1);
    snprintf(out, n, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    return out;
}

static void damage(const char *file)
{
    FILE *f = fopen(file, "r+b");
    CHECK(f && fseek(f, 60, SEEK_SET) == 0 && fputc('!', f) == '!');
    if (f)
        fclose(f);
}

/* Files as test_parts has left them. */
static void test_wrong_files(const char *dir)
{
    data *d = some_data(1);
    path first[PARTS], second[PARTS], other;
    const char *first_name[PARTS], *second_name[PARTS];
    name_files(first, first_name, dir, "first");
    name_files(second, second_name, dir, "second");
    snprintf(other, sizeof other, "%s/other.obs", dir);
    char *model = edited(MODEL, "0.5, -0.25", "0.5, -0.26");
    CHECK(fails(
        quantize(d, 0, SAMPLES, (how){.model = model, .merge = second_name, .n_merge = PARTS}),
        "of another model"));
    CHECK(fails(
        quantize(d, 0, SAMPLES, (how){.config = "a16w8", .merge = second_name, .n_merge = PARTS}),
        "other settings"));
    CHECK(fails(quantize(d, 0, SAMPLES, (how){.merge = first_name, .n_merge = PARTS}),
                "first passes only"));
    CHECK(fails(quantize(d, 0, SAMPLES, (how){.merge = second_name, .n_merge = PARTS - 1}),
                "second passes saw"));
    const char *twice[PARTS];
    for (int i = 0; i < PARTS; i++)
        twice[i] = second_name[i == 1 ? 0 : i];
    CHECK(fails(quantize(d, 0, SAMPLES, (how){.merge = twice, .n_merge = PARTS}),
                "second passes saw"));
    const char *mixed[2] = {first[0], second[0]};
    CHECK(fails(quantize(d, 0, SAMPLES, (how){.merge = mixed, .n_merge = 2}), "second pass"));
    CHECK(fails(
        quantize(d, 0, 6, (how){.merge = second_name, .n_merge = PARTS, .observe_only = other}),
        "without --observe-only"));
    CHECK(fails(quantize(d, 0, 6, (how){.config = "anchor", .observe_only = other}),
                "order of the samples"));
    damage(second[2]);
    CHECK(fails(quantize(d, 0, SAMPLES, (how){.merge = second_name, .n_merge = PARTS}), "damaged"));
    for (int i = 0; i < PARTS; i++) {
        unlink(first[i]);
        unlink(second[i]);
    }
    free(model);
    free(d);
}

/* ---- data ---- */

/* More bits are given for the same samples. */
static void test_same_verdict(const data *d, how h, size_t n_aside)
{
    static const char *const settings[] = {"int8+16:1", "int8+16:2", "int8+16:8", "a8w4"};
    for (size_t i = 0; i < TC_COUNT(settings); i++) {
        h.config = settings[i];
        result r = quantize(d, 0, SAMPLES, h);
        CHECK(r.status == TC_OK && r.n_aside == n_aside);
        free(r.text);
    }
}

/* One sample is larger than the others.  Where its answer is in proportion and the others are not
 * lost with it, it is what the program is for; where they are, or it only fills a tanh, it costs all
 * others their steps for nothing. */
static void test_odd(data *d)
{
    char *tanh = edited(MODEL, "return %7",
                        "%8 = const [30] : f32[1]\n  %9 \"mul\" = mul %7, %8 : f32[1,4]\n"
                        "  %10 \"tanh\" = tanh %9 : f32[1,4]\n  return %10");
    const struct {
        float times;
        const char *model;
        bool aside;
    } cases[] = {{6, NULL, false}, {40, NULL, true}, {40, tanh, true}};
    data usual = *d;
    for (size_t c = 0; c < TC_COUNT(cases); c++) {
        for (int i = 0; i < N; i++)
            d->x[13][i] = usual.x[13][i] * cases[c].times;
        how h = {.model = cases[c].model}, keep = {.model = h.model, .keep_odd = true};
        bool aside = cases[c].aside;
        result r = quantize(d, 0, SAMPLES, h), kept = quantize(d, 0, SAMPLES, keep);
        CHECK(r.status == TC_OK && kept.status == TC_OK && !strstr(kept.message, "sample 13"));
        CHECK(strstr(r.message, aside ? "calibration sample 13 is set aside: input 'x' reaches"
                                      : "calibration sample 13 is kept, though input 'x' reaches"));
        CHECK((strcmp(kept.text, r.text) != 0) == aside);
        CHECK(aside ? r.n_aside == 1 && r.aside == 13 && r.weighed : !r.n_aside);
        test_same_verdict(d, h, r.n_aside);
        free(kept.text);
        free(r.text);
    }
    *d = usual;
    free(tanh);
}

static void test_data(void)
{
    data *d = some_data(2);
    CHECK(fails(quantize(d, 0, 0, (how){0}), "no calibration samples"));
    result r = quantize(d, 0, 31, (how){0});
    CHECK(r.status == TC_OK && strstr(r.message, "31 calibration samples"));
    free(r.text);
    test_odd(d);
    d->x[20][7] = NAN;
    CHECK(
        fails(quantize(d, 0, SAMPLES, (how){.threads = 2}), "sample 20: element 7 of 'x' is NaN"));
    d->x[20][7] = -INFINITY;
    CHECK(fails(quantize(d, 0, SAMPLES, (how){0}), "sample 20: element 7 of 'x' is infinite"));
    free(d);
}

/* Data that ranges cannot follow from is told of, and other data is not. */
static void test_worth(void)
{
    static const struct {
        int kind;
        const char *words;
    } row[] = {{0, NULL},
               {1, "is constant: 'x' is 0 everywhere, in 42 samples"},
               {2, "all 42 calibration samples are equal"},
               {3, "42 calibration samples, of which 3 differ"},
               {4, "each calibration sample of 'x' is constant"},
               {5, "'x' is only 0 or 1"},
               {6, "42 calibration samples are too few for the ranges"}};
    for (size_t c = 0; c < TC_COUNT(row); c++) {
        data *d = some_data(4), *plain = some_data(4);
        for (int s = 0; s < SAMPLES; s++)
            for (int i = 0; i < N; i++) {
                float x = plain->x[s][i];
                const float to[] = {x,
                                    -0.0f,
                                    plain->x[0][i],
                                    plain->x[s % 3][i],
                                    plain->x[s][0],
                                    x > 0,
                                    x * expf(0.4f * (float)(s * 7 % 11) * (float)(s * 5 % 7))};
                d->x[s][i] = to[row[c].kind];
            }
        result r = quantize(d, 0, SAMPLES, (how){0});
        bool said = row[c].words ? strstr(r.message, row[c].words) != NULL
                                 : !strstr(r.message, "warning") && !strstr(r.message, "'x'");
        if (!said)
            fprintf(stderr, "kind %d: %s\n", row[c].kind, r.message);
        CHECK(r.status == TC_OK && said);
        free(r.text);
        free(plain);
        free(d);
    }
}

/* The scale of the program's one output. */
static double output_scale(const char *text)
{
    const char *at = NULL;
    for (const char *next = text; (next = strstr(next, "sigmoid %")) != NULL; next++)
        at = next;
    at = at ? strstr(at, "q(") : NULL;
    return at ? strtod(at + 2, NULL) : 0;
}

/* An output of a sigmoid: steps of 1/256 where they hold what was seen; where that is far less, or
 * reaches 1, steps of what its argument gives when it reaches farther. */
static void test_sigmoid_output(void)
{
    static const char *const times[] = {"[0.1]", "[12]", "[500]"};
    for (size_t i = 0; i < TC_COUNT(times); i++) {
        char more[256];
        snprintf(more, sizeof more,
                 "%%8 = const %s : f32[1]\n  %%9 \"mul\" = mul %%7, %%8 : f32[1,4]\n"
                 "  %%10 \"sigmoid\" = sigmoid %%9 : f32[1,4]\n  return %%10",
                 times[i]);
        char *model = edited(MODEL, "return %7", more);
        data *d = some_data(6);
        result r = quantize(d, 0, SAMPLES, (how){.model = model});
        double scale = output_scale(r.text);
        bool good = i == 0   ? scale > 0.5 / 256 && scale < 0.56 / 256
                    : i == 1 ? scale == 1.0 / 256
                             : fabs(scale - 1.0 / 255) < 1e-6;
        if (!good)
            fprintf(stderr, "times %s: scale %g\n%s", times[i], scale, r.text);
        CHECK(r.status == TC_OK && good);
        free(r.text);
        free(model);
        free(d);
    }
}

/* Numbers that are all 0, tiny or huge have grids. */
static void test_extremes(void)
{
    static const float factor[] = {0, 1e-30f, 1e30f};
    static const char *const config[] = {"int8", "a16w8", "anchor"};
    for (size_t k = 0; k < TC_COUNT(factor); k++)
        for (size_t c = 0; c < TC_COUNT(config); c++) {
            data *d = some_data(3);
            for (int s = 0; s < SAMPLES; s++)
                for (int i = 0; i < N; i++)
                    d->x[s][i] *= factor[k];
            result r = quantize(d, 0, SAMPLES, (how){.config = config[c]});
            CHECK(r.status == TC_OK && strstr(r.text, "q(") && !strstr(r.text, "q(0:") &&
                  !strstr(r.text, "inf"));
            free(r.text);
            free(d);
        }
}

/* ---- meaning ---- */

/* Mean error of each of the program's outputs over the first n samples, added up. */
static double bias_of(const data *d, int n, const char *typed_text)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_module *real = parse(ctx, MODEL), *typed = parse(ctx, typed_text);
    CHECK(ti_quant_simulate_quantization(ctx, typed) == TC_OK);
    tc_exec *a = ti_exec_new(ctx, real), *b = ti_exec_new(ctx, typed);
    double sum[4] = {0}, all = 0;
    for (int k = 0; k < n; k++) {
        tc_tensor in = {ti_type_of(ti_main(real), ti_main(real)->in[0]),
                        (void *)(uintptr_t)d->x[k]},
                  x, y;
        CHECK(ti_exec_run(a, &in, &x) == TC_OK && ti_exec_run(b, &in, &y) == TC_OK);
        for (int i = 0; i < 4; i++)
            sum[i] += (double)((const float *)x.data)[i] - (double)((const float *)y.data)[i];
    }
    tc_ctx_free(ctx);
    for (int i = 0; i < 4; i++)
        all += fabs(sum[i] / n);
    return all;
}

static void test_correction(void)
{
    enum { FEW = 30 }; /* all of them take part */
    data *d = some_data(4);
    result r = quantize(d, 0, FEW, (how){.config = "a8w4"});
    result u = quantize(d, 0, FEW, (how){.config = "a8w4", .uncorrected = true});
    CHECK(r.status == TC_OK && u.status == TC_OK &&
          bias_of(d, FEW, r.text) < bias_of(d, FEW, u.text) / 4);
    free(r.text);
    free(u.text);
    r = quantize(d, 0, SAMPLES, (how){.config = "int8+16:1"});
    CHECK(r.status == TC_OK && strstr(r.text, "i16["));
    free(r.text);
    free(d);
}

/* 100, and for each value of 16 bits 4; the ops that `expensive` names are not to be had for that.
 * */
static tc_status cost_of(void *expensive, const tc_module *typed, const char *const *name, size_t n,
                         tc_bytes_cycles *layer, tc_bytes_cycles *all)
{
    const tc_graph *g = ti_main(typed);
    (void)name, (void)layer;
    CHECK(n == 0);
    *all = (tc_bytes_cycles){.cycles = 100};
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_out; i++)
            if (ti_type_of(g, g->node[k]->out[i])->dtype == TC_i16 && g->node[k]->op != TC_OP_const)
                all->cycles += ti_text_eq(tc_ops[g->node[k]->op].name, expensive) ? 1000 : 4;
    return TC_OK;
}

static int wide_values(const char *text)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, ": i16[")); at++)
        n++;
    return n;
}

/* 16 bits for what they cost: none fits into too little, some into more, and none that is
 * expensive. */
static void test_spending(void)
{
    data *d = some_data(4);
    tc_quant_cost cheap = {.layers = cost_of, .who = (void *)(uintptr_t)"nothing"};
    result r[4] = {quantize(d, 0, SAMPLES, (how){.config = "int8+16:1%", .cost = cheap}),
                   quantize(d, 0, SAMPLES, (how){.config = "int8+16:50%", .cost = cheap}),
                   quantize(d, 0, SAMPLES, (how){.config = "int8+16:1", .cost = cheap}),
                   quantize(d, 0, SAMPLES, (how){.config = "int8+16:50%"})};
    int none = wide_values(r[0].text), many = wide_values(r[1].text);
    CHECK(r[0].status == TC_OK && r[1].status == TC_OK && r[2].status == TC_OK);
    CHECK(many > none && wide_values(r[2].text) > none && wide_values(r[2].text) <= many);
    CHECK(r[3].status == TC_USAGE && strstr(r[3].message, "cost is not known"));
    for (int i = 0; i < 4; i++)
        free(r[i].text);
    static const char *const op[] = {"conv", "linear", "rescale", "relu"};
    for (size_t i = 0; i < TC_COUNT(op); i++) {
        tc_quant_cost expensive = {.layers = cost_of, .who = (void *)(uintptr_t)op[i]};
        result s = quantize(d, 0, SAMPLES, (how){.config = "int8+16:50%", .cost = expensive});
        CHECK(s.status == TC_OK && wide_values(s.text) <= many);
        free(s.text);
    }
    free(d);
}

int main(void)
{
    char dir[] = "/tmp/quant_parts.XXXXXX";
    CHECK(mkdtemp(dir) != NULL);
    test_parts(dir);
    test_wrong_files(dir);
    rmdir(dir);
    test_data();
    test_worth();
    test_sigmoid_output();
    test_extremes();
    test_correction();
    test_spending();
    return check_done();
}
