/* SPDX-License-Identifier: Apache-2.0 */
/* plan_int.h -- what the planners of integer operators share. */
#ifndef TC_PLAN_INT_H
#define TC_PLAN_INT_H

#include "../fast/int8.h"
#include "plan_steps.h"

/* A node and what is fused with it. */
typedef struct tc_chain {
    const tc_node *last, *part[2];
    int n_part;
    bool narrows;
    tc_narrow narrow;
} tc_chain;

/* Constant operand i as a scalar. */
bool ti_plan_number(const tc_maker *m, const tc_node *node, int i, int64_t *out);

/* A RESCALE that fast/ can do (single rounding); `channels` scales, all equal unless it is per
 * channel. */
bool ti_plan_takes_rescale(tc_maker *m, const tc_node *node, size_t channels, int64_t *in_zero,
                           tc_narrow *out);

/* The RESCALE, CLAMP or TABLE that may be joined next, or NULL. */
const tc_node *ti_plan_tail(const tc_maker *m, const tc_chain *c);

/* The activation after the rescale that ends the chain. */
void ti_plan_activation(tc_maker *m, tc_chain *c);

/* A prepared step for a node and its chain. */
void ti_plan_emit(tc_maker *m, const tc_node *node, const tc_chain *c, tc_prepared *run,
                  const void *what, size_t scratch, int n_in);

#endif
