/* SPDX-License-Identifier: Apache-2.0 */
/* api_threads.c -- samples over threads: the same bytes on one, two and five of them, with more
 * samples than threads and fewer; mistakes are those of the first sample that has one. */
#include "tosac/tosac.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { COUNTS = 3, SAMPLES = 40, FEW = 3, BYTES = 1 << 16 };
static const int threads_of[COUNTS] = {1, 2, 5};

static const char SUM[] = "graph @main(%0 \"x\": f32[1,3]) {\n"
                          "  %1 \"total\" = const [0, 0, 0] : f32[1,3]\n"
                          "  %2 \"sum\" = add %1, %0 alpha=1 : f32[1,3]\n"
                          "  mutate %1 -> %2\n"
                          "  return %2\n"
                          "}\n";
/* A row of a table; numbers 0 and 1 alone are in it. */
static const char ROW[] = "graph @main(%0 \"at\": i64[2]) {\n"
                          "  %1 = const [1, 2, 3, 4] : f32[2,2]\n"
                          "  %2 \"row\" = embedding %1, %0 : f32[2,2]\n"
                          "  %3 \"sum\" = add %2, %2 alpha=1 : f32[2,2]\n"
                          "  return %3\n"
                          "}\n";

static tc_ctx *with_threads(int threads)
{
    tc_ctx_options o = tc_ctx_options_default();
    o.threads = threads;
    return tc_ctx_new_with(&o);
}

static tc_model *graph(tc_ctx *ctx, const char *text)
{
    tc_model *m = NULL;
    CHECK(tc_model_read(ctx, "t.ir", (tc_bytes){(const uint8_t *)text, strlen(text)}, NULL, &m) ==
          TC_OK);
    return m;
}

static tc_model *digits(tc_ctx *ctx)
{
    tc_model *m = NULL;
    CHECK(tc_model_open(ctx, TOSAC_FIXTURES "/digits/model.pt2", NULL, &m) == TC_OK);
    return m;
}

static tc_dataset *files(tc_ctx *ctx, const char *path, size_t most)
{
    tc_dataset *data = NULL;
    CHECK(tc_dataset_open(ctx, &path, 1, &data) == TC_OK);
    tc_dataset_limit(data, most);
    return data;
}

static tc_model *quantized(tc_ctx *ctx, const tc_model *model)
{
    tc_model *out = NULL;
    tc_quantize_options o = tc_quantize_options_default();
    o.samples = files(ctx, TOSAC_FIXTURES "/digits/calib.npz", SAMPLES);
    CHECK(tc_quantize_model(ctx, model, &o, &out, NULL) == TC_OK);
    return out;
}

/* Made by test_quantize(), for the others to read. */
static char *text_of_typed;
static size_t size_of_typed;

static const tc_model *typed(tc_ctx *ctx)
{
    tc_model *m = NULL;
    CHECK(tc_model_read(ctx, "typed.ir",
                        (tc_bytes){(const uint8_t *)text_of_typed, size_of_typed}, NULL,
                        &m) == TC_OK);
    return m;
}

/* What a run has handed over, in the order in which it came. */
typedef struct log {
    uint8_t bytes[BYTES];
    size_t n, samples;
    size_t stop; /* at this sample; 0: never */
    bool in_order;
} log;

static tc_status write_down(void *user, const tc_sample_result *r)
{
    log *l = user;
    size_t size = tc_type_bytes(r->out[0].type);
    l->in_order = l->in_order && r->index == l->samples && r->seconds >= 0 && r->in[0].data;
    l->samples++;
    if (l->n + size <= BYTES)
        memcpy(l->bytes + l->n, r->out[0].data, size);
    l->n += size;
    return l->stop && r->index == l->stop ? TC_TOOL : TC_OK;
}

static tc_status run_all(tc_ctx *ctx, const tc_model *model, tc_dataset *data, bool reset, log *out)
{
    tc_program *p = NULL;
    tc_run_data_options o = tc_run_data_options_default();
    size_t n = 0;
    size_t stop = out->stop;
    *out = (log){.in_order = true, .stop = stop};
    o.reset = reset;
    o.on_result = write_down;
    o.user = out;
    CHECK(tc_program_new(ctx, model, NULL, &p) == TC_OK);
    CHECK(tc_program_run_data(p, data, &o) == TC_USAGE); /* not bound yet */
    CHECK(tc_program_bind_data(p, data, &n, NULL, NULL) == TC_OK);
    return tc_program_run_data(p, data, &o);
}

