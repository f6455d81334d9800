/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h -- the error of a typed program against the real one. */
#ifndef TC_MEASURE_H
#define TC_MEASURE_H

#include "quantizer.h"

/* The real program's results on some samples. */
typedef struct tc_yardstick {
    tc_module *of; /* the real program */
    tc_samples samples;
    size_t known;         /* the first of them, whose results are there */
    tc_tensor *in;        /* a buffer for each of the real program's inputs */
    size_t n_out;
    const tc_type **type; /* of the outputs */
    float **real;         /* by sample and output */
    int64_t *first;       /* by sample: the largest element of the first output */
    tc_arena *room;       /* its index */
    const int64_t *labels; /* the expected index, by sample of the whole data; or NULL */
} tc_yardstick;

/* Up to `most` samples, those with the least hashes; opened, the real program runs on each as it is
 * needed. */
TC_MUST_USE tc_status ti_yardstick_make(tc_ctx *ctx, tc_module *real, const tc_samples *samples,
                                        const tc_domains *domains, size_t most, tc_yardstick *out);
TC_MUST_USE tc_status ti_yardstick_open(tc_ctx *ctx, tc_module *real, const tc_samples *samples,
                                        const tc_domains *domains, size_t most, tc_yardstick *out);

/* Without the first n, from which methods learn, if enough others remain; scores begin anew. */
void ti_yardstick_skip(tc_ctx *ctx, tc_yardstick *y, size_t n);

/* Frees it. */
void ti_yardstick_end(const tc_yardstick *y);

typedef struct tc_measured {
    double sqnr_db;       /* of the real outputs */
    double agree;         /* samples with the same argmax of the first output */
    double drop;          /* percentage points of accuracy that the typed program lost */
    double each;          /* mean over samples and outputs of noise, at most 1 each */
    size_t n;             /* samples that count */
    bool *measured;       /* by output: it is real in one program and on a grid in the other */
    double *error, *square; /* by output: squared error, and squares, over the samples */
} tc_measured;

/* SQNR in dB of an output: 10 log10 (signal / noise), sums of squares over its elements; INFINITY:
 * no noise. */
double ti_sqnr_db(double signal, double noise);

/* The same on samples that calibration has not seen.  seen: noise / signal on its own; 0: unknown.
 * A few samples may have little noise by chance, and new samples are never better than those that
 * ranges were chosen for. */
double ti_unseen_db(double signal, double noise, double seen);

/* Squared error over squares; where those are 0, the error. */
double ti_noise_ratio(double error, double square);

/* Errors of one typed program, sample by sample, as far as it has run; empty: nowhere yet. */
typedef struct tc_score {
    size_t n;
    bool *measured; /* by output */
    double *error;  /* by sample and output */
    int64_t *first; /* by sample: the largest element of the first output */
} tc_score;

/* On the first n samples, or all; score: what is known of this program, and more afterwards. */
TC_MUST_USE tc_status ti_yardstick_first(tc_ctx *ctx, tc_yardstick *y, const tc_module *typed, size_t n,
                                         tc_score *score, tc_measured *out);
/* On all. */
TC_MUST_USE tc_status ti_yardstick_measure(tc_ctx *ctx, tc_yardstick *y, const tc_module *typed,
                                           tc_measured *out);

#endif
