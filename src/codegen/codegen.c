/* SPDX-License-Identifier: Apache-2.0 */
/* codegen.c -- see codegen.h.
 *
 * Operations are selected once.  Then the program is made in several ways that differ in how many
 * rows a cascade computes at a time, and the best is taken: by default the smallest of those that
 * are about as quick as the quickest. */
#include "codegen.h"

#include <math.h>

#include "../npu/census.h"
#include "hw.h"

/* Rows of a stripe; 0: no cascades.  The last are for a fast memory that is limited. */
static const int32_t turns[] = {0, 2, 4, 8, TC_HW_PLANNED, TC_HW_PLANNED + 1, TC_HW_PLANNED + 2};

/* How much slower a smaller program may be. */
static const double about_as_quick = 1.005;

/* A program that was made, and what is compared. */
typedef struct attempt {
    tc_hw hw;
    tc_arena *room; /* of the program: goes where another is better */
    bool gone;
    double cycles;
    int64_t sram;   /* bytes of values */
    int64_t memory; /* bytes of working memory, of all kinds */
    bool evicted;   /* not all values are in the fast memory */
} attempt;

/* In the context's arena, so that it can be given back after the jump for lack of memory, too. */
static tc_arena *new_room(const tc_hw *base)
{
    tc_arena *room = tc_new(base->kept, tc_arena);
    ti_arena_init_like(room, base->kept);
    ti_ctx_defer(base->ctx, ti_arena_end, room);
    return room;
}

/* Its figures stay. */
static void drop(attempt *a)
{
    if (a->room)
        ti_arena_free(a->room);
    a->gone = true;
}

typedef void step(tc_hw *hw);

static void run(tc_hw *hw, step *const *steps, size_t n)
{
    for (size_t i = 0; i < n && !hw->refused; i++)
        steps[i](hw);
}

/* A copy whose lists grow by themselves, elsewhere. */
static tc_hw copy_of(const tc_hw *hw, tc_arena *room)
{
    tc_hw out = *hw;
    out.arena = room;
    out.op = ti_arena_copy(room, hw->op, hw->n_op * sizeof *hw->op);
    out.root = ti_arena_copy(room, hw->root, hw->n_root * sizeof *hw->root);
    out.cap_op = hw->n_op;
    out.cap_root = hw->n_root;
    for (size_t i = 0; i < hw->n_packed; i++)
        out.packed[i].root = -1;
    return out;
}

/* What was packed, and the blocks that were found, are reused by the next attempt. */
static void give_back(tc_hw *base, const tc_hw *hw)
{
    base->packed = hw->packed;
    base->n_packed = hw->n_packed;
    base->cap_packed = hw->cap_packed;
    memcpy(base->hash, hw->hash, sizeof base->hash);
    base->memo = hw->memo;
}

/* A program with cascades of so many rows, in the order of the region or another; false: it has
 * none, or there is no other order. */
static bool make(tc_hw *base, int32_t rows, bool ordered, tc_arena *room, tc_hw *hw)
{
    static step *const steps[] = {ti_hw_regions, ti_hw_maps,   ti_hw_blocks,
                                  ti_hw_slices,  ti_hw_maps,   ti_hw_blocks,
                                  ti_hw_pack,    ti_hw_stage,  ti_hw_emit};
    *hw = copy_of(base, room);
    if (hw->ways & TC_WAY_UNPADDED)
        ti_hw_formats(hw);
    hw->rows = rows;
    hw->ordered = ordered;
    if ((ordered && !ti_hw_order(hw)) || (!ti_hw_cascades(hw) && rows))
        return false;
    run(hw, steps, TC_COUNT(steps));
    give_back(base, hw);
    return true;
}

static bool has_evicted(const tc_hw *hw)
{
    uint8_t fast = ti_hw_fast_region(hw);
    for (size_t i = 0; i < hw->n_root; i++)
        if (hw->root[i].kind == TC_ROOT_VALUE && ti_is_used(hw->root[i].life) &&
            hw->root[i].region != fast)
            return true;
    return false;
}

static bool try_turns(tc_hw *base, int32_t rows, bool ordered, attempt *out)
{
    *out = (attempt){.cycles = -1, .room = new_room(base)};
    if (!make(base, rows, ordered, out->room, &out->hw)) {
        drop(out);
        return false;
    }
    tc_hw *hw = &out->hw;
    if (!hw->refused) {
        tc_npu_stream_cost cost;
        tc_mark mark = ti_arena_mark(hw->arena);
        ti_hw_price(hw, hw->arena, &cost);
        ti_arena_rewind(hw->arena, mark);
        out->cycles = cost.total.cycles;
    }
    out->sram = ti_hw_fast_region(hw) == 2 ? hw->list.fast : hw->list.scratch;
    out->memory = hw->list.scratch + (hw->list.fast > 0 ? hw->list.fast : 0);
    out->evicted = has_evicted(hw);
    return true;
}

