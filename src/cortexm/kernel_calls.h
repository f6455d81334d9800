/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_calls.h -- regions of a Cortex-M as calls of ExecuTorch's kernels.
 *
 * kernel_calls.c finds what is one of its cortex_m:: operators (target/cortexm_call.h), by the patterns
 * of kernel_piece.h; plain_kernels.c computes the rest by its kernels for any CPU, in integers that are
 * wide enough.  Both keep every bit. */
#ifndef TC_KERNEL_CALLS_H
#define TC_KERNEL_CALLS_H

#include "../ir/build.h"
#include "../target/cortexm_call.h"
#include "../target/target.h"

/* The softmax of codes as the reader of TFLite files makes it, of which all nodes are one call. */
typedef tc_val tc_cm_softmax(tc_build *b, tc_val x, const int32_t *power, tc_dtype to);

/* A region while it becomes part of the program. */
typedef struct tc_cm_region {
    tc_ctx *ctx;
    const tc_graph *from;
    tc_build b;              /* the program */
    tc_val *now;             /* by value of the region: its replacement; or TC_NONE */
    const uint32_t *readers; /* by value of the region */
    tc_core core;
    tc_cm_caller caller;
    tc_cm_softmax *softmax;
    const char *why; /* of the operator that was tried last: why it was not one */
} tc_cm_region;

/* The pass `select-cortex-m-kernels`: calls of regions of a Cortex-M become calls of kernels. */
TC_MUST_USE tc_status ti_cm_select(tc_ctx *ctx, tc_module *module, const tc_target *target,
                                   tc_cm_softmax *softmax);

/* kernel_calls.c: a call that computes everything that ends with the node, its operands included;
 * TC_NONE: none.  For C only of CMSIS-NN's own kernels. */
tc_val ti_cm_call(tc_cm_region *r, const tc_node *node);

/* kernel_calls.c: the replacement of a value of the region; TC_NONE: a failure, already
 * reported. */
tc_val ti_cm_value(tc_cm_region *r, tc_val v);

/* plain_kernels.c: the node by kernels for any CPU; false: there are none. */
bool ti_cm_plain(tc_cm_region *r, const tc_node *node, tc_val *out);

static inline const tc_type *ti_cm_type(const tc_cm_region *r, tc_val v)
{
    return ti_type_of(r->from, v);
}

/* Numbers of 48 bits are held in 64. */
static inline tc_dtype ti_cm_held(tc_dtype d) { return d == TC_i48 ? TC_i64 : d; }

/* Element i of a constant of the region. */
int64_t ti_cm_at(const tc_cm_region *r, tc_val v, int64_t i);

#endif
