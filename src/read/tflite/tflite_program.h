/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_program.h -- what the reader itself keeps while it walks a model.
 *
 *   tflite.c     the file: graphs, signatures, inputs and outputs
 *   tflite_tensor.c     tensors: types, elements, codes, sparse ones
 *   tflite_graph.c      the walk over the operators; graphs inside of graphs
 *   tflite_args.c       an operator's inputs, options and results
 *   tflite_state.c      what outlives a run */
#ifndef TC_TFLITE_PROGRAM_H
#define TC_TFLITE_PROGRAM_H

#include "../read.h"
#include "tflite.h"

/* State between runs. */
typedef struct tc_tfl_variable {
    const char *name;
    tc_val before, now; /* TC_NONE: nothing is known of it yet */
    tc_tensor start;
} tc_tfl_variable;

/* One reading of one file. */
typedef struct tc_tfl {
    tc_ctx *ctx;
    tc_module *module;
    const char *file;
    tc_bytes bytes;
    tc_fb fb;
    tc_fb_table root;
    tc_fb_vector codes, graphs, buffers;
    tc_map custom;  /* name -> tc_tfl_row */
    tc_map unknown; /* operators of which a message has been given */
    tc_map variable;
    const char **key; /* of the signatures */
    size_t n_key;
    int64_t signature; /* 1 + the index of the requested one; 0: none */
    int depth;      /* graphs inside of each other */
    bool once;      /* inside of what CALL_ONCE runs */
    bool hybrid;    /* real values are quantized at run time: last bits matter */
    bool real;      /* none are: weights are dequantized */
    size_t n_made;  /* operators that were built: loops are unrolled only so far */
} tc_tfl;

/* A graph being walked. */
typedef struct tc_tfl_scope {
    tc_tfl *reader;
    tc_graph *g;
    tc_facts *facts;
    tc_fb_table graph;
    int64_t index;
    tc_tfl_tensor *tensor;
    size_t n_tensor;
    const char *prefix; /* of names in messages: "while/" */
    bool kept;          /* it stays a separate graph */
    bool settled;       /* Ethos-U commands in it are for the file's sizes */
} tc_tfl_scope;

/* tflite.c */
/* The tables of the file: root, codes, graphs, buffers. */
TC_MUST_USE tc_status ti_tfl_open(tc_tfl *reader);
TC_MUST_USE tc_status ti_tfl_broken(const tc_tfl *reader);
/* The graph of the requested signature, or of that name; else the first. */
TC_MUST_USE tc_status ti_tfl_choose(tc_tfl *reader, int64_t *graph);
const char *ti_tfl_producer(tc_tfl *reader);
/* How a graph's signature calls tensor t, in its inputs or outputs; NULL: it has no name for it. */
const char *ti_tfl_signature_name(tc_tfl *reader, int64_t graph, uint32_t list, int64_t t);
/* The builtin code of an operator code, -1: none; its custom name; its version. */
int ti_tfl_code(tc_tfl *reader, tc_fb_table op, tc_str *custom, int *version);

/* tflite_tensor.c */
TC_MUST_USE tc_status ti_tfl_tensors(tc_tfl_scope *scope, int64_t graph);
/* The elements of a constant tensor: data == NULL when the file has none. */
TC_MUST_USE tc_status ti_tfl_load(tc_tfl_scope *scope, tc_tfl_tensor *t, const tc_loc *loc,
                                  tc_tensor *out);
tc_bytes ti_tfl_buffer(tc_tfl *reader, int64_t i);
/* Whether a tensor's buffer has numbers, which are not looked at. */
bool ti_tfl_has_numbers(const tc_tfl *reader, const tc_tfl_tensor *t);

/* tflite_graph.c */
/* The value of tensor i, its constant created; TC_NONE with *status set when there is none. */
tc_val ti_tfl_value(tc_tfl_scope *scope, int64_t i, const tc_loc *loc, tc_status *status);
TC_MUST_USE tc_status ti_tfl_nodes(tc_tfl_scope *scope);
const tc_tfl_row *ti_tfl_row_of(tc_tfl *reader, int code);
/* tflite_whole.c: the operator at that index of the file is kept: one node, which runs a graph
 * where it can be read. */
bool ti_tfl_stays_whole(const tc_tfl_node *n);
void ti_tfl_keep_whole(tc_tfl_node *n, const char *name, size_t place);
/* The same for codes converted from uint8 to int8 or back: TFLM's QUANTIZE, at index -1. */
bool ti_tfl_keeps_shifts(const tc_build *m, tc_val x);
tc_val ti_tfl_keep_shift(tc_build *m, tc_val x, int by);
/* tflite_graph.c: an operator by its row. */
void ti_tfl_build(tc_tfl_node *n);
/* What an operator that has no row is called. */
const char *ti_tfl_unlisted(tc_tfl *reader, int code, tc_str custom);

/* tflite_custom.c: the options of a custom operator, as bytes. */
tc_bytes ti_tfl_record(const tc_tfl_node *n);

/* tflite_state.c */
/* fill: what it begins with where nothing else is said */
tc_val ti_tfl_state(tc_tfl_node *n, const char *name, const tc_type *type, int64_t fill);
void ti_tfl_state_set(tc_tfl_node *n, const char *name, tc_val value);
/* The variable tensor that is input i of the operator; nothing where it is another tensor. */
void ti_tfl_variable_set(tc_tfl_node *n, int i, tc_val value);
/* Results that are variables. */
void ti_tfl_variables_made(tc_tfl_node *n);
/* The name of the variable that tensor i of a graph is. */
const char *ti_tfl_variable_name(tc_tfl_scope *scope, int64_t i);
void ti_tfl_states_done(tc_tfl *reader, tc_graph *g);

#endif
