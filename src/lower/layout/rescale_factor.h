/* SPDX-License-Identifier: Apache-2.0 */
/* rescale_factor.h -- what a RESCALE by one factor multiplies by. */
#ifndef TC_RESCALE_FACTOR_H
#define TC_RESCALE_FACTOR_H

#include "../../ir/build.h"

/* multiplier / 2^shift for all; false: the node is no RESCALE of that kind. */
typedef struct tc_rescale_factor {
    const tc_node *node;
    int64_t multiplier, shift;
} tc_rescale_factor;
bool ti_read_rescale_factor(const tc_graph *g, const tc_node *node, tc_rescale_factor *c);

/* The factor as a whole number that 15 bits hold, or 0. */
int64_t ti_whole_factor(const tc_rescale_factor *c);

#endif
