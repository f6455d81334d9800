/* SPDX-License-Identifier: Apache-2.0 */
/* typed_move.c -- see typed_move.h. */
#include "typed_move.h"

#include "tile_values.h"

tc_val tc_typed_reshape(tc_build *b, tc_val x, int rank, const int64_t *dim)
{
    const tc_node *def = tc_def(b->g, x);
    while (b->status == TC_OK && !tc_has_dims(tc_b_type(b, x), rank, dim) && def &&
           def->op == TC_OP_reshape &&
           tc_same_quant(tc_b_type(b, def->in[0])->quant, tc_b_type(b, x)->quant)) {
        x = def->in[0];
        def = tc_def(b->g, x);
    }
    return tc_b_reshape(b, x, rank, dim);
}
