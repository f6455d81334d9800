/* SPDX-License-Identifier: Apache-2.0 */
/* api_compile.c -- compiling as a caller does it: bytes and files, what went where, looking back.
 */
#include "tosac/tosac.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static tc_model *digits(tc_ctx *ctx)
{
    tc_model *model = NULL;
    CHECK(tc_model_open(ctx, TOSAC_FIXTURES "/digits/model.pt2", NULL, &model) == TC_OK);
    return model;
}

static tc_dataset *calib(tc_ctx *ctx)
{
    static const char *const file[] = {TOSAC_FIXTURES "/digits/calib.npz"};
    tc_dataset *data = NULL;
    CHECK(tc_dataset_open(ctx, file, 1, &data) == TC_OK);
    return data;
}

static tc_compiled *compiled_for(tc_ctx *ctx, const char *target, const char *cpu)
{
    tc_compiled *c = NULL;
    tc_compile_options o = tc_compile_options_default();
    o.target = target;
    o.quant.samples = calib(ctx);
    o.cpu = &cpu;
    o.n_cpu = cpu != NULL;
    CHECK(tc_compile(ctx, digits(ctx), &o, &c) == TC_OK);
    return c;
}

static bool same(tc_bytes a, tc_bytes b)
{
    return a.data && b.data && a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static tc_bytes load(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t room = 4 << 20;
    uint8_t *data = malloc(room);
    size_t n = file && data ? fread(data, 1, room, file) : 0;
    if (file)
        fclose(file);
    return (tc_bytes){data, n};
}

/* In memory and as a file, the same bytes, twice; they read back and keep TOSA's rules. */
static void test_bytes(tc_ctx *ctx)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/tosac-api-%ld.tosa", (long)getpid());
    tc_compiled *c = compiled_for(ctx, "TOSA-1.0+INT", NULL),
                *again = compiled_for(ctx, "TOSA-1.0+INT", NULL);
    size_t n = 0;
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_TOSA, &n) == TC_OK && n == 1);
    tc_bytes made = tc_compiled_bytes(c, 0), region;
    CHECK(made.size > 100000 && !tc_compiled_bytes(c, 1).data);
    CHECK(tc_compiled_write(ctx, again, TC_OUTPUT_TOSA, path) == TC_OK);
    tc_bytes file = load(path);
    CHECK(same(made, file));
    free((void *)(uintptr_t)file.data);
    unlink(path);
    snprintf(path, sizeof path, "/tmp/tosac-api-%ld.tosa.json", (long)getpid()); /* its borders */
    CHECK(unlink(path) == 0);
    CHECK(tc_compiled_region_tosa(ctx, c, 0, &region) == TC_OK && region.size < made.size &&
          memcmp(region.data, made.data, region.size) == 0 &&
          memcmp(made.data + region.size, "made by tosac ", 14) == 0);
    CHECK(tc_compiled_region_tosa(ctx, c, 1, &region) == TC_USAGE);

    tc_model *back;
    CHECK(tc_model_read(ctx, "x.tosa", made, NULL, &back) == TC_OK);
    CHECK(tc_verify_model(ctx, back, "TOSA-1.0+INT") == TC_OK);
    CHECK(tc_verify_model(ctx, back, "TOSA-1.0+FP") == TC_BAD_MODEL);
    CHECK(tc_model_get_stage(back) == TC_STAGE_LOWERED);
}

/* A certificate is of what was made last, and the same each time. */
static void test_certificate(tc_ctx *ctx)
{
    tc_compiled *c = compiled_for(ctx, "TOSA-1.0+FP", NULL);
    tc_certificate one = tc_certificate_default(), two = tc_certificate_default();
    CHECK(tc_compiled_certificate(ctx, c, &one) == TC_USAGE); /* nothing was made */
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_TOSA, NULL) == TC_OK);
    CHECK(tc_compiled_certificate(ctx, c, &one) == TC_OK && tc_compiled_certificate(ctx, c, &two) == TC_OK);
    CHECK(one.size == sizeof one && same(one.json, two.json) && same(one.program, two.program) && same(one.samples, two.samples));
    CHECK(one.json.size > 64 && memcmp(one.json.data, "{\n  \"certificate\": 1,", 21) == 0);
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_PTE, NULL) == TC_OK);
    CHECK(tc_compiled_certificate(ctx, c, &two) == TC_OK && !same(one.json, two.json));
    CHECK(tc_compiled_write_certificate(ctx, c, "/nowhere/c.json") != TC_OK);
}

