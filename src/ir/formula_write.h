/* SPDX-License-Identifier: Apache-2.0 */
/* formula_write.h -- elementwise nodes as a formula. */
#ifndef TC_FORMULA_WRITE_H
#define TC_FORMULA_WRITE_H

#include "graph.h"

/* The one number that a constant holds everywhere; false: it does not. */
bool ti_formula_number(const tc_graph *g, tc_val v, double *number);

/* The node is an operator that a formula can have, of f32 and bools. */
bool ti_formula_takes(const tc_graph *g, const tc_node *node);

/* The result of the last of n nodes, which are in order, as a formula of x: their other operands are
 * results of nodes among them, and single numbers.  NULL: it is too long. */
const char *ti_formula_write(tc_arena *arena, const tc_graph *g, tc_val x,
                             const tc_node *const *node, int n);

#endif
