/* SPDX-License-Identifier: Apache-2.0 */
/* observation_file.h -- files of observations of a part of the data.
 *
 * Little-endian.  A file of the first pass holds a row of ends for each sample; one of the second
 * pass holds the result of the rows of all parts, and the counts of its own part. */
#ifndef TC_OBSERVATION_FILE_H
#define TC_OBSERVATION_FILE_H

#include "observations.h"

typedef enum tc_obs_kind { TC_OBS_FIRST = 1, TC_OBS_SECOND = 2 } tc_obs_kind;

/* The contents of all files, merged. */
typedef struct tc_obs {
    tc_obs_kind kind;
    tc_first first;   /* first pass: the rows of all files */
    tc_ranges ranges; /* second pass: the same in all files */
    bool *binned;     /* by domain: it has counts */
    uint64_t **count; /* by domain that has counts: TC_BINS of them, of all files */
    uint64_t counted; /* samples in the counts */
    uint64_t sum;     /* of their hashes: detects a part given twice, or for another */
} tc_obs;

/* A hash of everything that observations depend on: the program with its weights, and the
 * domains. */
uint64_t ti_obs_fingerprint(tc_ctx *ctx, const tc_graph *g, const tc_domains *domains);

/* The bytes of a file; in the arena. */
tc_bytes ti_obs_bytes(tc_ctx *ctx, uint64_t fingerprint, const tc_obs *obs);

/* Reads them all, which must be of this program and of one pass, and merges them. */
TC_MUST_USE tc_status ti_obs_read(tc_ctx *ctx, const tc_observations *part, size_t n,
                                  uint64_t fingerprint, size_t n_domain, tc_obs *out);

#endif
