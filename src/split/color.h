/* SPDX-License-Identifier: Apache-2.0 */
/* color.h -- what color.c computes of the program's nodes, for split.c. */
#ifndef TC_COLOR_H
#define TC_COLOR_H

#include "split.h"

typedef enum tc_place {
    TC_PLACE_CPU,
    TC_PLACE_ACCELERATOR,
    TC_PLACE_ANYWHERE
} tc_place; /* anywhere: constants */

/* By node, in the graph's order. */
typedef struct tc_color {
    tc_place *place;
    const char **why; /* CPU: the reason */
    uint32_t *level;
} tc_color;

TC_MUST_USE tc_status ti_split_color(tc_ctx *ctx, const tc_graph *g,
                                     const tc_split_request *request, tc_color *out);
/* Fills the levels; how many there are. */
uint32_t ti_split_levels(tc_ctx *ctx, const tc_graph *g, tc_color *color);

#endif
