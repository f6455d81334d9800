/* SPDX-License-Identifier: Apache-2.0 */
/* api_mistakes.c -- what callers get wrong: the status that comes back, and words that say what. */
#include "tosac/tosac.h"

#include <string.h>
#include <unistd.h>

#include "check.h"

#define DIGITS TOSAC_FIXTURES "/digits/"

/* Whether the call failed so, and its last error has these words. */
static bool says(tc_ctx *ctx, tc_status got, tc_status wanted, const char *words)
{
    const char *text = "";
    for (size_t i = 0; i < tc_diagnostic_count(ctx); i++)
        if (tc_diagnostic_at(ctx, i)->severity == TC_SEVERITY_ERROR)
            text = tc_diagnostic_at(ctx, i)->text;
    bool good = got == wanted && strstr(text, words);
    if (!good)
        fprintf(stderr, "status %d, wanted %d with '%s'; said '%s'\n", (int)got, (int)wanted, words,
                text);
    return good;
}

static tc_model *graph(tc_ctx *ctx, const char *text)
{
    tc_model *m = NULL;
    CHECK(tc_model_read(ctx, "t.ir", (tc_bytes){(const uint8_t *)text, strlen(text)}, NULL, &m) ==
          TC_OK);
    return m;
}

static tc_dataset *data_of(tc_ctx *ctx, const char *path)
{
    tc_dataset *data = NULL;
    CHECK(tc_dataset_open(ctx, &path, 1, &data) == TC_OK);
    return data;
}

static const char ABS[] = "graph @main(%0 \"x\": f32[1,3]) {\n"
                          "  %1 \"y\" = abs %0 : f32[1,3]\n"
                          "  return %1\n}\n";
static const char SUM[] = "graph @main(%0 \"x\": f32[1,3]) {\n"
                          "  %1 \"z\" = sum %0 axes=[1] keepdim=false : f32[1]\n"
                          "  return %1\n}\n";

/* Entries of settings, one mistake in each. */
static void test_settings(tc_ctx *ctx)
{
    const struct {
        tc_quant_entry entry;
        const char *words;
    } row[] = {
        {{.scope = (tc_scope)77}, "unknown scope 77"},
        {{.scope = TC_SCOPE_NODE}, "needs a name"},
        {{.scope = TC_SCOPE_GLOBAL, .name = "x"}, "has no name"},
        {{.has = TC_ENTRY_DTYPE, .dtype = TC_f32}, "element type is f32"},
        {{.has = TC_ENTRY_RANGE, .qmin = 5, .qmax = 5}, "qmin and qmax are 5 to 5"},
        {{.has = TC_ENTRY_OBSERVER, .observer = (tc_observer_kind)9}, "unknown observer 9"},
        {{.has = TC_ENTRY_OBSERVER, .observer = TC_OBSERVE_PERCENTILE, .percentile = 50},
         "above 50 and at most 100"},
        {{.has = TC_ENTRY_FLOOR}, "scale or floor must be above 0"},
        {{.has = TC_ENTRY_FIXED, .scale = -1}, "scale or floor must be above 0"},
        {{.has = TC_ENTRY_GROUP, .group = -4}, "group has -4 input channels"},
    };
    tc_config *config;
    CHECK(tc_config_open(ctx, "int8", &config) == TC_OK);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        tc_quant_entry entry = row[i].entry;
        entry.size = sizeof entry;
        CHECK(says(ctx, tc_config_add_entry(ctx, config, &entry), TC_USAGE, row[i].words));
    }
    CHECK(says(ctx, tc_config_open(ctx, "int7", &config), TC_USAGE, "'int7' is not a preset"));
}

static tc_status nothing(void *user, size_t k, const tc_tensor *in, size_t n)
{
    (void)user;
    (void)k;
    (void)in;
    (void)n;
    return TC_OK;
}

static void test_data(tc_ctx *ctx)
{
    tc_dataset *data;
    float row[3] = {0};
    tc_tensor t = {NULL, row};
    size_t n = 0;
    CHECK(says(ctx, tc_dataset_new(ctx, 4, NULL, NULL, &data), TC_USAGE,
               "needs a function that reads samples"));
    CHECK(tc_dataset_new(ctx, 4, nothing, NULL, &data) == TC_OK);
    CHECK(says(ctx, tc_dataset_sample(ctx, data, 0, &t, 1), TC_USAGE, "not bound to a model"));
    CHECK(tc_dataset_bind(ctx, data, graph(ctx, ABS), &n, NULL, NULL) == TC_OK && n == 4);
    CHECK(says(ctx, tc_dataset_sample(ctx, data, 4, &t, 1), TC_USAGE, "there are 4 with 1"));
    CHECK(says(ctx, tc_dataset_sample(ctx, data, 0, &t, 2), TC_USAGE, "sample 0 with 2 tensors"));
    CHECK(!tc_dataset_file(data, 0));
}

