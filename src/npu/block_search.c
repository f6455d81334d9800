/* SPDX-License-Identifier: Apache-2.0 */
/* block_search.c -- see block_search.h.
 *
 * Sides are those that cut an output into equal parts: between two of them a block reads more and
 * computes no more.  (All sides would gain another 0.02 % on networks, in twice the time.) */
#include "block_search.h"

#include "block.h"
#include "cost.h"

#include <math.h>

enum { JOBS = 8, SIDES = 160, BRICK = 16 };
static const double more_traffic[] = {1.1, 1.4}, burst = 64, /* that are too few to count */
    equal = 1e-9;

/* ---- prices ---- */

/* Of operations with a common block: the jobs, and which operation each begins with.  Beyond JOBS
 * they are like the last ones, taps of a kernel. */
typedef struct group {
    const tc_npu_machine *m;
    const tc_npu_system *s;
    tc_npu_op *op;
    size_t n;
    tc_npu_job job[JOBS];
    size_t first[JOBS], n_job;
    size_t main;    /* the operation that the others go by */
    int32_t copies; /* of its block that have room */
    double traffic; /* bytes, and no more */
    tc_npu_order order; /* that is given; depth 0: none is */
} group;

typedef struct price {
    double cycles, traffic, volume;
} price;

static void make_jobs(group *g, const double *weight_bytes)
{
    for (size_t i = 0; i < g->n && g->n_job < JOBS;) {
        tc_npu_job *j = &g->job[g->n_job];
        const tc_npu_op *op = &g->op[i];
        g->first[g->n_job++] = i;
        size_t n = ti_npu_job_of(g->m, g->s, op, g->n - i, j);
        if (j->weight_memory >= 0 && weight_bytes) {
            j->weight_bytes = weight_bytes[i];
            if (op->per_channel && j->scale_bytes <= 0)
                j->scale_bytes = 10.0 * op->ofm.c;
        }
        j->copied_from = -1; /* copies cost the same whatever the block */
        i += n;
    }
}

static price price_of(group *g)
{
    tc_npu_block b = g->op->block;
    price p = {.volume = (double)b.h * b.w * b.depth};
    for (size_t i = 0; i < g->n_job; i++) {
        tc_npu_job *j = &g->job[i];
        tc_npu_op *op = &g->op[g->first[i]];
        tc_npu_cost cost;
        double slack = 0; /* nothing hides before it */
        ti_npu_job_block(g->m, op, j);
        ti_npu_cost_job(g->m, g->s, j, &slack, &cost);
        p.cycles += cost.cycles;
        for (int k = 0; k < TC_NPU_MEMORIES; k++)
            p.traffic += cost.read[k] + cost.written[k];
    }
    return p;
}

/* Cheaper than what was found; of equals what moves less, then the larger block. */
static bool better(const group *g, const price *p, const price *best)
{
    if (p->traffic > g->traffic || isinf(best->cycles))
        return p->traffic <= g->traffic;
    if (fabs(p->cycles - best->cycles) > equal * best->cycles)
        return p->cycles < best->cycles;
    if (fabs(p->traffic - best->traffic) > equal * best->traffic)
        return p->traffic < best->traffic;
    return p->volume > best->volume;
}

/* ---- blocks ---- */

/* Sides that cut `all` into equal parts, in steps, from the smallest on. */
static int sides(int32_t all, int32_t step, int32_t most, int32_t out[SIDES])
{
    int n = 0;
    for (int32_t side = step; side <= most && n < SIDES;) {
        int32_t parts = (all + side - 1) / side;
        out[n++] = ti_round_up_i32((all + parts - 1) / parts, step);
        if (parts == 1)
            break;
        side = ti_round_up_i32((all + parts - 2) / (parts - 1), step);
    }
    return n;
}

/* Channels begin at bricks; all of them need not fill the last one. */
static int depths(const tc_npu_op *op, tc_npu_block step, int32_t fewest, int32_t most,
                  int32_t out[SIDES])
{
    int n = sides(op->ofm.c, ti_round_up_i32(BRICK, step.depth), most, out);
    if (n && out[n - 1] >= op->ofm.c && op->ofm.c >= fewest)
        out[n - 1] = ti_round_up_i32(op->ofm.c, step.depth);
    return n;
}

/* The operation that the others go by: what only fills accumulators does not. */
static size_t main_of(const tc_npu_op *op, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (op[i].kind != TC_NPU_KIND_POOL || op[i].mode != TC_POOL_NONE || op[i].acc_output)
            return i;
    return 0;
}

static void set_block(group *g, tc_npu_block block, int microblock)
{
    for (size_t i = 0; i < g->n; i++) {
        g->op[i].block = block;
        g->op[i].microblock = (uint8_t)microblock;
    }
}

