/* SPDX-License-Identifier: Apache-2.0 */
/* onnx.h -- what builders of ONNX's operators work with: one node of the file.
 *
 * A builder reads inputs and attributes, appends operators of ours (ir/build.h), and binds each
 * result that the node names.  onnx.def has the builder of each operator. */
#ifndef TC_ONNX_H
#define TC_ONNX_H

#include "../facts.h"

#include "onnx.pb-c.h"

typedef struct tc_onnx_node {
    tc_build m;
    struct tc_onnx_scope *scope;
    const TcOnnxPb__Node *proto;
    const struct tc_onnx_row *row;
    int64_t version; /* of its domain's operator set */
    int n_in, n_out; /* as many as the file lists */
} tc_onnx_node;

/* A row of onnx.def. */
typedef struct tc_onnx_row {
    const char *name, *domain;
    int first, last; /* operator sets that have it */
    void (*build)(tc_onnx_node *n);
    tc_op op;
    double extra;
    const char *note;
    const char *recipe; /* where `build` follows one */
} tc_onnx_row;

enum { TC_ONNX_OLDEST = 7, TC_ONNX_NEWEST = 28 };

/* Input i: TC_NONE when absent; the second form reports that and fails. */
tc_val ti_onnx_in(tc_onnx_node *n, int i);
bool ti_onnx_has_in(const tc_onnx_node *n, int i); /* it is not left out */
tc_val ti_onnx_need(tc_onnx_node *n, int i);
bool ti_onnx_wants(const tc_onnx_node *n, int i); /* result i has a name */
void ti_onnx_bind(tc_onnx_node *n, int i, tc_val value);

/* Attributes by name. */
bool ti_onnx_has(tc_onnx_node *n, const char *name);
int64_t ti_onnx_int(tc_onnx_node *n, const char *name, int64_t missing);
double ti_onnx_float(tc_onnx_node *n, const char *name, double missing);
tc_ints ti_onnx_ints(tc_onnx_node *n, const char *name); /* n = 0 when missing */
tc_floats ti_onnx_floats(tc_onnx_node *n, const char *name);
const char *ti_onnx_text(tc_onnx_node *n, const char *name, const char *missing);
const char *ti_onnx_text_at(tc_onnx_node *n, const char *name, int i, const char *missing);
const TcOnnxPb__Graph *ti_onnx_graph(tc_onnx_node *n, const char *name);
tc_val ti_onnx_tensor(tc_onnx_node *n, const char *name); /* a constant; TC_NONE when missing */

/* Elements of input i that a shape follows from: constant, or settled by the data that the model is
 * read for.  A message names the input when they are neither. */
tc_ints ti_onnx_settled(tc_onnx_node *n, int i);
tc_floats ti_onnx_settled_floats(tc_onnx_node *n, int i);
int64_t ti_onnx_settled_int(tc_onnx_node *n, int i, int64_t missing);
bool ti_onnx_settled_tensor(tc_onnx_node *n, int i, tc_tensor *out);
/* A list that older operator sets have as attribute `name`, newer ones as input i. */
tc_ints ti_onnx_list(tc_onnx_node *n, const char *name, int i);

/* Our type for one of ONNX's type codes; TC_none: none. */
tc_dtype ti_onnx_dtype(int64_t code);
tc_dtype ti_onnx_need_dtype(tc_onnx_node *n, int64_t code);

/* DynamicQuantizeLinear's codes, scale and zero point, all f32; a scale that is not less. */
typedef struct tc_onnx_codes {
    tc_val code, scale, zero;
} tc_onnx_codes;
tc_onnx_codes ti_onnx_dynamic(tc_build *m, tc_val x, double least_scale);
/* A constant bias of a product between DequantizeLinear and QuantizeLinear as the integers added to
 * its sums, as runtimes do: in steps of both operands' scales.  Otherwise unchanged. */
tc_val ti_onnx_whole_bias(tc_onnx_node *n, tc_val x, tc_val weight, tc_val bias);

/* Inline a graph of the file, with these values for its inputs; results in out. */
void ti_onnx_inline(tc_onnx_node *n, const TcOnnxPb__Graph *graph, const tc_val *in,
                    int n_in, tc_val *out, int n_out);

#define ONNX(name, first, last, build, op, extra, note) void ti_onnx_build_##build(tc_onnx_node *n);
#define ONNX_MS(name, first, last, build, op, extra, note)                                         \
    void ti_onnx_build_##build(tc_onnx_node *n);
#define ONNX_IS(name, first, last, recipe, note)
#define ONNX_MS_IS(name, first, last, recipe, note)
#include "onnx.def"
void ti_onnx_build_recipe(tc_onnx_node *n);

#endif
