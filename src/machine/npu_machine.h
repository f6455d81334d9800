/* SPDX-License-Identifier: Apache-2.0 */
/* npu_machine.h -- what is known about an Ethos-U of one size; machine.h has the record of all sizes. */
#ifndef TC_NPU_MACHINE_H
#define TC_NPU_MACHINE_H

#include "../base/base.h"

/* Whose commands and registers it has. */
typedef enum tc_npu_product { TC_U55, TC_U65, TC_U85 } tc_npu_product;

/* The piece of an output that is computed at a time. */
typedef struct tc_npu_block {
    int32_t h, w, depth; /* depth 0: the machine has no such block */
} tc_npu_block;

/* Bank granules of a U55 or U65's memory, by what the banks hold. */
typedef enum tc_npu_granule {
    TC_GRANULE_IFM8,
    TC_GRANULE_IFM16,
    TC_GRANULE_EW8,
    TC_GRANULE_EW16,
    TC_GRANULE_IFM32,
    TC_GRANULE_ACC16,
    TC_GRANULE_ACC32,
    TC_GRANULE_ACC40,
    TC_GRANULE_COUNT
} tc_npu_granule;

enum {
    TC_NPU_CORES = 4,
    TC_NPU_MICROBLOCKS = 6,
    TC_NPU_BANK = 1024,
    TC_NPU_LUT = 2048,
    TC_NPU_MEMORIES = 2 /* one at each port */
};

/* How long the parts of a machine of one product take; npu/time_*.c have the rules, doc/timing.md what
 * they were found by.  "Outside" is every memory but SRAM. */
typedef struct tc_npu_timing {
    double edge;         /* of an operation's first block, in the faster of computing and output */
    double fixed;        /* cycles an operation */
    double sram_begin;   /* SRAM latencies until its first bytes are there */
    double soft;         /* of the second slowest part that the slowest does not hide */
    double sram_share;   /* U55, U65: of the port's words, reads and writes together */
    double sram_reads;   /* U85: of the requests under way ... */
    double sram_most;    /* ... and beats a cycle of two ports, reads and writes apart */
    double refused;      /* outside: cycles that a request waits on average until it is taken */
    double weight_begin; /* latencies in series until an operation's weights are there */
    double weight_block; /* and of each block more */
    double input_begin;  /* the same of inputs */
    double input_reads;  /* U55, U65: bursts of inputs under way */
    double input_share;  /* U85: of the buffer for inputs that is under way */
    double write_pulse;  /* latencies of writes, with the time in which a memory refuses them */
    double buffer_share; /* of the buffers for weights that is under way; */
    double copy_share;   /* of those for copies */
    double flight;       /* U55, U65: requests under way, times this */
    double first;        /* of the first block's fetch: computing begins after it */
    double stall;        /* of the shorter of computing and fetching, that the longer does not hide */
    double copy_end;     /* latencies after a copy's last byte was asked for */
    double stream_begin; /* latencies until the first commands are there */
} tc_npu_timing;
extern const tc_npu_timing tc_timing_u55, tc_timing_u65, tc_timing_u85;

typedef struct tc_npu_machine {
    const char *name; /* "ethos-u55-128" */
    tc_npu_product product;
    uint32_t config, id; /* its registers CONFIG and ID, as drivers compare them */
    int32_t macs;  /* a cycle, of all cores */
    int32_t cores; /* each with a weight stream of its own */
    tc_npu_block
        microblock[TC_NPU_MICROBLOCKS]; /* U85: by the field of ACC_FORMAT; else only the first */
    tc_npu_block most;                  /* of an output block */
    int32_t max_kernels, max_dmas;      /* unfinished at a time */
    int32_t banks; /* U55, U65: SHRAM of a core, in banks; the last two hold tables */
    uint8_t granule[TC_GRANULE_COUNT];            /* U55, U65 */
    int32_t ifm_ram, acc_ram, chain_ram, out_ram; /* U85: bytes */
    const tc_npu_timing *timing;
    int32_t decoded;                 /* U85: weights a cycle */
    int32_t copy_words, weight_words, ifm_words; /* U85: of 16 bytes, that can be under way */
} tc_npu_machine;

/* How fast a memory is; system.h has the same in bytes a cycle. */
typedef struct tc_npu_speed {
    double scale; /* of the accelerator's clock */
    int32_t burst, read_latency, write_latency;
    int32_t max_reads, max_writes; /* 0: any number */
    int32_t ports;
} tc_npu_speed;

/* A system around an Ethos-U: its clock, and the memory of each port. */
typedef struct tc_npu_setup {
    const char *name;
    double mhz;
    const char *memory[TC_NPU_MEMORIES]; /* "Sram", "Dram", "OffChipFlash" */
    tc_npu_speed port[TC_NPU_MEMORIES];
} tc_npu_setup;

/* The machine that a CONFIG word describes, or that has a name; NULL: none. */
const tc_npu_machine *ti_npu_machine_of(uint32_t config);
const tc_npu_machine *ti_npu_machine_find(const char *name);

/* Bytes of the memory that holds tables, and where their first slot is, as a DMA addresses it. */
static inline int32_t ti_npu_internal_bytes(const tc_npu_machine *m)
{
    return m->product == TC_U85 ? TC_NPU_LUT : m->banks * TC_NPU_BANK;
}
static inline int32_t ti_npu_table_at(const tc_npu_machine *m)
{
    return ti_npu_internal_bytes(m) - TC_NPU_LUT;
}

#endif
