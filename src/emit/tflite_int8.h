/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_int8.h -- a typed program as int8 operators of TensorFlow Lite Micro: one operator for each
 * product with its activation, channels last, scales in the tensors.
 *
 * The file has no addresses yet: it is read again, as any quantized .tflite is, and planned. */
#ifndef TC_TFLITE_INT8_H
#define TC_TFLITE_INT8_H

#include "tflite_ops.h"

/* Nodes of a program's first graph without an operator, by place. */
typedef struct tc_tf8_lack {
    size_t *node, n, cap;
} tc_tf8_lack;

/* A value has up to two tensors: as the program has it (tc_tfw.of), and with channels last, of rank
 * 4: [N,C,W] is [N,1,W,C] there. */
typedef struct tc_tf8 {
    tc_tfw w;
    int64_t *last;           /* by value: its tensor with channels last + 1; 0: none yet */
    const uint32_t *readers; /* by value */
    tc_tf8_lack *lack;
} tc_tf8;

/* Every node on codes must have an int8 form, every other one a row of target/tflm.def.  What has none
 * is listed in `lack`, and there is no file then; without a list it is an error.  The module changes. */
TC_MUST_USE tc_status ti_write_tflite_int8(tc_ctx *ctx, tc_module *typed, const char *by,
                                           tc_tf8_lack *lack, tc_bytes *out);

tc_tfw_op *ti_tf8_op(tc_tf8 *e, tc_tflm_name name, int version, const int64_t *in, size_t n, int64_t out);
static inline void ti_tf8_set(tc_tfw_op *op, int at, char kind, double v)
{
    op->field[op->n_field++] = (tc_tfw_field){(uint8_t)at, kind, v};
}

/* Codes of one scale, of 8 bits or of 16 that are written with 8. */
bool ti_tf8_is_code(const tc_type *t);
double ti_tf8_clipped(double v, double step, double zero);
/* Why operands, from `first` on, have not the result's kind of codes; or NULL. */
const char *ti_tf8_other_codes(const tc_tf8 *e, const tc_node *node, int first);
/* A tensor of 16-bit codes has 8, of a step that is so many times larger. */
void ti_tf8_narrow(tc_tf8 *e, int64_t at);

/* ---- tflite_product.c ---- */

/* conv, linear, add, sub and mul with an activation, TensorFlow Lite's number of it, into `out`; pools
 * and means.  NULL, or why it has no form. */
const char *ti_tf8_product(tc_tf8 *e, const tc_node *node, tc_val out, int activation);
const char *ti_tf8_pool(tc_tf8 *e, const tc_node *node);
const char *ti_tf8_global(tc_tf8 *e, const tc_node *node);
const char *ti_tf8_mean(tc_tf8 *e, const tc_node *node);
/* The [N,C,H,W] that x flattens, where the columns of weights that read x may read [H,W,C]; or none. */
tc_val ti_tf8_flattened(const tc_tf8 *e, tc_val x);

/* ---- tflite_function.c ---- */

/* NULL, or why it has no form. */
const char *ti_tf8_function(tc_tf8 *e, const tc_node *node);
/* Of an operator whose result has one scale in TFLM: a QUANTIZE follows where the program has another. */
void ti_tf8_fixed(tc_tf8 *e, int64_t to, tc_tfw_op *op, double scale, int64_t zero);

/* ---- tflite_table.c ---- */

bool ti_tf8_is_table(const tc_tf8 *e, const tc_node *node);
TC_MUST_USE tc_status ti_tf8_table(tc_tf8 *e, const tc_node *node);

/* ---- tflite_choice.c ---- */

/* Largest and smallest, their places, one of two, padding, and movement that has a row.  NULL, or
 * why it has no form. */
const char *ti_tf8_larger(tc_tf8 *e, const tc_node *node);
const char *ti_tf8_largest(tc_tf8 *e, const tc_node *node);
const char *ti_tf8_place(tc_tf8 *e, const tc_node *node);
const char *ti_tf8_either(tc_tf8 *e, const tc_node *node);
const char *ti_tf8_pad(tc_tf8 *e, const tc_node *node);
/* A node by its row of target/tflm.def. */
const char *ti_tf8_row(tc_tf8 *e, const tc_node *node);
/* The result of the last operator, kept between two real numbers. */
void ti_tf8_bounds(tc_tf8 *e, double lo, double hi);

/* ---- tflite_parts.c ---- */

/* slice, select, split and unbind; products of two matrices.  NULL, or why it has no form. */
const char *ti_tf8_parts(tc_tf8 *e, const tc_node *node);
const char *ti_tf8_matmul(tc_tf8 *e, const tc_node *node);

/* ---- tflite_layout.c ---- */

/* The tensor of a value in its own order of axes; with channels last. */
int64_t ti_tf8_plain(tc_tf8 *e, tc_val v);
int64_t ti_tf8_last(tc_tf8 *e, tc_val v);
/* Whether it exists with channels last, or is a constant, which may have any order. */
bool ti_tf8_is_last(const tc_tf8 *e, tc_val v);
/* A new tensor with channels last for a result. */
int64_t ti_tf8_new_last(tc_tf8 *e, tc_val v);
/* A tensor like another, of another shape. */
int64_t ti_tf8_like(tc_tf8 *e, int64_t tensor, int rank, const int64_t *dim);
/* One operator from a tensor to a tensor, and a list of numbers as its second operand. */
void ti_tf8_move(tc_tf8 *e, tc_tflm_name name, int64_t from, int64_t list, int64_t to);
int64_t ti_tf8_list(tc_tf8 *e, const int64_t *v, int64_t n);
/* The result of a node in the layout of operand i. */
void ti_tf8_like_operand(tc_tf8 *e, const tc_node *node, int i, int64_t *from, int64_t *to);
bool ti_tf8_same_codes(const tc_tf8 *e, int64_t a, int64_t b);
/* A tensor with the codes of `like`: itself, or requantized. */
int64_t ti_tf8_with_codes(tc_tf8 *e, int64_t at, int64_t like);
/* Elements of a constant in another order: element i of `dim` is that at the sum of index * step. */
tc_bytes ti_tf8_reorder(tc_tf8 *e, tc_val v, const int64_t *dim, const int64_t *step);

#endif
