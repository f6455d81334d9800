/* SPDX-License-Identifier: Apache-2.0 */
/* dataset.h -- samples as callers provide them, for code that iterates over them. */
#ifndef TC_DATASET_H
#define TC_DATASET_H

#include "../quant/quantizer.h"
#include "../read/data.h"
#include "../read/preprocess.h"
#include "tosac/tosac.h"

struct tc_dataset {
    tc_ctx *ctx;
    const char **path; /* files, or "random:SEED" */
    size_t n_path;
    const bool *taken;    /* the rows of the files (read/data.h) that are used; NULL: all */
    size_t repeat;        /* samples of a program without inputs; 0: one */
    size_t most;          /* samples that are used; 0: all */
    bool reset;           /* every sample starts from the initial state */
    const tc_rules *rules; /* images and audio; NULL: arrays */
    tc_pictures *pictures; /* that are open; or NULL */
    tc_sample_read *read; /* or the caller's function, for n samples */
    void *user;
    size_t n;
    const tc_graph *bound; /* the program that tc_dataset_bind() has seen */
    tc_data *data;         /* files that are open for it; NULL: there are none */
    tc_samples samples;
};

/* Samples for the program g: files are opened and checked against it. */
TC_MUST_USE tc_status ti_open_dataset(tc_ctx *ctx, tc_dataset *data, const tc_graph *g,
                                      tc_samples *out);

/* The same for calibration, with the samples that are held out (ti_held_out_count) to predict the
 * result on, and the others.  None are held out where `every` one is asked for, where values are
 * random, where the anchor's results are to be reproduced, and for a program with state, where each
 * sample continues from the one before: both are empty then. */
TC_MUST_USE tc_status ti_open_calibration(tc_ctx *ctx, tc_dataset *data, const tc_graph *g,
                                          const tc_config *config, bool every, tc_samples *out,
                                          tc_samples *learned, tc_samples *held_out);

/* Whether its values are random: "random:SEED". */
bool ti_dataset_invented(const tc_dataset *data);

/* Whether it is arrays in files. */
bool ti_dataset_files(const tc_dataset *data);

/* The picture or recording of a sample; NULL: there is none. */
const char *ti_dataset_file(const tc_dataset *data, size_t k);

/* Opens it to be read by the caller, sample after sample; each result may be NULL. */
TC_MUST_USE tc_status ti_bind_dataset(tc_ctx *ctx, tc_dataset *data, const tc_graph *g,
                                      size_t *samples, tc_join_kind *join, int64_t *extent);

/* Values that reach the ends of each input's type, replacing its contents: for integers and bools
 * the least and the greatest, 0 and its neighbours, for floats (`reals`) zeros and magnitudes from
 * 1e-3 to 1e4 of both signs.  Inputs of the other kind are unchanged.  false: there are none of
 * this kind. */
bool ti_invent_ends(const tc_graph *g, bool reals, const tc_tensor *in);

/* The same for a list of files. */
TC_MUST_USE tc_status ti_open_samples(tc_ctx *ctx, const tc_graph *g, const char *const *path,
                                      size_t n_path, tc_samples *out);

#endif
