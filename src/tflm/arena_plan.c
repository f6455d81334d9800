/* SPDX-License-Identifier: Apache-2.0 */
/* arena_plan.c -- one plan for the arena of a program with regions.
 *
 * Time 2k + 1 is node k, time 2k the copies of its operands before it; inputs are there at time 0,
 * outputs stay to the end.  A region needs a block while it runs, with its operands and results at
 * fixed addresses inside.
 *
 * A value is in the block of the region that makes it; else in that of the region that reads it
 * last; else it is placed separately.  Where a region reads a value that is elsewhere, it is copied
 * first, unless the block can be placed so that the value is at the region's address. */
#include "tflm_select.h"

#include "../base/bonds.h"
#include "../ir/lives.h"
#include "../target/cpu.h"

/* Operand `item` of a region, copied from value `of` at an even time. */
typedef struct copy {
    size_t item;
    tc_val of;
    int32_t time;
} copy;

typedef struct planner {
    tc_ctx *ctx;
    const tc_graph *g;
    const tc_tflm_block *block;
    tc_map block_of; /* by the graph's name: 1 + its number */
    tc_place_item *item; /* the blocks first */
    size_t n_item;
    size_t *of;      /* by value: 1 + its item; 0: it is not in the arena, or its root is */
    size_t *read_at; /* by root value: 1 + the last region that was seen to read it */
    copy *copy;
    size_t n_copy;
    tc_bonds bonds;
} planner;

static bool is_variable(const tc_graph *g, tc_val v)
{
    return ti_cpu_buffer(g, v) >= 0;
}

/* Whose memory v shows: of a view of a variable, or of a constant, its own. */
static tc_val root_of(const tc_graph *g, tc_val v)
{
    tc_val root = ti_cpu_root(g, v);
    return root != v && (is_variable(g, root) || ti_is_const(g, root)) ? v : root;
}

static size_t block_of(const planner *p, const tc_node *node)
{
    if (node->op != TC_OP_call)
        return SIZE_MAX;
    const tc_attr_call *call = node->attr;
    return (size_t)(uintptr_t)ti_map_get(&p->block_of, ti_str_of(call->graph)) - 1;
}

static int32_t time_of(size_t k)
{
    return (int32_t)(2 * k + 1);
}

static size_t item_new(planner *p, int64_t bytes, tc_life life)
{
    p->item[p->n_item] = (tc_place_item){.bytes = bytes, .life = life};
    return p->n_item++;
}

static void add_values(planner *p)
{
    const tc_life *life = ti_graph_lives(&p->ctx->scratch, p->g, root_of, NULL);
    for (tc_val v = 1; v < p->g->n_val; v++) {
        if (!ti_is_used(life[v]) || is_variable(p->g, v) || ti_is_const(p->g, v))
            continue;
        bool given = !ti_def(p->g, v);
        tc_life times = {given ? 0 : time_of((size_t)life[v].first),
                         time_of((size_t)life[v].last)};
        p->of[v] = 1 + item_new(p, (int64_t)tc_type_bytes(ti_type_of(p->g, v)), times);
    }
}

/* ---- what a region fixes ---- */

/* Operand i of region k: the value itself, where this is its last use and no region made it; else
 * a copy.  A value that is in another region's block is needed there until it is copied. */
static void add_operand(planner *p, size_t k, size_t b, int i, const bool *made)
{
    tc_val v = root_of(p->g, p->g->node[k]->in[i]);
    tc_place_item *value = p->of[v] ? &p->item[p->of[v] - 1] : NULL;
    bool again = p->read_at[v] == k + 1, last = value && value->life.last == time_of(k);
    p->read_at[v] = k + 1;
    if (last && !again && !made[v] &&
        ti_bind(&p->bonds, b, p->of[v] - 1, p->block[b].in[i], time_of(k)))
        return;
    size_t item = item_new(p, (int64_t)tc_type_bytes(ti_type_of(p->g, v)),
                           (tc_life){time_of(k) - 1, time_of(k)});
    (void)ti_bind(&p->bonds, b, item, p->block[b].in[i], time_of(k));
    p->copy[p->n_copy++] = (copy){item, v, time_of(k) - 1};
    if (last && made[v])
        value->life.last = time_of(k) - 1;
}

