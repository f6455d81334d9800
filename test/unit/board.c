/* SPDX-License-Identifier: Apache-2.0 */
/* board.c -- boards: what is said of each, files of one's own, what lies in
 * which memory, and what is tried where it does not fit. */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../src/board/board_fit.h"
#include "../../src/read/pte_needs.h"
#include "tosac/tosac.h"

#define DIGITS TOSAC_FIXTURES "/digits/"

/* A file of these words; its path is a copy that nobody frees. */
static const char *file_of(const char *text)
{
    static char path[16][40];
    static int n;
    char *at = path[n++ % 16];
    strcpy(at, "/tmp/tosac-board-XXXXXX");
    int fd = mkstemp(at);
    ssize_t size = (ssize_t)strlen(text);
    CHECK(fd >= 0 && write(fd, text, (size_t)size) == size && close(fd) == 0);
    return at;
}

/* ---- the table ---- */

/* What its memory mode puts somewhere has somewhere to lie. */
static void check_npu(tc_ctx *ctx, const tc_board *b)
{
    tc_npu_system system;
    const tc_npu_machine *machine = ti_npu_machine_find(b->npu);
    CHECK_ROW(b->name, machine && b->source_npu && b->source_clock);
    CHECK_ROW(b->name, b->system_config && b->memory_mode &&
                           ti_npu_system_find(ctx, machine, NULL, b->system_config, b->memory_mode,
                                              &system) == TC_OK);
    for (int region = 0; region < 3; region++)
        CHECK_ROW(b->name, b->memory[ti_board_kind_of(&system, region)].bytes > 0);
    CHECK_ROW(b->name, system.cache <= b->memory[TC_BOARD_SRAM].bytes);
}

static void check_table(tc_ctx *ctx)
{
    const tc_board *list;
    size_t n;
    CHECK(ti_board_list(ctx, &list, &n) == TC_OK && n > 25);
    for (size_t i = 0; i < n; i++) {
        const tc_board *b = &list[i];
        tc_board again;
        if (b->npu)
            check_npu(ctx, b);
        else
            CHECK_ROW(b->name, b->core && b->core_clock > 0 && b->source_clock);
        for (int k = 0; k < TC_BOARD_KINDS; k++)
            CHECK_ROW(b->name, !b->memory[k].bytes || b->memory[k].source);
        const char *path = file_of(b->text);
        CHECK_ROW(b->name, ti_board_find(ctx, path, &again) == TC_OK);
        CHECK_ROW(b->name, strcmp(again.text, b->text) == 0 &&
                               again.memory[0].bytes == b->memory[0].bytes &&
                               again.npu_clock == b->npu_clock);
        unlink(path);
        for (size_t k = 0; k < i; k++)
            CHECK_ROW(b->name, strcmp(list[k].name, b->name) != 0);
    }
}

static void check_records(tc_ctx *ctx)
{
    tc_board_info b = tc_board_info_default();
    tc_board_memory_info m = tc_board_memory_info_default();
    bool more;
    CHECK(tc_board_find(ctx, "alif-e7-hp", &b) == TC_OK && strcmp(b.npu, "ethos-u55-256") == 0 &&
          b.npu_clock == 400e6 && b.n_memory == 2);
    CHECK(tc_board_memory_at(ctx, "alif-e7-hp", 1, &m) == TC_OK && strcmp(m.name, "MRAM") == 0 &&
          strcmp(m.kind, "flash") == 0 && m.bytes == 5632 * 1024 && m.source);
    CHECK(tc_board_memory_at(ctx, "alif-e7-hp", 2, &m) == TC_USAGE);
    CHECK(tc_board_find(ctx, "alif-e9", &b) == TC_USAGE);
    CHECK(tc_board_at(ctx, 1000, &more, &b) == TC_OK && !more);
}

/* ---- files ---- */

