/* SPDX-License-Identifier: Apache-2.0 */
/* lower_rnn.h -- what lower_rnn.c and rnn_i16.c share: recurrent layers as their operands and
 * attributes say.
 */
#ifndef TC_LOWER_RNN_H
#define TC_LOWER_RNN_H

#include <math.h>

#include "../move/lower_move.h"
#include "composite.h"

typedef enum tc_rnn_kind { TC_RNN_LSTM, TC_RNN_GRU, TC_RNN_TANH, TC_RNN_RELU } tc_rnn_kind;

typedef struct tc_rnn {
    tc_rnn_kind kind;
    int weight;            /* the operand w_ih of the first cell */
    int per_cell, project; /* project: from w_ih to w_hr; 0: h is not projected */
    bool bias, early, batch_first, one_step; /* early: a gru that resets h before its product */
    int64_t layers, ways, steps, batch, hidden, given; /* given: extent of h */
    bool read[3]; /* by result: it is used */
} tc_rnn;

/* The largest row sum of |w|; 0 without w. */
double ti_rnn_gain(const double *w, int64_t rows, int64_t n);
/* The steps of the 16-bit sums that go into sigmoid and tanh; 0: of relu. */
double ti_rnn_sum_unit(tc_op op, const tc_type *result);
/* The node with results of 16 bits, where the target has what exp_i16.c takes. */
void ti_put_rnn_i16(tc_build *lw, const tc_node *node, const tc_rnn *r, tc_val *out);

/* The largest size of a quantized value; 0: it is none. */
static inline double ti_rnn_reach(const tc_type *t)
{
    if (!t || !t->quant)
        return 0;
    double z = (double)t->quant->zero[0], lo = (double)t->quant->lo, hi = (double)t->quant->hi;
    return t->quant->scale[0] * fmax(fabs(lo - z), fabs(hi - z));
}

#endif
