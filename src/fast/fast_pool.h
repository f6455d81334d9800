/* SPDX-License-Identifier: Apache-2.0 */
/* fast_pool.h -- per-channel operators on NHWC images: max pooling, PReLU; with the bits of
 * num/. */
#ifndef TC_FAST_POOL_H
#define TC_FAST_POOL_H

#include "../num/attr.h"

/* [n, ih, iw, c] to [n, oh, ow, c], of f32, i8 or i16. */
typedef struct tc_max_pool {
    tc_dtype dtype;
    int64_t n, ih, iw, c, oh, ow;
    int64_t kernel[2], stride[2], before[2], dilation[2];
} tc_max_pool;

/* NaN is larger than all; a window without elements gives the least value. */
void ti_max_pool_run(const tc_max_pool *p, const void *x, void *y);

/* x > 0 ? x : weight[c] * x over rows of c channels. */
void ti_prelu_run(const float *x, const float *weight, size_t rows, size_t c, float *y);

#endif
