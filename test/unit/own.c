/* SPDX-License-Identifier: Apache-2.0 */
/* own.c -- the road around our own Ethos-U back end, with a stand-in for it that takes a region, takes
 * it wrongly or refuses it: what is said, what goes to the CPU. */
#include "check.h"

#include <string.h>

#include "codegen/codegen.h"
#include "drive/driver.h"
#include "ir/ir_text.h"
#include "tosac/tosac.h"
#include "wire/file.h"

/* What the stand-in does, and what it was told. */
static const char *answer; /* a stream of fixture/npu; NULL: it refuses */
static tc_codegen_options told;
static size_t asked;
static bool nameless; /* it does not say which node it refuses */

tc_status __wrap_ti_codegen(tc_ctx *ctx, const tc_codegen_options *options, const tc_graph *g,
                            tc_codegen_result *out);

tc_status __wrap_ti_codegen(tc_ctx *ctx, const tc_codegen_options *options, const tc_graph *g,
                            tc_codegen_result *out)
{
    *out = (tc_codegen_result){0};
    told = *options;
    asked++;
    const tc_node *last = g->n_node ? g->node[g->n_node - 1] : NULL;
    if (!answer) {
        out->refused = "it is Sunday";
        out->refused_node = nameless ? NULL : last;
        return TC_OK;
    }
    const char *path =
        ti_text_format(&ctx->arena, TOSAC_FIXTURES "/npu/%s_vela.npz", answer);
    tc_bytes bytes;
    TC_TRY(ti_file_read(ctx, path, &bytes));
    TC_TRY(ti_npu_read_npz(ctx, path, bytes, &out->program));
    out->origin = tc_new(&ctx->arena, tc_codegen_origin);
    *out->origin = (tc_codegen_origin){0, last};
    out->n_origin = 1;
    return TC_OK;
}

static const char relu[] = "graph @main(%0 \"x\": f32[1,4]) {\n"
                           "  %1 = rescale %0 : i8[1,4] q(0.05:-3)\n"
                           "  %2 = relu %1 : i8[1,4] q(0.05:-3) loc(node=\"relu\")\n"
                           "  %3 = rescale %2 : f32[1,4]\n"
                           "  return %3\n"
                           "}\n";
static const char clamp[] =
    "graph @main(%0 \"x\": i8[1,4]) {\n"
    "  %1 = tosa.clamp %0 min_val=-3 max_val=127 nan_mode=propagate : i8[1,4]\n"
    "  return %1\n"
    "}\n";

typedef struct trial {
    tc_ctx *ctx;
    tc_compiled *compiled;
    tc_status status;
    const char *said, *line;
    size_t regions;
} trial;

static trial compile(const char *text, const tc_compile_options *given, const char *stream)
{
    trial t = {.ctx = tc_ctx_new(), .line = ""};
    tc_compile_options o = *given;
    tc_model *model;
    size_t count;
    tc_region_info info = {.size = sizeof info};
    o.target = "ethos-u85-256";
    answer = stream;
    tc_bytes bytes = {(const uint8_t *)text, strlen(text)};
    CHECK(tc_model_read(t.ctx, "relu.ir", bytes, NULL, &model) == TC_OK);
    t.status = tc_compile(t.ctx, model, &o, &t.compiled);
    if (t.status == TC_OK)
        t.status = tc_compiled_make(t.ctx, t.compiled, TC_OUTPUT_PTE, &count);
    t.said = tc_diagnostics(t.ctx);
    if (t.status != TC_OK)
        return t;
    CHECK(tc_compiled_report(t.ctx, t.compiled, TC_REPORT_LINE, &t.line) == TC_OK);
    while (tc_compiled_region(t.compiled, t.regions, &info))
        t.regions++;
    return t;
}

/* The .pte names its maker in the compile specs of the delegate. */
static bool names_maker(const trial *t, const char *key)
{
    tc_bytes file = tc_compiled_bytes(t->compiled, 0);
    size_t n = strlen(key) + 1;
    for (size_t i = 0; i + n <= file.size; i++)
        if (!memcmp(file.data + i, key, n))
            return true;
    return false;
}

