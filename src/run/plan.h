/* SPDX-License-Identifier: Apache-2.0 */
/* plan.h -- a graph as a list of steps over one block of memory.
 *
 * Built once: every value gets a layout and an address, constants are packed, products and what
 * follows them are joined.  Then run any number of times. */
#ifndef TC_PLAN_H
#define TC_PLAN_H

#include "../ir/graph.h"

typedef struct tc_plan tc_plan;

/* Somebody who looks at values as they are made (calibration, comparison).  wanted[v]: value v must
 * be made and shown; its axes may lie in another order than its type's, which `logical` and `order`
 * tell: seen.type->dim[i] is logical axis order[i].  Called in the order of the graph's nodes. */
typedef struct tc_watch {
    const bool *wanted;
    void (*see)(void *who, tc_val v, tc_tensor seen, const int8_t *order);
    void *who;
} tc_watch;

/* watch may be NULL.  NULL comes back when the graph holds operators that only the interpreter
 * runs. */
tc_plan *ti_plan_new(tc_ctx *ctx, tc_graph *g, const tc_watch *watch);

/* The same; late, by value: a constant that products pack only in ti_plan_load(), from the numbers
 * that it has then, into `room`, and let go in ti_plan_unload(); in between its node may run, in all
 * twins.  false: it cannot be packed. */
tc_plan *ti_plan_late(tc_ctx *ctx, tc_graph *g, const tc_watch *watch, const bool *late);
TC_MUST_USE bool ti_plan_load(const tc_plan *plan, const tc_node *node, tc_arena *room);
void ti_plan_unload(const tc_plan *plan, const tc_node *node);

/* The same without a watcher.  own, by value: a constant that nobody but this graph has; once a
 * product has packed it, its memory goes back, and its numbers are gone. */
tc_plan *ti_plan_own(tc_ctx *ctx, tc_graph *g, const bool *own);

/* in: one tensor per graph input.  out: one per graph output, good until the next run.
 * state[i]: where mutation i's buffer is now; after[i]: filled with what it shall hold next. */
TC_MUST_USE tc_status ti_plan_run(tc_plan *plan, const tc_tensor *in, tc_tensor *out,
                                  void *const *state, tc_tensor *after);

/* The same without a message: after a failure, ti_plan_explain() gives it and the status again. */
TC_MUST_USE tc_status ti_plan_try(tc_plan *plan, const tc_tensor *in, tc_tensor *out,
                                  void *const *state, tc_tensor *after);
tc_status ti_plan_explain(tc_plan *plan);

/* A run in parts: from the beginning, and on until value `until` has been shown (none: to the end).
 */
void ti_plan_start(tc_plan *plan, const tc_tensor *in, void *const *state);
TC_MUST_USE tc_status ti_plan_go(tc_plan *plan, tc_val until);

/* The first step that a node takes, or the number of steps; and on until a step comes next. */
size_t ti_plan_step_of(const tc_plan *plan, const tc_node *node);
TC_MUST_USE tc_status ti_plan_go_to(tc_plan *plan, size_t step);

/* Values lie there from now on: memory for ti_plan_bytes() that somebody lends.  Plans that do not
 * run at the same time may have the same. */
void ti_plan_lend(tc_plan *plan, void *memory);

/* Pages of the memory of its values go back to the system; the values are gone. */
void ti_plan_clear(const tc_plan *plan);

/* What a run that came to its end has made. */
void ti_plan_outputs(const tc_plan *plan, tc_tensor *out);
/* A twin stands where the other stands: in the midst of the same run.  Its inputs stay its own. */
void ti_plan_follow(tc_plan *twin, const tc_plan *other);

/* The same steps once more, with memory and a watcher of their own: for another thread. */
tc_plan *ti_plan_twin(const tc_plan *plan, const tc_watch *watch);

/* It will not be run any more: the memory of its values goes back. */
void ti_plan_end(tc_plan *plan);

/* Whether twins may run at the same time; not when the interpreter takes some of the steps. */
bool ti_plan_parallel(const tc_plan *plan);

/* Where a run jumps to when memory runs out; each thread needs its own. */
void ti_plan_on_oom(tc_plan *plan, jmp_buf *oom);

/* From now on every step is timed; seconds by operator are added to `seconds` (TC_OP_COUNT of
 * them). */
void ti_plan_time(tc_plan *plan, double *seconds);

/* A step that is timed, those of called graphs among them: its node (NULL: it has none), what it is
 * timed as, and where its seconds grow. */
typedef struct tc_spent {
    const tc_node *node;
    tc_op op;
    const double *seconds;
} tc_spent;
/* How many there are; they go to `out` unless it is NULL. */
size_t ti_plan_spent(const tc_plan *plan, tc_spent *out);

/* Bytes of activations that are alive at once. */
size_t ti_plan_bytes(const tc_plan *plan);

#endif
