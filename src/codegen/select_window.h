/* SPDX-License-Identifier: Apache-2.0 */
/* select_window.h -- one axis of a window that slides: in what pieces operations can do it.
 *
 * Output y and tap k meet at input  y * stride - before + k * dilation.  What registers do not hold
 * is expressed by views with larger steps, or by more pieces:
 *
 *   stride and dilation with a common factor   every so many inputs
 *   dilation                                   outputs by remainder, each a window without one
 *   stride                                     outputs one by one; or taps as channels
 *   padding                                    outputs that meet nothing, by themselves */
#ifndef TC_SELECT_WINDOW_H
#define TC_SELECT_WINDOW_H

#include "select.h"

/* Positions at, at + step, ... of an axis. */
typedef struct tc_sel_steps {
    int64_t at, step, n;
} tc_sel_steps;

typedef struct tc_sel_axis {
    tc_sel_steps in, out, tap;
    int64_t stride, dilation, before; /* before: may be less than 0 */
    int64_t after;                    /* of pieces */
    bool folded; /* of pieces: its taps are channels; inputs begin `stride` apart */
} tc_sel_axis;

typedef struct tc_sel_limits {
    int64_t taps, stride, dilation;
    bool folds;  /* taps may be channels: they are contiguous */
    bool inside; /* every tap of every output is inside */
    bool single; /* outputs one by one */
    int64_t most; /* outputs of a piece; 0: any */
} tc_sel_limits;

typedef struct tc_sel_pieces {
    tc_arena *arena;
    tc_sel_axis *v; /* with no taps: outputs that meet nothing */
    size_t n, cap;
    bool too_long; /* more taps than an operation has */
} tc_sel_pieces;

/* A window of all inputs, outputs and taps. */
tc_sel_axis ti_sel_axis(int64_t in, int64_t out, int64_t taps, int64_t stride, int64_t dilation,
                        int64_t before);

/* Appends the pieces of the axis. */
void ti_sel_cut_axis(tc_sel_pieces *to, tc_sel_axis a, const tc_sel_limits *limits);

/* The operation's window of a piece of rows and one of columns, and its extents. */
void ti_sel_set_window(tc_hw_op *op, const tc_sel_axis *y, const tc_sel_axis *x);
/* Extents as the views have them. */
void ti_sel_set_sizes(tc_hw_op *op);

/* Every step-th element of an axis of the view. */
tc_view ti_sel_steps_of(const tc_view *v, int32_t axis, const tc_sel_steps *s);

/* [n, h, w, c] as volumes one deep. */
tc_view ti_sel_volumes(const tc_view *v);

/* ---- products of matrices (select_matmul.c) ---- */

/* What a product of a [n][h][c] and b [n][w][c] is the value of: the node's, whose channels are
 * those of all n matrices, next to each other. */
typedef struct tc_sel_product {
    int32_t zero[2];
    bool direct;  /* no bias is added afterwards */
    tc_view bias; /* where accumulators start; or no root */
} tc_sel_product;
void ti_sel_product_of(tc_sel *s, const tc_node *node, const tc_sel_product *p, const tc_view *a,
                       const tc_view *b, tc_val bias);

/* ---- weights and biases that are not constant (select_conv_dynamic.c) ---- */

void ti_sel_conv_dynamic(tc_sel *s, const tc_node *node);

/* What the taps of every output meet, contiguous: [n][d][h][w][taps * channels]. */
tc_view ti_sel_taps_beside(tc_sel *s, const tc_node *node, const tc_view *in, int64_t zero);

/* The node's result: sums of 32 bits and the bias. */
void ti_sel_add_bias(tc_sel *s, const tc_node *node, const tc_view *sums, tc_val bias);
/* The bias of 48 bits for every output of an operation that keeps accumulators; and that operation,
 * of at most 4 x 8 outputs, on channels that are one block. */
tc_view ti_sel_kept_bias(tc_sel *s, const tc_node *node, tc_val bias, int64_t channels);
void ti_sel_emit_kept(tc_sel *s, const tc_hw_op *op, const tc_view *bias);

#endif
