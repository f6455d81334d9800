/* SPDX-License-Identifier: Apache-2.0 */
/* shader_steps.h -- how steps of arithmetic are written: one expression for n scalars. */
#ifndef TC_SHADER_STEPS_H
#define TC_SHADER_STEPS_H

#include <math.h>

#include "../num/half.h"
#include "shader.h"

/* Numbers of i->bits bits, with their sign. */
static inline int64_t ti_sh_signed(uint64_t v, unsigned bits)
{
    return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

#define TC_SH_OF_16(v) ti_f16_to_f32((uint16_t)(v))
#define TC_SH_OF_32(v) ti_f32_of((uint32_t)(v))
#define TC_SH_OF_64(v) ti_f64_of(v)
#define TC_SH_TO_16(v) ti_f32_to_f16(v)
#define TC_SH_TO_32(v) ti_f32_bits(v)
#define TC_SH_TO_64(v) ti_f64_bits(v)

#define TC_SH_FLOOR(v) _Generic((v), float: floorf, double: floor)(v)
#define TC_SH_TRUNC(v) _Generic((v), float: truncf, double: trunc)(v)

/* Integers: x, y, z zero-extended; `bits`, `mask`. */
#define TC_SH_WHOLE(name, expression)                                                              \
    static const tc_sh_ins *name(tc_sh_machine *m, const tc_sh_ins *i)                            \
    {                                                                                              \
        uint64_t *out = m->r + i->out;                                                             \
        const uint64_t *a = m->r + i->a, *b = m->r + i->b, *c = m->r + i->c;                       \
        const unsigned bits = i->bits;                                                             \
        const uint64_t mask = UINT64_MAX >> (64 - bits);                                           \
        for (unsigned k = 0; k < i->n; k++) {                                                      \
            uint64_t x = a[k], y = b[k], z = c[k];                                                 \
            (void)y, (void)z;                                                                      \
            out[k] = (uint64_t)(expression)&mask;                                                  \
        }                                                                                          \
        return i + 1;                                                                              \
    }

#define TC_SH_REAL_STEP(name, width, real, to, expression)                                         \
    static const tc_sh_ins *name(tc_sh_machine *m, const tc_sh_ins *i)                            \
    {                                                                                              \
        uint64_t *out = m->r + i->out;                                                             \
        const uint64_t *a = m->r + i->a, *b = m->r + i->b, *c = m->r + i->c;                       \
        for (unsigned k = 0; k < i->n; k++) {                                                      \
            real x = TC_SH_OF_##width(a[k]), y = TC_SH_OF_##width(b[k]),                           \
                 z = TC_SH_OF_##width(c[k]);                                                       \
            (void)y, (void)z;                                                                      \
            out[k] = to(expression);                                                               \
        }                                                                                          \
        return i + 1;                                                                              \
    }

/* Reals: `expression` on x, y, z in f32 (f16 rounds the result) and in f64. */
#define TC_SH_REAL(name, expression)                                                               \
    TC_SH_REAL_STEP(name##_16, 16, float, TC_SH_TO_16, expression)                                 \
    TC_SH_REAL_STEP(name##_32, 32, float, TC_SH_TO_32, expression)                                 \
    TC_SH_REAL_STEP(name##_64, 64, double, TC_SH_TO_64, expression)
/* Without f64. */
#define TC_SH_REAL_32(name, expression)                                                            \
    TC_SH_REAL_STEP(name##_16, 16, float, TC_SH_TO_16, expression)                                 \
    TC_SH_REAL_STEP(name##_32, 32, float, TC_SH_TO_32, expression)
/* Comparisons. */
#define TC_SH_TRUTH(name, expression)                                                              \
    TC_SH_REAL_STEP(name##_16, 16, float, (uint64_t), expression)                                  \
    TC_SH_REAL_STEP(name##_32, 32, float, (uint64_t), expression)                                  \
    TC_SH_REAL_STEP(name##_64, 64, double, (uint64_t), expression)

#endif
