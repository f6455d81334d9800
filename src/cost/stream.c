/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c -- see stream.h. */
#include "stream.h"

#include "../read/read_pte.h"
#include "../read/read.h"
#include "../target/pte_schema.h"
#include "../target/target.h"
#include "../wire/file.h"

#include <unistd.h>

static bool is_pte(tc_bytes b)
{
    return ti_bundle_looks_like(b) || (b.size > 8 && memcmp(b.data + 4, TC_PTE_IDENTIFIER, 4) == 0);
}

/* A TensorFlow Lite model with command streams has the name of their custom operator. */
static bool is_vela_tflite(tc_bytes bytes)
{
    static const char name[] = "ethos-u";
    size_t n = sizeof name - 1;
    if (!ti_tfl_looks_like(bytes))
        return false;
    for (size_t at = 0; at + n <= bytes.size; at++)
        if (bytes.data[at] == 'e' && memcmp(bytes.data + at, name, n) == 0)
            return true;
    return false;
}

bool ti_streams_in(tc_bytes bytes)
{
    return is_pte(bytes) || is_vela_tflite(bytes) || ti_npu_looks_like_npz(bytes) ||
           ti_npu_looks_like_backend(bytes);
}

static tc_loc *place(tc_ctx *ctx, const char *file, const char *where)
{
    tc_loc *loc = tc_new(&ctx->arena, tc_loc);
    loc->file = file;
    loc->place = where;
    return loc;
}

/* The next field of a line of a text, which ends before `end`. */
static const char *next_field(tc_ctx *ctx, const char **at, const char *end)
{
    const char *begin = *at, *p = begin;
    while (p < end && *p != '\t')
        p++;
    *at = p < end ? p + 1 : end;
    return p > begin ? ti_intern(ctx, (tc_str){begin, (size_t)(p - begin)}) : NULL;
}

static void read_lines(tc_ctx *ctx, const char *file, tc_bytes text, tc_stream *s)
{
    size_t cap = 0;
    const char *at = (const char *)text.data, *last = at + text.size;
    while (text.size && at < last) {
        const char *end = memchr(at, '\n', (size_t)(last - at));
        end = end ? end : last;
        int64_t word = -1;
        const char *number = next_field(ctx, &at, end);
        tc_loc loc = {.file = file, .node = next_field(ctx, &at, end)};
        loc.target = next_field(ctx, &at, end);
        loc.module = next_field(ctx, &at, end);
        loc.place = next_field(ctx, &at, end);
        at = end < last ? end + 1 : last;
        if (!number || !ti_text_to_i64(ti_str_of(number), &word) || word < 0)
            continue;
        tc_grow(&ctx->arena, s->line, s->n_line, cap);
        s->line[s->n_line++] = (tc_stream_line){(size_t)word, loc};
    }
}

const tc_loc *ti_stream_loc(const tc_stream *s, size_t word)
{
    size_t n = ti_npu_records_upto(s->line, s->n_line, sizeof *s->line, word);
    return n ? &s->line[n - 1].loc : NULL;
}

static tc_status read_pte(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_stream **out, size_t *n)
{
    tc_pte_file f;
    size_t cap = 0;
    TC_TRY(ti_pte_open(ctx, file, bytes, &f));
    for (size_t i = 0; i < f.n_method; i++)
        for (size_t k = 0; k < f.method[i].n_delegate; k++) {
            const tc_pte_delegate *d = &f.method[i].delegate[k];
            if (!ti_text_eq(d->id, "EthosUBackend"))
                continue;
            tc_grow(&ctx->arena, *out, *n, cap);
            tc_stream *s = &(*out)[*n];
            const char *name =
                ti_text_format(&ctx->arena, "delegate %zu of %s", k, f.method[i].name);
            *s = (tc_stream){.name = name,
                             .method = f.method[i].name,
                             .vela = d->vela,
                             .own = d->own,
                             .loc = place(ctx, file, name)};
            read_lines(ctx, file, d->lines, s);
            TC_TRY(ti_npu_read_backend(ctx, s->loc, d->payload, &s->program));
            ++*n;
        }
    return TC_OK;
}

/* The payload of each node that executes a stream. */
static tc_status read_tflite(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_stream **out,
                             size_t *n)
{
    tc_module *module;
    size_t cap = 0;
    bool before = ti_reading(ctx)->keep_unread;
    ti_reading(ctx)->keep_unread = true; /* operators between streams are not looked at */
    tc_status status = ti_read_tflite(ctx, file, bytes, &module);
    ti_reading(ctx)->keep_unread = before;
    TC_TRY(status);
    const tc_graph *g = ti_main(module);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op != TC_OP_ethosu)
            continue;
        tc_tensor payload = ti_tensor_of(g, node->in[0]);
        tc_grow(&ctx->arena, *out, *n, cap);
        tc_stream *s = &(*out)[(*n)++];
        *s = (tc_stream){.name = node->loc->node, .loc = node->loc};
        tc_bytes held = {payload.data, tc_type_bytes(payload.type)};
        TC_TRY(ti_npu_read_backend(ctx, s->loc, held, &s->program));
    }
    return TC_OK;
}

tc_status ti_streams_read(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_stream **out, size_t *n)
{
    *out = NULL;
    *n = 0;
    if (is_pte(bytes))
        return read_pte(ctx, file, bytes, out, n);
    if (ti_tfl_looks_like(bytes))
        return read_tflite(ctx, file, bytes, out, n);
    *out = tc_new(&ctx->arena, tc_stream);
    **out = (tc_stream){.name = file, .loc = place(ctx, file, NULL)};
    *n = 1;
    if (ti_npu_looks_like_backend(bytes))
        return ti_npu_read_backend(ctx, (*out)->loc, bytes, &(*out)->program);
    return ti_npu_read_npz(ctx, file, bytes, &(*out)->program);
}

tc_status ti_stream_cost(tc_ctx *ctx, const tc_stream *s, const char *ini, const char *config,
                         const char *mode, tc_npu_system *system, tc_npu_stream_cost *out)
{
    const tc_npu_machine *m = s->program.machine;
    TC_TRY(ti_npu_system_find(ctx, m, ini, config, mode, system));
    const char *wrong = ti_npu_cost_stream(&ctx->arena, &s->program, system, out);
    return wrong ? ti_error(ctx, s->loc, TC_E_STREAM, "%s", wrong) : TC_OK;
}

static const tc_loc *where_from(void *user, size_t word)
{
    return ti_stream_loc(user, word);
}

tc_status ti_streams_verify(tc_ctx *ctx, const tc_stream *stream, size_t n, size_t *operations)
{
    tc_status worst = TC_OK;
    *operations = 0;
    for (size_t i = 0; i < n; i++) {
        tc_npu_findings found;
        ti_npu_verify(ctx, &stream[i].program, &found);
        *operations += found.n_operation;
        tc_status status =
            ti_npu_tell(ctx, stream[i].loc, &found, where_from, (void *)(uintptr_t)&stream[i]);
        worst = worst ? worst : status;
    }
    return worst;
}
