/* SPDX-License-Identifier: Apache-2.0 */
/* table_function.h -- functions of one number, or of two, given by their values at every code. */
#ifndef TC_TABLE_FUNCTION_H
#define TC_TABLE_FUNCTION_H

#include "../lower.h"

/* How many values describe a function of an i8 or i16: one per code, and for i16 one past the last.
 */
static inline int64_t ti_lookup_count(tc_dtype from) { return from == TC_i8 ? 256 : 65537; }

/* The function whose value at code ti_dtype_min + i is code[i] (a code of the result's domain,
 * before rounding and clamping).  i8 or i16 to i8, i16 or i32; exact from i8; from i16 within two
 * steps, mostly within one. */
tc_val ti_put_lookup(tc_build *lw, tc_val x, const tc_type *from, tc_dtype to, const tc_quant *q,
                     const double *code);

/* code[at], rounded and clamped, from a list of 65536 by GATHER; at: i32. */
tc_val ti_put_listed(tc_build *lw, tc_val at, tc_dtype to, const tc_quant *q, const double *code);

/* The one real number that a constant operand holds everywhere; as f32, the way the kernel would
 * see it.  false: it does not. */
bool ti_function_number(tc_build *lw, tc_val v, float *x);
/* The only operand that is not one constant number everywhere, or -1. */
int ti_function_operand(tc_build *lw, const tc_node *node);
/* The node's values over all codes of that operand; NULL after an error. */
double *ti_function_codes(tc_build *lw, const tc_node *node, int which);
/* Lowered as a table, when it is a function of one quantized operand; false: it is not. */
bool ti_lower_try_function(tc_build *lw, const tc_node *node, tc_val *out);
/* A logarithm, root or fractional power of an i32 (wide_function.c).  false: it is not. */
bool ti_lower_try_wide(tc_build *lw, const tc_node *node, tc_val *out);
/* A function of two i8 operands, where the target has GATHER: all 65536 pairs of codes in a list,
 * read at 256 * (x + 128) + (y + 128).  false: it is not. */
bool ti_lower_try_pair(tc_build *lw, const tc_node *node, tc_val *out);

/* wide_function.c: log2(m) in steps of 1 / TC_OCTAVE, m >= 1 an i32; half an octave below 0 for m = 0. */
#define TC_OCTAVE 65536.0
tc_val ti_put_log2(tc_build *lw, tc_val m);

#endif
