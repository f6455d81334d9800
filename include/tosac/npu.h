/* SPDX-License-Identifier: Apache-2.0 */
/* npu.h -- an Ethos-U without its registers: what a command stream computes and how long it is
 * expected to take, in memory of the caller's.  For emulators of boards (tools/emulate) and for
 * drivers on a PC.
 *
 *   tc_npu_new()    a machine
 *   tc_npu_load()   a stream: how far it reaches into each region, what it is expected to take
 *   tc_npu_bind()   memory for each region that it reaches
 *   tc_npu_run()    executes it there, bit for bit as the machine defines it
 *
 * All of it is experimental.  A tc_npu belongs to its context and keeps decoded weights from job to
 * job: of the streams that were loaded last. */
#ifndef TOSAC_NPU_H
#define TOSAC_NPU_H

#include "context.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_npu tc_npu;

enum { TC_NPU_BASES = 8, TC_NPU_PORTS = 2 };

typedef struct tc_npu_options {
    size_t size;               /* of this record */
    const char *machine;       /* "ethos-u55-128" */
    const char *description;   /* a file in the form of Vela's with the two below; NULL: built in */
    const char *system_config; /* the memories' speed; NULL: the machine's own */
    const char *memory_mode;   /* likewise */
} tc_npu_options;
TC_SIZED_RECORD(tc_npu_options)

/* TC_USAGE and a message: there is no such machine, system or memory mode. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_npu_new(tc_ctx *ctx, const tc_npu_options *options,
                                                        tc_npu **out);

typedef struct tc_npu_info {
    size_t size; /* of this record: set by the caller */
    const char *machine;
    uint32_t id, config; /* what its registers ID and CONFIG say */
    int product;         /* 55, 65, 85 */
    int macs;            /* multiplications a cycle */
    double clock;        /* Hz, by its system */
    const char *system_config, *memory_mode;
} tc_npu_info;
TC_SIZED_RECORD(tc_npu_info)

TC_API TC_EXPERIMENTAL void tc_npu_get_info(const tc_npu *npu, tc_npu_info *out);

/* ---- faults ---- */

typedef enum tc_npu_fault {
    TC_NPU_FAULT_NONE = 0,
    TC_NPU_FAULT_STREAM = 1, /* a word that is no command of this machine, or no STOP at the end */
    TC_NPU_FAULT_MEMORY = 2, /* an access outside a region */
    TC_NPU_FAULT_DATA = 3,   /* weights that do not decode, an index that is too large */
    TC_NPU_FAULT_LIMIT = 4   /* valid, and more than can be executed here */
} tc_npu_fault;

/* What went wrong last.  The text is valid until the next call with this tc_npu. */
typedef struct tc_npu_fault_info {
    size_t size; /* of this record: set by the caller */
    tc_npu_fault fault;
    int region;       /* TC_NPU_FAULT_MEMORY: which; else -1 */
    const char *text; /* "word 12, CONV: ..."; NULL: nothing went wrong */
} tc_npu_fault_info;
TC_SIZED_RECORD(tc_npu_fault_info)

TC_API TC_EXPERIMENTAL void tc_npu_get_fault(const tc_npu *npu, tc_npu_fault_info *out);

/* ---- a job ---- */

typedef struct tc_npu_load_info {
    size_t size;                    /* of this record: set by the caller */
    uint64_t reach[TC_NPU_BASES];   /* bytes from each region's beginning; 0: it is not used */
    bool read[TC_NPU_BASES], written[TC_NPU_BASES];
    size_t operations;
    double cycles, cycles_low, cycles_high; /* expected (doc/timing.md) */
} tc_npu_load_info;
TC_SIZED_RECORD(tc_npu_load_info)

/* Takes a stream of `bytes` bytes (a multiple of 4; without the driver's header), and copies it.
 * Regions are not bound then.  TC_BAD_MODEL: tc_npu_get_fault() says why; none is loaded. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_npu_load(tc_npu *npu, const void *words, size_t bytes,
                                                         tc_npu_load_info *out);

/* What is found in the loaded stream that a machine may compute otherwise than tc_npu_run(), which
 * executes one operation after the other: missing waits, blocks that do not fit, results over
 * inputs.  *text: the first of them, NULL where there is none; *count: how many. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_npu_verify(tc_npu *npu, size_t *count,
                                                           const char **text);

/* Memory of a region, as large as `reach` says or larger; the same bytes may be bound twice. It is
 * used until the next load or bind.  TC_USAGE: there is no such region. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_npu_bind(tc_npu *npu, int region, void *data,
                                                         uint64_t bytes);

typedef struct tc_npu_run_info {
    size_t size;   /* of this record: set by the caller */
    uint64_t at;   /* the byte of the stream after the last command: QREAD */
    uint16_t mask; /* of all IRQ and STOP commands */
} tc_npu_run_info;
TC_SIZED_RECORD(tc_npu_run_info)

/* Runs the loaded stream; TC_BAD_MODEL: tc_npu_get_fault() says why, and memory is as far as it
 * got.  TC_USAGE: none is loaded. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_npu_run(tc_npu *npu, tc_npu_run_info *out);

/* How far the loaded job is so many cycles after its beginning, as expected: what counters and
 * QREAD say meanwhile.  Branches are not followed. */
typedef struct tc_npu_progress {
    size_t size; /* of this record: set by the caller */
    uint64_t at; /* byte of the stream */
    double macs;
    double read[TC_NPU_PORTS], written[TC_NPU_PORTS]; /* bytes */
    uint16_t mask;   /* of IRQ commands so far */
    double next_irq; /* the cycle of the next IRQ command; 0: there is none before the end */
    size_t irqs;     /* how many of them so far, */
    uint16_t last_mask; /* and the mask of the last one, or of those at its cycle */
} tc_npu_progress;
TC_SIZED_RECORD(tc_npu_progress)

TC_API TC_EXPERIMENTAL void tc_npu_get_progress(const tc_npu *npu, double cycles,
                                                tc_npu_progress *out);

#ifdef __cplusplus
}
#endif
#endif
