/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_graph.h -- what the VGF emitter's files share. */
#ifndef TC_VGF_GRAPH_H
#define TC_VGF_GRAPH_H

#include "../ir/graph.h"

/* A graph as a SPIR-V module.  Input i has binding i, output j binding n_in + j, both in set 0. */
typedef struct tc_vgf_code {
    tc_bytes words;
    tc_val *constant; /* what OpGraphConstantARM i stands for */
    size_t n_constant, cap_constant;
    const char **name; /* by value; NULL: none that says something */
} tc_vgf_code;

TC_MUST_USE tc_status ti_vgf_graph(tc_ctx *ctx, const tc_graph *g, tc_vgf_code *out);

/* vgf_branch.c: the program without COND_IF; itself when there is none. */
TC_MUST_USE tc_status ti_vgf_flatten(tc_ctx *ctx, const tc_module *module, const tc_graph **out);

/* vgf_names.c: what values are called, NULL where there is nothing to say. */
const char **ti_vgf_names(tc_ctx *ctx, const tc_graph *g);

/* The shape of a tensor in SPIR-V, which has no rank 0: one element is [1]. */
static inline int32_t ti_vgf_dims(const tc_type *type, const int64_t **dim)
{
    static const int64_t one[1] = {1};
    *dim = type->rank ? type->dim : one;
    return type->rank ? type->rank : 1;
}

#endif