/* A program can be made again and again, beside other kinds of files. */
static void test_kinds(tc_ctx *ctx)
{
    tc_compiled *c = compiled_for(ctx, "vgf", NULL);
    const char *text;
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_PTE, NULL) == TC_OK);
    tc_bytes first = tc_compiled_bytes(c, 0);
    tc_compiled_info info = {.size = sizeof info};
    tc_compiled_get_info(c, &info);
    CHECK(info.memory > 0 && info.bytes == first.size);
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_VGF, NULL) == TC_OK);
    CHECK(memcmp(tc_compiled_bytes(c, 0).data, "VGF1", 4) == 0);
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_IR, NULL) == TC_OK);
    CHECK(memcmp(tc_compiled_bytes(c, 0).data, "file \"", 6) == 0);
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_PTE, NULL) == TC_OK);
    CHECK(same(first, tc_compiled_bytes(c, 0)));
    const tc_model *made = NULL;
    tc_program *program;
    CHECK(tc_compiled_made(ctx, c, &made) == TC_OK && made != tc_compiled_model(c));
    CHECK(tc_program_new(ctx, made, NULL, &program) == TC_OK && tc_program_run(program) == TC_OK);
    CHECK(same(first, tc_compiled_bytes(c, 0))); /* running it makes nothing */
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_STREAM, NULL) == TC_USAGE);
    CHECK(tc_compiled_make(ctx, c, (tc_output)42, NULL) == TC_USAGE);
    CHECK(tc_inspect_bytes(ctx, "x.pte", first, TC_FORM_JSON, &text) == TC_OK);
    CHECK(strstr(text, "\"format\": \"ExecuTorch program\"") && strstr(text, "VgfBackend"));
    CHECK(strcmp(tc_output_name(TC_OUTPUT_PTE_TOSA), "pte+tosa") == 0);
    CHECK(strcmp(tc_output_extension(TC_OUTPUT_STREAM), ".bin") == 0);
    CHECK(!tc_output_name((tc_output)42) && !tc_output_extension((tc_output)42));
}

/* Two regions with the CPU between them. */
static void test_what_went_where(tc_ctx *ctx)
{
    tc_compiled *c = compiled_for(ctx, "TOSA-1.0+INT", "conv2d_3");
    tc_compiled_info info = {.size = sizeof info};
    tc_region_info region = {.size = sizeof region};
    tc_cpu_node_info node = {.size = sizeof node};
    size_t nodes = 0, n = 0, on_cpu = 0;
    bool named = false;
    tc_compiled_get_info(c, &info);
    CHECK(strcmp(info.target, "TOSA-1.0+INT") == 0 && info.n_region >= 2 && info.on_cpu >= 1);
    for (size_t i = 0; tc_compiled_region(c, i, &region); i++, n++) {
        nodes += region.operators;
        CHECK(region.tosa_operators >= region.operators && region.bytes_in > 0);
        CHECK(region.n_in > 0 && tc_compiled_region_port(c, i, 0, 0)->dtype != TC_none);
        CHECK(tc_compiled_region_port(c, i, 1, region.n_out) == NULL && !region.has_stream);
    }
    CHECK(n == info.n_region && nodes == info.on_target);
    for (size_t i = 0; tc_compiled_cpu_node(c, i, &node); i++, on_cpu++)
        named |= strcmp(node.node, "conv2d_3") == 0 && node.loc->place && *node.why;
    CHECK(on_cpu == info.on_cpu && named);
    CHECK(tc_model_graph_count(tc_compiled_model(c)) > n);

    const char *text;
    CHECK(tc_compiled_report(ctx, c, TC_REPORT_EXPLAIN, &text) == TC_OK);
    CHECK(strstr(text, "on the CPU: ") && strstr(text, "conv2d_3"));
    CHECK(tc_compiled_report(ctx, c, TC_REPORT_EXPLAIN_JSON, &text) == TC_OK);
    CHECK(strstr(text, "\"regions\": [") && !strstr(text, "\"file\""));
    CHECK(tc_compiled_report(ctx, c, TC_REPORT_LINE, &text) == TC_OK);
    CHECK(strncmp(text, "compiled: ", 10) == 0);
    CHECK(tc_compiled_set_name(ctx, c, "mine") == TC_OK);
    CHECK(tc_compiled_report(ctx, c, TC_REPORT_JSON, &text) == TC_OK);
    CHECK(strstr(text, "\"file\": \"mine\""));
    CHECK(tc_compiled_report(ctx, c, (tc_report_kind)9, &text) == TC_USAGE);
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_VGF, NULL) == TC_BAD_MODEL); /* it holds one */
}

