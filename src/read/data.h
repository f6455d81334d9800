/* SPDX-License-Identifier: Apache-2.0 */
/* data.h -- what a program is run on: arrays from files, sample after sample.
 *
 * A sample is an array of the input's own shape.  An array whose first axis is a multiple of the
 * input's, or that has one axis more, holds several; they are read one at a time.
 *
 * Which array is for which input:
 *   - as many arguments as tensor inputs: one each, in the order of the signature.  An argument is
 *     a .npy, a .npz of one member, or a folder of such files, whose samples follow each other by
 *     file name;
 *   - one input and several arguments: their samples follow each other; so do the members of a .npz
 *     that are named arr_0, arr_1, ... (numpy.savez(FILE, *SAMPLES));
 *   - several inputs and a .npz of several members, or a folder of as many .npy files as there are
 *     inputs: by name where the names are those of the inputs, else in the order of the archive (of
 *     the names);
 *   - several inputs and several such .npz, or a folder of them: their samples follow each other.
 * An input whose data is a single sample is given that sample every time.
 *
 * Elements keep their values: integers are taken for any integer type and floats for any float type
 * that holds every one of them exactly (float32 data for a bf16 input, int64 data for an int32
 * one); anything else is an error that names the first element that would change.  For bf16 and fp8
 * inputs raw bits are taken too: V2, and V1 or uint8. */
#ifndef TC_DATA_H
#define TC_DATA_H

#include "../ir/graph.h"
#include "../wire/npy.h"

typedef struct tc_data tc_data;

/* What files hold, row by row: each has an array for each input, of one sample or of several. */
typedef struct tc_data_rows {
    tc_npy **array; /* by row and input; NULL: there is none for this input */
    size_t n, n_in;
} tc_data_rows;

/* The rows of these files, which need not fit the inputs of g. */
TC_MUST_USE tc_status ti_data_rows(tc_ctx *ctx, const tc_graph *g, const char *const *path,
                                   size_t n_path, tc_data_rows *out);

/* How many samples of g's inputs the arrays of a row hold; 0: they do not fit. */
size_t ti_row_samples(const tc_graph *g, tc_npy *const *array);

/* Opens the files and checks shapes and types against the inputs of g; names of inputs in messages
 * are those of the signature.  No paths: one sample, when the program has no inputs. */
TC_MUST_USE tc_status ti_read_data(tc_ctx *ctx, const tc_graph *g, const char *const *path,
                                   size_t n_path, tc_data **out);
/* The same of some rows; taken, by row: which of them count; NULL: all. */
TC_MUST_USE tc_status ti_read_data_rows(tc_ctx *ctx, const tc_graph *g, const char *const *path,
                                        size_t n_path, const bool *taken, tc_data **out);

/* A program without inputs: this many samples; otherwise the data determines it. */
TC_MUST_USE tc_status ti_data_repeat(tc_data *data, size_t n);

size_t ti_data_samples(const tc_data *data);
/* Of several files: the file of sample k, or its index in it, "5 of FILE"; NULL: there is one
 * file. */
const char *ti_data_sample_name(const tc_data *data, size_t k);

/* How results of several samples are joined: NONE: a single sample in its own shape; FIRST: the
 * samples are slices of the input's first axis, `extent` long; NEW: along a new axis. */
typedef enum tc_sample_join { TC_JOIN_NONE, TC_JOIN_FIRST, TC_JOIN_NEW } tc_sample_join;
tc_sample_join ti_data_join(const tc_data *data, int64_t *extent);

/* Sample k, one tensor per input, into buffers of the input's types that the caller brings. */
TC_MUST_USE tc_status ti_data_sample(tc_data *data, size_t k, const tc_tensor *in);

/* The element type of an array as ours; TC_none for raw bytes, whose type only a reader knows.
 */
tc_dtype ti_data_dtype(const tc_npy *array);

/* Whether its values may be elements of that type: each is checked when read. */
bool ti_data_type_fits(const tc_npy *array, tc_dtype to);

/* Elements first .. of an array as elements of `into`, converted as above; into->type gives the
   count.
 */
TC_MUST_USE tc_status ti_data_convert(tc_ctx *ctx, tc_npy *array, int64_t first,
                                      const tc_tensor *into);

#endif
