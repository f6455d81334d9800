/* SPDX-License-Identifier: Apache-2.0 */
/* axis.h -- follows an axis through a movement. */
#ifndef TC_AXIS_H
#define TC_AXIS_H

#include "graph.h"

/* Index of operand 0's axis after a movement (permute, reshape, roll, slice); -1: it is not kept
 * whole. */
int ti_moved_axis(const tc_graph *g, const tc_node *node, int axis);
/* The same after a mean; -1: it is taken along this axis. */
int ti_averaged_axis(const tc_graph *g, const tc_node *node, int axis);

#endif
