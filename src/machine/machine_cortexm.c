/* SPDX-License-Identifier: Apache-2.0 */
/* machine_cortexm.c -- Cortex-M: TOSA's integers as plain C, for three sets of instructions.
 *
 * Cycles an instruction are guesses: loads and branches of two cycles, two instructions at a time on M7 and
 * M85, vectors of two beats on M55.  Rescales round as TFLM's and ExecuTorch's kernels for these cores do: DOUBLE_ROUND. */
#include "machine.h"

#define CORTEX_M(id, text, what, set, speed, each)                                                 \
    const tc_machine tc_machine_##id = {                                                           \
        .name = text,                                                                              \
        .title = what,                                                                             \
        .spec = "TOSA-1.0+INT+int16+int4+doubleround+inexactround+var+cf+dynamic",                 \
        .packing = TC_PACKED_C,                                                                    \
        .core = set,                                                                               \
        .pace = speed,                                                                             \
        .cycles = each,                                                                            \
        .can = {.gathers = true,                                                                   \
                .divides = true,                                                                   \
                .selects = true,                                                                   \
                .resizes = true,                                                                   \
                .loops = true,                                                                     \
                .reverses_last = true,                                                             \
                .scales_operands = true,                                                           \
                .reduces_i32 = true,                                                               \
                .deep_kernels = true,                                                              \
                .wide_tables = true,                                                               \
                .rounds_twice = true,                                                              \
                .stride = INT64_MAX},                                                              \
    }

CORTEX_M(m0plus, "cortex-m0plus", "Cortex-M0+", TC_CORE_C, TC_PACE_V6M, 1.4);
CORTEX_M(m3, "cortex-m3", "Cortex-M3", TC_CORE_C, TC_PACE_V7M, 1.3);
CORTEX_M(m4, "cortex-m4", "Cortex-M4", TC_CORE_DSP, TC_PACE_DSP, 1.2);
CORTEX_M(m7, "cortex-m7", "Cortex-M7", TC_CORE_DSP, TC_PACE_DSP, 0.7);
CORTEX_M(m33, "cortex-m33", "Cortex-M33", TC_CORE_DSP, TC_PACE_DSP, 1.2);
CORTEX_M(m55, "cortex-m55", "Cortex-M55", TC_CORE_MVE, TC_PACE_MVE, 1.3);
CORTEX_M(m85, "cortex-m85", "Cortex-M85", TC_CORE_MVE, TC_PACE_MVE, 0.9);
