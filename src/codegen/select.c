/* SPDX-License-Identifier: Apache-2.0 */
/* select.c -- TOSA operators to operations of the machine: the walk over a region. */
#include "fold.h"

#include "../run/eval.h"

static tc_select_rule *const rules[TC_OP_COUNT] = {
#define SELECT(op, rule) [TC_OP_##op] = ti_npu_select_##rule,
#include "select.def"
};

/* Nodes whose results are unused are not made: they count as taken, and as no readers. */
static bool is_needed(const tc_sel *s, const bool *needed, const tc_node *node)
{
    bool yes = !node->n_out || tc_ops[node->op].traits & T_STATE;
    for (int i = 0; i < node->n_out; i++)
        yes = yes || needed[node->out[i]];
    for (int i = 0; i < node->n_out && !yes; i++)
        s->value[node->out[i]].taken = true;
    return yes;
}

static void set_parts(tc_sel *s, const tc_node *concat)
{
    const tc_attr_tosa_axis *a = concat->attr;
    int64_t at = 0;
    for (int i = 0; i < concat->n_in; i++) {
        s->value[concat->in[i]].part = at;
        at += ti_type_of(s->g, concat->in[i])->dim[a->axis];
    }
}

static void count_readers(tc_sel *s)
{
    bool *needed = tc_new_n(s->hw->arena, bool, s->g->n_val);
    for (size_t i = 0; i < s->g->n_out; i++)
        needed[s->g->out[i]] = true;
    for (size_t k = s->g->n_node; k-- > 0;) {
        const tc_node *node = s->g->node[k];
        bool yes = is_needed(s, needed, node);
        for (int i = 0; i < node->n_in && yes; i++) {
            tc_sel_value *v = &s->value[node->in[i]];
            needed[node->in[i]] = true;
            v->reader = v->readers++ ? v->reader : node;
        }
        if (yes && node->op == TC_OP_tosa_concat)
            set_parts(s, node);
    }
    for (size_t i = 0; i < s->g->n_out; i++) {
        s->value[s->g->out[i]].readers++;
        s->value[s->g->out[i]].reader = NULL;
    }
}

static void place_inputs(tc_sel *s)
{
    tc_hw *hw = s->hw;
    for (size_t i = 0; i < s->g->n_in; i++) {
        tc_val v = s->g->in[i];
        const tc_type *t = ti_type_of(s->g, v);
        tc_view view = ti_sel_working(s, ti_sel_name(s, v), ti_sel_bytes(s, v), t->rank, t->dim);
        hw->root[view.root].kind = TC_ROOT_INPUT;
        hw->in[i] = view.root;
        ti_sel_is(s, v, view);
    }
}

/* Outputs that are something else too: an input, a constant, a view, another output. */
static void copy_outputs(tc_sel *s)
{
    for (size_t i = 0; i < s->g->n_out && !s->hw->refused; i++) {
        tc_val v = s->g->out[i];
        const tc_type *t = ti_type_of(s->g, v);
        tc_view from = ti_sel_view(s, v);
        if (s->hw->out[i] >= 0 && s->hw->out[i] == from.root)
            continue;
        tc_view to = ti_sel_working(s, ti_sel_name(s, v), ti_sel_bytes(s, v), t->rank, t->dim);
        s->hw->root[to.root].kind = TC_ROOT_OUTPUT;
        s->hw->out[i] = to.root;
        ti_sel_copy(s, ti_def(s->g, v), &from, &to);
    }
}

/* The region with nodes and values of our own, to which constants are added: at most nine a node. */
static tc_graph *own_values(tc_hw *hw, const tc_graph *of)
{
    tc_graph *g = tc_new(hw->arena, tc_graph);
    *g = *of;
    g->val = tc_new_n(hw->arena, tc_value *, g->n_val + 9 * g->n_node + 1);
    g->node = tc_new_n(hw->arena, tc_node *, g->n_node + 1);
    for (size_t k = 0; k < g->n_node; k++)
        g->node[k] = of->node[k];
    for (size_t v = 0; v < g->n_val; v++)
        if (of->val[v]) {
            g->val[v] = tc_new(hw->arena, tc_value);
            *g->val[v] = *of->val[v];
        }
    return g;
}

/* A node whose operands are constants: so are its results. */
static bool compute(tc_hw *hw, tc_graph *g, const tc_node *node)
{
    if (node->n_in == 0 || tc_ops[node->op].traits & (T_CONTROL | T_STATE))
        return false;
    tc_tensor *t = tc_new_n(hw->arena, tc_tensor, (size_t)(node->n_in + node->n_out));
    for (int i = 0; i < node->n_in; i++) {
        if (!ti_is_const(g, node->in[i]))
            return false;
        t[i] = ti_tensor_of(g, node->in[i]);
    }
    if (ti_eval_node(g, node, t, t + node->n_in, hw->arena) != TC_OK)
        return false;
    for (int i = 0; i < node->n_out; i++)
        g->val[node->out[i]]->data = t[node->n_in + i].data;
    return true;
}

