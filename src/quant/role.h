/* SPDX-License-Identifier: Apache-2.0 */
/* role.h -- what operators do with domains; shared by the files of this folder. */
#ifndef TC_ROLE_H
#define TC_ROLE_H

#include "quantizer.h"

/* Elements of operand i go to the results unchanged: view, cat, max_pool, where. */
bool ti_role_carries(const tc_node *node, int i);
/* Any operand does. */
bool ti_role_moves(const tc_node *node);
/* Result i holds such elements (not indices). */
bool ti_role_carried(const tc_node *node, int i);

/* relu, relu6, hardtanh, clamp: min(max(x, lo), hi). */
bool ti_role_clamps(tc_op op);
/* One operand, one result, a curve: a table in integers. */
bool ti_role_curve(tc_op op);
/* The range of the results, for any operands. */
bool ti_role_natural(tc_op op, double *lo, double *hi);

/* Operand i of a product is the right or left factor that may be constant: its weights. */
bool ti_role_weight(const tc_node *node, int i);
/* The axis of the weights that gives the output channels; -1: there is none of that kind. */
int ti_role_channel_axis(const tc_node *node, const tc_type *weight);
/* The operand that is added to every output channel; -1: none. */
int ti_role_bias(const tc_node *node);
/* Reads 16 bits as cheaply as 8: sums, norms, softmax.  Products and tables take 8. */
bool ti_role_reads_wide(tc_op op);
/* 16-bit results cost as much as 8-bit ones: operators with an accumulator, norms. */
bool ti_role_gives_wide(tc_op op);
/* Concatenates several values. */
bool ti_role_puts_together(tc_op op);
/* Probabilities over a row: in a long row most are below the steps of 8 bits. */
bool ti_role_shares(tc_op op);
/* Logarithms and roots: near 0 a step is worth more than anywhere else. */
bool ti_role_steep(tc_op op);
/* Reads, or gives, 16 bits at some cost: elementwise functions, comparisons. */
bool ti_role_bears_wide(tc_op op);
/* Operand i stays real: masks, and weights of composites. */
bool ti_role_real(const tc_node *node, int i);

#endif
