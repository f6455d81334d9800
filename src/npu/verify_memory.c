/* SPDX-License-Identifier: Apache-2.0 */
/* verify_memory.c -- which bytes every operation touches: inside their region, written before they
 * are read, and not in use by an unfinished operation.
 *
 * Kernel operations end in order, DMAs too; the two run concurrently.  So a kernel waits only for
 * what a wait command names, and two accesses conflict when they share a byte and one of them
 * writes. */
#include "verifier.h"

static const int64_t most_bytes = INT64_C(1) << 28; /* of a region, to follow it byte by byte */
static const int64_t most_work =
    INT64_C(1) << 27; /* runs of bytes that are looked at, long ones counted more often */

/* ---- bits ---- */

static void bits_make(tc_npu_verifier *v, tc_npu_bits *b, int64_t bytes)
{
    *b = (tc_npu_bits){.bytes = bytes};
    if (bytes <= most_bytes)
        b->bit = tc_new_n(&v->ctx->scratch, uint8_t, (size_t)(bytes / 8 + 1));
}

static int64_t clip(int64_t x, int64_t lo, int64_t hi) { return x < lo ? lo : x > hi ? hi : x; }

static void bits_set(tc_npu_bits *b, int64_t lo, int64_t hi, bool value)
{
    lo = clip(lo, 0, b->bytes);
    hi = clip(hi, 0, b->bytes);
    for (; lo < hi && lo % 8; lo++)
        b->bit[lo / 8] =
            (uint8_t)(value ? b->bit[lo / 8] | 1 << lo % 8 : b->bit[lo / 8] & ~(1 << lo % 8));
    if (hi - lo >= 8) {
        memset(b->bit + lo / 8, value ? 0xff : 0, (size_t)((hi - lo) / 8));
        lo += (hi - lo) / 8 * 8;
    }
    for (; lo < hi; lo++)
        b->bit[lo / 8] =
            (uint8_t)(value ? b->bit[lo / 8] | 1 << lo % 8 : b->bit[lo / 8] & ~(1 << lo % 8));
}

/* The first byte of [lo, hi) whose bit is `value`; hi when there is none. */
static int64_t bits_find(const tc_npu_bits *b, int64_t lo, int64_t hi, bool value)
{
    uint8_t none = value ? 0 : 0xff;
    lo = clip(lo, 0, b->bytes);
    hi = clip(hi, 0, b->bytes);
    while (lo < hi) {
        if (lo % 8 == 0 && hi - lo >= 8 && b->bit[lo / 8] == none) {
            lo += 8;
            continue;
        }
        if ((b->bit[lo / 8] >> lo % 8 & 1) == value)
            return lo;
        lo++;
    }
    return hi;
}

/* ---- runs of bytes ---- */

/* Called for every contiguous run of bytes; false stops. */
typedef bool run_taker(void *user, int64_t lo, int64_t hi);

/* Elements of a tile; of bricks that are not full, `whole` counts the gaps as well. */
static bool tile_runs(const tc_npu_map *m, int tile, int32_t h, int32_t w, int32_t c, bool whole,
                      run_taker *take, void *user)
{
    int64_t e = m->bytes, base = (int64_t)m->base[tile];
    bool bricks = m->format == TC_NHCWB16, dense = bricks || m->stride_x == c * e;
    if (dense && !bricks && m->stride_y == w * m->stride_x)
        return take(user, base, base + h * m->stride_y);
    for (int64_t y = 0; y < h; y++) {
        int64_t row = base + y * m->stride_y;
        for (int64_t k = 0; bricks && k < c; k += 16) {
            int64_t at = row + k / 16 * m->stride_c, part = c - k < 16 ? c - k : 16;
            if (part == 16 || whole) {
                if (!take(user, at, at + w * 16 * e))
                    return false;
                continue;
            }
            for (int64_t x = 0; x < w; x++)
                if (!take(user, at + x * 16 * e, at + x * 16 * e + part * e))
                    return false;
        }
        if (!bricks && dense && !take(user, row, row + w * c * e))
            return false;
        for (int64_t x = 0; !bricks && !dense && x < w; x++)
            if (!take(user, row + x * m->stride_x, row + x * m->stride_x + c * e))
                return false;
    }
    return true;
}

