/* SPDX-License-Identifier: Apache-2.0 */
/* c_memory.c -- memory of values: inputs and outputs from the caller, constants in flash, the rest
 * in one arena, in which values that are never live together share bytes.
 *
 * An elementwise loop overwrites an operand that is dead after it, if that has the same shape and
 * elements no smaller.  What an Ethos-U reads and writes is in its scratch, at its stream's
 * addresses.  Results of repeated steps are at the address of the iteration before, or two before,
 * or after that: the loop needs no table for it. */
#include "c_model.h"

#include "../base/bonds.h"

enum { ROOM = 32 }; /* this part more of the arena is worth less than tables */
enum { NO_STEP = -2 }; /* for the sake of which items are bound: none may share bytes */

typedef struct planner {
    tc_ctx *ctx;
    tc_c_graph *cg;
    tc_place_item *item;
    size_t n_item;
    size_t *of; /* by value: its item + 1; 0: it is not in the arena */
} planner;

static void find_roots(tc_c_graph *cg)
{
    const tc_graph *g = cg->g;
    for (size_t v = 1; v < g->n_val; v++)
        if (g->val[v])
            cg->place[v] = (tc_c_place){.root = (tc_val)v};
    for (size_t i = 0; i < g->n_in; i++)
        cg->place[g->in[i]] = (tc_c_place){g->in[i], TC_C_INPUT, i, 0};
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_const)
            cg->place[node->out[0]].home = TC_C_CONST;
        int64_t first = 0;
        if (!ti_c_is_view(node) && !ti_c_is_part(g, node, &first))
            continue;
        tc_c_place *p = &cg->place[node->out[0]];
        *p = cg->place[node->in[0]];
        p->offset += first * (int64_t)tc_dtypes[ti_type_of(g, node->out[0])->dtype].bytes;
    }
}

/* A result that is an output is computed in the caller's buffer. */
static void find_outputs(tc_c_graph *cg)
{
    const tc_graph *g = cg->g;
    for (size_t i = 0; i < g->n_out; i++) {
        tc_c_place *p = &cg->place[cg->place[g->out[i]].root];
        if (p->home != TC_C_ARENA)
            continue;
        *p = (tc_c_place){p->root, TC_C_OUTPUT, i, 0};
        cg->direct[i] = true;
    }
}

static size_t new_item(planner *p, int64_t bytes, size_t step)
{
    p->item[p->n_item] = (tc_place_item){.bytes = bytes, .life = {(int32_t)step, (int32_t)step}};
    return p->n_item++;
}

static void keep(planner *p, tc_val v, size_t step)
{
    size_t i = v ? p->of[p->cg->place[v].root] : 0;
    if (i)
        ti_life_use(&p->item[i - 1].life, (int32_t)step);
}

static void read_by(planner *p, const tc_node *node, int part, size_t step)
{
    for (int i = 0; node && i < node->n_in; i++)
        if (!part || part == 1 + i)
            keep(p, node->in[i], step);
}

static const tc_node *last_of(const tc_c_step *s)
{
    return s->clamp ? s->clamp : s->rescale ? s->rescale : s->node;
}

static void make_value(planner *p, tc_val v, size_t k)
{
    if (v && p->cg->place[v].home == TC_C_ARENA && !p->of[v])
        p->of[v] = 1 + new_item(p, (int64_t)tc_type_bytes(ti_type_of(p->cg->g, v)), k);
}

static void make(planner *p, size_t k)
{
    tc_c_step *s = &p->cg->step[k];
    const tc_node *last = last_of(s);
    for (int i = 0; i < last->n_out; i++)
        make_value(p, last->out[i], k);
    make_value(p, ti_c_transform_other(s), k);
    if (s->scratch)
        s->scratch_at = (int64_t)new_item(p, s->scratch, k); /* an item at first */
}

/* Whether chain k reads the item's value elementwise only, each element before it is
 * overwritten. */
static bool reads_in_step(const planner *p, const tc_c_step *s, size_t item)
{
    const tc_type *out = ti_type_of(p->cg->g, s->out);
    for (size_t c = 0; c < s->n_chain; c++)
        for (int i = 0; i < s->chain[c]->n_in; i++) {
            tc_val v = s->chain[c]->in[i];
            const tc_type *t = ti_type_of(p->cg->g, v);
            if (p->of[p->cg->place[v].root] == item &&
                (i >= ti_c_streams(s->chain[c]) || !ti_same_dims(t, out) ||
                 tc_dtypes[t->dtype].bytes < tc_dtypes[out->dtype].bytes))
                return false;
        }
    return true;
}

/* An operand of chain k that dies there and whose bytes its result may take; 0: none. */
static size_t dying(const planner *p, size_t k)
{
    const tc_c_step *s = &p->cg->step[k];
    for (size_t c = 0; c < s->n_chain; c++)
        for (int i = 0; i < ti_c_streams(s->chain[c]); i++) {
            size_t item = p->of[p->cg->place[s->chain[c]->in[i]].root];
            if (item && p->item[item - 1].life.last == (int32_t)k &&
                p->item[item - 1].life.first < (int32_t)k && reads_in_step(p, s, item))
                return item;
        }
    return 0;
}

static void share(planner *p, tc_bonds *bonds)
{
    for (size_t k = 0; k < p->cg->n_step; k++) {
        size_t item = p->of[p->cg->step[k].out];
        size_t operand = p->cg->step[k].n_chain && item ? dying(p, k) : 0;
        if (operand)
            (void)ti_bind(bonds, operand - 1, item - 1, 0, (int32_t)k);
    }
}

