/* SPDX-License-Identifier: Apache-2.0 */
/* select_logic.c -- bits, booleans, comparisons, SELECT.
 *
 * Booleans are 0 and 1, so that the operations on bits work for them, too.
 *
 *          U85                          U55
 *   ~x     NOT                          -1 - x
 *   !x     x ^ 1                        1 - x
 *   and    AND                          booleans: the minimum; 2^n - 1: the low bits
 *   or     OR                           booleans: the maximum
 *   xor    XOR                          booleans: a + b through a table
 *   a = b  CMP_EQ, and 1                leading zeros of a - b, less 31, clamped to 0..1
 *   a > b  CMP_GT, and 1                32 - leading zeros of max(a, b) - b, clamped to 0..1
 *   c ? a : b
 *          (a and m) or (b and not m),  c a - (c - 1) b; of 32 bits c a + (1 - c) b
 *          m = -c or the comparison's
 *
 * max(a, b) - b is 0 where a <= b, and nowhere else, whether it wraps or saturates. */
#include "select.h"

/* ---- bits ---- */

static tc_npu_eltwise bits_mode(tc_op op)
{
    switch ((int)op) {
    case TC_OP_tosa_bitwise_and:
    case TC_OP_tosa_logical_and:
        return TC_EW_AND;
    case TC_OP_tosa_bitwise_or:
    case TC_OP_tosa_logical_or:
        return TC_EW_OR;
    default:
        return TC_EW_XOR;
    }
}

/* U55, on bytes of 0 and 1. */
static void logical_u55(tc_sel *s, const tc_node *node, const tc_sel_operand *a,
                        const tc_sel_operand *b, const tc_view *to)
{
    tc_npu_eltwise mode = bits_mode(node->op);
    tc_hw_op op = ti_sel_eltwise(s, node,
                                 mode == TC_EW_AND  ? TC_EW_MIN
                                 : mode == TC_EW_OR ? TC_EW_MAX
                                                    : TC_EW_ADD,
                                 1);
    if (mode == TC_EW_XOR) {
        enum { ENTRIES = 256, ZERO = 128 };
        uint8_t *odd = tc_new_n(s->hw->arena, uint8_t, ENTRIES);
        odd[ZERO + 1] = 1;
        op.table = ti_hw_table(s->hw, odd, ENTRIES);
        op.op.function = TC_NPU_LOOKUP;
    }
    ti_sel_combine(s, &op, true, a, b, to);
}

/* How many low bits of 32 the constant keeps of the other operand; 0: others too, or none. */
static int64_t low_bits(const tc_sel_operand *a, const tc_sel_operand *b)
{
    int64_t mask = b->is_number ? b->number : a->number, n = 0;
    if (a->is_number == b->is_number || a->bytes != 4 || mask <= 0 || mask & (mask + 1))
        return 0;
    while (mask >> n)
        n++;
    return n;
}

void ti_npu_select_bits(tc_sel *s, const tc_node *node)
{
    bool logical = node->op == TC_OP_tosa_logical_and || node->op == TC_OP_tosa_logical_or ||
                   node->op == TC_OP_tosa_logical_xor;
    tc_sel_operand a = ti_sel_operand(s, node->in[0]), b = ti_sel_operand(s, node->in[1]);
    int64_t bits = node->op == TC_OP_tosa_bitwise_and ? low_bits(&a, &b) : 0;
    if (!ti_hw_is_u85(s->hw) && bits) {
        tc_view to = ti_sel_result(s, node->out[0]);
        ti_sel_low_bits(s, node, b.is_number ? &a : &b, bits, &to);
        return;
    }
    if (!ti_hw_is_u85(s->hw) && !logical) {
        ti_hw_refuse(s->hw, node, "the machine has no operations on bits");
        return;
    }
    tc_view to = ti_sel_result(s, node->out[0]);
    if (!ti_hw_is_u85(s->hw)) {
        logical_u55(s, node, &a, &b, &to);
        return;
    }
    tc_hw_op op = ti_sel_eltwise(s, node, bits_mode(node->op), a.bytes);
    ti_sel_combine(s, &op, true, &a, &b, &to);
}

