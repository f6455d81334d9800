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

/* Results of a transform.  factor NULL: take is 1 + 2 bin of a real part, 2 + 2 bin of an imaginary one, negative:
 * with the other sign, 0: zero.  Else take is the bin, and factor those of its real and imaginary part. */
typedef struct tosac_side {
    int32_t rows;
    const int16_t *take;
    const float *factor, *bias; /* or NULL */
} tosac_side;

/* X[k] = sum of window[n] x[n] e^(-2 pi i k n / points) of windows that begin `stride` apart, the first `before`
 * elements before its line; twice `window` is the window where points are even.
 * root: (cos, -sin)(2 pi j / M), j < M, M = points / 2 where they are even, else points; turn: the same of k / points,
 * k <= M / 2.  scratch: 4 M + 4 floats. */
typedef struct tosac_transform {
    int32_t lines, extent, windows, stride, before;
    int32_t points, length;
    const float *window, *root, *turn;
    tosac_side side[2]; /* the second of no rows: there is one */
} tosac_transform;
void tosac_transform_f32(const tosac_transform *p, const float *x, float *out, float *other, float *scratch);

#endif
