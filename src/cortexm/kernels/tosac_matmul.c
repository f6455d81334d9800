/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_matmul.c -- MATMUL of int8 or int16, minus zero points.
 *
 * Sums of int8 have 32 bits and wrap.  Neighbouring columns of the result are computed together, in
 * b's order. */
#include "tosac_simd.h"

/* Sums of int16, which has no zero point: a row of a times `n` columns of b. */
#if TOSAC_ISA == TOSAC_ISA_MVE

enum { COLUMNS16 = 1, WIDEST16 = 65535 / 7 }; /* offsets have 16 bits */

static void products16(const tosac_matmul *p, const int16_t *a, const int16_t *b, int64_t *sum)
{
    const uint16x8_t at = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)p->w);
    const int32_t next = 8 * p->w;
    int64_t s = 0;
    for (int32_t k = p->c; k > 0; k -= 8, a += 8, b += next) {
        const mve_pred16_t lanes = vctp16q((uint32_t)k);
        s = vmlaldavaq_s16(s, vldrhq_z_s16(a, lanes),
                           vldrhq_gather_shifted_offset_z_s16(b, at, lanes));
    }
    *sum = s;
}

#elif TOSAC_ISA == TOSAC_ISA_DSP

enum { COLUMNS16 = 2, WIDEST16 = INT32_MAX };

static void products16(const tosac_matmul *p, const int16_t *a, const int16_t *b, int64_t *sum)
{
    const int32_t w = p->w;
    int64_t s0 = 0, s1 = 0;
    for (const int16_t *end = a + (p->c & ~1); a < end; a += 2, b += 2 * w) {
        const int16x2_t v = tosac_two(a);
        const uint32_t r0 = (uint32_t)tosac_two(b), r1 = (uint32_t)tosac_two(b + w);
        s0 = __smlald(v, tosac_lows(r0, r1), s0);
        s1 = __smlald(v, tosac_highs(r0, r1), s1);
    }
    if (p->c & 1) {
        s0 += *a * b[0];
        s1 += *a * b[1];
    }
    sum[0] = s0, sum[1] = s1;
}

#else

enum { COLUMNS16 = 1, WIDEST16 = INT32_MAX };

static void products16(const tosac_matmul *p, const int16_t *a, const int16_t *b, int64_t *sum)
{
    int64_t s = 0;
    for (int32_t k = 0; k < p->c; k++, b += p->w)
        s += a[k] * *b;
    *sum = s;
}

#endif

/* A row of the result. */
static void row16(const tosac_matmul *p, const int16_t *a, const int16_t *b, void *out, int32_t at)
{
    int32_t i = 0;
    for (; p->w <= WIDEST16 && i + COLUMNS16 <= p->w; i += COLUMNS16) {
        int64_t sum[COLUMNS16];
        products16(p, a, b + i, sum);
        for (int32_t j = 0; j < COLUMNS16; j++)
            tosac_store_sum(&p->q, out, p->result, at + i + j, i + j, sum[j]);
    }
    for (; i < p->w; i++) {
        int64_t sum = 0;
        for (int32_t k = 0; k < p->c; k++)
            sum += a[k] * b[k * p->w + i];
        tosac_store_sum(&p->q, out, p->result, at + i, i, sum);
    }
}

/* A row of a times columns of b from the i-th on; at: where the row's results begin.  Returns how many
 * columns it took. */
#if TOSAC_ISA == TOSAC_ISA_MVE

/* Four sums of neighbouring columns. */
static void store4(const tosac_matmul *p, void *out, int32_t at, int32_t i, int32x4_t sum,
                   mve_pred16_t lanes)
{
    int32_t v[4];
    const tosac_requant *q = &p->q;
    if (p->result == TOSAC_I8 && q->multiplier && !q->step && q->rounding <= TOSAC_DOUBLE) {
        const tosac_four f =
            tosac_four_of(q, vdupq_n_s32(*q->multiplier), vdupq_n_s32(*q->shift));
        vstrbq_p_s32((int8_t *)out + at + i, tosac_requantize4(q, sum, &f), lanes);
        return;
    }
    vstrwq_s32(v, sum);
    for (int32_t j = 0; j < tosac_min(4, p->w - i); j++)
        tosac_store_sum(q, out, p->result, at + i + j, i + j, v[j]);
}

