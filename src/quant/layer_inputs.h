/* SPDX-License-Identifier: Apache-2.0 */
/* layer_inputs.h -- the windows that a convolution or linear layer multiplies with its weights. */
#ifndef TC_LAYER_INPUTS_H
#define TC_LAYER_INPUTS_H

#include "quantizer.h"

/* A product's windows: at a position of its result, groups * k elements, in the order of the
 * weights' rows; with taps_first transposed, k rows of one element for each group. */
typedef struct tc_columns {
    const tc_node *node;
    int64_t rows;      /* of weights, all groups */
    int64_t groups, k; /* elements in a row */
    int64_t each;      /* windows that are taken of a sample */
    int64_t position;  /* positions in all */
    int axes;          /* that windows have; 0: a linear layer */
    bool taps_first;   /* of a depthwise convolution */
    int64_t out[3], kernel[3], in[3];
} tc_columns;

/* false: the node is neither, or has more axes.  samples: over which the windows are spread. */
bool ti_columns_of(const tc_graph *g, const tc_node *node, size_t samples, tc_columns *out);

/* Windows of sample `which` at evenly spread positions; x as stored: dim[i] is logical axis
 * order[i].  out: each * groups * k elements. */
void ti_columns_take(const tc_columns *c, tc_tensor x, const int8_t *order, size_t which,
                     float *out);

/* sum[g * k + j]: over all positions, element j of group g's windows; x as stored. */
void ti_columns_sums(const tc_columns *c, tc_arena *scratch, tc_tensor x, const int8_t *order,
                     double *sum);

/* Rows first .. first+n-1 of a product's weights, k elements each; with groups: all rows. */
typedef struct tc_some_rows {
    int64_t first, n;
    const float *by;
} tc_some_rows;

/* y += windows at every position times the rows, in their channels; x and y as stored. The sums do
 * not depend on the number of rows at a time. */
void ti_columns_multiply(const tc_columns *c, tc_arena *scratch, tc_tensor x, const int8_t *x_order,
                         tc_some_rows some, tc_tensor y, const int8_t *y_order);

#endif
