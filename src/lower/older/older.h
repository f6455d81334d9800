/* SPDX-License-Identifier: Apache-2.0 */
/* older.h -- TOSA 1.1 in the words of 1.0, for files whose instructions are 1.0's (VGF).
 *
 *   fold_shapes.c       shapes that operators compute     ->  constants
 *   expand_blocks.c     block-scaled tensors              ->  f32 of the same values
 *   round_blocks.c      the rounding of those
 *   narrow_i64.c        i64 that fits 32 bits             ->  i32
 *   expand_newer.c      other operators and types         ->  operators of 1.0
 *
 * The first four keep every bit; sums of products may round elsewhere. */
#ifndef TC_OLDER_H
#define TC_OLDER_H

#include "../../ir/build.h"
#include "../../target/target.h"

/* x (f32) rounded to blocks of that value type, as f32; values[] and scales[] separately if not
 * NULL.  fp8: the target casts to it, else by comparisons. */
tc_val ti_older_round(tc_build *b, tc_val x, tc_dtype value, bool fp8, tc_val *values,
                      tc_val *scales);

/* Operand i of the node, a constant shape, as integers; a message if it is not constant. */
tc_ints ti_older_shape(tc_build *b, int i);

/* Inputs and outputs of a type that 1.0 lacks are refused by name: it is who calls that knows it. */
TC_MUST_USE tc_status ti_older_ports(tc_ctx *ctx, const tc_graph *g, bool (*lacks)(tc_dtype),
                                     const char *note);

#endif
