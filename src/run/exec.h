/* SPDX-License-Identifier: Apache-2.0 */
/* exec.h -- a program prepared to run many times.
 *
 * Its state (buffers that it writes) is kept from run to run; memory does not grow with the number
 * of runs. */
#ifndef TC_EXEC_H
#define TC_EXEC_H

#include "../ir/graph.h"
#include "plan.h"

typedef struct tc_exec tc_exec;

/* Prepares the module's first graph; freed with the context.  The module is not changed. */
tc_exec *ti_exec_new(tc_ctx *ctx, tc_module *module);
/* The same; constants owned by the graph (own, by value) are freed once packed. */
tc_exec *ti_exec_own(tc_ctx *ctx, tc_module *module, const bool *own);

/* in: one tensor per graph input, of its type.  out: one per graph output; the data is valid until
 * the next run.  On failure a message has been given and the state is unchanged. */
TC_MUST_USE tc_status ti_exec_run(tc_exec *exec, const tc_tensor *in, tc_tensor *out);

/* Its plan; NULL: the interpreter. */
tc_plan *ti_exec_plan(const tc_exec *exec);

/* Time every operator from now on: seconds[op] grows.  false: not a plan. */
bool ti_exec_time(tc_exec *exec, double *seconds);
/* Its steps, once they are timed; 0: there are none. */
size_t ti_exec_spent(const tc_exec *exec, tc_spent *out);

/* Resets the state to its initial values. */
void ti_exec_reset(tc_exec *exec);

/* Buffer i as it is now, and its name (or NULL); valid until the next run.  false: out of range. */
bool ti_exec_state(const tc_exec *exec, size_t i, tc_tensor *out, const char **name);

#endif
