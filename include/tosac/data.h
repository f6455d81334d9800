/* SPDX-License-Identifier: Apache-2.0 */
/* data.h -- samples: from files, from a callback, or invented; and results into .npy files.
 *
 * A sample is one tensor for each input of a program, of the input's own type and shape. */
#ifndef TOSAC_DATA_H
#define TOSAC_DATA_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_dataset tc_dataset;

/* Files: .npy, .npz, folders of them, or "random:SEED" alone for 32 samples that are invented
 * (doc/calibration.md has which array goes to which input).  Nothing is opened yet: mistakes show
 * when the data is used.  The paths are copied. */
TC_API TC_MUST_USE tc_status tc_dataset_files(tc_ctx *ctx, const char *const *path, size_t n,
                                              tc_dataset **out);

/* The files are pictures (PNG, JPEG) or sounds (WAV), in folders at any depth, and are made ready
 * by rules: "resize=256 crop=224 mean=0.485,0.456,0.406 std=0.229,0.224,0.225"; doc/data.md has all
 * of them.  TC_USAGE and a message when the text is mistaken. */
TC_API TC_MUST_USE tc_status tc_dataset_preprocess(tc_ctx *ctx, tc_dataset *data,
                                                   const char *rules);

/* The file that sample k of a bound dataset of pictures or sounds comes from; else NULL. */
TC_API const char *tc_dataset_file(const tc_dataset *data, size_t k);

/* Fills in[i].data with sample k for input i, as many bytes as tc_type_bytes(in[i].type).  Samples
 * may be asked for again and in any order, one at a time, and from another thread than the one that
 * made the call.  It must not call the library with the same context.  Anything but TC_OK ends the
 * call with that status. */
typedef tc_status tc_sample_read(void *user, size_t k, const tc_tensor *in, size_t n_in);

/* n samples that the caller brings when they are asked for. */
TC_API TC_MUST_USE tc_status tc_dataset_callback(tc_ctx *ctx, size_t n, tc_sample_read *read,
                                                 void *user, tc_dataset **out);

/* A program without inputs has one sample that holds nothing: n of them instead, 0 for one.  For a
 * program that has inputs it is a mistake, which shows when the data is used. */
TC_API void tc_dataset_repeat(tc_dataset *data, size_t n);

/* From now on only its first n samples count; 0: all of them. */
TC_API void tc_dataset_limit(tc_dataset *data, size_t n);

/* ---- reading it by oneself ---- */

/* How results of several samples are joined. */
typedef enum tc_join_kind {
    TC_JOINED_NOT = 0,   /* a single sample in its own shape */
    TC_JOINED_FIRST = 1, /* samples are slices of the inputs' first axis */
    TC_JOINED_NEW = 2    /* samples stand along an axis of their own */
} tc_join_kind;

/* Opens the files and checks them against the inputs of a model; the dataset stays bound to it.
 * samples, join, extent (of one sample along the first axis): each may be NULL. */
TC_API TC_MUST_USE tc_status tc_dataset_bind(tc_ctx *ctx, tc_dataset *data, const tc_model *model,
                                             size_t *samples, tc_join_kind *join, int64_t *extent);

/* Sample k of a dataset that is bound, into in[i].data for each input of the model. */
TC_API TC_MUST_USE tc_status tc_dataset_sample(tc_ctx *ctx, tc_dataset *data, size_t k,
                                               const tc_tensor *in, size_t n_in);

/* ---- .npy files ---- */

/* A file of one array being written, beside its final name; it is removed with the context unless
 * tc_npy_commit() gives it that name. */
typedef struct tc_npy_writer tc_npy_writer;

/* raw, not 0: bf16 and fp8 as their bits; else they are written as the float32 of the same values.
 * At most TC_MAX_RANK + 1 dimensions. */
TC_API TC_MUST_USE tc_status tc_npy_create(tc_ctx *ctx, const char *path, tc_dtype dtype, int raw,
                                           int32_t rank, const int64_t *dim, tc_npy_writer **out);

/* The numbers of a tensor of that element type. */
TC_API TC_MUST_USE tc_status tc_npy_append(tc_npy_writer *writer, const tc_tensor *tensor);
TC_API TC_MUST_USE tc_status tc_npy_commit(tc_npy_writer *writer);

/* ---- files as such ---- */

/* Bytes into a file: all of them or, on failure, none, and what had the name before stays. */
TC_API TC_MUST_USE tc_status tc_write_file(tc_ctx *ctx, const char *path, tc_bytes bytes);

/* The folder, made with its parents where they are missing. */
TC_API TC_MUST_USE tc_status tc_make_folder(tc_ctx *ctx, const char *path);

#ifdef __cplusplus
}
#endif
#endif
