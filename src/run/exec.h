/* SPDX-License-Identifier: Apache-2.0 */
/* exec.h -- a program made ready to run again and again.
 *
 * What the program changes (buffers that it writes) is kept inside from run to run; memory does not
 * grow with the number of runs. */
#ifndef TC_EXEC_H
#define TC_EXEC_H

#include "../ir/graph.h"
#include "plan.h"

typedef struct tc_exec tc_exec;

/* Ready to run the module's first graph; goes with the context.  The module stays as it is. */
tc_exec *ti_exec_new(tc_ctx *ctx, tc_module *module);
/* The same; constants of the graph that are its own (by value) lose their numbers to packed
 * copies. */
tc_exec *ti_exec_own(tc_ctx *ctx, tc_module *module, const bool *own);

/* in: one tensor per graph input, of its type.  out: one per graph output; the numbers stay good
 * until the next run.  On failure a message has been given and the state is what it was before. */
TC_MUST_USE tc_status ti_exec_run(tc_exec *exec, const tc_tensor *in, tc_tensor *out);

/* What it runs by; NULL: the interpreter. */
tc_plan *ti_exec_plan(const tc_exec *exec);

/* Time every operator from now on: seconds[op] grows.  false when there is nothing to time by. */
bool ti_exec_time(tc_exec *exec, double *seconds);
/* Its steps, once they are timed; 0: there are none. */
size_t ti_exec_spent(const tc_exec *exec, tc_spent *out);

/* The state as it was before the first run. */
void ti_exec_reset(tc_exec *exec);

/* Buffer i as it is now, and its name (or NULL); good until the next run.  false: there is none. */
bool ti_exec_state(const tc_exec *exec, size_t i, tc_tensor *out, const char **name);

#endif
