/* SPDX-License-Identifier: Apache-2.0 */
/* observation_file.c -- see observation_file.h.
 *
 *   all:     "tosacobs", version u32, kind u32, fingerprint u64, domains u64
 *   first:   samples u64, then for each: hash u64, index u64, domains x (lo f32, hi f32)
 *   second:  rows u64, samples u64, kept u64, sum of their hashes u64, watched u64, odd u64,
 *            for each odd sample: hash u64, index u64, far in u64, name;
 *            domains x (ends, average of ends);
 *            counted u64, sum of their hashes u64;
 *            domains x (0, or 1 and TC_BINS counts)
 *   all:     u64, the hash of everything before it
 *
 * Counts are little-endian base 128, a name is its length and its bytes. */
#include "observation_file.h"

#include <float.h>
#include <math.h>

#include "../base/mapped.h"
#include "../wire/file.h"
#include "sample_runner.h"

enum { VERSION = 2 };
static const char MAGIC[] = "tosacobs";

/* ---- fingerprint ---- */

static uint64_t mix(uint64_t h, uint64_t v) { return ti_hash(&v, sizeof v, h); }

static uint64_t mix_type(uint64_t h, const tc_type *t)
{
    h = mix(h, (uint64_t)t->dtype);
    return ti_hash(t->dim, (size_t)t->rank * sizeof *t->dim, h);
}

static uint64_t mix_node(const tc_ctx *ctx, uint64_t h, const tc_graph *g, const tc_node *node)
{
    h = mix(h, node->op);
    h = ti_hash(node->in, (size_t)node->n_in * sizeof *node->in, h);
    if (node->attr)
        h = ti_attr_hash(tc_ops[node->op].attr, node->attr, h);
    for (int i = 0; i < node->n_out; i++)
        h = mix_type(h, ti_type_of(g, node->out[i]));
    if (node->op != TC_OP_const)
        return h;
    tc_tensor t = ti_tensor_of(g, node->out[0]);
    h = mix(h, ti_sample_hash(&t, 1));
    ti_mapped_forget(ctx, t.data, tc_type_bytes(t.type));
    return h;
}

static uint64_t mix_domain(uint64_t h, const tc_domain *d)
{
    const tc_setting *s = &d->setting;
    h = ti_hash(d->val, d->n_val * sizeof *d->val, h);
    h = mix(mix(mix(h, (uint64_t)s->dtype), (uint64_t)s->qmin), (uint64_t)s->qmax);
    h = mix(mix(mix(h, s->symmetric), (uint64_t)s->observer), d->output);
    return mix(mix(h, (uint64_t)d->base), d->after ? d->after->op : 0);
}

uint64_t ti_obs_fingerprint(tc_ctx *ctx, const tc_graph *g, const tc_domains *domains)
{
    uint64_t h = TC_BINS;
    for (size_t i = 0; i < g->n_in; i++)
        h = mix_type(h, ti_type_of(g, g->in[i]));
    for (size_t k = 0; k < g->n_node; k++)
        h = mix_node(ctx, h, g, g->node[k]);
    for (size_t d = 0; d < domains->n; d++)
        h = mix_domain(h, &domains->domain[d]);
    return h;
}

/* ---- writing ---- */

static void put_ends(tc_buf *buf, tc_ends e)
{
    uint32_t bits[2];
    memcpy(bits, &e, sizeof bits);
    ti_buf_u32(buf, bits[0]);
    ti_buf_u32(buf, bits[1]);
}

static void put_count(tc_buf *buf, uint64_t v)
{
    for (; v >= 128; v >>= 7)
        ti_buf_u8(buf, (uint8_t)(v | 128));
    ti_buf_u8(buf, (uint8_t)v);
}

static void put_first(tc_buf *buf, const tc_first *first)
{
    ti_buf_u64(buf, first->n_sample);
    for (size_t k = 0; k < first->n_sample; k++) {
        ti_buf_u64(buf, first->sample[k].hash);
        ti_buf_u64(buf, first->sample[k].index);
        for (size_t d = 0; d < first->n_domain; d++)
            put_ends(buf, first->ends[k * first->n_domain + d]);
    }
}

static void put_ranges(tc_buf *buf, const tc_ranges *r)
{
    const uint64_t head[] = {r->rows, r->n_sample,  r->n_kept,
                             r->kept, r->n_watched, r->n_odd};
    for (size_t i = 0; i < TC_COUNT(head); i++)
        ti_buf_u64(buf, head[i]);
    for (size_t i = 0; i < r->n_odd; i++) {
        ti_buf_u64(buf, r->odd[i].hash);
        ti_buf_u64(buf, r->odd[i].index);
        ti_buf_u64(buf, r->odd_in[i]);
        tc_str where = ti_str_of(r->odd[i].where);
        put_count(buf, where.n);
        ti_buf_put(buf, where.p, where.n);
    }
    for (size_t d = 0; d < r->n_domain; d++) {
        put_ends(buf, r->ends[d]);
        put_ends(buf, r->average[d]);
    }
}