static bool access_runs(const tc_npu_access *a, bool whole, run_taker *take, void *user)
{
    const tc_npu_map *m = &a->map;
    if (!a->exact)
        return take(user, a->range.lo, a->range.hi);
    int32_t left = ti_min_i32(a->w, m->width0);
    bool on = tile_runs(m, 0, ti_min_i32(a->h, m->height0), left, a->c, whole, take, user);
    if (on && a->h > m->height0)
        on = tile_runs(m, 2, a->h - m->height0, left, a->c, whole, take, user);
    if (on && a->w > m->width0)
        on = tile_runs(m, 1, ti_min_i32(a->h, m->height1), a->w - m->width0, a->c, whole, take, user);
    if (on && a->w > m->width0 && a->h > m->height1)
        on = tile_runs(m, 3, a->h - m->height1, a->w - m->width0, a->c, whole, take, user);
    return on;
}

typedef struct looker {
    tc_npu_verifier *v;
    tc_npu_bits *bits;
    bool value;
    int64_t found; /* -1: nothing */
} looker;

/* One more run; false when it is enough. */
static bool worked(tc_npu_verifier *v, int64_t lo, int64_t hi)
{
    v->work += 1 + (hi > lo ? (hi - lo) / 4096 : 0);
    return v->work < most_work;
}

static bool set_run(void *user, int64_t lo, int64_t hi)
{
    looker *l = user;
    bits_set(l->bits, lo, hi, l->value);
    return worked(l->v, lo, hi);
}

static bool find_run(void *user, int64_t lo, int64_t hi)
{
    looker *l = user;
    int64_t at = bits_find(l->bits, lo, hi, l->value);
    if (at < clip(hi, 0, l->bits->bytes))
        l->found = at;
    return l->found < 0 && worked(l->v, lo, hi);
}

/* whole: with the bytes of bricks that are not full. */
static void set_bits(tc_npu_verifier *v, tc_npu_bits *bits, const tc_npu_access *a, bool whole,
                     bool value)
{
    looker l = {v, bits, value, -1};
    if (bits->bit && v->work < most_work)
        access_runs(a, whole, set_run, &l);
}

/* The first byte of the access whose bit is `value`, or -1. */
static int64_t find_bit(tc_npu_verifier *v, tc_npu_bits *bits, const tc_npu_access *a, bool value)
{
    looker l = {v, bits, value, -1};
    if (bits->bit && v->work < most_work)
        access_runs(a, false, find_run, &l);
    return l.found;
}

/* ---- what an operation touches ---- */

static const char *space_name(const tc_npu_verifier *v, int space)
{
    return space == TC_NPU_INTERNAL ? "the memory of tables"
                                    : ti_text_format(&v->ctx->arena, "region %d", space);
}

/* Region 2 is region 1 where there is no fast memory. */
static int space_of(const tc_npu_verifier *v, int region)
{
    return region == 2 && v->program->fast == 0 ? 1 : region;
}

static void add_access(tc_npu_verifier *v, tc_npu_accesses *list, tc_npu_access a)
{
    const tc_npu_bits *all = &v->written[a.space];
    if (a.range.lo >= a.range.hi)
        return;
    if (a.range.lo < 0 || a.range.hi > all->bytes) {
        ti_npu_found(v, TC_CHECK_BOUNDS,
                     "its %s reaches from byte %" PRId64 " to %" PRId64
                     " of %s, which has %" PRId64,
                     a.what, a.range.lo, a.range.hi, space_name(v, a.space), all->bytes);
        v->broken = true;
        return;
    }
    if (a.writes && a.space == 0)
        ti_npu_found(v, TC_CHECK_READ_ONLY,
                     "its %s lies at byte %" PRId64 " of region 0, which is read only", a.what,
                     a.range.lo);
    if (list->n < TC_NPU_ACCESSES)
        list->list[list->n++] = a;
}

