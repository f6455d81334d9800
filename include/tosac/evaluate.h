/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.h -- accuracy of several classifiers on the same data, side by side. */
#ifndef TOSAC_EVALUATE_H
#define TOSAC_EVALUATE_H

#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_evaluate_options {
    size_t size; /* of this record */
    const tc_model *const
        *program; /* their first outputs are scores with classes along the last axis */
    size_t n_program;
    tc_dataset *data;
    const char *labels; /* "by-folder": the folder of each image, classes in the order of their
                           names; a .npy of integers; a text file with one label a line, its last
                           field; NULL: no labels */
    bool perplexity;    /* first inputs are tokens; output i scores the token after input i */
    /* Samples of several sizes, in place of program and data: for each size the programs one after
     * the other, n_program of them, with the data of that size (tc_model_open_sizes()). */
    const tc_sized_model *sized;
    size_t n_sized; /* sizes; 0: one */
} tc_evaluate_options;
TC_SIZED_RECORD(tc_evaluate_options)

typedef struct tc_evaluation tc_evaluation;

/* One program against the reference, which is the first float program, else the first.  95 %
 * intervals: Wilson's for a share of n, the normal one of paired differences for `gain`. */
typedef struct tc_evaluated {
    size_t size; /* of this record: set by the caller */
    const char *name;
    size_t n, classes;
    size_t right, right5;             /* of n: the label is the top-1 class, among the top 5 */
    double low, high;                 /* 95 % interval of right / n */
    double gain, gain_low, gain_high; /* right / n minus the reference's */
    size_t agree;                     /* of n: the same top-1 class as the reference */
    double sqnr_db;                   /* of all scores against the reference's; infinite: equal */
    double seconds;                   /* per sample, without reading it */
    size_t predicted;                  /* tokens that were predicted */
    double perplexity;                /* of these: exp(mean(-log p)); 0: not asked for */
} tc_evaluated;
TC_SIZED_RECORD(tc_evaluated)

TC_API TC_MUST_USE tc_status tc_evaluate(tc_ctx *ctx, const tc_evaluate_options *options,
                                         tc_evaluation **out);

TC_API size_t tc_evaluation_reference(const tc_evaluation *evaluation);
TC_API bool tc_evaluation_has_labels(const tc_evaluation *evaluation);

/* Program i; false: there are no more. */
TC_API bool tc_evaluation_program(const tc_evaluation *evaluation, size_t i, tc_evaluated *out);

/* The i-th most frequent mistake of a program: samples of `label` classified as `said`; names where
 * labels are folders, else NULL.  false: there are no more. */
typedef struct tc_confusion {
    size_t size; /* of this record: set by the caller */
    size_t label, said, count;
    size_t of; /* samples of that label */
    const char *label_name, *said_name;
} tc_confusion;
TC_SIZED_RECORD(tc_confusion)
TC_API bool tc_evaluation_confusion(const tc_evaluation *evaluation, size_t program, size_t i,
                                   tc_confusion *out);

#ifdef __cplusplus
}
#endif
#endif
