/* SPDX-License-Identifier: Apache-2.0 */
/* lower.h -- rich operators to TOSA operators.
 *
 * A graph in the typed form becomes one in the TOSA form: node by node, each by its rule in
 * lower.def. A value of the new graph holds the stored elements of the old one: its element type
 * and its shape, in PyTorch's order of axes; TOSA operators that need channels last are between
 * transposes, which layout/sink_transposes.c removes. */
#ifndef TC_LOWER_H
#define TC_LOWER_H

#include "../ir/build.h"
#include "../target/target.h"

/* Context of rules; a builder's `lower`. */
typedef struct tc_lowering {
    tc_rewrite rw; /* now: the stored elements of a value of `from` in `to` */
    const tc_target *target;
    bool dry;          /* a query whether it can be done: constants need no data */
    const char *why;   /* refused: the reason; then everything that is put is none */
    tc_graph **callee; /* dry: the graphs that the node runs, lowered */
    size_t n_callee, cap_callee;
    tc_map constants; /* of `to` */
    tc_map bounds;    /* of long constants of `to`, by value (value_bounds.c) */
} tc_lowering;

/* A rule appends nodes (ir/build.h, put.h) and sets out[i] for every result of the node that is
 * read; each has the element type and shape of the old result.  A node that it cannot do:
 * ti_lower_refuse. */
typedef void tc_lower_rule(tc_build *lw, const tc_node *node, tc_val *out);

#define LOWER(op, quantized, plain, tile) tc_lower_rule quantized, plain;
#define NONE ti_lower_none
#include "lower.def"
#undef NONE

/* "the weights are not constant": a clause that goes after "'conv' stays on the CPU: ". */
void ti_lower_refuse(tc_build *lw, const char *format, ...) TC_PRINTF(2, 3);

/* An operand of the node as stored in `to`, and its type in `from` (with its domain). */
static inline tc_val ti_lower_in(const tc_build *lw, const tc_node *node, int i)
{
    return i < node->n_in ? lw->rw->now[node->in[i]] : TC_NONE;
}
static inline const tc_type *ti_lower_type(const tc_build *lw, const tc_node *node, int i)
{
    return i < node->n_in ? ti_type_of(lw->rw->from, node->in[i]) : NULL;
}
static inline const tc_type *ti_lower_result(const tc_build *lw, const tc_node *node, int i)
{
    return ti_type_of(lw->rw->from, node->out[i]);
}

/* The program is to be for many sizes: what follows from an extent must be sayable by shapes. */
static inline bool ti_lower_any_size(const tc_build *lw)
{
    return lw->lower->target->machine->any_size > 0;
}
/* An extent that bits are chosen by: the largest there is where it is not known. */
static inline int64_t ti_lower_longest(const tc_build *lw, int64_t n)
{
    int64_t most = lw->lower->target->machine->any_size;
    return most > n ? most : n;
}

/* Whether the target has a feature: ti_lower_has(lw, TC_FEATURE_INT16). */
static inline bool ti_lower_has(const tc_build *lw, tc_feature feature)
{
    return lw->lower->target->tosa >> feature & 1u;
}

/* Samples to compare each rule's result with its node's: in[k][i] is input i of sample k.  A result
 * that is off by more than a step (two for 16 bits) is a bug in tosac, reported with its
 * location. */
typedef struct tc_lower_check {
    const tc_tensor *const *in;
    size_t n;
    bool *broke; /* or NULL: set where a rule is found wrong */
} tc_lower_check;

/* Every node of a region's graph becomes TOSA; its inputs and outputs keep their types, domains
 * included. A node without a rule is an error.  check may be NULL. */
TC_MUST_USE tc_status ti_lower_graph(tc_ctx *ctx, tc_graph *g, const tc_target *target,
                                     const tc_lower_check *check);

/* check_rules.c: the rules' results against the nodes', on one sample. */
TC_MUST_USE tc_status ti_lower_compare(const tc_build *lw, const tc_tensor *in);

/* Whether there is a rule for the operator at all. */
bool ti_lower_knows(tc_op op, bool quantized);

/* Whether nodes of a graph can be lowered for a target, each by itself. */
typedef struct tc_lower_asker tc_lower_asker;
tc_lower_asker *ti_lower_ask(tc_ctx *ctx, const tc_graph *g, const tc_target *target);
/* *why: the reason when not, in the arena.  What is constant in the graph is constant here too. */
bool ti_lower_can(tc_lower_asker *asker, const tc_node *node, const char **why);

/* A graph that is run by the one that is being lowered, by the same rules; its refusal is the
 * node's. */
void ti_lower_sub(tc_build *lw, const tc_graph *from, tc_graph *to);

/* layout/narrow_integers.c: i64 becomes i32 around the nodes of the program that the target takes,
 * with casts outside; no target: around all that have such a form. */
TC_MUST_USE tc_status ti_lower_narrow(tc_ctx *ctx, tc_module *module, const tc_target *target);

/* older/: TOSA 1.1 in the operators and types of 1.0 that the target has. */
TC_MUST_USE tc_status ti_lower_expand_blocks(tc_ctx *ctx, tc_module *module,
                                             const tc_target *target);
TC_MUST_USE tc_status ti_lower_expand_newer(tc_ctx *ctx, tc_module *module,
                                            const tc_target *target);

#endif
