/* SPDX-License-Identifier: Apache-2.0 */
/* replace_weights.h -- a typed program with new constants in its products; shared with correct.c,
 * which finds them. */
#ifndef TC_REPLACE_WEIGHTS_H
#define TC_REPLACE_WEIGHTS_H

#include "quantizer.h"

/* The new constants of a product. */
typedef struct tc_replaced {
    const tc_node *typed;
    int64_t n;       /* channels */
    int64_t *move;   /* by channel: steps of the bias */
    tc_tensor codes; /* new weights, with scales of their own; data NULL: as they were */
} tc_replaced;

/* All of it, in separate memory freed with the context: the search's memory is not kept. */
typedef struct tc_replacement {
    tc_arena room;
    tc_replaced *of;
    size_t n;
    bool done; /* there is something to replace */
} tc_replacement;

void ti_replacement_init(tc_ctx *ctx, tc_replacement *renewal);
void ti_replacement_clear(tc_replacement *renewal);

/* The new step of the bias in channel k: input scale times weight scale. */
double ti_replace_bias_step(const tc_graph *typed, const tc_replaced *p, int64_t k);

TC_MUST_USE tc_status ti_replace_constants(tc_graph *typed, tc_replacement *renewal);

#endif
