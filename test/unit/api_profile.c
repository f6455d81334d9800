/* SPDX-License-Identifier: Apache-2.0 */
/* api_profile.c -- what a program costs, by the public header: operations, rows, their sums,
 * systems. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tosac/tosac.h"

#define NET TOSAC_FIXTURES "/cost/net_vela.npz"

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b) + 1);
}

/* Rows of any kind, and operations, add up to the whole. */
static void check_sums(const tc_profile *p, const tc_profile_info *info)
{
    tc_profile_op op = tc_profile_op_default();
    tc_profile_row row = tc_profile_row_default();
    double cycles = 0, macs = 0, read = 0, written = 0;
    for (size_t i = 0; tc_profile_operation(p, i, &op); i++) {
        cycles += op.cost.cycles;
        macs += op.cost.macs;
        read += op.cost.read[0];
        written += op.cost.written[0];
    }
    CHECK(near(cycles, info->total.cycles) && near(macs, info->total.macs));
    CHECK(near(read, info->total.read[0]) && near(written, info->total.written[0]));
    for (int by = TC_PROFILE_BY_LINE; by <= TC_PROFILE_BY_KIND; by++) {
        double all = 0, share = 0, before = INFINITY;
        size_t operations = 0;
        for (size_t i = 0; tc_profile_get_row(p, (tc_profile_by)by, i, &row); i++) {
            CHECK(row.cost.cycles <= before); /* dearest first */
            before = row.cost.cycles;
            all += row.cost.cycles;
            share += row.share;
            operations += row.operations;
        }
        CHECK(near(all, info->total.cycles) && near(share, 1) && operations == info->operations);
    }
    CHECK(!tc_profile_get_row(p, (tc_profile_by)4, 0, &row));
    CHECK(!tc_profile_operation(p, info->operations, &op));
}

static void check_net(tc_ctx *ctx)
{
    tc_profile *p = NULL;
    tc_profile_info info = tc_profile_info_default();
    tc_profile_row row = tc_profile_row_default();
    CHECK(tc_profile_open(ctx, NET, NULL, &p) == TC_OK);
    tc_profile_get_info(p, &info);
    CHECK(strcmp(info.machine, "ethos-u85-256") == 0 && strcmp(info.memory_mode, "Sram_Only") == 0);
    CHECK(fabs(info.total.cycles - 1573) < 1);
    CHECK(info.total.cycles_low > 1200 && info.total.cycles_low < 1400 &&
          info.total.cycles_high > 1750 && info.total.cycles_high < 2000);
    CHECK(!info.knows_lines && info.streams == 1 && info.clock == 1e9);
    CHECK(strcmp(info.memory[0], "Sram") == 0 && strcmp(info.memory[1], "Dram") == 0);
    CHECK(info.total.utilisation > 0.04 && info.total.utilisation < 0.06);
    check_sums(p, &info);
    CHECK(tc_profile_get_row(p, TC_PROFILE_BY_KIND, 0, &row) && strcmp(row.name, "DEPTHWISE") == 0);
}

/* The network as it was given to Vela, compiled here: its operations have their lines. */
static tc_profile *profile_of_net(tc_ctx *ctx)
{
    tc_model *model = NULL;
    tc_compiled *compiled = NULL;
    tc_profile *p = NULL;
    tc_compile_options o = tc_compile_options_default();
    o.target = "ethos-u85-256";
    CHECK(tc_model_open(ctx, TOSAC_FIXTURES "/cost/net.tosa", NULL, &model) == TC_OK);
    CHECK(tc_compile(ctx, model, &o, &compiled) == TC_OK);
    CHECK(tc_profile_new(ctx, compiled, &p) == TC_OK);
    return p;
}

static void check_lines(tc_ctx *ctx)
{
    tc_profile *p = profile_of_net(ctx);
    tc_profile_info info = tc_profile_info_default();
    tc_profile_row row = tc_profile_row_default();
    size_t hints = 0, n = 0;
    tc_profile_get_info(p, &info);
    CHECK(info.knows_lines && info.streams == 1);
    check_sums(p, &info);
    for (; tc_profile_get_row(p, TC_PROFILE_BY_LINE, n, &row); n++) {
        CHECK(strncmp(row.name, "net.py:1", 8) == 0);
        hints += row.hint && strstr(row.hint, "it waits for its weights");
    }
    CHECK(n == 4 && hints == 1);
}

