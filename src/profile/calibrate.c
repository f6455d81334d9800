/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.c -- see calibrate.h.
 *
 * Bandwidth and latencies of each memory are changed, one at a time and by ever smaller factors, as long as
 * the sum of (expected - measured)^2 / measured over all parts of all logs becomes less. */
#include "calibrate.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "../wire/file.h"

/* A stream that was counted. */
typedef struct counted {
    const tc_npu_program *program;
    tc_counted_part *part;
    size_t n_part, cap_part;
    size_t log;
} counted;

typedef struct fit {
    tc_ctx *ctx;
    counted *stream;
    size_t n_stream, cap_stream;
    tc_npu_system system;
    bool used[TC_NPU_MEMORIES];
} fit;

/* ---- what is compared ---- */

static void expect(fit *f, const tc_npu_system *system, counted *s)
{
    tc_npu_stream_cost cost;
    tc_mark mark = ti_arena_mark(&f->ctx->scratch);
    size_t at = 0;
    for (size_t i = 0; i < s->n_part; i++)
        s->part[i].expected = 0;
    (void)ti_npu_cost_stream(&f->ctx->scratch, s->program, system, &cost);
    for (size_t i = 0; i < cost.n_op; i++) {
        tc_counted_part *part = ti_counted_part_of(s->part, s->n_part, 0, cost.op[i].at, &at);
        if (part)
            part->expected += cost.op[i].cost.cycles;
    }
    for (int i = 0; i < TC_NPU_MEMORIES; i++)
        f->used[i] = f->used[i] || cost.total.read[i] + cost.total.written[i] > 0;
    ti_arena_rewind(&f->ctx->scratch, mark);
}

static double misfit(fit *f, const tc_npu_system *system)
{
    double sum = 0;
    for (size_t i = 0; i < f->n_stream; i++) {
        counted *s = &f->stream[i];
        expect(f, system, s);
        for (size_t k = 0; k < s->n_part; k++) {
            double measured = s->part[k].cycles, off = s->part[k].expected - measured;
            sum += off * off / (measured > 1 ? measured : 1);
        }
    }
    return sum;
}

/* Of the streams of one log, or of all (log SIZE_MAX), as they were expected last. */
static tc_calibrated_error error_of(const fit *f, size_t log, size_t *n_part, double *cycles)
{
    double measured = 0, expected = 0, apart = 0;
    size_t n = 0;
    for (size_t i = 0; i < f->n_stream; i++) {
        const counted *s = &f->stream[i];
        for (size_t k = 0; k < s->n_part && (log == SIZE_MAX || s->log == log); k++, n++) {
            measured += s->part[k].cycles;
            expected += s->part[k].expected;
            apart += fabs(s->part[k].cycles - s->part[k].expected);
        }
    }
    if (n_part)
        *n_part = n;
    if (cycles)
        *cycles = measured;
    return (tc_calibrated_error){expected > 0 ? measured / expected - 1 : 0,
                                 measured > 0 ? apart / measured : 0};
}

/* ---- the numbers ---- */

static const struct number {
    const char *what;
    size_t at;  /* in a port */
    bool whole; /* an int32_t; else a double */
    double least, most; /* most 0: what the port has */
} numbers[] = {{"bytes a cycle", offsetof(tc_npu_port, bytes_per_cycle), false, 0.05, 0},
               {"read latency", offsetof(tc_npu_port, read_latency), true, 0, 5000},
               {"write latency", offsetof(tc_npu_port, write_latency), true, 0, 5000}};
enum { NUMBERS = TC_COUNT(numbers) };

static double get(const tc_npu_system *s, int memory, size_t number)
{
    const char *at = (const char *)&s->memory[memory] + numbers[number].at;
    return numbers[number].whole ? *(const int32_t *)(const void *)at : *(const double *)(const void *)at;
}

static void put(tc_npu_system *s, int memory, size_t number, double value)
{
    char *at = (char *)&s->memory[memory] + numbers[number].at;
    if (numbers[number].whole)
        *(int32_t *)(void *)at = (int32_t)value;
    else
        *(double *)(void *)at = value;
}

static double port_bytes(const fit *f, int memory)
{
    return (f->stream[0].program->machine->product == TC_U55 ? 8 : 16) *
           (double)f->system.memory[memory].ports;
}

static double changed(const fit *f, int memory, size_t number, double by)
{
    const struct number *n = &numbers[number];
    double before = get(&f->system, memory, number), now = before * by,
           most = n->most > 0 ? n->most : port_bytes(f, memory);
    if (n->whole) {
        now = floor(now + 0.5);
        now = by > 1 && now <= before ? before + 1 : by < 1 && now >= before ? before - 1 : now;
    }
    return now < n->least ? n->least : now > most ? most : now;
}

/* Goes on in one direction while it is better; whether it was at all. */
static bool go(fit *f, int memory, size_t number, double by, double *best)
{
    static const double worth = 1 - 1e-4; /* what does not change the figure stays as it is */
    bool better = false;
    for (;;) {
        tc_npu_system other = f->system;
        put(&other, memory, number, changed(f, memory, number, by));
        if (get(&other, memory, number) == get(&f->system, memory, number))
            return better;
        double off = misfit(f, &other);
        if (off >= *best * worth)
            return better;
        *best = off;
        f->system = other;
        better = true;
    }
}

