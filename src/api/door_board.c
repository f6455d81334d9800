/* SPDX-License-Identifier: Apache-2.0 */
/* door_board.c -- boards, and what fits them. */
#include "../base/enter.h"
#include "../board/board_fit.h"
#include "../show/calibrated_text.h"

/* ---- boards ---- */

static size_t count_memories(const tc_board *b)
{
    size_t n = 0;
    for (int i = 0; i < TC_BOARD_KINDS; i++)
        n += b->memory[i].bytes > 0;
    return n;
}

static void fill(const tc_board *b, tc_board_info *out)
{
    ti_fill_record(out,
                   &(tc_board_info){.name = b->name,
                                    .title = b->title,
                                    .npu = b->npu,
                                    .any_size = b->any_size,
                                    .core = b->core,
                                    .npu_clock = b->npu_clock,
                                    .core_clock = b->core_clock,
                                    .system_config = b->system_config,
                                    .memory_mode = b->memory_mode,
                                    .n_memory = count_memories(b),
                                    .source_npu = b->source_npu,
                                    .source_clock = b->source_clock,
                                    .source_system = b->source_system,
                                    .source_mode = b->source_mode,
                                    .text = b->text},
                   sizeof *out);
}

static tc_status at(tc_ctx *ctx, size_t i, bool *more, tc_board_info *out)
{
    const tc_board *list;
    size_t n;
    TC_TRY(ti_board_list(ctx, &list, &n));
    *more = i < n;
    if (*more)
        fill(&list[i], out);
    return TC_OK;
}

tc_status tc_board_at(tc_ctx *ctx, size_t i, bool *more, tc_board_info *out)
{
    TC_ENTER(ctx, at(ctx, i, more, out));
}

static tc_status find(tc_ctx *ctx, const char *name, tc_board_info *out)
{
    tc_board board;
    TC_TRY(ti_board_find(ctx, name, &board));
    fill(&board, out);
    return TC_OK;
}

tc_status tc_board_find(tc_ctx *ctx, const char *name, tc_board_info *out)
{
    TC_ENTER(ctx, find(ctx, name, out));
}

static tc_status memory_at(tc_ctx *ctx, const char *name, size_t i, tc_board_memory_info *out)
{
    tc_board board;
    size_t n = 0;
    TC_TRY(ti_board_find(ctx, name, &board));
    for (int k = 0; k < TC_BOARD_KINDS; k++) {
        const tc_board_memory *m = &board.memory[k];
        if (!m->bytes || n++ != i)
            continue;
        ti_fill_record(out,
                       &(tc_board_memory_info){.kind = tc_board_keys[k],
                                               .name = m->name,
                                               .bytes = m->bytes,
                                               .source = m->source},
                       sizeof *out);
        return TC_OK;
    }
    return ti_usage(ctx, "the board %s has %zu memories, not %zu", board.name, n, i + 1);
}

tc_status tc_board_memory_at(tc_ctx *ctx, const char *name, size_t i, tc_board_memory_info *out)
{
    TC_ENTER(ctx, memory_at(ctx, name, i, out));
}

/* ---- the verdict ---- */

bool tc_compiled_verdict(const tc_compiled *compiled, tc_board_verdict *out)
{
    const tc_fit *f = compiled->fit;
    if (!f)
        return 0;
    ti_fill_record(out,
                   &(tc_board_verdict){.board = f->board->name,
                                 .target = f->target,
                                 .system_config = f->system_config,
                                 .memory_mode = f->memory_mode,
                                 .npu_clock = f->npu_clock,
                                 .core_clock = f->core_clock,
                                 .fits = f->fits,
                                 .n_memory = f->n_memory,
                                 .n_alternative = f->n_trial,
                                 .milliseconds = f->milliseconds,
                                 .inferences_per_second = f->inferences_per_second,
                                 .not_counted = f->not_counted,
                                 .bound = f->bound,
                                 .milliseconds_low = f->least,
                                 .milliseconds_high = f->most},
                   sizeof *out);
    return 1;
}

bool tc_compiled_verdict_memory(const tc_compiled *compiled, size_t i, tc_board_verdict_memory *out)
{
    const tc_fit *f = compiled->fit;
    if (!f || i >= f->n_memory)
        return 0;
    const tc_fit_memory *m = &f->memory[i];
    ti_fill_record(out,
                   &(tc_board_verdict_memory){.kind = tc_board_keys[m->kind],
                                        .name = m->name,
                                        .bytes = m->bytes,
                                        .used = m->used,
                                        .left = m->bytes - m->used},
                   sizeof *out);
    return 1;
}

bool tc_compiled_alternative(const tc_compiled *compiled, size_t i, tc_alternative *out)
{
    const tc_fit *f = compiled->fit;
    if (!f || i >= f->n_trial)
        return 0;
    const tc_fit_trial *t = &f->trial[i];
    ti_fill_record(out,
                   &(tc_alternative){.options = t->options,
                                     .why = t->why,
                                     .fits = t->fits,
                                     .sram = t->used[TC_BOARD_SRAM],
                                     .flash = t->used[TC_BOARD_FLASH],
                                     .dram = t->used[TC_BOARD_DRAM],
                                     .milliseconds = t->milliseconds,
                                     .sqnr_db = t->sqnr_db,
                                     .milliseconds_low = t->least,
                                     .milliseconds_high = t->most},
                   sizeof *out);
    return 1;
}

/* ---- what its counter took ---- */

static tc_status calibrate(tc_ctx *ctx, const char *const *logs, size_t n, const char *board,
                           const char *name, tc_form form, const char **text, const char **report)
{
    tc_calibrated c;
    TC_TRY(ti_calibrate(ctx, logs, n, board, name, &c));
    if (text)
        *text = c.text;
    if (report)
        *report = ti_show_calibrated(ctx, &c, form);
    return TC_OK;
}

tc_status tc_board_calibrate(tc_ctx *ctx, const char *const *logs, size_t n, const char *board,
                             const char *name, tc_form form, const char **text, const char **report)
{
    TC_ENTER(ctx, calibrate(ctx, logs, n, board, name, form, text, report));
}
