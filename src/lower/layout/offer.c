/* SPDX-License-Identifier: Apache-2.0 */
/* offer.c -- see offer.h. */
#include "offer.h"

static uint64_t mix(uint64_t h, uint64_t x)
{
    return (h ^ x) * UINT64_C(0x100000001b3);
}

static uint64_t mix_type(uint64_t h, const tc_type *t)
{
    if (!t)
        return mix(h, 0);
    h = mix(mix(h, (uint64_t)t->dtype + 1), (uint64_t)t->rank);
    for (int i = 0; i < t->rank; i++)
        h = mix(h, (uint64_t)t->dim[i]);
    return h;
}

uint64_t ti_offer_key(const tc_graph *g, const tc_node *node)
{
    uint64_t h = mix(UINT64_C(0xcbf29ce484222325), (uint64_t)node->op);
    for (int i = 0; i < node->n_in; i++)
        h = mix_type(h, node->in[i] ? ti_type_of(g, node->in[i]) : NULL);
    for (int i = 0; i < node->n_out; i++)
        h = mix_type(h, ti_type_of(g, node->out[i]));
    return h;
}

bool ti_offer_wanted(const tc_offer *offer, uint64_t key)
{
    if (offer->only)
        return offer->key == key;
    for (size_t i = 0; i < offer->n_refused; i++)
        if (offer->refused[i] == key)
            return false;
    return true;
}

void ti_offer_acted(tc_ctx *ctx, tc_offer *offer, uint64_t key, const tc_node *node)
{
    size_t i = 0;
    while (i < offer->n && offer->kind[i].key != key)
        i++;
    if (i == offer->n) {
        tc_grow(&ctx->arena, offer->kind, offer->n, offer->cap);
        offer->kind[offer->n++] = (tc_offer_kind){key, node, 0};
    }
    offer->kind[i].places++;
}
