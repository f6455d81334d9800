/* SPDX-License-Identifier: Apache-2.0 */
/* curve.h -- the machine's own tanh and sigmoid: steps of 1/12288 in, of 1/32768 out. */
#ifndef TC_NPU_CURVE_H
#define TC_NPU_CURVE_H

#include "npu_op.h"

typedef enum tc_npu_curve { TC_CURVE_NONE, TC_CURVE_TANH, TC_CURVE_SIGMOID } tc_npu_curve;

/* The activation function's number; and the other way round. */
uint8_t ti_npu_curve_function(const tc_npu_machine *machine, tc_npu_curve curve);
tc_npu_curve ti_npu_curve_of(const tc_npu_machine *machine, const tc_npu_op *op);

/* U85 has its points in the table memory: the bytes of it, and whether they are there. */
void ti_npu_curve_table(tc_npu_curve curve, uint8_t out[TC_NPU_LUT]);
bool ti_npu_curve_loaded(const uint8_t *table);

void ti_npu_apply_curve(tc_npu_curve curve, int64_t *v, size_t n);

#endif