/* What was compiled, beside the model: once it is asked for, or once files are made. */
static void test_accuracy(tc_ctx *ctx)
{
    tc_compiled *c = compiled_for(ctx, "TOSA-1.0+INT", "conv2d_3");
    tc_compiled_info info = {.size = sizeof info};
    tc_accuracy a = {.size = sizeof a};
    CHECK(!tc_compiled_accuracy(c, 0, &a));
    CHECK(tc_compiled_prove(ctx, c) == TC_OK && tc_compiled_accuracy(c, 0, &a));
    CHECK(!tc_compiled_accuracy(c, 1, &a));
    tc_compiled_get_info(c, &info);
    CHECK(info.samples > 0 && a.output && a.real && !a.lost);
    CHECK(a.sqnr_db > 10 && a.sqnr_db > a.typed_sqnr_db - 3 && a.agreement <= 1);
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_PTE, NULL) == TC_OK);
    CHECK(tc_compiled_accuracy(c, 0, &a) && a.sqnr_db > 10);
}

/* What is told of a program is the same before and after its file is made; of a command stream its
 * figures too. */
static void test_told(tc_ctx *ctx, const char *target)
{
    const char *before, *after;
    tc_compiled *c = compiled_for(ctx, target, "conv2d_3");
    tc_region_info region = {.size = sizeof region};
    bool stream = strncmp(target, "ethos", 5) == 0;
    CHECK(tc_compiled_region(c, 0, &region) && region.has_stream == stream);
    CHECK(tc_compiled_report(ctx, c, TC_REPORT_EXPLAIN, &before) == TC_OK);
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_PTE, NULL) == TC_OK);
    CHECK(tc_compiled_report(ctx, c, TC_REPORT_EXPLAIN, &after) == TC_OK);
    CHECK(strcmp(before, after) == 0);
}

/* Command streams are looked for in programs only; one without any keeps all rules. */
static void test_streams(tc_ctx *ctx)
{
    char path[64];
    const char *text;
    snprintf(path, sizeof path, "/tmp/tosac-api-%ld.pte", (long)getpid());
    tc_streams_report r = tc_streams_report_default();
    CHECK(tc_verify_streams(ctx, TOSAC_FIXTURES "/digits/model.pt2", &r) == TC_OK);
    CHECK(!r.holds_streams);
    CHECK(tc_disassemble_file(ctx, TOSAC_FIXTURES "/digits/model.pt2", TC_FORM_TEXT, &text) ==
          TC_USAGE);
    CHECK(tc_compiled_write(ctx, compiled_for(ctx, "cpu", NULL), TC_OUTPUT_PTE, path) == TC_OK);
    CHECK(tc_verify_streams(ctx, path, &r) == TC_OK && r.holds_streams && r.streams == 0);
    CHECK(tc_disassemble_file(ctx, path, TC_FORM_JSON, &text) == TC_USAGE);
    CHECK(tc_verify_streams(ctx, "/nowhere.pte", &r) == TC_BAD_MODEL);
    CHECK(tc_inspect_file(ctx, path, TC_FORM_TEXT, &text) == TC_OK);
    CHECK(strstr(text, "ExecuTorch program, ") && strstr(text, "method       forward"));
    unlink(path);
}

static tc_status count(void *user, const tc_model *model, const char *pass)
{
    (void)model;
    *(size_t *)user += *pass != 0;
    return TC_OK;
}

static void test_options(tc_ctx *ctx)
{
    tc_compiled *c;
    tc_config *config;
    size_t passes = 0;
    tc_compile_options o = tc_compile_options_default();
    CHECK(tc_compile(ctx, digits(ctx), &o, &c) == TC_USAGE);
    CHECK(tc_target_check(ctx, NULL) == TC_USAGE && tc_target_check(ctx, "vgf") == TC_OK);
    o.target = "TOSA-1.0+INT";
    CHECK(tc_compile(ctx, digits(ctx), &o, &c) == TC_USAGE); /* it needs data */
    o.quant.samples = calib(ctx);
    o.on_pass = count;
    o.user = &passes;
    o.check = 1;
    CHECK(tc_config_open(ctx, "a16w8", &config) == TC_OK);
    o.quant.settings = config;
    o.target = "TOSA-1.0+INT+int16";
    CHECK(tc_compile(ctx, digits(ctx), &o, &c) == TC_OK && passes > 10);
    tc_value_info v = {.size = sizeof v};
    bool wide = false;
    for (uint32_t i = 1; tc_model_value(tc_compiled_model(c), 0, i, &v); i++)
        wide |= v.type && v.type->dtype == TC_i16;
    CHECK(wide);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_bytes(ctx);
    test_certificate(ctx);
    test_kinds(ctx);
    test_what_went_where(ctx);
    test_accuracy(ctx);
    test_streams(ctx);
    test_told(ctx, "TOSA-1.0+INT");
    test_told(ctx, "ethos-u85-256");
    test_options(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
