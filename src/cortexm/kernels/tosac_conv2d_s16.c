/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_conv2d_s16.c -- CONV2D and fully connected layers of int16 whose sums fit 32 bits:
 * tosac_conv2d.h. */
#include "tosac_simd.h"

typedef int16_t element;

#if TOSAC_ISA == TOSAC_ISA_MVE

TOSAC_INLINE void put4(int16_t *to, int32x4_t v, mve_pred16_t lanes) { vstrhq_p_s32(to, v, lanes); }

/* Sums of k products of a column with each of four rows. */
static inline int32x4_t products(const int16_t *x, const int8_t *w0, const int8_t *w1,
                                 const int8_t *w2, const int8_t *w3, int32_t k)
{
    int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0;
#if defined(__GNUC__)
    __asm__ volatile("wlstp.16 lr, %[k], 2f\n"
                     "1: vldrh.16 q0, [%[x]], #16\n"
                     "vldrb.s16 q1, [%[w0]], #8\n"
                     "vmladava.s16 %[a0], q0, q1\n"
                     "vldrb.s16 q2, [%[w1]], #8\n"
                     "vmladava.s16 %[a1], q0, q2\n"
                     "vldrb.s16 q3, [%[w2]], #8\n"
                     "vmladava.s16 %[a2], q0, q3\n"
                     "vldrb.s16 q1, [%[w3]], #8\n"
                     "vmladava.s16 %[a3], q0, q1\n"
                     "letp lr, 1b\n"
                     "2:\n"
                     : [x] "+r"(x), [w0] "+r"(w0), [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3),
                       [a0] "+Te"(a0), [a1] "+Te"(a1), [a2] "+Te"(a2), [a3] "+Te"(a3)
                     : [k] "r"(k)
                     : "q0", "q1", "q2", "q3", "lr", "memory");
#else
    for (; k > 0; k -= 8, x += 8, w0 += 8, w1 += 8, w2 += 8, w3 += 8) {
        mve_pred16_t lanes = vctp16q((uint32_t)k);
        int16x8_t v = vldrhq_z_s16(x, lanes);
        a0 = vmladavaq_s16(a0, v, vldrbq_z_s16(w0, lanes));
        a1 = vmladavaq_s16(a1, v, vldrbq_z_s16(w1, lanes));
        a2 = vmladavaq_s16(a2, v, vldrbq_z_s16(w2, lanes));
        a3 = vmladavaq_s16(a3, v, vldrbq_z_s16(w3, lanes));
    }
#endif
    return (int32x4_t){a0, a1, a2, a3};
}

#elif TOSAC_ISA == TOSAC_ISA_DSP

/* Two columns times two rows, four elements of each at a time. */
static inline void products(const int16_t *x, const int8_t *w, int32_t k, int32_t bias0,
                            int32_t bias1, int32_t sum[4])
{
    int32_t a00 = bias0, a01 = bias0, a10 = bias1, a11 = bias1;
    for (const int8_t *end = w + (k & ~3); w < end; w += 4, x += 4) {
        const tosac_pairs v = tosac_pairs_at(w), u = tosac_pairs_at(w + k);
        int16x2_t a = tosac_two(x), b = tosac_two(x + 2);
        a00 = __smlad(v.high, b, __smlad(v.low, a, a00));
        a10 = __smlad(u.high, b, __smlad(u.low, a, a10));
        a = tosac_two(x + k), b = tosac_two(x + k + 2);
        a01 = __smlad(v.high, b, __smlad(v.low, a, a01));
        a11 = __smlad(u.high, b, __smlad(u.low, a, a11));
    }
    for (int32_t n = k & 3; n > 0; n--, w++, x++) {
        a00 = tosac_add(a00, w[0] * x[0]), a01 = tosac_add(a01, w[0] * x[k]);
        a10 = tosac_add(a10, w[k] * x[0]), a11 = tosac_add(a11, w[k] * x[k]);
    }
    sum[0] = a00, sum[1] = a01, sum[2] = a10, sum[3] = a11;
}

static inline int32_t product(const int16_t *x, const int8_t *w, int32_t k, int32_t sum)
{
    for (const int8_t *end = w + (k & ~3); w < end; w += 4, x += 4) {
        const tosac_pairs v = tosac_pairs_at(w);
        sum = __smlad(v.high, tosac_two(x + 2), __smlad(v.low, tosac_two(x), sum));
    }
    for (int32_t n = k & 3; n > 0; n--)
        sum = tosac_add(sum, *x++ * *w++);
    return sum;
}

/* One column times four rows. */
static inline void fan(const int16_t *x, const int8_t *w, int32_t k, int32_t sum[4])
{
    int32_t a0 = sum[0], a1 = sum[1], a2 = sum[2], a3 = sum[3];
    const int8_t *w2 = w + 2 * k;
    for (const int16_t *end = x + (k & ~3); x < end; x += 4, w += 4, w2 += 4) {
        const int16x2_t a = tosac_two(x), b = tosac_two(x + 2);
        tosac_pairs v = tosac_pairs_at(w);
        a0 = __smlad(v.high, b, __smlad(v.low, a, a0));
        v = tosac_pairs_at(w + k);
        a1 = __smlad(v.high, b, __smlad(v.low, a, a1));
        v = tosac_pairs_at(w2);
        a2 = __smlad(v.high, b, __smlad(v.low, a, a2));
        v = tosac_pairs_at(w2 + k);
        a3 = __smlad(v.high, b, __smlad(v.low, a, a3));
    }
    for (int32_t n = k & 3; n > 0; n--, x++, w++, w2++) {
        a0 = tosac_add(a0, w[0] * x[0]), a1 = tosac_add(a1, w[k] * x[0]);
        a2 = tosac_add(a2, w2[0] * x[0]), a3 = tosac_add(a3, w2[k] * x[0]);
    }
    sum[0] = a0, sum[1] = a1, sum[2] = a2, sum[3] = a3;
}

#endif

#include "tosac_conv2d.h"

void tosac_conv2d_s16(const tosac_window *p, const int16_t *x, const int8_t *w,
                      const int32_t *bias, int16_t *out, int16_t *columns)
{
    convolve(p, x, w, bias, out, columns);
}
