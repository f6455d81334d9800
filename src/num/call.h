/* SPDX-License-Identifier: Apache-2.0 */
/* call.h -- how an operator's kernel and its shape function are called: plain arrays, no graph. */
#ifndef TC_CALL_H
#define TC_CALL_H

#include "attr.h"

/* One computation.  Types have been checked by the shape function; kernels fill out[i].data. */
typedef struct tc_call {
    const void *attr;
    int n_in, n_out;
    const tc_tensor *in;  /* in[i].type == NULL: the optional operand is absent */
    const tc_tensor *out; /* types and buffers are given */
    tc_arena *scratch;    /* scratch; the caller rewinds it */
    const char *
        error; /* set by the kernel when the operands have no result, e.g. an index out of range */
} tc_call;

typedef void tc_kernel(tc_call *call);

/* A device that runs an operator in place of its kernel. */
typedef struct tc_device_link {
    void (*run)(struct tc_device_link *link, tc_call *call);
} tc_device_link;

/* One type inference: out[i] holds the declared type, or dtype none; the rule overwrites it with
 * the computed one, keeping what only a declaration can say. */
typedef struct tc_infer {
    tc_ctx *ctx;
    const tc_loc *loc;
    const char *op; /* its name, for messages */
    const void *attr;
    int n_in, n_out;
    const tc_tensor *in; /* data if the operand is constant, else NULL */
    tc_type *out;
} tc_infer;

typedef tc_status tc_shape_fn(tc_infer *call);

#endif
