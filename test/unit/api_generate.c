/* SPDX-License-Identifier: Apache-2.0 */
/* api_generate.c -- a small trained decoder (test/fixture/decoder): tokens of texts, perplexity,
 * and the same greedy text by whole windows, by steps and by windows and steps of one program. */
#include "tosac/tosac.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define FOLDER TOSAC_FIXTURES "/decoder/"

static tc_bytes bytes_of(const char *text)
{
    return (tc_bytes){(const uint8_t *)text, strlen(text)};
}

static tc_tokenizer *tokenizer_of(tc_ctx *ctx, const char *path)
{
    tc_tokenizer *t = NULL;
    if (tc_tokenizer_open(ctx, path, &t) != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    CHECK(t);
    return t;
}

/* ---- texts ---- */

/* What goes in comes out, whatever the bytes are. */
static void there_and_back(void)
{
    static const char *const text[] = {
        "The program runs.", "  two  spaces\n\n\ttab 1234567 3.14", "it's WE'LL don't",
        "na\xc3\xafve \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80", "<|endoftext|>a<|endoftext|> b",
        "\xff\xc3(\xe2\x82", "   ", ""};
    tc_ctx *ctx = tc_ctx_new();
    tc_tokenizer *t = tokenizer_of(ctx, FOLDER "tokenizer.json");
    CHECK(tc_tokenizer_size(t) == 384 && tc_tokenizer_find(t, "<|endoftext|>") == 0);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        const int64_t *id = NULL;
        size_t n = 0;
        tc_bytes back = {0};
        CHECK(tc_tokenizer_encode(ctx, t, bytes_of(text[i]), 1, &id, &n) == TC_OK);
        CHECK(tc_tokenizer_decode(ctx, t, id, n, 0, &back) == TC_OK);
        CHECK(back.size == strlen(text[i]) && memcmp(back.data, text[i], back.size) == 0);
    }
    tc_ctx_free(ctx);
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "wb");
    CHECK(f && fputs(text, f) >= 0);
    if (f)
        fclose(f);
}

static bool encodes(tc_ctx *ctx, const tc_tokenizer *t, const char *text, const int64_t *want,
                    size_t n_want)
{
    const int64_t *id = NULL;
    size_t n = 0;
    return tc_tokenizer_encode(ctx, t, bytes_of(text), 1, &id, &n) == TC_OK && n == n_want &&
           (n == 0 || memcmp(id, want, n * sizeof *id) == 0);
}

/* Characters, a sign for the space, bytes to fall back on, a token in front of every text. */
static void characters(void)
{
    static const char json[] =
        "{\"added_tokens\":[{\"id\":1,\"content\":\"<s>\"}],"
        "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"Prepend\","
        "\"prepend\":\"_\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\" \"},\"content\":"
        "\"_\"}]},\"pre_tokenizer\":null,"
        "\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{"
        "\"id\":\"<s>\",\"type_id\":0}},{\"Sequence\":{\"id\":\"A\",\"type_id\":0}}]},"
        "\"decoder\":{\"type\":\"Sequence\",\"decoders\":[{\"type\":\"Replace\",\"pattern\":{"
        "\"String\":\"_\"},\"content\":\" \"},{\"type\":\"ByteFallback\"},{\"type\":\"Fuse\"},{"
        "\"type\":\"Strip\",\"content\":\" \",\"start\":1,\"stop\":0}]},"
        "\"model\":{\"type\":\"BPE\",\"byte_fallback\":true,\"unk_token\":\"<unk>\",\"vocab\":{"
        "\"<unk>\":0,\"<s>\":1,\"_\":2,\"a\":3,\"b\":4,\"ab\":5,\"_ab\":6,\"<0xC3>\":7,"
        "\"<0xA9>\":8,\"ba\":9},\"merges\":[[\"a\",\"b\"],\"_ ab\",[\"b\",\"a\"]]}}";
    char path[] = "/tmp/tosac-tokenizer-XXXXXX";
    CHECK(mkstemp(path) >= 0);
    write_text(path, json);
    tc_ctx *ctx = tc_ctx_new();
    tc_tokenizer *t = tokenizer_of(ctx, path);
    CHECK(encodes(ctx, t, "ab ab", (int64_t[]){1, 6, 6}, 3));
    CHECK(encodes(ctx, t, "bab", (int64_t[]){1, 2, 4, 5}, 4));
    CHECK(encodes(ctx, t, "a\xc3\xa9", (int64_t[]){1, 2, 3, 7, 8}, 5));
    CHECK(encodes(ctx, t, "z", (int64_t[]){1, 2, 0}, 3));
    tc_bytes text;
    CHECK(tc_tokenizer_decode(ctx, t, (int64_t[]){6, 6, 7, 8}, 4, 0, &text) == TC_OK &&
          strcmp((const char *)text.data, "ab ab\xc3\xa9") == 0);
    CHECK(tc_tokenizer_decode(ctx, t, (int64_t[]){6}, 1, 1, &text) == TC_OK &&
          strcmp((const char *)text.data, " ab") == 0);
    write_text(path, "{\"model\":{\"type\":\"Sponge\",\"vocab\":{\"a\":0}}}");
    CHECK(tc_tokenizer_open(ctx, path, &t) == TC_UNSUPPORTED &&
          strstr(tc_diagnostics(ctx), "'Sponge'"));
    write_text(path, "{\"model\":{\"type\":\"Unigram\",\"vocab\":{\"a\":0}}}");
    CHECK(tc_tokenizer_open(ctx, path, &t) == TC_BAD_MODEL);
    write_text(path, "{\"normalizer\":{\"type\":\"Precompiled\","
                     "\"precompiled_charsmap\":\"AAEAAA==\"},"
                     "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0}}}");
    CHECK(tc_tokenizer_open(ctx, path, &t) == TC_BAD_MODEL &&
          strstr(tc_diagnostics(ctx), "'precompiled_charsmap'"));
    write_text(path, "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?<=a)b\"}},"
                     "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0}}}");
    CHECK(tc_tokenizer_open(ctx, path, &t) == TC_UNSUPPORTED &&
          strstr(tc_diagnostics(ctx), "an unsupported kind of group"));
    write_text(path, "{\"model\":");
    CHECK(tc_tokenizer_open(ctx, path, &t) == TC_BAD_MODEL);
    tc_ctx_free(ctx);
    remove(path);
}