static bool fits(const group *g)
{
    if (!ti_npu_block_is_roomy(g->m, &g->op[g->main], g->copies))
        return false;
    for (size_t i = 0; i < g->n; i++)
        if (!ti_npu_block_fits(g->m, &g->op[i]))
            return false;
    return true;
}

typedef struct choice {
    tc_npu_block block;
    int microblock;
    price price;
} choice;

/* All blocks on one microblock. */
static void search_on(group *g, int microblock, bool lightest, choice *best)
{
    const tc_npu_op *op = &g->op[g->main];
    int32_t high[SIDES], wide[SIDES], deep[SIDES];
    set_block(g, op->block, microblock);
    tc_npu_block step = ti_npu_block_step(g->m, op), most = ti_npu_most_block(g->m, op);
    int n_high = sides(op->ofm.h, step.h, most.h, high),
        n_wide = sides(op->ofm.w, step.w, most.w, wide),
        n_deep = depths(op, step, g->m->product == TC_U85 ? BRICK : 1, most.depth, deep);
    if (g->order.depth) {
        deep[0] = g->order.depth;
        n_deep = deep[0] <= most.depth && deep[0] % step.depth == 0 &&
                 ti_npu_unit(g->m, op).depth == g->order.unit;
    }
    for (int d = 0; d < n_deep; d++)
        for (int h = 0, end = n_wide; h < n_high && end; h++)
            for (int w = 0; w < end; w++) {
                set_block(g, (tc_npu_block){high[h], wide[w], deep[d]}, microblock);
                if (!fits(g)) {
                    end = w; /* nor does a wider one, here or with more rows */
                    break;
                }
                price p = price_of(g);
                if (lightest ? p.traffic < best->price.traffic : better(g, &p, &best->price))
                    *best = (choice){op->block, microblock, p};
            }
}

/* All blocks on all microblocks: the best, or the one that moves the fewest bytes. */
static void search(group *g, bool lightest, choice *best)
{
    const tc_npu_op *op = &g->op[g->main];
    bool u85 = g->m->product == TC_U85;
    for (int i = 0; i < (u85 ? TC_NPU_MICROBLOCKS : 1); i++)
        if (!u85 || ti_npu_may_use(g->m, op, i))
            search_on(g, i, lightest, best);
}

static void best_of(group *g, const double *weight_bytes, bool again)
{
    tc_npu_op *op = &g->op[g->main];
    for (size_t i = 0; i < g->n; i++)
        ti_npu_set_order(g->m, &g->op[i]);
    ti_npu_choose_block(g->m, op);
    set_block(g, op->block, op->microblock);
    bool u85 = g->m->product == TC_U85;
    if (u85 && ti_npu_is_pointwise(op))
        return;
    make_jobs(g, weight_bytes);
    g->copies = op->kind == TC_NPU_KIND_CONV && ti_npu_block_is_roomy(g->m, op, 2) ? 2 : 1;
    choice best = {op->block, op->microblock, {INFINITY, INFINITY, 0}};
    if (fits(g))
        best.price = price_of(g);
    choice light = best;
    if (u85 && op->kind == TC_NPU_KIND_DEPTHWISE) /* a whole plane, near Vela's choice */
        search(g, true, &light);
    g->traffic = more_traffic[again] * light.price.traffic + burst;
    search(g, false, &best);
    set_block(g, best.block, best.microblock);
}

/* ---- equal ones ---- */

enum { SLOTS = 1024, CHAIN = 4, NUMBERS = 64 };

/* All that a block depends on. */
typedef struct shape {
    const tc_npu_machine *m;
    const tc_npu_system *s;
    int64_t number[CHAIN][NUMBERS], again;
} shape;

typedef struct known {
    shape of;
    tc_npu_block block;
    uint8_t microblock;
    struct known *next;
} known;

struct tc_npu_block_memo {
    tc_arena *arena;
    known *slot[SLOTS];
};

tc_npu_block_memo *ti_npu_block_memo_new(tc_arena *arena)
{
    tc_npu_block_memo *memo = tc_new(arena, tc_npu_block_memo);
    memo->arena = arena;
    return memo;
}

