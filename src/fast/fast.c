/* SPDX-License-Identifier: Apache-2.0 */
/* fast.c -- see fast.h. */
#include "fast.h"

static tc_isa chosen = TC_ISA_COUNT;

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
#endif
#if defined(__aarch64__)
    case TC_ISA_neon:
        return true;
#endif
    default:
        return false;
    }
}

tc_isa tc_fast_isa(void)
{
    if (chosen == TC_ISA_COUNT)
        for (int isa = TC_ISA_plain; isa < TC_ISA_COUNT; isa++)
            if (have((tc_isa)isa))
                chosen = (tc_isa)isa;
    return chosen;
}

bool tc_fast_use(tc_isa isa)
{
    if (!have(isa))
        return false;
    chosen = isa;
    return true;
}

const char *tc_isa_name(tc_isa isa)
{
    static const char *const name[] = {"plain", "neon", "avx2", "avx512"};
    return name[isa];
}
