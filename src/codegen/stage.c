/* SPDX-License-Identifier: Apache-2.0 */
/* stage.c -- weights that lie in a slower memory than values are copied ahead, while the operation
 * before runs.
 *
 * Only into bytes that would be idle: the most that values need at the same time does not grow.
 * Where there is no room for all weights of an operation, it is cut into slices of its channels,
 * two of which fit at a time. */
#include "hw.h"

#include "../npu/cost.h"

enum { BRICK = 16 };

/* Values and staged weights share this region. */
uint8_t ti_hw_fast_region(const tc_hw *hw)
{
    const tc_npu_system *s = hw->options->system;
    return s->of_region[2] != s->of_region[1] ? 2 : 1;
}

static bool stages(const tc_hw *hw)
{
    const tc_npu_system *s = hw->options->system;
    bool straight = !hw->n_label; /* else what was copied ahead may not be there */
    return straight && s->of_region[0] != s->of_region[ti_hw_fast_region(hw)];
}

/* About as many as they will be when packed. */
static int64_t bytes_of(const tc_hw_op *op, int64_t channels)
{
    const tc_npu_op *o = &op->op;
    int64_t taps = (int64_t)o->window.kh * o->window.kw,
            depth = o->kind == TC_NPU_KIND_DEPTHWISE ? 1 : o->ifm.c;
    return channels * (taps * depth + 10) + 64;
}

/* Bytes of values by step. */
static int64_t *live_bytes(tc_hw *hw, int64_t *most)
{
    int64_t *live = tc_new_n(hw->arena, int64_t, hw->n_op + 2);
    for (size_t i = 0; i < hw->n_root; i++) {
        const tc_root *r = &hw->root[i];
        if (r->kind == TC_ROOT_CONSTANT || r->first < 0)
            continue;
        live[r->first] += ti_hw_root_bytes(r);
        live[r->last + 1] -= ti_hw_root_bytes(r);
    }
    *most = 0;
    for (size_t i = 0; i < hw->n_op; i++) {
        live[i + 1] += live[i];
        *most = live[i] > *most ? live[i] : *most;
    }
    return live;
}

/* Channels [at, at + n) of the operation. */
static tc_hw_op slice(const tc_hw_op *op, int32_t at, int32_t n)
{
    tc_hw_op out = *op;
    const tc_npu_op *o = &op->op;
    int64_t taps = (int64_t)o->window.kh * o->window.kw;
    bool depthwise = o->kind == TC_NPU_KIND_DEPTHWISE;
    out.ofm = ti_view_slice(&op->ofm, 2, at, n);
    out.op.ofm.c = n;
    if (depthwise) {
        out.ifm = ti_view_slice(&op->ifm, 2, at, n);
        out.op.ifm.c = out.op.depth = n;
    }
    out.weight += at * taps * (depthwise ? 1 : o->ifm.c);
    out.bias += at;
    out.factor += at;
    out.shift += at;
    return out;
}

static void keep(tc_hw *hw, tc_hw_op **list, size_t *n, size_t *cap, const tc_hw_op *op)
{
    tc_grow(hw->arena, *list, *n, *cap);
    (*list)[(*n)++] = *op;
}

/* ---- what it costs ---- */

typedef struct listing {
    const tc_npu_op *op;
    size_t n, at;
} listing;

static bool next_op(void *user, tc_npu_op *out)
{
    listing *l = user;
    if (l->at == l->n)
        return false;
    *out = l->op[l->at];
    out->number = l->at++;
    return true;
}

static double price(tc_hw *hw, const tc_npu_op *op, size_t n)
{
    tc_arena *scratch = &hw->ctx->scratch;
    tc_mark mark = ti_arena_mark(scratch);
    listing l = {op, n, 0};
    tc_npu_stream_cost cost;
    ti_npu_cost_ops(scratch, hw->machine, hw->options->system, next_op, &l, &cost);
    double cycles = cost.total.cycles;
    ti_arena_rewind(scratch, mark);
    return cycles;
}

double ti_hw_price(tc_hw *hw)
{
    return price(hw, hw->list.op, hw->list.n);
}

double ti_hw_cycles(tc_hw *hw, size_t first)
{
    tc_hw part = *hw;
    part.n_op = part.cap_op = hw->n_op - first;
    if (!part.n_op)
        return 0;
    part.op = ti_arena_copy(hw->arena, hw->op + first, part.n_op * sizeof *part.op);
    ti_hw_maps(&part);
    ti_hw_blocks(&part);
    tc_npu_op *list = tc_new_n(hw->arena, tc_npu_op, part.n_op);
    for (size_t i = 0; i < part.n_op; i++)
        list[i] = part.op[i].op;
    return price(hw, list, part.n_op);
}

/* The operation as the cost model sees it before weights are packed. */
static tc_npu_op priced(const tc_hw *hw, const tc_hw_op *op, bool staged)
{
    tc_npu_op o = op->op;
    o.weights.region = o.scale_region = staged ? ti_hw_fast_region(hw) : 0;
    o.weights.bytes[0] = (uint64_t)(bytes_of(op, o.ofm.c) - 10 * (int64_t)o.ofm.c);
    o.scale_bytes[0] = 10 * (uint64_t)o.ofm.c;
    return o;
}

/* ---- slices ---- */

enum { MOST_SLICES = 64 };

/* Weights where they are, or copied ahead. */
enum { HERE, AHEAD, WAYS };

typedef struct way {
    bool possible;
    int32_t step; /* channels at a time */
} way;

