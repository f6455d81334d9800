/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_piece.h -- a piece of a region that becomes one call of a kernel, and the patterns that
 * find such pieces. */
#ifndef TC_KERNEL_PIECE_H
#define TC_KERNEL_PIECE_H

#include "kernel_calls.h"

/* A graph that becomes one call. */
typedef struct tc_cm_piece {
    tc_cm_region *r;
    tc_graph *g;
    tc_build b;
    tc_val outer[2]; /* by input: what it is in the program */
} tc_cm_piece;

tc_cm_piece ti_cm_piece_new(tc_cm_region *r, const tc_node *end);
/* What a value of the program is inside; a constant of the region, inside. */
tc_val ti_cm_piece_in(tc_cm_piece *p, tc_val outer);
tc_val ti_cm_piece_const(tc_cm_piece *p, tc_val v);
/* The node inside, on first and then its constants. */
tc_val ti_cm_piece_node(tc_cm_piece *p, const tc_node *node, const void *attr, const tc_val *first,
                        int n_first);
/* RESCALE, and CLAMP where there is one. */
tc_val ti_cm_piece_finish(tc_cm_piece *p, tc_val x, const tc_node *rescale, const tc_node *clamp);
/* The piece as a call of the operator; TC_NONE: it is not one, and nothing is left of it. */
tc_val ti_cm_piece_call(tc_cm_piece *p, tc_cm_op op, tc_val out);

/* x by the operator of one tensor that `make` puts inside. */
typedef tc_val tc_cm_inside(tc_cm_piece *p, tc_val x, const void *what);
tc_val ti_cm_call_one(tc_cm_region *r, const tc_node *node, tc_cm_op op, tc_val x,
                      tc_cm_inside *make, const void *what);

typedef struct tc_cm_padding {
    int64_t pad[8];
    int64_t value;
} tc_cm_padding;

tc_cm_inside ti_cm_put_pad;  /* what: a tc_cm_padding */
tc_cm_inside ti_cm_put_node; /* what: a tc_node of one tensor and constants */

/* The end of a pattern: RESCALE, with CLAMP or without. */
typedef struct tc_cm_ending {
    const tc_node *rescale, *clamp; /* clamp may be NULL */
} tc_cm_ending;

bool ti_cm_ending_of(const tc_cm_region *r, const tc_node *node, tc_cm_ending *e);
/* The node that it ends, if it is of that operator and nothing else reads its result. */
const tc_node *ti_cm_root_of(const tc_cm_region *r, const tc_cm_ending *e, tc_op op);

/* The node that makes v, if it is of that operator. */
const tc_node *ti_cm_def(const tc_cm_region *r, tc_val v, tc_op op);
/* The same bytes in another shape. */
tc_val ti_cm_reshaped(tc_cm_region *r, tc_val x, int rank, const int64_t *dim);

/* It has no other reader. */
static inline bool ti_cm_only_here(const tc_cm_region *r, tc_val v)
{
    return r->readers[v] == 1;
}

static inline const tc_type *ti_cm_bare(tc_ctx *ctx, const tc_type *t)
{
    return ti_type_with(ctx, t, NULL);
}

/* The patterns: a call that computes what ends with the node; TC_NONE: not such an end. */
typedef tc_val tc_cm_pattern(tc_cm_region *r, const tc_node *node);
/* kernel_products.c */
tc_cm_pattern ti_cm_product, ti_cm_batch_matmul;
/* kernel_functions.c */
tc_cm_pattern ti_cm_sum, ti_cm_times, ti_cm_any_function, ti_cm_choice, ti_cm_softmax_call;
/* kernel_moves.c */
tc_cm_pattern ti_cm_max_pool, ti_cm_avg_pool, ti_cm_pad, ti_cm_transpose;

#endif
