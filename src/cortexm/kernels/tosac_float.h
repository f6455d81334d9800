/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_float.h -- what a model computes in float: parts without a form in integers.  Sums are of double, rounded
 * once; compile with -ffp-contract=off for the same bits on every core. */
#ifndef TOSAC_FLOAT_H
#define TOSAC_FLOAT_H

#include "tosac_kernels.h"

#include <math.h>

/* The larger and the smaller: NaN propagates, or (_number) is ignored. */
static inline float tosac_fmax(float a, float b) { return isnan(a) || a >= b ? a : b; }
static inline float tosac_fmin(float a, float b) { return isnan(a) || a < b ? a : b; }
static inline float tosac_fmax_number(float a, float b) { return isnan(b) || a >= b ? a : b; }
static inline float tosac_fmin_number(float a, float b) { return isnan(b) || a < b ? a : b; }
static inline float tosac_sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

/* The nearest integer, halves to even, held inside lo .. hi. */
static inline int32_t tosac_nearest(float x, int32_t lo, int32_t hi)
{
    const float r = rintf(x);
    return isnan(r) ? INT32_MIN : r <= (float)lo ? lo : r >= (float)hi ? hi : (int32_t)r;
}

/* TOSAC_F32 of tosac_kernels.h's functions; ignore: NaN is passed over. */
void tosac_conv_f32(const tosac_conv *p, const float *x, const float *w, const float *bias, float *out);
void tosac_matmul_f32(const tosac_matmul *p, const float *a, const float *b, float *out);
void tosac_max_pool_f32(const tosac_pool *p, int32_t ignore, const float *x, float *out);
void tosac_avg_pool_f32(const tosac_pool *p, const float *x, float *out);
void tosac_reduce_f32(tosac_reduction what, int32_t ignore, int32_t outer, int32_t n, int32_t inner,
                      const float *x, float *out);
void tosac_argmax_f32(int32_t ignore, int32_t outer, int32_t n, int32_t inner, const float *x,
                      int32_t *out);
void tosac_resize_f32(const tosac_resize *p, const float *x, float *out);

#endif