static int32_t columns(const tosac_matmul *p, const int8_t *a, const int8_t *b, void *out,
                       int32_t at, int32_t i)
{
    const int32_t w = p->w, left = w - i;
    const int32x4_t b_zero = vdupq_n_s32(p->b_zero);
    int32x4_t s0 = vdupq_n_s32(0), s1 = s0, s2 = s0, s3 = s0;
    int32_t row = 0; /* of a, minus its zero point */
    b += i;
    if (left >= 16) {
        for (int32_t k = 0; k < p->c; k++, b += w) {
            const int32_t v = a[k] - p->a_zero;
            row += v;
            s0 = vmlaq_n_s32(s0, vldrbq_s32(b), v);
            s1 = vmlaq_n_s32(s1, vldrbq_s32(b + 4), v);
            s2 = vmlaq_n_s32(s2, vldrbq_s32(b + 8), v);
            s3 = vmlaq_n_s32(s3, vldrbq_s32(b + 12), v);
        }
        const int32x4_t less = vmulq_n_s32(b_zero, row);
        const mve_pred16_t all = vctp32q(4);
        store4(p, out, at, i, vsubq_s32(s0, less), all);
        store4(p, out, at, i + 4, vsubq_s32(s1, less), all);
        store4(p, out, at, i + 8, vsubq_s32(s2, less), all);
        store4(p, out, at, i + 12, vsubq_s32(s3, less), all);
        return 16;
    }
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    for (int32_t k = 0; k < p->c; k++, b += w) {
        const int32_t v = a[k] - p->a_zero;
        row += v;
        s0 = vmlaq_n_s32(s0, vldrbq_z_s32(b, lanes), v);
    }
    store4(p, out, at, i, vsubq_s32(s0, vmulq_n_s32(b_zero, row)), lanes);
    return tosac_min(left, 4);
}

#else

static int32_t one_column(const tosac_matmul *p, const int8_t *a, const int8_t *b, void *out,
                          int32_t at, int32_t i)
{
    const int32_t a_zero = p->a_zero, b_zero = p->b_zero, w = p->w;
    uint32_t sum = 0;
    b += i;
    for (int32_t k = 0; k < p->c; k++, b += w)
        sum += (uint32_t)((a[k] - a_zero) * (*b - b_zero));
    tosac_store_sum(&p->q, out, p->result, at + i, i, (int32_t)sum);
    return 1;
}

#if TOSAC_ISA == TOSAC_ISA_DSP

/* Four columns, two rows of b at a time. */
static int32_t columns(const tosac_matmul *p, const int8_t *a, const int8_t *b, void *out,
                       int32_t at, int32_t i)
{
    const int32_t w = p->w, a_zero = p->a_zero;
    if (w - i < 4)
        return one_column(p, a, b, out, at, i);
    int32_t s0 = 0, s1 = 0, s2 = 0, s3 = 0, row = 0, k = 0;
    b += i;
    for (; k + 2 <= p->c; k += 2, b += 2 * w) {
        const int32_t v0 = a[k] - a_zero, v1 = a[k + 1] - a_zero;
        const uint32_t v = ((uint32_t)v0 & 0xffffu) | (uint32_t)v1 << 16;
        const uint32_t r0 = tosac_word(b), r1 = tosac_word(b + w);
        const uint32_t e0 = (uint32_t)tosac_even(r0), e1 = (uint32_t)tosac_even(r1);
        const uint32_t o0 = (uint32_t)tosac_odd(r0), o1 = (uint32_t)tosac_odd(r1);
        row += v0 + v1;
        s0 = __smlad(tosac_lows(e0, e1), (int16x2_t)v, s0);
        s1 = __smlad(tosac_lows(o0, o1), (int16x2_t)v, s1);
        s2 = __smlad(tosac_highs(e0, e1), (int16x2_t)v, s2);
        s3 = __smlad(tosac_highs(o0, o1), (int16x2_t)v, s3);
    }
    if (k < p->c) {
        const int32_t v = a[k] - a_zero;
        row += v;
        s0 += v * b[0], s1 += v * b[1], s2 += v * b[2], s3 += v * b[3];
    }
    const int32_t less = p->b_zero * row;
    tosac_store_sum(&p->q, out, p->result, at + i, i, s0 - less);
    tosac_store_sum(&p->q, out, p->result, at + i + 1, i + 1, s1 - less);
    tosac_store_sum(&p->q, out, p->result, at + i + 2, i + 2, s2 - less);
    tosac_store_sum(&p->q, out, p->result, at + i + 3, i + 3, s3 - less);
    return 4;
}

#else

static int32_t columns(const tosac_matmul *p, const int8_t *a, const int8_t *b, void *out,
                       int32_t at, int32_t i)
{
    return one_column(p, a, b, out, at, i);
}

#endif
#endif

void tosac_matmul_any(const tosac_matmul *p, const void *a, const void *b, void *out)
{
    for (int32_t r = 0; r < p->n * p->h; r++) {
        const int32_t row = r * p->c, plane = r / p->h * p->c * p->w, at = r * p->w;
        if (p->type == TOSAC_I8)
            for (int32_t i = 0; i < p->w;)
                i += columns(p, (const int8_t *)a + row, (const int8_t *)b + plane, out, at, i);
        else
            row16(p, (const int16_t *)a + row, (const int16_t *)b + plane, out, at);
    }
}
