/* SPDX-License-Identifier: Apache-2.0 */
/* time.h -- what the files of the timing model share; cost.h says which they are. */
#ifndef TC_TIME_H
#define TC_TIME_H

#include "cost.h"

#include <math.h>

/* One job by itself: how long each part is busy. */
typedef struct tc_npu_time {
    double mac, out, decode, sram; /* cycles, all at the same time */
    double body, edge;             /* until the slowest has done its part; before and after it */
    double outside;                /* cycles of the memories outside; 0: it does not use them */
    double lead;                   /* of those: until the first bytes are there */
    double ahead;                  /* of those: that can be spent before it begins */
    double streamed;               /* and of weights as they come */
    tc_npu_wait slowest;           /* of the body */
    double blocks;
    double macs;
    double part[TC_NPU_GROWN]; /* of slices that grow: body and edge of each */
    double read[TC_NPU_MEMORIES], written[TC_NPU_MEMORIES]; /* bytes */
    double busy[TC_NPU_MEMORIES];
} tc_npu_time;

static inline double ti_up(double a, double b)
{
    return ceil(a / b);
}
static inline double ti_most(double a, double b)
{
    return a > b ? a : b;
}
static inline double ti_fewest(double a, double b)
{
    return a < b ? a : b;
}
static inline bool ti_is_outside(const tc_npu_system *s, int memory)
{
    return strcmp(s->memory[memory].name, "Sram") != 0;
}

/* How an output is cut: blocks of its plane and of its channels. */
typedef struct tc_npu_cut {
    double plane, depth;
} tc_npu_cut;
static inline tc_npu_cut ti_npu_cut_of(const tc_npu_job *j)
{
    int32_t h = j->block.h > 0 ? j->block.h : 1, w = j->block.w > 0 ? j->block.w : 1,
            d = j->block.depth > 0 ? j->block.depth : 1;
    return (tc_npu_cut){ti_up(j->ofm.h, h) * ti_up(j->ofm.w, w), ti_up(j->ofm.c, d)};
}

/* time_ops.c: mac, out, decode, macs. */
void ti_npu_time_ops(const tc_npu_machine *m, const tc_npu_job *j, tc_npu_time *t);
/* time_memory.c: sram, outside, read, written, busy. */
void ti_npu_time_memory(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                        tc_npu_time *t);
/* time_memory.c: bytes a cycle of a copy; a latency as the model counts it. */
double ti_npu_copy_rate(const tc_npu_machine *m, const tc_npu_system *s, int from);
double ti_npu_latency(const tc_npu_machine *m, const tc_npu_system *s, int memory);
/* All of them. */
void ti_npu_time_job(const tc_npu_machine *m, const tc_npu_system *s, const tc_npu_job *j,
                     tc_npu_time *t);
/* time_band.c: off and off2 of so many cycles of such a job. */
void ti_npu_doubt(const tc_npu_machine *m, const tc_npu_job *j, tc_npu_wait wait, tc_npu_cost *cost);

#endif
