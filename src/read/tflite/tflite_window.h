/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_window.h -- common to builders of windows on real values and on codes. */
#ifndef TC_TFLITE_WINDOW_H
#define TC_TFLITE_WINDOW_H

#include "tflite.h"

/* [n, .., c] -> [n, c, ..], and back. */
tc_val ti_tfl_channels_first(tc_build *m, tc_val x);
tc_val ti_tfl_channels_last(tc_build *m, tc_val x);

/* The two windows of a pool over t; false: a message has been given. */
bool ti_tfl_pool_windows(tc_tfl_node *n, const tc_type *t, tc_tfl_window *win);
/* x as rows that are as long as the weights' [rows, length], and the result's shape. */
tc_val ti_tfl_as_rows(tc_tfl_node *n, tc_val x, const tc_type *w, int64_t *dim, int *rank);
/* The size of a resize, and its options from `first` on. */
bool ti_tfl_resize_of(tc_tfl_node *n, const tc_type *t, int first, int64_t *out, bool *align,
                      bool *half);
/* Codes 1 to 4 times as large along rows and columns, corners on corners, as RESIZE; TC_NONE: it is
 * something else. */
tc_val ti_tfl_nearest_corners(tc_build *m, tc_val x, const int64_t *out);
/* A PAD with zeros around x becomes the border of the windows that read it, if those have none. */
tc_val ti_tfl_unpadded(tc_build *m, tc_val x, tc_tfl_window *win, int64_t zero);
/* Input 0 of a transposed convolution, the shape of its result; what only the result's tensor
 * states has to be what the windows over x, a number for each axis, make. */
tc_ints ti_tfl_spread_shape(tc_tfl_node *n, int axes, const int64_t *x, const int64_t *kernel,
                            const int64_t *stride);
tc_ints ti_tfl_axes(tc_tfl_node *n, int rank);
void ti_tfl_transpose_bias(tc_tfl_node *n, int padding, int64_t stride_h, int64_t stride_w);

/* Rows of codes by weights [o, i]: sums [1, 1, rows, o]. */
tc_val ti_tfl_rows_by(tc_tfl_node *n, tc_val x, int64_t x_zero, tc_val w, int64_t w_zero,
                      tc_val bias);

#endif
