/* SPDX-License-Identifier: Apache-2.0 */
/* machine_u85.c -- Arm Ethos-U85: all of TOSA's integers, control flow too, Vela between. */
#include "machine.h"

const tc_machine tc_machine_u85 = {
    .name = "ethos-u85-",
    .sizes = " 128 256 512 1024 2048 ",
    .title = "Ethos-U85",
    .spec = "TOSA-1.0+INT+int16+int4+doubleround+inexactround+cf+dynamic",
    .forms = TC_FORMS_U85,
    .packing = TC_PACKED_STREAM,
    .backend = "EthosUBackend",
    .limits = TC_LIMITS_NPU,
    .can = {.gathers = true,
            .divides = true,
            .selects = true,
            .resizes = true,
            .loops = true,
            .reverses_last = true,
            .scales_operands = true,
            .reduces_i32 = true,
            .deep_kernels = true,
            .wide_tables = true,
            .stride = TC_NPU_STRIDE},
    .cost = {.matrix_row = 128,
             .slices = 8,
             .tree_side = 8,
             .skip_step = TC_NPU_STRIDE,
             .block_channels = 256},
    .system_config = "Ethos_U85_SYS_DRAM_Mid",
    .memory_mode = "Sram_Only",
};
