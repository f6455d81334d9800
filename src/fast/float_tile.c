/* SPDX-License-Identifier: Apache-2.0 */
/* float_tile.c -- see float_tile.h. */
#include "float_tile.h"

#ifdef TC_X86
#include <immintrin.h>
#endif

/* Loops over registers are unrolled whole by either compiler. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Four lanes: SSE, NEON and WebAssembly by the compiler's vectors. */
typedef float lanes4 __attribute__((vector_size(16)));

static inline lanes4 load4(const float *p)
{
    lanes4 v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline lanes4 load_some4(const float *p, int64_t n)
{
    float v[4] = {0};
    for (int64_t i = 0; i < n && i < 4; i++)
        v[i] = p[i];
    return load4(v);
}

static inline void store4(float *p, lanes4 v)
{
    memcpy(p, &v, sizeof v);
}

static inline void store_some4(float *p, lanes4 v, int64_t n)
{
    float all[4];
    store4(all, v);
    for (int64_t i = 0; i < n && i < 4; i++)
        p[i] = all[i];
}

#define NAME(f) f##_4
#define TARGET
#define V lanes4
#define L 4
#define LOAD(p) load4(p)
#define STORE(p, v) store4(p, v)
#define LOAD_SOME(p, n) load_some4(p, n)
#define STORE_SOME(p, v, n) store_some4(p, v, n)
#define SET(x) ((lanes4){(x), (x), (x), (x)})
#if defined(__aarch64__)
#define REGISTERS 32
#else
#define REGISTERS 16
#endif
#include "float_tile_body.h"

#ifdef TC_X86
TC_AVX2 static inline __m256i some8(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n < 0 ? 0 : n < 8 ? n : 8)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#define NAME(f) f##_8
#define TARGET TC_AVX2
#define V __m256
#define L 8
#define LOAD(p) _mm256_loadu_ps(p)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define LOAD_SOME(p, n) _mm256_maskload_ps(p, some8(n))
#define STORE_SOME(p, v, n) _mm256_maskstore_ps(p, some8(n), v)
#define SET(x) _mm256_set1_ps(x)
#define REGISTERS 16
#include "float_tile_body.h"

#define SOME16(n) ((__mmask16)((n) <= 0 ? 0 : (n) >= 16 ? 0xffff : (1u << (n)) - 1))
#define NAME(f) f##_16
#define TARGET TC_AVX512
#define V __m512
#define L 16
#define LOAD(p) _mm512_loadu_ps(p)
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define LOAD_SOME(p, n) _mm512_maskz_loadu_ps(SOME16(n), p)
#define STORE_SOME(p, v, n) _mm512_mask_storeu_ps(p, SOME16(n), v)
#define SET(x) _mm512_set1_ps(x)
#define REGISTERS 32
#include "float_tile_body.h"
#endif

const tc_float_level *ti_float_level(void)
{
#ifdef TC_X86
    if (ti_isa_is_avx512(ti_isa()))
        return &level_16;
    if (ti_isa() == TC_ISA_avx2)
        return &level_8;
#endif
    return &level_4;
}

int ti_float_vectors(const tc_float_level *level, int64_t left, int64_t m)
{
    int64_t v = (left + level->lanes - 1) / level->lanes;
    bool many = level->tall[4] > 2; /* registers */
    if (m <= level->tall[4] || (many && v != 5))
        return v < 4 ? (int)v : 4;
    if (many)
        return 3;
    return v < 2 ? (int)v : 2;
}
