/* SPDX-License-Identifier: Apache-2.0 */
/* api_ports.c -- whatever is written, inputs and outputs are where the model has them: where the
 * second input is read first, where nothing reads one, where an output is an input or there twice. */
#include "tosac/tosac.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { ELEMENTS = 6 };

/* T: the type of all values. */
#define SECOND_FIRST(T)                                                                             \
    "graph @main(%0 \"first\": " T ", %1 \"second\": " T ") {\n"                                    \
    "  %2 = relu %1 : " T "\n"                                                                      \
    "  %3 = sub %2, %0 alpha=1 : " T "\n"                                                           \
    "  return %3\n}\n"
#define LAST_FIRST(T)                                                                               \
    "graph @main(%0 \"a\": " T ", %1 \"b\": " T ", %2 \"c\": " T ") {\n"                            \
    "  %3 = relu %2 : " T "\n"                                                                      \
    "  %4 = sub %3, %1 alpha=1 : " T "\n"                                                           \
    "  %5 = sub %4, %0 alpha=1 : " T "\n"                                                           \
    "  return %5, %3, %4\n}\n"
#define EVERY_KIND(T)                                                                               \
    "graph @main(%0 \"a\": " T ", %1 \"unread\": " T ", %2 \"c\": " T ", %3 \"passed\": " T ") {\n" \
    "  %4 = relu %2 : " T "\n"                                                                      \
    "  %5 = sub %4, %0 alpha=1 : " T "\n"                                                           \
    "  return %5, %3, %4, %5, %0\n}\n"
#define F "f32[2,3]"
#define Q "i8[2,3] q(0.05:0)"

static const struct {
    const char *text, *target, *cpu;
    tc_output kind;
} row[] = {
    {SECOND_FIRST(F), "TOSA-1.0+FP", NULL, TC_OUTPUT_TOSA},
    {SECOND_FIRST(F), "TOSA-1.0+FP", NULL, TC_OUTPUT_VGF},
    {SECOND_FIRST(F), "vgf", NULL, TC_OUTPUT_VGF},
    {SECOND_FIRST(F), "vgf", "relu", TC_OUTPUT_VGF},
    {SECOND_FIRST(F), "vgf", NULL, TC_OUTPUT_PTE},
    {SECOND_FIRST(F), "cpu", NULL, TC_OUTPUT_PTE},
    {SECOND_FIRST(F), "cpu", NULL, TC_OUTPUT_TFLITE},
    {SECOND_FIRST(Q), "TOSA-1.0+INT", NULL, TC_OUTPUT_TOSA},
    {SECOND_FIRST(Q), "vgf", NULL, TC_OUTPUT_VGF},
    {SECOND_FIRST(Q), "ethos-u55-128", NULL, TC_OUTPUT_TOSA},
    {SECOND_FIRST(Q), "ethos-u55-128", NULL, TC_OUTPUT_STREAM},
    {SECOND_FIRST(Q), "ethos-u85-256", NULL, TC_OUTPUT_STREAM},
    {SECOND_FIRST(Q), "ethos-u85-256", NULL, TC_OUTPUT_PTE},
    {LAST_FIRST(F), "TOSA-1.0+FP", NULL, TC_OUTPUT_TOSA},
    {LAST_FIRST(F), "vgf", NULL, TC_OUTPUT_VGF},
    {LAST_FIRST(F), "vgf", "sub", TC_OUTPUT_VGF},
    {LAST_FIRST(Q), "vgf", NULL, TC_OUTPUT_VGF},
    {LAST_FIRST(Q), "ethos-u55-128", NULL, TC_OUTPUT_STREAM},
    {LAST_FIRST(Q), "ethos-u85-256", NULL, TC_OUTPUT_STREAM},
    {LAST_FIRST(Q), "ethos-u85-256", NULL, TC_OUTPUT_TFLITE},
    {EVERY_KIND(F), "TOSA-1.0+FP", NULL, TC_OUTPUT_TOSA},
    {EVERY_KIND(F), "TOSA-1.0+FP", NULL, TC_OUTPUT_VGF},
    {EVERY_KIND(F), "vgf", NULL, TC_OUTPUT_VGF},
    {EVERY_KIND(F), "vgf", "relu", TC_OUTPUT_VGF},
    {EVERY_KIND(F), "vgf", NULL, TC_OUTPUT_PTE},
    {EVERY_KIND(F), "cpu", NULL, TC_OUTPUT_PTE},
    {EVERY_KIND(F), "cpu", NULL, TC_OUTPUT_TFLITE},
    {EVERY_KIND(Q), "TOSA-1.0+INT", NULL, TC_OUTPUT_TOSA},
    {EVERY_KIND(Q), "TOSA-1.0+INT", NULL, TC_OUTPUT_VGF},
    {EVERY_KIND(Q), "vgf", NULL, TC_OUTPUT_VGF},
    {EVERY_KIND(Q), "ethos-u85-256", NULL, TC_OUTPUT_PTE},
    {EVERY_KIND(Q), "ethos-u85-256", NULL, TC_OUTPUT_TFLITE},
};

