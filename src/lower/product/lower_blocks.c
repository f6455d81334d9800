/* SPDX-License-Identifier: Apache-2.0 */
/* lower_blocks.c -- products of block-scaled operands.
 *
 * In the typed form an operand is a block_round, of real values in the block-scaled type.  A
 * product reads its operand, makes the channels last, pads them with zeros to whole blocks, and
 * casts: the blocks are the same, and so are the values. */
#include "../../num/block_scaled.h"
#include "product.h"

/* The block_round that made operand i, along its axis of channels; or NULL. */
static const tc_node *rounded_by(const tc_build *lw, const tc_node *node, int i)
{
    const tc_type *t = ti_lower_type(lw, node, i), *w = ti_lower_type(lw, node, 1);
    const tc_node *def = i < 2 ? ti_def(lw->rw->from, node->in[i]) : NULL;
    if (!def || def->op != TC_OP_block_round)
        return NULL;
    int channels = node->op == TC_OP_linear ? t->rank - 1 : i ? 1 : t->rank - (w->rank - 1);
    return ((const tc_attr_block *)def->attr)->axis == channels ? def : NULL;
}

tc_dtype ti_product_block(const tc_build *lw, const tc_node *node, int i)
{
    const tc_node *def = rounded_by(lw, node, i);
    return def ? ((const tc_attr_block *)def->attr)->dtype : TC_none;
}

tc_val ti_product_in(const tc_build *lw, const tc_node *node, int i)
{
    const tc_node *def = lw->lower->dry ? NULL : rounded_by(lw, node, i);
    return def && lw->rw->now[def->in[0]] ? lw->rw->now[def->in[0]] : ti_lower_in(lw, node, i);
}

/* The last axis in whole blocks, padded with zeros. */
static tc_val filled(tc_build *lw, tc_val x)
{
    if (!x)
        return x;
    const tc_type *t = ti_b_type(lw, x);
    int64_t border[2 * TC_MAX_RANK] = {0}, over = t->dim[t->rank - 1] % TC_BLOCK;
    border[2 * t->rank - 1] = over ? TC_BLOCK - over : 0;
    return over ? ti_b_tosa_pad(lw, x, border, 0) : x;
}

void ti_put_blocks(tc_build *lw, const tc_product *p, tc_val *x, tc_val *w)
{
    tc_val *operand[] = {x, w};
    for (int i = 0; i < 2 && (p->block[0] || p->block[1]); i++) {
        *operand[i] = filled(lw, *operand[i]);
        if (p->block[i])
            *operand[i] = ti_b_tosa_cast(lw, *operand[i], p->block[i]);
    }
}

/* [..., axis, ...]: the axis last, there and back. */
static tc_val moved(tc_build *lw, tc_val x, int rank, int axis, bool back)
{
    int64_t perm[TC_MAX_RANK] = {0};
    for (int i = 0; i < rank; i++)
        perm[i] = back ? (i < axis ? i : i == axis ? rank - 1 : i - 1)
                       : (i < axis ? i : i == rank - 1 ? axis : i + 1);
    return ti_b_tosa_transpose(lw, x, perm);
}

void ti_lower_block_round(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_block *a = node->attr;
    const tc_type *t = ti_lower_type(lw, node, 0);
    int rank = t->rank, axis = (int)a->axis;
    tc_val x = moved(lw, ti_lower_in(lw, node, 0), rank, axis, false);
    x = ti_b_tosa_cast(lw, ti_b_tosa_cast(lw, filled(lw, x), a->dtype), t->dtype);
    x = ti_b_tosa_slice_axis(lw, x, rank - 1, 0, t->dim[axis]);
    out[0] = moved(lw, x, rank, axis, true);
}

tc_val ti_put_block_rows(tc_build *lw, const tc_product *p, tc_val x, tc_val w, tc_val bias)
{
    ti_put_blocks(lw, p, &x, &w);
    if (!x || !w || lw->status != TC_OK)
        return TC_NONE;
    tc_val in[4] = {x, w, ti_b_zero_point(lw, x, 0)};
    in[3] = ti_b_zero_point(lw, w, 0);
    int64_t dim[] = {1, ti_b_type(lw, x)->dim[1], p->channels};
    tc_val y = ti_b_typed(lw, TC_OP_tosa_matmul_t, NULL, in, 4, ti_type_make(lw->ctx, TC_f32, 3, dim));
    int64_t n = bias ? tc_type_count(ti_b_type(lw, bias)) : 1;
    return ti_b_tosa_add(lw, y, ti_b_tosa_reshape(lw, bias, 3, (int64_t[]){1, 1, n}));
}
