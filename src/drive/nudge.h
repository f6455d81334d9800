/* SPDX-License-Identifier: Apache-2.0 */
/* nudge.h -- how far roundings carry a value of a graph: it is computed again with every float on
 * the way a millionth more or less. */
#ifndef TC_NUDGE_H
#define TC_NUDGE_H

#include "../ir/graph.h"

/* Whether `after` may be value v of the graph as well as `before`, which it was: each element is
 * within `known` of it, or within what it roams itself.  in: what the graph is given. */
bool ti_nudge_explains(tc_ctx *ctx, const tc_graph *g, const tc_tensor *in, tc_val v,
                       tc_tensor before, tc_tensor after, double known);

#endif
