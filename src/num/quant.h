/* SPDX-License-Identifier: Apache-2.0 */
/* quant.h -- between stored integers and their real values. */
#ifndef TC_QUANT_H
#define TC_QUANT_H

#include "type.h"

/* The real values of a quantized tensor in f32, in the arena: (stored - zero) * scale, computed as
 * PyTorch does. */
tc_tensor ti_dequantized(tc_ctx *ctx, tc_arena *arena, tc_tensor q);

/* real (f32) into the buffer of out (quantized): clamp(round_half_even(real * (1 / scale)) + zero,
 * lo, hi). */
void ti_quantize_into(tc_tensor real, tc_tensor out);
void ti_nan_to_zero(tc_tensor real); /* NaN becomes 0 */

#endif
