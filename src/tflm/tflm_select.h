/* SPDX-License-Identifier: Apache-2.0 */
/* tflm_select.h -- the part of a program that the CPU runs, prepared for TensorFlow Lite Micro. */
#ifndef TC_TFLM_SELECT_H
#define TC_TFLM_SELECT_H

#include "../target/tflm.h"

/* The pass `select-tflm-operators`: the first graph in builtins of target/tflm.def, as
 * `select-cpu-kernels` has it in kernels.  What has no builtin is an error with its line, each. */
TC_MUST_USE tc_status ti_tflm_select_tflm_operators(tc_ctx *ctx, tc_module *module);

/* The same around nodes on codes, which stay, but for those at these places of the first graph: they
 * are computed on real numbers, with a warning. */
TC_MUST_USE tc_status ti_tflm_select_around_codes(tc_ctx *ctx, tc_module *module, const size_t *place, size_t n);
/* argmax and argmin give i32, cast to what they gave. */
TC_MUST_USE tc_status ti_tflm_narrow_places(tc_module *module);

/* Inputs of i64 become i32 with a cast each, and a warning; whether there is one. */
bool ti_tflm_narrow_inputs(tc_ctx *ctx, tc_module *module);

/* An arena for every value of the first graph, whose calls use these blocks; values alive together
 * do not overlap.  Mutable buffers are TFLM's variables, outside of the arena. */
tc_tflm_plan ti_tflm_plan(tc_ctx *ctx, const tc_graph *g, const tc_tflm_block *block, size_t n);
/* start_state.c: buffers of the first graph start as TFLM starts its variables. */
void ti_tflm_start_state(tc_module *module);

#endif
