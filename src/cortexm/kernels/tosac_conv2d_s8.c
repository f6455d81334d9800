/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_conv2d_s8.c -- CONV2D and fully connected layers of int8: tosac_conv2d.h. */
#include "tosac_simd.h"

typedef int8_t element;

#if TOSAC_ISA == TOSAC_ISA_MVE

TOSAC_INLINE void put4(int8_t *to, int32x4_t v, mve_pred16_t lanes) { vstrbq_p_s32(to, v, lanes); }

/* Sums of k products of a column with each of four rows. */
static inline int32x4_t products(const int8_t *x, const int8_t *w0, const int8_t *w1,
                                 const int8_t *w2, const int8_t *w3, int32_t k)
{
    int32_t a0 = 0, a1 = 0, a2 = 0, a3 = 0;
#if defined(__GNUC__)
    __asm__ volatile("wlstp.8 lr, %[k], 2f\n"
                     "1: vldrb.8 q0, [%[x]], #16\n"
                     "vldrb.8 q1, [%[w0]], #16\n"
                     "vmladava.s8 %[a0], q0, q1\n"
                     "vldrb.8 q2, [%[w1]], #16\n"
                     "vmladava.s8 %[a1], q0, q2\n"
                     "vldrb.8 q3, [%[w2]], #16\n"
                     "vmladava.s8 %[a2], q0, q3\n"
                     "vldrb.8 q1, [%[w3]], #16\n"
                     "vmladava.s8 %[a3], q0, q1\n"
                     "letp lr, 1b\n"
                     "2:\n"
                     : [x] "+r"(x), [w0] "+r"(w0), [w1] "+r"(w1), [w2] "+r"(w2), [w3] "+r"(w3),
                       [a0] "+Te"(a0), [a1] "+Te"(a1), [a2] "+Te"(a2), [a3] "+Te"(a3)
                     : [k] "r"(k)
                     : "q0", "q1", "q2", "q3", "lr", "memory");
#else
    for (; k > 0; k -= 16, x += 16, w0 += 16, w1 += 16, w2 += 16, w3 += 16) {
        mve_pred16_t lanes = vctp8q((uint32_t)k);
        int8x16_t v = vldrbq_z_s8(x, lanes);
        a0 = vmladavaq_s8(a0, v, vldrbq_z_s8(w0, lanes));
        a1 = vmladavaq_s8(a1, v, vldrbq_z_s8(w1, lanes));
        a2 = vmladavaq_s8(a2, v, vldrbq_z_s8(w2, lanes));
        a3 = vmladavaq_s8(a3, v, vldrbq_z_s8(w3, lanes));
    }
#endif
    return (int32x4_t){a0, a1, a2, a3};
}

#elif TOSAC_ISA == TOSAC_ISA_DSP

/* Two columns times two rows, four bytes of each at a time. */
static inline void products(const int8_t *x, const int8_t *w, int32_t k, int32_t bias0,
                            int32_t bias1, int32_t sum[4])
{
    int32_t a00 = bias0, a01 = bias0, a10 = bias1, a11 = bias1;
    for (const int8_t *end = w + (k & ~3); w < end; w += 4, x += 4) {
        uint32_t v = tosac_word(w);
        int16x2_t e0 = tosac_even(v), o0 = tosac_odd(v), e, o;
        v = tosac_word(w + k);
        int16x2_t e1 = tosac_even(v), o1 = tosac_odd(v);
        v = tosac_word(x);
        e = tosac_even(v), o = tosac_odd(v);
        a00 = __smlad(o0, o, __smlad(e0, e, a00));
        a10 = __smlad(o1, o, __smlad(e1, e, a10));
        v = tosac_word(x + k);
        e = tosac_even(v), o = tosac_odd(v);
        a01 = __smlad(o0, o, __smlad(e0, e, a01));
        a11 = __smlad(o1, o, __smlad(e1, e, a11));
    }
    for (int32_t n = k & 3; n > 0; n--, w++, x++) {
        a00 += w[0] * x[0], a01 += w[0] * x[k];
        a10 += w[k] * x[0], a11 += w[k] * x[k];
    }
    sum[0] = a00, sum[1] = a01, sum[2] = a10, sum[3] = a11;
}

static inline int32_t product(const int8_t *x, const int8_t *w, int32_t k, int32_t sum)
{
    for (const int8_t *end = w + (k & ~3); w < end; w += 4, x += 4) {
        uint32_t a = tosac_word(x), b = tosac_word(w);
        sum = __smlad(tosac_even(a), tosac_even(b), sum);
        sum = __smlad(tosac_odd(a), tosac_odd(b), sum);
    }
    for (int32_t n = k & 3; n > 0; n--)
        sum += *x++ * *w++;
    return sum;
}

/* One column times four rows. */
static inline void fan(const int8_t *x, const int8_t *w, int32_t k, int32_t sum[4])
{
    int32_t a0 = sum[0], a1 = sum[1], a2 = sum[2], a3 = sum[3];
    const int8_t *w2 = w + 2 * k;
    for (const int8_t *end = x + (k & ~3); x < end; x += 4, w += 4, w2 += 4) {
        uint32_t v = tosac_word(x), r = tosac_word(w);
        int16x2_t e = tosac_even(v), o = tosac_odd(v);
        a0 = __smlad(tosac_odd(r), o, __smlad(tosac_even(r), e, a0));
        r = tosac_word(w + k);
        a1 = __smlad(tosac_odd(r), o, __smlad(tosac_even(r), e, a1));
        r = tosac_word(w2);
        a2 = __smlad(tosac_odd(r), o, __smlad(tosac_even(r), e, a2));
        r = tosac_word(w2 + k);
        a3 = __smlad(tosac_odd(r), o, __smlad(tosac_even(r), e, a3));
    }
    for (int32_t n = k & 3; n > 0; n--, x++, w++, w2++) {
        a0 += w[0] * x[0], a1 += w[k] * x[0];
        a2 += w2[0] * x[0], a3 += w2[k] * x[0];
    }
    sum[0] = a0, sum[1] = a1, sum[2] = a2, sum[3] = a3;
}

#endif

#include "tosac_conv2d.h"

void tosac_conv2d_s8(const tosac_window *p, const int8_t *x, const int8_t *w, const int32_t *bias,
                     int8_t *out, int8_t *columns)
{
    convolve(p, x, w, bias, out, columns);
}
