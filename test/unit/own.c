/* SPDX-License-Identifier: Apache-2.0 */
/* own.c -- the road around our own Ethos-U back end, with a stand-in for it that takes a region, takes
 * it wrongly or refuses it: who makes the stream, what is said, what goes to the CPU. */
#include "check.h"
#include "elsewhere.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "codegen/codegen.h"
#include "drive/driver.h"
#include "ir/ir_text.h"
#include "tosac/tosac.h"
#include "wire/file.h"

/* What the stand-in does, and what it was told. */
static const char *answer; /* a stream of fixture/npu; NULL: it refuses */
static tc_codegen_options told;
static size_t asked;

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
        out->refused_node = last;
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

static char folder[] = "/tmp/tosac-own-XXXXXX";

/* A Vela that gives the right stream, or none. */
static void pretend(const char *stream)
{
    char path[64], from[512];
    snprintf(path, sizeof path, "%s/vela" TOSAC_SCRIPT, folder);
    remove(path);
    CHECK(setenv("TOSAC_VELA", path, 1) == 0);
    if (!stream)
        return;
    snprintf(from, sizeof from, TOSAC_FIXTURES "/npu/%s_vela.npz", stream);
    CHECK(write_copier(path, from, "region_vela.npz"));
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

/* A value and itself in another shape, which Vela gets wrong. */
static const char twice[] = "graph @main(%0 \"x\": i32[1,6]) {\n"
                            "  %1 = const [6, 1] : shape[2]\n"
                            "  %2 = tosa.reshape %0, %1 : i32[6,1]\n"
                            "  %3 = tosa.add %0, %2 : i32[6,6]\n"
                            "  return %3\n"
                            "}\n";

typedef struct trial {
    tc_ctx *ctx;
    tc_compiled *compiled;
    tc_status status;
    const char *said, *line, *maker;
    size_t regions;
} trial;

static trial compile(const char *text, const tc_compile_options *given, const char *stream)
{
    trial t = {.ctx = tc_ctx_new(), .maker = "", .line = ""};
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
    while (tc_compiled_region(t.compiled, t.regions, &info)) {
        t.maker = info.maker ? info.maker : "";
        t.regions++;
    }
    return t;
}

static tc_compile_options by(const char *backend)
{
    tc_compile_options o = tc_compile_options_default();
    o.vela.backend = backend;
    return o;
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
    tc_compile_options own = by("own"), any = by(NULL), vela = by("vela");
    tc_profile *profile;
    tc_profile_op op = {.size = sizeof op};
    pretend(NULL);
    trial t = compile(relu, &own, "relu");
    CHECK(t.status == TC_OK && t.regions == 1 && !strcmp(t.maker, "tosac"));
    CHECK(strstr(t.line, "; own back end: ") && strstr(t.line, " cycles (") &&
          strstr(t.line, "), 0 KiB of SRAM"));
    CHECK(names_maker(&t, "tosac") && !names_maker(&t, "vela"));
    CHECK(tc_profile_new(t.ctx, t.compiled, &profile) == TC_OK);
    CHECK(tc_profile_operation(profile, 0, &op) && op.loc && !strcmp(op.loc->node, "relu"));
    tc_ctx_free(t.ctx);
    t = compile(relu, &any, "relu");
    CHECK(t.status == TC_OK && !strcmp(t.maker, "tosac"));
    tc_ctx_free(t.ctx);
    t = compile(clamp, &any, "relu");
    CHECK(t.status == TC_OK && !strcmp(t.maker, "tosac"));
    tc_ctx_free(t.ctx);
    pretend("relu");
    asked = 0;
    t = compile(relu, &vela, "relu");
    CHECK(t.status == TC_OK && !asked && !strcmp(t.maker, "Vela") && names_maker(&t, "vela") == 0);
    CHECK(strstr(t.line, "; Vela: "));
    tc_ctx_free(t.ctx);
}

static void test_refused(void)
{
    tc_compile_options own = by("own"), any = by("auto");
    pretend("relu");
    trial t = compile(relu, &own, NULL);
    CHECK(t.status == TC_OK && !t.regions);
    CHECK(strstr(t.said, "'relu' goes to the CPU: our own back end does not take 'tosa_clamp': it "
                         "is Sunday"));
    tc_ctx_free(t.ctx);
    own.strict = 1;
    t = compile(relu, &own, NULL);
    CHECK(t.status == TC_UNSUPPORTED && strstr(t.said, "it is Sunday"));
    tc_ctx_free(t.ctx);
    t = compile(clamp, &own, NULL); /* nothing of a TOSA program can go to the CPU */
    CHECK(t.status == TC_UNSUPPORTED);
    tc_ctx_free(t.ctx);
    t = compile(relu, &any, NULL);
    CHECK(t.status == TC_OK && t.regions == 1 && !strcmp(t.maker, "Vela"));
    CHECK(!strstr(t.said, "Sunday"));
    tc_ctx_free(t.ctx);
    pretend(NULL);
    t = compile(relu, &any, NULL);
    CHECK(t.status == TC_OK && !t.regions && strstr(t.said, "it is Sunday"));
    CHECK(strstr(t.said, "Vela may take it: 'pip install ethos-u-vela=="));
    tc_ctx_free(t.ctx);
}

/* Another program's stream, one that breaks the machine's rules, and one that computes something
 * else. */
static void test_wrong(void)
{
    static const char *const streams[] = {"sum", "relu-outside", "relu-other"};
    static const char *const words[] = {"with other inputs or outputs", "its ofm reaches",
                                        "differs from its TOSA program"};
    for (size_t i = 0; i < 3; i++) {
        tc_compile_options own = by("own"), any = by("auto");
        pretend("relu");
        trial t = compile(relu, &own, streams[i]);
        CHECK_ROW(streams[i], t.status == TC_BUG && strstr(t.said, words[i]));
        CHECK_ROW(streams[i], strstr(t.said, "our own back end made") &&
                                  strstr(t.said, "this is a bug in tosac"));
        tc_ctx_free(t.ctx);
        t = compile(relu, &any, streams[i]);
        CHECK_ROW(streams[i], t.status == TC_OK && t.regions == 1 && !strcmp(t.maker, "Vela"));
        CHECK_ROW(streams[i], strstr(t.said, "Vela makes this region: ") &&
                                  strstr(t.said, words[i]));
        tc_ctx_free(t.ctx);
        if (i == 0)
            continue;
        pretend(NULL);
        t = compile(relu, &any, streams[i]);
        CHECK_ROW(streams[i], t.status == TC_OK && !t.regions);
        CHECK_ROW(streams[i], strstr(t.said, "'relu' goes to the CPU: ") &&
                                  strstr(t.said, words[i]));
        tc_ctx_free(t.ctx);
    }
}

/* A program that is TOSA already. */
static void test_wrong_whole(void)
{
    tc_compile_options any = by("auto");
    pretend("relu");
    trial t = compile(clamp, &any, "relu-outside");
    CHECK(t.status == TC_OK && !strcmp(t.maker, "Vela"));
    tc_ctx_free(t.ctx);
    pretend(NULL);
    t = compile(clamp, &any, "relu-outside");
    CHECK(t.status == TC_BUG && strstr(t.said, "this is a bug in tosac"));
    tc_ctx_free(t.ctx);
}

/* Regions as TOSA: only what Vela gets takes a detour. */
static size_t operators(const char *backend, const char *stream)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compile_options o = by(backend);
    tc_model *model;
    tc_compiled *compiled;
    tc_region_info info = {.size = sizeof info};
    o.target = "ethos-u85-256";
    o.regions_only = 1;
    answer = stream;
    tc_bytes bytes = {(const uint8_t *)twice, sizeof twice - 1};
    CHECK(tc_model_read(ctx, "twice.ir", bytes, NULL, &model) == TC_OK);
    CHECK(tc_compile(ctx, model, &o, &compiled) == TC_OK);
    CHECK(tc_compiled_region(compiled, 0, &info));
    tc_ctx_free(ctx);
    return info.tosa_operators;
}

