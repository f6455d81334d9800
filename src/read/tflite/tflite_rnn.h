/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_rnn.h -- common to recurrent layers on real values and on codes. */
#ifndef TC_TFLITE_RNN_H
#define TC_TFLITE_RNN_H

#include "tflite_program.h"

/* Room for the results of all steps of x, each of which is built; NULL with a message. */
tc_val *ti_tfl_steps(tc_build *m, tc_val x, int64_t *steps);
tc_val ti_tfl_stacked(tc_build *m, tc_val *part, int64_t steps);
/* Results [steps, batch, width] as the file has them; bound to result i. */
void ti_tfl_bind_sequence(tc_tfl_node *n, int i, tc_val y, bool time_major);
/* SVDF: the last `memory` results of each filter, the newest last, the oldest dropped; kept in
 * input 4 and given as [batch, filters, memory]. */
tc_val ti_tfl_remember(tc_tfl_node *n, tc_val old, tc_val answer, int64_t batch, int64_t filters,
                       int64_t memory);

#endif
