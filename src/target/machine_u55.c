/* SPDX-License-Identifier: Apache-2.0 */
/* machine_u55.c -- Arm Ethos-U55: 8 and 16 bits, no list lookups, no bools, Vela between. */
#include "machine.h"

const tc_machine tc_machine_u55 = {
    .name = "ethos-u55-",
    .sizes = " 32 64 128 256 ",
    .title = "Ethos-U55",
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
    .system_config = "Ethos_U55_High_End_Embedded",
    .memory_mode = "Shared_Sram",
};
