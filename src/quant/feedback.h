/* SPDX-License-Identifier: Apache-2.0 */
/* feedback.h -- the weights of one product, rounded jointly; shared with correct.c, which runs the
 * programs. */
#ifndef TC_FEEDBACK_H
#define TC_FEEDBACK_H

#include "layer_inputs.h"
#include "weight_grid.h"

enum { TC_REAL, TC_TYPED }; /* the two programs */

/* Some channels of a layer's input, or all where n is 0. */
typedef struct tc_some_channels {
    int64_t first, n;
} tc_some_channels;

typedef struct tc_feedback {
    tc_ctx *ctx;
    size_t n_thread;
    const tc_columns *shape;
    tc_tensor real, codes; /* weights as they were, and their codes so far */
    const tc_setting *setting;
    const size_t *sample; /* indices of those to learn from */
    size_t n_sample;
    /* The layer's input in one of the programs, as stored, in memory of `room`.  Thread-safe. */
    tc_tensor (*input)(void *who, size_t sample, int program, tc_some_channels some, tc_arena *room,
                       const int8_t **order);
    void *who;
    tc_arena *to; /* where the codes go */
} tc_feedback;

/* Codes so few that a row's own scale is found with them, and that every sample is needed. */
bool ti_feedback_few(const tc_setting *weight);

/* New codes for every row: descended from the old ones to the least squared error over windows of
 * the samples, without their means.  Few codes may have a type with other scales. */
tc_tensor ti_feedback_codes(const tc_feedback *f);

#endif
