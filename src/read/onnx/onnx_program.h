/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_program.h -- what the reader itself keeps while it walks a model.
 *
 *   onnx.c       the file: versions, functions, the signature
 *   onnx_wire.c       the file without its weights, as protobuf-c takes it
 *   onnx_tensor.c     tensors: in the file, in its fields, in external files
 *   onnx_graph.c      the walk over the nodes; graphs inside of graphs
 *   onnx_args.c       a node's inputs, attributes and results
 *   onnx_dims.c       sizes that are left open */
#ifndef TC_ONNX_PROGRAM_H
#define TC_ONNX_PROGRAM_H

#include "onnx.h"
#include "../read.h"

/* One reading of one file. */
typedef struct tc_onnx {
    tc_ctx *ctx;
    tc_module *module;
    const char *file;
    tc_arena work; /* goes when the reading is done */
    tc_bytes bytes;
    TcOnnxPb__Model *model;
    tc_map row;      /* "domain:Operator" -> tc_onnx_row */
    tc_map function; /* "domain:Name:overload" -> TcOnnxPb__Function */
    tc_map beside;   /* location -> tc_input */
    tc_map unknown;  /* operators of which a message has been given */
    int depth;       /* graphs and functions inside of each other */
    size_t n_made;   /* nodes that were built: loops are unrolled only so far */
    tc_status worst;
} tc_onnx;

/* The value of a name. */
typedef struct tc_onnx_name {
    tc_val val;
    const TcOnnxPb__Tensor *tensor; /* an initializer not used so far */
    bool broken;                    /* its node failed, of which a message has been given */
    bool outer;                     /* of the graph around this one: names here may hide it */
} tc_onnx_name;

/* A graph or a function being walked. */
typedef struct tc_onnx_scope {
    tc_onnx *reader;
    tc_graph *g;
    tc_facts *facts;
    tc_map name;                 /* tc_onnx_name */
    struct tc_onnx_scope *outer; /* whose names are seen; NULL for functions */
    TcOnnxPb__Opset **opset;     /* of the model or the function */
    size_t n_opset;
    const TcOnnxPb__Node *call;         /* a function's: its attributes are the call's */
    struct tc_onnx_scope *caller;       /* and where they are looked up in turn */
    const TcOnnxPb__Function *function; /* whose defaults apply */
    TcOnnxPb__Node **node;              /* being walked */
    size_t n_node;
    tc_map user;        /* name -> its only reader, or NULL; built on demand */
    bool knows_users;
    const char *prefix; /* of names in messages: "loop/" */
    tc_val *captured, *capture;         /* a kept graph's: outer value, own input */
    size_t n_capture, cap_captured, cap_capture;
} tc_onnx_scope;

/* onnx.c */
/* The messages of the file, without its weights: sets reader->model. */
tc_status ti_onnx_parse(tc_onnx *reader);
const char *ti_onnx_producer(const tc_onnx *reader); /* "pytorch 2.13.0", or NULL */

/* onnx_wire.c */
/* NULL and the model without its large tensors, or what is wrong. */
const char *ti_onnx_cut(tc_arena *arena, tc_bytes file, tc_bytes *out);

/* onnx_tensor.c */
TC_MUST_USE tc_status ti_onnx_load(tc_onnx *reader, const TcOnnxPb__Tensor *t, const tc_loc *loc,
                                   tc_tensor *out);

const char *ti_onnx_dtype_name(int64_t code);

/* onnx_graph.c */
void ti_onnx_scope_init(tc_onnx_scope *scope, tc_onnx *reader, tc_onnx_scope *outer);
void ti_onnx_name_value(tc_onnx_scope *scope, const char *name, tc_val val);
tc_status ti_onnx_initializers(tc_onnx_scope *scope, const TcOnnxPb__Graph *graph);
/* The value of a name, its constant created; TC_NONE with *status set when there is none. */
tc_val ti_onnx_value(tc_onnx_scope *scope, const char *name, const tc_loc *loc, tc_status *status);
tc_status ti_onnx_nodes(tc_onnx_scope *scope, TcOnnxPb__Node **node, size_t n);
/* The node that alone reads the name, in the graph being walked; NULL: none, several, or others. */
const TcOnnxPb__Node *ti_onnx_only_user(tc_onnx_scope *scope, const char *name);
int64_t ti_onnx_opset(const tc_onnx_scope *scope, const char *domain);

/* onnx_dims.c */
/* The model's inputs, typed, and what is given for them. */
tc_status ti_onnx_bind_inputs(tc_onnx_scope *scope);
const char *ti_onnx_dim_name(const TcOnnxPb__Dim *d); /* NULL: it has none */

#endif
