/* SPDX-License-Identifier: Apache-2.0 */
/* lower_index.h -- indices from other tensors, as row indices: i32, or f32 if the target's profile
 * cannot move integers. */
#ifndef TC_LOWER_INDEX_H
#define TC_LOWER_INDEX_H

#include "lower_move.h"

/* Rows of x [outer, extent, inner] by index.  known: the indices when constant, or NULL; then index
 * may be none. */
typedef struct tc_row_list {
    int64_t outer, extent, inner;
    int64_t count;        /* of rows that are named */
    const int64_t *known;
    tc_val index;         /* `count` of them in any shape */
} tc_row_list;

/* The axis of a tensor as rows; where `operand` of the node names them. */
bool ti_row_list_of(tc_build *lw, const tc_type *x, int axis, const tc_node *node, int operand,
                    tc_row_list *rows);
/* x[.., i0, i1, ..] with the operands from `first` on: the indexed axes become one, before and
 * after them whole axes; perm: the permutation of x needed first. */
bool ti_row_list_picked(tc_build *lw, const tc_node *node, int first, tc_row_list *rows,
                        int64_t *perm, tc_type *picked);

/* The rows of x: [outer, count, inner]. */
tc_val ti_put_rows(tc_build *lw, tc_val x, const tc_row_list *rows);
/* x [outer, extent, inner] with the rows of source [outer, count, inner] put there. */
tc_val ti_put_rows_into(tc_build *lw, tc_val x, tc_val source, const tc_row_list *rows);

/* The elements of an integer constant operand, negative ones counted from `extent`; NULL: not
 * constant. */
const int64_t *ti_known_places(tc_build *lw, const tc_node *node, int operand, int64_t extent);
/* The element type of indices, and an index operand as that. */
tc_val ti_put_places(tc_build *lw, const tc_node *node, int operand);
tc_val ti_put_known_places(tc_build *lw, int rank, const int64_t *dim, const int64_t *place);

#endif
