/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h -- what the machine does in fewer operations than TOSA: rewritten in the region's copy
 * before operations are selected. */
#ifndef TC_FOLD_H
#define TC_FOLD_H

#include "select.h"

/* Functions of one int8 value become TABLEs, also of 32 bits (fold_codes.c). */
void ti_fold_codes(tc_hw *hw, tc_graph *g);
/* What is widened and shifted left is one RESCALE (fold_shifts.c). */
void ti_fold_shifts(tc_hw *hw, tc_graph *g);
/* Padding before a convolution is its own (fold_pads.c). */
void ti_fold_pads(tc_hw *hw, tc_graph *g);
/* Lists that are the machine's curves (fold_curves.c). */
void ti_fold_curves(tc_hw *hw, tc_graph *g);
/* The larger of two RESCALEs that is a leaky RELU (fold_leaky.c). */
void ti_fold_leaky(tc_hw *hw, tc_graph *g);
/* U85: sums of x * x along channels are REDUCE_SUMs of two operands, x and x (fold_squares.c). */
void ti_fold_squares(tc_hw *hw, tc_graph *g);

/* ---- for these files (fold.c) ---- */

/* A constant of one element; false: it is none. */
bool ti_fold_number(const tc_graph *g, tc_val v, int64_t *out);

/* What a RESCALE to v by one factor is of, without zero points; else TC_NONE. */
tc_val ti_fold_scaled(const tc_graph *g, tc_val v, tc_dtype to, tc_npu_scale *out);
bool ti_fold_is_one(const tc_npu_scale *s);

/* A new value; with data it is a constant. */
tc_val ti_fold_value(tc_hw *hw, tc_graph *g, const tc_type *type, const char *name,
                     const void *data);

/* A node that replaces another, with that one's location in reports.  It outlives the attempt. */
tc_node *ti_fold_node(tc_hw *hw, tc_graph *g, const tc_node *of, tc_op op, const void *attr,
                      int n_in, const tc_val *in, tc_val out);

#endif
