/* SPDX-License-Identifier: Apache-2.0 */
/* rnn.c -- lstm, gru and the plain recurrent layers, and one step of each.
 *
 * The product with x is done for all steps at once; those with h step by step. */
#include "rnn.h"

#include "../base/real.h"
#include "gemm.h"
#include "math.h"
#include "work.h"

typedef enum kind { LSTM, GRU, EARLY, TANH, RELU } kind; /* EARLY: a gru that resets h before its product */

static const int64_t gates_of[] = {[LSTM] = 4, [GRU] = 3, [EARLY] = 3, [TANH] = 1, [RELU] = 1};

/* One layer in one direction. */
typedef struct layer {
    kind kind;
    int64_t steps, batch, in, hidden, given; /* given: extent of h, less than `hidden` where it is
                                                projected */
    bool backward;
    int64_t y_row; /* elements from one row of the result to the next */
} layer;

static double sigmoid_f64(double x) { return 1 / (1 + ti_exp(-x)); }

#define NAME(f) f##_f32
#define T float
#define SIGMOID ti_sigmoidf
#define HYPERBOLIC ti_tanhf
#include "rnn_body.h"

#define NAME(f) f##_f64
#define T double
#define SIGMOID sigmoid_f64
#define HYPERBOLIC ti_tanh
#include "rnn_body.h"

static void run_layers(tc_call *call, kind k)
{
    if (ti_work_of(call->in[0].type->dtype) == TC_WORK_f32)
        run_f32(call, k);
    else
        run_f64(call, k);
}

static void run_cell(tc_call *call, kind k)
{
    if (ti_work_of(call->in[0].type->dtype) == TC_WORK_f32)
        cell_f32(call, k);
    else
        cell_f64(call, k);
}

void ti_num_lstm(tc_call *call) { run_layers(call, LSTM); }
void ti_num_gru(tc_call *call)
{
    const tc_attr_rnn *a = call->attr;
    run_layers(call, a->reset_first ? EARLY : GRU);
}
void ti_num_rnn_tanh(tc_call *call) { run_layers(call, TANH); }
void ti_num_rnn_relu(tc_call *call) { run_layers(call, RELU); }
void ti_num_lstm_cell(tc_call *call) { run_cell(call, LSTM); }
void ti_num_gru_cell(tc_call *call) { run_cell(call, GRU); }
void ti_num_rnn_tanh_cell(tc_call *call) { run_cell(call, TANH); }
void ti_num_rnn_relu_cell(tc_call *call) { run_cell(call, RELU); }
