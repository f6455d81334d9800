/* SPDX-License-Identifier: Apache-2.0 */
/* chain.c -- U85: what an operation computes and only the next one reads need not go to memory.
 *
 * A chain is an operation and elementwise ones after it, all of one output shape and one block.
 * Between two of them the value is in a chain buffer.  At most four operations, and three operands
 * from memory besides the first one's. */
#include "hw.h"

enum { MOST_OPS = 4, MOST_OPERANDS = 3 };

typedef struct reading {
    int32_t times; /* maps of operations that read or write the root */
} reading;

static bool from_memory(const tc_view *v)
{
    return v->root >= 0;
}

static bool may_begin(const tc_npu_op *op)
{
    bool kind = op->kind == TC_NPU_KIND_CONV || op->kind == TC_NPU_KIND_DEPTHWISE ||
                op->kind == TC_NPU_KIND_ELEMENTWISE ||
                (op->kind == TC_NPU_KIND_POOL && op->mode != TC_POOL_NONE &&
                 op->mode != TC_POOL_ARGMAX_X && op->mode != TC_POOL_ARGMAX_Y);
    return kind && !op->transpose && !op->reverse && op->acc_output && op->acc_input == 0 &&
           op->ofm.bytes <= 4 && op->ifm.bytes <= 4;
}

static bool same_box(const tc_view *a, const tc_view *b)
{
    for (int i = 0; i < 3; i++)
        if (a->dim[i] != b->dim[i] || (a->dim[i] > 1 && a->stride[i] != b->stride[i]))
            return false;
    return a->root == b->root && a->at == b->at;
}

static bool whole_root(const tc_hw *hw, const tc_view *v)
{
    return ti_view_count(v) == hw->root[v->root].count;
}

/* Which operand of b is what a computes and nothing else reads: 1, 2; 0: neither. */
static int link_of(const tc_hw *hw, const reading *read, const tc_hw_op *a, const tc_hw_op *b)
{
    const tc_npu_op *x = &a->op, *y = &b->op;
    if (!from_memory(&a->ofm) || hw->root[a->ofm.root].kind != TC_ROOT_VALUE ||
        read[a->ofm.root].times != 2 || !whole_root(hw, &a->ofm) ||
        y->kind != TC_NPU_KIND_ELEMENTWISE || y->transpose || y->reverse || x->ofm.h != y->ofm.h ||
        x->ofm.w != y->ofm.w || x->ofm.c != y->ofm.c)
        return 0;
    if (from_memory(&b->ifm) && same_box(&a->ofm, &b->ifm) && !y->ifm.broadcast &&
        y->ifm.bytes == x->ofm.bytes)
        return 1;
    if (from_memory(&b->ifm2) && same_box(&a->ofm, &b->ifm2) && !y->ifm2.broadcast &&
        y->ifm2.bytes == x->ofm.bytes)
        return 2;
    return 0;
}

static int operands(const tc_hw_op *op)
{
    return from_memory(&op->ifm) + from_memory(&op->ifm2);
}

static void join(tc_hw_op *a, tc_hw_op *b, int which, int buffer)
{
    tc_npu_map *in = which == 1 ? &b->op.ifm : &b->op.ifm2;
    tc_view *view = which == 1 ? &b->ifm : &b->ifm2;
    a->op.ofm.format = in->format = TC_NHCWB16; /* as Vela always writes it */
    a->op.ofm.storage = in->storage = TC_STORE_CHAIN;
    a->op.ofm.region = in->region = (uint8_t)buffer;
    a->ofm.root = view->root = TC_NO_ROOT;
    b->joins = true;
}

/* Tables of operations first ... last are all loaded before the first of them begins: there is room
 * for each, wherever the others are stored. */
static bool tables_fit(const tc_hw *hw, size_t first, size_t last)
{
    int32_t n = 0, largest = 0;
    for (size_t i = first; i <= last; i++) {
        int32_t table = hw->op[i].table;
        bool again = table < 0;
        for (size_t k = first; k < i; k++)
            again = again || hw->op[k].table == table;
        n += !again;
        if (table >= 0 && hw->table[table].bytes > largest)
            largest = hw->table[table].bytes;
    }
    return n * largest <= TC_NPU_LUT;
}

void ti_hw_chains(tc_hw *hw)
{
    if (!ti_hw_is_u85(hw))
        return;
    reading *read = tc_new_n(hw->arena, reading, hw->n_root + 1);
    for (size_t i = 0; i < hw->n_op; i++) {
        const int32_t root[] = {hw->op[i].ifm.root, hw->op[i].ifm2.root, hw->op[i].ofm.root};
        for (size_t k = 0; k < TC_COUNT(root); k++)
            if (root[k] >= 0)
                read[root[k]].times++;
    }
    int length = 1, outside = 0;
    for (size_t i = 0; i + 1 < hw->n_op; i++) {
        tc_hw_op *a = &hw->op[i], *b = &hw->op[i + 1];
        if (!a->joins) {
            length = 1;
            outside = 0;
        }
        int which = length < MOST_OPS && (a->joins || may_begin(&a->op)) ? link_of(hw, read, a, b) : 0;
        int more = which ? operands(b) - 1 : 0;
        if (!which || outside + more > MOST_OPERANDS - 1 ||
            !tables_fit(hw, i + 1 - (size_t)length, i + 1))
            continue;
        outside += more;
        join(a, b, which, length++ - 1);
    }
}