static void check_files(tc_ctx *ctx)
{
    static const struct {
        const char *text;
        tc_status status;
    } file[] = {
        {"[Board.x]\nnpu = ethos-u55-128\nsram = 3 KiB\n", TC_OK},
        {"; words\n\n[Board.x]\r\nnpu=ethos-u55-128\r\nsram = 0.5MB SRAM 1\r\n", TC_OK},
        {"[Board.x]\ncore = cortex-m4\ncore_clock = 1e8\nsram = 4096\nflash = 1 GiB", TC_OK},
        {"[Board.x]\nsarm = 3 KiB\n", TC_BAD_MODEL},
        {"[Board.x]\nsram = 3 XiB\n", TC_BAD_MODEL},
        {"[Board.x]\nsram = 99999999999999999999 GiB\n", TC_BAD_MODEL},
        {"[Board.x]\nsram = -1 KiB\n", TC_BAD_MODEL},
        {"[Board.x]\nnpu_clock = 4 m\n", TC_BAD_MODEL},
        {"[Board.x]\nnpu = cortex-m4\n", TC_BAD_MODEL},
        {"[Board.x]\ncore = ethos-u55-128+cortex-m4\n", TC_BAD_MODEL},
        {"[Board.x]\nnpu_sizes = some\n", TC_BAD_MODEL},
        {"[Board.x]\nnpu\n", TC_BAD_MODEL},
        {"[Board.x]\nnpu =\n", TC_BAD_MODEL},
        {"[Board.x]\nnpu = ethos-u55-128\n", TC_BAD_MODEL},
        {"[Board.x]\nsram = 4 KiB\n", TC_BAD_MODEL},
        {"[Board.x]\ncore = cortex-m4\nsram = 4 KiB\nmemory_mode = Sram_Only\n", TC_BAD_MODEL},
        {"[Board.x]\ncore=cortex-m4\nsram=4K\n[Board.y]\ncore=cortex-m4\nsram=4K\n", TC_BAD_MODEL},
        {"", TC_BAD_MODEL},
        {"[", TC_BAD_MODEL},
    };
    for (size_t i = 0; i < TC_COUNT(file); i++) {
        tc_board_info b = tc_board_info_default();
        const char *path = file_of(file[i].text);
        CHECK_ROW(file[i].text, tc_board_find(ctx, path, &b) == file[i].status);
        unlink(path);
    }
}

static void check_targets(tc_ctx *ctx)
{
    static const struct {
        const char *board, *asked, *target; /* NULL: refused */
    } row[] = {
        {"alif-e7-hp", NULL, "ethos-u55-256"},
        {"alif-e7-hp", "ethos-u55-256+cortex-m55", "ethos-u55-256+cortex-m55"},
        {"alif-e7-hp", "cortex-m55", "cortex-m55"},
        {"alif-e7-hp", "ethos-u55-128", NULL},
        {"alif-e7-hp", "ethos-u55-256+cortex-m4", NULL},
        {"alif-e7-hp", "TOSA-1.0+INT", NULL},
        {"corstone-300-fvp", "ethos-u55-64", "ethos-u55-64"}, /* a parameter there */
        {"corstone-300-fvp", "ethos-u85-256", NULL},
        {"nucleo-f446re", NULL, "cortex-m4"},
        {"nucleo-f446re", "ethos-u55-128", NULL},
    };
    for (size_t i = 0; i < TC_COUNT(row); i++) {
        tc_board b;
        const char *target;
        CHECK(ti_board_find(ctx, row[i].board, &b) == TC_OK);
        tc_status status = ti_board_target(ctx, &b, row[i].asked, &target);
        CHECK_ROW(row[i].board, row[i].target ? status == TC_OK && strcmp(target, row[i].target) == 0
                                              : status == TC_USAGE);
    }
}

/* ---- what lies where ---- */

typedef struct made {
    tc_model *model;
    tc_compile_options o;
    tc_compiled *c;
    tc_compiled_info info;
    tc_region_info region;
    tc_board_verdict v;
    int64_t used[3]; /* sram, flash, dram */
} made;

static made compile_for(tc_ctx *ctx, const char *board, const char *mode, tc_output kind)
{
    static const char *const data[] = {DIGITS "calib.npz"};
    static const char *const kinds[] = {"sram", "flash", "dram"};
    made m = {.o = tc_compile_options_default(),
              .info = tc_compiled_info_default(),
              .region = tc_region_info_default(),
              .v = tc_board_verdict_default()};
    tc_board_verdict_memory memory = tc_board_verdict_memory_default();
    m.o.board = board;
    m.o.ethosu.system = mode;
    m.o.no_execute = true;
    CHECK(tc_model_open(ctx, DIGITS "model.pt2", NULL, &m.model) == TC_OK);
    CHECK(tc_dataset_open(ctx, data, 1, &m.o.quant.samples) == TC_OK);
    CHECK(tc_compile(ctx, m.model, &m.o, &m.c) == TC_OK && !tc_compiled_verdict(m.c, &m.v));
    CHECK(tc_compiled_make(ctx, m.c, kind, NULL) == TC_OK && tc_compiled_verdict(m.c, &m.v));
    tc_compiled_get_info(m.c, &m.info);
    CHECK(tc_compiled_region(m.c, 0, &m.region));
    for (size_t i = 0; tc_compiled_verdict_memory(m.c, i, &memory); i++)
        for (int k = 0; k < 3; k++)
            if (strcmp(memory.kind, kinds[k]) == 0) {
                m.used[k] = memory.used;
                CHECK(memory.left == memory.bytes - memory.used);
            }
    return m;
}

/* A .pte: planned memory, and the runtime's pools: the temporary one has the scratch in it. */
static int64_t values_of(const made *m)
{
    const tc_pte_needs *n = m->c->written.needs;
    CHECK(n && (int64_t)n->temporary >= m->region.stream.scratch && n->method > 0);
    return (int64_t)(m->info.memory + n->temporary + n->method);
}