/* Arrays that cannot be, and numbers of another type than the array's. */
static void test_arrays(tc_ctx *ctx)
{
    char path[64], bare[72];
    tc_npy_writer *w;
    int64_t dim[] = {2};
    uint8_t bits[4] = {0x38, 0xc0}; /* 1 and -2 as e4m3 */
    tc_type type = {.dtype = TC_e4m3, .rank = 1, .dim = {2}}, other = {.dtype = TC_i8, .rank = 0};
    snprintf(path, sizeof path, "/tmp/tosac-mistakes-%ld.npy", (long)getpid());
    CHECK(says(ctx, tc_npy_create(ctx, path, TC_none, 0, 1, dim, &w), TC_USAGE,
               "no array of that type or rank"));
    CHECK(says(ctx, tc_npy_create(ctx, path, TC_f32, 0, 99, dim, &w), TC_USAGE,
               "no array of that type or rank"));
    CHECK(says(ctx, tc_npy_create(ctx, "/nowhere/x.npy", TC_f32, 0, 1, dim, &w), TC_BAD_MODEL,
               "No such file or directory"));
    CHECK(tc_npy_create(ctx, path, TC_e4m3, 0, 1, dim, &w) == TC_OK);
    CHECK(says(ctx, tc_npy_append(w, &(tc_tensor){&other, bits}), TC_USAGE, "not i8"));
    CHECK(tc_npy_append(w, &(tc_tensor){&type, bits}) == TC_OK && tc_npy_commit(w) == TC_OK);
    const char *shown = NULL;
    CHECK(tc_inspect_file(ctx, path, TC_FORM_TEXT, &shown) == TC_OK);
    CHECK(shown && strstr(shown, "float32[2]")); /* NumPy has no e4m3 */
    CHECK(says(ctx, tc_npy_create(ctx, path, TC_f32, 0, 1, dim, &w), TC_USAGE, "would be overwritten"));
    const tc_dtype raw[] = {TC_bf16, TC_e4m3, TC_e5m2};
    for (size_t i = 0; i < 3; i++) { /* their bits, as they are */
        type.dtype = raw[i];
        snprintf(bare, sizeof bare, "%s.%zu", path, i);
        CHECK(tc_npy_create(ctx, bare, raw[i], 1, 1, dim, &w) == TC_OK);
        CHECK(tc_npy_append(w, &(tc_tensor){&type, bits}) == TC_OK && tc_npy_commit(w) == TC_OK);
        CHECK(unlink(bare) == 0);
    }
    CHECK(tc_make_folder(ctx, "/tmp") == TC_OK);
    CHECK(says(ctx, tc_make_folder(ctx, path), TC_BAD_MODEL, "a folder is expected here"));
    unlink(path);
}

static void test_evaluation(tc_ctx *ctx)
{
    tc_evaluation *e;
    tc_evaluate_options r = tc_evaluate_options_default();
    CHECK(says(ctx, tc_evaluate(ctx, &r, &e), TC_USAGE, "a program and data"));
    const tc_model *one[] = {graph(ctx, SUM)}, *two[] = {graph(ctx, ABS), NULL};
    two[1] = graph(ctx, "graph @main(%0 \"x\": f32[1,3]) {\n"
                        "  %1 = slice %0 axis=1 start=0 end=2 step=1 : f32[1,2]\n"
                        "  return %1\n}\n");
    r.program = one;
    r.n_program = 1;
    r.data = data_of(ctx, "random:1");
    CHECK(says(ctx, tc_evaluate(ctx, &r, &e), TC_BAD_MODEL, "not a list of scores"));
    r.program = two;
    r.n_program = 2;
    CHECK(says(ctx, tc_evaluate(ctx, &r, &e), TC_BAD_MODEL, "of 2 classes, the reference has"));
    r.n_program = 1;
    CHECK(tc_evaluate(ctx, &r, &e) == TC_OK && !tc_evaluation_has_labels(e));
    tc_evaluated v = tc_evaluated_default();
    tc_confusion c = tc_confusion_default();
    CHECK(tc_evaluation_program(e, 0, &v) && v.agree == v.n && v.classes == 3 && v.right == 0);
    CHECK(!tc_evaluation_program(e, 1, &v) && !tc_evaluation_confusion(e, 0, 0, &c));
    r.labels = DIGITS "test_logits.npy"; /* not whole numbers */
    CHECK(says(ctx, tc_evaluate(ctx, &r, &e), TC_BAD_MODEL, "one array of integers"));
    r.labels = DIGITS "test_label.npy";
    CHECK(says(ctx, tc_evaluate(ctx, &r, &e), TC_BAD_MODEL, "1000 labels for"));
}

