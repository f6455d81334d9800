/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_select.h -- the part of a program that the CPU runs, prepared for ExecuTorch's runtime. */
#ifndef TC_CPU_SELECT_H
#define TC_CPU_SELECT_H

#include "../target/cpu.h"

/* The pass `select-cpu-kernels`: the first graph in kernels of target/cpu.def.  A change of domain
 * becomes quantize and dequantize; operators on quantized values work on real values between the
 * two, movement on the codes; operators without a kernel become several that have one.  Others are
 * an error with their Python line.  The same for graphs of loops; others are not changed. */
TC_MUST_USE tc_status ti_executorch_select_cpu_kernels(tc_ctx *ctx, tc_module *module);

/* Whether kernels compute the operator, one or several of them. */
bool ti_cpu_knows(tc_op op);

/* The buffers of the first graph get their addresses in the block, which other methods may have
 * used before.  Two that share a name but not a type are an error. */
TC_MUST_USE tc_status ti_plan_state(tc_ctx *ctx, const tc_module *module, tc_state_block *state);

/* An address for every value of the first graph: those alive together are apart.  state: where its
 * buffers are, as ti_plan_state has it; NULL: in the same block. */
tc_memory ti_plan_memory(tc_ctx *ctx, const tc_module *module, const tc_state_block *state);

#endif