/* What cascades are for: they need less memory than the attempt without, or more values are in
 * the fast one, or they are quicker in the same. */
static bool is_of_use(const attempt *a, const attempt *without)
{
    return a->sram < without->sram || without->evicted ||
           (a->sram == without->sram && a->cycles < without->cycles);
}

static bool fits(const tc_codegen_options *o, const attempt *a)
{
    return !o->max_scratch || a->memory <= o->max_scratch;
}

/* Whether a is better than b, the best so far; quickest: the fewest cycles of all. */
static bool is_better(const tc_codegen_options *o, const attempt *a, const attempt *b,
                      double quickest)
{
    bool fits_a = fits(o, a), fits_b = fits(o, b);
    if (fits_a != fits_b || (!fits_a && a->memory != b->memory))
        return a->memory < b->memory;
    bool quick_a = o->size || a->cycles <= about_as_quick * quickest,
         quick_b = o->size || b->cycles <= about_as_quick * quickest;
    if (quick_a != quick_b)
        return quick_a;
    return a->sram != b->sram ? a->sram < b->sram : a->cycles < b->cycles;
}

/* A register value that no stream of Vela's has, and no reason is known for, is not written. */
static void check_registers(tc_hw *hw, tc_codegen_result *out)
{
    tc_npu_census census;
    if (out->refused || hw->options->products)
        return;
    ti_npu_census(hw->arena, &out->program, &census);
    for (size_t i = 0; i < census.n && census.n_value; i++) {
        const tc_npu_news *n = &census.list[i];
        if (!n->value || n->reason)
            continue;
        const tc_node *node = NULL;
        for (size_t k = 0; k < out->n_origin; k++)
            node = out->origin[k].word == n->at ? out->origin[k].node : node;
        *out = (tc_codegen_result){
            .refused = ti_text_format(&hw->ctx->arena,
                                      "%s with register values that no known stream has: %s",
                                      n->operation, n->text),
            .refused_node = node};
        return;
    }
}

/* ---- the best once more, in other ways ---- */

static bool has_any(const tc_hw *hw, bool (*is)(const tc_hw_op *))
{
    for (size_t i = 0; i < hw->n_op; i++)
        if (is(&hw->op[i]))
            return true;
    return false;
}

/* The one that is taken; the other goes. */
static attempt *take(bool new_one, attempt *best, attempt *other)
{
    drop(new_one ? best : other);
    return new_one ? other : best;
}

static bool is_cut(const tc_hw_op *op) { return op->staged && op->cut_of; }
static bool is_grown(const tc_hw_op *op) { return op->staged && op->more; }
static bool is_late(const tc_hw_op *op) { return op->late; }

static bool has_room_apart(const tc_hw *hw) { return ti_hw_fast_region(hw) == 2; }
static bool has_cut(const tc_hw *hw) { return has_any(hw, is_cut); }
static bool has_grown(const tc_hw *hw) { return has_any(hw, is_grown); }
static bool has_late(const tc_hw *hw) { return has_any(hw, is_late); }
static bool is_for_speed(const tc_hw *hw) { return !hw->options->size; }
static bool has_padded(const tc_hw *hw) { return is_for_speed(hw) && ti_hw_has_padded(hw); }

/* Copies are chosen by the sum of operations, and priced as a whole: no slower, in no more of a memory
 * that values have too; or in less, where the best takes more than may be. */
static bool is_no_worse(const attempt *a, const attempt *b)
{
    const tc_codegen_options *o = a->hw.options;
    if (!fits(o, a) || !fits(o, b))
        return a->memory < b->memory;
    return a->cycles <= b->cycles && (has_room_apart(&a->hw) || a->sram <= b->sram);
}

/* Blocks are chosen one by one, weights where they lie at first: in the whole blocks that read more
 * again, which takes energy, must gain more than a tie, in no more memory. */
static bool gains_more(const attempt *a, const attempt *b)
{
    return a->cycles * about_as_quick <= b->cycles && a->sram <= b->sram && a->memory <= b->memory;
}

/* Formats are chosen by what can be: an attempt like others. */
static bool is_like_others(const attempt *a, const attempt *b)
{
    return is_better(a->hw.options, a, b, fmin(a->cycles, b->cycles));
}

