/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_sums.c -- sums along an axis and their RESCALE, which is what a mean is. */
#include "tosac_simd.h"

#if TOSAC_ISA == TOSAC_ISA_MVE

enum { LANES = 4 };

/* The next `lanes` of x, one row after the other. */
static int32x4_t sums_at(const tosac_added *p, const void *x, int32_t at, mve_pred16_t lanes)
{
    int32x4_t s = vdupq_n_s32(p->bias);
    if (p->type == TOSAC_I8)
        for (const int8_t *v = (const int8_t *)x + at, *end = v + p->n * p->inner; v < end; v += p->inner)
            s = vaddq_s32(s, vldrbq_z_s32(v, lanes));
    else
        for (const int16_t *v = (const int16_t *)x + at, *end = v + p->n * p->inner; v < end; v += p->inner)
            s = vaddq_s32(s, vldrhq_z_s32(v, lanes));
    return s;
}

static void line(const tosac_added *p, const void *x, int32_t at, void *out, int32_t to)
{
    const tosac_four by = tosac_four_of(&p->q, vdupq_n_s32(p->q.multiplier[0]), vdupq_n_s32(p->q.shift[0]));
    for (int32_t i = 0; i < p->inner; i += LANES) {
        const mve_pred16_t lanes = vctp32q((uint32_t)(p->inner - i));
        const int32x4_t v = tosac_requantize4(&p->q, sums_at(p, x, at + i, lanes), &by);
        if (p->result == TOSAC_I8)
            vstrbq_p_s32((int8_t *)out + to + i, v, lanes);
        else
            vstrhq_p_s32((int16_t *)out + to + i, v, lanes);
    }
}

#else

static int32_t sum_at(const tosac_added *p, const void *x, int32_t at)
{
    int32_t s = p->bias;
    if (p->type == TOSAC_I8)
        for (const int8_t *v = (const int8_t *)x + at, *end = v + p->n * p->inner; v < end; v += p->inner)
            s += *v;
    else
        for (const int16_t *v = (const int16_t *)x + at, *end = v + p->n * p->inner; v < end; v += p->inner)
            s += *v;
    return s;
}

static void line(const tosac_added *p, const void *x, int32_t at, void *out, int32_t to)
{
    const tosac_one by = tosac_one_of(&p->q, 0);
    for (int32_t i = 0; i < p->inner; i++) {
        const int32_t v = tosac_requantize1(&p->q, sum_at(p, x, at + i), &by);
        if (p->result == TOSAC_I8)
            ((int8_t *)out)[to + i] = (int8_t)v;
        else
            ((int16_t *)out)[to + i] = (int16_t)v;
    }
}

#endif

void tosac_sum(const tosac_added *p, const void *x, void *out)
{
    for (int32_t o = 0; o < p->outer; o++)
        line(p, x, o * p->n * p->inner, out, o * p->inner);
}
