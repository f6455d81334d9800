/* SPDX-License-Identifier: Apache-2.0 */
/* cost_rate.c -- how fast the output stage of each machine is, by what it has to do: cycles an
 * element. */
#include "cost.h"

#include <math.h>

typedef enum rate_u55 {
    UNARY_32,
    BINARY_32,
    MUL_TO_32,
    MUL_OR_40,
    ADD_SIMPLE,
    ADD,
    MAX_POOL,
    OTHER,
    TABLE,
    RATES_U55
} rate_u55;

static const struct {
    int32_t macs, cores;
    double rate[RATES_U55];
} u55[] = {
    {32, 1, {2, 3, 3, 3, 4, 6, 1, 2, 1}},
    {64, 1, {1, 1.5, 1.5, 1.5, 2, 3, 0.5, 1, 1}},
    {128, 1, {0.75, 1.25, 0.75, 0.75, 1, 1.5, 0.25, 0.5, 1}},
    {256, 1, {0.625, 1.125, 0.5, 0.375, 0.5, 0.75, 0.125, 0.25, 1}},
    {512, 2, {0.3125, 0.5625, 0.25, 0.1875, 0.25, 0.375, 0.0625, 0.125, 0.5}},
};

typedef enum rate_u85 {
    TO_8,
    TO_16,
    TO_32,
    TO_64,
    CHAIN_32,
    BINARY_TO_32,
    PLAIN,
    TURNED,
    RESIZE_HIGH,
    RESIZE_LOW = RESIZE_HIGH + 2,
    RATES_U85 = RESIZE_LOW + 2
} rate_u85;

static const struct {
    int32_t macs;
    double rate[RATES_U85];
} u85[] = {
    {128, {0.5, 0.5, 0.5, 1, 1, 1, 0.5, 1, 0.5, 1, 0.5, 1}},
    {256, {0.25, 0.25, 0.25, 0.5, 0.5, 0.5, 0.25, 0.5, 0.25, 0.5, 0.25, 0.5}},
    {512, {0.125, 0.125, 0.25, 0.5, 0.25, 0.25, 0.125, 0.25, 0.125, 0.25, 0.125, 0.25}},
    {1024, {0.0625, 0.125, 0.25, 0.5, 0.125, 0.25, 0.0625, 0.125, 0.0625, 0.125, 0.125, 0.125}},
    {2048,
     {0.03125, 0.0625, 0.125, 0.25, 0.0625, 0.125, 0.03125, 0.0625, 0.03125, 0.0625, 0.0625,
      0.0625}},
};
enum { DIVISION = 33 };

static const double *row_u55(const tc_npu_machine *m)
{
    for (size_t i = 0; i < TC_COUNT(u55); i++)
        if (u55[i].macs == m->macs)
            return u55[i].rate;
    return u55[0].rate;
}

static const double *row_u85(const tc_npu_machine *m)
{
    for (size_t i = 0; i < TC_COUNT(u85); i++)
        if (u85[i].macs == m->macs)
            return u85[i].rate;
    return u85[0].rate;
}

static const tc_npu_map *first_operand(const tc_npu_op *op)
{
    return (op->swapped && op->ifm2.used) ||
                   (op->kind == TC_NPU_KIND_POOL && op->mode == TC_POOL_NONE)
               ? &op->ifm2
               : &op->ifm;
}

bool ti_npu_only_moves(const tc_npu_op *op)
{
    if (op->kind != TC_NPU_KIND_POOL || op->window.kh != 1 || op->window.kw != 1 || op->per_channel)
        return false;
    if (op->mode != TC_POOL_AVERAGE && op->mode != TC_POOL_SUM && op->mode != TC_POOL_NONE)
        return false;
    double factor = ldexp(op->ofm_scale.multiplier, -(int)op->ofm_scale.shift);
    return fabs(factor - 1) < 1e-6 && op->ofm.bytes == first_operand(op)->bytes;
}

static double rate_of_u55(const tc_npu_machine *m, const tc_npu_op *op)
{
    const double *rate = row_u55(m);
    bool ew = op->kind == TC_NPU_KIND_ELEMENTWISE, mul = ew && op->mode == TC_EW_MUL;
    rate_u55 i = ew && first_operand(op)->bytes == 4  ? (op->ifm2.used ? BINARY_32 : UNARY_32)
                 : mul && op->ofm.bytes == 4          ? MUL_TO_32
                 : mul || (!ew && op->acc_bits == 40) ? MUL_OR_40
                 : ew && (op->mode == TC_EW_ADD || op->mode == TC_EW_SUB)  ? ADD
                 : op->kind == TC_NPU_KIND_POOL && op->mode == TC_POOL_MAX ? MAX_POOL
                                                                           : OTHER;
    /* A separate table is an operation like any other; one fused with an operation may slow it
       down.
     */
    return op->function && !ti_npu_only_moves(op) && rate[TABLE] > rate[i] ? rate[TABLE] : rate[i];
}

static double resize_rate(const tc_npu_machine *m, const tc_npu_op *op, const double *rate)
{
    int32_t y = (op->ofm.h + op->ifm.h / 2) / op->ifm.h,
            x = (op->ofm.w + op->ifm.w / 2) / op->ifm.w;
    return rate[((x < y ? x : y) >= m->macs / 512 ? RESIZE_HIGH : RESIZE_LOW) +
                (op->ifm.bytes > 1)];
}

static double rate_of_u85(const tc_npu_machine *m, const tc_npu_op *op)
{
    const double *rate = row_u85(m);
    bool ew = op->kind == TC_NPU_KIND_ELEMENTWISE, turned = op->transpose == 1 ||
                                                            op->transpose == 3 ||
                                                            op->transpose == 7 || op->reverse == 2;
    bool activates = op->function || op->transpose || op->reverse;
    double behind = activates ? rate[turned ? TURNED : PLAIN] : 0, own;
    int in = first_operand(op)->bytes, out = op->ofm.bytes;
    if (activates && ti_npu_only_moves(op))
        return behind;
    if (ew && op->mode == TC_EW_DIV)
        own = DIVISION;
    else if (op->kind == TC_NPU_KIND_RESIZE)
        own = resize_rate(m, op, rate);
    else if (op->ofm.storage == TC_STORE_CHAIN && (in == 4 || out == 4))
        own = rate[CHAIN_32];
    else if (ew && op->ifm2.used && in == 4 && out != 8)
        own = rate[out == 4 ? BINARY_TO_32 : CHAIN_32];
    else
        own = rate[out == 8 ? TO_64 : out == 4 ? TO_32 : out == 2 ? TO_16 : TO_8];
    return own > behind ? own : behind;
}

double ti_npu_output_rate(const tc_npu_machine *m, const tc_npu_op *op)
{
    return m->product == TC_U85 ? rate_of_u85(m, op) : rate_of_u55(m, op);
}
