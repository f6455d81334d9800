/* SPDX-License-Identifier: Apache-2.0 */
/* counted_parts.c -- see counted_parts.h. */
#include "counted_parts.h"

const tc_pmu_stream *ti_counted_stream(const tc_pmu_log *log, const tc_npu_program *p)
{
    tc_bytes words = {p->words.data, 4 * p->words.n};
    uint32_t hash = ti_pmu_hash(words);
    for (size_t i = 0; i < log->n_stream; i++)
        if (log->stream[i].bytes == words.size && (log->stream[i].hash == hash || !log->stream[i].hash))
            return &log->stream[i];
    return NULL;
}

/* The mark that a reading belongs to, from `from` on: the last one of its mask's bits, or the last one
 * that QREAD is beyond; n: none. */
static size_t mark_of(const tc_npu_mark *mark, size_t n, size_t from, const tc_pmu_mark *seen)
{
    size_t found = n;
    for (size_t k = from; k < n && k < from + 16 && seen->mask; k++)
        if (mark[k].mask & seen->mask)
            found = k;
    for (size_t k = from; k < n && !seen->mask && 4 * mark[k].word < seen->at; k++)
        found = k;
    return found;
}

/* By mark: cycles of the job so far; below 0: not seen by itself. */
static void read_job(const tc_npu_mark *mark, size_t n, const tc_pmu_job *job, double *cycles)
{
    size_t from = 0;
    for (size_t k = 0; k < n; k++)
        cycles[k] = -1;
    for (size_t i = 0; i < job->n_mark; i++) {
        size_t k = mark_of(mark, n, from, &job->mark[i]);
        if (k == n)
            continue;
        cycles[k] = job->mark[i].cycles;
        from = k + 1;
    }
}

static tc_status unseen(tc_ctx *ctx, const char *log, size_t n)
{
    return n ? TC_OK
             : ti_error(ctx, &(tc_loc){.file = log}, TC_E_FORMAT, "the stream was never run to its end");
}

tc_status ti_counted_parts(tc_ctx *ctx, const char *log, const tc_npu_program *program, size_t stream,
                           const tc_pmu_stream *counted, tc_counted_part **out, size_t *n, size_t *cap)
{
    tc_npu_mark *mark;
    size_t n_mark, jobs = counted->n_job;
    double end = 0, before = 0;
    TC_TRY(unseen(ctx, log, jobs));
    const char *wrong = ti_npu_marks_in(&ctx->arena, program->machine, program->words, &mark, &n_mark);
    if (wrong)
        return ti_error(ctx, &(tc_loc){.file = log}, TC_E_STREAM, "%s", wrong);
    double *one = tc_new_n(&ctx->arena, double, n_mark + 1), *sum = tc_new_n(&ctx->arena, double, n_mark + 1);
    for (size_t i = 0; i < jobs; i++) {
        read_job(mark, n_mark, &counted->job[i], one);
        end += counted->job[i].end;
        for (size_t k = 0; k < n_mark; k++)
            sum[k] = one[k] < 0 || sum[k] < 0 ? -1 : sum[k] + one[k];
    }
    tc_counted_part part = {.stream = stream};
    for (size_t k = 0; k <= n_mark; k++) {
        double at = (k < n_mark ? sum[k] : end) / (double)jobs;
        if (at < 0)
            continue;
        part.upto = k < n_mark ? mark[k].word : SIZE_MAX;
        part.cycles = at - before;
        tc_grow(&ctx->arena, *out, *n, *cap);
        (*out)[(*n)++] = part;
        part.after = part.upto;
        before = at;
    }
    return TC_OK;
}

tc_counted_part *ti_counted_part_of(tc_counted_part *part, size_t n, size_t stream, size_t word, size_t *at)
{
    while (*at + 1 < n && (part[*at].stream < stream ||
                           (part[*at].stream == stream && word > part[*at].upto)))
        ++*at;
    return *at < n && part[*at].stream == stream ? &part[*at] : NULL;
}

double ti_counted_call(const tc_pmu_log *log)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < log->n_stream; i++)
        for (size_t k = 0; k < log->stream[i].n_job; k++) {
            const tc_pmu_job *j = &log->stream[i].job[k];
            sum += j->call > 0 ? j->call - j->end : 0;
            n += j->call > 0;
        }
    return n ? sum / (double)n : -1;
}
