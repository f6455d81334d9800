/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_signal.h -- what the builders of TFLM's audio operators share. */
#ifndef TC_TFLITE_SIGNAL_H
#define TC_TFLITE_SIGNAL_H

#include "tflite_program.h"

/* Input i, of that type. */
tc_val ti_tfl_typed(tc_tfl_node *n, int i, tc_dtype type);
/* An option of a custom operator, by its key, from least to most. */
int64_t ti_tfl_named(tc_tfl_node *n, const char *key, int64_t least, int64_t most);
/* What the operator remembers under that word: as it is now, zeros at first; and as it will be. */
tc_val ti_tfl_signal_state(tc_tfl_node *n, const char *what, const tc_type *type);
void ti_tfl_signal_remember(tc_tfl_node *n, const char *what, tc_val x);

/* The real transform of `length` samples, [rows, length] to [rows, length / 2 + 1, 2], and back; of
 * numbers of that type, whose fixed-point steps are TFLM's. */
tc_val ti_tfl_rfft(tc_tfl_node *n, tc_val x, int64_t length, tc_dtype type);
tc_val ti_tfl_irfft(tc_tfl_node *n, tc_val x, int64_t length, tc_dtype type);

#endif
