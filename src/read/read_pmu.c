/* SPDX-License-Identifier: Apache-2.0 */
/* read_pmu.c -- see read_pmu.h. */
#include "read_pmu.h"

#include "../base/text.h"

enum { MOST_NUMBERS = 3 };

typedef struct reader {
    tc_ctx *ctx;
    tc_pmu_log *log;
    tc_pmu_stream *stream; /* at hand; NULL: none yet */
    tc_pmu_job job;        /* likewise; its end is yet to come */
    size_t line;
    double number[MOST_NUMBERS];
    tc_str rest; /* of the line, behind its first word */
} reader;

uint32_t ti_pmu_hash(tc_bytes stream)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < stream.size; i++)
        hash = (hash ^ stream.data[i]) * 16777619u;
    return hash;
}

static tc_status wrong(const reader *r, const char *what)
{
    tc_loc *loc = tc_new(&r->ctx->arena, tc_loc);
    loc->file = ti_text_format(&r->ctx->arena, "%s:%zu", r->log->file, r->line);
    return ti_error(r->ctx, loc, TC_E_FORMAT, "%s", what);
}

/* The next word of *text, taken off it; empty at the end. */
static tc_str word_of(tc_str *text)
{
    while (text->n && (*text->p == ' ' || *text->p == '\t' || *text->p == '\r')) {
        text->p++;
        text->n--;
    }
    tc_str word = {text->p, 0};
    while (word.n < text->n && text->p[word.n] > ' ')
        word.n++;
    text->p += word.n;
    text->n -= word.n;
    return word;
}

/* ---- lines ---- */

static tc_status take_version(reader *r)
{
    return r->number[0] == 1 ? TC_OK : wrong(r, "a log of another version: expected 'tosac-pmu 1'");
}

static tc_status take_program(reader *r)
{
    tc_str name = word_of(&r->rest);
    r->log->program = ti_intern(r->ctx, name);
    return name.n ? TC_OK : wrong(r, "'program' has no name behind it");
}

static tc_status take_stream(reader *r)
{
    tc_pmu_log *log = r->log;
    size_t bytes = (size_t)r->number[0];
    uint32_t hash = (uint32_t)r->number[1];
    r->job = (tc_pmu_job){0};
    for (size_t i = 0; i < log->n_stream; i++)
        if (log->stream[i].bytes == bytes && log->stream[i].hash == hash) {
            r->stream = &log->stream[i];
            return TC_OK;
        }
    tc_grow(&r->ctx->arena, log->stream, log->n_stream, log->cap_stream);
    r->stream = &log->stream[log->n_stream++];
    *r->stream = (tc_pmu_stream){.bytes = bytes, .hash = hash};
    return TC_OK;
}

static tc_status take_clock(reader *r)
{
    r->log->clock = r->number[0];
    return TC_OK;
}

static tc_status take_mark(reader *r)
{
    tc_pmu_job *j = &r->job;
    if (!r->stream)
        return wrong(r, "a mark before any 'stream'");
    if (r->number[0] > UINT16_MAX || r->number[1] > UINT32_MAX)
        return wrong(r, "a mask has 16 bits, QREAD has 32");
    if (j->n_mark && j->mark[j->n_mark - 1].cycles > r->number[2])
        return wrong(r, "fewer cycles than at the mark before");
    tc_grow(&r->ctx->arena, j->mark, j->n_mark, j->cap_mark);
    j->mark[j->n_mark++] = (tc_pmu_mark){(uint16_t)r->number[0], (uint32_t)r->number[1], r->number[2]};
    return TC_OK;
}

static tc_status take_end(reader *r)
{
    tc_pmu_stream *s = r->stream;
    if (!s)
        return wrong(r, "an end before any 'stream'");
    if (!(r->number[1] > 0) || (r->job.n_mark && r->job.mark[r->job.n_mark - 1].cycles > r->number[1]))
        return wrong(r, "a job ends with as many cycles as at its last mark, or more");
    r->job.end = r->number[1];
    tc_grow(&r->ctx->arena, s->job, s->n_job, s->cap_job);
    s->job[s->n_job++] = r->job;
    r->job = (tc_pmu_job){0};
    return TC_OK;
}

static tc_status take_call(reader *r)
{
    if (!r->stream || !r->stream->n_job)
        return wrong(r, "'call' goes behind the end of its job");
    r->stream->job[r->stream->n_job - 1].call = r->number[0];
    return TC_OK;
}

static const struct line {
    const char *word;
    int numbers;
    tc_status (*take)(reader *r);
} lines[] = {
    {"tosac-pmu", 1, take_version}, {"program", 0, take_program}, {"stream", 2, take_stream},
    {"clock", 1, take_clock},       {"mark", 3, take_mark},       {"end", 2, take_end},
    {"call", 1, take_call},
};

/* Lines that are none of these are what else the firmware prints. */
static const struct line *line_of(tc_str word)
{
    for (size_t i = 0; i < TC_COUNT(lines); i++)
        if (ti_str_is(word, lines[i].word))
            return &lines[i];
    return NULL;
}

static tc_status take_line(reader *r, tc_str text)
{
    const struct line *line = line_of(word_of(&text));
    if (!line)
        return TC_OK;
    for (int i = 0; i < line->numbers; i++)
        if (!ti_text_to_f64(word_of(&text), &r->number[i]) || !(r->number[i] >= 0) || r->number[i] > 1e15)
            return wrong(r, ti_text_format(&r->ctx->arena, "'%s' has %d numbers behind it", line->word,
                                           line->numbers));
    r->rest = text;
    return line->take(r);
}

tc_status ti_pmu_read(tc_ctx *ctx, const char *file, tc_bytes text, tc_pmu_log *out)
{
    static const char opening[] = "tosac-pmu ";
    reader r = {.ctx = ctx, .log = out};
    const char *at = (const char *)text.data, *end = at + text.size;
    bool begun = false;
    *out = (tc_pmu_log){.file = file};
    while (text.size && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        r.line++;
        size_t n = (size_t)(stop - at);
        begun = begun || (n >= sizeof opening && memcmp(at, opening, sizeof opening - 1) == 0);
        if (begun)
            TC_TRY(take_line(&r, (tc_str){at, n}));
        at = stop < end ? stop + 1 : end;
    }
    for (size_t i = 0; i < out->n_stream; i++)
        if (out->stream[i].n_job)
            return TC_OK;
    return wrong(&r, begun ? "the log has no job: a 'stream', its marks and its 'end'"
                           : "no line 'tosac-pmu 1': this is no log of examples/pmu");
}