/* One after the other, each added to those that were taken. */
static const struct other_way {
    unsigned way;
    bool (*may)(const tc_hw *best); /* it would make a difference */
    bool (*taken)(const attempt *a, const attempt *best);
} other_ways[] = {
    {TC_WAY_MANY_COPIES, has_room_apart, is_no_worse},
    {TC_WAY_FEW_COPIES, has_room_apart, is_no_worse},
    {TC_WAY_WHOLE, has_cut, is_no_worse},
    {TC_WAY_BY_BLOCK, has_cut, is_no_worse},
    {TC_WAY_EVEN, has_grown, is_no_worse},
    {TC_WAY_AHEAD_ONLY, has_late, is_no_worse},
    {TC_WAY_AGAIN, is_for_speed, gains_more},
    {TC_WAY_UNPADDED, has_padded, is_like_others},
};

static attempt *try_other_ways(tc_hw *base, attempt *best, attempt *out)
{
    for (size_t i = 0; i < TC_COUNT(other_ways); i++) {
        if (!other_ways[i].may(&best->hw))
            continue;
        tc_hw *other = tc_new(base->arena, tc_hw);
        *other = *base;
        other->ways = best->hw.ways | other_ways[i].way;
        bool made =
            try_turns(other, best->hw.rows, best->hw.ordered, &out[i]) && !out[i].hw.refused;
        give_back(base, other);
        best = take(made && other_ways[i].taken(&out[i], best), best, &out[i]);
    }
    return best;
}

/* Whatever the quickest is, a is not taken where b is there as well; of equal ones the first is. */
static bool is_idle(const attempt *a, const attempt *b)
{
    bool no_worse = b->cycles <= a->cycles && b->sram <= a->sram && b->memory <= a->memory;
    return no_worse && (b < a || b->cycles < a->cycles || b->sram < a->sram);
}

/* Those that the last one beats, or it itself. */
static void drop_idle(attempt *made, size_t n)
{
    attempt *last = &made[n - 1];
    for (size_t i = 0; i + 1 < n; i++) {
        if (!last->gone && is_idle(last, &made[i]))
            drop(last);
        if (!made[i].gone && is_idle(&made[i], last))
            drop(&made[i]);
    }
}

/* Cascades of so many rows; of those that are no longer there, figures.  How many. */
static size_t try_all_turns(tc_hw *hw, attempt *made)
{
    size_t n = 0;
    for (size_t i = 0; i < TC_COUNT(turns) && (turns[i] >= 0 || hw->options->system->cache); i++) {
        bool tried = try_turns(hw, turns[i], false, &made[n]);
        if (tried && made[0].hw.refused)
            return 1;
        if (tried && (!n || (!made[n].hw.refused && is_of_use(&made[n], &made[0]))))
            drop_idle(made, ++n);
        else
            drop(&made[n]);
    }
    return n;
}

/* The best of all attempts; it may be refused. */
static attempt *best_attempt(tc_hw *hw)
{
    enum { MOST = TC_COUNT(turns) + 1 + TC_COUNT(other_ways) };
    attempt *made = tc_new_n(hw->arena, attempt, MOST), *best = NULL;
    size_t n = try_all_turns(hw, made);
    if (made[0].hw.refused)
        return made;
    double quickest = made[0].cycles;
    for (size_t i = 1; i < n; i++)
        if (made[i].cycles < quickest)
            quickest = made[i].cycles;
    for (size_t i = 0; i < n; i++)
        if (!made[i].gone)
            best = best ? take(is_better(hw->options, &made[i], best, quickest), best, &made[i])
                        : &made[i];
    attempt *other = &made[n];
    if (try_turns(hw, best->hw.rows, true, other))
        best = take(!other->hw.refused && other->sram < best->sram &&
                        is_better(hw->options, other, best, fmin(other->cycles, quickest)),
                    best, other);
    return try_other_ways(hw, best, &made[n + 1]);
}

static tc_hw *begin(tc_ctx *ctx, const tc_codegen_options *options, const tc_graph *g)
{
    tc_hw *hw = tc_new(&ctx->scratch, tc_hw);
    *hw = (tc_hw){.ctx = ctx,
                  .arena = &ctx->scratch,
                  .kept = &ctx->arena,
                  .options = options,
                  .machine = options->machine,
                  .memo = options->memo,
                  .g = g,
                  .in = tc_new_n(&ctx->scratch, int32_t, g->n_in + 1),
                  .out = tc_new_n(&ctx->scratch, int32_t, g->n_out + 1)};
    ti_map_init(&hw->kernel, hw->arena);
    return hw;
}

const char *ti_codegen_refuses(tc_ctx *ctx, const tc_codegen_options *options, const tc_graph *g)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_hw *hw = begin(ctx, options, g);
    hw->judges = true;
    ti_hw_select(hw);
    const char *why = hw->refused;
    ti_arena_rewind(&ctx->scratch, mark);
    return why;
}

