/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_graph.h -- what the VGF emitter's files share. */
#ifndef TC_VGF_GRAPH_H
#define TC_VGF_GRAPH_H

#include "../base/map.h"
#include "../ir/graph.h"
#include "../wire/vgf.h"

/* The constants of a file: equal ones are stored once.  Their ids are their indices in the list, so
 * that a file needs no table for that. */
typedef struct tc_vgf_pool {
    struct tc_vgf_pooled {
        const tc_value *value;
        bool is_unsigned;
    } *v;
    size_t n, cap;
    tc_map by_start; /* by type and beginning */
    tc_arena *arena;
} tc_vgf_pool;

void ti_vgf_pool_init(tc_vgf_pool *pool, tc_arena *arena);

/* A constant as a resource of the file. */
tc_vgf_resource ti_vgf_constant_resource(const struct tc_vgf_pooled *c);

/* A graph as a SPIR-V module.  Input i has binding i, output j binding n_in + j, both in set 0. */
typedef struct tc_vgf_code {
    tc_bytes words;
    uint32_t *constant; /* the constants of the pool that it reads */
    size_t n_constant, cap_constant;
    const char **name; /* by value; NULL: no meaningful name */
} tc_vgf_code;

TC_MUST_USE tc_status ti_vgf_graph(tc_ctx *ctx, const tc_graph *g, tc_vgf_pool *pool,
                                   tc_vgf_code *out);

/* Whether a RESCALE takes or gives a value as unsigned, by value; IDENTITY is looked through. */
bool *ti_vgf_unsigned(tc_ctx *ctx, const tc_graph *g);

/* vgf_program.c: a program of calls and shaders as a file of one segment each. */
TC_MUST_USE tc_status ti_vgf_segments(tc_ctx *ctx, const tc_module *module, tc_bytes *out);

/* vgf_cut.c: whether a graph has both operators of TOSA and shaders; and its module with those as
 * calls, in the context's arena. */
bool ti_vgf_mixed(const tc_graph *g);
tc_module *ti_vgf_cut(tc_ctx *ctx, const tc_module *module);

/* vgf_branch.c: a graph of the module without COND_IF; itself when there is none. */
TC_MUST_USE tc_status ti_vgf_flatten(tc_ctx *ctx, const tc_module *module, const tc_graph *graph,
                                     const tc_graph **out);

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
