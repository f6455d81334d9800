/* SPDX-License-Identifier: Apache-2.0 */
/* cost.h -- cycles, multiplications and bytes of a stream's operations, by a model of what the
 * machines really take (doc/timing.md).
 *
 *    time_ops.c     multipliers, output stage, decoding of weights
 *    time_memory.c  SRAM, memories outside
 *    time_line.c    command parser, DMA and kernels at the same time, with the waits of the stream
 *    time_band.c    how far off a figure may be
 *
 * One model for all: streams of any maker, and candidates of our own back end before there is a
 * stream. */
#ifndef TC_COST_H
#define TC_COST_H

#include "system.h"

typedef struct tc_npu_cost {
    double cycles;
    double compute; /* of that: until what is computed is there, whatever memories do */
    double waiting; /* the rest */
    double access[TC_NPU_MEMORIES]; /* cycles that each memory is busy */
    double macs; /* multiplications that count: of windows and products */
    double read[TC_NPU_MEMORIES], written[TC_NPU_MEMORIES]; /* bytes over the ports, in whole words */
    double off, off2; /* what its band comes from: time_band.c */
    double unmeasured; /* of its cycles: of operations whose kind was measured nowhere */
} tc_npu_cost;

/* Between these the cycles of the machine are expected, nine times of ten. */
typedef struct tc_npu_band {
    double low, high;
} tc_npu_band;
tc_npu_band ti_npu_band(const tc_npu_cost *cost);
/* "0.54 to 0.66 M" */
const char *ti_npu_band_text(tc_arena *arena, double low, double high);

/* What an operation waits for: what determines when it ends. */
typedef enum tc_npu_wait {
    TC_WAIT_COMPUTE, /* the multipliers */
    TC_WAIT_OUTPUT,  /* the output stage */
    TC_WAIT_DECODE,  /* the decoder of weights */
    TC_WAIT_SRAM,
    TC_WAIT_OUTSIDE, /* another memory */
    TC_WAIT_DMA,     /* a copy */
    TC_WAIT_BEFORE,  /* the kernel before: what it reads from outside could not begin earlier */
    TC_WAIT_COUNT
} tc_npu_wait;
const char *ti_npu_wait_name(tc_npu_wait wait);

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

typedef struct tc_npu_op_cost {
    size_t at;        /* the word of its command */
    size_t number;    /* the operation's, in the walk */
    const char *name; /* "CONV", "POOL MAX" */
    tc_npu_cause cause;
    tc_npu_wait wait;
    tc_npu_cost cost; /* cycles: from the end of what was before to its own */
} tc_npu_op_cost;

typedef struct tc_npu_stream_cost {
    tc_npu_op_cost *op; /* kernel operations, and DMAs that are not a convolution's weights or a
                           table; in order */
    size_t n_op;
    tc_npu_cost total;
} tc_npu_stream_cost;

/* Every operation of a program; what is wrong with its words ("word 12: ..."), or NULL.  Branches
 * are not followed: both ways count once. */
const char *ti_npu_cost_stream(tc_arena *arena, const tc_npu_program *program,
                               const tc_npu_system *system, tc_npu_stream_cost *out);

/* The same of operations that the caller decodes, or generates; `next` gives one after the other,
 * and false at the end; BLOCKDEP is as they say.  Of operations without waits (made: by a list that has
 * none yet) a copy waits for whoever uses its bytes, a kernel for the copies of its weights. */
typedef bool tc_npu_next(void *user, tc_npu_op *op);
void ti_npu_cost_ops(tc_arena *arena, const tc_npu_machine *machine, const tc_npu_system *system,
                     bool made, tc_npu_next *next, void *user, tc_npu_stream_cost *out);

/* macs / (cycles * the machine's macs a cycle), 0 .. 1. */
double ti_npu_utilisation(const tc_npu_machine *machine, const tc_npu_cost *cost);

void ti_npu_cost_add(tc_npu_cost *to, const tc_npu_cost *more);
/* So many times the same; 0: once. */
tc_npu_cost ti_npu_cost_repeated(const tc_npu_cost *one, int64_t times);

/* ---- one job, without a stream: a candidate's estimate ---- */

