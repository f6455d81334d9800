/* SPDX-License-Identifier: Apache-2.0 */
/* advise.h -- what to change in a model or in its settings, and what that saves.
 *
 * Each change is made and the whole program compiled with it; what is said of it is the difference
 * between the two programs.  Cycles are the cost model's (profile.h), bytes those of the program,
 * dB are measured on the calibration samples. */
#ifndef TOSAC_ADVISE_H
#define TOSAC_ADVISE_H

#include "compile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_advice tc_advice;

typedef struct tc_advise_options {
    size_t size;  /* of this record */
    size_t tries; /* changes that are tried, at most; 0: 24 */
} tc_advise_options;
TC_SIZED_RECORD(tc_advise_options)

/* A program in figures. */
typedef struct tc_advice_figures {
    double cycles;   /* of the accelerator, or of the core; 0: not known for the target */
    double sram;     /* bytes of working memory; 0: not known */
    double flash;    /* bytes of constants and command streams, or of constants and code */
    size_t on_cpu;   /* operators of the model that the target leaves to the CPU, */
    size_t converts; /* and conversions between floats and integers at its borders */
    size_t regions;  /* parts that the target runs in one piece */
    double sqnr_db;  /* of the outputs, quantized against float, on calibration samples; NAN: not
                        measured */
    double cycles_low, cycles_high; /* the band around cycles */
} tc_advice_figures;

/* Advises on a model: compiles it as tc_compile() would with these options, then with changes.
 *
 *   model    is not changed
 *   compile  with a target; files are not made.  Without samples ranges do not matter and nothing is
 *            said of accuracy: give random ones and quant.only_if_needed
 *   options  NULL: the defaults
 *   out      on TC_OK, the advice; it lives as long as the context
 *
 * The same model and options give the same advice. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_advise(tc_ctx *ctx, const tc_model *model,
                                                       const tc_compile_options *compile,
                                                       const tc_advise_options *options,
                                                       tc_advice **out);

typedef struct tc_advice_info {
    size_t size;           /* of this record: set by the caller */
    const char *target;
    tc_advice_figures now; /* the program as it is */
    size_t n_item;         /* pieces of advice */
    size_t tried, left;    /* changes that were compiled; that there was no try left for */
    size_t samples;        /* of the calibration data; 0: there was none */
} tc_advice_info;
TC_SIZED_RECORD(tc_advice_info)

/* The program as it is, for reports; it belongs to `advice`. */
TC_API TC_EXPERIMENTAL tc_compiled *tc_advice_compiled(const tc_advice *advice);

TC_API TC_EXPERIMENTAL void tc_advice_get_info(const tc_advice *advice, tc_advice_info *out);

/* One change. */
typedef struct tc_advice_item {
    size_t size;        /* of this record: set by the caller */
    const char *kind;   /* "kernel", "channels", "optimise": doc/advise.md */
    const char *change; /* what to do, in words */
    const char *why;    /* the reason */
    const char *node;   /* the node of the model, or the first of several; NULL: a setting */
    const tc_loc *loc;  /* likewise */
    const char *option; /* a setting: for the command line; else NULL */
    bool retrain;       /* the network computes something else: it must be trained again */
    const char *basis;  /* where the figures come from, in words */
    tc_advice_figures before, then; /* the two programs that were compared */
} tc_advice_item;
TC_SIZED_RECORD(tc_advice_item)

/* Advice i, what saves most first; false: there is no more.  Behind the n_item pieces of advice come
 * the changes that were tried and bring too little. */
TC_API TC_EXPERIMENTAL bool tc_advice_get_item(const tc_advice *advice, size_t i,
                                               tc_advice_item *out);

/* As a page or as JSON (doc/schema/advise.json).  The text ends in a newline and a NUL, and lives as
 * long as the context. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_advice_report(tc_ctx *ctx, const tc_advice *advice,
                                                              tc_form form, const char **out);

#ifdef __cplusplus
}
#endif
#endif
