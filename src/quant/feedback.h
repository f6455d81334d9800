/* SPDX-License-Identifier: Apache-2.0 */
/* feedback.h -- the weights of one product, rounded together; shared with correct.c, which runs the
 * programs. */
#ifndef TC_FEEDBACK_H
#define TC_FEEDBACK_H

#include "layer_inputs.h"
#include "weight_grid.h"

/* Windows of one sample: the layer's inputs in the real and the typed program. */
typedef struct tc_windows {
    const float *real, *typed;
} tc_windows;

typedef struct tc_feedback {
    tc_ctx *ctx;
    size_t n_thread;
    const tc_columns *shape;
    tc_tensor real, codes; /* weights as they were, and their codes so far */
    const tc_setting *setting;
    const tc_windows *window; /* by sample */
    size_t n_window;
    bool centred; /* the windows have their means taken off already */
    tc_arena *to; /* where the codes go */
} tc_feedback;

/* New codes for every row: descended from the old ones to the least squared error
 * over the windows, with means taken off, which the windows then are. */
tc_tensor ti_feedback_codes(const tc_feedback *f);

#endif
