/* SPDX-License-Identifier: Apache-2.0 */
/* machine_u65.c -- Arm Ethos-U65: the U55 with another memory system. */
#include "machine.h"

const tc_npu_timing tc_timing_u65 = {.edge = 1,
                                     .fixed = 160,
                                     .sram_begin = 4,
                                     .soft = 0.15,
                                     .sram_share = 1,
                                     .write_pulse = 1.1,
                                     .refused = 0,
                                     .weight_begin = 4,
                                     .input_begin = 3,
                                     .input_reads = 16,
                                     .buffer_share = 0.9,
                                     .copy_share = 0.9,
                                     .flight = 2,
                                     .copy_end = 1,
                                     .stream_begin = 2};

#define SIZE(macs_, config_, cores_, h_, w_, depth_, banks_, ...)                                  \
    {                                                                                              \
        .name = "ethos-u65-" #macs_, .product = TC_U65, .config = config_, .id = 0x10066001,       \
        .macs = macs_, .cores = cores_, .microblock = {{h_, w_, depth_}}, .most = {32, 64, 128},   \
        .max_kernels = 2, .max_dmas = 2, .banks = banks_, .timing = &tc_timing_u65, .granule = {                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* clang-format off */
static const tc_npu_machine sizes[] = {
    /*    CONFIG   cores  microblock banks  granules */
    SIZE(256, 0x10003008, 1,  2, 2, 8,  48,  8, 8, 8, 8, 16, 8, 16, 20),
    SIZE(512, 0x10006009, 2,  2, 2, 8,  48,  8, 8, 8, 8, 16, 8, 16, 20),
};
/* clang-format on */

static const tc_npu_setup systems[] = {
    {"Ethos_U65_Embedded", 500, {"Sram", "OffChipFlash"},
     {{1.0, 32, 32, 32, 8, 8, 1}, {0.0625, 128, 64, 0, 2, 0, 1}}},
    {"Ethos_U65_Mid_End", 500, {"Sram", "Dram"},
     {{1.0, 32, 32, 32, 8, 8, 1}, {0.46875, 128, 500, 250, 12, 6, 1}}},
    {"Ethos_U65_High_End", 1000, {"Sram", "Dram"},
     {{1.0, 32, 32, 32, 16, 16, 1}, {0.234375, 128, 500, 250, 24, 12, 1}}},
    {"Ethos_U65_Client_Server", 1000, {"Sram", "Dram"},
     {{1.0, 32, 32, 32, 16, 16, 1}, {0.75, 128, 500, 250, 24, 12, 1}}},
    /* The timing adapters of Arm's simulator, as the ML embedded evaluation kit sets them. */
    {"FVP_U65_High_End", 1000, {"Sram", "Dram"},
     {{1.0, 32, 32, 32, 16, 16, 1}, {0.234375, 128, 500, 250, 24, 12, 1}}},
};

const tc_machine tc_machine_u65 = {
    .name = "ethos-u65-",
    .npu = sizes,
    .n_npu = TC_COUNT(sizes),
    .title = "Ethos-U65",
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
    .system_config = "Ethos_U65_High_End",
    .memory_mode = "Dedicated_Sram_384KB",
};