static void add_map(tc_npu_verifier *v, tc_npu_accesses *list, const tc_npu_map *m,
                    const char *what, bool writes, int32_t h, int32_t w, int32_t c)
{
    if (!m->used || m->broadcast & TC_BROADCAST_SCALAR || m->storage > TC_STORE_TILES_3X1)
        return;
    add_access(v, list,
               (tc_npu_access){.space = space_of(v, m->region),
                               .writes = writes,
                               .exact = true,
                               .what = what,
                               .map = *m,
                               .h = h,
                               .w = w,
                               .c = c,
                               .range = ti_npu_map_range(m, h, w, c)});
}

static void add_range(tc_npu_verifier *v, tc_npu_accesses *list, int space, const char *what,
                      bool writes, uint64_t lo, uint64_t bytes)
{
    add_access(v, list, (tc_npu_access){.space = space, .writes = writes, .what = what,
                                        .range = {(int64_t)lo, (int64_t)(lo + bytes)}});
}

/* Bytes of the table that the operation looks up in; 0: none. */
static int64_t table_bytes(const tc_npu_verifier *v, const tc_npu_op *op, int64_t *at)
{
    static const uint16_t u85[32] = {
        [TC_NPU_LOOKUP_U8_8] = 256,       [TC_NPU_LOOKUP_I8_8] = 256,
        [TC_NPU_LOOKUP_I8_16] = 512,      [TC_NPU_LOOKUP_I8_32] = 1024,
        [TC_NPU_LOOKUP_PAIRS_16] = 2048,  [TC_NPU_LOOKUP_PAIRS_32] = 2048,
        [TC_NPU_LOOKUP_TANH] = 2048,      [TC_NPU_LOOKUP_SIGMOID] = 2048};
    int64_t bytes = 0;
    if (v->machine->product == TC_U85) {
        bytes = u85[op->function];
        *at = op->table * bytes;
    } else if (op->function == TC_NPU_LOOKUP) {
        bytes = op->ofm.bytes == 1 ? 256 : op->ofm.bytes == 4 ? 1024 : 2048;
        *at = ti_npu_table_at(v->machine) + 256 * op->table;
    }
    return bytes;
}

static void kernel_accesses(tc_npu_verifier *v, const tc_npu_op *op, tc_npu_accesses *list)
{
    int32_t h, w, c;
    ti_npu_written(op, &h, &w, &c);
    add_map(v, list, &op->ifm, "ifm", false, op->ifm.h, op->ifm.w, op->ifm.c);
    add_map(v, list, &op->ifm2, "ifm2", false, op->ifm2.h, op->ifm2.w, op->ifm2.c);
    bool weighs =
        (op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE) && !op->weights_ifm2;
    for (int i = 0; weighs && i < op->cores; i++)
        add_range(v, list, space_of(v, op->weights.region), "weights", false, op->weights.base[i],
                  op->weights.bytes[i]);
    bool mac = op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE ||
               op->kind == TC_NPU_KIND_POOL;
    for (int i = 0; mac && op->per_channel && op->acc_output && i < 2; i++)
        add_range(v, list, space_of(v, op->scale_region), "scales", false, op->scale_base[i],
                  op->scale_bytes[i]);
    int64_t at = 0, bytes = table_bytes(v, op, &at);
    add_range(v, list, TC_NPU_INTERNAL, "table", false, (uint64_t)at, (uint64_t)bytes);
    if (op->acc_output)
        add_map(v, list, &op->ofm, "ofm", true, h, w, c);
}

/* Rows of a DMA as a map: height planes, width rows, a row's bytes the depth. */
static tc_npu_map rows_of(const tc_npu_dma *d, bool source)
{
    return (tc_npu_map){.used = true,
                        .bytes = 1,
                        .base = {source ? d->src : d->dst},
                        .width0 = INT32_MAX,
                        .height0 = INT32_MAX,
                        .height1 = INT32_MAX,
                        .stride_x = source ? d->src_row : d->dst_row,
                        .stride_y = source ? d->src_plane : d->dst_plane,
                        .stride_c = 1};
}

