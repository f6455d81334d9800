/* SPDX-License-Identifier: Apache-2.0 */
/* quant.h -- real numbers to integers.
 *
 * The typed form: a value's quantization is part of its type, and an operator on quantized values means
 * quantize(op(dequantize(inputs))).  Only 'rescale' changes a domain; between f32 and a domain too. */
#ifndef TC_QUANT_STAGE_H
#define TC_QUANT_STAGE_H

#include "../ir/graph.h"

/* Quantize and dequantize nodes of an export that went through PT2E become types. */
TC_MUST_USE tc_status tc_quant_types(tc_ctx *ctx, tc_module *module);

/* The typed form as float arithmetic: quantize and dequantize after every operator whose result is
 * quantized, constants as the real numbers they stand for.  The same numbers as the typed form's, quickly. */
TC_MUST_USE tc_status tc_quant_simulate(tc_ctx *ctx, tc_module *module);

/* Whether any value of the module is quantized. */
bool tc_quant_is_typed(const tc_module *module);

#endif
