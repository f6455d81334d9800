/* SPDX-License-Identifier: Apache-2.0 */
/* npu_machine.c -- see npu_machine.h. */
#include "npu_machine.h"

#define U55(name_, product_, config_, macs_, cores_, h_, w_, depth_, dmas_, banks_, ...)           \
    {                                                                                              \
        .name = name_, .product = product_, .config = config_, .id = 0x10066001, .macs = macs_,    \
        .cores = cores_,                                                                           \
        .microblock = {{h_, w_, depth_}}, .most = {32, 64, 128}, .max_kernels = 2,                 \
        .max_dmas = dmas_, .banks = banks_, .granule = {                                           \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }
#define U85(name_, config_, macs_, cores_, ifm_, acc_, chain_, out_, ...)                          \
    {                                                                                              \
        .name = name_, .product = TC_U85, .config = config_, .id = 0x20007000, .macs = macs_,      \
        .cores = cores_,                                                                           \
        .microblock = {__VA_ARGS__}, .most = {128, 128, 1024}, .max_kernels = 2, .max_dmas = 4,    \
        .ifm_ram = ifm_, .acc_ram = acc_, .chain_ram = chain_, .out_ram = out_                     \
    }

/* clang-format off */
static const tc_npu_machine machines[] = {
    /*                             CONFIG     macs cores microblock dmas banks granules */
    U55("ethos-u55-32",  TC_U55, 0x00001005,   32, 1, 1, 1, 4, 1, 16, 2, 2, 2, 2,  4, 4,  4,  4),
    U55("ethos-u55-64",  TC_U55, 0x00001006,   64, 1, 1, 1, 8, 1, 16, 2, 2, 2, 2,  4, 4,  4,  8),
    U55("ethos-u55-128", TC_U55, 0x00001807,  128, 1, 1, 2, 8, 1, 24, 4, 4, 4, 4,  8, 4,  8, 12),
    U55("ethos-u55-256", TC_U55, 0x00003008,  256, 1, 2, 2, 8, 1, 48, 8, 8, 8, 8, 16, 8, 16, 20),
    U55("ethos-u65-256", TC_U65, 0x10003008,  256, 1, 2, 2, 8, 2, 48, 8, 8, 8, 8, 16, 8, 16, 20),
    U55("ethos-u65-512", TC_U65, 0x10006009,  512, 2, 2, 2, 8, 2, 48, 8, 8, 8, 8, 16, 8, 16, 20),
    /*                     CONFIG      macs cores  IFM    ACC   chain  out   microblocks: 1x1 1x2 1x4 2x2 2x4 4x4 */
    U85("ethos-u85-128",  0x20000117,  128, 1,  8192,   8192, 2048,   768, {1, 1, 16}, {1, 2, 8}),
    U85("ethos-u85-256",  0x20000118,  256, 1, 16384,  16384, 2048,  1536, {0}, {1, 2, 16}, {1, 4, 8}, {2, 2, 8}),
    U85("ethos-u85-512",  0x20001119,  512, 2, 16384,  32768, 4096,  3072, {0}, {0}, {1, 4, 16}, {2, 2, 16}),
    U85("ethos-u85-1024", 0x2000251a, 1024, 4, 16384,  65536, 4096,  6144, {0}, {0}, {1, 4, 32}, {2, 2, 32}, {2, 4, 16}),
    U85("ethos-u85-2048", 0x2000261b, 2048, 4, 32768, 131072, 8192, 12288, {0}, {0}, {1, 4, 64}, {2, 2, 64}, {0}, {4, 4, 16}),
};
/* clang-format on */

/* CONFIG: log2 of the MACs in bits 0..3, the product in bits 28..31. */
const tc_npu_machine *ti_npu_machine_of(uint32_t config)
{
    for (size_t i = 0; i < TC_COUNT(machines); i++)
        if ((uint32_t)machines[i].product == config >> 28 && machines[i].macs == 1 << (config & 15))
            return &machines[i];
    return NULL;
}

const tc_npu_machine *ti_npu_machine_find(const char *name)
{
    for (size_t i = 0; i < TC_COUNT(machines); i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}