static void dma_side(tc_npu_verifier *v, const tc_npu_dma *d, bool source, tc_npu_accesses *list)
{
    bool internal = source ? d->src_internal : d->dst_internal,
         indexed = source ? d->src_indexed : d->dst_indexed;
    int space = internal ? TC_NPU_INTERNAL : space_of(v, source ? d->src_region : d->dst_region);
    tc_npu_map m = rows_of(d, source);
    int64_t rows = indexed ? d->index_max + 1 : d->rows;
    bool single = d->rows == 1 && d->planes == 1 && !indexed;
    if (d->bytes > INT32_MAX || rows > INT32_MAX || single) {
        add_range(v, list, space, source ? "source" : "destination", !source,
                  source ? d->src : d->dst, d->bytes);
        return;
    }
    tc_npu_access a = {.space = space,
                       .writes = !source,
                       .exact = !indexed,
                       .what = source ? "source" : "destination",
                       .map = m,
                       .h = (int32_t)d->planes,
                       .w = (int32_t)rows,
                       .c = (int32_t)d->bytes};
    a.range = ti_npu_map_range(&m, a.h, a.w, a.c);
    add_access(v, list, a);
}

static void dma_accesses(tc_npu_verifier *v, const tc_npu_op *op, tc_npu_accesses *list)
{
    const tc_npu_dma *d = &op->dma;
    if (d->src_indexed || d->dst_indexed)
        add_range(v, list, space_of(v, d->index_region), "index list", false, d->index,
                  (uint64_t)(d->planes * (4 * d->rows + d->index_skip) - d->index_skip));
    dma_side(v, d, true, list);
    dma_side(v, d, false, list);
}

/* ---- order ---- */

typedef struct sharing {
    tc_npu_verifier *v;
    tc_npu_bits bits; /* of [lo, lo + bytes) */
    int64_t lo;
    bool shared;
} sharing;

static bool share_set(void *user, int64_t lo, int64_t hi)
{
    sharing *s = user;
    bits_set(&s->bits, lo - s->lo, hi - s->lo, true);
    return worked(s->v, lo, hi);
}

static bool share_find(void *user, int64_t lo, int64_t hi)
{
    sharing *s = user;
    int64_t from = clip(lo - s->lo, 0, s->bits.bytes), to = clip(hi - s->lo, 0, s->bits.bytes);
    s->shared = s->shared || bits_find(&s->bits, from, to, true) < to;
    return !s->shared && worked(s->v, lo, hi);
}

bool ti_npu_overlap(tc_npu_verifier *v, const tc_npu_access *a, const tc_npu_access *b)
{
    int64_t lo = a->range.lo > b->range.lo ? a->range.lo : b->range.lo,
            hi = a->range.hi < b->range.hi ? a->range.hi : b->range.hi;
    if (a->space != b->space || lo >= hi)
        return false;
    if (!a->exact && !b->exact)
        return true;
    tc_mark mark = ti_arena_mark(&v->ctx->scratch);
    sharing s = {.v = v, .lo = lo};
    bits_make(v, &s.bits, hi - lo);
    if (s.bits.bit) {
        access_runs(a, false, share_set, &s);
        access_runs(b, false, share_find, &s);
    } else
        s.shared = true;
    ti_arena_rewind(&v->ctx->scratch, mark);
    return s.shared;
}

static const tc_npu_access *conflict(tc_npu_verifier *v, const tc_npu_accesses *a,
                                     const tc_npu_accesses *b)
{
    for (size_t i = 0; i < a->n; i++)
        for (size_t k = 0; k < b->n; k++)
            if ((a->list[i].writes || b->list[k].writes) &&
                ti_npu_overlap(v, &a->list[i], &b->list[k]))
                return &a->list[i];
    return NULL;
}

