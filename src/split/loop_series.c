/* SPDX-License-Identifier: Apache-2.0 */
/* loop_series.c -- one value for each step, and what joins them; see loops.h. */
#include "loops.h"

/* The values of a loop's steps, as they are made or from the end; times: how many values. */
static bool is_stacked(const tc_loops *l, const tc_val *v, int64_t times, tc_loop_series *s)
{
    *s = (tc_loop_series){.how = TC_SERIES_STACKED, .of = l->at[v[0]], .index = l->g->val[v[0]]->index};
    if (!s->of.loop || l->loop[s->of.loop - 1].times != times)
        return false;
    s->order = s->of.time == 0 ? 1 : -1;
    for (int64_t t = 0; t < times; t++) {
        const tc_loop_place *p = &l->at[v[t]];
        if (p->loop != s->of.loop || p->row != s->of.row || l->g->val[v[t]]->index != s->index ||
            p->time != ti_repeat_part(s->order, t, times))
            return false;
    }
    return true;
}

/* The slice that v is, through reshapes; NULL: it is none. */
static const tc_node *slice_of(const tc_loops *l, tc_val v)
{
    const tc_node *node = ti_def(l->g, v);
    while (node && node->op == TC_OP_tosa_reshape && !l->at[node->out[0]].loop)
        node = ti_def(l->g, node->in[0]);
    bool slice = node && node->op == TC_OP_tosa_slice && !l->at[node->out[0]].loop &&
                 ti_is_const(l->g, node->in[1]);
    return slice ? node : NULL;
}

/* One index of one axis each, in order. */
static bool is_sliced(const tc_loops *l, const tc_val *v, int64_t times, tc_loop_series *s)
{
    const tc_node *first = slice_of(l, v[0]);
    *s = (tc_loop_series){.how = TC_SERIES_SLICED, .base = first ? first->in[0] : TC_NONE, .axis = -1};
    if (!first)
        return false;
    const tc_type *whole = ti_type_of(l->g, s->base), *part = ti_type_of(l->g, first->out[0]);
    for (int a = 0; a < whole->rank; a++)
        if (whole->dim[a] == times && part->dim[a] == 1 && s->axis < 0)
            s->axis = a;
        else if (part->dim[a] != whole->dim[a])
            return false;
    if (s->axis < 0)
        return false;
    const int64_t *start = l->g->val[first->in[1]]->data;
    s->order = start[s->axis] == 0 ? 1 : -1;
    for (int64_t t = 0; t < times; t++) {
        const tc_node *node = slice_of(l, v[t]);
        if (!node || node->in[0] != s->base || ti_type_of(l->g, node->out[0]) != part)
            return false;
        start = l->g->val[node->in[1]]->data;
        if (start[s->axis] != ti_repeat_part(s->order, t, times))
            return false;
    }
    return true;
}

const tc_val *ti_loop_values(tc_ctx *ctx, const tc_loops *l, size_t loop, size_t row, int operand)
{
    const tc_loop *of = &l->loop[loop];
    tc_val *v = tc_new_n(&ctx->arena, tc_val, (size_t)of->times);
    for (int64_t t = 0; t < of->times; t++)
        v[t] = ti_loop_node(of, row, t)->in[operand];
    return v;
}

tc_loop_series ti_loop_series(const tc_loops *l, const tc_val *v, int64_t times)
{
    tc_loop_series s;
    if (is_stacked(l, v, times, &s) || is_sliced(l, v, times, &s))
        return s;
    return (tc_loop_series){.how = TC_SERIES_PACKED, .order = 1};
}

/* ---- CONCAT of every step's ---- */

/* Operands of a CONCAT, and of those among them that continue it. */
static size_t leaves_of(const tc_loops *l, const tc_node *node, size_t most, tc_val *leaf)
{
    size_t n = 0;
    for (int i = 0; i < node->n_in && n <= most; i++) {
        const tc_node *inner = ti_def(l->g, node->in[i]);
        bool goes_on = inner && inner->op == TC_OP_tosa_concat && !l->at[inner->out[0]].loop &&
                       ti_attr_equal(TC_ATTR_tosa_axis, inner->attr, node->attr);
        if (goes_on)
            n += leaves_of(l, inner, most - n, leaf + n);
        else if (n < most)
            leaf[n++] = node->in[i];
        else
            return most + 1;
    }
    return n;
}

bool ti_loop_join(tc_ctx *ctx, const tc_loops *l, const tc_node *node, tc_loop_series *s)
{
    if (node->op != TC_OP_tosa_concat)
        return false;
    tc_val leaf = node->in[0];
    for (const tc_node *inner = ti_def(l->g, leaf); inner && inner->op == TC_OP_tosa_concat;
         inner = ti_def(l->g, leaf))
        leaf = inner->in[0];
    if (!l->at[leaf].loop)
        return false;
    size_t times = (size_t)l->loop[l->at[leaf].loop - 1].times;
    tc_val *all = tc_new_n(&ctx->arena, tc_val, times + 1);
    return leaves_of(l, node, times, all) == times && is_stacked(l, all, (int64_t)times, s);
}
