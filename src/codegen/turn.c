/* SPDX-License-Identifier: Apache-2.0 */
/* turn.c -- U85: a copy that exchanges columns and channels of what convolutions computed, and nothing
 * else reads: they write it so themselves.  Of depthwise ones no known stream does. */
#include "hw.h"

enum { HCW = 2 /* rows, channels, columns */, MOST = 64 };

static bool turns_only(const tc_hw *hw, const tc_hw_op *op)
{
    const tc_npu_op *o = &op->op;
    return o->kind == TC_NPU_KIND_POOL && o->transpose == HCW && !o->reverse && !o->function &&
           op->table < 0 && !o->acc_input && ti_npu_only_moves(o) && !o->ifm.zero && !o->ofm.zero &&
           o->ifm.is_signed == o->ofm.is_signed && op->ifm.root >= 0 &&
           hw->root[op->ifm.root].kind == TC_ROOT_VALUE;
}

/* Which row of the copy a convolution writes, the first of several; below 0: not so. */
static int64_t row_of(const tc_hw_op *conv, const tc_hw_op *copy)
{
    const tc_view *to = &conv->ofm, *from = &copy->ifm;
    const tc_npu_op *o = &conv->op;
    int64_t step = from->dim[0] > 1 ? from->stride[0] : 1, at = to->at - from->at;
    if (o->kind != TC_NPU_KIND_CONV || o->transpose || o->reverse || o->acc_input || !o->acc_output || conv->made >= 0 ||
        o->ofm.bytes != copy->op.ifm.bytes || o->ofm.is_signed != copy->op.ifm.is_signed ||
        at < 0 || at % step || at / step + to->dim[0] > from->dim[0] ||
        (to->dim[0] > 1 && to->stride[0] != step))
        return -1;
    for (int i = 1; i < 3; i++)
        if (to->dim[i] != from->dim[i] || (to->dim[i] > 1 && to->stride[i] != from->stride[i]))
            return -1;
    return at / step;
}

/* Whether all that touches the copied root before it are convolutions of its rows, and nothing does behind;
 * and where it is copied to has nothing yet that is read.  to: lists them. */
static bool writers(const tc_hw *hw, size_t copy, size_t *to, size_t *n)
{
    const tc_hw_op *c = &hw->op[copy];
    int64_t rows = 0;
    *n = 0;
    for (size_t i = 0; i < hw->n_op; i++) {
        const tc_hw_op *op = &hw->op[i];
        bool reads = op->ifm.root == c->ifm.root || op->ifm2.root == c->ifm.root,
             early = op->ifm.root == c->ofm.root || op->ifm2.root == c->ofm.root,
             jumps = !ti_npu_is_kernel(op->op.kind) && *n;
        if (i < copy && (early || jumps))
            return false;
        if (i == copy || (!reads && op->ofm.root != c->ifm.root))
            continue;
        if (reads || i > copy || *n == MOST || row_of(op, c) < 0)
            return false;
        rows += op->ofm.dim[0];
        to[(*n)++] = i;
    }
    return rows == c->ifm.dim[0];
}

static void turn(tc_hw_op *op, const tc_hw_op *copy)
{
    int64_t row = row_of(op, copy);
    const tc_view *to = &copy->ofm;
    op->ofm = (tc_view){to->root, 3, to->at + row * to->stride[0],
                        {op->ofm.dim[0], to->dim[1], to->dim[2]},
                        {to->stride[0], to->stride[1], to->stride[2]}};
    op->op.transpose = HCW;
}

static double cycles_of(tc_hw *hw, const size_t *at, size_t n)
{
    double all = 0;
    for (size_t k = 0; k < n; k++)
        all += ti_hw_cycles(hw, at[k], at[k] + 1);
    return all;
}

/* Blocks of transposed results are smaller: weights may be read more often. */
static bool is_cheaper(tc_hw *hw, size_t copy, const size_t *at, size_t n)
{
    tc_hw_op was[MOST];
    double apart = cycles_of(hw, at, n) + cycles_of(hw, &copy, 1);
    for (size_t k = 0; k < n; k++) {
        was[k] = hw->op[at[k]];
        turn(&hw->op[at[k]], &hw->op[copy]);
    }
    bool cheaper = cycles_of(hw, at, n) < apart;
    for (size_t k = 0; k < n && !cheaper; k++)
        hw->op[at[k]] = was[k];
    return cheaper;
}

void ti_hw_turns(tc_hw *hw)
{
    size_t at[MOST], n;
    for (size_t i = 0; i < hw->n_op && ti_hw_is_u85(hw) && !hw->judges; i++) {
        if (!turns_only(hw, &hw->op[i]) || !writers(hw, i, at, &n) || !is_cheaper(hw, i, at, n))
            continue;
        memmove(hw->op + i, hw->op + i + 1, (hw->n_op - i - 1) * sizeof *hw->op);
        hw->n_op--;
        i--;
    }
}
