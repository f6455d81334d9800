/* SPDX-License-Identifier: Apache-2.0 */
/* tosac_reduce.c -- REDUCE_SUM, _MAX, _MIN, _ALL, _ANY along one axis. */
#include "tosac_vector.h"

static int32_t joined(tosac_reduction what, int32_t a, int32_t b)
{
    switch (what) {
    case TOSAC_SUM:
        return tosac_add(a, b);
    case TOSAC_MAX:
        return tosac_max(a, b);
    case TOSAC_MIN:
        return tosac_min(a, b);
    case TOSAC_ALL:
        return a & b;
    default:
        return a | b;
    }
}

#if TOSAC_ISA == TOSAC_ISA_MVE

/* n neighbours to one: SUM, MAX or MIN. */
static int32_t joined_all(tosac_reduction what, tosac_type type, int32_t n, const void *x)
{
    int32_t v = what == TOSAC_SUM ? 0 : what == TOSAC_MAX ? INT32_MIN : INT32_MAX;
    for (int32_t i = 0; i < n; i += 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)(n - i));
        const tosac_v e = type == TOSAC_I8    ? tosac_vload_int8_t((const int8_t *)x + i, lanes)
                          : type == TOSAC_I16 ? tosac_vload_int16_t((const int16_t *)x + i, lanes)
                                              : tosac_vload_int32_t((const int32_t *)x + i, lanes);
        v = what == TOSAC_SUM   ? vaddvaq_p_s32(v, e, lanes)
            : what == TOSAC_MAX ? vmaxvq_p_s32(v, e, lanes)
                                : vminvq_p_s32(v, e, lanes);
    }
    return v;
}

static int32_t is_vector(tosac_reduction what, tosac_type type, int32_t n, int32_t inner)
{
    return inner == 1 && n >= 8 && what <= TOSAC_MIN && type >= TOSAC_I8 && type <= TOSAC_I32;
}

#else

static int32_t is_vector(tosac_reduction what, tosac_type type, int32_t n, int32_t inner)
{
    return (void)what, (void)type, (void)n, (void)inner, 0;
}
static int32_t joined_all(tosac_reduction what, tosac_type type, int32_t n, const void *x)
{
    return (void)what, (void)type, (void)n, (void)x, 0;
}

#endif

static int32_t bytes_of(tosac_type type) { return type == TOSAC_I8 ? 1 : type == TOSAC_I16 ? 2 : 4; }

void tosac_reduce(tosac_reduction what, tosac_type type, int32_t outer, int32_t n, int32_t inner,
                  const void *x, void *out)
{
    for (int32_t o = 0; o < outer && is_vector(what, type, n, inner); o++)
        tosac_store(out, type, o,
                    joined_all(what, type, n, (const char *)x + o * n * bytes_of(type)));
    for (int32_t o = 0; o < outer && !is_vector(what, type, n, inner); o++)
        for (int32_t i = 0; i < inner; i++) {
            int32_t at = o * n * inner + i, v = (int32_t)tosac_load(x, type, at);
            for (int32_t k = 1; k < n; k++)
                v = joined(what, v, (int32_t)tosac_load(x, type, at + k * inner));
            tosac_store(out, type, o * inner + i, v);
        }
}