static void check_reports(tc_ctx *ctx)
{
    tc_profile *p = NULL;
    const char *text = NULL;
    CHECK(tc_profile_open(ctx, NET, NULL, &p) == TC_OK);
    CHECK(tc_profile_report(ctx, p, TC_PROFILE_BY_KIND, 0, TC_FORM_TEXT, &text) == TC_OK);
    CHECK(strstr(text, "1573 cycles (1.28 to 1.87 k) expected") && strstr(text, "DEPTHWISE"));
    CHECK(tc_profile_report(ctx, p, TC_PROFILE_BY_KIND, 0, TC_FORM_JSON, &text) == TC_OK);
    CHECK(strstr(text, "\"cycles\": 1573") && strstr(text, "\"operations\": ["));
    p = profile_of_net(ctx);
    CHECK(tc_profile_report(ctx, p, TC_PROFILE_BY_LINE, 0, TC_FORM_TEXT, &text) == TC_OK);
    CHECK(strstr(text, "net.py:15") && !strstr(text, "%  1 more"));
    CHECK(tc_profile_report(ctx, p, TC_PROFILE_BY_LINE, 1, TC_FORM_TEXT, &text) == TC_OK);
    CHECK(strstr(text, "3 more"));
    CHECK(tc_profile_report(ctx, p, TC_PROFILE_BY_LINE, 0, TC_FORM_JSON, &text) == TC_OK);
    CHECK(strstr(text, "\"place\": \"net.py:12\""));
    CHECK(tc_profile_report(ctx, p, (tc_profile_by)9, 0, TC_FORM_TEXT, &text) == TC_USAGE);
}

/* A slower memory makes it more expensive; a system that is not there is a mistake. */
static void check_systems(tc_ctx *ctx)
{
    static const char ini[] =
        "[System_Config.Slow]\ncore_clock=1e8\naxi0_port=Sram\naxi1_port=Dram\n"
        "Sram_clock_scale=0.05\nSram_burst_length=16\n[Memory_Mode.All]\nconst_mem_area=Axi0\n";
    char path[] = "/tmp/tosac-profile-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, ini, sizeof ini - 1) == (ssize_t)sizeof ini - 1 && close(fd) == 0);
    tc_profile *p = NULL;
    tc_profile_info info = tc_profile_info_default();
    tc_profile_options o = tc_profile_options_default();
    char system[64];
    snprintf(system, sizeof system, "%s:Slow,All", path);
    o.system = system;
    CHECK(tc_profile_open(ctx, NET, &o, &p) == TC_OK);
    tc_profile_get_info(p, &info);
    CHECK(info.clock == 1e8 && info.total.cycles > 2 * 3088);
    check_sums(p, &info);
    snprintf(system, sizeof system, "%s:Quick,All", path);
    CHECK(tc_profile_open(ctx, NET, &o, &p) == TC_USAGE);
    unlink(path);
    CHECK(tc_profile_open(ctx, NET, &o, &p) != TC_OK);
    CHECK(tc_profile_open(ctx, TOSAC_FIXTURES "/cost/net.tosa", NULL, &p) == TC_USAGE);
    CHECK(tc_profile_open(ctx, TOSAC_FIXTURES "/cost/none.pte", NULL, &p) != TC_OK);
}

static void write_log(const char *path, unsigned long bytes, unsigned hash)
{
    FILE *f = fopen(path, "w");
    CHECK(f && fprintf(f, "tosac-pmu 1\nprogram %s\nstream %lu %u\nend %lu 2000\ncall 2300\n", NET, bytes,
                       hash, bytes) > 0 && fclose(f) == 0);
}