/* Other numbers in every input: i8 by its type, else f32. */
static tc_program *run(tc_ctx *ctx, const tc_model *model)
{
    tc_program *p = NULL;
    CHECK(tc_program_new(ctx, model, NULL, &p) == TC_OK);
    for (size_t i = 0; p && i < tc_program_input_count(p); i++) {
        tc_port_info port = {.size = sizeof port};
        CHECK(tc_program_input(p, i, &port));
        void *at = tc_program_input_buffer(p, i);
        for (int k = 0; k < ELEMENTS; k++) {
            int number = (k * 7 + (int)i * 5) % 23 - 9;
            if (port.type->dtype == TC_i8)
                ((int8_t *)at)[k] = (int8_t)number;
            else
                ((float *)at)[k] = (float)number;
        }
    }
    CHECK(p && tc_program_run(p) == TC_OK);
    return p;
}

static bool same_results(const tc_program *a, const tc_program *b)
{
    size_t n = tc_program_output_count(a);
    bool same = n == tc_program_output_count(b) &&
                tc_program_input_count(a) == tc_program_input_count(b);
    for (size_t i = 0; same && i < n; i++) {
        tc_tensor x = tc_program_result(a, i), y = tc_program_result(b, i);
        same = tc_type_bytes(x.type) == tc_type_bytes(y.type) &&
               memcmp(x.data, y.data, tc_type_bytes(x.type)) == 0;
    }
    return same;
}

static tc_compiled *compiled(tc_ctx *ctx, const char *text, const char *target, const char *cpu,
                             tc_model **model)
{
    tc_compiled *c = NULL;
    tc_compile_options o = tc_compile_options_default();
    o.target = target;
    o.cpu = &cpu;
    o.n_cpu = cpu != NULL;
    CHECK(tc_model_read(ctx, "ports.ir", (tc_bytes){(const uint8_t *)text, strlen(text)}, NULL,
                        model) == TC_OK);
    CHECK(tc_compile(ctx, *model, &o, &c) == TC_OK);
    return c;
}

static void test_row(size_t i)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_model *model = NULL, *back = NULL;
    char name[32];
    tc_compiled *c = compiled(ctx, row[i].text, row[i].target, row[i].cpu, &model);
    CHECK(c && tc_compiled_make(ctx, c, row[i].kind, NULL) == TC_OK);
    snprintf(name, sizeof name, "ports%s", tc_output_extension(row[i].kind));
    CHECK(c && tc_model_read(ctx, name, tc_compiled_bytes(c, 0), NULL, &back) == TC_OK);
    bool same = back && same_results(run(ctx, model), run(ctx, back));
    if (!same)
        fprintf(stderr, "row %zu, %s as %s: other ports\n%s%s", i, row[i].target, name, row[i].text,
                tc_diagnostics(ctx));
    CHECK(same);
    tc_ctx_free(ctx);
}

/* Every output of a .tosa has a name of its own: readers that go by names find each. */
static void test_names(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_model *model, *back = NULL;
    tc_program *p = NULL;
    tc_compiled *c = compiled(ctx, EVERY_KIND(F), "TOSA-1.0+FP", NULL, &model);
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_TOSA, NULL) == TC_OK);
    CHECK(tc_model_read(ctx, "ports.tosa", tc_compiled_bytes(c, 0), NULL, &back) == TC_OK);
    CHECK(tc_program_new(ctx, back, NULL, &p) == TC_OK);
    CHECK(tc_program_find_input(p, "unread") == 1 && tc_program_find_input(p, "passed") == 3);
    for (size_t i = 0; i < tc_model_output_count(back); i++)
        for (size_t k = 0; k < i; k++) {
            tc_port_info one = {.size = sizeof one}, other = {.size = sizeof other};
            CHECK(tc_model_output(back, i, &one) && tc_model_output(back, k, &other));
            CHECK(one.name && other.name && strcmp(one.name, other.name) != 0);
        }
    tc_ctx_free(ctx);
}

/* A command stream has no place for what it does not read or make: that is said. */
static void test_said(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_model *model;
    tc_compiled *c = compiled(ctx, EVERY_KIND(Q), "ethos-u55-128", NULL, &model);
    CHECK(tc_compiled_make(ctx, c, TC_OUTPUT_STREAM, NULL) == TC_OK);
    CHECK(strstr(tc_diagnostics(ctx), "input 1 'unread' is not in the file"));
    CHECK(strstr(tc_diagnostics(ctx), "output 1 'passed' is not in the file"));
    CHECK(strstr(tc_diagnostics(ctx), "output 3 is not in the file"));
    tc_ctx_free(ctx);
}

int main(void)
{
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        test_row(i);
    test_names();
    test_said();
    return check_done();
}
