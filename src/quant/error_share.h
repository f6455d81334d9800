/* SPDX-License-Identifier: Apache-2.0 */
/* error_share.h -- the contribution of each value to the error of the outputs. */
#ifndef TC_ERROR_SHARE_H
#define TC_ERROR_SHARE_H

#include "../run/plan.h"
#include "quantizer.h"

/* A value of the real program, and the grid that it has in the other. */
typedef struct tc_alone {
    tc_val value;
    const tc_quant *grid; /* one scale for the whole tensor */
    double noise; /* the result: squared error over squares of the outputs, a mean over outputs and
                     samples; NaN: not measured */
    double square, error, cut; /* its own: squares, squared error on the grid, and the part of that
                                  from clipping */
} tc_alone;

/* The grid clips values, with little effect on the outputs: intended. */
bool ti_alone_is_cut(const tc_alone *row);

/* The real program runs with one of the values rounded to its grid and everything else unchanged,
 * over a few of the samples: every value on one before any on a second.  Within the work
 * budget those with the most noise of their own come first.  plan: of g, with these values wanted.  state: of g, by mutation. */
TC_MUST_USE tc_status ti_quant_error_shares(tc_ctx *ctx, const tc_graph *g, const tc_plan *plan,
                                            const bool *wanted, void *const *state,
                                            const tc_samples *samples, tc_alone *row, size_t n);

/* Estimated multiplications of a run. */
double ti_quant_work(const tc_graph *g);

#endif