static void put_counts(tc_buf *buf, const tc_obs *obs)
{
    ti_buf_u64(buf, obs->counted);
    ti_buf_u64(buf, obs->sum);
    for (size_t d = 0; d < obs->ranges.n_domain; d++) {
        ti_buf_u8(buf, obs->binned[d]);
        for (size_t i = 0; obs->binned[d] && i < TC_BINS; i++)
            put_count(buf, obs->count[d][i]);
    }
}

tc_bytes ti_obs_bytes(tc_ctx *ctx, uint64_t fingerprint, const tc_obs *obs)
{
    tc_buf buf;
    ti_buf_init(&buf, &ctx->arena);
    ti_buf_put(&buf, MAGIC, 8);
    ti_buf_u32(&buf, VERSION);
    ti_buf_u32(&buf, obs->kind);
    ti_buf_u64(&buf, fingerprint);
    ti_buf_u64(&buf, obs->kind == TC_OBS_FIRST ? obs->first.n_domain : obs->ranges.n_domain);
    if (obs->kind == TC_OBS_FIRST)
        put_first(&buf, &obs->first);
    else {
        put_ranges(&buf, &obs->ranges);
        put_counts(&buf, obs);
    }
    ti_buf_u64(&buf, ti_hash(buf.data, buf.size, 0));
    return (tc_bytes){buf.data, buf.size};
}

/* ---- reading ---- */

/* Remaining bytes; past the end everything reads as 0. */
typedef struct cursor {
    const uint8_t *p;
    size_t n;
    bool bad;
} cursor;

static const uint8_t *take(cursor *c, size_t n)
{
    static const uint8_t nothing[8] = {0};
    if (c->n < n || c->bad) {
        c->bad = true;
        return nothing;
    }
    c->p += n;
    c->n -= n;
    return c->p - n;
}

static uint64_t take_u64(cursor *c) { return ti_le64(take(c, 8)); }

static tc_ends take_ends(cursor *c)
{
    const uint8_t *p = take(c, 8);
    uint32_t bits[2] = {ti_le32(p), ti_le32(p + 4)};
    tc_ends e;
    memcpy(&e, bits, sizeof e);
    c->bad |= !(fabsf(e.lo) <= FLT_MAX && fabsf(e.hi) <= FLT_MAX);
    return e;
}

static uint64_t take_count(cursor *c)
{
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        uint8_t byte = *take(c, 1);
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return v;
    }
    c->bad = true;
    return 0;
}

typedef struct reading {
    tc_ctx *ctx;
    const char *path;
    tc_obs *obs;
    size_t n_domain;
    cursor c;
} reading;

static void grow_rows(tc_ctx *ctx, tc_first *first, size_t n)
{
    size_t all = first->n_sample + n;
    tc_sample_id *sample = tc_new_n(&ctx->arena, tc_sample_id, all);
    tc_ends *ends = tc_new_n(&ctx->arena, tc_ends, all * first->n_domain);
    if (first->n_sample) {
        memcpy(sample, first->sample, first->n_sample * sizeof *sample);
        memcpy(ends, first->ends, first->n_sample * first->n_domain * sizeof *ends);
    }
    first->sample = sample;
    first->ends = ends;
    first->n_sample = all;
}

static tc_status read_first(reading *r)
{
    tc_first *first = &r->obs->first;
    uint64_t n = take_u64(&r->c);
    size_t at = first->n_sample;
    if (n > r->c.n / (16 + 8 * r->n_domain)) {
        r->c.bad = true;
        return TC_OK;
    }
    grow_rows(r->ctx, first, (size_t)n);
    for (size_t k = at; k < first->n_sample; k++) {
        uint64_t hash = take_u64(&r->c);
        first->sample[k] = (tc_sample_id){hash, r->path, (size_t)take_u64(&r->c)};
        for (size_t d = 0; d < r->n_domain; d++)
            first->ends[k * r->n_domain + d] = take_ends(&r->c);
    }
    return TC_OK;
}

static tc_ranges take_ranges(reading *r)
{
    cursor *c = &r->c;
    tc_arena *arena = &r->ctx->arena;
    tc_ranges g = {.n_domain = r->n_domain};
    g.rows = take_u64(c);
    g.n_sample = (size_t)take_u64(c);
    g.n_kept = (size_t)take_u64(c);
    g.kept = take_u64(c);
    g.n_watched = (size_t)take_u64(c);
    uint64_t n_odd = take_u64(c);
    if (n_odd > c->n / 25) {
        c->bad = true;
        return g;
    }
    g.odd = tc_new_n(arena, tc_sample_id, (size_t)n_odd);
    g.odd_in = tc_new_n(arena, size_t, (size_t)n_odd);
    g.odd_far = tc_new_n(arena, tc_far_out, (size_t)n_odd);
    for (; g.n_odd < n_odd; g.n_odd++) {
        uint64_t hash = take_u64(c), index = take_u64(c);
        g.odd_in[g.n_odd] = (size_t)take_u64(c);
        g.odd_far[g.n_odd] = (tc_far_out){.domain = -1};
        uint64_t length = take_count(c);
        const char *name = length <= c->n ? (const char *)take(c, (size_t)length) : NULL;
        c->bad |= !name;
        const char *where =
            name && length ? ti_text_copy(arena, (tc_str){name, (size_t)length}) : NULL;
        g.odd[g.n_odd] = (tc_sample_id){hash, where, (size_t)index};
    }
    g.ends = tc_new_n(arena, tc_ends, r->n_domain);
    g.average = tc_new_n(arena, tc_ends, r->n_domain);
    for (size_t d = 0; d < r->n_domain; d++) {
        g.ends[d] = take_ends(c);
        g.average[d] = take_ends(c);
    }
    return g;
}

