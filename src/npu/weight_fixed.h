/* SPDX-License-Identifier: Apache-2.0 */
/* weight_fixed.h -- the fixed-size format of U85, written.
 *
 *   bits
 *      1  plain: bytes follow
 *      1  small: indices of 2 bits follow, else of 4
 *    102  zeros
 *      8  adjust: what was added to the weights so that they fit into signed bytes
 *    144  the first 16 different values, sign lowest
 *
 * and then the values, up to a multiple of 32 bytes. */
#ifndef TC_WEIGHT_FIXED_H
#define TC_WEIGHT_FIXED_H

#include "npu_weights.h"

/* Bits of a value; 0: the values do not fit.  different: how many values, at most 17 is enough;
 * bytes: nothing less will do (2:4 sparsity). */
int ti_npu_fixed_bits(int32_t different, int32_t lo, int32_t hi, bool bytes);

/* Bytes of n values. */
size_t ti_npu_fixed_bytes(size_t n, int bits);

/* n values, interleaved by core.  Empty: they do not fit. */
tc_bytes ti_npu_fixed_encode(tc_arena *arena, const int16_t *v, size_t n, bool bytes);

#endif
