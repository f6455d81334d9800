/* SPDX-License-Identifier: Apache-2.0 */
/* read_options.h -- the caller's options for the models that a context reads. */
#ifndef TC_READ_OPTIONS_H
#define TC_READ_OPTIONS_H

#include "../ir/graph.h"
#include "../wire/npy.h"

/* --dim NAME=VALUE, NAME=LO..HI or NAME=A,B,C: a size that a model leaves open. */
typedef struct tc_dim_given {
    const char *name;
    int64_t value;
    int64_t lo, hi; /* --dim NAME=LO..HI: it stays open between them; both 0: it is `value` */
    const int64_t *list; /* --dim NAME=A,B,C: these, a program for each; or NULL */
    size_t n_list;
    const char *symbol; /* what it was taken for in the file; NULL: nothing yet */
    bool used; /* a reader has looked at it */
} tc_dim_given;

/* It stays open. */
static inline bool ti_dim_open(const tc_dim_given *given) { return given->hi > 0; }

/* --shape INPUT=SIZE,SIZE,...: the shape of an input that a model leaves open. */
typedef struct tc_shape_given {
    const char *input;
    int32_t rank;
    int64_t dim[TC_MAX_RANK];
    bool used;
} tc_shape_given;

/* --set INPUT=VALUE: an input that is a constant. */
typedef struct tc_set_given {
    const char *input, *value; /* "16000", "true", "mask.npy" */
    bool used;
} tc_set_given;

/* --dynamic-range: products of float activations with int8 weights in a TFLite file. */
typedef enum tc_dynamic_range {
    TC_RANGE_EITHER, /* as the runtime computes them, and as a float model (module->real) */
    TC_RANGE_KEEP,   /* as the runtime does, codes made of activations when it runs */
    TC_RANGE_REAL    /* as a float model: weights are dequantized */
} tc_dynamic_range;

typedef struct tc_read_options {
    tc_dim_given *dim;
    size_t n_dim, cap_dim;
    tc_shape_given *shape;
    size_t n_shape, cap_shape;
    tc_set_given *set;
    size_t n_set, cap_set;
    const char *const *sample; /* data that settles what a model leaves open: one file per input */
    size_t n_sample;
    tc_npy *const *row; /* or such arrays that are open, by input: */
    size_t n_row;       /* how many; 0: none */
    const char *method;    /* of an ExecuTorch program; NULL: forward, or the first */
    const char *signature; /* of a TFLite file; NULL: its first graph */
    tc_dynamic_range dynamic_range;
    bool prefer_tosa;      /* the TOSA stored next to an Ethos-U's stream is what runs */
    bool keep_unread;      /* of a TFLite file: operators that cannot be read stay whole, */
    const char *const *keep; /* and so do these, by the names of their nodes */
    size_t n_keep;
    bool round;            /* data is rounded to the nearest values of an input */
    bool keep_open;        /* sizes that are not given stay open: the model is only inspected */
    bool open_dims;        /* open sizes that are not given stay so (tc_module.size) */
    bool example_dims;     /* open sizes that are not given are those of the export's example */
} tc_read_options;

/* The context's own; all zero at first. */
static inline tc_read_options *ti_reading(tc_ctx *ctx)
{
    return TC_OWN(ctx, READ, tc_read_options);
}

/* The options' texts, added to what was said before. */
TC_MUST_USE tc_status ti_read_dim(tc_ctx *ctx, const char *text);
TC_MUST_USE tc_status ti_read_shape(tc_ctx *ctx, const char *text);
TC_MUST_USE tc_status ti_read_set(tc_ctx *ctx, const char *text);

/* What is said for an input, the last time; NULL: nothing, or it has no name. */
tc_shape_given *ti_shape_given_for(tc_ctx *ctx, const char *input);
tc_set_given *ti_set_given_for(tc_ctx *ctx, const char *input);
/* The array for input k of n, if there is one for each; else NULL. */
TC_MUST_USE tc_status ti_sample_given_for(tc_ctx *ctx, size_t k, size_t n, tc_npy **out);
/* A usage error for a --shape that no input has taken, a warning for every --dim: why it has no
 * effect. */
TC_MUST_USE tc_status ti_said_used(tc_ctx *ctx, const char *file, const char *why);

#endif
