/* SPDX-License-Identifier: Apache-2.0 */
/* isa.c -- see isa.h. */
#define _DEFAULT_SOURCE /* syscall() */
#include "isa.h"

#include <pthread.h>
#include <stdlib.h>

#include "text.h"

#ifdef TC_X86
#include <cpuid.h>
#endif

#if defined(__linux__) && defined(TC_X86)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#if defined(__linux__) && defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#ifdef TC_X86
/* Tiles are there, and the kernel lets this process use them. */
static bool have_tiles(void)
{
#ifdef __linux__
    enum { ARCH_PRCTL = SYS_arch_prctl, REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    unsigned a, b, c, d = 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(d >> 24 & 1) || !(d >> 25 & 1))
        return false;
    return syscall(ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return false;
#endif
}
#endif

#if defined(__aarch64__)
static bool have_dot(void)
{
#ifdef __linux__
    return getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
#else
    return false;
#endif
}
#endif

static bool have(tc_isa isa)
{
    switch (isa) {
    case TC_ISA_plain:
        return true;
#ifdef TC_X86
    case TC_ISA_avx2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case TC_ISA_avx512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512vnni");
    case TC_ISA_amx:
        return have(TC_ISA_avx512) && have_tiles();
#endif
#if defined(__aarch64__)
    case TC_ISA_neon:
        return true;
    case TC_ISA_dot:
        return have_dot();
#endif
    default:
        return false;
    }
}

static const char *const name[TC_ISA_COUNT] = {"plain", "neon", "dot", "avx2", "avx512", "amx"};

/* Written once, before the first read. */
static tc_isa best;

static void find_best(void)
{
    const char *asked = getenv("TOSAC_ISA");
    best = TC_ISA_plain;
    for (int isa = TC_ISA_plain; isa < TC_ISA_COUNT; isa++)
        if (have((tc_isa)isa)) {
            best = (tc_isa)isa;
            if (asked && ti_text_eq(asked, name[isa]))
                return;
        }
}

tc_isa ti_isa(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_best);
    return best;
}

bool ti_isa_hashes(tc_isa isa)
{
#ifdef TC_X86
    enum { SHA = 29 };
    unsigned a, b = 0, c, d;
    return isa >= TC_ISA_avx2 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> SHA & 1);
#else
    (void)isa;
    return false;
#endif
}

bool ti_isa_here(tc_isa isa)
{
    return have(isa);
}

const char *ti_isa_name(tc_isa isa)
{
    return name[isa];
}
