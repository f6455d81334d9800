/* SPDX-License-Identifier: Apache-2.0 */
/* cost.h -- cycles, multiplications and bytes of a stream's operations, by Vela's own model of the
 * machines.
 *
 * What Vela schedules as one operation is what it puts a figure on: a chain, all slices of a
 * convolution's channels, all columns of a U55's matrix product, all passes of its transposition.
 * Such a group is called a job here; its figure is shared out over the operations of the stream
 * that make it up, so that their sum is the stream's.
 *
 * It is an estimate of steady throughput, not a simulation: an operation takes as long as the
 * slowest of computing and of each memory's transfers, and operations follow each other. */
#ifndef TC_COST_H
#define TC_COST_H

#include "system.h"

typedef struct tc_npu_cost {
    double cycles;  /* the larger of what follows */
    double compute; /* of the accelerator, visible waiting for weights and tables included */
    double waiting; /* of that */
    double access[TC_NPU_MEMORIES];
    double macs; /* multiplications that count: of windows and products */
    double read[TC_NPU_MEMORIES], written[TC_NPU_MEMORIES]; /* bytes over the ports, parts of bursts
                                                               that are of no use included */
} tc_npu_cost;

/* The reason of an operation's cycles, if it is not just what it computes. */
typedef enum tc_npu_cause {
    TC_CAUSE_NONE,
    TC_CAUSE_COLUMNS,   /* a matrix product, one column at a time */
    TC_CAUSE_TRANSPOSE, /* elements are put in another order */
    TC_CAUSE_COPY,      /* elements are put elsewhere */
    TC_CAUSE_WEIGHTS,   /* weights come slower than they are used */
    TC_CAUSE_CONSTANT,  /* so does an operand that is constant */
    TC_CAUSE_MEMORY,    /* so do other elements, or results go */
    TC_CAUSE_ONCE,      /* a weight is used for one or few results */
    TC_CAUSE_SHALLOW,   /* fewer input channels than are multiplied at a time */
    TC_CAUSE_DEPTHWISE, /* channels by themselves leave most multipliers idle */
    TC_CAUSE_TABLE,     /* a table, or a rescaling, that is not part of another operation */
    TC_CAUSE_RESCALE,
    TC_CAUSE_WIDE, /* elements of 32 bits */
    TC_CAUSE_COUNT
} tc_npu_cause;

/* What an operation of the stream is part of. */
typedef struct tc_npu_op_cost {
    size_t at;        /* the word of its command */
    size_t number;    /* the operation's, in the walk */
    size_t job;       /* equal ids: one job */
    const char *name; /* "CONV", "POOL MAX" */
    tc_npu_cause cause;
    tc_npu_cost cost; /* its share */
} tc_npu_op_cost;

typedef struct tc_npu_stream_cost {
    tc_npu_op_cost *op; /* kernel operations, and DMAs that are not a convolution's weights or a
                           table; in order */
    size_t n_op;
    tc_npu_cost *job; /* by number; there are gaps, of zeros */
    size_t n_job;
    tc_npu_cost total;
} tc_npu_stream_cost;

/* Every operation of a program; what is wrong with its words ("word 12: ..."), or NULL.  Branches
 * are not followed: both ways count once. */
const char *ti_npu_cost_stream(tc_arena *arena, const tc_npu_program *program,
                               const tc_npu_system *system, tc_npu_stream_cost *out);

/* The same of operations that the caller decodes, or generates; `next` gives one after the other,
 * and false at the end.  expected: about how many there are. */
typedef bool tc_npu_next(void *user, tc_npu_op *op);
void ti_npu_cost_ops(tc_arena *arena, const tc_npu_machine *machine, const tc_npu_system *system,
                     size_t expected, tc_npu_next *next, void *user, tc_npu_stream_cost *out);

/* macs / (cycles * the machine's macs a cycle), 0 .. 1. */
double ti_npu_utilisation(const tc_npu_machine *machine, const tc_npu_cost *cost);

void ti_npu_cost_add(tc_npu_cost *to, const tc_npu_cost *more);

/* ---- one job, without a stream: a candidate's estimate ---- */

typedef enum tc_npu_work {
    TC_WORK_CONV,
    TC_WORK_MATMUL, /* U85: a convolution whose weights are the second operand */
    TC_WORK_DEPTHWISE,
    TC_WORK_POOL,
    TC_WORK_REDUCE_SUM,
    TC_WORK_ELEMENTWISE,
    TC_WORK_RESIZE,
    TC_WORK_TRANSPOSE, /* U55, U65: copies with strides exchanged; on U85 a pool */
    TC_WORK_COLUMNS,   /* U55, U65: a matrix product, MUL and REDUCE_SUM a column */
    TC_WORK_MOVE       /* DMA */
} tc_npu_work;

typedef struct tc_npu_job_map {
    int32_t h, w, c; /* h 0: there is none */
    int32_t bits;
    tc_npu_format format;
    uint8_t memory;
    bool counted; /* in memory, and not a constant in a register */
} tc_npu_job_map;

enum { TC_NPU_JOB_MAPS = 8 };

typedef struct tc_npu_job {
    tc_npu_work work;
    bool moves, turns, looks_up; /* a pool that only copies; in another order; through a table */
    tc_npu_job_map ifm, ifm2, ofm;
    tc_npu_block block, in_block, unit; /* unit: the microblock */
    int32_t kh, kw;
    bool part_kernel, wide_acc, sparse, fast_weights;
    double rate; /* cycles an element in the output stage, of all operations of a chain */
    /* Weights and scales: their memory, and the one they are copied to first (-1: none). */
    double weight_bytes, scale_bytes, first_bytes; /* first: of the first slice, scales too */
    int32_t slices, last_depth;                    /* last: channels of the last slice */
    int32_t stripe;         /* rows at a time, in a cascade; 0: all */
    bool has_scales, early; /* early: the first slice is on its way during the job before */
    int8_t weight_memory, staging;
    double table_bytes; /* that are loaded for it */
    int8_t table_memory;
    /* What the chained operations read and write. */
    tc_npu_job_map more[TC_NPU_JOB_MAPS];
    bool more_written[TC_NPU_JOB_MAPS],
        more_counts[TC_NPU_JOB_MAPS]; /* counts: for its cycles too */
    int32_t n_more;
    int32_t columns;        /* of TC_WORK_COLUMNS */
    tc_npu_block mul_block; /* of its products */
    double mul_rate;
    uint8_t product_memory;
    double moved_read, moved_written; /* bytes of TC_WORK_MOVE */
    uint8_t moved_from, moved_to;
} tc_npu_job;

/* The job that n operations begin with: the first one, and on U85 those that are chained to it; how
 * many of them it is. */
size_t ti_npu_job_of(const tc_npu_machine *machine, const tc_npu_system *system,
                     const tc_npu_op *op, size_t n, tc_npu_job *out);

/* A job's figures.  *slack, in: the cycles before it in which transfers can hide; out: those that
 * it offers to the next. */
void ti_npu_cost_job(const tc_npu_machine *machine, const tc_npu_system *system,
                     const tc_npu_job *job, double *slack, tc_npu_cost *out);

/* Why a job costs what it does. */
tc_npu_cause ti_npu_cost_cause(const tc_npu_machine *machine, const tc_npu_system *system,
                               const tc_npu_job *job, const tc_npu_cost *cost);

/* A pool that only copies, or looks up a table: one input a number, and by factor one. */
bool ti_npu_only_moves(const tc_npu_op *op);

/* Cycles an element in a decoded operation's output stage. */
double ti_npu_output_rate(const tc_npu_machine *machine, const tc_npu_op *op);

#endif