/* An operand that is needed later stays outside: the stream may write over it. */
static void bind_ports(planner *p, tc_bonds *bonds, size_t k, const tc_c_npu *npu)
{
    const tc_c_step *s = &p->cg->step[k];
    size_t scratch = (size_t)s->scratch_at;
    for (int i = 0; i < s->node->n_in + s->node->n_out; i++) {
        bool result = i >= s->node->n_in;
        tc_val v = result ? s->node->out[i - s->node->n_in] : s->node->in[i];
        size_t item = p->of[p->cg->place[v].root];
        int64_t at = result ? npu->out[i - s->node->n_in] : npu->in[i];
        if (item && (result || p->item[item - 1].life.last == (int32_t)k))
            (void)ti_bind(bonds, scratch, item - 1, at, (int32_t)k);
    }
}

/* ---- steps that repeat ---- */

/* What a step makes, and its scratch last: items + 1, or 0. */
static size_t made_by(const planner *p, size_t k, int which)
{
    const tc_c_step *s = &p->cg->step[k];
    const tc_node *last = last_of(s);
    if (which < last->n_out)
        return p->of[last->out[which]];
    return s->scratch ? 1 + (size_t)s->scratch_at : 0;
}

/* The address of a step's item in a loop: of the iteration before, two before, or after the
 * last. */
typedef enum track { AGAIN, BY_TURNS, ALONG, TRACKS } track;

static bool follow(const planner *p, tc_bonds *bonds, const tc_c_run *run, size_t n, size_t k, int which,
                   track how)
{
    size_t back = how == BY_TURNS ? 2 : 1;
    if (n < back)
        return true;
    size_t item = made_by(p, run->first + n * run->period + k, which);
    size_t before = made_by(p, run->first + (n - back) * run->period + k, which);
    if (!item || !before)
        return false;
    int64_t bytes = how == ALONG ? p->item[before - 1].bytes : 0;
    bytes = (bytes + bonds->align - 1) / bonds->align * bonds->align;
    return ti_bind(bonds, before - 1, item - 1, bytes, NO_STEP);
}

/* The first that the first three times allow is kept to, as far as it goes. */
static void bind_run(const planner *p, tc_bonds *bonds, const tc_c_run *run)
{
    for (size_t k = 0; k < run->period; k++)
        for (int which = 0; which <= last_of(&p->cg->step[run->first + k])->n_out; which++) {
            int how = AGAIN;
            while (how < TRACKS && !(follow(p, bonds, run, 1, k, which, (track)how) &&
                                     (run->times < 3 || follow(p, bonds, run, 2, k, which, (track)how))))
                how++;
            for (size_t n = 3; how < TRACKS && n < run->times; n++)
                (void)follow(p, bonds, run, n, k, which, (track)how);
        }
}

/* Another placement, for loops without tables; it may take a little more. */
static void place_evenly(planner *p, tc_bonds *bonds, int64_t *address)
{
    bool repeats = false;
    for (size_t i = 0; i < p->cg->n_run; i++)
        if (p->cg->run[i].times > 1) {
            bind_run(p, bonds, &p->cg->run[i]);
            repeats = true;
        }
    if (!repeats)
        return;
    int64_t *even = tc_new_n(&p->ctx->scratch, int64_t, p->n_item + 1);
    int64_t arena = ti_bonds_place(&p->ctx->scratch, bonds, even).bytes;
    if (arena > p->cg->arena + p->cg->arena / ROOM)
        return;
    p->cg->arena = arena;
    memcpy(address, even, p->n_item * sizeof *even);
}

void ti_c_roots(tc_ctx *ctx, tc_c_graph *cg)
{
    cg->place = tc_new_n(&ctx->arena, tc_c_place, cg->g->n_val);
    cg->direct = tc_new_n(&ctx->arena, bool, cg->g->n_out);
    find_roots(cg);
    find_outputs(cg);
}

void ti_c_places(const tc_c_model *m, tc_c_graph *cg)
{
    tc_ctx *ctx = m->ctx;
    const tc_graph *g = cg->g;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    planner p = {ctx, cg, tc_new_n(&ctx->scratch, tc_place_item, g->n_val + cg->n_step), 0,
                 tc_new_n(&ctx->scratch, size_t, g->n_val)};
    for (size_t k = 0; k < cg->n_step; k++)
        make(&p, k);
    for (size_t k = 0; k < cg->n_step; k++) {
        const tc_c_step *s = &cg->step[k];
        read_by(&p, s->node, s->part, k);
        if (s->part)
            keep(&p, s->out, k);
        for (size_t c = 0; c < s->n_chain; c++)
            read_by(&p, s->chain[c], 0, k);
    }
    for (size_t i = 0; i < g->n_out; i++)
        keep(&p, g->out[i], cg->n_step);
    tc_bonds bonds;
    int64_t *address = tc_new_n(&ctx->scratch, int64_t, p.n_item + 1);
    ti_bonds_begin(&ctx->scratch, p.item, p.n_item, TC_C_ALIGN, &bonds);
    for (size_t k = 0; k < cg->n_step; k++)
        if (cg->step[k].node->op == TC_OP_call && ti_c_npu_of(m, cg->step[k].node))
            bind_ports(&p, &bonds, k, ti_c_npu_of(m, cg->step[k].node));
    share(&p, &bonds);
    cg->arena = ti_bonds_place(&ctx->scratch, &bonds, address).bytes;
    place_evenly(&p, &bonds, address);
    for (size_t v = 1; v < g->n_val; v++)
        if (p.of[v])
            cg->place[v].at = (size_t)address[p.of[v] - 1];
    for (size_t k = 0; k < cg->n_step; k++)
        if (cg->step[k].scratch)
            cg->step[k].scratch_at = address[cg->step[k].scratch_at];
    ti_arena_rewind(&ctx->scratch, mark);
}