typedef enum tc_npu_work {
    TC_WORK_CONV,
    TC_WORK_MATMUL, /* U85: a convolution whose weights are the second operand */
    TC_WORK_DEPTHWISE,
    TC_WORK_POOL,
    TC_WORK_REDUCE_SUM,
    TC_WORK_ELEMENTWISE,
    TC_WORK_RESIZE
} tc_npu_work;

typedef struct tc_npu_job_map {
    int32_t h, w, c; /* h 0: there is none */
    int32_t bits;
    tc_npu_format format;
    uint8_t memory;
    bool counted; /* in memory, and not a constant in a register */
} tc_npu_job_map;

enum { TC_NPU_JOB_MAPS = 8 };

/* An operation and those that are chained to it. */
typedef struct tc_npu_job {
    tc_npu_work work;
    bool moves, turns, looks_up; /* a pool that only copies; in another order; through a table */
    tc_npu_job_map ifm, ifm2, ofm;
    tc_npu_block block, unit; /* unit: the microblock */
    int32_t kh, kw;           /* taps */
    int32_t in_h, in_w;       /* rows and columns that a block reads, */
    double all_h, all_w;      /* and that all of them do, one after the other */
    bool part_kernel, sparse;
    double rate; /* cycles an element in the output stage, of all operations of a chain */
    /* Weights and scales: the memory that they are read from (-1: there are none). */
    int8_t weight_memory, scale_memory;
    double weight_bytes, scale_bytes;
    bool ahead; /* what it reads from outside is asked for while the kernel before runs */
    /* What the chained operations read and write. */
    tc_npu_job_map more[TC_NPU_JOB_MAPS];
    bool more_written[TC_NPU_JOB_MAPS];
    int32_t n_more;
    /* Of a candidate: slices of so many channels, each an operation; weights that are copied to
       `weight_memory` first (-1: they are not). */
    int32_t slices, slice_depth;
    int32_t slice_more; /* each has so many channels more than the one before */
    int8_t copied_from;
    double first_bytes; /* of the first slice, scales too */
} tc_npu_job;

/* Slices that grow are few. */
enum { TC_NPU_GROWN = 4 };

/* Channels of slice k of so many: `depth`, and of each one `more` than of the one before. */
static inline int32_t ti_npu_slice(int32_t channels, int32_t depth, int32_t more, int32_t k)
{
    int64_t at = (int64_t)k * depth + (int64_t)k * (k - 1) / 2 * more,
            n = depth + (int64_t)k * more;
    return at >= channels ? 0 : (int32_t)(channels - at < n ? channels - at : n);
}

/* The job that n operations begin with: the first one, and on U85 those that are chained to it; how
 * many of them it is.  Weights in another region than 0 are copied there. */
size_t ti_npu_job_of(const tc_npu_machine *machine, const tc_npu_system *system,
                     const tc_npu_op *op, size_t n, tc_npu_job *out);

/* The job's block and microblock anew, of an operation that has got others. */
void ti_npu_job_block(const tc_npu_machine *machine, const tc_npu_op *op, tc_npu_job *job);

/* A job's figures in a steady stream.  *slack, in: the cycles before it in which copies can hide;
 * out: those that it offers to the next. */
void ti_npu_cost_job(const tc_npu_machine *machine, const tc_npu_system *system,
                     const tc_npu_job *job, double *slack, tc_npu_cost *out);

/* The same in two steps: what does not depend on the slack, and the rest, for whoever asks with many. */
struct tc_npu_time *ti_npu_times(tc_arena *arena, const tc_npu_machine *machine,
                                 const tc_npu_system *system, const tc_npu_job *job);
void ti_npu_cost_times(const tc_npu_machine *machine, const tc_npu_system *system,
                       const tc_npu_job *job, const struct tc_npu_time *times, double *slack,
                       tc_npu_cost *out);

/* Why a job costs what it does. */
tc_npu_cause ti_npu_cost_cause(const tc_npu_machine *machine, const tc_npu_system *system,
                               const tc_npu_job *job, tc_npu_wait wait, const tc_npu_cost *cost);

/* A pool that only copies, or looks up a table: one input a number, and by factor one. */
bool ti_npu_only_moves(const tc_npu_op *op);

/* Cycles an element in a decoded operation's output stage. */
double ti_npu_output_rate(const tc_npu_machine *machine, const tc_npu_op *op);

#endif