/* ---- models ---- */

static tc_model *open(tc_ctx *ctx, const char *name)
{
    tc_model *model = NULL;
    char path[256];
    snprintf(path, sizeof path, FOLDER "%s.pt2", name);
    CHECK(tc_model_open(ctx, path, NULL, &model) == TC_OK);
    return model;
}

static tc_dataset *data_of(tc_ctx *ctx, const char *file)
{
    tc_dataset *data = NULL;
    char path[256];
    const char *one = path;
    snprintf(path, sizeof path, FOLDER "%s", file);
    CHECK(tc_dataset_open(ctx, &one, 1, &data) == TC_OK);
    return data;
}

static tc_bytes program_of(tc_ctx *ctx, const char *target, const char *config)
{
    static const char *const name[] = {"prefill", "decode"};
    static const char *const calib[] = {"calib-prefill.npz", "calib-decode.npz"};
    tc_compiled *c = NULL;
    size_t n;
    for (int i = 0; i < 2; i++) {
        tc_compile_options o = tc_compile_options_default();
        o.target = target;
        o.quant.config = config;
        o.method = name[i];
        o.beside = c;
        o.quant.samples = config ? data_of(ctx, calib[i]) : NULL;
        tc_status status = tc_compile(ctx, open(ctx, name[i]), &o, &c);
        if (status != TC_OK)
            fprintf(stderr, "%s", tc_diagnostics(ctx));
        CHECK(status == TC_OK);
    }
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_PTE, &n) == TC_OK);
    return tc_compiled_bytes(c, 0);
}

static const tc_model *method(tc_ctx *ctx, tc_bytes pte, const char *name)
{
    tc_model_options o = tc_model_options_default();
    tc_model *model = NULL;
    o.method = name;
    CHECK(tc_model_read(ctx, "lm.pte", pte, &o, &model) == TC_OK);
    return model;
}

/* The first n tokens of a text, continued to `to` of them. */
static tc_generated go_on(tc_ctx *ctx, const tc_model *const *methods, size_t n_method,
                          const int64_t *text, size_t n, size_t to)
{
    tc_generate_options o = tc_generate_options_default();
    tc_generated g = tc_generated_default();
    o.method = methods;
    o.n_method = n_method;
    o.prompt = text;
    o.n_prompt = n;
    o.n = to - n;
    o.stop = -1;
    tc_status status = tc_generate(ctx, &o, &g);
    if (status != TC_OK)
        fprintf(stderr, "%s", tc_diagnostics(ctx));
    CHECK(status == TC_OK && g.n == to - n);
    return g;
}