static log logs[COUNTS];

static bool all_same(void)
{
    for (int i = 1; i < COUNTS; i++)
        if (logs[i].n != logs[0].n || memcmp(logs[i].bytes, logs[0].bytes, logs[0].n) != 0 ||
            !logs[i].in_order)
            return false;
    return logs[0].n > 0 && logs[0].n <= BYTES && logs[0].in_order;
}

/* Float, typed and TOSA; many samples, few, and one. */
static void test_run(void)
{
    static const size_t most[] = {SAMPLES, FEW, 1};
    for (size_t k = 0; k < sizeof most / sizeof *most; k++)
        for (int form = 0; form < 3; form++) {
            for (int i = 0; i < COUNTS; i++) {
                tc_ctx *ctx = with_threads(threads_of[i]);
                const tc_model *m = form ? typed(ctx) : digits(ctx);
                tc_compiled *compiled = NULL;
                tc_compile_options o = tc_compile_options_default();
                o.target = "TOSA-1.0+INT";
                if (form == 2) {
                    CHECK(tc_compile(ctx, m, &o, &compiled) == TC_OK);
                    m = tc_compiled_model(compiled);
                }
                tc_dataset *data = files(ctx, TOSAC_FIXTURES "/digits/test.npz", most[k]);
                CHECK(run_all(ctx, m, data, false, &logs[i]) == TC_OK);
                CHECK(logs[i].samples == most[k]);
                tc_ctx_free(ctx);
            }
            CHECK(all_same());
        }
}

static tc_status count_up(void *user, size_t k, const tc_tensor *in, size_t n_in)
{
    (void)user, (void)n_in;
    for (int i = 0; i < 3; i++)
        ((float *)in[0].data)[i] = (float)(k + 1);
    return TC_OK;
}

/* A second program of a model whose first one has packed its constants gives the same. */
static void test_twice(void)
{
    tc_ctx *ctx = with_threads(2);
    const tc_model *m = digits(ctx);
    for (int i = 0; i < COUNTS; i++) {
        tc_dataset *data = files(ctx, TOSAC_FIXTURES "/digits/test.npz", FEW);
        CHECK(run_all(ctx, m, data, false, &logs[i]) == TC_OK);
    }
    CHECK(all_same());
    tc_ctx_free(ctx);
}

/* What a program remembers goes from sample to sample; with a reset none of it does. */
static void test_state(void)
{
    for (int reset = 0; reset < 2; reset++) {
        for (int i = 0; i < COUNTS; i++) {
            tc_ctx *ctx = with_threads(threads_of[i]);
            tc_dataset *data = NULL;
            CHECK(tc_dataset_new(ctx, 9, count_up, NULL, &data) == TC_OK);
            CHECK(run_all(ctx, graph(ctx, SUM), data, reset, &logs[i]) == TC_OK);
            float last;
            memcpy(&last, logs[i].bytes + 8 * 12, sizeof last);
            CHECK(last == (reset ? 9 : 45));
            tc_ctx_free(ctx);
        }
        CHECK(all_same());
    }
}

/* Samples from `bad` on hold an index that no table has; `unread` cannot be had at all. */
typedef struct rows {
    size_t bad, unread;
} rows;

static tc_status give_rows(void *user, size_t k, const tc_tensor *in, size_t n_in)
{
    const rows *r = user;
    (void)n_in;
    ((int64_t *)in[0].data)[0] = 1;
    ((int64_t *)in[0].data)[1] = k < r->bad ? (int64_t)(k & 1) : (int64_t)(100 + k);
    return k == r->unread ? TC_TOOL : TC_OK;
}

static bool says(tc_ctx *ctx, const char *words)
{
    size_t n = tc_diagnostic_count(ctx);
    return n == 1 && strstr(tc_diagnostic_at(ctx, 0)->text, words);
}

