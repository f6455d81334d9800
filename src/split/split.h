/* SPDX-License-Identifier: Apache-2.0 */
/* split.h -- partitions a program between accelerator and CPU.
 *
 * The program's nodes are coloured, accelerator or CPU; those for the accelerator are gathered into
 * as few regions as the order allows; each region becomes a graph of the module, and a `call`
 * replaces it in the program.  A call's operands and results have the types of the region's inputs
 * and outputs, so every conversion at a border is a node of the program; but u8, which TOSA lacks,
 * is passed as i8 of the same bytes, for a RESCALE that reads or writes it unsigned. */
#ifndef TC_SPLIT_H
#define TC_SPLIT_H

#include "../ir/graph.h"

/* Whether the accelerator takes the node; if not, *why: a clause after "stays on the CPU: ". */
typedef bool tc_split_ask(void *who, const tc_graph *g, const tc_node *node, const char **why);

typedef struct tc_split_request {
    const char *target; /* as the user named it: written into the calls */
    const char *prefix; /* of what regions are called; NULL: "region" */
    tc_split_ask *ask;
    void *who;
    const char *const *cpu; /* names or operators that stay on the CPU */
    size_t n_cpu;
    const tc_graph *source; /* the original program, whose names are accepted too; or NULL */
    const tc_map *left; /* by the name of the model's node: why it stays there too; or NULL */
    bool keep_sums; /* who narrows sums of products of the CPU's stays there: it has integers, too */
} tc_split_request;

/* One node that stays on the CPU, and why. */
typedef struct tc_split_left {
    const tc_node *node; /* of the program before it was split */
    const char *why;
} tc_split_left;

typedef struct tc_split_report {
    size_t n_region;
    const char **region;     /* the graphs' names, in the order of their calls */
    size_t *nodes;           /* of each */
    tc_split_left *left;
    size_t n_left;
} tc_split_report;

/* The module's first graph is split in place.  A name in `cpu` that matches nothing is an error. */
TC_MUST_USE tc_status ti_split(tc_ctx *ctx, tc_module *module, const tc_split_request *request,
                               tc_split_report *report);

/* Whether --cpu means the node by that name: its operator's, its own, or its result's. */
bool ti_split_names(const tc_graph *g, const tc_node *node, const char *name);

/* Whether a variable may be of that element type. */
typedef bool tc_state_takes(const void *who, tc_dtype dtype);
/* split_state.c: buffers that the region alone reads and writes become its variables.  The region
 * is TOSA; `call` is the one that runs it. */
void ti_split_hold_state(tc_ctx *ctx, tc_module *module, tc_graph *region, tc_node *call,
                         tc_state_takes *takes, const void *who);

#endif
