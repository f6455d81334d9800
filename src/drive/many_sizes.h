/* SPDX-License-Identifier: Apache-2.0 */
/* many_sizes.h -- a model that leaves sizes open becomes one TOSA 1.1 program for all of them. */
#ifndef TC_MANY_SIZES_H
#define TC_MANY_SIZES_H

#include "../sizes/sizes.h"
#include "driver.h"

/* A program for many sizes: from which sizes it was made, and where it was tested. */
typedef struct tc_many_sizes {
    tc_module *general; /* TOSA with open dimensions */
    const tc_open_size *size;
    size_t n_size;
    const char **made_at, **tried_at; /* "seq=5" */
    size_t n_made, n_tried, cap_tried;
} tc_many_sizes;

/* A request for one size, or for many: for a module that leaves sizes open (tc_module.size) out is
 * the model at one of them, with the file of the general program for its one region
 * (out->work.many). */
TC_MUST_USE tc_status ti_compile(tc_ctx *ctx, const tc_compile_request *request, tc_compiled *out);

/* data_sizes.c: part of the calibration data, the samples of one choice of the open sizes. */
typedef struct tc_sized_data {
    int64_t *value;   /* by open size; what the data does not determine is as in the model */
    tc_dataset *data; /* NULL: there is none */
    size_t n_row;     /* files or arrays */
    bool *taken;      /* by row of the files */
} tc_sized_data;

/* The parts, in the order in which their sizes first occur; at least one.  Data of files that is a
 * part itself (tc_dataset.taken) has the parts of its rows. */
TC_MUST_USE tc_status ti_split_by_size(tc_ctx *ctx, const tc_module *module, tc_dataset *data,
                                       tc_sized_data **out, size_t *n);

/* The sizes that a row of data has, an array for each input; others are as in the model. */
TC_MUST_USE tc_status ti_row_sizes(tc_ctx *ctx, const tc_module *module, tc_npy *const *array,
                                   int64_t *value);

/* size_choices.c: one of the sizes that a list asks for, and the name of its method. */
typedef struct tc_size_choice {
    int64_t *value; /* by open size */
    const char *method;
    tc_dataset *data; /* samples of that size; NULL: there are none */
} tc_size_choice;

/* All of them.  The first is the size of the first part of the calibration data that has one of
 * them, which becomes the first part; else the largest. */
TC_MUST_USE tc_status ti_size_choices(tc_ctx *ctx, const tc_module *module, const char *method,
                                      tc_sized_data *part, size_t n_part, tc_size_choice **out,
                                      size_t *n);
/* The request's model at that size, as that method. */
TC_MUST_USE tc_status ti_request_at(tc_ctx *ctx, const tc_module *module,
                                    const tc_size_choice *choice, tc_compile_request *request);
/* The model with these sizes up to READY, for constants that grow
 * (tc_compile_request.sizes.largest) and for samples of that size; NULL: it fails there. */
const tc_module *ti_ready_at(tc_ctx *ctx, const tc_compile_request *request,
                             const tc_module *module, const int64_t *value);
/* data_sizes.c: "seq=5, rows=3". */
const char *ti_sizes_text(tc_ctx *ctx, const tc_module *module, const int64_t *value);
/* Adds the samples of these parts to what is observed: request->sizes. */
TC_MUST_USE tc_status ti_observe_sizes(tc_ctx *ctx, const tc_module *module,
                                       const tc_sized_data *part, size_t n,
                                       tc_compile_request *request);

/* The general program instantiated: inputs have these types, all else is inferred. */
TC_MUST_USE tc_status ti_at_sizes(const tc_module *general, const tc_type *const *input,
                                  tc_module **out);

#endif
