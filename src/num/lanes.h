/* SPDX-License-Identifier: Apache-2.0 */
/* lanes.h -- a loop over elements, compiled once for each width of vector registers.
 *
 * The widest that ti_isa() allows runs.  Every version gives the same bits: the compiler may not fuse a
 * product and a sum (-ffp-contract=off), and lanes are independent. */
#ifndef TC_LANES_H
#define TC_LANES_H

#include "../base/isa.h"

#define TC_LANES_BODY static inline __attribute__((always_inline)) void

/* name(params) runs body(args); body is TC_LANES_BODY; linkage: static, or nothing. */
#if defined(__x86_64__)
#define TC_LANES(linkage, name, body, params, args)                                                \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl"))) static void body##_512 params    \
    {                                                                                              \
        body args;                                                                                 \
    }                                                                                              \
    __attribute__((target("avx2"))) static void body##_256 params                                  \
    {                                                                                              \
        body args;                                                                                 \
    }                                                                                              \
    linkage void name params                                                                       \
    {                                                                                              \
        if (ti_isa_is_avx512(ti_isa()))                                                            \
            body##_512 args;                                                                       \
        else if (ti_isa() == TC_ISA_avx2)                                                          \
            body##_256 args;                                                                       \
        else                                                                                       \
            body args;                                                                             \
    }
#else
#define TC_LANES(linkage, name, body, params, args)                                                \
    linkage void name params                                                                       \
    {                                                                                              \
        body args;                                                                                 \
    }
#endif

#endif
