/* SPDX-License-Identifier: Apache-2.0 */
/* time_band.c -- how far off a figure may be: nine of ten measured points are inside.
 *
 * An error has a part that all operations of a stream have in common, and one of its own, which
 * evens out over many: a band is sum(common * cycles) + sqrt(sum((own * cycles)^2)).  Both come from
 * the residuals of measured points (doc/timing.md), by product and kind of operation. */
#include "time.h"

#include "../base/real.h"
#include "../base/text.h"

typedef enum kind { WINDOW, BY_CHANNEL, ELEMENTS, STRUCTURE, KINDS } kind;

static const struct {
    double common[KINDS], own[KINDS];
} share[] = {
    /*           conv  depthwise  elementwise  by structure only */
    [TC_U55] = {{0.07, 0.07, 0.10, 0.25}, {0.15, 0.20, 0.30, 0.40}},
    [TC_U65] = {{0.10, 0.10, 0.12, 0.25}, {0.15, 0.20, 0.30, 0.40}},
    [TC_U85] = {{0.09, 0.09, 0.12, 0.25}, {0.15, 0.22, 0.30, 0.40}},
};
/* Two ports outside, and few points. */
static const double large = 0.03;
/* Latencies in series: from single layers in DRAM, and sweeps of latencies. */
static const double outside = 0.06;

/* 16 and 32 bits, products, RESIZE, transposes, tables, sums over channels: few points or none. */
static bool is_unmeasured(const tc_npu_job *j)
{
    return j->ifm.bits > 8 || j->ofm.bits > 8 || j->work == TC_WORK_MATMUL ||
           j->work == TC_WORK_RESIZE || j->work == TC_WORK_REDUCE_SUM || j->turns ||
           (j->looks_up && j->moves);
}

static kind kind_of(const tc_npu_job *j)
{
    return is_unmeasured(j)                ? STRUCTURE
           : j->work == TC_WORK_CONV       ? WINDOW
           : j->work == TC_WORK_DEPTHWISE  ? BY_CHANNEL
                                           : ELEMENTS;
}

void ti_npu_doubt(const tc_npu_machine *m, const tc_npu_job *j, tc_npu_wait wait, tc_npu_cost *cost)
{
    kind k = kind_of(j);
    double common = share[m->product].common[k], own = share[m->product].own[k] * cost->cycles;
    common += m->product == TC_U85 && m->macs > 512 ? large : 0;
    common += wait >= TC_WAIT_OUTSIDE && m->product != TC_U55 ? outside : 0;
    cost->off = common * cost->cycles;
    cost->off2 = own * own;
    cost->unmeasured = k == STRUCTURE ? cost->cycles : 0;
}

tc_npu_band ti_npu_band(const tc_npu_cost *c)
{
    double off = ti_fewest(c->off + sqrt(c->off2), 0.9 * c->cycles);
    return (tc_npu_band){c->cycles - off, c->cycles + off};
}

const char *ti_npu_band_text(tc_arena *arena, double low, double high)
{
    static const char *const unit[] = {"", " k", " M", " G", " T"};
    size_t i = 0;
    for (double v = high; v >= 1000 && i + 1 < TC_COUNT(unit); v /= 1000)
        i++;
    double by = ti_pow(1000, (double)i);
    return ti_text_format(arena, i ? "%.2f to %.2f%s" : "%.0f to %.0f%s", low / by, high / by,
                          unit[i]);
}