/* PyTorch's greedy text: 64 tokens, the first of them the prompt. */
static const int64_t *reference(tc_ctx *ctx, size_t *n_prompt)
{
    tc_tokenizer *t = tokenizer_of(ctx, FOLDER "tokenizer.json");
    static int64_t made[64];
    const int64_t *prompt = NULL;
    FILE *f = fopen(FOLDER "made.txt", "r");
    CHECK(f);
    for (int i = 0; f && i < 64; i++) {
        long long v = 0;
        CHECK(fscanf(f, "%lld", &v) == 1);
        made[i] = v;
    }
    if (f)
        fclose(f);
    CHECK(tc_tokenizer_encode(ctx, t, bytes_of("The program "), 1, &prompt, n_prompt) == TC_OK &&
          memcmp(prompt, made, *n_prompt * sizeof *made) == 0);
    return made;
}

static bool agrees(tc_generated g, const int64_t *want, size_t n)
{
    return g.n >= n && memcmp(g.token, want, n * sizeof *want) == 0;
}

/* Whole windows, steps, and a program with both: PyTorch's tokens. */
static void same_text(void)
{
    tc_ctx *ctx = tc_ctx_new();
    size_t n;
    const int64_t *made = reference(ctx, &n);
    const tc_model *forward = open(ctx, "forward"), *decode = open(ctx, "decode");
    tc_generated g = go_on(ctx, &forward, 1, made, n, 64);
    CHECK(agrees(g, made + n, 64 - n) && g.windows == 64 - n && g.steps == 0 && g.context == 0);
    g = go_on(ctx, &decode, 1, made, n, 64);
    CHECK(agrees(g, made + n, 64 - n) && g.windows == 0 && g.steps == 63 && g.context == 64);
    tc_bytes pte = program_of(ctx, "cpu", NULL);
    const tc_model *both[] = {method(ctx, pte, "decode"), method(ctx, pte, "prefill")};
    g = go_on(ctx, both, 2, made, n, 64);
    CHECK(agrees(g, made + n, 64 - n) && g.windows == 1 && g.steps == 63 - n);
    /* A prompt of 40 tokens: two windows of 16 and one of 8. */
    g = go_on(ctx, both, 2, made, 40, 64);
    CHECK(agrees(g, made + 40, 24) && g.windows == 3 && g.steps == 23);
    /* At place 50 a window would reach past the end: three of them, then steps. */
    g = go_on(ctx, both, 2, made, 50, 64);
    CHECK(agrees(g, made + 50, 14) && g.windows == 4 && g.steps == 13);
    tc_ctx_free(ctx);
}

static void set_inputs(tc_program *p, const int64_t *token, size_t n, int64_t place)
{
    memcpy(tc_program_input_buffer(p, 0), token, n * sizeof *token);
    memcpy(tc_program_input_buffer(p, 1), &place, sizeof place);
}

static tc_program *ready(tc_ctx *ctx, const tc_model *model)
{
    tc_program *p = NULL;
    CHECK(tc_program_new(ctx, model, NULL, &p) == TC_OK);
    return p;
}

/* Signal to noise of the scores behind a step, in dB. */
static double distance(tc_program *a, tc_program *b)
{
    const float *x = tc_program_result(a, 0).data, *y = tc_program_result(b, 0).data;
    double signal = 0, noise = 0;
    for (int i = 0; i < 384; i++) {
        signal += (double)x[i] * (double)x[i];
        noise += (double)(x[i] - y[i]) * (double)(x[i] - y[i]);
    }
    return 10 * log10(signal / noise);
}

/* Integers: a step behind a window reads the window's cache as one behind steps reads theirs, and
 * both are as near to float as 16 bits are; so is the perplexity. */
