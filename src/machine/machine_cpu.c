/* SPDX-License-Identifier: Apache-2.0 */
/* machine_cpu.c -- no accelerator: ExecuTorch's kernels run everything. */
#include "machine.h"

const tc_machine tc_machine_cpu = {
    .name = "cpu",
    .title = "the CPU",
    .packing = TC_PACKED_NOT,
    .can = {.gathers = true,
            .divides = true,
            .selects = true,
            .loops = true,
            .reverses_last = true,
            .scales_operands = true,
            .reduces_i32 = true,
            .deep_kernels = true,
            .wide_tables = true,
            .stride = INT64_MAX},
};
