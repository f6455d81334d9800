/* SPDX-License-Identifier: Apache-2.0 */
/* results.h -- what a program gave, sample after sample: into files, and as a summary. */
#ifndef TC_RESULTS_H
#define TC_RESULTS_H

#include "../read/data.h"
#include "json.h"

/* One output over all samples. */
typedef struct tc_result {
    const char *name;    /* as the signature has it, or NULL */
    const tc_type *type; /* of one sample */
    int32_t rank;        /* of all samples joined */
    int64_t dim[TC_MAX_RANK + 1];
    int64_t count, n_nan; /* elements seen */
    double least, most, sum; /* over those that are numbers */
    struct tc_file *file;    /* NULL: not written */
} tc_result;

typedef struct tc_results {
    tc_ctx *ctx;
    bool raw;
    size_t n;
    tc_result *result;
} tc_results;

/* Ready for the results of g over the samples of data; folder NULL: nothing is written.
 * raw: bf16 and fp8 as their bits, else as float32. */
TC_MUST_USE tc_status tc_results_new(tc_ctx *ctx, const tc_graph *g, const tc_data *data,
                                     const char *folder, bool raw, tc_results **out);
TC_MUST_USE tc_status tc_results_add(tc_results *results, const tc_tensor *out);

/* All files get their final names. */
TC_MUST_USE tc_status tc_results_commit(tc_results *results);

/* Shape, least, greatest, mean of each: a table on standard output, or JSON in an object that is
 * open. */
void tc_results_print(const tc_results *results);
void tc_results_json(const tc_results *results, tc_json_out *out);

#endif
