/* SPDX-License-Identifier: Apache-2.0 */
/* near.c -- constants that elementwise operations read from a slower memory than values are in.
 *
 * Each time such an operand is read, the operation waits for that memory.  So numbers of 32 bits
 * (shorter ones are in registers) come to the memory of values in one copy when the program
 * begins, and a larger operand in a copy of its own in front of its operation, where that costs
 * less. */
#include "hw.h"

enum { SMALL = 64, ALL = 1024, WORD = 16, NUMBER = 4 };

/* Small constants behind each other. */
typedef struct gathered {
    int32_t root[ALL / WORD]; /* that each was first seen in */
    size_t n;
    uint8_t data[ALL];
    int64_t at[ALL / WORD], bytes;
} gathered;

static int64_t bytes_of(const tc_hw *hw, const tc_view *v)
{
    const tc_root *r = &hw->root[v->root];
    return r->count * r->bytes;
}

static bool is_constant_operand(const tc_hw *hw, const tc_hw_op *op, const tc_view *v)
{
    return op->op.kind == TC_NPU_KIND_ELEMENTWISE && v->root >= 0 &&
           hw->root[v->root].kind == TC_ROOT_CONSTANT;
}

/* Where the operand is among those gathered, added if it was not; below 0: it is not a small
 * one. */
static int64_t place_of(const tc_hw *hw, const tc_view *v, gathered *g)
{
    const tc_root *r = &hw->root[v->root];
    int64_t bytes = bytes_of(hw, v), next = (g->bytes + WORD - 1) / WORD * WORD;
    if (r->bytes != NUMBER || bytes > SMALL)
        return -1;
    for (size_t i = 0; i < g->n; i++) {
        const tc_root *other = &hw->root[g->root[i]];
        if (other->count == r->count && !memcmp(other->data, r->data, (size_t)bytes))
            return g->at[i];
    }
    if (next + bytes > ALL)
        return -1;
    memcpy(g->data + next, r->data, (size_t)bytes);
    g->root[g->n] = v->root;
    g->at[g->n++] = next;
    g->bytes = next + bytes;
    return next;
}

/* A copy of a constant to a value of as many bytes. */
static tc_hw_op copy_of(tc_hw *hw, const tc_node *node, int32_t from)
{
    tc_root r = hw->root[from];
    int32_t to = ti_hw_root(hw, "constant", TC_ROOT_VALUE, r.bytes, r.count);
    int64_t dim[3] = {1, 1, r.count};
    tc_hw_op op = ti_hw_op_of(hw, node, TC_NPU_KIND_DMA, 0);
    op.ifm = ti_view_dense(from, 3, dim);
    op.ofm = ti_view_dense(to, 3, dim);
    op.op.ifm.bytes = op.op.ofm.bytes = r.bytes;
    op.op.dma = (tc_npu_dma){.dst_region = ti_hw_fast_region(hw),
                             .bytes = (uint64_t)(r.count * r.bytes),
                             .rows = 1,
                             .planes = 1};
    return op;
}

static tc_view *operand(tc_hw_op *op, int k)
{
    return k ? &op->ifm2 : &op->ifm;
}

/* Small ones, in one copy; false: there are none. */
static bool gather(tc_hw *hw, tc_hw_op *copy)
{
    gathered g = {.n = 0};
    for (size_t i = 0; i < hw->n_op; i++)
        for (int k = 0; k < 2; k++)
            if (is_constant_operand(hw, &hw->op[i], operand(&hw->op[i], k)))
                (void)place_of(hw, operand(&hw->op[i], k), &g);
    if (!g.n)
        return false;
    int32_t from = ti_hw_root(hw, "numbers", TC_ROOT_CONSTANT, NUMBER, g.bytes / NUMBER);
    hw->root[from].data = ti_arena_copy(hw->arena, g.data, (size_t)g.bytes);
    *copy = copy_of(hw, NULL, from);
    for (size_t i = 0; i < hw->n_op; i++)
        for (int k = 0; k < 2; k++) {
            tc_view *v = operand(&hw->op[i], k);
            int64_t at = is_constant_operand(hw, &hw->op[i], v) ? place_of(hw, v, &g) : -1;
            if (at < 0)
                continue;
            v->root = copy->ofm.root; /* moves on U55 see halves of numbers */
            v->at += at / (k ? hw->op[i].op.ifm2 : hw->op[i].op.ifm).bytes;
        }
    return true;
}

/* A larger operand of operation i, which is no part of a chain; false: it stays where it is. */
static bool bring(tc_hw *hw, size_t i, int k, tc_hw_op *copy)
{
    tc_hw_op *op = &hw->op[i];
    tc_view *v = operand(op, k);
    bool chained = op->joins || (i + 1 < hw->n_op && hw->op[i + 1].joins);
    if (chained || !is_constant_operand(hw, op, v))
        return false;
    size_t n_root = hw->n_root;
    tc_hw_op pair[2] = {copy_of(hw, op->node, v->root), *op};
    tc_hw both = *hw;
    operand(&pair[1], k)->root = pair[0].ofm.root;
    both.op = pair;
    both.n_op = 2;
    double far = ti_hw_cycles(hw, i, i + 1), near = ti_hw_cycles(&both, 0, 2);
    hw->memo = both.memo;
    if (near + ti_hw_price_of_bytes(bytes_of(hw, v)) >= far) {
        hw->n_root = n_root;
        return false;
    }
    *op = pair[1];
    *copy = pair[0];
    return true;
}

/* Copies, each in front of an operation. */
typedef struct copies {
    tc_hw_op *op;
    size_t *before, n, cap, cap_before;
} copies;

static void add(tc_hw *hw, copies *c, size_t before, const tc_hw_op *op)
{
    tc_grow(hw->arena, c->op, c->n, c->cap);
    tc_grow(hw->arena, c->before, c->n, c->cap_before);
    c->op[c->n] = *op;
    c->before[c->n++] = before;
}

/* Into the list itself, from its end on: a long program's is large. */
static void insert(tc_hw *hw, const copies *c)
{
    size_t from = hw->n_op, to = hw->n_op + c->n;
    if (to > hw->cap_op) {
        tc_hw_op *list = tc_new_n(hw->arena, tc_hw_op, to);
        memcpy(list, hw->op, hw->n_op * sizeof *list);
        hw->op = list;
        hw->cap_op = to;
    }
    hw->n_op = to;
    for (size_t k = c->n; k--;) {
        while (from > c->before[k])
            hw->op[--to] = hw->op[--from];
        hw->op[--to] = c->op[k];
    }
}

void ti_hw_near(tc_hw *hw)
{
    if (!ti_hw_stages(hw) || !hw->n_op || hw->options->size)
        return;
    tc_hw_op copy;
    copies c = {.n = 0};
    if (gather(hw, &copy))
        add(hw, &c, 0, &copy);
    for (size_t i = 0; i < hw->n_op; i++)
        for (int k = 0; k < 2; k++)
            if (bring(hw, i, k, &copy))
                add(hw, &c, i, &copy);
    insert(hw, &c);
}