/* The first sample that fails is told, once, after all before it were handed over. */
static void test_mistakes(void)
{
    for (int i = 0; i < COUNTS * 4; i++) { /* several times: threads meet as they like */
        int threads = threads_of[i % COUNTS];
        rows r[] = {{6, 100}, {8, 7}, {6, 7}};
        tc_dataset *data = NULL;
        tc_comparison *compared = NULL;
        log *l = &logs[0];
        for (int k = 0; k < 3; k++) {
            tc_ctx *ctx = with_threads(threads);
            CHECK(tc_dataset_new(ctx, 20, give_rows, &r[k], &data) == TC_OK);
            tc_status status = run_all(ctx, graph(ctx, ROW), data, false, l);
            CHECK(status == (k == 1 ? TC_TOOL : TC_BAD_MODEL));
            CHECK(l->samples == (k == 1 ? 7U : 6U) && l->in_order);
            CHECK(tc_diagnostic_count(ctx) == (k == 1 ? 1U : 2U)); /* the first is 'not bound' */
            CHECK(k == 1 || strstr(tc_diagnostic_at(ctx, 1)->text, "index 106 is outside"));
            tc_ctx_free(ctx);

            ctx = with_threads(threads);
            tc_model *m = graph(ctx, ROW);
            CHECK(tc_dataset_new(ctx, 20, give_rows, &r[k], &data) == TC_OK);
            status = tc_compare_models(ctx, m, m, data, &compared);
            CHECK(status == (k == 1 ? TC_TOOL : TC_BAD_MODEL));
            CHECK(k == 1 || says(ctx, "index 106 is outside"));
            tc_ctx_free(ctx);
        }
        l->stop = 5; /* whoever takes results may have enough */
        tc_ctx *ctx = with_threads(threads);
        CHECK(tc_dataset_new(ctx, 20, give_rows, &r[1], &data) == TC_OK);
        CHECK(run_all(ctx, graph(ctx, ROW), data, false, l) == TC_TOOL && l->samples == 6);
        l->stop = 0;
        tc_ctx_free(ctx);
    }
}

static void test_compare(void)
{
    static double seen[COUNTS][512];
    size_t n[COUNTS] = {0};
    for (int i = 0; i < COUNTS; i++) {
        tc_ctx *ctx = with_threads(threads_of[i]);
        tc_comparison *c = NULL;
        tc_compared_value v = tc_compared_value_default();
        tc_dataset *data = files(ctx, TOSAC_FIXTURES "/digits/test.npz", SAMPLES);
        CHECK(tc_compare_models(ctx, digits(ctx), typed(ctx), data, &c) == TC_OK);
        CHECK(tc_comparison_samples(c) == SAMPLES);
        for (size_t k = 0; tc_comparison_value(c, k, &v) && n[i] + 3 <= 512; k++) {
            seen[i][n[i]++] = v.sqnr_db;
            seen[i][n[i]++] = v.cosine;
            seen[i][n[i]++] = v.max_error;
        }
        CHECK(n[i] > 10 && n[i] == n[0] && !memcmp(seen[i], seen[0], n[0] * sizeof(double)));
        tc_ctx_free(ctx);
    }
}

static void test_evaluate(void)
{
    tc_evaluated first[2] = {{0}};
    for (int i = 0; i < COUNTS; i++) {
        tc_ctx *ctx = with_threads(threads_of[i]);
        const tc_model *both[2] = {digits(ctx), typed(ctx)};
        tc_evaluation *e = NULL;
        tc_evaluate_options o = tc_evaluate_options_default();
        o.program = both;
        o.n_program = 2;
        o.data = files(ctx, TOSAC_FIXTURES "/digits/test.npz", 0);
        o.labels = TOSAC_FIXTURES "/digits/test_label.npy";
        CHECK(tc_evaluate(ctx, &o, &e) == TC_OK);
        for (size_t k = 0; k < 2; k++) {
            tc_evaluated r = tc_evaluated_default();
            CHECK(tc_evaluation_program(e, k, &r) && r.n == 1000 && r.right > 900);
            if (!i)
                first[k] = r;
            CHECK(r.right == first[k].right && r.agree == first[k].agree &&
                  r.sqnr_db == first[k].sqnr_db && r.gain == first[k].gain);
        }
        tc_ctx_free(ctx);
    }
}

static void test_quantize(void)
{
    for (int i = 0; i < COUNTS; i++) {
        tc_ctx *ctx = with_threads(threads_of[i]);
        tc_bytes text = {0};
        CHECK(tc_model_text(ctx, quantized(ctx, digits(ctx)), 1, &text) == TC_OK);
        if (!i) {
            text_of_typed = malloc(text.size);
            size_of_typed = text.size;
            memcpy(text_of_typed, text.data, text.size);
        }
        CHECK(text.size == size_of_typed && !memcmp(text.data, text_of_typed, text.size));
        tc_ctx_free(ctx);
    }
}

int main(void)
{
    test_quantize();
    test_run();
    test_twice();
    test_state();
    test_mistakes();
    test_compare();
    test_evaluate();
    free(text_of_typed);
    return check_done();
}
