/* SPDX-License-Identifier: Apache-2.0 */
/* fold_channels.c -- U85: 17 to 32 channels become 40, in a copy of the region whose price is compared
 * with that of the region as it is (codegen.c).
 *
 * 1x1 convolutions of at most 32 channels run at a quarter of the machine's speed, those of 40 at full
 * speed.  Values of 17 to 32 channels that are connected by elementwise operators (ADD, RESCALE,
 * CLAMP, TABLE) grow together: their producers get output channels with weights 0, their readers
 * input channels with weights 0.  Groups that a 1x1 convolution reads are candidates. */
#include "fold.h"

#include "../num/load.h"

enum { NARROW_LEAST = 17, NARROW_MOST = 32, WIDE = 40 };

/* The root of v's group: a root is its own. */
static tc_val group_of(tc_val *root, tc_val v)
{
    while (root[v] != v)
        v = root[v] = root[root[v]];
    return v;
}

typedef struct wider {
    tc_val *root; /* by value: what it grows with; TC_NONE: it is not narrow */
    bool *fixed;  /* by root: something reads or makes it that cannot grow */
    bool *read;   /* by root: a 1x1 convolution reads it */
} wider;

static void unite(wider *w, tc_val a, tc_val b)
{
    a = group_of(w->root, a);
    b = group_of(w->root, b);
    if (a == b)
        return;
    w->root[b] = a;
    w->fixed[a] = w->fixed[a] || w->fixed[b];
    w->read[a] = w->read[a] || w->read[b];
}

static bool is_narrow(const tc_graph *g, tc_val v)
{
    const tc_type *t = ti_type_of(g, v);
    return t && !ti_is_const(g, v) && t->rank == 4 && t->dim[0] == 1 && t->dim[3] >= NARROW_LEAST &&
           t->dim[3] <= NARROW_MOST && (t->dtype == TC_i8 || t->dtype == TC_i32) &&
           tc_type_count(t) > 0;
}

/* Operands of one pixel and one channel at a time: how many, from the first on. */
static int pointwise(const tc_node *node)
{
    switch (node->op) {
    case TC_OP_tosa_add:
    case TC_OP_tosa_sub:
    case TC_OP_tosa_mul:
    case TC_OP_tosa_maximum:
    case TC_OP_tosa_minimum:
        return 2;
    case TC_OP_tosa_rescale:
    case TC_OP_tosa_clamp:
    case TC_OP_tosa_table:
        return 1;
    default:
        return 0;
    }
}

/* Constants that have an element for each channel are made longer. */
static bool parts_known(const tc_graph *g, const tc_node *node, int from)
{
    for (int i = from; i < node->n_in; i++)
        if (!ti_is_const(g, node->in[i]))
            return false;
    return true;
}

static void look_at_conv(wider *w, const tc_graph *g, const tc_node *node)
{
    const tc_type *k = ti_type_of(g, node->in[1]);
    bool can = parts_known(g, node, 1) && k->dtype == TC_i8;
    tc_val in = w->root[node->in[0]] ? group_of(w->root, node->in[0]) : TC_NONE;
    tc_val out = w->root[node->out[0]] ? group_of(w->root, node->out[0]) : TC_NONE;
    if (in) {
        w->fixed[in] = w->fixed[in] || !can;
        w->read[in] = w->read[in] || k->dim[1] * k->dim[2] == 1;
    }
    if (out)
        w->fixed[out] = w->fixed[out] || !can;
}

static void look_at_pointwise(wider *w, const tc_graph *g, const tc_node *node)
{
    tc_val out = node->out[0];
    for (int i = 0; i < pointwise(node); i++) {
        tc_val in = node->in[i];
        const tc_type *x = ti_type_of(g, in);
        if (w->root[in] && w->root[out])
            unite(w, in, out);
        else if (w->root[in])
            w->fixed[group_of(w->root, in)] = true;
        else if (w->root[out] && !ti_is_const(g, in) && x->dim[x->rank - 1] != 1)
            w->fixed[group_of(w->root, out)] = true;
    }
    if (w->root[out] && !parts_known(g, node, pointwise(node)))
        w->fixed[group_of(w->root, out)] = true;
}

static void look(wider *w, const tc_graph *g)
{
    for (tc_val v = 1; v < g->n_val; v++)
        w->root[v] = is_narrow(g, v) ? v : TC_NONE;
    for (size_t i = 0; i < g->n_in; i++)
        if (w->root[g->in[i]])
            w->fixed[g->in[i]] = true;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_tosa_conv2d)
            look_at_conv(w, g, node);
        else if (pointwise(node))
            look_at_pointwise(w, g, node);
        else {
            for (int i = 0; i < node->n_in; i++)
                if (w->root[node->in[i]])
                    w->fixed[group_of(w->root, node->in[i])] = true;
            for (int i = 0; i < node->n_out; i++)
                if (w->root[node->out[i]])
                    w->fixed[group_of(w->root, node->out[i])] = true;
        }
    }
    for (size_t i = 0; i < g->n_out; i++)
        if (w->root[g->out[i]])
            w->fixed[group_of(w->root, g->out[i])] = true;
    for (size_t i = 0; i < g->n_mutation; i++)
        if (w->root[g->mutation[i].after])
            w->fixed[group_of(w->root, g->mutation[i].after)] = true;
}

