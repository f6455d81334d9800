/* SPDX-License-Identifier: Apache-2.0 */
/* npu_cost.c -- cycles of streams that Vela made; descriptions of systems. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "npu/cost.h"
#include "wire/file.h"

static const struct {
    const char *name, *config, *mode;
} recorded[] = {
    {"digits-u55-32", "Ethos_U55_High_End_Embedded", "Shared_Sram"},
    {"digits-u55-128", "Ethos_U55_High_End_Embedded", "Shared_Sram"},
    {"digits-u65-256", "Ethos_U65_High_End", "Dedicated_Sram_384KB"},
    {"digits-u65-512", "FVP_U65_High_End", "Dedicated_Sram_384KB"},
    {"digits-u85-128", "Ethos_U85_SYS_DRAM_Mid", "Sram_Only"},
    {"digits-u85-256", "FVP_U85_Low", "Dedicated_Sram"},
    {"digits-u85-1024", "FVP_U85_Mid_1024", "Dedicated_Sram"},
    {"digits-u85-2048", "Ethos_U85_SYS_DRAM_Mid", "Sram_Only"},
    {"attention-u55-128", "FVP_U55_High_End", "Shared_Sram"},
    {"attention-u85-256", "Ethos_U85_SYS_DRAM_Mid", "Sram_Only"},
    {"cascade-u85-256", "Ethos_U85_SYS_DRAM_Mid", "Shared_Sram"},
    {"shared-u85-256", "Ethos_U85_SYS_Flash_Low", "Shared_Sram"},
};

static tc_bytes fixture(tc_ctx *ctx, const char *name, const char *extension)
{
    tc_bytes bytes = {0};
    CHECK(ti_file_read(
              ctx, ti_text_format(&ctx->arena, "%s/cost/%s.%s", TOSAC_FIXTURES, name, extension),
              &bytes) == TC_OK);
    return bytes;
}

/* The parts are the whole, the band is around it, and no multiplier is busy more than all the time. */
static void check_recorded(tc_ctx *ctx, size_t k)
{
    tc_npu_program p = {0};
    tc_npu_system s;
    tc_npu_stream_cost cost;
    const char *name = recorded[k].name;
    tc_bytes driver = fixture(ctx, name, "cop");
    CHECK(ti_npu_read_driver(ctx, NULL, driver, &p) == TC_OK);
    CHECK(ti_npu_system_find(ctx, p.machine, NULL, recorded[k].config, recorded[k].mode, &s) ==
          TC_OK);
    CHECK(ti_npu_cost_stream(&ctx->arena, &p, &s, &cost) == NULL);
    double shares = 0;
    for (size_t i = 0; i < cost.n_op; i++) {
        const tc_npu_cost *c = &cost.op[i].cost;
        shares += c->cycles;
        CHECK_ROW(name, c->cycles >= 0 && c->compute >= 0 && c->waiting >= -1e-9 &&
                            cost.op[i].wait < TC_WAIT_COUNT);
    }
    CHECK_ROW(name, cost.n_op > 0 && fabs(shares - cost.total.cycles) <= 1e-9 * shares);
    double used = ti_npu_utilisation(p.machine, &cost.total);
    CHECK_ROW(name, used > 0 && used < 1);
    CHECK_ROW(name, cost.total.read[s.of_region[1]] > 0 && cost.total.written[s.of_region[1]] > 0 &&
                        cost.total.read[s.of_region[0]] > 0);
    tc_npu_band band = ti_npu_band(&cost.total);
    CHECK_ROW(name, band.low > 0 && band.low < cost.total.cycles && band.high > cost.total.cycles);
}

/* Half a stream, and one with any word changed, have a figure or a reason, and no more than that.
 */