/* The same where only estimates are made. */
static size_t estimated(tc_backend backend)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_compile_request r = {.model = "twice.ir", .target = "ethos-u85-256", .unexecuted = true};
    tc_compiled c = {.ethosu = {.backend = backend, .unmade = true}};
    size_t n = 0;
    CHECK(ti_parse(ctx, "twice.ir", (tc_bytes){(const uint8_t *)twice, sizeof twice - 1},
                   (tc_bytes){NULL, 0}, &r.module) == TC_OK);
    CHECK(ti_compile_stages(ctx, &r, &c) == TC_OK && c.n_region == 1);
    const tc_graph *g = ti_main(c.region->module);
    for (size_t k = 0; k < g->n_node; k++)
        n += g->node[k]->op != TC_OP_const;
    tc_ctx_free(ctx);
    return n;
}

static void test_detours(void)
{
    size_t plain = operators(NULL, "relu");
    CHECK(operators("vela", NULL) > plain);
    CHECK(operators(NULL, NULL) > plain);
    size_t before = asked;
    CHECK(estimated(TC_BACKEND_AUTO) == plain && estimated(TC_BACKEND_OWN) == plain);
    CHECK(estimated(TC_BACKEND_VELA) > plain);
    CHECK(asked == before);
}

/* What it is told. */
static void test_options(void)
{
    tc_compile_options o = by("own");
    o.vela.optimise = "Size";
    o.vela.u55_products = 1;
    o.vela.max_scratch = 4096;
    o.vela.memory_mode = "Sram_Only";
    trial t = compile(relu, &o, "relu");
    CHECK(t.status == TC_OK && told.size && told.products && told.max_scratch == 4096);
    CHECK(!strcmp(told.machine->name, "ethos-u85-256") && told.system);
    tc_ctx_free(t.ctx);
    o.vela.max_scratch = 1;
    t = compile(relu, &o, "relu");
    CHECK(t.status == TC_BAD_MODEL && strstr(t.said, "--max-scratch allows 1"));
    tc_ctx_free(t.ctx);
    o = by("Vela");
    t = compile(relu, &o, "relu");
    CHECK(t.status == TC_USAGE && strstr(t.said, "expected auto, own or vela"));
    tc_ctx_free(t.ctx);
}

int main(void)
{
    CHECK(mkdtemp(folder) != NULL);
    test_taken();
    test_refused();
    test_wrong();
    test_wrong_whole();
    test_detours();
    test_options();
    CHECK(remove_folder(folder));
    return check_done();
}