static void add_regions(planner *p)
{
    bool *made = tc_new_n(&p->ctx->scratch, bool, p->g->n_val);
    for (size_t k = 0; k < p->g->n_node; k++) {
        const tc_node *node = p->g->node[k];
        size_t b = block_of(p, node);
        for (int i = 0; b != SIZE_MAX && i < node->n_out; i++) {
            made[node->out[i]] = true;
            bool bound = ti_bind(&p->bonds, b, p->of[node->out[i]] - 1, p->block[b].out[i],
                                 time_of(k));
            assert(bound);
            (void)bound;
        }
        for (int i = 0; b != SIZE_MAX && i < node->n_in; i++)
            add_operand(p, k, b, i, made);
    }
}

/* ---- addresses ---- */

/* Without copies where that takes no more memory. */
static int64_t place_all(planner *p, int64_t *address)
{
    p->bonds.n = p->n_item;
    int64_t *joined = tc_new_n(&p->ctx->scratch, int64_t, p->n_item + 1);
    int64_t bytes = ti_bonds_place(&p->ctx->scratch, &p->bonds, address).bytes;
    bool fewer = false;
    for (size_t i = 0; i < p->n_copy; i++) {
        size_t value = p->of[p->copy[i].of];
        if (value && ti_bind(&p->bonds, p->copy[i].item, value - 1, 0, p->copy[i].time))
            fewer = true;
    }
    int64_t without = fewer ? ti_bonds_place(&p->ctx->scratch, &p->bonds, joined).bytes : INT64_MAX;
    if (without > bytes)
        return bytes;
    memcpy(address, joined, p->n_item * sizeof *address);
    return without;
}

static void make_planner(tc_ctx *ctx, const tc_graph *g, const tc_tflm_block *block, size_t n,
                         planner *p)
{
    size_t most = n + g->n_val, copies = 0;
    for (size_t k = 0; k < g->n_node; k++)
        copies += g->node[k]->op == TC_OP_call ? (size_t)g->node[k]->n_in : 0;
    most += copies;
    *p = (planner){.ctx = ctx, .g = g, .block = block};
    p->item = tc_new_n(&ctx->scratch, tc_place_item, most + 1);
    p->of = tc_new_n(&ctx->scratch, size_t, g->n_val);
    p->read_at = tc_new_n(&ctx->scratch, size_t, g->n_val);
    p->copy = tc_new_n(&ctx->scratch, copy, copies + 1);
    ti_map_init(&p->block_of, &ctx->scratch);
    for (size_t b = n; b-- > 0;) /* of blocks of one graph, the first */
        *ti_map_at(&p->block_of, ti_str_of(block[b].graph)) = (void *)(uintptr_t)(b + 1);
    for (size_t b = 0; b < n; b++)
        (void)item_new(p, block[b].bytes, TC_NEVER);
    for (size_t k = 0; k < g->n_node; k++) {
        size_t b = block_of(p, g->node[k]);
        if (b != SIZE_MAX)
            ti_life_use(&p->item[b].life, time_of(k));
    }
    ti_bonds_begin(&ctx->scratch, p->item, most, TC_TFLM_ALIGN, &p->bonds);
}

tc_tflm_plan ti_tflm_plan(tc_ctx *ctx, const tc_graph *g, const tc_tflm_block *block, size_t n)
{
    tc_tflm_plan plan = {.offset = tc_new_n(&ctx->arena, int64_t, g->n_val),
                         .base = tc_new_n(&ctx->arena, int64_t, n + 1)};
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    planner p;
    make_planner(ctx, g, block, n, &p);
    add_values(&p);
    add_regions(&p);
    int64_t *address = tc_new_n(&ctx->scratch, int64_t, p.n_item + 1);
    plan.bytes = place_all(&p, address);
    for (tc_val v = 1; v < g->n_val; v++) {
        size_t item = p.of[root_of(g, v)];
        plan.offset[v] = item ? address[item - 1] : -1;
    }
    memcpy(plan.base, address, n * sizeof *address);
    ti_arena_rewind(&ctx->scratch, mark);
    return plan;
}