static void check_broken(tc_ctx *ctx)
{
    tc_bytes driver = fixture(ctx, "digits-u55-128", "cop");
    tc_npu_program p = {0};
    tc_npu_system s;
    CHECK(ti_npu_read_driver(ctx, NULL, driver, &p) == TC_OK);
    CHECK(ti_npu_system_find(ctx, p.machine, NULL, "Ethos_U55_High_End_Embedded", "Shared_Sram",
                             &s) == TC_OK);
    uint8_t *copy = ti_arena_copy(&ctx->arena, p.words.data, p.words.n * 4);
    for (size_t i = 0; i < p.words.n; i++) {
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_npu_stream_cost cost;
        tc_npu_program changed = p;
        changed.words.data = copy;
        memcpy(copy, p.words.data, p.words.n * 4);
        copy[4 * i + 2] ^= 0xff;
        copy[4 * i + 3] ^= 0xff;
        (void)ti_npu_cost_stream(&ctx->scratch, &changed, &s, &cost);
        CHECK(cost.total.cycles >= 0 && isfinite(cost.total.cycles));
        changed.words = (tc_npu_words){p.words.data, i};
        (void)ti_npu_cost_stream(&ctx->scratch, &changed, &s, &cost);
        CHECK(isfinite(cost.total.cycles));
        ti_arena_rewind(&ctx->scratch, mark);
    }
}

static const char description[] = "; a board\n"
                                  "[System_Config.Board]\n"
                                  "core_clock = 400e6\n"
                                  "axi0_port=Sram\n"
                                  "axi1_port=Dram\n"
                                  "Sram_clock_scale=0.5\n"
                                  "sram_burst_length=32\n"
                                  "Sram_read_latency=16\n"
                                  "Sram_write_latency=8\n"
                                  "Dram_clock_scale=0.25\n"
                                  "Dram_ports_used=2\n"
                                  "[System_Config.Quick]\n"
                                  "inherit=System_Config.Board\n"
                                  "core_clock=800e6\n"
                                  "[System_Config.Round]\n"
                                  "inherit=System_Config.Round\n"
                                  "[Memory_Mode.Mine]\n"
                                  "const_mem_area=Axi1\n"
                                  "arena_mem_area=Axi0\n"
                                  "[Memory_Mode.Apart]\n"
                                  "arena_mem_area=Axi1\n"
                                  "[Memory_Mode.Odd]\n"
                                  "const_mem_area=Axi7\n";

/* Vela's own description of the system that Arm's simulator runs at half the latencies. */
static const char velas[] = "[System_Config.Ethos_U85_SYS_DRAM_Low]\n"
                            "core_clock=500e6\naxi0_port=Sram\naxi1_port=Dram\n"
                            "Sram_read_latency=16\nSram_write_latency=16\n"
                            "Dram_clock_scale=0.46875\nDram_read_latency=500\n"
                            "Dram_write_latency=250\nDram_max_reads=24\nDram_max_writes=12\n";

static void check_simulated(tc_ctx *ctx)
{
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u85-256");
    char path[] = "/tmp/tosac-cost-XXXXXX";
    int fd = mkstemp(path);
    tc_npu_system s, own;
    CHECK(fd >= 0 && write(fd, velas, sizeof velas - 1) == (ssize_t)sizeof velas - 1 &&
          close(fd) == 0);
    CHECK(ti_npu_system_find(ctx, m, path, "Ethos_U85_SYS_DRAM_Low", "Dedicated_Sram", &s) == TC_OK);
    CHECK(s.memory[1].read_latency == 250 && s.memory[1].write_latency == 125 && s.filled &&
          strstr(s.filled, "not 500 and 250"));
    CHECK(s.memory[0].read_latency == 16);
    CHECK(ti_npu_system_find(ctx, m, NULL, "Ethos_U85_SYS_DRAM_Low", "Dedicated_Sram", &own) ==
          TC_OK);
    CHECK(own.memory[1].read_latency == 250 && !own.filled);
    unlink(path);
}

