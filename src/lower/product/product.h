/* SPDX-License-Identifier: Apache-2.0 */
/* product.h -- what convolutions, linear layers and matrix products share: operands that fit,
 * weights laid out, an accumulator by output channel, and its way into the result's domain. */
#ifndef TC_PRODUCT_H
#define TC_PRODUCT_H

#include "../put.h"

typedef struct tc_product {
    const tc_type *x, *w, *y;
    int64_t channels;  /* of the result */
    tc_dtype made, acc; /* what the operator makes, and accumulates in */
    double *scale;      /* of the accumulator, by output channel; NULL: floats */
    tc_dtype block[2];  /* of the operands: the block-scaled type that they are cast to, or none */
    double unit;        /* what was made is the accumulator times this: 1, or less (split_accumulators.c) */
} tc_product;

/* What products of such operands are accumulated in. */
static inline tc_dtype ti_product_made(tc_dtype x)
{
    return x == TC_i8 ? TC_i32 : x == TC_i16 ? TC_i48 : x == TC_e4m3 || x == TC_e5m2 ? TC_f16 : x;
}

/* Operands 0 and 1 and the result, checked; false: refused.  Channel c has the weight's scale c
 * modulo the number of its scales. */
bool ti_product_start(tc_build *lw, const tc_node *node, int64_t channels, tc_product *p);

/* ---- operands that are rounded to blocks (lower_blocks.c) ---- */

/* The block-scaled type of operand i, 0 or 1, of a linear layer or a convolution; or none. */
tc_dtype ti_product_block(const tc_build *lw, const tc_node *node, int i);
/* The operand before it is rounded. */
tc_val ti_product_in(const tc_build *lw, const tc_node *node, int i);
/* Operands with their channels last: cast to their block-scaled types, zero-padded to whole blocks;
 * unchanged if neither has one. */
void ti_put_blocks(tc_build *lw, const tc_product *p, tc_val *x, tc_val *w);
/* MATMUL_T of x [1,rows,k] and w [1,n,k], and the bias. */
tc_val ti_put_block_rows(tc_build *lw, const tc_product *p, tc_val x, tc_val w, tc_val bias);

/* ---- bias and result ---- */

/* Zero points of the operands; 0 of floats. */
int64_t ti_product_x_zero(const tc_product *p);
int64_t ti_product_w_zero(const tc_product *p);

/* The bias (operand 2) of n output channels from `first` on; zeros when there is none. */
tc_val ti_product_bias(tc_build *lw, const tc_node *node, const tc_product *p, int64_t first,
                       int64_t n);

/* The operator's result, n output channels from `first` on as its last axis, in the result's
 * type. */
tc_val ti_product_finish(tc_build *lw, tc_val made, const tc_product *p, int64_t first, int64_t n);

/* Axes in the order perm, then of shape dim: constants are laid out once and for all.  i4 becomes
 * i8 where the target does not have it. */
tc_val ti_put_weights(tc_build *lw, tc_val w, const int64_t *perm, int rank, const int64_t *dim);

/* A convolution of channels-last x over `axes` axes.  pad: before and after of each, NULL for none;
 * stride, dilation: NULL for 1. */
typedef struct tc_window_shape {
    int axes;
    const int64_t *pad, *stride, *dilation;
} tc_window_shape;
tc_val ti_put_conv(tc_build *lw, tc_op op, tc_val x, int64_t x_zero, tc_val w, int64_t w_zero,
                   tc_val bias, const tc_window_shape *shape, tc_dtype acc);

/* ---- sums that may be longer than their accumulator holds (split_accumulators.c) ---- */

/* The same with the product's zero points, or TRANSPOSE_CONV2D (pad: its out_pad): in parts where
 * one accumulator does not hold it, added in multiples of 1 / p->unit. */
tc_val ti_put_long_conv(tc_build *lw, tc_product *p, tc_op op, tc_val x, tc_val w, tc_val bias,
                        const tc_window_shape *shape);
/* x [1,1,rows,k] by weights [n,1,1,k]. */
tc_val ti_put_rows_by(tc_build *lw, tc_product *p, tc_val x, tc_val w, tc_val bias);

/* What sums of this type stay below. */
double ti_product_limit(const tc_build *lw, tc_dtype acc);
/* The sum of n parts, not above `most`, as i32 times *unit. */
tc_val ti_product_sum(tc_build *lw, const tc_val *part, int n, double most, double *unit);

/* ---- lower_matmul.c ---- */

/* v [.., k], i32 of this scale, by the node's weights (operand 1, [n, k],
 * 8 bits): [rows, n] in i32 of another scale that holds it. */
tc_val ti_put_bands(tc_build *lw, const tc_node *node, tc_val v, double scale, double to);

#endif
