/* SPDX-License-Identifier: Apache-2.0 */
/* data.h -- datasets: samples from files, from a callback or random; and .npy files.
 *
 * A sample is one tensor for each input of a program, of the input's own type and shape. */
#ifndef TOSAC_DATA_H
#define TOSAC_DATA_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_dataset tc_dataset;

/* A dataset of files: .npy, .npz, folders of them, or "random:SEED" alone for 32 random samples
 * (doc/calibration.md says which array goes to which input).  Files are opened when the data is
 * used, and errors are reported then.  The paths are copied. */
TC_API TC_MUST_USE tc_status tc_dataset_open(tc_ctx *ctx, const char *const *path, size_t n,
                                              tc_dataset **out);

/* The files are images (PNG, JPEG) or audio (WAV), in folders at any depth, preprocessed by
 * rules: "resize=256 crop=224 mean=0.485,0.456,0.406 std=0.229,0.224,0.225"; doc/data.md lists
 * them.  TC_USAGE and a message when the text is wrong. */
TC_API TC_MUST_USE tc_status tc_dataset_preprocess(tc_ctx *ctx, tc_dataset *data,
                                                   const char *rules);

/* The file of sample k, in a bound dataset of images or audio; else NULL. */
TC_API const char *tc_dataset_file(const tc_dataset *data, size_t k);

/* Fills in[i].data with sample k for input i, as many bytes as tc_type_bytes(in[i].type).  It is
 * called for one sample at a time, in any order, also repeatedly, perhaps from another thread than
 * the caller's.  It must not call the library with the same context.  Any status but TC_OK ends the
 * call with that status. */
typedef tc_status tc_sample_read(void *user, size_t k, const tc_tensor *in, size_t n_in);

/* A dataset of n samples that a callback reads. */
TC_API TC_MUST_USE tc_status tc_dataset_new(tc_ctx *ctx, size_t n, tc_sample_read *read,
                                                 void *user, tc_dataset **out);

/* A program without inputs has one empty sample: n of them instead; 0: one.  For a program with
 * inputs this is an error, reported when the data is used. */
TC_API void tc_dataset_repeat(tc_dataset *data, size_t n);

/* Use only the first n samples; 0: all of them. */
TC_API void tc_dataset_limit(tc_dataset *data, size_t n);

/* ---- reading samples ---- */

/* How the results of several samples are stacked. */
typedef enum tc_join_kind {
    TC_JOINED_NOT = 0,   /* a single sample in its own shape */
    TC_JOINED_FIRST = 1, /* samples are slices of the inputs' first axis */
    TC_JOINED_NEW = 2    /* samples have an axis of their own */
} tc_join_kind;

/* Opens the files and checks them against the inputs of a model; the dataset is then bound to it.
 * samples, join, extent (of one sample along the first axis): each may be NULL. */
TC_API TC_MUST_USE tc_status tc_dataset_bind(tc_ctx *ctx, tc_dataset *data, const tc_model *model,
                                             size_t *samples, tc_join_kind *join, int64_t *extent);

/* Reads sample k of a bound dataset into in[i].data for each input of the model. */
TC_API TC_MUST_USE tc_status tc_dataset_sample(tc_ctx *ctx, tc_dataset *data, size_t k,
                                               const tc_tensor *in, size_t n_in);

/* ---- samples of several sizes ---- */

/* A program at one of its sizes, and the samples that fit it. */
typedef struct tc_sized_model {
    size_t size; /* of this record */
    const tc_model *model;
    tc_dataset *data;
    const size_t *number; /* of each of its samples among all; NULL: it has all of them */
    size_t n_sample;      /* as many as there are numbers */
} tc_sized_model;

/* Opens a model that may leave sizes open (a .pt2 or .tosa, or a .pte with a method for each size)
 * and takes its sizes from the data: one after the other, in the order in which they come, with the
 * samples that fit each.  A model without open sizes, and data that is not files, is one.
 *
 *   options  as for tc_model_open()
 *   out      on TC_OK, n records that live as long as the context */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_model_open_sizes(tc_ctx *ctx, const char *path, const tc_model_options *options,
                    tc_dataset *data, const tc_sized_model **out, size_t *n);

/* ---- .npy files ---- */

/* A .npy file being written under a temporary name; it is removed with the context unless
 * tc_npy_commit() gives it its final name. */
typedef struct tc_npy_writer tc_npy_writer;

/* raw: bf16 and fp8 as their bits; else they are written as float32.  At most TC_MAX_RANK + 1
 * dimensions. */
TC_API TC_MUST_USE tc_status tc_npy_create(tc_ctx *ctx, const char *path, tc_dtype dtype, bool raw,
                                           int32_t rank, const int64_t *dim, tc_npy_writer **out);

/* Appends a tensor of that element type; finishes the file. */
TC_API TC_MUST_USE tc_status tc_npy_append(tc_npy_writer *writer, const tc_tensor *tensor);
TC_API TC_MUST_USE tc_status tc_npy_commit(tc_npy_writer *writer);

/* ---- other files ---- */

/* Writes a file completely or, on failure, not at all: an existing file then stays as it is. */
TC_API TC_MUST_USE tc_status tc_write_file(tc_ctx *ctx, const char *path, tc_bytes bytes);

/* Makes a folder, and its parents where they are missing. */
TC_API TC_MUST_USE tc_status tc_make_folder(tc_ctx *ctx, const char *path);

#ifdef __cplusplus
}
#endif
#endif
