/* SPDX-License-Identifier: Apache-2.0 */
/* eval.h -- the reference interpreter, kernels of num/ only. */
#ifndef TC_EVAL_H
#define TC_EVAL_H

#include "../ir/graph.h"

/* in: one tensor per graph input.  out: filled with tensors in `arena`. */
TC_MUST_USE tc_status ti_eval(tc_graph *g, const tc_tensor *in, tc_tensor *out, tc_arena *arena);

/* The same, and every value is kept: at[v] for each value of the graph. */
TC_MUST_USE tc_status ti_eval_all(tc_graph *g, const tc_tensor *in, tc_tensor *at, tc_arena *arena);

/* One node by itself on given operands; results in `arena`. Quantized operands are read by their
 * real values, quantized results are quantize(op(dequantize(inputs))). */
TC_MUST_USE tc_status ti_eval_node(tc_graph *g, const tc_node *node, const tc_tensor *in,
                                   tc_tensor *out, tc_arena *arena);

/* Its operator on operands of other types, none where `in` has no type: the one result. */
TC_MUST_USE tc_status ti_eval_operator(tc_module *module, const tc_node *node, const tc_tensor *in,
                                       tc_tensor *out, tc_arena *arena);

/* The operands of a `call_times`'s graph at time `until`, by its input; in: the node's. */
TC_MUST_USE tc_status ti_eval_until(tc_graph *g, const tc_node *node, const tc_tensor *in,
                                    int64_t until, tc_tensor *inner, tc_arena *arena);

/* An operator's kernel, or the context's device in its place. */
void ti_call_kernel(const tc_ctx *ctx, tc_op op, tc_kernel *kernel, tc_call *call);

/* state.c: TOSA's variables, which live with the module.  Writes are visible at once to the run
 * that does them; if it succeeds they are kept for the next one, otherwise dropped. */
TC_MUST_USE tc_status ti_eval_variable(tc_graph *g, const tc_node *node, const tc_tensor *in,
                                       tc_tensor *out, tc_arena *arena);
void ti_state_keep(tc_module *module);
void ti_state_drop(tc_module *module);
void ti_state_reset(tc_module *module); /* every variable back to its initial value */

#endif
