/* SPDX-License-Identifier: Apache-2.0 */
/* cli_results.h -- the results of a program, sample after sample: into files, and as a summary. */
#ifndef TOSAC_CLI_RESULTS_H
#define TOSAC_CLI_RESULTS_H

#include "cli_json.h"

/* One output over all samples. */
typedef struct cli_result {
    const char *name;    /* as the signature has it, or NULL */
    const tc_type *type; /* of one sample */
    int32_t rank;        /* of all samples joined */
    int64_t dim[TC_MAX_RANK + 1];
    int64_t count, n_nan;    /* elements seen */
    double least, most, sum; /* over the elements that are not NaN */
    tc_npy_writer *file;     /* NULL: not written, or a file for each sample */
} cli_result;

typedef struct cli_results {
    cli *c;
    size_t n;
    cli_result *result;
    const char *folder; /* with a file for each sample, by its index: */
    const size_t *number;
    size_t n_added;
    int digits; /* of the indices */
    bool raw;
} cli_results;

/* How samples are combined, as tc_program_bind_data() has it. */
typedef struct cli_results_shape {
    tc_join_kind join;
    int64_t extent;
    size_t samples;
    const size_t *number; /* by sample, its index among all; NULL: samples are of one size */
    size_t all;           /* samples of all sizes */
} cli_results_shape;

/* Ready for the results of a program; folder NULL: nothing is written.  Samples of several sizes
 * have a file each, output_0/NUMBER.npy.  raw: bf16 and fp8 as their bits, else as float32. */
TC_MUST_USE tc_status cli_results_new(cli *c, const tc_program *program, cli_results_shape shape,
                                      const char *folder, bool raw, cli_results **out);

/* The results of one more sample, by output. */
TC_MUST_USE tc_status cli_results_add(cli_results *results, const tc_tensor *out);

/* All files get their final names. */
TC_MUST_USE tc_status cli_results_commit(cli_results *results);

/* Shape, least, greatest, mean of each: a table on standard output, or JSON into an open object. */
void cli_results_print(const cli_results *results);
void cli_results_json(const cli_results *results, cli_json_out *out);

#endif
