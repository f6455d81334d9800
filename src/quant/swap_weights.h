/* SPDX-License-Identifier: Apache-2.0 */
/* swap_weights.h -- the real program with the weights that a typed one has in some of its layers. */
#ifndef TC_SWAP_WEIGHTS_H
#define TC_SWAP_WEIGHTS_H

#include "layer_inputs.h"
#include "layer_pairs.h"
#include "measure.h"

typedef struct tc_swap {
    tc_module *real;
    const tc_pair *pair; /* its products, with those of a typed program */
    size_t n;
    const tc_columns *shape; /* by pair, where there are means */
    double **mean; /* by pair: of the elements of its windows; NULL: its bias stays */
} tc_swap;

/* Weights as the reals that their codes are. */
tc_tensor ti_swap_weights(tc_arena *arena, const tc_graph *typed, tc_val v);

/* The means of windows over some of the samples, of the layers that are wanted. */
TC_MUST_USE tc_status ti_swap_means(tc_ctx *ctx, tc_swap *s, const bool *wanted,
                                    const tc_samples *samples);

/* The noise of the outputs, as a part of their squares, with the weights of `typed` in the pairs that
 * are taken, biases that keep the means of their results, and all else as it was.  coarse: the same
 * products, paired with those of `typed`. */
TC_MUST_USE tc_status ti_swap_noise(tc_ctx *ctx, const tc_swap *s, tc_yardstick *yard,
                                    const tc_module *typed, const tc_pair *coarse,
                                    const bool *taken, double *noise);

/* What was measured, as such noise. */
double ti_swap_noise_of(const tc_measured *m);

#endif
