/* SPDX-License-Identifier: Apache-2.0 */
/* machine_vgf.c -- graphics processors, by the ML extensions of Vulkan: floats and integers, no
 * loops. */
#include "machine.h"

const tc_machine tc_machine_vgf = {
    .name = "vgf",
    .title = "VGF",
    .spec = "TOSA-1.0+INT+FP+int16+int4",
    .packing = TC_PACKED_VGF,
    .backend = "VgfBackend",
    .can = {TC_CAN_LARGE, .resizes = true, .stride = INT64_MAX},
    .cost = {.matrix_row = 144, .slices = 8, .free_moves = true},
};