static size_t list_way(const tc_hw *hw, const tc_hw_op *op, int which, way w, tc_npu_op *list)
{
    size_t n = 0;
    int32_t c = op->op.ofm.c;
    if (w.step >= c || !op->weight) {
        list[n++] = op->weight ? priced(hw, op, which == AHEAD) : op->op;
        return n;
    }
    for (int32_t at = 0; at < c; at += w.step) {
        tc_hw_op part = slice(op, at, c - at < w.step ? c - at : w.step);
        tc_npu_map *m = &part.op.ofm; /* side by side, as the cost model wants to see them */
        m->base[0] += (uint64_t)(m->format == TC_NHCWB16 ? at / BRICK * m->stride_c
                                                         : (int64_t)at * m->bytes);
        if (part.op.block.depth > w.step)
            part.op.block.depth = w.step;
        list[n++] = priced(hw, &part, which == AHEAD);
    }
    return n;
}

/* In how many channels at a time weights can be copied ahead, when there is so much room. */
static way ahead_in(const tc_hw_op *op, int64_t room)
{
    bool chained = op->joins || op->turns || op->op.ofm.storage == TC_STORE_CHAIN ||
                   op->op.acc_input == 1;
    int32_t c = op->op.ofm.c;
    int64_t all = bytes_of(op, c);
    if (!op->weight || all <= room)
        return (way){op->weight != NULL, c};
    int32_t step = room > 0 ? (int32_t)(c * (room / 2) / all) / BRICK * BRICK : 0;
    bool possible = !chained && step > 0 && (c + step - 1) / step <= MOST_SLICES;
    return (way){possible, step};
}

/* What each operation costs by how its weights come and how those of the one before came: of an
 * operation only the time in which copies can hide goes over to the next.  So the cheapest of all
 * ways through the program is found step by step. */
typedef struct path {
    double cycles[WAYS];
    way way[WAYS];
    uint8_t from[WAYS]; /* the way of the operation before */
} path;

static void extend(tc_hw *hw, const path *before, path *now, size_t i, const int64_t *live,
                   int64_t most)
{
    tc_npu_op list[2 * MOST_SLICES + 2];
    const tc_hw_op *op = &hw->op[i], *last = i ? &hw->op[i - 1] : NULL;
    *now = (path){{-1, -1}, {{0}}, {0}};
    for (int p = 0; p < (i ? WAYS : 1); p++) {
        if (i && before->cycles[p] < 0)
            continue;
        int64_t held = i ? live[i - 1] : 0;
        if (i && p == AHEAD)
            held += bytes_of(last, before->way[p].step);
        way ways[WAYS] = {{true, op->op.ofm.c},
                          ahead_in(op, most - ti_max_i64(held, live[i]))};
        size_t n = i ? list_way(hw, last, p, before->way[p], list) : 0;
        double base = i ? price(hw, list, n) : 0;
        for (int q = 0; q < WAYS; q++) {
            if (!ways[q].possible)
                continue;
            size_t all = n + list_way(hw, op, q, ways[q], list + n);
            double cycles = (i ? before->cycles[p] : 0) + price(hw, list, all) - base;
            if (now->cycles[q] >= 0 && now->cycles[q] <= cycles)
                continue;
            now->cycles[q] = cycles;
            now->way[q] = ways[q];
            now->from[q] = (uint8_t)p;
        }
    }
}

void ti_hw_slices(tc_hw *hw)
{
    if (!stages(hw) || !hw->n_op || hw->n_label) /* nor across branches */
        return;
    ti_hw_live(hw);
    int64_t most;
    const int64_t *live = live_bytes(hw, &most);
    if (ti_hw_fast_region(hw) == 2 && hw->options->system->cache)
        most = ti_max_i64(most, hw->options->system->cache);
    path *paths = tc_new_n(hw->arena, path, hw->n_op);
    for (size_t i = 0; i < hw->n_op; i++)
        extend(hw, i ? &paths[i - 1] : NULL, &paths[i], i, live, most);
    const path *end = &paths[hw->n_op - 1];
    int which = end->cycles[AHEAD] >= 0 && end->cycles[AHEAD] < end->cycles[HERE] ? AHEAD : HERE;
    for (size_t i = hw->n_op; i-- > 0;) {
        hw->op[i].staged = which == AHEAD;
        hw->op[i].step = paths[i].way[which].step;
        which = paths[i].from[which];
    }
    tc_hw_op *list = NULL;
    size_t n = 0, cap = 0;
    int32_t *now_at = tc_new_n(hw->arena, int32_t, hw->n_op); /* 1 + where it is in the list */
    for (size_t i = 0; i < hw->n_op; i++) {
        const tc_hw_op *op = &hw->op[i];
        now_at[i] = (int32_t)n + 1;
        if (!ti_npu_is_kernel(op->op.kind)) {
            keep(hw, &list, &n, &cap, op);
            continue;
        }
        int32_t c = op->op.ofm.c, step = op->weight ? op->step : c;
        for (int32_t at = 0; at < c; at += step) {
            tc_hw_op part = step < c ? slice(op, at, c - at < step ? c - at : step) : *op;
            part.op.weights.region = part.staged ? ti_hw_fast_region(hw) : 0;
            part.like = op->like ? now_at[op->like - 1] : 0;
            keep(hw, &list, &n, &cap, &part);
        }
    }
    hw->op = list;
    hw->n_op = n;
    hw->cap_op = cap;
}

/* A place for the packed weights of each staged operation, scales in front of them. */
void ti_hw_stage(tc_hw *hw)
{
    for (size_t i = 0; i < hw->n_op; i++) {
        tc_hw_op *op = &hw->op[i];
        op->stage = -1;
        if (!op->staged || op->packed < 0)
            continue;
        size_t bytes = hw->packed[op->packed].bytes.size +
                       (op->scales >= 0 ? hw->packed[op->scales].bytes.size : 0);
        op->stage = ti_hw_root(hw, "staged", TC_ROOT_STAGED, 1, (int64_t)bytes);
    }
}