static void check_places(tc_ctx *ctx)
{
    made m = compile_for(ctx, "alif-e7-hp", NULL, TC_OUTPUT_PTE); /* Shared_Sram */
    int64_t values = values_of(&m), file = (int64_t)m.info.bytes;
    CHECK(m.v.fits && strcmp(m.v.memory_mode, "Shared_Sram") == 0 && m.v.n_memory == 2);
    CHECK(m.used[0] == values && m.used[1] == file && m.used[2] == 0);
    CHECK(fabs(m.v.milliseconds - 1e3 * m.region.stream.cycles / 400e6) < 1e-9 &&
          fabs(m.v.milliseconds * m.v.inferences_per_second - 1e3) < 1e-6);
    m = compile_for(ctx, "alif-e7-hp", "Sram_Only", TC_OUTPUT_PTE);
    values = values_of(&m), file = (int64_t)m.info.bytes;
    CHECK(m.used[0] == values + file && m.used[1] == file); /* the flash has it, too */
    m = compile_for(ctx, "corstone-320-fvp", NULL, TC_OUTPUT_PTE); /* Dedicated_Sram */
    values = values_of(&m), file = (int64_t)m.info.bytes;
    CHECK(m.used[2] == values + file && m.used[0] == m.region.stream.fast_scratch && m.used[0] > 0);
    m = compile_for(ctx, "alif-e7-hp", NULL, TC_OUTPUT_TFLITE); /* the arena has the scratch in it */
    CHECK(m.used[0] == (int64_t)m.info.memory && m.used[1] == (int64_t)m.info.bytes);
    m = compile_for(ctx, "nucleo-f446re", NULL, TC_OUTPUT_C);
    CHECK(m.v.fits && m.used[0] > (int64_t)m.info.memory && m.used[1] == (int64_t)m.info.bytes);
    CHECK(m.v.milliseconds > 1 && m.v.core_clock == 180e6 && m.v.npu_clock == 0);
}

/* ---- what does not fit ---- */

static void check_otherwise(tc_ctx *ctx)
{
    const char *path = file_of("[Board.small]\nnpu = ethos-u55-128\nmemory_mode = Shared_Sram\n"
                               "sram = 48 KiB\nflash = 100 KiB\n");
    made m = compile_for(ctx, path, NULL, TC_OUTPUT_PTE);
    tc_alternative a = tc_alternative_default();
    bool any = false, refused = false;
    size_t n = 0;
    CHECK(!m.v.fits && m.v.n_alternative == 0 && m.v.bound && m.v.npu_clock == 500e6);
    CHECK(tc_compiled_try_alternatives(ctx, m.model, &m.o, m.c, TC_OUTPUT_PTE) == TC_OK);
    CHECK(tc_compiled_verdict(m.c, &m.v) && m.v.n_alternative >= 5);
    for (; tc_compiled_alternative(m.c, n, &a); n++) {
        any = any || (a.fits && !a.why && strstr(a.options, "-q a8w4"));
        refused = refused || a.why;
        CHECK(!a.fits || (a.sram <= 48 * 1024 && a.flash <= 100 * 1024 && a.milliseconds > 0));
    }
    CHECK(n == m.v.n_alternative && any && !refused);
    CHECK(tc_compiled_make(ctx, m.c, TC_OUTPUT_PTE, NULL) == TC_OK && tc_compiled_verdict(m.c, &m.v) &&
          m.v.n_alternative == n); /* they still hold */
    CHECK(tc_compiled_make(ctx, m.c, TC_OUTPUT_TFLITE, NULL) == TC_OK &&
          tc_compiled_verdict(m.c, &m.v) && m.v.n_alternative == 0);
    unlink(path);
    path = file_of("[Board.tiny]\nnpu = ethos-u55-128\nmemory_mode = Shared_Sram\n"
                   "sram = 20 KiB\nflash = 60 KiB\n");
    m = compile_for(ctx, path, NULL, TC_OUTPUT_PTE);
    CHECK(tc_compiled_try_alternatives(ctx, m.model, &m.o, m.c, TC_OUTPUT_PTE) == TC_OK);
    for (n = 0; tc_compiled_alternative(m.c, n, &a); n++) {
        refused = refused || a.why; /* so little scratch */
        CHECK(!a.fits);
    }
    CHECK(refused);
    unlink(path);
    m = compile_for(ctx, "alif-e7-hp", NULL, TC_OUTPUT_PTE);
    CHECK(tc_compiled_try_alternatives(ctx, m.model, &m.o, m.c, TC_OUTPUT_PTE) == TC_OK &&
          !tc_compiled_alternative(m.c, 0, &a)); /* it fits */
}

int main(void)
{
    tc_ctx *ctx = tc_ctx_new();
    check_table(ctx);
    check_records(ctx);
    check_files(ctx);
    check_targets(ctx);
    check_places(ctx);
    check_otherwise(ctx);
    tc_ctx_free(ctx);
    return check_done();
}
