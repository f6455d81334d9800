/* SPDX-License-Identifier: Apache-2.0 */
/* axis.h -- what becomes of an axis. */
#ifndef TC_AXIS_H
#define TC_AXIS_H

#include "graph.h"

/* Where the axis of operand 0 lies behind a movement: permute, reshape, roll or slice; -1: it is
 * not one that keeps it whole. */
int ti_moved_axis(const tc_graph *g, const tc_node *node, int axis);

#endif
