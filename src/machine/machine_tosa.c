/* SPDX-License-Identifier: Apache-2.0 */
/* machine_tosa.c -- no machine: the TOSA file is what is wanted, for any profile.
 *
 * The profile is what the user writes after TOSA-1.0.  With +u55 the rules keep to what the
 * smaller Ethos-U have. */
#include "machine.h"

const tc_machine tc_machine_tosa = {
    .name = "TOSA-1.0",
    .title = "TOSA",
    .shapes = true,
    .packing = TC_PACKED_TOSA,
    .backend = "TOSABackend",
    .can = {TC_CAN_LARGE, .resizes = true, .loops = true, .stride = INT64_MAX},
    .cost = {.matrix_row = 128, .slices = 8, .tree_side = 8},
    .costs_of = "ethos-u85-256",
};

const tc_machine tc_machine_tosa_u55 = {
    .name = "TOSA-1.0+u55",
    .title = "TOSA",
    .shapes = true,
    .packing = TC_PACKED_TOSA,
    .backend = "TOSABackend",
    .can = {.loops = true, .products_by_conv = true, .stride = TC_NPU_STRIDE},
    .cost = {.slices = 1024, .affine_by_conv = true},
    .costs_of = "ethos-u55-128",
};
