/* SPDX-License-Identifier: Apache-2.0 */
/* int_rescale_body.h -- int_rescale.c's loop of one scale. */
#include "width_x86.h"

TARGET TC_INLINE void W(alike_)(const tc_rescale *r, tc_dtype from, tc_dtype to, const void *x,
                                size_t n, void *y)
{
    const V m = MM(set1_epi32)(r->m), half = W(all64_)(r->half), zero = MM(set1_epi32)(r->x_zero);
    const V lo = MM(set1_epi32)(r->narrow.lo), hi = MM(set1_epi32)(r->narrow.hi);
    const __m128i left = _mm_cvtsi32_si128(r->left), right = _mm_cvtsi32_si128(r->right);
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        V v = MM(sub_epi32)(W(load)(from, x, i), zero);
        V even = MM(add_epi64)(MM(mul_epi32)(v, m), half);
        V odd = MM(add_epi64)(MM(mul_epi32)(MM(srli_epi64)(v, 32), m), half);
        v = W(ti_highs)(MM(sll_epi64)(even, left), MM(sll_epi64)(odd, left));
        v = MM(min_epi32)(MM(max_epi32)(MM(sra_epi32)(v, right), lo), hi);
        W(store)(to, y, i, v);
    }
    alike_from(r, x, i, n, y);
}
#undef WIDTH
#include "width_x86.h"
