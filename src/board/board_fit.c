/* SPDX-License-Identifier: Apache-2.0 */
/* board_fit.c -- see board_fit.h.
 *
 * The memory mode says where everything is stored: constants (the whole file: its command streams
 * and weights are read where they are), values (what the program has planned, and the largest
 * scratch of its streams, which are never there at the same time; of a .pte the pools of
 * ExecuTorch's runtime), and the cache of an NPU that has one.  Where constants are in the memory
 * of the values, the flash has the file as well. */
#include "board_fit.h"

#include "../drive/core_cost.h"

#include <stdlib.h>

#include "../npu/cost.h"
#include "../read/pte_needs.h"

tc_board_kind ti_board_kind_of(const tc_npu_system *s, int region)
{
    const char *name = s->memory[s->of_region[region]].name;
    return ti_text_eq(name, "Sram")   ? TC_BOARD_SRAM
           : ti_text_eq(name, "Dram") ? TC_BOARD_DRAM
                                      : TC_BOARD_FLASH;
}

/* ---- working memory ---- */

static int by_offset(const void *a, const void *b)
{
    const tc_codegen_place *x = *(const tc_codegen_place *const *)a,
                           *y = *(const tc_codegen_place *const *)b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* Bytes of SRAM in use at a command: buffers that reuse an operand's memory count once. */
static int64_t used_at(const tc_codegen_result *own, size_t step, const tc_codegen_place **live)
{
    size_t n = 0;
    int64_t sum = 0, end = 0;
    for (size_t i = 0; i < own->n_place; i++)
        if (own->place[i].first <= step && own->place[i].last >= step &&
            ti_text_eq(own->place[i].memory, "Sram"))
            live[n++] = &own->place[i];
    if (n)
        qsort(live, n, sizeof *live, by_offset);
    for (size_t i = 0; i < n; i++) {
        int64_t from = live[i]->offset > end ? live[i]->offset : end,
                to = live[i]->offset + live[i]->bytes;
        sum += to > from ? to - from : 0;
        end = to > end ? to : end;
    }
    return sum;
}

/* The command of our own stream at which most of the SRAM is in use. */
static const char *most_at(tc_ctx *ctx, const tc_codegen_result *own)
{
    enum { MANY = 8192 }; /* more locations than these are not examined */
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const tc_codegen_place **live =
        tc_new_n(&ctx->scratch, const tc_codegen_place *, own->n_place + 1);
    int64_t most = 0;
    size_t at = 0, n = own->n_place <= MANY ? own->n_place : 0;
    for (size_t i = 0; i < n; i++) {
        int64_t used = used_at(own, own->place[i].first, live);
        at = used > most ? own->place[i].first : at;
        most = used > most ? used : most;
    }
    ti_arena_rewind(&ctx->scratch, mark);
    const tc_loc *loc = most && at < own->n_origin ? own->origin[at].node->loc : NULL;
    return loc ? ti_text_format(&ctx->arena, "%s%s%s%s needs %" PRId64 " KiB at a time",
                                loc->node ? loc->node : "an operator", loc->place ? " (" : "",
                                loc->place ? loc->place : "", loc->place ? ")" : "",
                                (most + 1023) / 1024)
               : NULL;
}

/* The largest scratch of all streams, and the largest cache; *whose the scratch is. */
static void add_streams(const tc_compiled *c, tc_fit *f, int64_t *cache, const tc_region **whose)
{
    *whose = NULL;
    for (const tc_compiled *m = c; m; m = m->asked.beside)
        for (size_t i = 0; m->jobs && i < m->n_region; i++) {
            const tc_ethosu_job *job = &m->jobs[i];
            *cache = job->fast_scratch > *cache ? job->fast_scratch : *cache;
            if (job->scratch <= f->working)
                continue;
            f->working = job->scratch;
            *whose = &m->region[i];
        }
}

/* ---- time ---- */

/* What the milliseconds do not include. */
static const char *words_of_rest(tc_ctx *ctx, const tc_compiled *c, bool c_source)
{
    size_t left = ti_left_outside(c);
    const char *rest = c_source ? "" : left ? " and the runtime" : "the runtime";
    return left ? ti_text_format(&ctx->arena, c_source ? "%zu operator%s of the caller%s" : "%zu operator%s on the CPU%s",
                                 left, left == 1 ? "" : "s", rest)
                : rest;
}

static tc_status set_time(tc_ctx *ctx, const tc_compiled *c, tc_fit *f)
{
    double seconds = 0, low = 0, high = 0; /* how far off it may be */
    bool known = true;
    for (size_t i = 0; c->jobs && i < c->n_region; i++) {
        const tc_ethosu_job *j = &c->jobs[i];
        seconds += (j->cycles + (double)ti_max_i64(j->times, 1) * f->board->npu_call) / f->npu_clock;
        low += j->cycles_high > 0 ? (j->cycles - j->cycles_low) / f->npu_clock : 0;
        high += j->cycles_high > 0 ? (j->cycles_high - j->cycles) / f->npu_clock : 0;
    }
    if (c->target.machine->packing == TC_PACKED_C) {
        tc_core_cost cost;
        TC_TRY(ti_core_cost(ctx, c, &cost));
        known = f->core_clock > 0;
        if (known) {
            seconds += cost.cycles / f->core_clock;
            low += (cost.cycles - cost.cycles_low) / f->core_clock;
            high += (cost.cycles_high - cost.cycles) / f->core_clock;
        }
    } else if (c->core.region) {
        known = f->core_clock > 0;
        if (known) {
            const tc_cycles *k = &c->target.core->machine->cycles;
            double about = c->written.core_cycles / f->core_clock;
            seconds += about;
            low += about * (1 - k->low / k->about);
            high += about * (k->high / k->about - 1);
        }
    }
    f->milliseconds = known ? 1e3 * seconds : 0;
    f->least = f->milliseconds - 1e3 * low;
    f->most = f->milliseconds + 1e3 * high;
    f->inferences_per_second = known && seconds > 0 ? 1 / seconds : 0;
    return TC_OK;
}

/* ---- all of it ---- */

/* In which memory the parts of a program are. */
typedef struct places {
    tc_board_kind constants, values, cache;
} places;

static tc_status find_places(tc_ctx *ctx, const tc_compiled *c, tc_fit *f, places *out)
{
    const tc_machine *m = c->target.machine;
    tc_npu_system system;
    *out = (places){TC_BOARD_FLASH, TC_BOARD_SRAM, TC_BOARD_SRAM};
    f->core_clock = m->packing == TC_PACKED_C || c->core.region ? f->board->core_clock : 0;
    if (m->packing != TC_PACKED_STREAM)
        return TC_OK;
    TC_TRY(ti_npu_system_find(ctx, c->target.npu, c->asked.ethosu.ini, c->asked.ethosu.system_config,
                              c->asked.ethosu.memory_mode, &system));
    f->system_config = system.config;
    f->memory_mode = system.mode;
    f->npu_clock = f->board->npu_clock > 0 ? f->board->npu_clock : system.clock;
    *out = (places){ti_board_kind_of(&system, 0), ti_board_kind_of(&system, 1), ti_board_kind_of(&system, 2)};
    return TC_OK;
}

static void judge(tc_fit *f, const int64_t used[TC_BOARD_KINDS])
{
    f->fits = true;
    for (int k = 0; k < TC_BOARD_KINDS; k++) {
        const tc_board_memory *has = &f->board->memory[k];
        if (!has->bytes && !used[k])
            continue;
        f->memory[f->n_memory++] =
            (tc_fit_memory){has->name, (tc_board_kind)k, has->bytes, used[k]};
        f->fits = f->fits && used[k] <= has->bytes;
    }
}

/* The same files made again: the trials instead of them still hold. */
static void keep_trials(const tc_fit *before, tc_fit *now)
{
    bool same = before && before->n_memory == now->n_memory;
    for (size_t i = 0; same && i < now->n_memory; i++)
        same = before->memory[i].kind == now->memory[i].kind &&
               before->memory[i].used == now->memory[i].used;
    if (!same)
        return;
    now->trial = before->trial;
    now->n_trial = before->n_trial;
}

tc_status ti_board_fit(tc_ctx *ctx, tc_compiled *c, tc_output kind)
{
    const tc_written *w = &c->written;
    bool c_source = w->name != NULL; /* its arena contains the scratch, and so does TFLM's */
    int64_t used[TC_BOARD_KINDS] = {0}, cache = 0;
    places at;
    const tc_region *whose;
    if (!c->asked.board || !(w->planned || c_source || kind == TC_OUTPUT_STREAM))
        return TC_OK;
    tc_fit *f = tc_new(&ctx->arena, tc_fit);
    *f = (tc_fit){.board = c->asked.board, .target = c->target.text};
    TC_TRY(find_places(ctx, c, f, &at));
    add_streams(c, f, &cache, &whose);
    f->works_in = at.values;
    used[at.constants] += (int64_t)w->bytes;
    if (at.constants != TC_BOARD_FLASH && c->asked.board->memory[TC_BOARD_FLASH].bytes)
        used[TC_BOARD_FLASH] += (int64_t)w->bytes;
    for (const tc_compiled *m = c; m; m = m->asked.beside)
        used[at.values] += (int64_t)m->written.memory;
    used[at.values] += (int64_t)(w->state + w->ports);
    if (w->needs)
        used[at.values] += (int64_t)(w->needs->method + w->needs->temporary);
    else if (!c_source && kind != TC_OUTPUT_TFLITE)
        used[at.values] += f->working;
    used[at.cache] += cache;
    judge(f, used);
    f->bound = !f->fits && whose && whose->own ? most_at(ctx, whose->own) : NULL;
    TC_TRY(set_time(ctx, c, f));
    f->not_counted = words_of_rest(ctx, c, c_source);
    keep_trials(c->fit, f);
    c->fit = f;
    return TC_OK;
}
