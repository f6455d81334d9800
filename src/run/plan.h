/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h -- a graph as a list of steps over one block of memory.
 *
 * Built once: every value gets a layout and an address, constants are packed, products are fused
 * with what follows them.  Then run any number of times. */
#ifndef TC_PLAN_H
#define TC_PLAN_H

#include "../ir/graph.h"

typedef struct tc_plan tc_plan;

/* An observer of values as they are computed (calibration, comparison).  wanted[v]: value v must be
 * materialized and shown; its axes may be in another order than its type's: seen.type->dim[i] is
 * logical axis order[i].  Called in the order of the graph's nodes. */
typedef struct tc_watch {
    const bool *wanted;
    void (*see)(void *who, tc_val v, tc_tensor seen, const int8_t *order);
    void *who;
} tc_watch;

/* watch may be NULL.  NULL: the graph has operators that only the interpreter runs. */
tc_plan *ti_plan_new(tc_ctx *ctx, tc_graph *g, const tc_watch *watch);

/* The same; late, by value: a constant that products pack only in ti_plan_load(), from its data at
 * that time, into `room`, and drop in ti_plan_unload(); in between its node may run, in all twins. */
tc_plan *ti_plan_late(tc_ctx *ctx, tc_graph *g, const tc_watch *watch, const bool *late);
void ti_plan_load(const tc_plan *plan, const tc_node *node, tc_arena *room);
void ti_plan_unload(const tc_plan *plan, const tc_node *node);

/* The same without a watcher.  own, by value: a constant used by this graph only; once a product
 * has packed it, its memory is freed. */
tc_plan *ti_plan_own(tc_ctx *ctx, tc_graph *g, const bool *own);

/* in: one tensor per graph input.  out: one per graph output, valid until the next run. state[i]:
 * the current buffer of mutation i; after[i]: set to its next content. */
TC_MUST_USE tc_status ti_plan_run(tc_plan *plan, const tc_tensor *in, tc_tensor *out,
                                  void *const *state, tc_tensor *after);

/* The same without a message: after a failure, ti_plan_explain() gives it and the status again. */
TC_MUST_USE tc_status ti_plan_try(tc_plan *plan, const tc_tensor *in, tc_tensor *out,
                                  void *const *state, tc_tensor *after);
tc_status ti_plan_explain(tc_plan *plan);

/* A run in parts: start, then continue until value `until` has been shown (none: to the end).
 */
void ti_plan_start(tc_plan *plan, const tc_tensor *in, void *const *state);
TC_MUST_USE tc_status ti_plan_go(tc_plan *plan, tc_val until);

/* The first step of a node, or the number of steps; and continue up to a step. */
size_t ti_plan_step_of(const tc_plan *plan, const tc_node *node);
TC_MUST_USE tc_status ti_plan_go_to(tc_plan *plan, size_t step);

/* Values are placed there from now on: ti_plan_bytes() of memory from the caller.  Plans that do
 * not run at the same time may share it. */
void ti_plan_lend(tc_plan *plan, void *memory);

/* Returns the pages of its values to the system; the values are lost. */
void ti_plan_clear(const tc_plan *plan);

/* The outputs of a completed run. */
void ti_plan_outputs(const tc_plan *plan, tc_tensor *out);
/* The twin continues in the middle of the other's run.  Its inputs stay its own. */
void ti_plan_follow(tc_plan *twin, const tc_plan *other);

/* The same steps with their own memory and watcher: for another thread. */
tc_plan *ti_plan_twin(const tc_plan *plan, const tc_watch *watch);

/* It will not run any more: frees the memory of its values. */
void ti_plan_end(tc_plan *plan);

/* Whether twins may run at the same time; not when the interpreter takes some of the steps. */
bool ti_plan_parallel(const tc_plan *plan);

/* The jump target when memory runs out; each thread needs its own. */
void ti_plan_on_oom(tc_plan *plan, jmp_buf *oom);

/* From now on every step is timed; seconds by operator are added to `seconds` (TC_OP_COUNT of
 * them). */
void ti_plan_time(tc_plan *plan, double *seconds);

/* A timed step, including those of called graphs: its node (or NULL), the operator it is timed as,
 * and its seconds. */
typedef struct tc_spent {
    const tc_node *node;
    tc_op op;
    const double *seconds;
} tc_spent;
/* Their number; stored in `out` unless it is NULL. */
size_t ti_plan_spent(const tc_plan *plan, tc_spent *out);

/* Bytes of activations that are alive at once. */
size_t ti_plan_bytes(const tc_plan *plan);

#endif