static void search(fit *f)
{
    static const double steps[] = {2, 1.3, 1.1, 1.03, 1.01};
    enum { ROUNDS = 40 };
    double best = misfit(f, &f->system);
    for (size_t k = 0; k < TC_COUNT(steps); k++)
        for (int round = 0, better = 1; better && round < ROUNDS; round++) {
            better = 0;
            for (int m = 0; m < TC_NPU_MEMORIES; m++)
                for (size_t i = 0; i < NUMBERS && f->used[m]; i++) {
                    better |= go(f, m, i, steps[k], &best);
                    better |= go(f, m, i, 1 / steps[k], &best);
                }
        }
}

/* ---- logs ---- */

/* The program of a log is beside it. */
static const char *program_of(tc_ctx *ctx, const tc_pmu_log *log)
{
    int folder = (int)(ti_path_last(log->file) - log->file);
    return ti_path_is_absolute(log->program)
               ? log->program
               : ti_text_format(&ctx->arena, "%.*s%s", folder, log->file, log->program);
}

static tc_status add_log(fit *f, const char *path, size_t number, tc_pmu_log *log)
{
    tc_bytes text, file;
    tc_stream *stream;
    size_t n, before = f->n_stream;
    TC_TRY(ti_file_read(f->ctx, path, &text));
    TC_TRY(ti_pmu_read(f->ctx, path, text, log));
    if (!log->program)
        return ti_error(f->ctx, &(tc_loc){.file = path}, TC_E_FORMAT,
                        "the log does not say what ran: a line 'program FILE' behind 'tosac-pmu 1'");
    const char *program = program_of(f->ctx, log);
    TC_TRY(ti_file_read(f->ctx, program, &file));
    TC_TRY(ti_streams_read(f->ctx, program, file, &stream, &n));
    for (size_t i = 0; i < n; i++) {
        const tc_pmu_stream *one = ti_counted_stream(log, &stream[i].program);
        if (!one)
            continue;
        tc_grow(&f->ctx->arena, f->stream, f->n_stream, f->cap_stream);
        counted *s = &f->stream[f->n_stream++];
        *s = (counted){.program = &stream[i].program, .log = number};
        TC_TRY(ti_counted_parts(f->ctx, path, s->program, 0, one, &s->part, &s->n_part, &s->cap_part));
    }
    return f->n_stream > before
               ? TC_OK
               : ti_error(f->ctx, &(tc_loc){.file = path}, TC_E_FORMAT,
                          "this log was not made with %s: it has none of its streams", program);
}

static tc_status one_machine(const fit *f, const tc_board *board)
{
    const tc_npu_machine *m = f->stream[0].program->machine;
    for (size_t i = 0; i < f->n_stream; i++)
        if (f->stream[i].program->machine != m)
            return ti_usage(f->ctx, "the logs are of different machines: %s, %s", m->name,
                            f->stream[i].program->machine->name);
    return board->npu && (board->any_size || ti_text_eq(board->npu, m->name))
               ? TC_OK
               : ti_usage(f->ctx, "--board %s: it has %s, and the logs are of an %s", board->name,
                          board->npu ? board->npu : "no Ethos-U", m->name);
}

/* ---- the file ---- */

static const char *scale_text(const fit *f, int memory)
{
    return ti_text_format(&f->ctx->arena, "%.4f",
                          f->system.memory[memory].bytes_per_cycle / port_bytes(f, memory));
}

static bool begins(const char *line, const char *key)
{
    size_t n = strlen(key);
    return strncmp(line, key, n) == 0 && (line[n] == ' ' || line[n] == '=');
}

/* The board's own lines but for those that say which system it has. */
static void put_board(const tc_board *b, const char *name, tc_buf *out)
{
    static const char *const other[] = {"system_config", "source_system", "vela_ini", "npu_call"};
    const char *line = b->text;
    ti_buf_printf(out, "[Board.%s]\n", name);
    for (line += strcspn(line, "\n") + 1; *line && *line != '[' && *line != '\n';) {
        size_t n = strcspn(line, "\n"), k = 0;
        while (k < TC_COUNT(other) && !begins(line, other[k]))
            k++;
        if (k == TC_COUNT(other))
            ti_buf_printf(out, "%.*s\n", (int)n, line);
        line += n + (line[n] == '\n');
    }
}

static void put_system(const fit *f, const char *name, tc_buf *out)
{
    const tc_npu_system *s = &f->system;
    ti_buf_printf(out, "\n[System_Config.%s]\ncore_clock = %.0f\n", name, s->clock);
    for (int i = 0; i < TC_NPU_MEMORIES; i++)
        ti_buf_printf(out, "axi%d_port = %s\n", i, s->memory[i].name);
    for (int i = 0; i < TC_NPU_MEMORIES; i++) {
        const tc_npu_port *p = &s->memory[i];
        if (i && ti_text_eq(p->name, s->memory[0].name))
            continue;
        ti_buf_printf(out, "%s_clock_scale = %s\n%s_burst_length = %" PRId32 "\n", p->name,
                      scale_text(f, i), p->name, p->burst);
        ti_buf_printf(out, "%s_read_latency = %" PRId32 "\n%s_write_latency = %" PRId32 "\n", p->name,
                      p->read_latency, p->name, p->write_latency);
        ti_buf_printf(out, "%s_max_reads = %" PRId32 "\n%s_max_writes = %" PRId32 "\n%s_ports_used = %" PRId32 "\n",
                      p->name, p->max_reads, p->name, p->max_writes, p->name, p->ports);
    }
}

