/* SPDX-License-Identifier: Apache-2.0 */
/* typed_move.c -- see typed_move.h. */
#include "typed_move.h"

#include "tile_values.h"

tc_val ti_typed_reshape(tc_build *b, tc_val x, int rank, const int64_t *dim)
{
    const tc_node *def = ti_def(b->g, x);
    while (b->status == TC_OK && !ti_has_dims(ti_b_type(b, x), rank, dim) && def &&
           def->op == TC_OP_reshape &&
           ti_same_quant(ti_b_type(b, def->in[0])->quant, ti_b_type(b, x)->quant)) {
        x = def->in[0];
        def = ti_def(b->g, x);
    }
    return ti_b_reshape(b, x, rank, dim);
}
