/* SPDX-License-Identifier: Apache-2.0 */
/* many_sizes.h -- a model that leaves sizes open becomes one TOSA 1.1 program for all of them. */
#ifndef TC_MANY_SIZES_H
#define TC_MANY_SIZES_H

#include "../sizes/sizes.h"
#include "driver.h"

/* What a program for many sizes is: from which sizes it was made, and where it was tried. */
typedef struct tc_many_sizes {
    tc_module *general; /* TOSA with open dimensions */
    const tc_open_size *size;
    size_t n_size;
    const char **made_at, **tried_at; /* "seq=5" */
    size_t n_made, n_tried, cap_tried;
} tc_many_sizes;

/* A request for one size, or for many: of a module that leaves sizes open (tc_module.size) out is what
 * the model is at one of them, with the file of the general program for its one region (out->many). */
TC_MUST_USE tc_status ti_compile(tc_ctx *ctx, const tc_compile_request *request, tc_compiled *out);

/* data_sizes.c: open sizes as the calibration data has them; those that it does not show stay as they
 * are. */
TC_MUST_USE tc_status ti_sizes_of_data(tc_ctx *ctx, const tc_module *module,
                                       const tc_dataset *data, int64_t *value);

/* The general program with sizes filled in: inputs have these types, all else follows. */
TC_MUST_USE tc_status ti_at_sizes(const tc_module *general, const tc_type *const *input,
                                  tc_module **out);

#endif