const tc_val *ti_fold_groups(tc_arena *arena, const tc_graph *g)
{
    wider w = {.root = tc_new_n(arena, tc_val, g->n_val),
               .fixed = tc_new_n(arena, bool, g->n_val),
               .read = tc_new_n(arena, bool, g->n_val)};
    tc_val *group = tc_new_n(arena, tc_val, g->n_val);
    look(&w, g);
    for (tc_val v = 1; v < g->n_val; v++) {
        tc_val root = w.root[v] ? group_of(w.root, v) : TC_NONE;
        group[v] = root && !w.fixed[root] && w.read[root] ? root : TC_NONE;
    }
    return group;
}

/* ---- growing ---- */

/* The constant with `more` of `fill` after its elements of an axis. */
static tc_val padded(tc_hw *hw, tc_graph *g, tc_val constant, int axis, int64_t more, int64_t fill)
{
    tc_tensor old = ti_tensor_of(g, constant);
    tc_type type = *old.type;
    int64_t outer = 1, inner = 1, n = type.dim[axis];
    for (int i = 0; i < type.rank; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : type.dim[i];
    type.dim[axis] = n + more;
    tc_tensor t =
        ti_tensor_new(hw->arena, ti_type_make(hw->ctx, type.dtype, type.rank, type.dim));
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < (n + more) * inner; i++)
            ti_store_i64(t, o * (n + more) * inner + i,
                         i < n * inner ? ti_load_i64(old, o * n * inner + i) : fill);
    return ti_fold_value(hw, g, t.type, g->val[constant]->name, t.data);
}

/* A constant with an element for each of `from` channels on its last axis, for 40. */
static void lengthen(tc_hw *hw, tc_graph *g, tc_val *v, int64_t from, int64_t fill)
{
    const tc_type *t = ti_type_of(g, *v);
    if (ti_is_const(g, *v) && t->rank > 0 && t->dim[t->rank - 1] == from)
        *v = padded(hw, g, *v, t->rank - 1, WIDE - from, fill);
}

static void grow_conv(tc_hw *hw, tc_graph *g, tc_val *in, bool in_grows, bool out_grows)
{
    const tc_type *k = ti_type_of(g, in[1]);
    int64_t zero = ti_load_i64(ti_tensor_of(g, in[4]), 0), o = k->dim[0];
    if (in_grows)
        in[1] = padded(hw, g, in[1], 3, WIDE - k->dim[3], zero);
    if (out_grows) {
        in[1] = padded(hw, g, in[1], 0, WIDE - o, zero);
        lengthen(hw, g, &in[2], o, 0);
    }
}

/* Operands that have an element per channel; new channels of a RESCALE hold zeros, whatever their
 * factor. */
static void grow_pointwise(tc_hw *hw, tc_graph *g, const tc_node *node, tc_val *in, int64_t c)
{
    for (int i = 0; i < pointwise(node); i++)
        lengthen(hw, g, &in[i], c, 0);
    if (node->op != TC_OP_tosa_rescale)
        return;
    lengthen(hw, g, &in[1], c, 1 << 30);
    lengthen(hw, g, &in[2], c, 31);
}

/* The node on grown values; NULL: nothing of it grows. */
static tc_node *grown(tc_hw *hw, tc_graph *g, const tc_node *node)
{
    bool conv = node->op == TC_OP_tosa_conv2d;
    if (node->n_out != 1 || (!conv && !pointwise(node)))
        return NULL;
    bool in_grows = hw->grows[node->in[0]], out_grows = hw->grows[node->out[0]];
    if (!out_grows && !(conv && in_grows))
        return NULL;
    tc_val in[5];
    memcpy(in, node->in, (size_t)node->n_in * sizeof *in);
    if (conv)
        grow_conv(hw, g, in, in_grows, out_grows);
    else
        grow_pointwise(hw, g, node, in, ti_type_of(g, node->out[0])->dim[3]);
    return ti_fold_node(hw, g, node, node->op, node->attr, node->n_in, in, node->out[0]);
}

void ti_fold_channels(tc_hw *hw, tc_graph *g)
{
    size_t n_val = g->n_val;
    for (size_t k = 0; k < g->n_node; k++) {
        tc_node *node = grown(hw, g, g->node[k]);
        g->node[k] = node ? node : g->node[k];
    }
    for (tc_val v = 1; v < n_val; v++) {
        if (!hw->grows[v])
            continue;
        tc_type t = *ti_type_of(g, v);
        t.dim[3] = WIDE;
        g->val[v]->type = ti_type_make(hw->ctx, t.dtype, 4, t.dim);
    }
}
