/* SPDX-License-Identifier: Apache-2.0 */
/* codegen.c -- see codegen.h.
 *
 * Operations are selected once.  Then the program is made in some ways that differ in how many rows
 * a cascade takes at a time, and the best is taken: by default the smallest of those that are about
 * as quick as the quickest. */
#include "codegen.h"

#include "../npu/census.h"
#include "../npu/cost.h"
#include "hw.h"

/* Rows at a time; 0: no cascades. */
static const int32_t turns[] = {0, 2, 4, 8};

/* How much slower a smaller program may be. */
static const double about_as_quick = 1.005;

typedef struct attempt {
    tc_codegen_result result;
    double cycles;
    int64_t sram;   /* bytes of values */
    int64_t memory; /* bytes that it works in, of all kinds */
} attempt;

typedef void step(tc_hw *hw);

static void run(tc_hw *hw, step *const *steps, size_t n)
{
    for (size_t i = 0; i < n && !hw->refused; i++)
        steps[i](hw);
}

/* A copy whose lists grow by themselves; weights that are packed go back to the original. */
static tc_hw copy_of(const tc_hw *hw)
{
    tc_hw out = *hw;
    out.op = ti_arena_copy(hw->arena, hw->op, hw->n_op * sizeof *hw->op);
    out.root = ti_arena_copy(hw->arena, hw->root, hw->n_root * sizeof *hw->root);
    out.cap_op = hw->n_op;
    out.cap_root = hw->n_root;
    for (size_t i = 0; i < hw->n_packed; i++)
        out.packed[i].root = -1;
    return out;
}

static tc_status try_turns(tc_hw *base, int32_t rows, bool *other, attempt *out)
{
    static step *const steps[] = {ti_hw_maps,   ti_hw_blocks, ti_hw_slices, ti_hw_maps,
                                  ti_hw_blocks, ti_hw_pack,   ti_hw_stage};
    tc_hw hw = copy_of(base);
    hw.rows = rows;
    *out = (attempt){.cycles = -1};
    *other = ti_hw_cascades(&hw) || !rows;
    if (!*other)
        return TC_OK;
    run(&hw, steps, TC_COUNT(steps));
    if (!hw.refused)
        TC_TRY(ti_hw_emit(&hw, &out->result));
    base->packed = hw.packed;
    base->n_packed = hw.n_packed;
    base->cap_packed = hw.cap_packed;
    memcpy(base->hash, hw.hash, sizeof base->hash);
    base->memo = hw.memo;
    if (hw.refused) {
        out->result = (tc_codegen_result){.refused = hw.refused, .refused_node = hw.refused_node};
        return TC_OK;
    }
    tc_npu_stream_cost cost;
    const char *wrong =
        ti_npu_cost_stream(hw.arena, &out->result.program, hw.options->system, &cost);
    const tc_npu_program *p = &out->result.program;
    out->cycles = wrong ? -1 : cost.total.cycles;
    out->sram = ti_hw_fast_region(&hw) == 2 ? p->fast : p->scratch;
    out->memory = p->scratch + (p->fast > 0 ? p->fast : 0);
    return TC_OK;
}

/* Whether a is to be taken, b has been so far; quickest: of all. */
static bool is_better(const tc_codegen_options *o, const attempt *a, const attempt *b,
                      double quickest)
{
    bool fits_a = !o->max_scratch || a->memory <= o->max_scratch,
         fits_b = !o->max_scratch || b->memory <= o->max_scratch;
    if (fits_a != fits_b || (!fits_a && a->memory != b->memory))
        return a->memory < b->memory;
    bool quick_a = o->size || a->cycles <= about_as_quick * quickest,
         quick_b = o->size || b->cycles <= about_as_quick * quickest;
    if (quick_a != quick_b)
        return quick_a;
    return a->sram != b->sram ? a->sram < b->sram : a->cycles < b->cycles;
}

/* A value that no stream of Vela's has in a register, and no reason is known for, is not written. */
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
            .refused = ti_text_format(hw->arena, "%s with registers as nobody is known to set them: %s",
                                      n->operation, n->text),
            .refused_node = node};
        return;
    }
}

tc_status ti_codegen(tc_ctx *ctx, const tc_codegen_options *options, const tc_graph *g,
                     tc_codegen_result *out)
{
    static step *const steps[] = {ti_hw_select, ti_hw_formats, ti_hw_chains};
    tc_hw *hw = tc_new(&ctx->arena, tc_hw);
    attempt made[TC_COUNT(turns)];
    size_t n = 0, best = 0;
    *hw = (tc_hw){.ctx = ctx,
                  .arena = &ctx->arena,
                  .options = options,
                  .machine = options->machine,
                  .g = g,
                  .in = tc_new_n(&ctx->arena, int32_t, g->n_in + 1),
                  .out = tc_new_n(&ctx->arena, int32_t, g->n_out + 1)};
    *out = (tc_codegen_result){0};
    run(hw, steps, TC_COUNT(steps));
    for (size_t i = 0; i < TC_COUNT(turns) && !hw->refused; i++) {
        bool other;
        TC_TRY(try_turns(hw, turns[i], &other, &made[n]));
        if (!other)
            break;
        n += i == 0 || !made[n].result.refused;
        if (made[0].result.refused)
            break;
    }
    if (hw->refused) {
        *out = (tc_codegen_result){.refused = hw->refused, .refused_node = hw->refused_node};
        return TC_OK;
    }
    double quickest = made[0].cycles;
    for (size_t i = 1; i < n; i++)
        if (made[i].sram < made[0].sram && made[i].cycles < quickest)
            quickest = made[i].cycles;
    for (size_t i = 1; i < n; i++) /* memory is what cascades are for */
        if (made[i].sram < made[0].sram && is_better(options, &made[i], &made[best], quickest))
            best = i;
    *out = made[best].result;
    check_registers(hw, out);
    return TC_OK;
}
