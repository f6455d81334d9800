/* SPDX-License-Identifier: Apache-2.0 */
/* pool.h -- sums and extremes over axes, which pooling and reductions share. */
#ifndef TC_LOWER_POOL_H
#define TC_LOWER_POOL_H

#include "../build.h"

/* x [n,h,w,c]; kernel and stride: of h and w; pad: before and after of each. */
tc_val tc_put_max_pool(tc_lower *lw, tc_val x, const int64_t *kernel, const int64_t *stride,
                       const int64_t *pad);
/* Sums of (x - zero) over windows, as an accumulator. */
tc_val tc_put_window_sum(tc_lower *lw, tc_val x, int64_t zero, const int64_t *kernel,
                         const int64_t *stride, const int64_t *pad);

/* x [1,1,rows,k] of i8 or i16 by a matrix [n,k] of small integers: an accumulator [1,1,rows,n]. */
tc_val tc_put_matrix(tc_lower *lw, tc_val x, int64_t zero, int64_t n, int64_t k,
                     const double *weight);

/* The sum over h and w of x [n,h,w,c], stored as `from`, times `scale` per code, in the domain of
 * `to`: [n,1,1,c]. */
tc_val tc_put_plane_sum(tc_lower *lw, tc_val x, const tc_type *from, double scale,
                        const tc_type *to);
/* The same for i8, by halves (sum_tree.c). */
tc_val tc_put_tree_sum(tc_lower *lw, tc_val x, const tc_type *from, double scale,
                       const tc_type *to);

#endif