static int64_t size_of(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

static void describe(const tc_npu_op *op, double weight_bytes, int64_t number[NUMBERS])
{
    const tc_npu_map *map[] = {&op->ifm, &op->ifm2, &op->ofm};
    const tc_npu_window *k = &op->window;
    int n = 0;
    for (size_t i = 0; i < TC_COUNT(map); i++) {
        const tc_npu_map *m = map[i];
        const int64_t of_map[] = {m->used,    m->bytes, m->broadcast,
                                  m->format,  m->h,     m->w,
                                  m->c,       m->region, m->storage,
                                  size_of(m->stride_y) < size_of(m->stride_x)};
        memcpy(number + n, of_map, sizeof of_map);
        n += (int)TC_COUNT(of_map);
    }
    const int64_t of_op[] = {op->kind,           op->mode,           op->weights_ifm2,
                             k->kh,              k->kw,              k->stride_y,
                             k->stride_x,        k->dilation_y,      k->dilation_x,
                             k->upscale,         op->transpose,      op->reverse,
                             op->acc_bits,       op->acc_input,      op->acc_output,
                             op->cores,          op->weights.region, op->weights.fast,
                             op->weights.sparse, op->per_channel,    op->function,
                             op->swapped,        ti_npu_only_moves(op), (int64_t)weight_bytes,
                             (int64_t)op->scale_bytes[0], op->x.scale,       op->x.step};
    static_assert(3 * 10 + TC_COUNT(of_op) <= NUMBERS, "an operation's numbers have room");
    memcpy(number + n, of_op, sizeof of_op);
}

static double bytes_of(const tc_npu_op *op)
{
    double all = 0;
    for (int i = 0; i < op->cores && i < TC_NPU_CORES; i++)
        all += (double)op->weights.bytes[i];
    return all;
}

static size_t hash(const shape *of)
{
    uint64_t h = 0;
    for (size_t i = 0; i < CHAIN; i++)
        for (size_t k = 0; k < NUMBERS; k++)
            h = (h ^ (uint64_t)of->number[i][k]) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 29);
    return (size_t)(h >> 40) % SLOTS;
}

void ti_npu_best_blocks(tc_npu_block_memo *memo, const tc_npu_machine *machine,
                        const tc_npu_system *system, tc_npu_op *op, size_t n,
                        const double *weight_bytes, bool again)
{
    group g = {.m = machine, .s = system, .op = op, .n = n, .main = main_of(op, n)};
    known *found = NULL, **slot = NULL;
    shape of = {.m = machine, .s = system, .again = again};
    if (memo && n <= CHAIN) {
        for (size_t i = 0; i < n; i++)
            describe(&op[i], weight_bytes ? weight_bytes[i] : bytes_of(&op[i]), of.number[i]);
        slot = &memo->slot[hash(&of)];
        for (found = *slot; found && memcmp(&found->of, &of, sizeof of) != 0;)
            found = found->next;
    }
    if (found) {
        for (size_t i = 0; i < n; i++)
            ti_npu_set_order(machine, &op[i]);
        set_block(&g, found->block, found->microblock);
    } else
        best_of(&g, weight_bytes, again);
    if (slot && !found) {
        known *k = tc_new(memo->arena, known);
        *k = (known){of, op->block, op->microblock, *slot};
        *slot = k;
    }
    for (size_t i = 0; i < n; i++)
        ti_npu_set_banks(machine, &op[i]);
}

bool ti_npu_best_blocks_of(const tc_npu_machine *machine, const tc_npu_system *system,
                           tc_npu_op *op, size_t n, const double *weight_bytes, tc_npu_order order)
{
    tc_npu_op as_it_was[JOBS];
    group g = {.m = machine, .s = system, .op = op, .n = n, .main = main_of(op, n), .order = order};
    choice best = {.price = {INFINITY, INFINITY, 0}};
    bool same = n <= JOBS;
    for (size_t i = 0; same && i < n; i++) {
        as_it_was[i] = op[i];
        ti_npu_set_order(machine, &op[i]);
        same = op[i].kind != TC_NPU_KIND_CONV || op[i].window.part_kernel == order.part_kernel;
        if (!same)
            memcpy(op, as_it_was, (i + 1) * sizeof *op);
    }
    if (!same)
        return false;
    ti_npu_choose_block(machine, &op[g.main]);
    set_block(&g, op[g.main].block, op[g.main].microblock);
    make_jobs(&g, weight_bytes);
    g.traffic = INFINITY;
    for (g.copies = 2; g.copies > 0 && isinf(best.price.cycles); g.copies--)
        search(&g, false, &best);
    if (isinf(best.price.cycles)) {
        memcpy(op, as_it_was, n * sizeof *op);
        return false;
    }
    set_block(&g, best.block, best.microblock);
    for (size_t i = 0; i < n; i++)
        ti_npu_set_banks(machine, &op[i]);
    return true;
}

void ti_npu_best_block(const tc_npu_machine *machine, const tc_npu_system *system, tc_npu_op *op,
                       double weight_bytes)
{
    ti_npu_best_blocks(NULL, machine, system, op, 1, &weight_bytes, false);
}
