/* SPDX-License-Identifier: Apache-2.0 */
/* spend_8bit.c -- with 4-bit weights, some layers keep 8 bits: a share of all weights, tables of
 * embeddings counted.
 *
 * Where samples are there, those whose weights in 4 bits make the most noise of the outputs for what
 * 8 bits cost, which is in proportion to their number: the real program runs with one layer's
 * nearest codes of 4 bits, a bias that stays, and all else as it was.  Errors of different layers
 * add up.  Layers of next to no weights keep 8 bits without a measurement.
 *
 * Without samples, the smallest: a depthwise convolution, a squeeze of channels or the first layer
 * has few weights, and short rows, of nine, average out little error. */
#include "quantizer.h"

#include <math.h>
#include <stdlib.h>

#include "error_share.h"
#include "methods.h"
#include "spectra.h"
#include "swap_weights.h"

enum { MOST = 16, LEAST = 2 };     /* samples */
static const double WORK = 5e10;   /* multiplications that measuring may take */
static const double SMALL = 0.002; /* of all weights: layers with less are not measured */

typedef struct layer {
    const tc_node *node;
    int64_t weights;
    double loss; /* noise for each weight; 0: not measured, the smallest come first */
    size_t at;
} layer;

typedef struct layers {
    layer *l;
    size_t n;
    int64_t all; /* weights, those of other layers and of tables too */
} layers;

static int by_loss(const void *a, const void *b)
{
    const layer *x = a, *y = b;
    return x->loss != y->loss         ? (x->loss > y->loss ? -1 : 1)
           : x->weights != y->weights ? (x->weights > y->weights ? 1 : -1)
                                      : (x->at > y->at) - (x->at < y->at);
}

/* Products whose weights follow the global setting; those of spectra have 8 bits anyway. */
static layers find(tc_ctx *ctx, const tc_graph *g, const tc_config *config)
{
    layers out = {.l = tc_new_n(&ctx->arena, layer, g->n_node + 1)};
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_dataflow f = ti_dataflow_of(ctx, g, config, NULL);
    tc_spectra s = ti_spectra_find(ctx, &f);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_embedding && ti_is_const(g, node->in[0]))
            out.all += tc_type_count(ti_type_of(g, node->in[0]));
        if ((node->op != TC_OP_conv && node->op != TC_OP_linear) || !ti_is_const(g, node->in[1]) ||
            (s.any && s.value[node->out[0]].kind))
            continue;
        int64_t weights = tc_type_count(ti_type_of(g, node->in[1]));
        out.all += weights;
        if (node->loc && node->loc->node &&
            ti_config_weights_free(config, node->loc, g->val[node->out[0]]->name))
            out.l[out.n++] = (layer){node, weights, 0, k};
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return out;
}

/* Entries for the first that fit into the share. */
static tc_config keep(tc_ctx *ctx, const tc_config *config, layers found)
{
    tc_config own = *config, eight;
    double left = config->small8 / 100 * (double)found.all;
    if (!ti_config_preset("int8", &eight))
        return own;
    own.cap_entry = own.n_entry; /* entries are the caller's: grown ones are a copy */
    if (found.n)
        qsort(found.l, found.n, sizeof *found.l, by_loss);
    for (size_t i = 0; i < found.n; i++) {
        tc_config_entry entry = {TC_LEVEL_node, found.l[i].node->loc->node,
                                 .weight = ti_patch_all(&eight.global.weight)};
        if ((double)found.l[i].weights > left)
            continue;
        left -= (double)found.l[i].weights;
        entry.weight.has |= TC_HAS_OBSERVER;
        ti_config_add(ctx, &own, entry);
    }
    return own;
}

tc_config ti_quant_small_layers(tc_ctx *ctx, const tc_graph *g, const tc_config *config)
{
    return config->small8 > 0 ? keep(ctx, config, find(ctx, g, config)) : *config;
}

static size_t layer_of(const layers *found, const tc_node *node)
{
    size_t i = 0;
    while (i < found->n && found->l[i].node != node)
        i++;
    return i;
}

static bool is_small(const layers *found, size_t i)
{
    return (double)found->l[i].weights < SMALL * (double)found->all;
}

/* The noise of each layer's few codes. */
static tc_status measure(tc_ctx *ctx, const tc_swap *swap, const tc_module *few,
                         tc_yardstick *yard, layers *found)
{
    bool *taken = tc_new_n(&ctx->arena, bool, swap->n + 1);
    for (size_t i = 0; i < found->n; i++)
        found->l[i].loss = is_small(found, i) ? INFINITY : 0;
    for (size_t i = 0; i < swap->n; i++) {
        size_t of = layer_of(found, swap->pair[i].real);
        double noise;
        if (of == found->n || is_small(found, of))
            continue;
        taken[i] = true;
        TC_TRY(ti_tell_progress(ctx, "layers of 4 bits", i, swap->n));
        TC_TRY(ti_swap_noise(ctx, swap, yard, few, swap->pair, taken, &noise));
        taken[i] = false;
        found->l[of].loss += noise / (double)found->l[of].weights;
    }
    return TC_OK;
}

tc_status ti_quant_loud_layers(tc_ctx *ctx, tc_module *real, const tc_quant_request *request,
                               const tc_config *config, const tc_domains *domains, tc_config *out)
{
    layers found = find(ctx, ti_main(real), config);
    tc_module *few = ti_module_copy(real);
    tc_yardstick yard;
    TC_TRY(ti_quant_apply(ctx, few, config, domains));
    tc_module *sim = ti_module_copy(few);
    TC_TRY(ti_quant_simulate_quantization(ctx, sim));
    tc_pair *pair = tc_new_n(&ctx->arena, tc_pair, ti_main(few)->n_node + 1);
    tc_swap swap = {.real = real, .pair = pair};
    swap.n = ti_pairs_find(ti_main(real), ti_main(few), ti_main(sim), pair);
    double each = ti_quant_work(ti_main(real)) * (double)(swap.n + 1),
           fit = fmax(LEAST, fmin(MOST, WORK / fmax(1, each)));
    TC_TRY(ti_yardstick_make(ctx, real, &request->samples, domains, (size_t)fit, &yard));
    tc_status status = measure(ctx, &swap, few, &yard, &found);
    ti_yardstick_end(&yard);
    *out = keep(ctx, config, found);
    return status;
}
