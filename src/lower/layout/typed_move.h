/* SPDX-License-Identifier: Apache-2.0 */
/* typed_move.h -- appends movement to a graph of the typed form: x with its elements elsewhere, of
 * the same quantized type.
 *
 * Each gives a value of `to`, x itself where nothing would move, or none after an error; then
 * *status says so.  Types have one scale for the whole tensor. */
#ifndef TC_TYPED_MOVE_H
#define TC_TYPED_MOVE_H

#include "../../ir/graph.h"

typedef struct tc_typed {
    tc_ctx *ctx;
    tc_graph *to;
    const tc_loc *loc;
    tc_status status;
} tc_typed;

tc_val tc_typed_reshape(tc_typed *b, tc_val x, int rank, const int64_t *dim);
tc_val tc_typed_permute(tc_typed *b, tc_val x, const int64_t *perm);
tc_val tc_typed_slice(tc_typed *b, tc_val x, int axis, int64_t start, int64_t end, int64_t step);
tc_val tc_typed_cat(tc_typed *b, const tc_val *x, int n, int axis);

/* Any operator with one result of the given type. */
tc_val tc_typed_node(tc_typed *b, tc_op op, const void *attr, const tc_val *in, int n,
                     const tc_type *type);

/* The type with other extents; its domain is one for the whole tensor. */
const tc_type *tc_typed_dims(tc_ctx *ctx, const tc_type *type, int rank, const int64_t *dim);

#endif
