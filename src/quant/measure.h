/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h -- how near a typed program is to the real one. */
#ifndef TC_MEASURE_H
#define TC_MEASURE_H

#include "quantizer.h"

/* What the real program makes of some samples. */
typedef struct tc_yardstick {
    tc_samples samples;
    tc_tensor *in;        /* a buffer for each of the real program's inputs */
    size_t n_out;
    const tc_type **type; /* of the outputs */
    float **real;         /* by sample and output */
    int64_t *first;       /* by sample: the greatest number of the first output */
    tc_arena *room;       /* in which they are */
    const int64_t *labels; /* where that ought to be, by sample of the whole data; or NULL */
} tc_yardstick;

/* Up to `most` samples, those with the least hashes; the first `skip`, from which methods learn,
 * are left out where enough others are there. */
TC_MUST_USE tc_status ti_yardstick_make(tc_ctx *ctx, tc_module *real, const tc_samples *samples,
                                        const tc_domains *domains, size_t most, size_t skip,
                                        tc_yardstick *out);

/* What it holds goes back. */
void ti_yardstick_end(const tc_yardstick *y);

typedef struct tc_measured {
    double sqnr_db;       /* of the real outputs */
    double agree;         /* samples with the same argmax of the first output */
    double drop;          /* points of right answers that the typed program has lost */
    double each;          /* mean over samples and outputs of noise, at most 1: lost is lost */
    size_t n;             /* samples that count */
    bool *measured;       /* by output: it is real in one program and has a grid in the other */
    double *error, *square; /* by output: squared error, and squares, over the samples */
} tc_measured;

/* Squared error over squares; where those are 0, the error. */
double ti_noise_ratio(double error, double square);

TC_MUST_USE tc_status ti_yardstick_measure(tc_ctx *ctx, tc_yardstick *y, const tc_module *typed,
                                           tc_measured *out);

#endif
