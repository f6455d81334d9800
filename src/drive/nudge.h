/* SPDX-License-Identifier: Apache-2.0 */
/* nudge.h -- how sensitive a value of a graph is to rounding: it is computed again with every float
 * on the way changed by a millionth. */
#ifndef TC_NUDGE_H
#define TC_NUDGE_H

#include "../ir/graph.h"

/* Whether `after` is as good a result for value v of the graph as `before`: each element is within
 * `known` of it, or within the distance that it moves itself.  in: inputs of the graph. */
bool ti_nudge_explains(tc_ctx *ctx, const tc_graph *g, const tc_tensor *in, tc_val v,
                       tc_tensor before, tc_tensor after, double known);

#endif
