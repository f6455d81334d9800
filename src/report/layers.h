/* SPDX-License-Identifier: Apache-2.0 */
/* layers.h -- what a box holds, in rows. */
#ifndef TC_LAYERS_H
#define TC_LAYERS_H

#include "report_layout.h"

/* Fills the group's rows from its items and edges, which go from earlier items to later ones. */
void ti_layers_make(tc_arena *arena, tc_arena *scratch, tc_layout_group *group);

#endif
