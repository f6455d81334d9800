/* SPDX-License-Identifier: Apache-2.0 */
/* machine_cpu.c -- no accelerator: ExecuTorch's kernels run everything. */
#include "machine.h"

const tc_machine tc_machine_cpu = {
    .name = "cpu",
    .title = "the CPU",
    .packing = TC_PACKED_NOT,
    .can = {TC_CAN_LARGE, .loops = true, .stride = INT64_MAX},
};
