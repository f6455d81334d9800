/* SPDX-License-Identifier: Apache-2.0 */
/* library_calls.h -- CMSIS-NN's kernels instead of ours, in a program that becomes C.
 *
 * What one of its functions computes bit-exactly becomes a `call` with the operator's name and core
 * (target/cortexm_call.h), which c_library.c writes; the rest is unchanged. */
#ifndef TC_LIBRARY_CALLS_H
#define TC_LIBRARY_CALLS_H

#include "cortexm.h"
#include "kernel_calls.h"

/* Whose functions are called. */
#define TC_CMSIS_NN "CMSIS-NN 7.0.0"

/* A sum of products, a pool, an ADD or MUL of codes that is not CMSIS-NN's, and why. */
typedef struct tc_cm_refused {
    const tc_node *node;
    const char *why;
} tc_cm_refused;

typedef struct tc_cm_library {
    tc_cm_refused *refused; /* in the program's order */
    size_t n_refused;
} tc_cm_library;

/* The program's own graph; those of branches and loops keep our kernels.  Nodes that a call
 * computes are left dead. */
TC_MUST_USE tc_status ti_cm_library(tc_ctx *ctx, tc_module *module, tc_core core, tc_cm_softmax *softmax,
                                    tc_cm_library *out);

/* After those are removed: which kernel computes each layer. */
void ti_cm_layers(tc_ctx *ctx, const tc_graph *g, const tc_cm_library *library, tc_c_source *out);

/* The function that a call is. */
const char *ti_cm_function(tc_cm_op op);

#endif
