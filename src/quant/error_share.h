/* SPDX-License-Identifier: Apache-2.0 */
/* error_share.h -- the contribution of each value to the error of the outputs. */
#ifndef TC_ERROR_SHARE_H
#define TC_ERROR_SHARE_H

#include "../run/plan.h"
#include "quantizer.h"

/* A value of the real program, and the grid that it has in the other. */
typedef struct tc_alone {
    tc_val value;
    const tc_quant *grid; /* one scale for all */
    double noise; /* the result: squared error over squares of the outputs, a mean over outputs and
                     samples; NaN: it was not measured */
    double square, error, cut; /* its own: squares, squared error on the grid, and what of that is
                                  numbers beyond its ends */
} tc_alone;

/* Ends of its grid cut numbers, and little of that reaches the outputs: on purpose. */
bool ti_alone_is_cut(const tc_alone *row);

/* The real program runs with one of the values on its grid and everything else as it is, over a few
 * of the samples; values beyond the work that this may take are not measured, so that the most
 * interesting come first.  plan: of g, with these values wanted.  state: what g remembers, by
 * mutation. */
TC_MUST_USE tc_status ti_quant_error_shares(tc_ctx *ctx, const tc_graph *g, const tc_plan *plan,
                                            const bool *wanted, void *const *state,
                                            const tc_samples *samples, tc_alone *row, size_t n);

/* About how many multiplications a run of the program takes. */
double ti_quant_work(const tc_graph *g);

#endif
