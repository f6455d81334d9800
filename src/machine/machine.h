/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h -- every machine that can be compiled for, as a record.
 *
 * One file machine_<name>.c has one record, machine.def one row for it; nothing else knows a
 * machine by its name.  Rules and passes ask the record what the machine can do and what it finds
 * cheap; the back end of Ethos-U asks the record of its size (npu_machine.h). */
#ifndef TC_MACHINE_H
#define TC_MACHINE_H

#include "npu_machine.h"

/* The farthest that windows of the Ethos-U family step in one go. */
enum { TC_NPU_STRIDE = 3 };

/* How a region reaches the machine. */
typedef enum tc_packing {
    TC_PACKED_TOSA,   /* as the TOSA file itself */
    TC_PACKED_VGF,    /* as a VGF file */
    TC_PACKED_STREAM, /* as an Ethos-U command stream */
    TC_PACKED_C,      /* as C source with its kernels */
    TC_PACKED_NOT     /* there are no regions: the CPU runs all */
} tc_packing;

/* What a rule may use. */
typedef struct tc_abilities {
    bool gathers;         /* GATHER and SCATTER */
    bool divides;         /* INTDIV */
    bool selects;         /* SELECT, and bools */
    bool resizes;         /* RESIZE of any kind; else by 2, 4 or 8 to the nearest only */
    bool loops;           /* WHILE_LOOP */
    bool reverses_last;   /* REVERSE of the last axis */
    bool scales_operands; /* MAXIMUM and MINIMUM take in any rescale before them */
    bool reduces_i32;     /* REDUCE_MAX of 32-bit values */
    bool deep_kernels;    /* CONV3D of kernels deeper than one */
    bool wide_tables;     /* a TABLE's i32 may be added to before it is narrowed */
    bool rounds_twice;    /* RESCALE in DOUBLE_ROUND, as other kernels on the machine round */
    bool products_by_conv; /* products of activations as convolutions, where asked (--optimise products) */
    int64_t stride;       /* the farthest that a window steps */
    int acc_bits;         /* of sums of 16-bit products; 0: 48, as TOSA has them */
} tc_abilities;

/* What all machines have but the smaller Ethos-U. */
#define TC_CAN_LARGE                                                                               \
    .gathers = true, .divides = true, .selects = true, .reverses_last = true,                      \
    .scales_operands = true, .reduces_i32 = true, .deep_kernels = true, .wide_tables = true

/* What it finds cheap. */
typedef struct tc_costs {
    int64_t matrix_row;     /* rows up to this long are centred and scaled by one matrix; 0: none */
    int64_t slices;         /* so many slices are better than one GATHER */
    int64_t skip_step;      /* every nth row or column by windows of one, up to this n; 0: never */
    int64_t block_channels; /* blocks of 2 x 2 by a product, up to so many channels; 0: never */
    int64_t tree_side;      /* planes up to this wide and high are summed by halves; 0: none */
    bool free_moves;        /* moving data costs little */
    bool affine_by_conv;    /* x * gain + bias by channel as a convolution of 16 bits */
} tc_costs;

/* C source: the instructions that its kernels may use, each set with those before it. */
typedef enum tc_core { TC_CORE_C, TC_CORE_DSP, TC_CORE_MVE } tc_core;

/* The same by what an instruction does, for prices: ARMv6-M has no products of 64 bits. */
typedef enum tc_pace { TC_PACE_V6M, TC_PACE_V7M, TC_PACE_DSP, TC_PACE_MVE, TC_PACES } tc_pace;

/* Cycles an instruction: about, and between which nine of ten measured points are. */
typedef struct tc_cycles {
    double about, low, high;
} tc_cycles;

typedef struct tc_machine {
    const char *name;    /* as the user writes it: all of it, or up to the size */
    const tc_npu_machine *npu; /* TC_PACKED_STREAM: its sizes, each a machine of its own */
    size_t n_npu;
    const char *title;   /* in messages */
    const char *spec;    /* the TOSA it takes; NULL: none */
    bool shapes;         /* of integers: fewer shapes, slices and copies pay (drive/road.def) */
    tc_packing packing;
    tc_core core;
    tc_pace pace;
    tc_cycles cycles;    /* C source: an instruction's, on average */
    const char *backend; /* the delegate's id in a .pte; NULL: none */
    tc_abilities can;
    tc_costs cost;
    const tc_npu_setup *systems; /* TC_PACKED_STREAM: clocks and memories, by name */
    size_t n_system;
    const char *system_config, *memory_mode; /* those of them unless the user says otherwise */
    int64_t any_size; /* the program is to be for many sizes, and this is its largest extent; 0: it is
                         for one, and no record says otherwise (drive/many_sizes.h) */
    const char *costs_of; /* whose costs are asked where there are no others; NULL: its own */
} tc_machine;

/* A TOSA file of any profile: their names are the user's. */
extern const tc_machine tc_machine_tosa, tc_machine_tosa_u55;

/* The records in the order of machine.def; NULL: there are no more. */
const tc_machine *ti_machine_at(size_t i);
/* The record that has this size. */
const tc_machine *ti_machine_with(const tc_npu_machine *npu);

#endif
