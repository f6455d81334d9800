/* SPDX-License-Identifier: Apache-2.0 */
/* observation_file.h -- files of observations: what calibration has seen on a part of the data.
 *
 * Little-endian.  A file of the first pass holds a row of ends for each sample; one of the second
 * pass holds what the rows of all parts said, and the counts of its own part. */
#ifndef TC_OBSERVATION_FILE_H
#define TC_OBSERVATION_FILE_H

#include "observations.h"

typedef enum tc_obs_kind { TC_OBS_FIRST = 1, TC_OBS_SECOND = 2 } tc_obs_kind;

/* Everything that files say together. */
typedef struct tc_obs {
    tc_obs_kind kind;
    tc_first first;   /* first pass: the rows of all files */
    tc_ranges ranges; /* second pass: the same in all files */
    bool *binned;     /* by domain: it has counts */
    uint64_t **count; /* by domain that has counts: TC_BINS of them, of all files */
    uint64_t counted; /* samples in the counts */
    uint64_t sum;     /* of their hashes: a part that is given twice, or for another, shows */
} tc_obs;

/* A number for what observations depend on: the program with its weights, and the domains. */
uint64_t ti_obs_fingerprint(tc_ctx *ctx, const tc_graph *g, const tc_domains *domains);

/* The bytes of a file; in the arena. */
tc_bytes ti_obs_bytes(tc_ctx *ctx, uint64_t fingerprint, const tc_obs *obs);

/* Reads them all, which must be of this program and of one pass, and adds them up. */
TC_MUST_USE tc_status ti_obs_read(tc_ctx *ctx, const tc_observations *part, size_t n,
                                  uint64_t fingerprint, size_t n_domain, tc_obs *out);

#endif
