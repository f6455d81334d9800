/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_hybrid.h -- products of real values with quantized weights.
 *
 * The runtime quantizes the real operand too, row by row, at run time ("dynamic range"): between
 * begin and end the product is one of integers. */
#ifndef TC_TFLITE_HYBRID_H
#define TC_TFLITE_HYBRID_H

#include "tflite.h"

typedef struct tc_tfl_hybrid {
    bool on, asymmetric;
    bool weight_first; /* sums are multiplied by the weights' scale, then by x's */
    tc_val scale;  /* of x, extents of 1 except for axes with their own scale */
    tc_val weight; /* of the weights: one number, or one for each number of the last axis */
} tc_tfl_hybrid;

/* x as integers, one scale for all axes from `inner` on, the axes before them one each. */
tc_val ti_tfl_hybrid_codes(tc_build *m, tc_val x, int inner, bool asymmetric, tc_val *scale);
/* Where input wi holds codes and input xi does not, *x becomes integers and *w its codes less their
 * zero; or *w alone is dequantized, where the file is read as a float model. w_axis: of the
 * weights' scales, -1: one for all. */
bool ti_tfl_hybrid_begin(tc_tfl_node *n, tc_tfl_hybrid *h, int xi, int wi, int inner, int w_axis,
                         bool asymmetric, tc_val *x, tc_val *w);
tc_val ti_tfl_hybrid_end(tc_tfl_node *n, const tc_tfl_hybrid *h, tc_val y, tc_val bias);

#endif
