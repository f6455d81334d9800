/* SPDX-License-Identifier: Apache-2.0 */
/* select_control.c -- COND_IF and WHILE_LOOP: U85's branches.
 *
 * A branch tests what the last operation before it has written, which is one element.  Both graphs
 * of COND_IF write the same views.  What a loop carries is stored where its results are: the body
 * makes new ones elsewhere, and they are copied there at its end.
 *
 * A condition that is constant needs no branch. */
#include "select.h"

static void branch(tc_sel *s, const tc_node *node, bool conditional, uint32_t label)
{
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_BRANCH, 0);
    op.op.conditional = conditional;
    op.op.target = label;
    ti_sel_emit(s, &op);
}

static void label_here(tc_sel *s, const tc_node *node, uint32_t label)
{
    tc_hw_op op = ti_sel_op(s, node, TC_NPU_KIND_STOP, 0);
    op.op.target = label;
    ti_sel_emit(s, &op);
}

/* A branch on the element, which the operation before it must have written. */
static void branch_if(tc_sel *s, const tc_node *node, const tc_view *number, uint32_t label)
{
    const tc_hw *hw = s->hw;
    bool last = hw->n_op && hw->op[hw->n_op - 1].ofm.root == number->root &&
                hw->root[number->root].count == 1;
    if (!last) {
        tc_view flag = ti_sel_working(s, "flag", 1, 0, NULL), one;
        if (!ti_view_reshape(number, 0, NULL, &one))
            return;
        ti_sel_copy(s, node, &one, &flag);
    }
    branch(s, node, true, label);
}

/* Operands from the first one on, as they are. */
static tc_view *operands(tc_sel *s, const tc_node *node, int first)
{
    tc_view *v = tc_new_n(s->hw->arena, tc_view, (size_t)node->n_in + 1);
    for (int i = first; i < node->n_in && !s->hw->refused; i++)
        v[i - first] = ti_sel_view(s, node->in[i]);
    return v;
}

void ti_npu_select_cond_if(tc_sel *s, const tc_node *node)
{
    const tc_graph *graph[2] = {ti_node_callee(s->g->module, node, 1),
                                ti_node_callee(s->g->module, node, 0)}; /* false, true */
    bool constant = ti_is_const(s->g, node->in[0]);
    if (!graph[0] || !graph[1]) {
        ti_hw_refuse(s->hw, node, "its graphs are not there");
        return;
    }
    if (!constant && !ti_hw_is_u85(s->hw)) {
        ti_hw_refuse(s->hw, node, "the machine has no branches");
        return;
    }
    tc_view *in = operands(s, node, 1),
            *out = tc_new_n(s->hw->arena, tc_view, (size_t)node->n_out + 1);
    for (int i = 0; i < node->n_out; i++)
        out[i] = ti_sel_result(s, node->out[i]);
    if (constant) {
        ti_sel_graph(s->hw, node, graph[ti_sel_number(s, node->in[0]) != 0], in, out);
        return;
    }
    tc_view number = ti_sel_view(s, node->in[0]);
    if (s->hw->refused)
        return;
    uint32_t is = ++s->hw->n_label, end = ++s->hw->n_label;
    branch_if(s, node, &number, is);
    ti_sel_graph(s->hw, node, graph[0], in, out);
    branch(s, node, false, end);
    label_here(s, node, is);
    ti_sel_graph(s->hw, node, graph[1], in, out);
    label_here(s, node, end);
}

/* What the loop carries: `in` is where the body and the condition find it. */
typedef struct carried {
    tc_view *in;
    tc_view *next; /* what the body makes; of what stays, the same as `in` */
    bool *stays;
} carried;

static carried carry(tc_sel *s, const tc_node *node, const tc_graph *body)
{
    size_t n = (size_t)node->n_in + 1;
    carried c = {operands(s, node, 0), tc_new_n(s->hw->arena, tc_view, n),
                 tc_new_n(s->hw->arena, bool, n)};
    for (int i = 0; i < node->n_in && !s->hw->refused; i++) {
        const tc_type *t = ti_type_of(s->g, node->out[i]);
        c.stays[i] = body->out[i] == body->in[i];
        if (c.stays[i] && !s->value[node->out[i]].placed) {
            ti_sel_is(s, node->out[i], c.in[i]);
            c.next[i] = c.in[i];
            continue;
        }
        tc_view place = ti_sel_result(s, node->out[i]);
        ti_sel_copy(s, node, &c.in[i], &place);
        c.next[i] = c.in[i] = place;
        if (!c.stays[i])
            c.next[i] = ti_sel_working(s, "next", ti_sel_bytes(s, node->out[i]), t->rank, t->dim);
    }
    return c;
}

void ti_npu_select_while_loop(tc_sel *s, const tc_node *node)
{
    const tc_graph *condition = ti_node_callee(s->g->module, node, 0),
                   *body = ti_node_callee(s->g->module, node, 1);
    if (!condition || !body || body->n_out != (size_t)node->n_in || node->n_in != node->n_out) {
        ti_hw_refuse(s->hw, node, "its graphs are not there");
        return;
    }
    if (!ti_hw_is_u85(s->hw)) {
        ti_hw_refuse(s->hw, node, "the machine has no branches");
        return;
    }
    carried c = carry(s, node, body);
    if (s->hw->refused)
        return;
    uint32_t head = ++s->hw->n_label, again = ++s->hw->n_label, end = ++s->hw->n_label;
    const tc_type *t = ti_type_of(condition, condition->out[0]);
    label_here(s, node, head);
    tc_view flag = ti_sel_working(s, "flag", 1, t->rank, t->dim);
    ti_sel_graph(s->hw, node, condition, c.in, &flag);
    if (s->hw->refused)
        return;
    branch_if(s, node, &flag, again);
    branch(s, node, false, end);
    label_here(s, node, again);
    ti_sel_graph(s->hw, node, body, c.in, c.next);
    for (int i = 0; i < node->n_in && !s->hw->refused; i++)
        if (!c.stays[i])
            ti_sel_copy(s, node, &c.next[i], &c.in[i]);
    branch(s, node, false, head);
    label_here(s, node, end);
}
