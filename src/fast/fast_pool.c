/* SPDX-License-Identifier: Apache-2.0 */
/* fast_pool.c -- see fast_pool.h. */
#include "fast_pool.h"

#include <math.h>

#include "../base/isa.h"

/* y = the larger, element by element. */
TC_INLINE void larger(tc_dtype dtype, const void *x, void *y, size_t n)
{
    if (dtype == TC_f32) {
        const float *restrict v = x;
        float *restrict most = y;
        for (size_t i = 0; i < n; i++)
            most[i] = v[i] > most[i] || v[i] != v[i] ? v[i] : most[i];
    } else if (dtype == TC_i8) {
        const int8_t *restrict v = x;
        int8_t *restrict most = y;
        for (size_t i = 0; i < n; i++)
            most[i] = v[i] > most[i] ? v[i] : most[i];
    } else {
        const int16_t *restrict v = x;
        int16_t *restrict most = y;
        for (size_t i = 0; i < n; i++)
            most[i] = v[i] > most[i] ? v[i] : most[i];
    }
}

static void least(tc_dtype dtype, void *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (dtype == TC_f32)
            ((float *)y)[i] = -INFINITY;
        else if (dtype == TC_i8)
            ((int8_t *)y)[i] = INT8_MIN;
        else
            ((int16_t *)y)[i] = INT16_MIN;
}

TC_INLINE void max_pool(const tc_max_pool *p, const void *x, void *y)
{
    size_t bytes = (size_t)p->c * tc_dtypes[p->dtype].bytes;
    uint8_t *to = y;
    for (int64_t n = 0; n < p->n; n++)
        for (int64_t oy = 0; oy < p->oh; oy++)
            for (int64_t ox = 0; ox < p->ow; ox++, to += bytes) {
                least(p->dtype, to, (size_t)p->c);
                for (int64_t ky = 0; ky < p->kernel[0]; ky++)
                    for (int64_t kx = 0; kx < p->kernel[1]; kx++) {
                        int64_t iy = oy * p->stride[0] - p->before[0] + ky * p->dilation[0];
                        int64_t ix = ox * p->stride[1] - p->before[1] + kx * p->dilation[1];
                        if (iy < 0 || iy >= p->ih || ix < 0 || ix >= p->iw)
                            continue;
                        size_t at = (size_t)((n * p->ih + iy) * p->iw + ix) * bytes;
                        larger(p->dtype, (const uint8_t *)x + at, to, (size_t)p->c);
                    }
            }
}

TC_INLINE void prelu(const float *restrict x, const float *restrict weight, size_t rows, size_t c,
                     float *restrict y)
{
    for (size_t r = 0; r < rows; r++, x += c, y += c)
        for (size_t i = 0; i < c; i++) {
            float less = weight[i] * x[i];
            y[i] = x[i] > 0 ? x[i] : less;
        }
}

#define LEVEL(name, target)                                                                        \
    target static void max_pool_##name(const tc_max_pool *p, const void *x, void *y)               \
    {                                                                                              \
        max_pool(p, x, y);                                                                         \
    }                                                                                              \
    target static void prelu_##name(const float *x, const float *weight, size_t rows, size_t c,    \
                                    float *y)                                                      \
    {                                                                                              \
        prelu(x, weight, rows, c, y);                                                              \
    }
LEVEL(plain, )
#ifdef TC_X86
LEVEL(avx2, TC_AVX2)
#define PICK(what) (ti_isa() == TC_ISA_plain ? what##_plain : what##_avx2)
#else
#define PICK(what) what##_plain
#endif

void ti_max_pool_run(const tc_max_pool *p, const void *x, void *y) { PICK(max_pool)(p, x, y); }

void ti_prelu_run(const float *x, const float *weight, size_t rows, size_t c, float *y)
{
    PICK(prelu)(x, weight, rows, c, y);
}
