/* SPDX-License-Identifier: Apache-2.0 */
/* api_model.c -- models as a caller has them: read, asked, run through passes, written. */
#include "tosac/tosac.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static const char GRAPH[] =
    "graph @main(%0 \"x\": f32[1,3]) {\n"
    "  %1 \"one\" = const [1, 2, 4] : f32[1,3]\n"
    "  %2 \"sum\" = add %0, %1 alpha=1 : f32[1,3] loc(\"m.py:7\", node=\"sum\")\n"
    "  %3 = neg %0 : f32[1,3]\n"
    "  return %2\n"
    "}\n";

static tc_bytes bytes_of(const char *text)
{
    return (tc_bytes){(const uint8_t *)text, strlen(text)};
}

static bool same(tc_bytes a, tc_bytes b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static void test_asking(tc_ctx *ctx)
{
    tc_model *m;
    CHECK(tc_model_read(ctx, "g.ir", bytes_of(GRAPH), NULL, &m) == TC_OK);
    CHECK(strcmp(tc_model_file(m), "g.ir") == 0 && !tc_model_producer(m));
    CHECK(tc_model_get_stage(m) == TC_STAGE_FLOAT);
    CHECK(tc_model_input_count(m) == 1 && tc_model_output_count(m) == 1);

    tc_port_info in = {.size = sizeof in}, out = {.size = sizeof out};
    CHECK(tc_model_input(m, 0, &in) && strcmp(in.name, "x") == 0 && in.type->dtype == TC_f32);
    CHECK(in.type->rank == 2 && in.type->dim[1] == 3 && !in.type->quant);
    CHECK(tc_model_output(m, 0, &out) && strcmp(out.name, "sum") == 0 && out.type == in.type);
    CHECK(!tc_model_input(m, 1, &in) && !tc_model_output(m, 1, &out));

    CHECK(tc_model_graph_count(m) == 1 && strcmp(tc_model_graph_name(m, 0), "main") == 0);
    CHECK(!tc_model_graph_name(m, 1) && tc_model_node_count(m, 1) == 0);
    CHECK(tc_model_node_count(m, 0) == 3 && tc_model_value_count(m, 0) == 4);
    tc_node_info node = {.size = sizeof node};
    CHECK(tc_model_node(m, 0, 1, &node) && strcmp(node.op, "add") == 0);
    CHECK(node.n_in == 2 && node.n_out == 1 && node.in[0] == in.value && node.out[0] == out.value);
    CHECK(strcmp(node.loc->place, "m.py:7") == 0 && strcmp(node.loc->node, "sum") == 0);
    CHECK(!tc_model_node(m, 0, 3, &node) && !tc_model_node(m, 1, 0, &node));

    tc_value_info value = {.size = sizeof value};
    CHECK(tc_model_value(m, 0, node.in[1], &value) && strcmp(value.name, "one") == 0);
    CHECK(value.data && ((const float *)value.data)[2] == 4);
    CHECK(tc_model_value(m, 0, in.value, &value) && !value.data);
    CHECK(!tc_model_value(m, 0, 0, &value) && !tc_model_value(m, 0, 5, &value));
}

static void test_python_lines(tc_ctx *ctx)
{
    tc_model *m;
    size_t placed = 0;
    CHECK(tc_model_open(ctx, TOSAC_FIXTURES "/digits/model.pt2", NULL, &m) == TC_OK);
    CHECK(strstr(tc_model_producer(m), "torch 2."));
    for (size_t i = 0; i < tc_model_node_count(m, 0); i++) {
        tc_node_info node = {.size = sizeof node};
        tc_model_node(m, 0, i, &node);
        placed += node.loc->place && strstr(node.loc->place, ".py:") && node.loc->module;
    }
    CHECK(placed >= 67);
}

static tc_status count_pass(void *user, const tc_model *model, const char *pass)
{
    size_t *n = user;
    *n += tc_model_node_count(model, 0) * 100 + (strcmp(pass, "remove-dead-code") == 0);
    return TC_OK;
}

static tc_status stop(void *user, const tc_model *model, const char *pass)
{
    (void)user, (void)model, (void)pass;
    return TC_CANCELLED;
}

static void test_passes(tc_ctx *ctx)
{
    tc_model *m;
    size_t told = 0, n = 0;
    bool has_tidy = false;
    CHECK(tc_model_read(ctx, "g.ir", bytes_of(GRAPH), NULL, &m) == TC_OK);
    CHECK(tc_model_run_passes(ctx, m, "remove-dead-code", count_pass, &told) == TC_OK);
    CHECK(told == 201 && tc_model_node_count(m, 0) == 2);
    CHECK(tc_model_run_passes(ctx, m, "remove-dead-code", stop, NULL) == TC_CANCELLED);
    CHECK(tc_model_run_passes(ctx, m, "deadd", NULL, NULL) == TC_USAGE);
    tc_pass_info info = {.size = sizeof info};
    for (; tc_pass_at(n, &info); n++)
        has_tidy |= strcmp(info.name, "tidy") == 0 && info.list;
    CHECK(n > 10 && has_tidy);
}

/* Stages are passes that must be told more. */
static void test_stages(tc_ctx *ctx)
{
    tc_model *m;
    const char *files[] = {"random:1"};
    tc_compile_options o = tc_compile_options_default();
    CHECK(tc_model_read(ctx, "g.ir", bytes_of(GRAPH), NULL, &m) == TC_OK);
    CHECK(tc_model_run_stages(ctx, m, "quantize-model", NULL) == TC_USAGE);
    CHECK(tc_model_run_stages(ctx, m, "lower-to-tosa", NULL) == TC_USAGE);
    CHECK(tc_dataset_open(ctx, files, 1, &o.quant.samples) == TC_OK);
    CHECK(tc_model_run_stages(ctx, m, "remove-dead-code,quantize-model", &o) == TC_OK);
    CHECK(tc_model_get_stage(m) == TC_STAGE_TYPED);
    o.target = "nowhere";
    CHECK(tc_model_run_stages(ctx, m, "split-regions", &o) == TC_USAGE);
    CHECK(tc_ctx_set_dim(ctx, "batch") == TC_USAGE && tc_ctx_set_dim(ctx, "batch=4") == TC_OK);
}

static void test_text(tc_ctx *ctx)
{
    tc_model *m, *again;
    tc_bytes with = {0}, without = {0}, second = {0};
    CHECK(tc_model_read(ctx, "g.ir", bytes_of(GRAPH), NULL, &m) == TC_OK);
    CHECK(tc_model_text(ctx, m, 1, &with) == TC_OK && tc_model_text(ctx, m, 0, &without) == TC_OK);
    CHECK(strstr((const char *)with.data, "loc(\"m.py:7\"") && with.data[with.size] == 0);
    CHECK(!strstr((const char *)without.data, "loc("));
    CHECK(tc_model_read(ctx, "g.ir", with, NULL, &again) == TC_OK);
    CHECK(tc_model_text(ctx, again, 1, &second) == TC_OK && same(with, second));
    CHECK(tc_model_read(ctx, "bad.ir", bytes_of("graph @main() {"), NULL, &again) == TC_BAD_MODEL);
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

/* A model as text with its large constants beside it, from files and from memory. */
static void test_side(tc_ctx *ctx)
{
    char path[64], beside[72];
    snprintf(path, sizeof path, "/tmp/tosac-api-%ld.ir", (long)getpid());
    snprintf(beside, sizeof beside, "%s.bin", path);
    tc_model *m, *file, *memory;
    tc_bytes a = {0}, b = {0}, c = {0};
    CHECK(tc_model_open(ctx, TOSAC_FIXTURES "/digits/model.pt2", NULL, &m) == TC_OK);
    CHECK(tc_model_write(ctx, m, path) == TC_OK);
    tc_model_options o = tc_model_options_default();
    tc_bytes text = load(path);
    o.side = load(beside);
    CHECK(o.side.size > 100000);
    CHECK(tc_model_open(ctx, path, NULL, &file) == TC_OK);
    CHECK(tc_model_read(ctx, path, text, &o, &memory) == TC_OK);
    free((void *)(uintptr_t)text.data); /* it was copied */
    free((void *)(uintptr_t)o.side.data);
    CHECK(tc_model_text(ctx, m, 1, &a) == TC_OK && tc_model_text(ctx, file, 1, &b) == TC_OK);
    CHECK(tc_model_text(ctx, memory, 1, &c) == TC_OK && same(a, b) && same(a, c));
    unlink(path);
    unlink(beside);
}

/* An input that is fixed is none any more; a name that is no input's is told. */
static void test_fixed_input(void)
{
    static const char text[] = "graph @main(%0 \"x\": f32[2], %1 \"k\": f32[]) {\n"
                               "  %2 = mul %0, %1 : f32[2]\n  return %2\n}\n";
    const tc_bytes file = {(const uint8_t *)text, sizeof text - 1};
    tc_ctx *ctx = tc_ctx_new();
    tc_model *m;
    CHECK(tc_ctx_set_input(ctx, "k") == TC_USAGE && tc_ctx_set_input(ctx, "=1") == TC_USAGE);
    CHECK(tc_ctx_set_input(ctx, "k=2.5") == TC_OK);
    CHECK(tc_model_read(ctx, "t.ir", file, NULL, &m) == TC_OK && tc_model_input_count(m) == 1);
    CHECK(tc_ctx_set_input(ctx, "k=yes") == TC_OK);
    CHECK(tc_model_read(ctx, "t.ir", file, NULL, &m) == TC_USAGE);
    tc_ctx_free(ctx);
    ctx = tc_ctx_new();
    CHECK(tc_ctx_set_input(ctx, "rate=1") == TC_OK);
    CHECK(tc_model_read(ctx, "t.ir", file, NULL, &m) == TC_USAGE);
    CHECK(strstr(tc_diagnostics(ctx), "its inputs are x, k"));
    tc_ctx_free(ctx);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    test_asking(ctx);
    test_python_lines(ctx);
    test_passes(ctx);
    test_text(ctx);
    test_side(ctx);
    test_stages(ctx);
    tc_ctx_free(ctx);
    test_fixed_input();
    return check_done();
}
