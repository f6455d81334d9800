/* SPDX-License-Identifier: Apache-2.0 */
/* machine_u85.c -- Arm Ethos-U85: all of TOSA's integers, control flow too. */
#include "machine.h"

const tc_npu_timing tc_timing_u85 = {.edge = 0.75,
                                     .sram_begin = 2,
                                     .sram_reads = 0.4,
                                     .sram_most = 1.2,
                                     .write_pulse = 1.25,
                                     .refused = 30,
                                     .weight_begin = 5,
                                     .input_begin = 2,
                                     .input_share = 0.8,
                                     .buffer_share = 0.9,
                                     .copy_share = 0.8,
                                     .copy_end = 1,
                                     .first = 0.5,
                                     .stall = 0.15,
                                     .stream_begin = 2};

#define SIZE(macs_, config_, cores_, ifm_, acc_, chain_, out_, decoded_, copy_, weight_, in_, ...) \
    {                                                                                              \
        .name = "ethos-u85-" #macs_, .product = TC_U85, .config = config_, .id = 0x20007000,       \
        .macs = macs_, .cores = cores_, .microblock = {__VA_ARGS__}, .most = {128, 128, 1024},     \
        .max_kernels = 2, .max_dmas = 4, .ifm_ram = ifm_, .acc_ram = acc_, .chain_ram = chain_,    \
        .out_ram = out_, .timing = &tc_timing_u85, .decoded = decoded_, .copy_words = copy_,       \
        .weight_words = weight_, .ifm_words = in_                                                  \
    }

/* clang-format off */
static const tc_npu_machine sizes[] = {
    /*      CONFIG   cores  IFM    ACC   chain  out   decoded copy weight IFM  microblocks: 1x1 1x2 1x4 2x2 2x4 4x4 */
    SIZE( 128, 0x20000117, 1,  8192,   8192, 2048,   768, 16,  64, 128, 104, {1, 1, 16}, {1, 2, 8}),
    SIZE( 256, 0x20000118, 1, 16384,  16384, 2048,  1536, 16, 104, 128, 128, {0}, {1, 2, 16}, {1, 4, 8}, {2, 2, 8}),
    SIZE( 512, 0x20001119, 2, 16384,  32768, 4096,  3072, 32, 128, 256, 128, {0}, {0}, {1, 4, 16}, {2, 2, 16}),
    SIZE(1024, 0x2000251a, 4, 16384,  65536, 4096,  6144, 64, 256, 416, 256, {0}, {0}, {1, 4, 32}, {2, 2, 32}, {2, 4, 16}),
    SIZE(2048, 0x2000261b, 4, 32768, 131072, 8192, 12288, 64, 256, 512, 256, {0}, {0}, {1, 4, 64}, {2, 2, 64}, {0}, {4, 4, 16}),
};
/* clang-format on */

static const tc_npu_setup systems[] = {
    {"Ethos_U85_SYS_Flash_Low", 200, {"Sram", "OffChipFlash"},
     {{1.0, 64, 8, 8, 8, 8, 2}, {0.0625, 128, 32, 0, 2, 0, 1}}},
    {"Ethos_U85_SYS_Flash_High", 500, {"Sram", "OffChipFlash"},
     {{1.0, 64, 32, 32, 8, 8, 2}, {0.0625, 128, 64, 0, 2, 0, 1}}},
    /* Vela's file has 500 and 250 here, which is for 1 GHz; Arm's simulator runs with these. */
    {"Ethos_U85_SYS_DRAM_Low", 500, {"Sram", "Dram"},
     {{1.0, 64, 16, 16, 8, 8, 2}, {0.46875, 128, 250, 125, 24, 12, 1}}},
    {"Ethos_U85_SYS_DRAM_Mid", 1000, {"Sram", "Dram"},
     {{1.0, 64, 32, 32, 8, 8, 2}, {0.75, 128, 500, 250, 64, 32, 1}}},
    {"Ethos_U85_SYS_DRAM_High", 1000, {"Sram", "Dram"},
     {{1.0, 64, 32, 32, 8, 8, 4}, {0.75, 128, 500, 250, 64, 32, 2}}},
    /* The timing adapters of Arm's simulator, as the ML embedded evaluation kit sets them. */
    {"FVP_U85_Low", 500, {"Sram", "Dram"},
     {{1.0, 64, 16, 16, 8, 8, 2}, {0.46875, 128, 250, 125, 24, 12, 1}}},
    {"FVP_U85_Mid_512", 1000, {"Sram", "Dram"},
     {{1.0, 64, 32, 32, 8, 8, 2}, {0.75, 128, 500, 250, 0, 32, 1}}},
    {"FVP_U85_Mid_1024", 1000, {"Sram", "Dram"},
     {{1.0, 64, 32, 32, 8, 8, 2}, {0.75, 128, 500, 250, 0, 32, 2}}},
    {"FVP_U85_High_2048", 1000, {"Sram", "Dram"},
     {{1.0, 64, 32, 32, 8, 8, 4}, {0.75, 128, 500, 250, 0, 32, 2}}},
};

const tc_machine tc_machine_u85 = {
    .name = "ethos-u85-",
    .npu = sizes,
    .n_npu = TC_COUNT(sizes),
    .title = "Ethos-U85",
    .spec = "TOSA-1.0+INT+int16+int4+doubleround+inexactround+cf+dynamic",
    .shapes = true,
    .packing = TC_PACKED_STREAM,
    .backend = "EthosUBackend",
    .can = {TC_CAN_LARGE, .resizes = true, .loops = true, .stride = TC_NPU_STRIDE},
    .cost = {.matrix_row = 160,
             .slices = 8,
             .tree_side = 8,
             .skip_step = TC_NPU_STRIDE,
             .block_channels = 256},
    .systems = systems,
    .n_system = TC_COUNT(systems),
    .system_config = "Ethos_U85_SYS_DRAM_Mid",
    .memory_mode = "Sram_Only",
};