void ti_npu_select_not(tc_sel *s, const tc_node *node)
{
    bool logical = node->op == TC_OP_tosa_logical_not, u85 = ti_hw_is_u85(s->hw);
    tc_sel_operand x = ti_sel_operand(s, node->in[0]),
                   k = ti_sel_operand_number(logical ? 1 : -1, x.bytes);
    tc_view to = ti_sel_result(s, node->out[0]);
    tc_npu_eltwise mode = !u85 ? TC_EW_SUB : logical ? TC_EW_XOR : TC_EW_NOT;
    tc_hw_op op = ti_sel_eltwise(s, node, mode, x.bytes);
    ti_sel_combine(s, &op, false, mode == TC_EW_NOT ? &x : &k, mode == TC_EW_NOT ? NULL : &x, &to);
}

/* ---- comparisons ---- */

static tc_npu_eltwise compare_mode(tc_op op)
{
    return op == TC_OP_tosa_equal     ? TC_EW_CMP_EQ
           : op == TC_OP_tosa_greater ? TC_EW_CMP_GT
                                      : TC_EW_CMP_GE;
}

static bool is_comparison(const tc_node *node)
{
    return node && (node->op == TC_OP_tosa_equal || node->op == TC_OP_tosa_greater ||
                    node->op == TC_OP_tosa_greater_equal);
}

static void compare_u55(tc_sel *s, const tc_node *node, const tc_sel_operand *a,
                        const tc_sel_operand *b, const tc_view *to)
{
    bool equal = node->op == TC_OP_tosa_equal, more = node->op == TC_OP_tosa_greater;
    /* a > b: is the difference not 0; b <= a: is that of b > a 0? */
    const tc_sel_operand *left = equal || more ? a : b, *right = equal || more ? b : a;
    tc_sel_operand most = *left;
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_MAX, 4);
    if (!equal)
        most = ti_sel_step(s, &op, true, left, right);
    op = ti_sel_eltwise(s, node, TC_EW_SUB, 4);
    tc_sel_operand apart = ti_sel_step(s, &op, false, &most, right);
    op = ti_sel_eltwise(s, node, TC_EW_CLZ, 4);
    tc_sel_operand zeros = ti_sel_step(s, &op, false, &apart, NULL),
                   k = ti_sel_operand_number(more ? 32 : 31, 4);
    op = ti_sel_eltwise(s, node, TC_EW_SUB, 1);
    op.op.lo = 0;
    op.op.hi = 1;
    ti_sel_combine(s, &op, false, more ? &k : &zeros, more ? &zeros : &k, to);
}

/* Only SELECTs on U85 read it, as their condition: each makes the mask in its own width. */
static bool only_selects(const tc_sel *s, tc_val v)
{
    const tc_node *reader = ti_sel_only_reader(s, v);
    return ti_hw_is_u85(s->hw) && reader && reader->op == TC_OP_tosa_select &&
           reader->in[0] == v && reader->in[1] != v && reader->in[2] != v;
}

void ti_npu_select_compare(tc_sel *s, const tc_node *node)
{
    if (only_selects(s, node->out[0]))
        return;
    tc_sel_operand a = ti_sel_operand(s, node->in[0]), b = ti_sel_operand(s, node->in[1]);
    tc_view to = ti_sel_result(s, node->out[0]);
    if (!ti_hw_is_u85(s->hw)) {
        compare_u55(s, node, &a, &b, &to);
        return;
    }
    tc_sel_operand one = ti_sel_operand_number(1, 1);
    tc_hw_op op = ti_sel_eltwise(s, node, compare_mode(node->op), 1);
    tc_sel_operand mask = ti_sel_step(s, &op, false, &a, &b);
    op = ti_sel_eltwise(s, node, TC_EW_AND, 1);
    ti_sel_combine(s, &op, true, &mask, &one, &to);
}

