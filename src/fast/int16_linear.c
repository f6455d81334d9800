/* SPDX-License-Identifier: Apache-2.0 */
/* int16_linear.c -- CONV2D of int16 by int8 where every position reads just itself: rows of x
 * against rows of w.  A product is below 2^22, so that 256 of them fit in 32 bits; sums beyond are
 * of 64. */
#include "int16.h"

#include "fast.h"

enum { BLOCK = 256, AT_ONCE = 4 };

struct tc_linear16 {
    size_t rows, k, n;
    const int16_t *w;    /* [n, and up to 3 of zeros][k] */
    const int64_t *bias; /* as many */
};

tc_linear16 *tc_linear16_new(tc_ctx *ctx, const tc_attr_tosa_conv *a, const tc_type *x, tc_tensor w,
                             tc_tensor bias)
{
    bool flat = w.type->rank == 4 && w.type->dim[1] == 1 && w.type->dim[2] == 1;
    for (int i = 0; i < a->pad.n; i++)
        flat = flat && !a->pad.v[i];
    for (int i = 0; i < a->stride.n; i++)
        flat = flat && a->stride.v[i] == 1;
    if (!flat || x->dtype != TC_i16 || w.type->dtype != TC_i8 || bias.type->dtype != TC_i48 ||
        !tc_type_count(x))
        return NULL;
    tc_linear16 *l = tc_new(&ctx->arena, tc_linear16);
    l->k = (size_t)w.type->dim[3];
    l->n = (size_t)w.type->dim[0];
    l->rows = (size_t)tc_type_count(x) / l->k;
    int16_t *wide = tc_new_n(&ctx->arena, int16_t, (l->n + AT_ONCE) * l->k);
    int64_t *start = tc_new_n(&ctx->arena, int64_t, l->n + AT_ONCE);
    for (size_t i = 0; i < l->n * l->k; i++)
        wide[i] = ((const int8_t *)w.data)[i];
    for (size_t i = 0; i < l->n; i++)
        start[i] = ((const int64_t *)bias.data)[tc_type_count(bias.type) == 1 ? 0 : i];
    l->w = wide;
    l->bias = start;
    return l;
}

/* One row of x against AT_ONCE rows of w. */
TC_INLINE void dots(const int16_t *x, const int16_t *w, size_t k, int64_t *sum)
{
    for (size_t from = 0; from < k; from += BLOCK) {
        size_t n = k - from < BLOCK ? k - from : BLOCK;
        const int16_t *v = x + from, *w0 = w + from, *w1 = w0 + k, *w2 = w1 + k, *w3 = w2 + k;
        int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0;
        for (size_t i = 0; i < n; i++)
            s0 += v[i] * w0[i];
        for (size_t i = 0; i < n; i++)
            s1 += v[i] * w1[i];
        for (size_t i = 0; i < n; i++)
            s2 += v[i] * w2[i];
        for (size_t i = 0; i < n; i++)
            s3 += v[i] * w3[i];
        sum[0] += s0;
        sum[1] += s1;
        sum[2] += s2;
        sum[3] += s3;
    }
}

TC_INLINE void all(const tc_linear16 *l, const int16_t *x, int64_t *y)
{
    for (size_t c = 0; c < l->n; c += AT_ONCE)
        for (size_t r = 0; r < l->rows; r++) {
            int64_t sum[AT_ONCE];
            memcpy(sum, l->bias + c, sizeof sum);
            dots(x + r * l->k, l->w + c * l->k, l->k, sum);
            size_t n = l->n - c < AT_ONCE ? l->n - c : AT_ONCE;
            memcpy(y + r * l->n + c, sum, n * sizeof *sum);
        }
}

static void all_plain(const tc_linear16 *l, const int16_t *x, int64_t *y) { all(l, x, y); }

#ifdef TC_X86
TC_AVX2 static void all_avx2(const tc_linear16 *l, const int16_t *x, int64_t *y) { all(l, x, y); }
TC_AVX512 static void all_avx512(const tc_linear16 *l, const int16_t *x, int64_t *y)
{
    all(l, x, y);
}
#endif

void tc_linear16_run(const tc_linear16 *l, const int16_t *x, int64_t *y)
{
#ifdef TC_X86
    if (tc_isa_is_avx512(tc_fast_isa()))
        all_avx512(l, x, y);
    else if (tc_fast_isa() == TC_ISA_avx2)
        all_avx2(l, x, y);
    else
#endif
        all_plain(l, x, y);
}
