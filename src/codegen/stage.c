/* SPDX-License-Identifier: Apache-2.0 */
/* stage.c -- weights that are in a slower memory than values are copied ahead, while the operation
 * before runs; or late, when it has ended and its operands have given back their bytes.
 *
 * Into bytes that would be idle, and into some more where that pays.
 * Where there is no room for all weights of an operation, it is cut into slices of its channels,
 * two of which fit at a time. */
#include "hw.h"

#include <math.h>

#include "../base/map.h"
#include "../npu/block_search.h"
#include "../npu/cost.h"
#include "../npu/npu_write.h"

enum { BRICK = 16 };

/* Values and staged weights share this region. */
uint8_t ti_hw_fast_region(const tc_hw *hw)
{
    const tc_npu_system *s = hw->options->system;
    return s->of_region[2] != s->of_region[1] ? 2 : 1;
}

bool ti_hw_stages(const tc_hw *hw)
{
    const tc_npu_system *s = hw->options->system;
    bool straight = !hw->n_label; /* else what was copied ahead may not be there */
    return straight && s->of_region[0] != s->of_region[ti_hw_fast_region(hw)];
}

int64_t ti_hw_weight_bytes(const tc_hw_op *op, int64_t channels)
{
    const tc_npu_op *o = &op->op;
    int64_t taps = (int64_t)o->window.kh * o->window.kw,
            depth = o->kind == TC_NPU_KIND_DEPTHWISE ? 1 : o->ifm.c;
    return (int64_t)((double)channels * ((double)(taps * depth) * op->density + 10)) + 64;
}

static tc_str key_of(const int16_t *const *weight)
{
    return (tc_str){(const char *)weight, sizeof *weight};
}

void ti_hw_densities(tc_hw *hw)
{
    tc_map known;
    ti_map_init(&known, hw->arena);
    for (size_t i = 0; i < hw->n_op; i++) {
        tc_hw_op *op = &hw->op[i];
        const tc_npu_op *o = &op->op;
        if (!op->weight)
            continue;
        void **of = ti_map_at(&known, key_of(&op->weight));
        if (!*of) {
            tc_npu_weight_census *census = *of = tc_new(hw->arena, tc_npu_weight_census);
            int32_t depth = o->kind == TC_NPU_KIND_DEPTHWISE ? 1 : o->ifm.c;
            ti_npu_weights_count(op->weight,
                                 (size_t)o->ofm.c * (size_t)o->window.kh * (size_t)o->window.kw *
                                     (size_t)depth,
                                 census);
        }
        op->census = *of;
        if (ti_hw_stages(hw))
            op->density = ti_npu_weights_density(op->census);
    }
}

