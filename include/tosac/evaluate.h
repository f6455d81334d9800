/* SPDX-License-Identifier: Apache-2.0 */
/* evaluate.h -- how often classifiers are right, side by side on the same data. */
#ifndef TOSAC_EVALUATE_H
#define TOSAC_EVALUATE_H

#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_evaluate_options {
    size_t size; /* of this record */
    const tc_model *const
        *program; /* their first outputs are scores, classes along the last axis */
    size_t n_program;
    tc_dataset *data;
    const char *labels; /* "by-folder": the folder of each picture, classes in the order of their
                           names; a .npy of whole numbers; a text of one number a line, behind a
                           comma or a space where the line has more; NULL: no labels */
    int perplexity; /* not 0: first inputs are tokens; the scores behind each foretell the next */
} tc_evaluate_options;
TC_SIZED_RECORD(tc_evaluate_options)

typedef struct tc_evaluation tc_evaluation;

/* One program beside the reference: the first that computes in float, else the first.  Intervals
 * hold with 95 %: Wilson's for a part of n, and the normal one of paired differences for `gain`. */
typedef struct tc_evaluated {
    size_t size; /* of this record: set by the caller */
    const char *name;
    size_t n, classes;
    size_t right, right5; /* of n: the label has the highest score, one of the five highest */
    double low, high;     /* between which right / n lies */
    double gain, gain_low, gain_high; /* right / n less the reference's */
    size_t agree;                     /* of n: the class of the reference has the highest score */
    double sqnr_db;                   /* of all scores beside the reference's; infinite: equal */
    double seconds;                   /* for one sample, reading it not counted */
    size_t foretold;                  /* tokens that the scores before them were asked about */
    double perplexity; /* of these: exp(mean of -log of the probability of each); 0: not asked */
} tc_evaluated;
TC_SIZED_RECORD(tc_evaluated)

TC_API TC_MUST_USE tc_status tc_evaluate(tc_ctx *ctx, const tc_evaluate_options *options,
                                         tc_evaluation **out);

TC_API size_t tc_evaluation_reference(const tc_evaluation *evaluation);
TC_API int tc_evaluation_has_labels(const tc_evaluation *evaluation);

/* 0: there is no i-th. */
TC_API int tc_evaluation_program(const tc_evaluation *evaluation, size_t i, tc_evaluated *out);

/* The i-th most frequent mistake of a program: samples of `label` that it takes for `said`; names
 * where folders have them, else NULL.  0: there is no i-th. */
typedef struct tc_confusion {
    size_t size; /* of this record: set by the caller */
    size_t label, said, count;
    size_t of; /* samples of that label */
    const char *label_name, *said_name;
} tc_confusion;
TC_SIZED_RECORD(tc_confusion)
TC_API int tc_evaluation_confusion(const tc_evaluation *evaluation, size_t program, size_t i,
                                   tc_confusion *out);

#ifdef __cplusplus
}
#endif
#endif