static bool same_ranges(const tc_ranges *a, const tc_ranges *b)
{
    size_t size = a->n_domain * sizeof *a->ends;
    return a->rows == b->rows && a->n_sample == b->n_sample && a->n_kept == b->n_kept &&
           a->kept == b->kept && a->n_odd == b->n_odd && memcmp(a->ends, b->ends, size) == 0 &&
           memcmp(a->average, b->average, size) == 0;
}

static tc_status read_second(reading *r)
{
    tc_obs *obs = r->obs;
    tc_ranges ranges = take_ranges(r);
    if (r->c.bad)
        return TC_OK;
    if (!obs->count) {
        obs->ranges = ranges;
        obs->count = tc_new_n(&r->ctx->arena, uint64_t *, r->n_domain);
        obs->binned = tc_new_n(&r->ctx->arena, bool, r->n_domain);
    } else if (!same_ranges(&obs->ranges, &ranges))
        return ti_error(
            r->ctx, NULL, TC_E_OBSERVATIONS,
            "%s: its second pass belongs to another first pass than that of the files before it",
            r->path);
    obs->counted += take_u64(&r->c);
    obs->sum += take_u64(&r->c);
    for (size_t d = 0; d < r->n_domain; d++) {
        if (!*take(&r->c, 1))
            continue;
        if (!obs->count[d])
            obs->count[d] = tc_new_n(&r->ctx->arena, uint64_t, TC_BINS);
        obs->binned[d] = true;
        for (size_t i = 0; i < TC_BINS && !r->c.bad; i++)
            obs->count[d][i] += take_count(&r->c);
    }
    return TC_OK;
}

static tc_status wrong_file(const reading *r, uint32_t kind, uint64_t fingerprint,
                            uint64_t expected, uint64_t n_domain)
{
    if (fingerprint != expected || n_domain != r->n_domain)
        return ti_error(r->ctx, NULL, TC_E_OBSERVATIONS,
                        "%s: these are observations of another model, or with other settings",
                        r->path);
    if (kind != TC_OBS_FIRST && kind != TC_OBS_SECOND)
        return ti_error(r->ctx, NULL, TC_E_FORMAT, "%s: unknown pass %u", r->path, kind);
    if (r->obs->kind && r->obs->kind != kind)
        return ti_error(r->ctx, NULL, TC_E_OBSERVATIONS,
                        "%s: it is from the %s pass, the files before it are not", r->path,
                        kind == TC_OBS_FIRST ? "first" : "second");
    return TC_OK;
}

static tc_status read_one(reading *r, tc_bytes bytes, uint64_t expected)
{
    if (!bytes.data)
        TC_TRY(ti_file_read(r->ctx, r->path, &bytes));
    if (bytes.size < 40 || memcmp(bytes.data, MAGIC, 8) != 0)
        return ti_error(r->ctx, NULL, TC_E_FORMAT, "%s: not an observation file", r->path);
    uint32_t version = ti_le32(bytes.data + 8);
    if (version != VERSION)
        return ti_error(r->ctx, NULL, TC_E_VERSION, "%s: version %u of the format is not "
                                                    "supported, expected %d",
                        r->path, version, VERSION);
    size_t size = bytes.size - 8;
    if (ti_hash(bytes.data, size, 0) != ti_le64(bytes.data + size))
        return ti_error(r->ctx, NULL, TC_E_FORMAT,
                        "%s: the file is damaged: its checksum is wrong",
                        r->path);
    r->c = (cursor){bytes.data + 12, size - 12, false};
    uint32_t kind = ti_le32(take(&r->c, 4));
    uint64_t fingerprint = take_u64(&r->c), n_domain = take_u64(&r->c);
    TC_TRY(wrong_file(r, kind, fingerprint, expected, n_domain));
    r->obs->kind = (tc_obs_kind)kind;
    TC_TRY(kind == TC_OBS_FIRST ? read_first(r) : read_second(r));
    return r->c.bad || r->c.n
               ? ti_error(r->ctx, NULL, TC_E_FORMAT, "%s: the file is damaged", r->path)
               : TC_OK;
}

tc_status ti_obs_read(tc_ctx *ctx, const tc_observations *part, size_t n, uint64_t fingerprint,
                      size_t n_domain, tc_obs *out)
{
    *out = (tc_obs){.first.n_domain = n_domain};
    for (size_t i = 0; i < n; i++) {
        reading r = {.ctx = ctx, .path = part[i].name, .obs = out, .n_domain = n_domain};
        TC_TRY(read_one(&r, part[i].bytes, fingerprint));
    }
    return TC_OK;
}