static void order(tc_npu_verifier *v, const tc_npu_accesses *now, const tc_npu_accesses *list,
                  size_t n, const char *kind)
{
    for (size_t i = 0; i < n; i++) {
        const tc_npu_access *a = conflict(v, now, &list[i]);
        if (a)
            ti_npu_found(v, TC_CHECK_WAIT,
                         "its %s at byte %" PRId64
                         " of %s is used by %s %zu, which may not have finished",
                         a->what, a->range.lo, space_name(v, a->space), kind, list[i].number);
    }
}

/* At most `most` are unfinished from here on: the oldest go. */
static void finish(tc_npu_accesses *list, size_t *n, size_t most)
{
    if (*n <= most)
        return;
    memmove(list, list + (*n - most), most * sizeof *list);
    *n = most;
}

/* The same bytes of every element, as in an operation in place. */
static bool same_elements(const tc_npu_access *a, const tc_npu_access *b)
{
    const tc_npu_map *x = &a->map, *y = &b->map;
    bool same = a->exact && b->exact && a->h == b->h && a->w == b->w && a->c == b->c &&
                x->bytes == y->bytes && x->format == y->format && x->height0 == y->height0 &&
                x->height1 == y->height1 && x->width0 == y->width0;
    for (int i = 0; i < 4; i++)
        same = same && x->base[i] == y->base[i];
    return same && (a->h == 1 || x->stride_y == y->stride_y) &&
           (a->w == 1 || x->stride_x == y->stride_x) && (a->c == 1 || x->stride_c == y->stride_c);
}

/* Blocks are written while later ones are still to be read. */
static void overwrites(tc_npu_verifier *v, const tc_npu_accesses *job, const tc_npu_accesses *now)
{
    for (size_t i = 0; i < now->n; i++)
        for (size_t k = 0; k < job->n && now->list[i].writes; k++) {
            const tc_npu_access *to = &now->list[i], *from = &job->list[k];
            if (!from->writes && !(from->in_turn && same_elements(to, from)) &&
                ti_npu_overlap(v, to, from))
                ti_npu_found(v, TC_CHECK_OVERWRITE,
                             "its %s at byte %" PRId64
                             " of %s lies on the %s, of which blocks are still to be read",
                             to->what, to->range.lo, space_name(v, to->space), from->what);
        }
}

/* Every element of the output depends on those at the same position. */
static bool is_pointwise(const tc_npu_op *op)
{
    const tc_npu_window *w = &op->window;
    return op->kind == TC_NPU_KIND_ELEMENTWISE ||
           (op->kind == TC_NPU_KIND_POOL && (op->mode != TC_POOL_REDUCE_SUM || op->ifm.c == 1) &&
            op->mode != TC_POOL_ARGMAX_X && op->mode != TC_POOL_ARGMAX_Y && w->kh == 1 &&
            w->kw == 1 && w->stride_y == 1 && w->stride_x == 1 && w->upscale == TC_UPSCALE_NONE);
}

static void begin_kernel(tc_npu_verifier *v, const tc_npu_op *op, tc_npu_accesses *now)
{
    order(v, now, v->dma, v->n_dma, "DMA");
    for (size_t i = 0; i < now->n; i++)
        now->list[i].in_turn = is_pointwise(op);
    if (v->in_chain && v->n_kernel) {
        tc_npu_accesses *last = &v->kernel[v->n_kernel - 1];
        for (size_t i = 0; i < now->n && last->n < TC_NPU_ACCESSES; i++)
            last->list[last->n++] = now->list[i];
    } else {
        finish(v->kernel, &v->n_kernel, (size_t)v->machine->max_kernels - 1);
        v->kernel[v->n_kernel++] = *now;
    }
    if (!v->broken)
        overwrites(v, &v->kernel[v->n_kernel - 1], now);
    v->in_chain = op->ofm.storage == TC_STORE_CHAIN;
}

static void begin_dma(tc_npu_verifier *v, tc_npu_accesses *now)
{
    order(v, now, v->kernel, v->n_kernel, "operation");
    finish(v->dma, &v->n_dma, (size_t)v->machine->max_dmas - 1);
    order(v, now, v->dma, v->n_dma, "DMA");
    v->dma[v->n_dma++] = *now;
}

/* ---- contents ---- */

