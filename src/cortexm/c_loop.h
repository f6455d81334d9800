/* SPDX-License-Identifier: Apache-2.0 */
/* c_loop.h -- elementwise nodes that one loop computes, while it is written. */
#ifndef TC_CORTEXM_LOOP_H
#define TC_CORTEXM_LOOP_H

#include "c_model.h"

/* A pointer that the loop reads or writes by, with its steps along the loop's axes. */
typedef struct tc_c_stream {
    const char *pointer; /* as an expression */
    const char *type;
    tc_val v;
    size_t next; /* 1 + another of the same value; 0: none */
    int64_t step[TC_MAX_RANK];
} tc_c_stream;

typedef struct tc_c_loop {
    tc_c_model *m;
    const tc_c_graph *cg;
    const tc_c_step *step;
    int rank;
    int64_t dim[TC_MAX_RANK];
    tc_c_stream *stream; /* the first is the result */
    size_t n_stream;
    bool four; /* lines are of four elements */
} tc_c_loop;

static inline tc_dtype ti_c_dtype(const tc_c_loop *l, tc_val v)
{
    return ti_type_of(l->cg->g, v)->dtype;
}

static inline bool ti_c_is_real(const tc_c_loop *l, tc_val v) { return ti_c_dtype(l, v) == TC_f32; }

/* The stream that reads or writes a value; along: the last axis alone, for per-channel values. */
size_t ti_c_stream_of(tc_c_loop *l, tc_val v, bool along);
/* A constant of one number. */
bool ti_c_is_number(const tc_c_loop *l, tc_val v);
/* The node's line: an expression of earlier lines and of streams, "@3@"; NULL: none. */
const char *ti_c_line_of(tc_c_loop *l, const tc_node *node);
/* A RESCALE by one multiplier of 2^30: shifts will do. */
bool ti_c_is_power(const tc_c_loop *l, const tc_node *node, int64_t *shift);
/* Whether a line of floats calls the C library. */
bool ti_c_calls_libm(tc_op op);

#endif
