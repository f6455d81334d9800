/* SPDX-License-Identifier: Apache-2.0 */
/* small_layers.c -- with 4-bit weights, small layers keep 8 bits.
 *
 * A depthwise convolution, a squeeze of channels or the first layer has few weights: 8 bits cost
 * few bytes, and short rows, of nine, average out little error.  Layers keep 8 bits from the
 * smallest on, as long as those that do hold no more than a share of all weights. */
#include "quantizer.h"

#include <stdlib.h>

#include "spectra.h"

typedef struct layer {
    const tc_node *node;
    int64_t weights;
    size_t at;
} layer;

static int by_size(const void *a, const void *b)
{
    const layer *x = a, *y = b;
    return x->weights != y->weights ? (x->weights > y->weights ? 1 : -1)
                                    : (x->at > y->at) - (x->at < y->at);
}

/* Products whose weights follow the global setting, from the smallest; those of spectra have 8 bits
 * anyway. */
static size_t find(const tc_graph *g, const tc_config *config, const tc_spectra *s, layer *out,
                   int64_t *all)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if ((node->op != TC_OP_conv && node->op != TC_OP_linear) || !ti_is_const(g, node->in[1]) ||
            (s->any && s->value[node->out[0]].kind))
            continue;
        int64_t weights = tc_type_count(ti_type_of(g, node->in[1]));
        *all += weights;
        if (node->loc && node->loc->node &&
            ti_config_weights_free(config, node->loc, g->val[node->out[0]]->name))
            out[n++] = (layer){node, weights, k};
    }
    qsort(out, n, sizeof *out, by_size);
    return n;
}

tc_config ti_quant_small_layers(tc_ctx *ctx, const tc_graph *g, const tc_config *config)
{
    tc_config own = *config, eight;
    if (!(config->small8 > 0) || !ti_config_preset("int8", &eight))
        return own;
    layer *l = tc_new_n(&ctx->arena, layer, g->n_node);
    int64_t all = 0, kept = 0;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    tc_dataflow f = ti_dataflow_of(ctx, g, config, NULL);
    tc_spectra s = ti_spectra_find(ctx, &f);
    size_t n = find(g, config, &s, l, &all);
    ti_arena_rewind(&ctx->scratch, mark);
    own.cap_entry = own.n_entry; /* entries are the caller's: grown ones are a copy */
    for (size_t i = 0; i < n; i++) {
        kept += l[i].weights;
        if ((double)kept > config->small8 / 100 * (double)all)
            break;
        tc_config_entry entry = {TC_LEVEL_node, l[i].node->loc->node,
                                 .weight = ti_patch_all(&eight.global.weight)};
        entry.weight.has |= TC_HAS_OBSERVER;
        ti_config_add(ctx, &own, entry);
    }
    return own;
}
