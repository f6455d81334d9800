/* SPDX-License-Identifier: Apache-2.0 */
/* lower_pool.h -- sums and extremes over axes, which pooling and reductions share. */
#ifndef TC_LOWER_POOL_H
#define TC_LOWER_POOL_H

#include "../put.h"

/* A pooling of two axes with its channels last; one axis is two, the first of extent 1. */
typedef struct tc_pool_window {
    int64_t batch, channels, in[2], out[2], kernel[2], stride[2], dilation[2], pad[2];
} tc_pool_window;

/* x [n,h,w,c] by windows: the largest of each, stored as x is; or the mean, from domain to domain,
 * with the divisors of `a`. */
tc_val ti_put_window_max(tc_build *lw, tc_val x, const tc_pool_window *w);
tc_val ti_put_window_mean(tc_build *lw, tc_val x, const tc_pool_window *w,
                          const tc_attr_avg_pool *a, const tc_type *from, const tc_type *to);
/* The divisor of the window at `at` of one axis, without the others. */
int64_t ti_pool_span(const tc_pool_window *w, bool include_pad, int axis, int64_t at);
/* Sums [n,h,w,c] of up to `area` codes of i8 by the shares [h * w] of their positions; *unit: what
 * the result is still to be divided by. */
tc_val ti_put_shares(tc_build *lw, tc_val sum, int64_t area, const int64_t *share, double *unit);
/* The largest of tiles that are not all of one size, by slices, axis by axis. */
tc_val ti_put_tiled_max(tc_build *lw, tc_val x, const tc_pool_window *w);
/* Tiles of one size are an ordinary pooling: kernels and strides of w are set. */
bool ti_pool_tiles_evenly(tc_pool_window *w);

/* Pools of three axes (pool_deep.c). */
tc_val ti_put_deep_max(tc_build *lw, const tc_node *node, const tc_attr_max_pool *a);
tc_val ti_put_deep_mean(tc_build *lw, const tc_node *node, const tc_attr_avg_pool *a);

/* x [n,h,w,c]; kernel and stride: of h and w; pad: before and after of each. */
tc_val ti_put_max_pool(tc_build *lw, tc_val x, const int64_t *kernel, const int64_t *stride,
                       const int64_t *pad);
/* Sums of (x - zero) over windows, as an accumulator. */
tc_val ti_put_window_sum(tc_build *lw, tc_val x, int64_t zero, const int64_t *kernel,
                         const int64_t *stride, const int64_t *pad);

/* x [1,1,rows,k] of i8 or i16 by a matrix [n,k] of small integers: an accumulator [1,1,rows,n]. */
tc_val ti_put_matrix(tc_build *lw, tc_val x, int64_t zero, int64_t n, int64_t k,
                     const double *weight);

/* The sum over h and w of x [n,h,w,c], stored as `from`, times `scale` per code, in the domain of
 * `to`: [n,1,1,c]. */
tc_val ti_put_plane_sum(tc_build *lw, tc_val x, const tc_type *from, double scale,
                        const tc_type *to);
/* The same for i8, by halves, over axes first .. last of any x, which stay with length 1
 * (sum_tree.c). */
tc_val ti_put_tree_sum(tc_build *lw, tc_val x, int first, int last, const tc_type *from,
                       double scale, const tc_type *to);

/* lower_reduce.c: x as [outer, n, inner], the mean over n: for programs of many sizes. */
tc_val ti_put_middle_mean(tc_build *lw, tc_val x, const int64_t dim[3], const tc_type *from,
                          const tc_type *to);

#endif