/* ---- SELECT ---- */

/* 0 or -1 in `bytes`. */
static tc_sel_operand mask_of(tc_sel *s, const tc_node *node, uint8_t bytes)
{
    const tc_node *from = ti_def(s->g, node->in[0]);
    if (is_comparison(from) && only_selects(s, node->in[0])) {
        tc_sel_operand a = ti_sel_operand(s, from->in[0]), b = ti_sel_operand(s, from->in[1]);
        tc_hw_op op = ti_sel_eltwise(s, from, compare_mode(from->op), bytes);
        return ti_sel_step(s, &op, false, &a, &b);
    }
    tc_sel_operand c = ti_sel_operand(s, node->in[0]), zero = ti_sel_operand_number(0, 1);
    if (c.is_number)
        return ti_sel_operand_number(-c.number, bytes);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_SUB, bytes);
    return ti_sel_step(s, &op, false, &zero, &c);
}

static void select_u85(tc_sel *s, const tc_node *node, const tc_sel_operand *a,
                       const tc_sel_operand *b, const tc_view *to)
{
    uint8_t bytes = a->bytes;
    tc_sel_operand mask = mask_of(s, node, bytes);
    tc_hw_op op = ti_sel_eltwise(s, node, TC_EW_AND, bytes);
    tc_sel_operand yes = ti_sel_step(s, &op, true, a, &mask);
    op = ti_sel_eltwise(s, node, TC_EW_AND_NOT, bytes);
    tc_sel_operand no = ti_sel_step(s, &op, false, b, &mask);
    op = ti_sel_eltwise(s, node, TC_EW_OR, bytes);
    ti_sel_combine(s, &op, true, &yes, &no, to);
}

static void select_u55(tc_sel *s, const tc_node *node, tc_sel_operand a, tc_sel_operand b,
                       const tc_view *to)
{
    uint8_t bytes = a.bytes, wide = bytes == 1 ? 2 : 4;
    tc_sel_operand c = ti_sel_operand(s, node->in[0]), not_c = c;
    tc_hw_op op;
    if (c.is_number)
        c.bytes = not_c.bytes = bytes;
    else if (bytes > 1) {
        tc_sel_operand zero = ti_sel_operand_number(0, 1), one = ti_sel_operand_number(1, 1);
        op = ti_sel_eltwise(s, node, TC_EW_ADD, bytes);
        c = ti_sel_step(s, &op, true, &c, &zero);
        if (bytes == 4) {
            op = ti_sel_eltwise(s, node, TC_EW_SUB, bytes);
            not_c = ti_sel_step(s, &op, false, &one, &not_c);
        } else
            not_c = c;
    }
    if (c.is_number && bytes == 4)
        not_c.number = 1 - c.number;
    else if (bytes < 4)
        not_c.zero = 1;
    op = ti_sel_eltwise(s, node, TC_EW_MUL, wide);
    tc_sel_operand yes = ti_sel_step(s, &op, true, &c, &a);
    op = ti_sel_eltwise(s, node, TC_EW_MUL, wide);
    tc_sel_operand no = ti_sel_step(s, &op, true, &not_c, &b);
    op = ti_sel_eltwise(s, node, bytes == 4 ? TC_EW_ADD : TC_EW_SUB, bytes);
    ti_sel_combine(s, &op, false, &yes, &no, to);
}

void ti_npu_select_select(tc_sel *s, const tc_node *node)
{
    tc_sel_operand a = ti_sel_operand(s, node->in[1]), b = ti_sel_operand(s, node->in[2]);
    if (s->hw->refused)
        return;
    tc_view to = ti_sel_result(s, node->out[0]);
    if (ti_hw_is_u85(s->hw))
        select_u85(s, node, &a, &b, &to);
    else
        select_u55(s, node, a, b, &to);
}
