/* SPDX-License-Identifier: Apache-2.0 */
/* change_channels.c -- more or fewer channels, and fewer weights. */
#include "advise.h"

#include <math.h>
#include <stdlib.h>

#include "../machine/npu_machine.h"

/* Products by themselves, the most expensive first; all at once. */
enum { LOOKED_AT = 12, MOST = 64 };

/* Channels that the machine computes at a time. */
static int64_t depth_of(const tc_advisor *a)
{
    static const int64_t lanes[TC_PACES] = {
        [TC_PACE_V6M] = 1, [TC_PACE_V7M] = 1, [TC_PACE_DSP] = 4, [TC_PACE_MVE] = 16};
    const tc_npu_machine *m = a->target.npu;
    int64_t most = 1;
    for (int i = 0; m && i < TC_NPU_MICROBLOCKS; i++)
        most = m->microblock[i].depth > most ? m->microblock[i].depth : most;
    return m ? most : lanes[a->target.machine->pace];
}

/* The most expensive products, the first of each set of tied channels; in scratch memory. */
static size_t expensive_products(tc_advisor *a, size_t *at)
{
    size_t n = 0;
    for (size_t k = 0; k < a->g->n_node; k++) {
        if (ti_channels_of(a->g, a->g->node[k]) == 0)
            continue;
        size_t i = n < LOOKED_AT ? n++ : LOOKED_AT;
        if (i == LOOKED_AT && a->cycles[k] <= a->cycles[at[i - 1]])
            continue;
        i = i == LOOKED_AT ? i - 1 : i;
        for (; i && a->cycles[k] > a->cycles[at[i - 1]]; i--)
            at[i] = at[i - 1];
        at[i] = k;
    }
    return n;
}

static int by_place(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static bool is_known(const tc_advisor *a, const tc_advice_kind *kind, size_t at)
{
    for (size_t i = 0; i < a->n_proposal; i++)
        for (size_t k = 0; a->proposal[i].kind == kind && k < a->proposal[i].n_at; k++)
            if (a->proposal[i].at[k] == at)
                return true;
    return false;
}

/* Takes the proposal back where shapes do not follow it. */
static void keep_if_fits(tc_advisor *a, const tc_proposal *p)
{
    if (!ti_refits(a, p, SIZE_MAX))
        a->n_proposal--;
}

/* Fewer channels, a multiple of what is computed at a time; 0: they are that already, or too few. */
static int64_t filling(const tc_advisor *a, const tc_node *node)
{
    int64_t depth = depth_of(a), have = ti_channels_of(a->g, node);
    return have > depth && have % depth ? have / depth * depth : 0;
}

static void propose_filling(tc_advisor *a, const tc_advice_kind *kind, tc_tied *tied)
{
    const tc_node *node = a->g->node[tied->maker[0]];
    qsort(tied->maker, tied->n_maker, sizeof *tied->maker, by_place);
    keep_if_fits(a, ti_propose(a, kind, tied->maker, tied->n_maker,
                               "%d output channels instead of %d, which fill the multipliers",
                               (int)filling(a, node), (int)ti_channels_of(a->g, node)));
}

/* The most expensive layers each by itself, and all layers at once. */
void ti_find_fillings(tc_advisor *a, const tc_advice_kind *kind)
{
    size_t at[LOOKED_AT], n = expensive_products(a, at), n_all = 0;
    size_t *all = tc_new_n(&a->ctx->scratch, size_t, a->g->n_node);
    bool *known = tc_new_n(&a->ctx->scratch, bool, a->g->n_node);
    tc_tied tied;
    for (size_t i = 0; i < n; i++)
        if (filling(a, a->g->node[at[i]]) && !is_known(a, kind, at[i]) &&
            ti_tied_channels(a, at[i], &tied))
            propose_filling(a, kind, &tied);
    for (size_t k = 0; k < a->g->n_node && n_all < MOST; k++) {
        if (known[k] || !filling(a, a->g->node[k]) || !ti_tied_channels(a, k, &tied))
            continue;
        for (size_t i = 0; i < tied.n_maker; i++)
            known[tied.maker[i]] = true;
        all[n_all++] = k;
    }
    if (n_all > 1)
        keep_if_fits(a, ti_propose(a, kind, all, n_all,
                                   "fewer output channels in %zu places, a multiple of %d, which "
                                   "fill the multipliers", n_all, (int)depth_of(a)));
}

void ti_find_widths(tc_advisor *a, const tc_advice_kind *kind)
{
    size_t at[LOOKED_AT], n = expensive_products(a, at);
    int64_t depth = depth_of(a);
    for (size_t i = 0; i < n; i++) {
        tc_tied tied;
        int64_t have = ti_channels_of(a->g, a->g->node[at[i]]);
        int64_t fewer = (have * 3 / 4 + depth / 2) / depth * depth;
        if (fewer < depth || fewer >= have || fewer == filling(a, a->g->node[at[i]]) ||
            is_known(a, kind, at[i]) || !ti_tied_channels(a, at[i], &tied))
            continue;
        qsort(tied.maker, tied.n_maker, sizeof *tied.maker, by_place);
        tc_proposal *p = ti_propose(a, kind, tied.maker, tied.n_maker,
                                    "%d output channels instead of %d", (int)fewer, (int)have);
        p->to = fewer;
        keep_if_fits(a, p);
    }
}

/* A constant with more or fewer elements along an axis: the first ones, then these again. */
static void resize_constant(tc_ctx *ctx, tc_graph *g, tc_val v, int axis, int64_t extent)
{
    tc_value *value = g->val[v];
    const tc_type *was = value->type;
    int64_t dim[TC_MAX_RANK] = {0}, outer = 1, inner = 1;
    for (int i = 0; i < was->rank; i++) {
        dim[i] = i == axis ? extent : was->dim[i];
        outer *= i < axis ? was->dim[i] : 1;
        inner *= i > axis ? was->dim[i] : 1;
    }
    const tc_type *now = ti_type_make(ctx, was->dtype, was->rank, dim);
    tc_tensor t = ti_tensor_new(&ctx->arena, now);
    size_t size = tc_type_bytes(was) / (size_t)tc_type_count(was) * (size_t)inner;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < extent; i++)
            memcpy((char *)t.data + (size_t)(o * extent + i) * size,
                   (const char *)value->data +
                       (size_t)(o * was->dim[axis] + i % was->dim[axis]) * size,
                   size);
    value->type = now;
    value->data = t.data;
}

