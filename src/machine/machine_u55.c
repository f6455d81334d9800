/* SPDX-License-Identifier: Apache-2.0 */
/* machine_u55.c -- Arm Ethos-U55: 8 and 16 bits, no list lookups, no bools. */
#include "machine.h"

const tc_npu_timing tc_timing_u55 = {.edge = 1,
                                     .soft = 0.02,
                                     .sram_share = 0.95,
                                     .refused = 16,
                                     .weight_block = 0.2,
                                     .input_reads = 24,
                                     .buffer_share = 0.9,
                                     .copy_share = 0.9,
                                     .flight = 0.5,
                                     .copy_end = 0.5,
                                     .stream_begin = 2};

#define SIZE(macs_, config_, h_, w_, depth_, banks_, ...)                                          \
    {                                                                                              \
        .name = "ethos-u55-" #macs_, .product = TC_U55, .config = config_, .id = 0x10066001,       \
        .macs = macs_, .cores = 1, .microblock = {{h_, w_, depth_}}, .most = {32, 64, 128},        \
        .max_kernels = 2, .max_dmas = 1, .banks = banks_, .timing = &tc_timing_u55, .granule = {                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* clang-format off */
static const tc_npu_machine sizes[] = {
    /*    CONFIG      microblock  banks  granules */
    SIZE( 32, 0x00001005,  1, 1, 4,  16,  2, 2, 2, 2,  4, 4,  4,  4),
    SIZE( 64, 0x00001006,  1, 1, 8,  16,  2, 2, 2, 2,  4, 4,  4,  8),
    SIZE(128, 0x00001807,  1, 2, 8,  24,  4, 4, 4, 4,  8, 4,  8, 12),
    SIZE(256, 0x00003008,  2, 2, 8,  48,  8, 8, 8, 8, 16, 8, 16, 20),
};
/* clang-format on */

static const tc_npu_setup systems[] = {
    {"Ethos_U55_Deep_Embedded", 200, {"Sram", "OffChipFlash"},
     {{1.0, 32, 32, 32, 8, 8, 1}, {0.0625, 128, 64, 0, 2, 0, 1}}},
    {"Ethos_U55_High_End_Embedded", 500, {"Sram", "OffChipFlash"},
     {{1.0, 32, 32, 32, 4, 4, 1}, {0.125, 128, 64, 0, 2, 0, 1}}},
    /* The timing adapters of Arm's simulator, as the ML embedded evaluation kit sets them. */
    {"FVP_U55_High_End", 500, {"Sram", "OffChipFlash"},
     {{1.0, 32, 32, 32, 8, 8, 1}, {0.125, 128, 64, 0, 2, 0, 1}}},
};

const tc_machine tc_machine_u55 = {
    .name = "ethos-u55-",
    .npu = sizes,
    .n_npu = TC_COUNT(sizes),
    .title = "Ethos-U55",
    .spec = "TOSA-1.0+INT+int16+int4+doubleround+inexactround+u55+dynamic",
    .shapes = true,
    .packing = TC_PACKED_STREAM,
    .backend = "EthosUBackend",
    .can = {.loops = true, .products_by_conv = true, .stride = TC_NPU_STRIDE, .acc_bits = 40},
    .cost = {.slices = 1024,
             .skip_step = TC_NPU_STRIDE,
             .block_channels = 256,
             .affine_by_conv = true},
    .systems = systems,
    .n_system = TC_COUNT(systems),
    .system_config = "Ethos_U55_High_End_Embedded",
    .memory_mode = "Shared_Sram",
};
