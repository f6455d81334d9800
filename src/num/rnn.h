/* SPDX-License-Identifier: Apache-2.0 */
/* rnn.h -- how the operands of a recurrent layer are laid out.
 *
 * x, the states, then for every layer and direction: w_ih, w_hh; with biases b_ih, b_hh; and where
 * the h of an lstm is projected, w_hr.  The number of operands says whether it is. */
#ifndef TC_RNN_H
#define TC_RNN_H

#include "attr.h"

typedef struct tc_rnn_operands {
    int first;     /* the first cell's w_ih */
    int per_cell;
    int project;   /* from w_ih to w_hr; 0: h is not projected */
    int64_t cells; /* layers times directions */
} tc_rnn_operands;

/* states: 2 of an lstm, otherwise 1. */
static inline tc_rnn_operands ti_rnn_operands_of(const tc_attr_rnn *a, int n_in, int states)
{
    tc_rnn_operands o = {1 + states, a->has_bias ? 4 : 2, 0,
                         a->layers * (a->bidirectional ? 2 : 1)};
    if (states == 2 && n_in == o.first + (o.per_cell + 1) * (int)o.cells)
        o.project = o.per_cell++;
    return o;
}

#endif
