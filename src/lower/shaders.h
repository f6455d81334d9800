/* SPDX-License-Identifier: Apache-2.0 */
/* shaders.h -- compute shaders for what no region takes (the pass lower-to-shaders). */
#ifndef TC_SHADERS_H
#define TC_SHADERS_H

#include "../ir/graph.h"

/* Why a node has no shader, as a clause; NULL: it has one, or is a constant or a call. */
const char *ti_shader_refuses(tc_ctx *ctx, const tc_graph *g, const tc_node *node);

#endif