/* A log of the counter: of another stream, of this one; over a graph; a board that agrees with it. */
static void check_counted(tc_ctx *ctx)
{
    char path[] = "/tmp/tosac-counted-XXXXXX";
    const char *text = NULL, *report = NULL;
    unsigned long bytes = 0;
    tc_profile *p = NULL;
    tc_profile_options o = tc_profile_options_default();
    CHECK(close(mkstemp(path)) == 0);
    o.pmu = path;
    write_log(path, 7, 1);
    CHECK(tc_profile_open(ctx, NET, &o, &p) == TC_BAD_MODEL);
    const char *said = strstr(tc_diagnostics(ctx), "stream 0 of the program has ");
    CHECK(said && sscanf(said, "stream 0 of the program has %lu", &bytes) == 1);
    write_log(path, bytes, 0);
    CHECK(tc_profile_open(ctx, NET, &o, &p) == TC_OK);
    CHECK(tc_profile_report(ctx, p, TC_PROFILE_BY_KIND, 0, TC_FORM_TEXT, &text) == TC_OK);
    CHECK(strstr(text, "1 job, ") && strstr(text, "2000 cycles on average, 1573 expected"));
    CHECK(tc_profile_overlay(ctx, p, &text) == TC_OK && strstr(text, "\"ethos-u85-256\": {"));
    CHECK(tc_profile_open(ctx, NET, NULL, &p) == TC_OK && tc_profile_overlay(ctx, p, &text) == TC_USAGE);
    const char *const logs[] = {path};
    CHECK(tc_board_calibrate(ctx, logs, 1, "corstone-320-fvp", "mine", TC_FORM_TEXT, &text, &report) == TC_OK);
    CHECK(strstr(text, "[Board.mine]") && strstr(text, "npu_call = 300") && strstr(report, "a call: 300 cycles"));
    CHECK(tc_board_calibrate(ctx, logs, 1, "alif-e7-hp", "mine", TC_FORM_TEXT, NULL, NULL) == TC_USAGE);
    unlink(path);
    CHECK(tc_board_calibrate(ctx, logs, 1, "corstone-320-fvp", "mine", TC_FORM_JSON, NULL, NULL) != TC_OK);
}

