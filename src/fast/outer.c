/* SPDX-License-Identifier: Apache-2.0 */
/* outer.c -- see outer.h.
 *
 * A tile of the sum stays in registers while all columns pass; each level has its own width and
 * height of tiles. */
#include "outer.h"

#include "../base/isa.h"

static void add_lane(float *sum, int64_t lanes, int64_t k, int64_t m, const float *a,
                     const float *b, int64_t step, int64_t apart, bool half)
{
    for (int64_t c = 0; c < m; c++, a += step, b += step)
        for (int64_t i = 0; i < k; i++)
            for (int64_t j = half ? i : 0; j < k; j++)
                sum[(i * k + j) * lanes] += a[i * apart] * b[j * apart];
}

#define NAME(f) f##_plain
#define TARGET
#define WIDTH 16
#define TALL 4
#define WIDE 3
#include "outer_body.h"

#ifdef TC_X86
#define NAME(f) f##_avx2
#define TARGET TC_AVX2
#define WIDTH 32
#define TALL 4
#define WIDE 3
#include "outer_body.h"

#define NAME(f) f##_avx512
#define TARGET TC_AVX512
#define WIDTH 64
#define TALL 8
#define WIDE 3
#include "outer_body.h"
#define PICK(what)                                                                                 \
    (ti_isa_is_avx512(ti_isa())                                                               \
         ? what##_avx512                                                                           \
         : ti_isa() == TC_ISA_avx2 ? what##_avx2 : what##_plain)
#else
#define PICK(what) what##_plain
#endif

void ti_outer_add(float *sum, int64_t row, int64_t n, int64_t k, int64_t m, const tc_outer *pair,
                  int n_pair)
{
    PICK(add)(sum, row, n, k, m, pair[0], n_pair > 1 ? pair[1] : (tc_outer){0});
}

void ti_outer_add_lanes(float *sum, int64_t lanes, int64_t k, int64_t m, const float *a,
                        const float *b, int64_t step, int64_t apart, bool half)
{
    PICK(add_lanes)(sum, lanes, k, m, a, b, step, apart, half);
}
