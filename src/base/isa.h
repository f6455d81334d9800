/* SPDX-License-Identifier: Apache-2.0 */
/* isa.h -- which vector instructions this processor has; detected once.
 *
 * Every level gives the same bits; tests run all levels of the machine. */
#ifndef TC_ISA_H
#define TC_ISA_H

#include "base.h"

typedef enum tc_isa {
    TC_ISA_plain,  /* C alone */
    TC_ISA_neon,   /* 64-bit Arm */
    TC_ISA_dot,    /* the same, and dot products of bytes */
    TC_ISA_avx2,   /* x86 */
    TC_ISA_avx512, /* with BW and VNNI */
    TC_ISA_amx,    /* the same, and tiles of bytes */
    TC_ISA_COUNT
} tc_isa;

/* The best level here, or the one named by TOSAC_ISA, if available. */
tc_isa ti_isa(void);
bool ti_isa_here(tc_isa isa);
/* Whether there are instructions for SHA-256 too, which x86 has or lacks at any level. */
bool ti_isa_hashes(tc_isa isa);

/* At least AVX-512 with VNNI. */
static inline bool ti_isa_is_avx512(tc_isa isa)
{
    return isa == TC_ISA_avx512 || isa == TC_ISA_amx;
}

const char *ti_isa_name(tc_isa isa);

#if defined(__x86_64__)
#define TC_X86 1
#define TC_AVX2 __attribute__((target("avx2,fma")))
#define TC_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))
#endif
#if defined(__aarch64__)
#define TC_DOT __attribute__((target("arch=armv8.2-a+dotprod")))
#endif
#define TC_INLINE static inline __attribute__((always_inline))

#endif