static void test_programs(tc_ctx *ctx)
{
    tc_model *a = graph(ctx, ABS), *b = graph(ctx, SUM), *model;
    tc_comparison *c;
    tc_compiled *compiled;
    tc_profile *profile;
    tc_compile_options o = tc_compile_options_default();
    tc_report_options page = tc_report_options_default();
    tc_bytes bytes;
    const char *text;
    CHECK(says(ctx, tc_compare_models(ctx, a, b, data_of(ctx, "random:1"), &c), TC_BAD_MODEL,
               "no value in common"));
    CHECK(says(ctx, tc_target_check(ctx, NULL), TC_USAGE, "the target is missing"));
    CHECK(says(ctx, tc_compile(ctx, a, &o, &compiled), TC_USAGE, "the target is missing"));
    o.target = "TOSA-1.0+INT";
    CHECK(says(ctx, tc_compile(ctx, a, &o, &compiled), TC_USAGE, "calibration data is missing"));
    o.target = "cpu";
    CHECK(tc_compile(ctx, a, &o, &compiled) == TC_OK);
    CHECK(says(ctx, tc_compiled_make(ctx, compiled, TC_OUTPUT_TOSA, NULL), TC_BAD_MODEL,
               "no operator goes to 'cpu'"));
    CHECK(says(ctx, tc_compiled_make(ctx, compiled, TC_OUTPUT_VGF, NULL), TC_BAD_MODEL,
               "0 regions, but a .vgf file holds one"));
    CHECK(says(ctx, tc_compiled_make(ctx, compiled, TC_OUTPUT_STREAM, NULL), TC_USAGE,
               "for Ethos-U targets, not for 'cpu'"));
    CHECK(says(ctx, tc_compiled_make(ctx, compiled, (tc_output)99, NULL), TC_USAGE,
               "unknown kind of file 99"));
    CHECK(says(ctx, tc_compiled_report(ctx, compiled, (tc_report_kind)99, &text), TC_USAGE,
               "unknown kind of report 99"));
    CHECK(says(ctx, tc_profile_new(ctx, compiled, &profile), TC_USAGE,
               "known for Ethos-U and Cortex-M targets only, not for 'cpu'"));
    CHECK(says(ctx, tc_profile_estimate(ctx, compiled, &profile), TC_USAGE,
               "known for Ethos-U and Cortex-M targets only, not for 'cpu'"));
    CHECK(says(ctx, tc_profile_open(ctx, DIGITS "model.pt2", NULL, &profile), TC_USAGE,
               "no Ethos-U command stream"));
    CHECK(says(ctx, tc_disassemble_file(ctx, DIGITS "model.pt2", TC_FORM_TEXT, &text), TC_USAGE,
               "no Ethos-U command stream"));
    CHECK(says(ctx, tc_report_make(ctx, &page, TC_REPORT_FORM_JSON, &bytes), TC_USAGE,
               "a report needs a model"));
    /* What has been split is not compiled again. */
    o.target = "TOSA-1.0+FP";
    CHECK(tc_compile(ctx, a, &o, &compiled) == TC_OK);
    CHECK(tc_model_text(ctx, tc_compiled_model(compiled), 1, &bytes) == TC_OK);
    CHECK(tc_model_read(ctx, "split.ir", bytes, NULL, &model) == TC_OK);
    CHECK(says(ctx, tc_compile(ctx, model, &o, &compiled), TC_UNSUPPORTED, "split into regions"));
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_settings(ctx);
    test_data(ctx);
    test_arrays(ctx);
    test_evaluation(ctx);
    test_programs(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