/* Of adjacent sums some are read: the others are unused, a slice drops them. */
static void read_sums(tc_npu_bits *unread, tc_npu_range r)
{
    int64_t lo = clip(r.lo, 0, unread->bytes);
    if (bits_find(unread, lo, r.hi, true) >= r.hi)
        return;
    while (lo > 0 && unread->bit[(lo - 1) / 8] >> (lo - 1) % 8 & 1)
        lo--;
    bits_set(unread, lo, bits_find(unread, r.hi, unread->bytes, false), false);
}

static void read_bytes(tc_npu_verifier *v, const tc_npu_access *a)
{
    int64_t at = find_bit(v, &v->written[a->space], a, false);
    if (at >= 0 && a->space == TC_NPU_INTERNAL)
        ti_npu_found(v, TC_CHECK_TABLE,
                     "its table at byte %" PRId64
                     " of the memory of tables was not loaded, or was lost since",
                     at);
    else if (at >= 0 && !v->branches)
        ti_npu_found(v, TC_CHECK_UNWRITTEN,
                     "its %s reads byte %" PRId64 " of %s, which was never written", a->what, at,
                     space_name(v, a->space));
    if (v->unread[a->space].bit)
        read_sums(&v->unread[a->space], a->range);
}

static void write_bytes(tc_npu_verifier *v, const tc_npu_access *a)
{
    bool sums = v->op->kind == TC_NPU_KIND_POOL && v->op->mode == TC_POOL_REDUCE_SUM;
    int64_t at = v->branches || !sums ? -1 : find_bit(v, &v->unread[a->space], a, true);
    if (at >= 0)
        ti_npu_found(v, TC_CHECK_JOINED,
                     "its %s writes over byte %" PRId64 " of %s, a sum that was never read",
                     a->what, at, space_name(v, a->space));
    set_bits(v, &v->written[a->space], a, true, true);
    set_bits(v, &v->unread[a->space], a, !sums, sums);
}

/* What a copy of one run of bytes leaves: as much as there was. */
static void copy_bytes(tc_npu_verifier *v, const tc_npu_access *from, const tc_npu_access *to)
{
    tc_npu_bits *src = &v->written[from->space], *dst = &v->written[to->space];
    int64_t n = from->range.hi - from->range.lo,
            at = bits_find(src, from->range.lo, from->range.hi, true);
    if (at == from->range.hi)
        ti_npu_found(v, TC_CHECK_UNWRITTEN,
                     "its source at byte %" PRId64 " of %s was never written", from->range.lo,
                     space_name(v, from->space));
    for (int64_t i = 0; i < n;) {
        int64_t end = bits_find(src, from->range.lo + i, from->range.hi, false) - from->range.lo;
        bits_set(dst, to->range.lo + i, to->range.lo + end, true);
        i = bits_find(src, from->range.lo + end, from->range.hi, true) - from->range.lo;
        bits_set(dst, to->range.lo + end, to->range.lo + i, false);
    }
    set_bits(v, &v->unread[from->space], from, true, false);
    set_bits(v, &v->unread[to->space], to, true, false);
}

static void touch(tc_npu_verifier *v, const tc_npu_accesses *now)
{
    if (v->op->kind == TC_NPU_KIND_DMA && now->n == 2 && !now->list[0].exact &&
        !now->list[1].exact && !v->branches && v->written[now->list[0].space].bit &&
        v->written[now->list[1].space].bit) {
        copy_bytes(v, &now->list[0], &now->list[1]);
        return;
    }
    for (size_t i = 0; i < now->n; i++)
        if (!now->list[i].writes)
            read_bytes(v, &now->list[i]);
    for (size_t i = 0; i < now->n; i++)
        if (now->list[i].writes)
            write_bytes(v, &now->list[i]);
}

/* U55-32 and -64 have no separate banks for tables: a kernel without one uses them. */
static void lose_tables(tc_npu_verifier *v, const tc_npu_op *op)
{
    if (v->machine->product == TC_U55 && v->machine->banks == 16 && op->function != TC_NPU_LOOKUP)
        bits_set(&v->written[TC_NPU_INTERNAL], 0, ti_npu_internal_bytes(v->machine), false);
}

