/* SPDX-License-Identifier: Apache-2.0 */
/* machine_u65.c -- Arm Ethos-U65: the U55 with another memory system. */
#include "machine.h"

const tc_machine tc_machine_u65 = {
    .name = "ethos-u65-",
    .sizes = " 256 512 ",
    .title = "Ethos-U65",
    .spec = "TOSA-1.0+INT+int16+int4+doubleround+inexactround+u55+dynamic",
    .forms = TC_FORMS_U55,
    .packing = TC_PACKED_STREAM,
    .backend = "EthosUBackend",
    .limits = TC_LIMITS_NPU | TC_LIMITS_SMALL,
    .can = {.loops = true, .stride = TC_NPU_STRIDE},
    .cost = {.slices = 1024,
             .skip_step = TC_NPU_STRIDE,
             .block_channels = 256,
             .affine_by_conv = true},
    .system_config = "Ethos_U65_High_End",
    .memory_mode = "Dedicated_Sram_384KB",
};
