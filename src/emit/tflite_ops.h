/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_ops.h -- a program as a TensorFlow Lite model: what the files that make it share.
 *
 * tflite_ops.c walks the program; tflite_builtin.c makes builtins of its nodes by target/tflm.def;
 * tflite_kept.c brings over what an input file had. */
#ifndef TC_TFLITE_OPS_H
#define TC_TFLITE_OPS_H

#include "../npu/program.h"
#include "../target/tflm.h"
#include "tflite_file.h"

/* A region: its program, moved to where the plan has its block. */
typedef struct tc_tflite_region {
    const char *graph;
    tc_npu_program program;
} tc_tflite_region;

typedef struct tc_tflite_request {
    const tc_module *module; /* its first graph in the form that `select-tflm-operators` leaves */
    const tc_tflm_plan *plan;
    const tc_tflite_region *region;
    size_t n_region;
    const char *by; /* who writes it: "tosac 1.0" */
} tc_tflite_request;

/* The bytes live as long as the context, and are the same on every run; on failure a message has
 * been given. */
TC_MUST_USE tc_status ti_write_tflite(tc_ctx *ctx, const tc_tflite_request *request, tc_bytes *out);

/* The file that the program was read from, where that was TensorFlow Lite's. */
typedef struct tc_tfw_source {
    tc_fb fb;
    tc_fb_table root, graph;
    tc_fb_vector tensors, ops, codes, buffers;
    tc_bytes bytes;
    int64_t *there; /* by its tensor: the tensor that is written + 1; 0: none */
} tc_tfw_source;

typedef struct tc_tfw {
    tc_ctx *ctx;
    const tc_tflite_request *request;
    const tc_module *module;
    const tc_graph *g;
    tc_tfw_model model;
    int64_t *of; /* by value: its tensor + 1; 0: none yet */
    tc_tfw_source *source; /* NULL: there is none */
    tc_map numbers; /* constants that are arguments of operators: tensor + 1 */
} tc_tfw;

int64_t ti_tfw_add_tensor(tc_tfw *e, tc_tfw_tensor t);
tc_tfw_op *ti_tfw_add_op(tc_tfw *e, size_t n_in, size_t n_out);
void ti_tfw_metadata(tc_tfw *e, const char *name, tc_bytes data);
/* The tensor of a value; -1: it is left out. */
int64_t ti_tfw_tensor(tc_tfw *e, tc_val v);
/* A constant of 32-bit integers. */
int64_t ti_tfw_ints(tc_tfw *e, const int64_t *v, int64_t n, int rank, const int64_t *dim);

/* tflite_builtin.c */
void ti_tfw_builtin(tc_tfw *e, const tc_node *node, const tc_tflm_row *row);
/* uint8 codes as int8, or back; when all is known, the two tensors have one scale. */
void ti_tfw_shift(tc_tfw *e, const tc_node *node);
void ti_tfw_settle_shifts(tc_tfw *e);
/* `to` becomes what `from` holds. */
void ti_tfw_copy(tc_tfw *e, int64_t from, int64_t to);

/* tflite_variables.c: the variables hold from now on what the tensors `after` hold; both by
 * mutation. */
TC_MUST_USE tc_status ti_tfw_writes(tc_tfw *e, const int64_t *variable, const int64_t *after);

/* tflite_kept.c */
TC_MUST_USE tc_status ti_tfw_open(tc_tfw *e);
/* The file's record of tensor i overrides what is known of it. */
void ti_tfw_as_there(tc_tfw *e, int64_t i, tc_tfw_tensor *t);
TC_MUST_USE tc_status ti_tfw_kept(tc_tfw *e, const tc_node *node);
/* Description, signatures and metadata. */
void ti_tfw_keep_rest(tc_tfw *e);

#endif
