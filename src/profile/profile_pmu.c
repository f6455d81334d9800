/* SPDX-License-Identifier: Apache-2.0 */
/* profile_pmu.c -- what an Ethos-U's cycle counter took, by operation, line, module and node.
 *
 * Between two marks there is one operation, or a few that are over too quickly to be told apart; what
 * those took together is divided by their expected cycles. */
#include "counted_parts.h"
#include "measured_rows.h"

#include "../wire/file.h"

#include <math.h>

static tc_status other_streams(tc_ctx *ctx, const tc_profile *p, const tc_pmu_log *log)
{
    tc_status status = ti_error(ctx, &(tc_loc){.file = log->file}, TC_E_FORMAT,
                                "this log was not made with this program: it has a stream of %zu bytes, hash %" PRIu32,
                                log->stream[0].bytes, log->stream[0].hash);
    for (size_t i = 0; i < p->n_stream; i++) {
        tc_bytes words = {p->program[i]->words.data, 4 * p->program[i]->words.n};
        ti_note(ctx, NULL, "stream %zu of the program has %zu bytes, hash %" PRIu32, i, words.size,
                ti_pmu_hash(words));
    }
    return status;
}

static void make_rows(tc_ctx *ctx, const tc_profile *p, tc_counted *c, tc_profile_by by)
{
    tc_measured_rows rows;
    size_t at = 0;
    ti_measured_begin(ctx, &rows);
    for (size_t i = 0; i < p->n_entry; i++) {
        const tc_profile_entry *e = &p->entry[i];
        const tc_counted_part *part =
            ti_counted_part_of(c->part, c->n_part, e->stream, e->word, &at);
        if (!part || !(e->cost.cycles > 0))
            continue;
        const char *name = by == TC_PROFILE_BY_KIND ? e->name : ti_measured_key(e->loc, by, e->name);
        ti_measured_add(&rows, name, part->cycles * e->cost.cycles / part->expected, e->cost.cycles,
                        part->n_op > 1);
    }
    ti_measured_end(&rows, &c->row[by], &c->n_row[by]);
}

static void expect(const tc_profile *p, tc_counted *c)
{
    size_t at = 0;
    for (size_t i = 0; i < p->n_entry; i++) {
        const tc_profile_entry *e = &p->entry[i];
        tc_counted_part *part = ti_counted_part_of(c->part, c->n_part, e->stream, e->word, &at);
        if (!part)
            continue;
        part->expected += e->cost.cycles;
        part->n_op += e->cost.cycles > 0;
    }
    for (size_t i = 0; i < c->n_part; i++) {
        c->cycles += c->part[i].cycles;
        c->expected += c->part[i].expected;
        c->apart += fabs(c->part[i].cycles - c->part[i].expected);
    }
}

tc_status ti_profile_counted(tc_ctx *ctx, tc_profile *p, const char *path)
{
    tc_pmu_log log;
    tc_bytes text;
    size_t cap = 0;
    TC_TRY(ti_file_read(ctx, path, &text));
    TC_TRY(ti_pmu_read(ctx, path, text, &log));
    tc_counted *c = tc_new(&ctx->arena, tc_counted);
    c->file = ti_intern_text(ctx, path);
    c->call = ti_counted_call(&log);
    for (size_t i = 0; i < p->n_stream; i++) {
        const tc_pmu_stream *s = ti_counted_stream(&log, p->program[i]);
        if (!s)
            continue;
        TC_TRY(ti_counted_parts(ctx, path, p->program[i], i, s, &c->part, &c->n_part, &cap));
        c->jobs += s->n_job;
    }
    if (!c->n_part)
        return other_streams(ctx, p, &log);
    expect(p, c);
    for (int by = 0; by < TC_PROFILE_BYS; by++)
        make_rows(ctx, p, c, (tc_profile_by)by);
    p->counted = c;
    return TC_OK;
}