static void test_taken(void)
{
    tc_compile_options o = tc_compile_options_default();
    tc_profile *profile;
    tc_profile_op op = {.size = sizeof op};
    trial t = compile(relu, &o, "relu");
    CHECK(t.status == TC_OK && t.regions == 1);
    CHECK(strstr(t.line, " cycles, 0 KiB of SRAM"));
    CHECK(names_maker(&t, "tosac"));
    CHECK(tc_profile_new(t.ctx, t.compiled, &profile) == TC_OK);
    CHECK(tc_profile_operation(profile, 0, &op) && op.loc && !strcmp(op.loc->node, "relu"));
    tc_ctx_free(t.ctx);
    t = compile(clamp, &o, "relu");
    CHECK(t.status == TC_OK && t.regions == 1);
    tc_ctx_free(t.ctx);
}

/* The node that is named goes to the CPU; where none is, the whole region. */
static void test_refused(void)
{
    tc_compile_options o = tc_compile_options_default();
    trial t = compile(relu, &o, NULL);
    CHECK(t.status == TC_OK && !t.regions);
    CHECK(strstr(t.said, "'relu' goes to the CPU: our own back end does not take 'tosa_clamp': it "
                         "is Sunday"));
    tc_ctx_free(t.ctx);
    nameless = true;
    t = compile(relu, &o, NULL);
    nameless = false;
    CHECK(t.status == TC_OK && !t.regions);
    CHECK(strstr(t.said, "the region that begins with 'relu' goes to the CPU, 1 node: our own back end "
                         "does not take it: it is Sunday"));
    tc_ctx_free(t.ctx);
    o.strict = 1;
    t = compile(relu, &o, NULL);
    CHECK(t.status == TC_UNSUPPORTED && strstr(t.said, "it is Sunday"));
    tc_ctx_free(t.ctx);
    o.strict = 0;
    t = compile(clamp, &o, NULL); /* nothing of a TOSA program can go to the CPU */
    CHECK(t.status == TC_UNSUPPORTED && strstr(t.said, "it is Sunday"));
    tc_ctx_free(t.ctx);
}

/* Another program's stream, one that breaks the machine's rules, and one that computes something
 * else. */
static void test_wrong(void)
{
    static const char *const streams[] = {"sum", "relu-outside", "relu-other"};
    static const char *const words[] = {"with other inputs or outputs", "its ofm reaches",
                                        "differs from its TOSA program"};
    tc_compile_options o = tc_compile_options_default();
    for (size_t i = 0; i < 3; i++) {
        trial t = compile(relu, &o, streams[i]);
        CHECK_ROW(streams[i], t.status == TC_BUG && strstr(t.said, words[i]));
        CHECK_ROW(streams[i], strstr(t.said, "our own back end made") &&
                                  strstr(t.said, "this is a bug in tosac"));
        tc_ctx_free(t.ctx);
    }
    trial t = compile(clamp, &o, "relu-outside"); /* a program that is TOSA already */
    CHECK(t.status == TC_BUG && strstr(t.said, "this is a bug in tosac"));
    tc_ctx_free(t.ctx);
}

/* Where only estimates are made, it is not asked for a stream. */
static void test_estimated(void)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compile_request r = {.model = "relu.ir", .target = "ethos-u85-256", .unexecuted = true};
    tc_compiled c = {.asked.ethosu = {.unmade = true}};
    size_t before = asked;
    CHECK(ti_parse(ctx, "relu.ir", (tc_bytes){(const uint8_t *)relu, sizeof relu - 1},
                   (tc_bytes){NULL, 0}, &r.module) == TC_OK);
    CHECK(ti_compile_stages(ctx, &r, &c) == TC_OK && c.n_region == 1);
    CHECK(asked == before);
    tc_ctx_free(ctx);
}

/* What it is told. */
static void test_options(void)
{
    tc_compile_options o = tc_compile_options_default();
    o.ethosu.optimise = "Size";
    o.ethosu.u55_products = 1;
    o.ethosu.max_scratch = 4096;
    o.ethosu.system = "Sram_Only";
    trial t = compile(relu, &o, "relu");
    CHECK(t.status == TC_OK && told.size && told.products && told.max_scratch == 4096);
    CHECK(!strcmp(told.machine->name, "ethos-u85-256") && told.system);
    tc_ctx_free(t.ctx);
    o.ethosu.max_scratch = 1;
    t = compile(relu, &o, "relu");
    CHECK(t.status == TC_BAD_MODEL && strstr(t.said, "--max-scratch allows 1"));
    tc_ctx_free(t.ctx);
}

int main(void)
{
    test_taken();
    test_refused();
    test_wrong();
    test_estimated();
    test_options();
    return check_done();
}
