/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_file.h -- a TensorFlow Lite model about to be written: what its tables say, in plain
 * records.
 *
 * tflite_ops.c makes it of a program; emit_tflite.c puts the file together. */
#ifndef TC_TFLITE_FILE_H
#define TC_TFLITE_FILE_H

#include "../target/tflite_schema.h"
#include "../wire/flatbuf.h"
#include "emit.h"

typedef struct tc_tfw_tensor {
    const char *name;
    int type; /* TFL_... */
    int rank;
    const int64_t *dim;
    int n_scale;         /* 0: not quantized */
    const double *scale;
    const int64_t *zero;
    int axis;
    bool variable;
    bool constant;
    int64_t shift; /* of the tensor whose codes these are, or 128 more or less: its number + 1; or 0 */
    tc_bytes data;  /* of a constant */
    int64_t offset; /* in the arena; -1: TFLM allocates it, or it is a constant */
} tc_tfw_tensor;

/* A field of an operator's options: a byte, a number of 32 bits, a float. */
typedef struct tc_tfw_field {
    uint8_t at;
    char kind; /* 'b', 'i', 'f' */
    double v;
} tc_tfw_field;

enum { TC_TFW_FIELDS = 8, TC_TFW_SECOND = 256 };

typedef struct tc_tfw_op {
    int code, version;
    const char *custom; /* its name, where code is TC_TFL_CUSTOM */
    int64_t *in, *out;  /* tensors; -1: left out */
    size_t n_in, n_out;
    int options; /* the tag; 0: none; | TC_TFW_SECOND: of the second union */
    tc_tfw_field field[TC_TFW_FIELDS];
    int n_field;
    tc_fb_table copied;     /* options of another file instead; at 0: none */
    tc_bytes custom_options;
    int64_t *between; /* intermediates */
    size_t n_between;
} tc_tfw_op;

typedef struct tc_tfw_name {
    const char *name;
    int64_t tensor;
} tc_tfw_name;

typedef struct tc_tfw_signature {
    const char *key;
    tc_tfw_name *in, *out;
    size_t n_in, n_out;
} tc_tfw_signature;

typedef struct tc_tfw_metadata {
    const char *name;
    tc_bytes data;
} tc_tfw_metadata;

typedef struct tc_tfw_model {
    const char *description, *graph;
    tc_tfw_tensor *tensor;
    size_t n_tensor, cap_tensor;
    tc_tfw_op *op;
    size_t n_op, cap_op;
    int64_t *in, *out;
    size_t n_in, n_out;
    tc_tfw_signature *signature;
    size_t n_signature;
    tc_tfw_metadata *metadata;
    size_t n_metadata, cap_metadata;
} tc_tfw_model;

/* The file; data of tensors begins at multiples of 16.  The bytes live as long as the context. */
TC_MUST_USE tc_status ti_emit_tflite(tc_ctx *ctx, const tc_tfw_model *model, tc_bytes *out);

/* tflite_copy.c: a table of options, by its tag, of another file. */
tc_fb_ref ti_tfw_put_copy(tc_fb_writer *w, int tag, tc_fb_table from);
/* Whether such options refer to another graph of their file. */
bool ti_tfw_names_graph(int tag);

#endif
