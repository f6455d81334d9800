/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm.h -- a TOSA program of integers as C11 for a Cortex-M: model.c, model.h and the kernels
 * that it calls (kernels/). */
#ifndef TC_CORTEXM_H
#define TC_CORTEXM_H

#include "../ir/graph.h"
#include "../machine/machine.h"
#include "c_cost.h"

/* An input or output as its user knows it. */
typedef struct tc_c_port {
    const char *name;      /* or NULL */
    const tc_quant *quant; /* the domain of its codes; NULL: unknown */
} tc_c_port;

/* A region that an Ethos-U runs: a `call` of the program. */
typedef struct tc_c_npu {
    const char *graph;        /* as the call names it */
    tc_bytes stream, weights; /* what the driver is given */
    int64_t scratch, fast;    /* bytes of working memory; of a separate fast one, or 0 */
    const int64_t *in, *out;  /* offset in the scratch of each operand and result */
} tc_c_npu;

typedef struct tc_c_request {
    const char *name;   /* what symbols begin with */
    const char *stem;   /* what files are called, without ".c" */
    const char *target; /* as the user wrote it */
    const char *made_by; /* tosac, its version and settings */
    tc_core core;
    const tc_machine *machine; /* whose instructions are counted; NULL: none are */
    const tc_c_port *in, *out; /* one for each of the program's */
    const tc_c_npu *npu;       /* one for each call */
    size_t n_npu;
    const char *library; /* whose functions `call`s of kernels are (library_calls.h); NULL: there are none */
} tc_c_request;

typedef struct tc_c_file {
    const char *name;
    tc_bytes bytes;
} tc_c_file;

/* A layer with a library: the function that computes it, or the operator and why ours does. */
typedef struct tc_c_layer {
    const char *name;     /* in the model */
    const char *function; /* or NULL */
    const char *op, *why; /* or NULL */
} tc_c_layer;

/* Products that are fast Fourier transforms, in all their windows (c_transform.c). */
typedef struct tc_c_transformed {
    const char *node; /* the first one's */
    int64_t points;
    double windows, elements, results; /* elements: samples */
    double quick, matrix;              /* operations, and those of the products */
} tc_c_transformed;

typedef struct tc_c_source {
    tc_c_file *file; /* source, header, then kernels */
    size_t n_file;
    size_t arena;     /* bytes of RAM between steps */
    size_t constants; /* bytes of flash, code aside */
    size_t code;      /* bytes of code, about: kernels as gcc -O2 made them once, and the model's functions */
    size_t state;     /* bytes that last from run to run */
    size_t ports;     /* bytes of inputs and outputs, which are the caller's */
    size_t outside, floats; /* operators of the model that no region has, and those of them in float */
    const tc_c_cost *cost; /* of the program's steps, in order */
    size_t n_cost;
    tc_c_transformed *transform;
    size_t n_transform;
    tc_c_layer *layer; /* with a library: in the program's order */
    size_t n_layer;
} tc_c_source;

/* On failure a message has been given; the bytes live as long as the context and are the same on
 * every run. */
TC_MUST_USE tc_status ti_cortexm_write(tc_ctx *ctx, const tc_module *module,
                                       const tc_c_request *request, tc_c_source *out);

#endif
