/* SPDX-License-Identifier: Apache-2.0 */
/* replace_weights.h -- a typed program with new constants in its products; shared with correct.c,
 * which finds them. */
#ifndef TC_REPLACE_WEIGHTS_H
#define TC_REPLACE_WEIGHTS_H

#include "quantizer.h"

/* What becomes of a product's constants. */
typedef struct tc_renewed {
    const tc_node *typed;
    int64_t n;       /* channels */
    int64_t *move;   /* by channel: steps of the bias */
    tc_tensor codes; /* new weights; data NULL: as they were */
} tc_renewed;

/* All of it, in memory of its own that goes with the context: that of the search for it does not
 * stay. */
typedef struct tc_renewal {
    tc_arena room;
    tc_renewed *of;
    size_t n;
    bool biases; /* they move */
    bool done;   /* there is something to renew */
} tc_renewal;

void tc_renewal_init(tc_ctx *ctx, tc_renewal *renewal);
void tc_renewal_clear(tc_renewal *renewal);

/* The step of the bias in channel k of a typed product: input scale times weight scale. */
double tc_renew_bias_step(const tc_graph *typed, const tc_node *node, int64_t k);

TC_MUST_USE tc_status tc_renew_constants(tc_graph *typed, tc_renewal *renewal);

#endif
