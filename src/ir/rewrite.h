/* SPDX-License-Identifier: Apache-2.0 */
/* rewrite.h -- stream the nodes of a graph through rewriters into a fresh graph.
 *
 * Nodes come in order, so a rewriter sees its operands already rewritten.  Other nodes are copied.
 * Names, locations, mutations and the signature are kept. */
#ifndef TC_REWRITE_H
#define TC_REWRITE_H

#include "graph.h"

typedef struct tc_rewrite {
    tc_ctx *ctx;
    const tc_graph *from;
    tc_graph *to;
    tc_val *now;             /* by old id: its replacement in `to` */
    const uint32_t *readers; /* by old id: how many nodes, outputs, mutations and signature entries
                              * read it */
    void *user;              /* the pass's own */
} tc_rewrite;

/* A rewriter looks at a node of `from`.  It either leaves *done false (the next one is tried), or
 * builds nodes in `to`, binds every used result, and sets *done. */
typedef tc_status tc_rewriter(tc_rewrite *rw, const tc_node *node, bool *done);

/* Rewriters in the order they are tried.  The graph's content is replaced; `g` keeps its address.
 */
TC_MUST_USE tc_status ti_rewrite_graph(tc_graph *g, tc_rewriter *const *rewriter, size_t n,
                                       void *user);
/* The same for every graph of the module. */
TC_MUST_USE tc_status ti_rewrite_module(tc_module *module, tc_rewriter *const *rewriter, size_t n,
                                        void *user);

/* The pass that is nothing but these rewriters. */
#define TC_REWRITES(pass, ...)                                                                     \
    tc_status pass(tc_ctx *ctx, tc_module *module)                                                 \
    {                                                                                              \
        static tc_rewriter *const rewriters[] = {__VA_ARGS__};                                     \
        (void)ctx;                                                                                 \
        return ti_rewrite_module(module, rewriters, TC_COUNT(rewriters), NULL);                    \
    }

/* From here on, `val` of `to` replaces `old`; the types must be equal. */
void ti_rewrite_bind(tc_rewrite *rw, tc_val old, tc_val val);

/* `val` replaces the node's first result. */
static inline tc_status ti_rewrite_with(tc_rewrite *rw, const tc_node *node, tc_val val, bool *done)
{
    ti_rewrite_bind(rw, node->out[0], val);
    *done = true;
    return TC_OK;
}

/* The node unchanged, on its rewritten operands: the default for nodes that no rewriter takes. */
void ti_rewrite_copy(tc_rewrite *rw, const tc_node *node);

/* An operand of the node, and its node, in `to`. */
static inline tc_val ti_rewrite_in(const tc_rewrite *rw, const tc_node *node, int i)
{
    return rw->now[node->in[i]];
}
static inline const tc_node *ti_rewrite_def(const tc_rewrite *rw, const tc_node *node, int i)
{
    return ti_def(rw->to, rw->now[node->in[i]]);
}

/* How often each value of a graph is read: by nodes, outputs, mutations and the signature; in
 * scratch memory. */
const uint32_t *ti_graph_readers(tc_ctx *ctx, const tc_graph *g);

/* By value: whether outputs, mutations or the signature read it; in scratch memory. */
const bool *ti_graph_pinned(tc_ctx *ctx, const tc_graph *g);

/* Moves outputs, mutations and, of the program, the signature to the graph that replaces the other;
 * now: by old value, its replacement. */
void ti_graph_hand_over(const tc_graph *from, tc_graph *to, const tc_val *now);

/* A value of `to` in plain f32. */
static inline bool ti_rewrite_is_f32(const tc_rewrite *rw, tc_val val)
{
    const tc_type *t = ti_type_of(rw->to, val);
    return t && t->dtype == TC_f32 && !t->quant;
}

/* A constant of `to` that no run changes. */
bool ti_rewrite_is_fixed(const tc_rewrite *rw, tc_val val);

/* An operator with one operand and one result, of the type of the node's result 0, bound to it. */
TC_MUST_USE tc_status ti_rewrite_as(tc_rewrite *rw, const tc_node *node, tc_op op, const void *attr,
                                    tc_val in, bool *done);

/* Whether a graph that was rewritten has the same nodes on the same values as before. */
bool ti_graph_same(const tc_graph *before, const tc_graph *now);

#endif
