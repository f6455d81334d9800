/* SPDX-License-Identifier: Apache-2.0 */
/* survey.h -- what a model file holds, without compiling it. */
#ifndef TC_SURVEY_H
#define TC_SURVEY_H

#include "../ir/graph.h"

typedef struct tc_survey_port {
    const char *name;
    const char *type; /* "f32[1,3,8,8]"; the value itself where it is not a tensor */
} tc_survey_port;

typedef struct tc_survey_op {
    const char *name; /* as the file names it: "aten.conv2d.default", "tosa.add" */
    size_t count;
} tc_survey_op;

/* An open size: its name, its range, and its axis. */
typedef struct tc_survey_dim {
    const char *name;
    int64_t least, most; /* INT64_MAX: no bound */
    const char *input;   /* axis `axis` of that input; NULL: only inside of expressions */
    int axis;
} tc_survey_dim;

/* Tensors that the file brings along. */
typedef struct tc_survey_held {
    size_t tensors;
    int64_t elements, bytes;
} tc_survey_held;

typedef struct tc_survey {
    const char *format;   /* "PyTorch export", "TOSA flatbuffer", "text graph" */
    const char *producer; /* "torch 2.13.0", or NULL */
    const char *version;  /* of the format, or NULL */
    const char *made_by;  /* what wrote the file itself, and its settings, or NULL */
    tc_survey_port *in, *out;
    size_t n_in, n_out, cap_in, cap_out;
    tc_survey_dim *dim;
    size_t n_dim;
    tc_survey_op *op; /* most frequent first */
    size_t n_op, cap_op, n_node;
    tc_map seen; /* name -> index + 1 into op, until it is sorted */
    tc_survey_held parameters, buffers, constants;
} tc_survey;

/* From the file itself, operators that are not known included. */
TC_MUST_USE tc_status ti_survey_pt2(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_survey *out);

TC_MUST_USE tc_status ti_survey_onnx(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_survey *out);

TC_MUST_USE tc_status ti_survey_tflite(tc_ctx *ctx, const char *file, tc_bytes bytes,
                                       tc_survey *out);

/* From a graph that has been read. */
void ti_survey_module(const tc_module *module, tc_survey *out);

/* For those who fill one in: one more of that name, and the final order. */
void ti_survey_count(tc_ctx *ctx, tc_survey *s, const char *name);
void ti_survey_sort(tc_survey *s);

#endif
