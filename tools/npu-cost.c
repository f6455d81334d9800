/* SPDX-License-Identifier: Apache-2.0 */
/* npu-cost.c -- what our model of the machine says of a stream, beside Vela's own figures.
 *
 *   npu-cost [--each | --record | --choose] SYSTEM MODE X_vela.npz...
 *
 * Vela's figures are in X_debug.xml beside it (--enable-debug-db).
 *
 * A line a file: cycles by Vela, ours, how far apart; of its scheduled operations the share that is
 * within 5 %, and the cycles of those.  --each: a line an operation that is not.  --record: writes
 * X.cop, the stream, and X.txt, the operation that each command belongs to and Vela's cycles of it,
 * here: what test/fixture/cost has. */
#include <math.h>
#include <stdio.h>

#include "npu/block.h"
#include "npu/cost.h"
#include "npu/npu_text.h"
#include "npu/vela_map.h"
#include "wire/file.h"

enum { TAIL = sizeof "_vela.npz" - 1 };

typedef enum mode { TOTAL, EACH, RECORD, CHOOSE } mode;

static bool choose(void *user, tc_npu_op *op)
{
    tc_npu_walk *walk = user;
    if (!ti_npu_walk_next(walk, op))
        return false;
    if (ti_npu_is_kernel(op->kind))
        ti_npu_choose_block(walk->machine, op);
    return true;
}

static tc_status record(tc_ctx *ctx, const char *file, const char *heading, const tc_npu_program *p,
                        const tc_npu_stream_cost *cost, const tc_vela_map *map)
{
    size_t n;
    const tc_vela_cost *vela = ti_vela_map_costs(map, &n);
    const char *name = strrchr(file, '/');
    name = name ? name + 1 : file;
    name = ti_text_format(&ctx->arena, "%.*s", (int)(strlen(name) - TAIL), name);
    tc_buf out;
    ti_buf_init(&out, &ctx->arena);
    ti_buf_printf(&out, "%s\n", heading);
    for (size_t i = 0; i < cost->n_op; i++) {
        size_t k = ti_vela_map_scheduled(map, cost->op[i].at);
        ti_buf_printf(&out, "%zu %zu %" PRId64 "\n", cost->op[i].at, k, k < n ? vela[k].cycles : 0);
    }
    TC_TRY(ti_file_write(ctx, ti_text_format(&ctx->arena, "%s.txt", name),
                         (tc_bytes){out.data, out.size}));
    return ti_file_write(ctx, ti_text_format(&ctx->arena, "%s.cop", name), p->driver);
}

static tc_status compare(tc_ctx *ctx, const char *file, const char *system, const char *memory_mode,
                         mode what)
{
    tc_bytes bytes, xml;
    tc_npu_program p;
    tc_npu_system s;
    tc_npu_stream_cost cost;
    TC_TRY(ti_file_read(ctx, file, &bytes));
    TC_TRY(ti_npu_read_npz(ctx, file, bytes, &p));
    TC_TRY(ti_npu_system_find(ctx, p.machine, NULL, system, memory_mode, &s));
    TC_TRY(ti_file_read(
        ctx, ti_text_format(&ctx->arena, "%.*s_debug.xml", (int)(strlen(file) - TAIL), file),
        &xml));
    tc_vela_map *map = ti_vela_map_read(&ctx->arena, xml);
    const char *wrong = ti_npu_cost_stream(&ctx->arena, &p, &s, &cost);
    if (what == CHOOSE) {
        tc_npu_walk walk;
        ti_npu_walk_begin(&walk, p.machine, p.words);
        ti_npu_cost_ops(&ctx->arena, p.machine, &s, false, choose, &walk, &cost);
    }
    if (wrong || !map)
        return ti_error(ctx, NULL, TC_E_FORMAT, "%s: %s", file,
                        wrong ? wrong : "no debug database");
    if (what == RECORD)
        return record(ctx, file, ti_text_format(&ctx->arena, "%s %s", system, memory_mode), &p,
                      &cost, map);
    size_t n, good = 0, counted = 0;
    const tc_vela_cost *vela = ti_vela_map_costs(map, &n);
    double *ours = tc_new_n(&ctx->arena, double, n + 1),
           *compute = tc_new_n(&ctx->arena, double, n + 1), all = 0, within = 0, macs = 0;
    for (size_t i = 0; i < cost.n_op; i++) {
        size_t k = ti_vela_map_scheduled(map, cost.op[i].at);
        ours[k < n ? k : n] += cost.op[i].cost.cycles;
        compute[k < n ? k : n] += cost.op[i].cost.compute;
    }
    for (size_t k = 0; k < n; k++) {
        double v = (double)vela[k].cycles;
        bool near = fabs(ours[k] - v) <= 0.05 * v;
        all += v;
        macs += (double)vela[k].macs;
        if (v <= 0 && ours[k] <= 0)
            continue;
        counted++;
        good += near;
        within += near ? v : 0;
        if (what == EACH && !near)
            printf("  %-16s word %-8zu Vela %10.0f (%9.0f)  ours %10.0f (%9.0f)  %+7.1f %%\n",
                   vela[k].kind, vela[k].word, v, (double)vela[k].npu_cycles, ours[k], compute[k],
                   v > 0 ? 100 * (ours[k] - v) / v : 100);
    }
    const char *name = strrchr(file, '/');
    name = name ? name + 1 : file;
    printf("%-34.*s %-14s %12.0f %12.0f %+7.2f %%   %6zu of %6zu (%5.1f %% of cycles)  macs %+6.2f "
           "%%%s\n",
           (int)(strlen(name) - TAIL), name, p.machine->name, all, cost.total.cycles,
           all > 0 ? 100 * (cost.total.cycles - all) / all : 0, good, counted,
           all > 0 ? 100 * within / all : 0, macs > 0 ? 100 * (cost.total.macs - macs) / macs : 0,
           ours[n] > 0 ? "  not mapped!" : "");
    return TC_OK;
}

int main(int argc, char **argv)
{
    static const char *const flag[] = {"", "--each", "--record", "--choose"};
    mode what = TOTAL;
    for (int i = EACH; i <= CHOOSE && argc > 1; i++)
        what = strcmp(argv[1], flag[i]) == 0 ? (mode)i : what;
    argv += what != TOTAL;
    argc -= what != TOTAL;
    if (argc < 4) {
        fprintf(stderr, "npu-cost [--each | --record | --choose] SYSTEM MODE X_vela.npz...\n");
        return 2;
    }
    int worst = 0;
    for (int i = 3; i < argc; i++) {
        tc_ctx *ctx = tc_ctx_new();
        if (!ctx || strlen(argv[i]) <= TAIL || compare(ctx, argv[i], argv[1], argv[2], what)) {
            fprintf(stderr, "%s: %s\n", argv[i], ctx ? tc_diagnostics(ctx) : "memory ran out");
            worst = 1;
        }
        tc_ctx_free(ctx);
    }
    return worst;
}