/* Node `at` and all that is tied to it have `extent` channels. */
static tc_status change_channels(tc_advisor *a, size_t at, int64_t extent, tc_altered *to)
{
    tc_tied tied;
    tc_graph *g = ti_main(to->module);
    if (!ti_tied_channels(a, at, &tied))
        return ti_bug(a->ctx, a->g->node[at]->loc, "its channels were free, and are not");
    for (size_t i = 0; i < tied.n; i++)
        resize_constant(a->ctx, g, tied.constant[i].v, tied.constant[i].axis, extent);
    for (size_t i = 0; i < tied.n_grouped; i++) {
        tc_node *node = g->node[tied.grouped[i]];
        tc_attr_conv *attr = ti_arena_copy(&a->ctx->arena, node->attr, sizeof *attr);
        attr->groups = extent;
        node->attr = attr;
    }
    return TC_OK;
}

tc_status ti_change_widths(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    return change_channels(a, p->at[0], p->to, to);
}

/* Of several nodes those that are tied come together, and are changed with the first. */
tc_status ti_change_fillings(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    for (size_t i = 0; i < p->n_at; i++) {
        const tc_node *node = a->g->node[p->at[i]];
        tc_val weights = node->in[1];
        if (ti_type_of(ti_main(to->module), weights)->dim[0] == filling(a, node))
            continue;
        TC_TRY(change_channels(a, p->at[i], filling(a, node), to));
    }
    return TC_OK;
}

/* ---- pruning ---- */

static bool has_weights(const tc_graph *g, const tc_node *node)
{
    return ti_channels_of(g, node) && ti_type_of(g, node->in[1])->dtype == TC_f32;
}

/* The layers that hold half of all weights, the largest first. */
void ti_find_pruning(tc_advisor *a, const tc_advice_kind *kind)
{
    const tc_graph *g = a->g;
    size_t *at = tc_new_n(&a->ctx->scratch, size_t, g->n_node), n = 0;
    bool *taken = tc_new_n(&a->ctx->scratch, bool, g->n_node);
    double all = 0, sum = 0;
    if (a->target.machine->packing != TC_PACKED_STREAM)
        return;
    for (size_t k = 0; k < g->n_node; k++)
        all += has_weights(g, g->node[k]) ? (double)tc_type_count(ti_type_of(g, g->node[k]->in[1])) : 0;
    while (all > 0 && sum < all / 2) {
        size_t best = g->n_node;
        int64_t most = 0;
        for (size_t k = 0; k < g->n_node; k++) {
            int64_t count = has_weights(g, g->node[k]) && !taken[k]
                                ? tc_type_count(ti_type_of(g, g->node[k]->in[1]))
                                : 0;
            best = count > most ? k : best;
            most = count > most ? count : most;
        }
        taken[best] = true;
        at[n++] = best;
        sum += (double)most;
    }
    if (n)
        ti_propose(a, kind, at, n, "half of the weights pruned in the %zu largest layer%s", n,
                   n == 1 ? "" : "s");
}

tc_status ti_change_pruning(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_ctx *ctx = a->ctx;
    tc_graph *g = ti_main(to->module);
    for (size_t i = 0; i < p->n_at; i++) {
        tc_value *value = g->val[g->node[p->at[i]]->in[1]];
        size_t n = (size_t)tc_type_count(value->type);
        float *w = ti_arena_copy(&ctx->arena, value->data, n * sizeof *w);
        float *sorted = tc_new_n(&ctx->arena, float, n);
        for (size_t k = 0; k < n; k++)
            sorted[k] = fabsf(w[k]);
        qsort(sorted, n, sizeof *sorted, ti_by_f32);
        for (size_t k = 0; k < n; k++)
            w[k] = fabsf(w[k]) < sorted[n / 2] ? 0 : w[k];
        value->data = w;
    }
    return TC_OK;
}
