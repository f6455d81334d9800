/* SPDX-License-Identifier: Apache-2.0 */
/* fold_pads.c -- a PAD of rows and columns with the zero point of the convolution that reads it: the
 * convolution's own padding, which is not stored. */
#include "fold.h"

#include "../num/load.h"

enum { AXES = 4 };

/* What a PAD adds above, below, left and right, and with which value; false: on other axes too. */
static bool is_border(const tc_graph *g, const tc_node *pad, int64_t around[4], int64_t *number)
{
    if (!pad || pad->op != TC_OP_tosa_pad || ti_type_of(g, pad->in[0])->rank != AXES ||
        !ti_is_const(g, pad->in[1]) || !ti_fold_number(g, pad->in[2], number))
        return false;
    tc_tensor t = ti_tensor_of(g, pad->in[1]);
    for (int i = 0; i < 2 * AXES; i++) {
        int64_t n = ti_load_i64(t, i);
        if (i >= 2 && i < 6)
            around[i - 2] = n;
        else if (n)
            return false;
    }
    return true;
}

/* If the padding is as large as the dilated kernel, some outputs would read padding only. */
static bool fits(const tc_graph *g, const tc_node *conv, const int64_t pad[4])
{
    const tc_attr_tosa_conv *a = conv->attr;
    const tc_type *w = ti_type_of(g, conv->in[1]);
    int axis = conv->op == TC_OP_tosa_conv2d ? 1 : 0;
    for (int i = 0; i < 4; i++)
        if (pad[i] > (w->dim[axis + i / 2] - 1) * a->dilation.v[i / 2])
            return false;
    return true;
}

static tc_node *folded(tc_hw *hw, tc_graph *g, const tc_node *conv)
{
    const tc_attr_tosa_conv *a = conv->attr;
    const tc_node *pad = ti_def(g, conv->in[0]);
    int64_t around[4], number, zero;
    tc_val in[5];
    if (!is_border(g, pad, around, &number) || !ti_fold_number(g, conv->in[3], &zero) ||
        number != zero)
        return NULL;
    for (int i = 0; i < 4; i++)
        around[i] += a->pad.v[i];
    if (!fits(g, conv, around))
        return NULL;
    tc_attr_tosa_conv *more = ti_arena_copy(&hw->ctx->arena, a, sizeof *a);
    more->pad.v = ti_arena_copy(&hw->ctx->arena, around, sizeof around);
    memcpy(in, conv->in, sizeof in);
    in[0] = pad->in[0];
    return ti_fold_node(hw, g, conv, conv->op, more, 5, in, conv->out[0]);
}

static bool is_read(const tc_graph *g, tc_val v)
{
    for (size_t i = 0; i < g->n_out; i++)
        if (g->out[i] == v)
            return true;
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i] == v)
                return true;
    return false;
}

static void remove_node(tc_graph *g, const tc_node *node)
{
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k] != node)
            g->node[n++] = g->node[k];
    g->n_node = n;
}

void ti_fold_pads(tc_hw *hw, tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k], *pad = NULL;
        bool window = node->op == TC_OP_tosa_conv2d || node->op == TC_OP_tosa_depthwise_conv2d;
        tc_node *now = window ? folded(hw, g, node) : NULL;
        if (!now)
            continue;
        g->node[k] = now;
        pad = ti_def(g, node->in[0]);
        if (!is_read(g, pad->out[0])) {
            remove_node(g, pad);
            k--;
        }
    }
}
