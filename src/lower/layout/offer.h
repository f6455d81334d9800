/* SPDX-License-Identifier: Apache-2.0 */
/* offer.h -- which sites of a pass are rewritten, when that is chosen by cost.
 *
 * A pass that uses ti_rewrite_offered offers another form at every site it matches.  Sites with the
 * same operator and shapes are one kind: the caller may ask for one kind alone, or for all but
 * some, and is told which kinds there are. */
#ifndef TC_OFFER_H
#define TC_OFFER_H

#include "../../ir/graph.h"

typedef struct tc_offer_kind {
    uint64_t key;
    const tc_node *node; /* one of them, of the graph before */
    size_t places;
} tc_offer_kind;

typedef struct tc_offer {
    bool only;      /* nothing but this kind: */
    uint64_t key;
    const uint64_t *refused; /* or anything but these */
    size_t n_refused;
    tc_offer_kind *kind; /* out: where it acted, in order */
    size_t n, cap;
} tc_offer;

/* Where the pass that runs now may act; NULL: everywhere. */
static inline tc_offer **ti_offer_now(tc_ctx *ctx) { return TC_OWN(ctx, OFFER, tc_offer *); }

/* The kind of a place. */
uint64_t ti_offer_key(const tc_graph *g, const tc_node *node);

/* Whether the pass may act there; that it did. */
bool ti_offer_wanted(const tc_offer *offer, uint64_t key);
void ti_offer_acted(tc_ctx *ctx, tc_offer *offer, uint64_t key, const tc_node *node);

#endif