/* What all attempts have in common. */
static void prepare(tc_hw *hw)
{
    static step *const steps[] = {ti_hw_select, ti_hw_turns, ti_hw_formats, ti_hw_chains,
                                  ti_hw_near,   ti_hw_know,  ti_hw_densities};
    run(hw, steps, TC_COUNT(steps));
}

/* Without cascades; with those that keep values in the fast memory, where some leave it. */
static attempt *priced_attempt(tc_hw *hw)
{
    attempt *one = tc_new_n(hw->arena, attempt, 2), *other = one + 1;
    try_turns(hw, 0, false, one);
    if (one->hw.refused || !one->evicted || !try_turns(hw, TC_HW_PLANNED, false, other))
        return one;
    return take(!other->hw.refused && other->cycles < one->cycles, one, other);
}

/* What is packed belongs to the first node that reads it. */
static void fill_shares(const tc_hw *hw, tc_arena *arena, tc_codegen_price *out)
{
    bool *seen = tc_new_n(hw->arena, bool, hw->n_packed + 1);
    out->share = tc_new_n(arena, tc_codegen_share, 2 * hw->n_op + 1);
    for (size_t i = 0; i < hw->n_op; i++) {
        const tc_hw_op *op = &hw->op[i];
        const int32_t packed[] = {op->packed, op->scales};
        for (size_t k = 0; k < TC_COUNT(packed); k++) {
            if (!op->node || packed[k] < 0 || seen[packed[k]])
                continue;
            seen[packed[k]] = true;
            out->share[out->n_share++] =
                (tc_codegen_share){op->node, (int64_t)hw->packed[packed[k]].bytes.size};
        }
    }
}

static void fill_price(tc_ctx *ctx, const attempt *of, tc_codegen_price *out)
{
    const tc_hw *hw = &of->hw;
    ti_hw_price(hw, &ctx->arena, &out->cost);
    out->node = tc_new_n(&ctx->arena, const tc_node *, out->cost.n_op + 1);
    for (size_t i = 0; i < out->cost.n_op; i++) {
        int32_t from = hw->list.from[out->cost.op[i].number];
        out->node[i] = from >= 0 ? hw->op[from].node : NULL;
    }
    out->memory = of->memory;
    out->constants = hw->list.constants;
    fill_shares(hw, &ctx->arena, out);
}

void ti_codegen_price(tc_ctx *ctx, const tc_codegen_options *options, const tc_graph *g,
                      tc_codegen_price *out)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_hw *hw = begin(ctx, options, g);
    hw->counts = true;
    prepare(hw);
    *out = (tc_codegen_price){0};
    attempt *a = hw->refused         ? NULL
                 : options->cascades ? best_attempt(hw)
                                     : priced_attempt(hw);
    const tc_hw *last = a ? &a->hw : hw;
    if (last->refused)
        *out = (tc_codegen_price){.refused = last->refused, .refused_node = last->refused_node};
    else
        fill_price(ctx, a, out);
    if (a)
        drop(a);
    ti_arena_rewind(&ctx->scratch, mark);
}

/* The forms that were compared; of one shape and one answer, once. */
static void tell_forms(const tc_hw *hw, tc_codegen_result *out)
{
    out->form = tc_new_n(&hw->ctx->arena, tc_codegen_form, hw->n_form + 1);
    for (size_t i = 0; i < hw->n_form; i++) {
        const tc_codegen_form *one = &hw->form[i];
        tc_codegen_form *to = out->form;
        while (to < out->form + out->n_form &&
               (to->name != one->name || to->type != one->type || to->taken != one->taken))
            to++;
        if (to == out->form + out->n_form) {
            *to = *one;
            out->n_form++;
            continue;
        }
        to->places += one->places;
        to->without += one->without;
        to->with += one->with;
    }
}

tc_status ti_codegen(tc_ctx *ctx, const tc_codegen_options *options, const tc_graph *g,
                     tc_codegen_result *out)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_hw *hw = begin(ctx, options, g);
    prepare(hw);
    attempt *best = hw->refused ? NULL : best_attempt(hw);
    *out = (tc_codegen_result){0};
    if (best) {
        hw = &best->hw;
        if (!hw->refused)
            ti_hw_write(hw, out);
        if (!hw->refused)
            tell_forms(hw, out);
    }
    if (hw->refused)
        *out = (tc_codegen_result){.refused = hw->refused, .refused_node = hw->refused_node};
    check_registers(hw, out);
    if (best)
        drop(best);
    ti_arena_rewind(&ctx->scratch, mark);
    return TC_OK;
}