static void integers(void)
{
    tc_ctx *ctx = tc_ctx_new();
    size_t n, taken = 0;
    const int64_t *made = reference(ctx, &n);
    tc_bytes pte = program_of(ctx, "TOSA-1.0+INT+int16", "a16w8");
    const tc_model *program[] = {open(ctx, "decode"), method(ctx, pte, "decode")};
    tc_program *window = ready(ctx, method(ctx, pte, "prefill")), *behind = ready(ctx, program[1]),
               *steps = ready(ctx, program[1]), *real = ready(ctx, program[0]);
    set_inputs(window, made, 16, 0);
    CHECK(tc_program_run(window) == TC_OK);
    CHECK(tc_program_take_state(behind, window, &taken) == TC_OK && taken == 4);
    for (size_t i = 0; i < 20; i++) {
        set_inputs(steps, made + i, 1, (int64_t)i);
        set_inputs(real, made + i, 1, (int64_t)i);
        set_inputs(behind, made + i, 1, (int64_t)i);
        CHECK(tc_program_run(steps) == TC_OK && tc_program_run(real) == TC_OK);
        CHECK(i < 16 || tc_program_run(behind) == TC_OK);
        CHECK(distance(real, steps) > 32 && (i < 16 || distance(real, behind) > 32));
    }
    tc_evaluate_options o = tc_evaluate_options_default();
    tc_evaluation *e = NULL;
    tc_evaluated exact = tc_evaluated_default(), rounded = exact;
    o.program = program;
    o.n_program = 2;
    o.perplexity = 1;
    o.data = data_of(ctx, "calib-decode.npz");
    tc_dataset_limit(o.data, 256);
    CHECK(tc_evaluate(ctx, &o, &e) == TC_OK && tc_evaluation_program(e, 0, &exact) &&
          tc_evaluation_program(e, 1, &rounded));
    CHECK(rounded.perplexity < 1.01 * exact.perplexity);
    tc_ctx_free(ctx);
}

static tc_status stop_at_third(void *user, int64_t token)
{
    (void)token;
    return ++*(int *)user == 3 ? TC_CANCELLED : TC_OK;
}

static void choices(void)
{
    tc_ctx *ctx = tc_ctx_new();
    size_t n;
    const int64_t *made = reference(ctx, &n);
    const tc_model *decode = open(ctx, "decode");
    tc_generate_options o = tc_generate_options_default();
    tc_generated a = tc_generated_default(), b = a, other = a, one = a, ended = a;
    o.method = &decode;
    o.n_method = 1;
    o.prompt = made;
    o.n_prompt = n;
    o.n = 20;
    o.stop = -1;
    o.temperature = 1.5;
    o.seed = 7;
    CHECK(tc_generate(ctx, &o, &a) == TC_OK && tc_generate(ctx, &o, &b) == TC_OK);
    CHECK(agrees(a, b.token, 20)); /* the same seed, the same text */
    o.seed = 8;
    CHECK(tc_generate(ctx, &o, &other) == TC_OK && !agrees(other, a.token, 20));
    o.top_k = 1;
    CHECK(tc_generate(ctx, &o, &one) == TC_OK && agrees(one, made + n, 20));
    o.stop = made[n + 5];
    CHECK(tc_generate(ctx, &o, &ended) == TC_OK && ended.n <= 5);
    o.stop = -1;
    o.n = 200; /* the context ends it: the last token has no place */
    CHECK(tc_generate(ctx, &o, &ended) == TC_OK && ended.n == 65 - n && ended.context == 64);
    int told = 0;
    o.on_token = stop_at_third;
    o.user = &told;
    CHECK(tc_generate(ctx, &o, &ended) == TC_CANCELLED && told == 3);
    o.on_token = NULL;
    o.prompt = (int64_t[]){5000};
    o.n_prompt = 1;
    CHECK(tc_generate(ctx, &o, &ended) == TC_USAGE);
    tc_ctx_free(ctx);
}

/* By windows and by steps: the same tokens are predicted equally well. */
static void perplexity(void)
{
    tc_ctx *ctx = tc_ctx_new();
    const tc_model *program = open(ctx, "forward");
    tc_evaluate_options o = tc_evaluate_options_default();
    tc_evaluation *e = NULL;
    tc_evaluated by_window = tc_evaluated_default(), by_step = by_window;
    o.program = &program;
    o.n_program = 1;
    o.perplexity = 1;
    o.data = data_of(ctx, "calib.npy");
    tc_dataset_limit(o.data, 4);
    CHECK(tc_evaluate(ctx, &o, &e) == TC_OK && tc_evaluation_program(e, 0, &by_window));
    program = open(ctx, "decode");
    o.data = data_of(ctx, "calib-decode.npz");
    tc_dataset_limit(o.data, 256);
    CHECK(tc_evaluate(ctx, &o, &e) == TC_OK && tc_evaluation_program(e, 0, &by_step));
    CHECK(by_window.predicted == 4 * 63 && by_step.predicted == by_window.predicted);
    CHECK(by_window.perplexity > 1 && by_window.perplexity < 384 / 4);
    CHECK(fabs(by_step.perplexity / by_window.perplexity - 1) < 1e-4);
    o.labels = "by-folder";
    CHECK(tc_evaluate(ctx, &o, &e) == TC_USAGE);
    tc_ctx_free(ctx);
}

int main(void)
{
    there_and_back();
    characters();
    same_text();
    integers();
    choices();
    perplexity();
    return check_done();
}
