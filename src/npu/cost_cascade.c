/* SPDX-License-Identifier: Apache-2.0 */
/* cost_cascade.c -- operations in stripes; see cost_part.h.
 *
 * They are recognized so: a repeated operation has the same shape and weights and writes the rows
 * after the last ones, or the same buffer from its begin; and everything in between reads what was
 * just written. */
#include "cost_part.h"

enum {
    TURN = 24,
    SURE = 4
}; /* parts that may be in between; this many repetitions without weights are no coincidence */

static bool same_but_rows(const tc_npu_part *a, const tc_npu_part *b)
{
    return a->kind == b->kind && a->mode == b->mode && ti_npu_is_kernel(a->kind) &&
           a->weights == b->weights && a->job.work == b->job.work &&
           a->job.work != TC_WORK_COLUMNS && a->job.work != TC_WORK_TRANSPOSE &&
           a->job.weight_bytes == b->job.weight_bytes && a->job.n_more == b->job.n_more &&
           a->job.kh == b->job.kh && a->job.kw == b->job.kw && a->ofm.w == b->ofm.w &&
           a->ofm.c == b->ofm.c && a->ofm.region == b->ofm.region &&
           a->ofm.storage == b->ofm.storage && a->ofm.stride_y == b->ofm.stride_y &&
           a->ifm.w == b->ifm.w && a->ifm.c == b->ifm.c && a->ifm.region == b->ifm.region &&
           a->ifm.stride_y == b->ifm.stride_y && a->job.block.h == b->job.block.h &&
           a->job.block.w == b->job.block.w && a->job.block.depth == b->job.block.depth;
}

static bool follows(const tc_npu_part *a, const tc_npu_part *b)
{
    if (!same_but_rows(a, b) || a->ofm.storage != TC_STORE_TILES)
        return same_but_rows(a, b);
    if (a->ofm.stride_y <= 0)
        return false;
    int64_t from = (int64_t)a->ofm.base[0], to = (int64_t)b->ofm.base[0];
    return to == from + a->ofm.h * a->ofm.stride_y || (to <= from && to >= a->lo);
}

static bool reads_of(const tc_npu_part *a, const tc_npu_part *b)
{
    return b->ifm.used && b->ifm.region == a->ofm.region && (int64_t)b->ifm.base[0] >= a->lo &&
           (int64_t)b->ifm.base[0] < a->hi;
}

/* Its input is further down the same tensor, or in a buffer that was filled since. */
static bool goes_on(const tc_npu_part *part, size_t from, size_t to)
{
    const tc_npu_part *a = &part[from], *b = &part[to];
    int64_t rows = (int64_t)b->ifm.base[0] - (int64_t)a->ifm.base[0];
    bool on = rows >= 0 && a->ifm.stride_y > 0 && rows % a->ifm.stride_y == 0;
    for (size_t m = from > TURN ? from - TURN : 0; m < to && !on; m++)
        on = part[m].before != SIZE_MAX && reads_of(&part[m], b);
    return on;
}

/* Everything between the two reads what was written since the first of them. */
static bool turns(const tc_npu_part *part, size_t from, size_t to)
{
    if (!goes_on(part, from, to))
        return false;
    for (size_t k = from + 1; k < to; k++) {
        bool reads = part[k].before != SIZE_MAX;
        for (size_t m = from; m < k && !reads; m++)
            reads = reads_of(&part[m], &part[k]);
        if (!reads)
            return false;
    }
    return true;
}

static void connect(tc_npu_part *part, size_t i)
{
    tc_npu_part *b = &part[i];
    for (size_t j = i; j-- > 0 && i - j <= TURN;) {
        const tc_npu_part *a = &part[j];
        if (!follows(a, b))
            continue;
        bool again = i - j == 1 && a->ifm.base[0] == b->ifm.base[0] && a->top == b->top;
        if (!again && turns(part, j, i)) {
            b->before = j;
            b->lo = a->lo < b->lo ? a->lo : b->lo;
            b->hi = a->hi > b->hi ? a->hi : b->hi;
        }
        return;
    }
}

static int32_t sum(int32_t a, int32_t b)
{
    return a < INT32_MAX - b ? a + b : INT32_MAX;
}

/* An operand of one row, broadcast, stays one. */
static void add_rows(tc_npu_job_map *to, const tc_npu_job_map *more)
{
    if (to->h > 1 || to->w > 1)
        to->h = sum(to->h, more->h);
}

/* Operations with weights identify a cascade; others join an existing one. */
void ti_npu_join_parts(tc_arena *arena, tc_npu_part *part, size_t n)
{
    bool *between = tc_new_n(arena, bool, n + 1); /* by first: something was in between */
    size_t *last = tc_new_n(arena, size_t, n + 1), *count = tc_new_n(arena, size_t, n + 1), end = 0;
    for (size_t i = 0; i < n; i++) {
        connect(part, i);
        tc_npu_part *f = &part[i];
        f->whole = f->before == SIZE_MAX ? i : part[f->before].whole;
        between[f->whole] = between[f->whole] || (f->before != SIZE_MAX && i - f->before > 1);
        last[f->whole] = i;
        count[f->whole]++;
    }
    for (size_t i = 0; i < n; i++) {
        tc_npu_part *f = &part[i], *w = &part[f->whole];
        bool seed = f->job.weight_bytes > 0 || count[i] >= SURE;
        if (f == w && between[i] && seed)
            end = last[i] > end ? last[i] : end;
        if (f == w)
            between[i] = between[i] && (seed || i < end);
        if (f == w || !between[f->whole]) {
            f->whole = i;
            continue;
        }
        w->job.stripe = w->ofm.h;
        w->job.ofm.h = sum(w->job.ofm.h, f->rows);
        add_rows(&w->job.ifm, &f->job.ifm);
        add_rows(&w->job.ifm2, &f->job.ifm2);
        for (int32_t k = 0; k < w->job.n_more; k++)
            add_rows(&w->job.more[k], &f->job.more[k]);
    }
    for (size_t i = 0; i < n; i++) {
        tc_npu_part *f = &part[i], *w = &part[f->whole];
        if (!w->job.stripe)
            continue;
        f->share = (double)f->rows / w->job.ofm.h;
        if (f == w && i && part[part[i - 1].whole].job.stripe)
            f->job.early = false; /* only the first of a cascade finds time before it */
    }
}