void ti_npu_memory_op(tc_npu_verifier *v, const tc_npu_op *op)
{
    tc_npu_accesses now = {.number = op->number};
    v->broken = false;
    if (op->kind == TC_NPU_KIND_KERNEL_WAIT)
        finish(v->kernel, &v->n_kernel, op->param);
    else if (op->kind == TC_NPU_KIND_DMA_WAIT)
        finish(v->dma, &v->n_dma, op->param);
    else if (op->kind == TC_NPU_KIND_BRANCH && (v->n_kernel || v->n_dma))
        ti_npu_found(v, TC_CHECK_WAIT,
                     "it is taken while %s %zu may not have finished",
                     v->n_kernel ? "operation" : "DMA",
                     v->n_kernel ? v->kernel[v->n_kernel - 1].number
                                 : v->dma[v->n_dma - 1].number);
    else if (op->kind == TC_NPU_KIND_DMA) {
        dma_accesses(v, op, &now);
        begin_dma(v, &now);
        touch(v, &now);
    } else if (ti_npu_is_kernel(op->kind)) {
        kernel_accesses(v, op, &now);
        if (!v->broken)
            ti_npu_verify_order(v, op);
        begin_kernel(v, op, &now);
        lose_tables(v, op);
        touch(v, &now);
    }
}

/* ---- begin and end ---- */

static void region_begin(tc_npu_verifier *v, int space, int64_t bytes)
{
    bits_make(v, &v->written[space], bytes);
    bits_make(v, &v->unread[space], bytes);
    if (!v->written[space].bit)
        ti_npu_found(v, TC_CHECK_SIZE,
                     "%s has %" PRId64 " bytes: writes to it are not tracked",
                     space_name(v, space), bytes);
}

void ti_npu_memory_begin(tc_npu_verifier *v)
{
    const tc_npu_program *p = v->program;
    for (int i = 0; i < TC_NPU_REGIONS; i++)
        region_begin(v, i, ti_npu_region_bytes(p, i));
    region_begin(v, TC_NPU_INTERNAL, ti_npu_internal_bytes(v->machine));
    if (v->written[0].bit)
        bits_set(&v->written[0], 0, v->written[0].bytes, true);
    for (size_t i = 0; i < p->n_in; i++) {
        const tc_npu_tensor *t = &p->in[i];
        tc_npu_bits *b = &v->written[space_of(v, t->region)];
        if (t->offset < 0 || t->offset + t->bytes > b->bytes)
            ti_npu_found(v, TC_CHECK_BOUNDS,
                         "input %zu reaches from byte %" PRId64 " to %" PRId64
                         " of region %d, which has %" PRId64,
                         i, t->offset, t->offset + t->bytes, t->region, b->bytes);
        else if (b->bit)
            bits_set(b, t->offset, t->offset + t->bytes, true);
    }
}

void ti_npu_memory_end(tc_npu_verifier *v)
{
    const tc_npu_program *p = v->program;
    if (v->work >= most_work) {
        ti_npu_found(v, TC_CHECK_SIZE, "the stream is too long to track every byte");
        return;
    }
    for (size_t i = 0; i < p->n_out; i++) {
        const tc_npu_tensor *t = &p->out[i];
        tc_npu_bits *b = &v->written[space_of(v, t->region)];
        if (t->offset < 0 || t->offset + t->bytes > b->bytes) {
            ti_npu_found(v, TC_CHECK_BOUNDS,
                         "output %zu reaches from byte %" PRId64 " to %" PRId64
                         " of region %d, which has %" PRId64,
                         i, t->offset, t->offset + t->bytes, t->region, b->bytes);
            continue;
        }
        int64_t at =
            b->bit ? bits_find(b, t->offset, t->offset + t->bytes, false) : t->offset + t->bytes;
        if (at < t->offset + t->bytes)
            ti_npu_found(v, TC_CHECK_RESULT, "byte never written: %" PRId64 " of output %zu",
                         at - t->offset, i);
    }
}