/* Descriptions of systems that make no sense, each told by what is wrong with it. */
static void check_descriptions(void)
{
#define SYSTEM "[System_Config.S]\ncore_clock=1e8\naxi0_port=Sram\naxi1_port=Dram\n"
    static const struct {
        const char *ini, *words;
    } row[] = {
        {"[System_Config.S]\ncore_clock=fast\naxi0_port=Sram\naxi1_port=Dram\n",
         "core_clock of section System_Config.S is not a number: 'fast'"},
        {"[System_Config.S]\naxi0_port=Sram\n", "does not name the memories of both ports"},
        {"[System_Config.S]\ninherit=System_Config.S\n", "inherits from itself"},
        {SYSTEM, "has no such memory mode"},
        {SYSTEM "[Memory_Mode.M]\nconst_mem_area=Axi2\n", "neither Axi0 nor Axi1: 'Axi2'"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        tc_ctx *ctx = tc_ctx_new();
        char path[] = "/tmp/tosac-profile-XXXXXX";
        int fd = mkstemp(path);
        ssize_t n = (ssize_t)strlen(row[i].ini);
        CHECK(fd >= 0 && write(fd, row[i].ini, (size_t)n) == n && close(fd) == 0);
        tc_profile *p = NULL;
        tc_profile_options o = tc_profile_options_default();
        char system[64];
        snprintf(system, sizeof system, "%s:S,M", path);
        o.system = system;
        CHECK(tc_profile_open(ctx, NET, &o, &p) == TC_USAGE);
        CHECK(strstr(tc_diagnostics(ctx), row[i].words) != NULL);
        unlink(path);
        tc_ctx_free(ctx);
    }
}

/* Only an Ethos-U's programs have such a cost. */
static void check_compiled(tc_ctx *ctx)
{
    tc_model *model = NULL;
    tc_compiled *compiled = NULL;
    tc_profile *p = NULL;
    tc_compile_options o = tc_compile_options_default();
    o.target = "TOSA-1.0+INT";
    CHECK(tc_model_open(ctx, TOSAC_FIXTURES "/cost/net.tosa", NULL, &model) == TC_OK);
    CHECK(tc_compile(ctx, model, &o, &compiled) == TC_OK);
    CHECK(tc_profile_new(ctx, compiled, &p) == TC_USAGE);
    CHECK(tc_profile_estimate(ctx, compiled, &p) == TC_USAGE);
}

/* Without a stream: near what Vela says, and the parts are the whole. */
static void check_estimate(tc_ctx *ctx, const char *target, double least, double most)
{
    tc_model *model = NULL;
    tc_compiled *compiled = NULL;
    tc_profile *p = NULL;
    tc_profile_info info = tc_profile_info_default();
    tc_compile_options o = tc_compile_options_default();
    o.target = target;
    CHECK(tc_model_open(ctx, TOSAC_FIXTURES "/cost/net.tosa", NULL, &model) == TC_OK);
    CHECK(tc_compile(ctx, model, &o, &compiled) == TC_OK);
    CHECK(tc_profile_estimate(ctx, compiled, &p) == TC_OK);
    tc_profile_get_info(p, &info);
    CHECK(strcmp(info.machine, target) == 0 && info.knows_lines);
    CHECK(info.total.cycles >= least && info.total.cycles <= most);
    check_sums(p, &info);
}

/* Pools, tables, transposes, reductions, resampling, and a product of 4 x 64 by 64 x 32, twice. */
static const char kinds[] =
    "graph @main(%0 \"x\": f32[1,8,16,16], %1 \"k\": f32[2,64,32]) {\n"
    "  %2 = max_pool %0 kernel=[2,2] stride=[2,2] pad=[0,0] dilation=[1,1] ceil=false\n"
    "  %3 = avg_pool %2 kernel=[3,3] stride=[1,1] pad=[1,1] ceil=false include_pad=false "
    "divisor=0\n"
    "  %4 = tanh %3\n"
    "  %5 = permute %4 perm=[0,2,1,3]\n"
    "  %6 = reshape %5 shape=[2,4,64]\n"
    "  %7 = matmul %6, %1\n"
    "  %8 = softmax %7 axis=2\n"
    "  %9 = amax %8 axes=[2] keepdim=true\n"
    "  %10 = sum %8 axes=[1] keepdim=true\n"
    "  %11 = sub %8, %9 alpha=1\n"
    "  %12 = upsample_linear %2 align_corners=false size=[16,16] scale=[]\n"
    "  %13 = cat %12, %0 axis=1\n"
    "  %14 = pad %13 pad=[0,0,0,0,1,1,1,1] mode=constant value=0\n"
    "  %15 = abs %14\n"
    "  return %11, %10, %15\n}\n";

/* Multiplications of the operations of a kind; -1: there are none of it. */
static double macs_of(const tc_profile *p, const char *kind)
{
    tc_profile_row row = tc_profile_row_default();
    for (size_t i = 0; tc_profile_get_row(p, TC_PROFILE_BY_KIND, i, &row); i++)
        if (strcmp(row.name, kind) == 0)
            return row.cost.macs;
    return -1;
}

static tc_profile *guessed(tc_ctx *ctx, const char *target, const char *config)
{
    static const char *const random[] = {"random:1"};
    tc_model *model = NULL;
    tc_compiled *compiled = NULL;
    tc_profile *p = NULL;
    tc_profile_info info = tc_profile_info_default();
    tc_compile_options o = tc_compile_options_default();
    o.target = target;
    o.quant.config = config;
    CHECK(tc_dataset_open(ctx, random, 1, &o.quant.samples) == TC_OK);
    CHECK(tc_model_read(ctx, "kinds", (tc_bytes){(const uint8_t *)kinds, sizeof kinds - 1}, NULL,
                        &model) == TC_OK);
    CHECK(tc_compile(ctx, model, &o, &compiled) == TC_OK);
    CHECK(tc_profile_estimate(ctx, compiled, &p) == TC_OK);
    tc_profile_get_info(p, &info);
    check_sums(p, &info);
    return p;
}

static void check_kinds(tc_ctx *ctx)
{
    tc_profile *p = guessed(ctx, "ethos-u85-256", NULL);
    CHECK(macs_of(p, "CONV") == 2 * 4 * 64 * 32); /* at once */
    CHECK(macs_of(p, "RESIZE BILINEAR") == 0 && macs_of(p, "POOL MAX") > 0);
    p = guessed(ctx, "ethos-u55-128", NULL); /* column by column, and no resampling */
    CHECK(macs_of(p, "CONV") < 0 && macs_of(p, "RESIZE BILINEAR") < 0);
    CHECK(macs_of(p, "ELEMENTWISE MUL") >= 0 && macs_of(p, "POOL REDUCE_SUM") > 0);
    tc_profile_info narrow = tc_profile_info_default(), wide = tc_profile_info_default();
    tc_profile_get_info(p, &narrow);
    tc_profile_get_info(guessed(ctx, "ethos-u55-128", "a16w8"), &wide);
    CHECK(wide.total.read[0] > narrow.total.read[0]);
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    check_net(ctx);
    check_lines(ctx);
    check_reports(ctx);
    check_systems(ctx);
    check_counted(ctx);
    check_descriptions();
    check_compiled(ctx);
    check_estimate(ctx, "ethos-u85-256", 0.9 * 1573, 1.1 * 1573);
    check_estimate(ctx, "ethos-u85-2048", 500, 1573);
    check_kinds(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