static void check_description(tc_ctx *ctx)
{
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u85-256");
    char path[] = "/tmp/tosac-cost-XXXXXX";
    int fd = mkstemp(path);
    tc_npu_system s;
    CHECK(fd >= 0 &&
          write(fd, description, sizeof description - 1) == (ssize_t)sizeof description - 1 &&
          close(fd) == 0);
    CHECK(ti_npu_system_find(ctx, m, path, "Quick", "Mine", &s) == TC_OK);
    CHECK(s.clock == 800e6 && s.memory[0].bytes_per_cycle == 8 && s.memory[0].burst == 32 &&
          s.memory[0].read_latency == 16);
    CHECK(s.memory[1].bytes_per_cycle == 8 && s.memory[1].ports == 2 && s.memory[1].burst == 1);
    CHECK(s.memory[0].max_reads == 8 && s.memory[1].max_reads == 24 && s.memory[1].max_writes == 12);
    CHECK(s.filled && strstr(s.filled, "Dram_max_reads 24")); /* what it lacks is said */
    CHECK(strcmp(s.memory[0].name, "Sram") == 0 && strcmp(s.memory[1].name, "Dram") == 0);
    CHECK(s.of_region[0] == 1 && s.of_region[1] == 0 && s.of_region[2] == 0);
    CHECK(ti_npu_system_find(ctx, m, path, "Quick", "Dedicated_Sram", &s) == TC_OK); /* Arm's mode */
    CHECK(s.clock == 800e6 && s.of_region[0] == 1 && s.of_region[1] == 1 && s.of_region[2] == 0);
    CHECK(ti_npu_system_find(ctx, m, path, "Slow", "Mine", &s) == TC_USAGE);
    CHECK(ti_npu_system_find(ctx, m, path, "Board", "Yours", &s) == TC_USAGE);
    CHECK(ti_npu_system_find(ctx, m, path, "Board", "Odd", &s) == TC_USAGE);
    CHECK(ti_npu_system_find(ctx, m, path, "Round", "Mine", &s) == TC_USAGE);
    CHECK(ti_npu_system_find(ctx, m, NULL, "Board", "Mine", &s) == TC_USAGE);
    CHECK(ti_npu_system_find(ctx, m, NULL, "Ethos_U85_SYS_DRAM_Mid", "Mine", &s) == TC_USAGE);
    CHECK(ti_npu_system_find(ctx, m, path, "Board", "Apart", &s) == TC_USAGE); /* constants in Sram */
    unlink(path);
}

/* The arena cannot lie in flash: which modes there are depends on the system. */
static void check_modes(tc_ctx *ctx)
{
    const tc_npu_machine *m = ti_npu_machine_find("ethos-u55-128");
    static const struct {
        const char *config, *mode;
        tc_status status;
    } tried[] = {{"Ethos_U55_High_End_Embedded", "Sram_Only", TC_OK},
                 {"Ethos_U55_High_End_Embedded", "Shared_Sram", TC_OK},
                 {"Ethos_U55_High_End_Embedded", "Dedicated_Sram", TC_USAGE},
                 {"Ethos_U85_SYS_Flash_Low", "Dedicated_Sram_256KB", TC_USAGE},
                 {"Ethos_U65_High_End", "Dedicated_Sram_384KB", TC_OK},
                 {"Ethos_U85_SYS_DRAM_Mid", "Dedicated_Sram_512KB", TC_OK},
                 {"Alif_HP_SRAM_MRAM", "Shared_Sram", TC_OK}, /* of boards.ini */
                 {"Alif_HP_SRAM_MRAM", "Dedicated_Sram", TC_USAGE}};
    for (size_t i = 0; i < TC_COUNT(tried); i++) {
        tc_npu_system s;
        CHECK(ti_npu_system_find(ctx, m, NULL, tried[i].config, tried[i].mode, &s) ==
              tried[i].status);
    }
}

int main(void)
{
    for (size_t i = 0; i < TC_COUNT(recorded); i++) {
        tc_ctx *ctx = tc_ctx_new();
        check_recorded(ctx, i);
        tc_ctx_free(ctx);
    }
    tc_ctx *ctx = tc_ctx_new();
    check_broken(ctx);
    check_description(ctx);
    check_simulated(ctx);
    check_modes(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