/* Bytes of values by step, where weights are copied to. */
static int64_t *live_bytes(tc_hw *hw, int64_t *most)
{
    int64_t *live = tc_new_n(hw->arena, int64_t, hw->n_op + 2);
    const int32_t *same = ti_hw_in_place(hw);
    for (size_t i = 0; i < hw->n_root; i++) {
        const tc_root *r = &hw->root[i];
        if (r->kind == TC_ROOT_CONSTANT || !ti_is_used(r->life) ||
            r->region != ti_hw_fast_region(hw))
            continue;
        int32_t first = r->life.first + (same[i] ? 1 : 0); /* until then they are its operand's */
        live[first] += ti_hw_root_bytes(r);
        live[r->life.last + 1] -= ti_hw_root_bytes(r);
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
    out.ofm = ti_view_slice(&op->ofm, op->op.transpose ? 1 : 2, at, n); /* as columns */
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

enum { MOST_AHEAD = 3 }; /* of BLOCKDEP */

/* Commands and waits of an operation more, which the cost model does not know. */
static const double setup = 100;

typedef struct listing {
    const tc_npu_op *op;
    size_t n, at;
    const tc_npu_machine *placed;  /* operations have addresses; NULL: they do not */
    const tc_npu_op *before; /* the last kernel */
} listing;

static bool next_op(void *user, tc_npu_op *out)
{
    listing *l = user;
    if (l->at == l->n)
        return false;
    const tc_npu_op *op = &l->op[l->at];
    *out = *op;
    out->number = l->at++;
    if (!ti_npu_is_kernel(op->kind))
        return true;
    out->blockdep = l->placed ? ti_npu_blockdep(l->placed, l->before, op) : MOST_AHEAD;
    l->before = op;
    return true;
}

static void price(const tc_hw *hw, tc_arena *arena, const tc_npu_op *op, size_t n, bool placed,
                  tc_npu_stream_cost *out)
{
    listing l = {.op = op, .n = n, .placed = placed ? hw->machine : NULL};
    ti_npu_cost_ops(arena, hw->machine, hw->options->system, true, next_op, &l, out);
}

void ti_hw_price(const tc_hw *hw, tc_arena *arena, tc_npu_stream_cost *out)
{
    price(hw, arena, hw->list.op, hw->list.n, true, out);
}

/* The operation as the cost model sees it before weights are packed. */
static tc_npu_op priced(const tc_hw *hw, const tc_hw_op *op, bool staged)
{
    tc_npu_op o = op->op;
    o.weights.region = o.scale_region = staged ? ti_hw_fast_region(hw) : 0;
    int64_t bytes = ti_hw_weight_bytes(op, o.ofm.c) - 10 * (int64_t)o.ofm.c;
    o.weights.bytes[0] = (uint64_t)ti_max_i64(bytes, (int64_t)ti_hw_packed_bytes(hw, op, &o));
    o.scale_bytes[0] = 10 * (uint64_t)o.ofm.c;
    return o;
}

void ti_hw_job(tc_hw *hw, const tc_hw_op *op, bool staged, tc_npu_job *out)
{
    tc_npu_op o = op->weight ? priced(hw, op, staged) : op->op;
    double bytes = (double)o.weights.bytes[0];
    if (!hw->memo)
        hw->memo = ti_npu_block_memo_new(hw->kept);
    ti_npu_best_blocks(hw->memo, hw->machine, hw->options->system, &o, 1, &bytes, hw->ways & TC_WAY_AGAIN);
    ti_npu_job_of(hw->machine, hw->options->system, &o, 1, out);
    out->ahead = !staged; /* a wait for a copy keeps the machine from asking for anything ahead */
}

double ti_hw_job_cycles(const tc_hw *hw, const tc_npu_job *job, double *slack)
{
    tc_npu_cost cost;
    ti_npu_cost_job(hw->machine, hw->options->system, job, slack, &cost);
    return cost.cycles + setup;
}

double ti_hw_cycles(tc_hw *hw, size_t first, size_t end)
{
    tc_mark mark = ti_arena_mark(hw->arena);
    tc_hw part = *hw;
    if (first == end)
        return 0;
    part.n_op = part.cap_op = end - first;
    part.op = ti_arena_copy(hw->arena, hw->op + first, part.n_op * sizeof *part.op);
    part.root = ti_arena_copy(hw->arena, hw->root, hw->n_root * sizeof *part.root);
    for (size_t i = 0; i < part.n_root; i++) {
        tc_root_kind kind = part.root[i].kind;
        part.root[i].region = kind == TC_ROOT_CONSTANT                           ? 0
                              : kind == TC_ROOT_INPUT || kind == TC_ROOT_OUTPUT ? 1
                                                                                : ti_hw_fast_region(hw);
    }
    ti_hw_formats(&part);
    ti_hw_maps(&part);
    ti_hw_blocks(&part);
    hw->memo = part.memo;
    tc_npu_op *list = tc_new_n(hw->arena, tc_npu_op, part.n_op + 1);
    for (size_t i = 0; i < part.n_op; i++)
        list[i] = part.op[i].weight ? priced(hw, &part.op[i], ti_hw_stages(hw)) : part.op[i].op;
    tc_npu_stream_cost cost;
    price(hw, hw->arena, list, part.n_op, false, &cost);
    double cycles = part.refused ? INFINITY : cost.total.cycles + setup * (double)part.n_op;
    ti_arena_rewind(hw->arena, mark);
    return cycles;
}

/* ---- slices ---- */

enum { MOST_SLICES = 64, LONGEST = 8 };

/* Weights where they are; or copied, ahead or late: whole, in so many slices, or (0) in the largest
 * that fit; late also in slices that grow, since the first one is waited for: a small one and the
 * rest, or two to four, each longer by the first one's channels. */
enum { HERE, LATE = 7, GROWN = 13, WAYS = 17 };
static const int32_t slices_of[WAYS] = {1, 1, 0, 2, 3, 4, 8, 1, 0, 2, 3, 4, 8, 2, 2, 3, 4};
static const int32_t parts_of[WAYS - GROWN] = {9, 3, 6, 10}; /* of which the first is one */

typedef struct way {
    bool possible;
    int32_t step, more; /* channels of the first slice, and by how many the others grow */
    int32_t last;       /* channels that the place of the last slice has */
} way;

/* What each operation costs by how its weights come and how those of the one before came: of an
 * operation only the time in which copies can hide is passed on to the next.  So the
 * cheapest of all ways through the program is found step by step (dynamic programming). */
typedef struct path {
    double cycles[WAYS], slack[WAYS];
    way way[WAYS];
    uint8_t from[WAYS]; /* the way of the operation before */
    struct known_job *known[WAYS - LATE + 1]; /* by way: late or ahead is the same job */
} path;

/* An operation and its chain in slices of `step`: what the cost model knows before it is asked. */
typedef struct known_job {
    int32_t step, more;
    tc_npu_job job;
    struct tc_npu_time *times;
} known_job;

typedef struct search {
    tc_hw *hw;
    const int64_t *live; /* by step */
    tc_map readers;      /* by weights: how many operations read them */
    int64_t most;        /* bytes at a time that `path` is of; below 0: it is of none yet */
    path *path;
    int64_t kept_most; /* the same of the best so far */
    path *kept;
} search;

static void count_readers(search *s)
{
    ti_map_init(&s->readers, s->hw->arena);
    for (size_t i = 0; i < s->hw->n_op; i++) {
        const tc_hw_op *op = &s->hw->op[i];
        if (!op->weight || op->like)
            continue;
        void **n = ti_map_at(&s->readers, key_of(&op->weight));
        *n = *n ? *n : tc_new(s->hw->arena, int32_t);
        ++*(int32_t *)*n;
    }
}

/* Weights that others read too stay whole: slices are packed separately, and would be stored
 * twice. */
static bool may_slice(const search *s, const tc_hw_op *op)
{
    bool chained = op->joins || op->turns || op->op.ofm.storage == TC_STORE_CHAIN ||
                   op->op.acc_input == 1;
    const int32_t *readers = ti_map_get(&s->readers, key_of(&op->weight));
    return !chained && readers && *readers == 1;
}

/* Slices that grow take two places, too: the longest of every second one. */
static way grown(const tc_hw_op *op, int32_t step, int32_t more, int64_t room)
{
    int32_t c = op->op.ofm.c, n = 0, place[2] = {0};
    for (int32_t s; (s = ti_npu_slice(c, step, more, n)) > 0 && n <= TC_NPU_GROWN; n++)
        place[n % 2] = s > place[n % 2] ? s : place[n % 2];
    bool fits = ti_hw_weight_bytes(op, place[0]) + ti_hw_weight_bytes(op, place[1]) <= room;
    return (way){n > 1 && n <= TC_NPU_GROWN && fits, step, more, place[(n + 1) % 2]};
}

static way grown_way(const tc_hw_op *op, int which, int64_t room)
{
    int32_t c = op->op.ofm.c, parts = parts_of[which - GROWN],
            step = ti_round_up_i32((c + parts - 1) / parts, BRICK);
    return grown(op, step, which == GROWN ? c : step, room);
}

/* The same of weights that a program before has cut: here, or copied, as they are. */
static way way_known(const tc_hw_op *op, int which, int64_t room)
{
    int32_t c = op->op.ofm.c, step = op->known->step, more = op->known->more;
    if (more)
        return which == GROWN ? grown(op, step, more, room) : (way){which == HERE, step, more, 0};
    int64_t bytes = ti_hw_weight_bytes(op, step);
    bool copied = which != HERE && which < GROWN &&
                  (step < c ? slices_of[which] == 0 && 2 * bytes <= room
                            : slices_of[which] == 1 && bytes <= room);
    return (way){which == HERE || copied, step, 0, step};
}

/* In how many channels at a time weights come that way, when there is so much room. */
static way way_in(const search *s, const tc_hw_op *op, int which, int64_t room)
{
    int32_t c = op->op.ofm.c, n = slices_of[which];
    if (op->known && (op->known->step == c || may_slice(s, op)))
        return way_known(op, which, room);
    if (which == HERE)
        return (way){true, c, 0, c};
    if (!op->weight || ((s->hw->ways & TC_WAY_WHOLE) && n != 1))
        return (way){false, c, 0, c};
    if (which >= GROWN)
        return may_slice(s, op) ? grown_way(op, which, room) : (way){false, c, 0, c};
    int64_t all = ti_hw_weight_bytes(op, c);
    int32_t block = op->op.block.depth;
    int32_t unit = (s->hw->ways & TC_WAY_BY_BLOCK) && block < c ? ti_round_up_i32(block, BRICK) : BRICK;
    if (n == 1 || (n == 0 && all <= room))
        return (way){n == 1 && all <= room, c, 0, c};
    int32_t step = n           ? ti_round_up_i32((c + n - 1) / n, unit)
                   : room > 0 ? (int32_t)(c * (room / 2) / all) / unit * unit
                              : 0;
    bool possible = step > 0 && step < c && (c + step - 1) / step <= MOST_SLICES &&
                    2 * ti_hw_weight_bytes(op, step) <= room && may_slice(s, op);
    return (way){possible, step, 0, step};
}

static void make_job(const search *s, size_t i, bool staged, known_job *known)
{
    const tc_hw *hw = s->hw;
    tc_npu_op op[LONGEST];
    size_t n = 0;
    tc_npu_job *job = &known->job;
    do {
        const tc_hw_op *from = &hw->op[i + n];
        op[n++] = from->weight ? priced(hw, from, staged) : from->op;
    } while (n < LONGEST && i + n < hw->n_op && hw->op[i + n].joins);
    ti_npu_job_of(hw->machine, hw->options->system, op, n, job);
    job->ahead = false; /* waits for copies keep the machine from prefetching weights */
    int32_t c = op->ofm.c;
    if (hw->op[i].weight && known->step < c) {
        job->slice_depth = known->step;
        job->slice_more = known->more;
        while (ti_npu_slice(c, known->step, known->more, job->slices) > 0)
            job->slices++;
        job->first_bytes = (double)ti_hw_weight_bytes(&hw->op[i], known->step);
    }
    known->times = ti_npu_times(hw->arena, hw->machine, hw->options->system, job);
}

/* Cycles of operation i and its chain; slack: of the one before, then its own. */
static double cycles_of(const search *s, size_t i, int which, const way *w, double *slack)
{
    const tc_hw *hw = s->hw;
    tc_npu_cost cost;
    if (hw->op[i].joins || !ti_npu_is_kernel(hw->op[i].op.kind))
        return 0;
    known_job **known = &s->path[i].known[which < LATE ? which : which - LATE + 1];
    if (!*known || (*known)->step != w->step || (*known)->more != w->more) {
        *known = *known ? *known : tc_new(hw->arena, known_job);
        (*known)->step = w->step;
        (*known)->more = w->more;
        make_job(s, i, which != HERE, *known);
    }
    const tc_npu_job *job = &(*known)->job;
    ti_npu_cost_times(hw->machine, hw->options->system, job, (*known)->times, slack, &cost);
    return cost.cycles + (job->slices > 1 ? setup * (job->slices - 1) : 0);
}

/* Operation i that way, after the one before came the way p. */
static void try_way(search *s, size_t i, int p, int q, int64_t room)
{
    const path *before = i ? &s->path[i - 1] : NULL;
    path *now = &s->path[i];
    double slack = before && q < LATE ? before->slack[p] : 0;
    way w = way_in(s, &s->hw->op[i], q, room);
    if (!w.possible)
        return;
    double cycles = (before ? before->cycles[p] : 0) + cycles_of(s, i, q, &w, &slack);
    if (now->cycles[q] >= 0 && now->cycles[q] <= cycles)
        return;
    now->cycles[q] = cycles;
    now->slack[q] = slack;
    now->way[q] = w;
    now->from[q] = (uint8_t)p;
}

/* The way that is the cheapest up to operation i. */
static int least_of(const path *at)
{
    int least = HERE;
    for (int q = 0; q < WAYS; q++)
        least = at->cycles[q] >= 0 && at->cycles[q] < at->cycles[least] ? q : least;
    return least;
}

static void extend(search *s, size_t i)
{
    const tc_hw_op *op = &s->hw->op[i];
    const path *before = i ? &s->path[i - 1] : NULL;
    path *now = &s->path[i];
    for (int q = 0; q < WAYS; q++)
        now->cycles[q] = -1;
    for (int p = 0; p < (before ? WAYS : 1); p++) {
        if (before && before->cycles[p] < 0)
            continue;
        int64_t held = before ? s->live[i - 1] : 0;
        if (p != HERE)
            held += ti_hw_weight_bytes(op - 1, before->way[p].last);
        int64_t room = s->most - ti_max_i64(held, s->live[i]);
        for (int q = 0; q < LATE; q++)
            try_way(s, i, p, q, room);
    }
    if (op->joins || !op->weight || (s->hw->ways & TC_WAY_AHEAD_ONLY))
        return;
    int end = s->hw->ways & TC_WAY_EVEN ? GROWN : WAYS;
    for (int q = before ? LATE : GROWN; q < end; q++) /* whatever was before */
        try_way(s, i, before ? least_of(before) : HERE, q, s->most - s->live[i]);
}

/* What was priced last is the best so far, or that is what is asked for again. */
static void swap_kept(search *s)
{
    path *last = s->path;
    int64_t most = s->most;
    s->path = s->kept;
    s->most = s->kept_most;
    s->kept = last;
    s->kept_most = most;
}

/* Cycles of the cheapest way in so many bytes; which: the last operation's. */
static double cheapest(search *s, int64_t most, int *which)
{
    if (s->kept_most == most)
        swap_kept(s);
    bool known = s->most == most;
    s->most = most;
    for (size_t i = 0; i < s->hw->n_op && !known; i++)
        extend(s, i);
    const path *end = &s->path[s->hw->n_op - 1];
    *which = least_of(end);
    return end->cycles[*which];
}

double ti_hw_price_of_bytes(int64_t bytes)
{
    static const double cycles_of_a_byte = 0.33;
    return cycles_of_a_byte * (double)bytes;
}

/* All bytes more must save so much of the program's cycles. */
static const double worth_it = 0.98;

/* Of all operations, twice: bytes are tried by doubling them, and no more are asked for. */
static int64_t all_weights(const tc_hw *hw)
{
    int64_t all = 0;
    for (size_t i = 0; i < hw->n_op; i++)
        all += hw->op[i].weight ? ti_hw_weight_bytes(&hw->op[i], hw->op[i].op.ofm.c) : 0;
    return 2 * all;
}

/* Bytes that weights may have next to values: in a memory for nothing else all that it has left, in
 * others a few, which are much to a small program. */
static int64_t room_beside(const tc_hw *hw, int64_t values)
{
    enum { SMALL = 8192 };
    if (hw->options->size || (hw->ways & TC_WAY_FEW_COPIES))
        return 0;
    if (ti_hw_fast_region(hw) == 2)
        return hw->options->system->cache ? hw->options->system->cache - values : all_weights(hw);
    return ti_max_i64(values / 64, ti_min_i64(values / 2, SMALL - values / 10));
}

/* A memory for nothing else: the fewest bytes, doubled from step to step, that are about as
 * quick as all of it. */
static int64_t bytes_apart(search *s, int64_t values, int64_t room)
{
    enum { FEWEST = 1024 };
    static const double about_as_quick = 1.005;
    int which;
    int64_t more = 0;
    double least = cheapest(s, values + ti_max_i64(room, 0), &which);
    while (more < room && cheapest(s, values + more, &which) > about_as_quick * least)
        more = ti_min_i64(more ? 2 * more : FEWEST, room);
    return more;
}

/* More bytes where those pay. */
static int64_t bytes_that_pay(search *s, int64_t values, int64_t room, bool apart)
{
    enum { FEWEST = 1024, TRIES = 4 };
    int64_t best = 0;
    int which;
    double least = cheapest(s, values, &which), enough = worth_it * least;
    swap_kept(s);
    for (int64_t more = apart ? FEWEST : room / TRIES; more > 0 && more <= room;
         more += apart ? more : room / TRIES) {
        double cycles = cheapest(s, values + more, &which),
               price = cycles + ti_hw_price_of_bytes(more);
        if (cycles > enough || price >= least)
            continue;
        swap_kept(s);
        best = more;
        least = price;
    }
    return best;
}

/* Into bytes that values leave idle; into more where that pays. */
static int cheapest_in_few(search *s, int64_t values)
{
    int64_t room = room_beside(s->hw, values), more;
    bool apart = ti_hw_fast_region(s->hw) == 2;
    int which;
    more = apart && (s->hw->ways & TC_WAY_MANY_COPIES) ? bytes_apart(s, values, room)
                                                      : bytes_that_pay(s, values, room, apart);
    cheapest(s, values + more, &which);
    return which;
}

static void set_ways(search *s, int which)
{
    for (size_t i = s->hw->n_op; i-- > 0;) {
        s->hw->op[i].staged = which != HERE;
        s->hw->op[i].late = which >= LATE;
        s->hw->op[i].step = s->path[i].way[which].step;
        s->hw->op[i].more = s->path[i].way[which].more;
        which = s->path[i].from[which];
    }
}

static void cut(tc_hw *hw)
{
    size_t n = 0, cap = hw->n_op + hw->n_op / 8 + 1;
    tc_hw_op *list = ti_arena_raw(hw->arena, cap * sizeof *list);
    int32_t *now_at = tc_new_n(hw->arena, int32_t, hw->n_op); /* 1 + where it is in the list */
    for (size_t i = 0; i < hw->n_op; i++) {
        const tc_hw_op *op = &hw->op[i];
        now_at[i] = (int32_t)n + 1;
        if (!ti_npu_is_kernel(op->op.kind)) {
            keep(hw, &list, &n, &cap, op);
            continue;
        }
        int32_t c = op->op.ofm.c, step = op->weight ? op->step : c;
        for (int32_t at = 0, k = 0, size; at < c; at += size, k++) {
            size = step < c ? ti_npu_slice(c, step, op->more, k) : c;
            tc_hw_op part = step < c ? slice(op, at, size) : *op;
            part.op.weights.region = part.staged ? ti_hw_fast_region(hw) : 0;
            part.like = op->like ? now_at[op->like - 1] : 0;
            part.slice = k;
            part.late = op->late && at == 0; /* the others come while those before are computed */
            part.cut_of = step < c && at == 0 ? c : 0;
            part.known = step < c ? ti_hw_known(hw, &part) : op->known;
            keep(hw, &list, &n, &cap, &part);
        }
    }
    hw->op = list;
    hw->n_op = n;
    hw->cap_op = cap;
}

void ti_hw_slices(tc_hw *hw)
{
    if (!ti_hw_stages(hw) || !hw->n_op || hw->n_label) /* nor across branches */
        return;
    ti_hw_live(hw);
    int64_t most;
    search s = {.hw = hw, .live = live_bytes(hw, &most), .most = -1, .kept_most = -1};
    tc_mark mark = ti_arena_mark(hw->arena);
    s.path = tc_new_n(hw->arena, path, hw->n_op);
    s.kept = tc_new_n(hw->arena, path, hw->n_op);
    count_readers(&s);
    set_ways(&s, cheapest_in_few(&s, most));
    ti_arena_rewind(hw->arena, mark);
    cut(hw);
}

/* A buffer for the packed weights of each staged operation, scales before them; slices of one
 * alternate between two buffers. */
void ti_hw_stage(tc_hw *hw)
{
    for (size_t i = 0; i < hw->n_op; i++) {
        tc_hw_op *op = &hw->op[i];
        op->stage = -1;
        if (!op->staged || op->packed < 0)
            continue;
        op->staged_bytes = (int64_t)hw->packed[op->packed].bytes.size +
                           (op->scales >= 0 ? (int64_t)hw->packed[op->scales].bytes.size : 0);
        op->stage = op->slice > 1 ? op[-2].stage
                                  : ti_hw_root(hw, "staged", TC_ROOT_STAGED, 1, 0);
        tc_root *r = &hw->root[op->stage];
        r->region = ti_hw_fast_region(hw);
        r->count = ti_max_i64(r->count, op->staged_bytes);
    }
}
