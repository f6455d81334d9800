/* SPDX-License-Identifier: Apache-2.0 */
/* machine_cortexm.c -- Cortex-M: TOSA's integers as plain C, for three sets of instructions.
 *
 * Cycles an instruction come from published times (doc/cortex-m.md): clock / inferences a second / instructions
 * of the same network.  Measured were runtimes on CMSIS-NN, not our kernels.  Rescales round as TFLM's and ExecuTorch's kernels for these cores do: DOUBLE_ROUND. */
#include "machine.h"

#define CORTEX_M(id, text, what, set, speed, ...)                                                 \
    const tc_machine tc_machine_##id = {                                                           \
        .name = text,                                                                              \
        .title = what,                                                                             \
        .spec = "TOSA-1.0+INT+int16+int4+doubleround+inexactround+var+cf+dynamic",                 \
        .packing = TC_PACKED_C,                                                                    \
        .core = set,                                                                               \
        .pace = speed,                                                                             \
        .cycles = {__VA_ARGS__},                                                                            \
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

/* By other runtimes on M4 and here; no measurement (M4's, wider). */
CORTEX_M(m0plus, "cortex-m0plus", "Cortex-M0+", TC_CORE_C, TC_PACE_V6M, 1.8, 1.3, 2.4);
CORTEX_M(m3, "cortex-m3", "Cortex-M3", TC_CORE_C, TC_PACE_V7M, 1.45, 1.1, 1.9);
/* 19 points on two chips; 58 by other runtimes on M4 and here, two chips; 12 points on two chips. */
CORTEX_M(m4, "cortex-m4", "Cortex-M4", TC_CORE_DSP, TC_PACE_DSP, 1.45, 1.15, 1.8);
CORTEX_M(m7, "cortex-m7", "Cortex-M7", TC_CORE_DSP, TC_PACE_DSP, 0.85, 0.65, 1.1);
CORTEX_M(m33, "cortex-m33", "Cortex-M33", TC_CORE_DSP, TC_PACE_DSP, 1.35, 1.15, 1.65);
/* 8 layers of one network; 4 points on one chip. */
CORTEX_M(m55, "cortex-m55", "Cortex-M55", TC_CORE_MVE, TC_PACE_MVE, 1.4, 1.05, 1.6);
CORTEX_M(m85, "cortex-m85", "Cortex-M85", TC_CORE_MVE, TC_PACE_MVE, 1.05, 0.85, 1.75);
