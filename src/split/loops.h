/* SPDX-License-Identifier: Apache-2.0 */
/* loops.h -- steps of a region that repeat, each going on from the one before: an unrolled
 * recurrence.  They become one graph, which the program runs several times (`call_times`).
 *
 * Found by structure: the same operators, attributes and constants, in the same order.  What reads
 * or makes one value of every step is a part of the step, too: a slice of the input, a rescale of
 * what is shown of the state. */
#ifndef TC_LOOPS_H
#define TC_LOOPS_H

#include "../ir/graph.h"

/* The nodes of one recurrence: node[row * times + t] is the node `row` of step t. */
typedef struct tc_loop {
    int64_t times;
    size_t n_row, cap_row;
    tc_node **node;
} tc_loop;

/* Which step of which loop makes a value. */
typedef struct tc_loop_place {
    uint32_t loop; /* its index + 1; 0: none */
    uint32_t row;
    int64_t time;
} tc_loop_place;

typedef struct tc_loops {
    const tc_graph *g;
    tc_loop *loop;
    size_t n;
    tc_loop_place *at; /* by value */
} tc_loops;

/* Where an operand of a loop's node comes from. */
typedef enum tc_loop_source {
    TC_LOOP_CONSTANT, /* a constant, equal in every step */
    TC_LOOP_INSIDE,   /* the same step */
    TC_LOOP_CARRIED,  /* the step before; at first a value from outside */
    TC_LOOP_HELD,     /* one value from outside */
    TC_LOOP_SERIES,   /* another value from outside in every step */
    TC_LOOP_UNKNOWN
} tc_loop_source;

tc_loop_source ti_loop_source(const tc_loops *l, size_t loop, size_t row, int operand);

static inline tc_node *ti_loop_node(const tc_loop *l, size_t row, int64_t t)
{
    return l->node[row * (size_t)l->times + (size_t)t];
}

/* ---- loop_series.c ---- */

/* A value for each step: each by itself; what a loop gives; one index of an axis of one value. */
typedef enum tc_series_how { TC_SERIES_PACKED, TC_SERIES_STACKED, TC_SERIES_SLICED } tc_series_how;

typedef struct tc_loop_series {
    tc_series_how how;
    tc_val base;      /* SLICED: of what, */
    int axis;         /* and along which axis */
    tc_loop_place of; /* STACKED: which step of which loop makes the first, */
    int index;        /* as which result */
    int64_t order;    /* 1: part t is step t's; -1: from the end */
} tc_loop_series;

tc_loop_series ti_loop_series(const tc_loops *l, const tc_val *v, int64_t times);
/* By step: what an operand is. */
const tc_val *ti_loop_values(tc_ctx *ctx, const tc_loops *l, size_t loop, size_t row, int operand);
/* Whether a node is the CONCAT of one value of every step of a loop. */
bool ti_loop_join(tc_ctx *ctx, const tc_loops *l, const tc_node *node, tc_loop_series *s);

/* ---- find_loops.c, put_loops.c ---- */

/* The recurrences of a graph, in its order; memory of the context's arena. */
void ti_find_loops(tc_ctx *ctx, const tc_graph *g, tc_loops *out);

/* The module's first graph is rewritten in place: every loop becomes a `call_times` of a graph that is
 * added to the module, NAME_loop_I, and has `together` steps one after the other.
 *   together  for each loop, a divisor of its times */
TC_MUST_USE tc_status ti_put_loops(tc_ctx *ctx, tc_module *module, const tc_loops *loops,
                                   const int64_t *together, const char *target);

#endif
