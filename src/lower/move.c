/* SPDX-License-Identifier: Apache-2.0 */
/* move.c -- movement: the same numbers in other places, whatever they mean. */
#include "build.h"

void tc_lower_move_same(tc_lower *lw, const tc_node *node, tc_val *out) { out[0] = tc_lower_in(lw, node, 0); }

void tc_lower_reshape(tc_lower *lw, const tc_node *node, tc_val *out)
{
    const tc_type *t = tc_lower_result(lw, node, 0);
    out[0] = tc_put_reshape(lw, tc_lower_in(lw, node, 0), t->rank, t->dim);
}

void tc_lower_permute(tc_lower *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_perm *a = node->attr;
    out[0] = tc_put_transpose(lw, tc_lower_in(lw, node, 0), a->perm.v);
}