/* A RESCALE that was computed: a reader may fuse it, also in another shape, and read fewer
 * bytes. */
static void keep_small(tc_sel *s, const tc_node *node)
{
    if (node->op == TC_OP_tosa_rescale)
        ti_sel_put_off(s, node);
    if (node->op == TC_OP_tosa_reshape)
        s->value[node->out[0]].put_off = s->value[node->in[0]].put_off;
}

static bool is_number(tc_op op)
{
    return op == TC_OP_const;
}

/* No element of the machine has 64 bits. */
static void check_widths(tc_hw *hw, const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        for (int i = 0; i < node->n_in + node->n_out; i++) {
            tc_val v = i < node->n_in ? node->in[i] : node->out[i - node->n_in];
            if (ti_type_of(g, v)->dtype == TC_i64)
                ti_hw_refuse(hw, node, "it has elements of 64 bits");
        }
    }
}

static tc_sel begin(tc_hw *hw, const tc_graph *of)
{
    check_widths(hw, of);
    tc_graph *g = own_values(hw, of);
    for (size_t k = 0; k < g->n_node; k++)
        (void)compute(hw, g, g->node[k]);
    ti_fold_codes(hw, g);
    ti_fold_shifts(hw, g);
    ti_fold_curves(hw, g);
    ti_fold_pads(hw, g);
    ti_fold_leaky(hw, g);
    ti_fold_squares(hw, g);
    tc_sel s = {.hw = hw, .g = g, .value = tc_new_n(hw->arena, tc_sel_value, g->n_val)};
    count_readers(&s);
    return s;
}

static void select_nodes(tc_sel *s)
{
    const tc_graph *g = s->g;
    tc_hw *hw = s->hw;
    for (size_t k = 0; k < g->n_node && !hw->refused; k++) {
        const tc_node *node = g->node[k];
        if (is_number(node->op) || (node->n_out && s->value[node->out[0]].taken))
            continue;
        if (node->n_out && ti_is_const(g, node->out[0])) {
            keep_small(s, node);
            continue;
        }
        for (int i = 0; i < node->n_out; i++)
            if (ti_type_of(g, node->out[i])->rank > TC_VIEW_DIMS - 1)
                ti_hw_refuse(hw, node, "it has more than %d axes", TC_VIEW_DIMS - 1);
        if (!rules[node->op])
            ti_hw_refuse(hw, node, "%s has no rule yet", tc_ops[node->op].name);
        else if (!hw->refused)
            rules[node->op](s, node);
    }
}

/* What the caller fills and reads has as many axes as the container says. */
static void check_borders(tc_hw *hw)
{
    const tc_graph *g = hw->g;
    for (size_t i = 0; i < g->n_in + g->n_out; i++) {
        tc_val v = i < g->n_in ? g->in[i] : g->out[i - g->n_in];
        if (ti_type_of(g, v)->rank > TC_NPU_DIMS)
            ti_hw_refuse(hw, ti_def(g, v), "an input or output has more than %d axes", TC_NPU_DIMS);
    }
}

/* Room for five operations of eight nodes, which is enough for most programs: an array that doubles
 * leaves up to three times as much in the arena. */
static void make_room(tc_hw *hw, const tc_graph *g)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        n += g->node[k]->n_out && !ti_is_const(g, g->node[k]->out[0]);
    hw->cap_op = 5 * n / 8 + 8;
    hw->op = ti_arena_raw(hw->arena, hw->cap_op * sizeof *hw->op);
}

void ti_hw_select(tc_hw *hw)
{
    tc_sel s = begin(hw, hw->g);
    make_room(hw, s.g);
    for (size_t i = 0; i < s.g->n_out; i++)
        hw->out[i] = -1;
    check_borders(hw);
    place_inputs(&s);
    select_nodes(&s);
    if (!hw->refused)
        copy_outputs(&s);
}

void ti_sel_graph(tc_hw *hw, const tc_node *node, const tc_graph *g, const tc_view *in,
                  const tc_view *out)
{
    tc_sel s = begin(hw, g);
    size_t first = hw->n_op;
    s.inner = true;
    for (size_t i = 0; i < g->n_in; i++)
        ti_sel_is(&s, g->in[i], in[i]);
    for (size_t i = 0; i < g->n_out; i++) {
        tc_sel_value *v = &s.value[g->out[i]];
        if (v->placed || ti_graph_takes(g, g->out[i]) || ti_is_const(g, g->out[i]))
            continue;
        v->view = out[i];
        v->placed = true;
    }
    select_nodes(&s);
    for (size_t i = 0; i < g->n_out && !hw->refused; i++) {
        tc_view from = ti_sel_view(&s, g->out[i]);
        if (!hw->refused && !ti_sel_same_place(&from, &out[i]))
            ti_sel_copy(&s, node, &from, &out[i]);
    }
    for (size_t i = first; i < hw->n_op; i++)
        hw->op[i].node = node; /* of the region, as all of them */
    if (hw->refused)
        hw->refused_node = node;
}
