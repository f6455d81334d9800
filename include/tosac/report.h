/* SPDX-License-Identifier: Apache-2.0 */
/* report.h -- everything about a model and its compiled program on one page.
 *
 * The page is a single HTML file without external resources; the same as JSON is for programs
 * (doc/schema/report.json). */
#ifndef TOSAC_REPORT_H
#define TOSAC_REPORT_H

#include "advise.h"
#include "compile.h"
#include "evaluate.h"
#include "inspect.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the JSON schema: new members do not change it, new meanings do. */
#define TC_REPORT_SCHEMA 1

/* The contents of the report; every field but model may be NULL. */
typedef struct tc_report_options {
    size_t size;                     /* of this record */
    const tc_model *model;           /* as it was read: its graph is shown */
    tc_compiled *compiled;           /* its compiled program; with tc_compile_options.details
                                        every operator has a cost */
    const tc_model *typed;           /* the quantized model, if nothing was compiled */
    const tc_model *second;          /* the other model of `comparison` */
    const tc_comparison *comparison; /* of the model and `second` */
    tc_dataset *samples;             /* errors are measured on these */
    size_t most_samples;             /* the most samples; 0: 8 */
    const char *command;             /* the command line, shown in the report */
    const char *config;              /* the quantization setting */
    const char *const *data;         /* names of the sample files */
    size_t n_data;
    const char *labels;              /* of the samples, as tc_evaluate takes them: top-1 is told */
    const tc_advice *advice;         /* on the model */
} tc_report_options;
TC_SIZED_RECORD(tc_report_options)

/* The report, as a page or as JSON; it lives as long as the context. */
typedef enum tc_report_form {
    TC_REPORT_FORM_HTML = 0,
    TC_REPORT_FORM_JSON = 1,
    TC_REPORT_FORM_MODEL_EXPLORER = 2 /* the graph as Model Explorer's JSON */
} tc_report_form;
TC_API TC_MUST_USE tc_status tc_report_make(tc_ctx *ctx, const tc_report_options *options,
                                            tc_report_form form, tc_bytes *out);

/* The same into a file: JSON where the name ends in .json, else a page. */
TC_API TC_MUST_USE tc_status tc_report_write(tc_ctx *ctx, const tc_report_options *options,
                                             const char *path);

/* ---- reports that were written before ---- */

/* What tc_report_write() wrote, JSON or page, read back; it lives as long as the context. */
typedef struct tc_saved_report tc_saved_report;
TC_API TC_MUST_USE tc_status tc_report_read(tc_ctx *ctx, const char *path, tc_saved_report **out);

/* In short, or with `before` what changed from that one to this: in cycles, memory and dB, as a whole
 * and layer by layer.  As JSON, of one report alone: all of it. */
TC_API TC_MUST_USE tc_status tc_report_tell(tc_ctx *ctx, const tc_saved_report *report,
                                            const tc_saved_report *before, tc_form form,
                                            const char **out);

/* Its page; with `before`, what changed comes first. */
TC_API TC_MUST_USE tc_status tc_report_page(tc_ctx *ctx, const tc_saved_report *report,
                                            const tc_saved_report *before, tc_bytes *out);

/* Its tables as CSV, one after the other: *name is "nodes", "steps", "memory", ...; with `before`
 * "changes" and "layers".  *name NULL: there are no more. */
TC_API TC_MUST_USE tc_status tc_report_csv(tc_ctx *ctx, const tc_saved_report *report,
                                           const tc_saved_report *before, size_t i,
                                           const char **name, tc_bytes *out);

/* What changed since `before`, held to limits: "cycles+2%", "flash+4K", "db-0.5"; names are cycles, time,
 * sram, memory, weights, flash, cpu, db, top1.  *table is a table in Markdown, *exceeded the number of
 * limits that are exceeded. */
TC_API TC_MUST_USE tc_status tc_report_hold(tc_ctx *ctx, const tc_saved_report *report,
                                            const tc_saved_report *before, const char *const *limit,
                                            size_t n, const char **table, size_t *exceeded);

#ifdef __cplusplus
}
#endif
#endif
