/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_conv2d_s8.h -- tosac_conv2d.h of int8. */
#include "tosac_vector.h"

typedef int8_t element;

#if TOSAC_ISA == TOSAC_ISA_MVE

#define USUAL TOSAC_DOUBLE

/* Four rows of the weights, and what their sums begin with. */
typedef struct four_rows {
    const int8_t *w[4];
    int32_t bias[4];
} four_rows;

/* Sums of k products of a column with each of four rows. */
TOSAC_INLINE int32x4_t products(const int8_t *x, const four_rows *r, int32_t k)
{
#if defined(__GNUC__)
    int32x4_t v;
    const int8_t *w0, *w1, *w2, *w3;
    int32_t a0, a1, a2, a3;
    __asm__("ldrd %[w0], %[w1], [%[r]]\n"
            "ldrd %[w2], %[w3], [%[r], #8]\n"
            "ldrd %[a0], %[a1], [%[r], #16]\n"
            "ldrd %[a2], %[a3], [%[r], #24]\n"
            "wlstp.8 lr, %[k], 2f\n"
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
            "2: vmov %q[v][2], %q[v][0], %[a0], %[a2]\n"
            "vmov %q[v][3], %q[v][1], %[a1], %[a3]\n"
            : [v] "=w"(v), [x] "+r"(x), [w0] "=&r"(w0), [w1] "=&r"(w1), [w2] "=&r"(w2),
              [w3] "=&r"(w3), [a0] "=&Te"(a0), [a1] "=&Te"(a1), [a2] "=&Te"(a2), [a3] "=&Te"(a3)
            : [r] "r"(r), [k] "r"(k)
            : "q0", "q1", "q2", "q3", "lr", "memory");
    return v;
#else
    const int8_t *w0 = r->w[0], *w1 = r->w[1], *w2 = r->w[2], *w3 = r->w[3];
    int32_t a0 = r->bias[0], a1 = r->bias[1], a2 = r->bias[2], a3 = r->bias[3];
    for (; k > 0; k -= 16, x += 16, w0 += 16, w1 += 16, w2 += 16, w3 += 16) {
        mve_pred16_t lanes = vctp8q((uint32_t)k);
        int8x16_t v = vldrbq_z_s8(x, lanes);
        a0 = vmladavaq_s8(a0, v, vldrbq_z_s8(w0, lanes));
        a1 = vmladavaq_s8(a1, v, vldrbq_z_s8(w1, lanes));
        a2 = vmladavaq_s8(a2, v, vldrbq_z_s8(w2, lanes));
        a3 = vmladavaq_s8(a3, v, vldrbq_z_s8(w3, lanes));
    }
    return (int32x4_t){a0, a1, a2, a3};
#endif
}

#elif TOSAC_ISA == TOSAC_ISA_DSP

/* Bytes 0 and 2, 1 and 3, of both. */
TOSAC_INLINE tosac_pairs elements(const int8_t *x)
{
    const uint32_t v = tosac_word(x);
    return (tosac_pairs){tosac_even(v), tosac_odd(v)};
}
TOSAC_INLINE tosac_pairs weights(const int8_t *w) { return elements(w); }

#endif

#include "tosac_conv2d.h"
