/* SPDX-License-Identifier: Apache-2.0 */
/* time_ops.c -- how long multipliers, output stage and decoder of weights take for a job. */
#include "time.h"

/* Microblocks along a side: every block is rounded up to them. */
static double along(int32_t n, int32_t block, int32_t unit)
{
    if (block <= 0 || unit <= 0 || n <= 0)
        return n;
    int32_t rest = n % block;
    return (n / block) * ti_up(block < n ? block : n, unit) + (rest ? ti_up(rest, unit) : 0);
}

static bool is_conv(const tc_npu_job *j)
{
    return j->work == TC_WORK_CONV || j->work == TC_WORK_MATMUL;
}
static bool has_window(const tc_npu_job *j)
{
    return j->work != TC_WORK_ELEMENTWISE && j->work != TC_WORK_RESIZE;
}

/* Taps are not rounded up: a depthwise 3x3 takes 9 cycles a microblock (yolo, 96x96x8: 41 k of
 * 41,472 measured).  Channels of convolutions go in 16s (96x96x8 -> 4: 10 k of 9,216).  A pool of
 * one tap is the output stage's alone (vww4: 4.0 k; pads 3.0 of 3,072). */
static double mac_u85(const tc_npu_job *j)
{
    double plane = along(j->ofm.h, j->block.h, j->unit.h) * along(j->ofm.w, j->block.w, j->unit.w),
           depth = along(j->ofm.c, j->block.depth, j->unit.depth), taps = (double)j->kh * j->kw,
           wide = j->ifm.bits / 8.0;
    if (is_conv(j)) {
        if (j->unit.depth < 16 && j->unit.depth > 0)
            depth = ti_up(j->ofm.c, 16) * 16 / j->unit.depth;
        if (j->part_kernel && taps < 2)
            taps = 2;
        return plane * depth * taps * ti_up(j->ifm.c, j->sparse ? 16 : 8) * wide;
    }
    if (j->work == TC_WORK_REDUCE_SUM) /* by structure: the channels are its taps */
        return plane * depth * taps * ti_up(j->ifm.c, 8) * wide;
    return taps > 1 || j->work == TC_WORK_DEPTHWISE ? plane * depth * taps * wide : 0;
}

/* Cycles of a part of at most 8 x 8 taps, in all blocks: taps in fours, at least four units' time,
 * or as long as its weights take (as Vela has it; kws, ad, vww4 on U55: within 2 %). */
static double part_u55(const tc_npu_machine *m, const tc_npu_job *j, double taps, double plane,
                       double depth, double blocks)
{
    double wide = j->ifm.bits / 8.0, weights = 4.0 * j->unit.depth * blocks;
    switch (j->work) {
    case TC_WORK_POOL:
        return ti_most(taps, 4) * plane * depth * (m->macs == 32 ? 1 : 4) * wide;
    case TC_WORK_DEPTHWISE: /* a block of a single unit does not hide its latency */
        return ti_up(taps, 4) * depth *
               (ti_most(weights, 4 * plane * wide) + (plane <= blocks ? 2 * blocks : 0));
    default:
        return j->part_kernel ? ti_most(weights, 4 * plane) * ti_up(taps, wide > 1 ? 2 : 4) *
                                    depth * ti_up(j->ifm.c, 8)
                              : ti_most(weights, 4 * plane) * taps * depth *
                                    ti_up(j->ifm.c, wide > 1 ? 16 : 32);
    }
}

static double mac_u55(const tc_npu_machine *m, const tc_npu_job *j)
{
    tc_npu_block u = j->unit;
    if (u.h == 2 && is_conv(j) && j->ofm.h == 1 && j->ofm.w % 2 == 0 && j->kh == 1)
        u = (tc_npu_block){1, 4, u.depth}; /* a row is taken four at a time */
    double plane = along(j->ofm.h, j->block.h, u.h) * along(j->ofm.w, j->block.w, u.w),
           depth = along(j->ofm.c, j->block.depth, u.depth), all = 0;
    double blocks = ti_npu_cut_of(j).plane;
    const double across[2] = {j->kw / 8, j->kw % 8 != 0}, down[2] = {j->kh / 8, j->kh % 8 != 0};
    const int32_t wide[2] = {8, j->kw % 8}, high[2] = {8, j->kh % 8};
    for (int x = 0; x < 2; x++)
        for (int y = 0; y < 2; y++)
            if (across[x] > 0 && down[y] > 0)
                all += across[x] * down[y] *
                       part_u55(m, j, (double)wide[x] * high[y], plane, depth, blocks);
    return all / m->cores;
}

static double macs_of(const tc_npu_job *j)
{
    double n = (double)j->kh * j->kw * j->ofm.h * j->ofm.w * j->ofm.c;
    switch (j->work) {
    case TC_WORK_DEPTHWISE:
    case TC_WORK_POOL:
        return n;
    case TC_WORK_CONV:
    case TC_WORK_MATMUL:
    case TC_WORK_REDUCE_SUM:
        return floor(n * j->ifm.c / (j->sparse ? 2 : 1));
    default:
        return 0;
    }
}

void ti_npu_time_ops(const tc_npu_machine *m, const tc_npu_job *j, tc_npu_time *t)
{
    t->macs = macs_of(j);
    t->out = j->rate * j->ofm.h * j->ofm.w * j->ofm.c; /* true channels */
    if (!has_window(j))
        return;
    t->mac = m->product == TC_U85 ? mac_u85(j) : mac_u55(m, j);
    /* Weights are decoded again for every block of the plane. */
    if (m->decoded > 0 && j->work == TC_WORK_CONV)
        t->decode = (double)j->kh * j->kw * j->ifm.c * j->ofm.c * ti_npu_cut_of(j).plane /
                    m->decoded;
}