/* A mode of the old file goes with it. */
static tc_status put_mode(const fit *f, const tc_board *b, tc_buf *out)
{
    const tc_npu_system *s = &f->system;
    tc_bytes ini;
    if (!b->ini || !b->memory_mode)
        return TC_OK;
    TC_TRY(ti_file_read(f->ctx, b->ini, &ini));
    if (!ti_npu_ini_has(ini, "Memory_Mode", b->memory_mode))
        return TC_OK;
    ti_buf_printf(out, "\n[Memory_Mode.%s]\nconst_mem_area = Axi%d\narena_mem_area = Axi%d\ncache_mem_area = Axi%d\n",
                  b->memory_mode, s->of_region[0], s->of_region[1], s->of_region[2]);
    if (s->cache)
        ti_buf_printf(out, "arena_cache_size = %" PRId64 "\n", s->cache);
    return TC_OK;
}

static tc_status make_text(fit *f, tc_calibrated *c, const char *name)
{
    tc_buf out;
    ti_buf_init(&out, &f->ctx->arena);
    put_board(&c->board, name, &out);
    ti_buf_printf(&out, "system_config = %s\n", name);
    if (c->call >= 0)
        ti_buf_printf(&out, "npu_call = %.0f\n", c->call);
    ti_buf_printf(&out, "source_system = fitted to %zu log%s of the cycle counter: parts %.1f %% apart before, %.1f %% after\n",
                  c->n_log, c->n_log == 1 ? "" : "s", 100 * c->before.apart, 100 * c->after.apart);
    put_system(f, name, &out);
    TC_TRY(put_mode(f, &c->board, &out));
    c->text = ti_buf_cstr(&out);
    return TC_OK;
}

/* ---- all of it ---- */

static void tell_errors(const fit *f, tc_calibrated *c, bool after)
{
    for (size_t i = 0; i < c->n_log; i++) {
        tc_calibrated_error e = error_of(f, i, &c->log[i].n_part, &c->log[i].cycles);
        *(after ? &c->log[i].after : &c->log[i].before) = e;
    }
    *(after ? &c->after : &c->before) = error_of(f, SIZE_MAX, NULL, NULL);
}

static void tell_numbers(const fit *f, const tc_npu_system *before, tc_calibrated *c)
{
    c->number = tc_new_n(&f->ctx->arena, tc_calibrated_number, TC_NPU_MEMORIES * NUMBERS);
    for (int m = 0; m < TC_NPU_MEMORIES; m++)
        for (size_t i = 0; i < NUMBERS && f->used[m]; i++)
            c->number[c->n_number++] = (tc_calibrated_number){
                before->memory[m].name, numbers[i].what, get(before, m, i), get(&f->system, m, i)};
}

/* Calls beside their jobs, of the logs that say it; below 0: none does. */
static double call_of(const double *call, size_t n)
{
    double sum = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        sum += call[i] >= 0 ? call[i] : 0;
        count += call[i] >= 0;
    }
    return count > 0 ? sum / count : -1;
}

tc_status ti_calibrate(tc_ctx *ctx, const char *const *logs, size_t n, const char *board,
                       const char *name, tc_calibrated *out)
{
    fit f = {.ctx = ctx};
    double *call = tc_new_n(&ctx->arena, double, n + 1);
    *out = (tc_calibrated){.log = tc_new_n(&ctx->arena, tc_calibrated_log, n + 1), .n_log = n};
    TC_TRY(ti_board_find(ctx, board, &out->board));
    for (size_t i = 0; i < n; i++) {
        tc_pmu_log log;
        out->log[i].file = ti_intern_text(ctx, logs[i]);
        TC_TRY(add_log(&f, out->log[i].file, i, &log));
        call[i] = ti_counted_call(&log);
    }
    TC_TRY(one_machine(&f, &out->board));
    TC_TRY(ti_npu_system_find(ctx, f.stream[0].program->machine, out->board.ini,
                              out->board.system_config, out->board.memory_mode, &f.system));
    tc_npu_system before = f.system;
    misfit(&f, &before);
    tell_errors(&f, out, false);
    search(&f);
    for (int i = 0; i < TC_NPU_MEMORIES; i++) /* as the file has it */
        if (f.used[i])
            f.system.memory[i].bytes_per_cycle = strtod(scale_text(&f, i), NULL) * port_bytes(&f, i);
    misfit(&f, &f.system);
    tell_errors(&f, out, true);
    tell_numbers(&f, &before, out);
    out->call = call_of(call, n);
    out->system = f.system;
    return make_text(&f, out, name);
}
