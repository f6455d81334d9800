/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_site.c -- see cortexm_site.h. */
#include "cortexm_site.h"

#include "../num/fixed.h"
#include "../num/load.h"

/* ---- arguments ---- */

tc_cm_arg *ti_cm_add(tc_cm_site *s, tc_cm_kind kind)
{
    tc_cm_arg *a = &s->call->arg[s->call->n_arg++];
    *a = (tc_cm_arg){.kind = kind};
    return a;
}

void ti_cm_add_int(tc_cm_site *s, int64_t i)
{
    ti_cm_add(s, TC_CM_VALUE)->value = (tc_cpu_value){.kind = TC_CPU_INT, .i = i};
}

void ti_cm_add_ints(tc_cm_site *s, const int64_t *v, int n)
{
    ti_cm_add(s, TC_CM_VALUE)->value =
        (tc_cpu_value){.kind = TC_CPU_INTS, .ints = ti_ints_copy(&s->ctx->arena, v, n)};
}

void ti_cm_add_none(tc_cm_site *s)
{
    ti_cm_add(s, TC_CM_VALUE)->value = (tc_cpu_value){.kind = TC_CPU_NULL};
}

void ti_cm_add_scratch(tc_cm_site *s, size_t bytes)
{
    ti_cm_add(s, TC_CM_SCRATCH)->bytes = bytes;
}

tc_tensor ti_cm_new_tensor(tc_cm_site *s, tc_dtype dtype, int rank, const int64_t *dim)
{
    return ti_tensor_new(&s->ctx->arena, ti_type_make(s->ctx, dtype, rank, dim));
}

void ti_cm_add_data(tc_cm_site *s, tc_tensor t)
{
    ti_cm_add(s, TC_CM_DATA)->data = t;
}

/* Axes as they are. */
tc_cm_view ti_cm_view_plain(const tc_type *t)
{
    tc_cm_view v = {.rank = t->rank};
    for (int i = 0; i < t->rank; i++) {
        v.dim[i] = t->dim[i];
        v.order[i] = (uint8_t)i;
    }
    return v;
}

/* [n,h,w,c] as [n,c,h,w] with the channels last in memory; leading ones if fewer axes. */
tc_cm_view ti_cm_view_channels_last(const tc_type *t)
{
    int64_t d[4] = {1, 1, 1, 1};
    for (int i = 0; i < t->rank; i++)
        d[4 - t->rank + i] = t->dim[i];
    return (tc_cm_view){4, {d[0], d[3], d[1], d[2]}, {0, 2, 3, 1}};
}

/* All but the last axis as one. */
tc_cm_view ti_cm_view_rows(const tc_type *t)
{
    int64_t c = t->rank ? t->dim[t->rank - 1] : 1;
    return (tc_cm_view){2, {c ? tc_type_count(t) / c : 0, c}, {0, 1}};
}

void ti_cm_add_tensor(tc_cm_site *s, int index, tc_cm_view view)
{
    tc_cm_arg *a = ti_cm_add(s, TC_CM_TENSOR);
    a->index = index;
    a->view = view;
}

/* ---- what a piece is made of ---- */

const tc_node *ti_cm_find_node(const tc_graph *g, tc_op op)
{
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op == op)
            return g->node[k];
    return NULL;
}

const tc_type *ti_cm_site_type(const tc_cm_site *s, tc_val v)
{
    return ti_type_of(s->g, v);
}
const tc_type *ti_cm_site_result(const tc_cm_site *s)
{
    return ti_cm_site_type(s, s->g->out[0]);
}

int64_t ti_cm_site_at(const tc_cm_site *s, tc_val v, int64_t i)
{
    return ti_load_i64(ti_tensor_of(s->g, v), i);
}

bool ti_cm_all_const(const tc_cm_site *s, const tc_node *node, int first)
{
    for (int i = first; i < node->n_in; i++)
        if (!ti_is_const(s->g, node->in[i]))
            return false;
    return true;
}

tc_cm_finish ti_cm_finish_of(const tc_cm_site *s)
{
    const tc_node *clamp = ti_cm_find_node(s->g, TC_OP_tosa_clamp);
    tc_cm_finish f = {NULL, INT8_MIN, INT8_MAX};
    for (size_t k = 0; k < s->g->n_node; k++)
        if (s->g->node[k]->op == TC_OP_tosa_rescale)
            f.rescale = s->g->node[k];
    if (clamp) {
        const tc_attr_tosa_clamp *a = clamp->attr;
        f.lo = ti_max_i64(f.lo, (int64_t)a->min_val);
        f.hi = ti_min_i64(f.hi, (int64_t)a->max_val);
    }
    return f;
}

int64_t ti_cm_of_channel(const tc_cm_site *s, tc_val v, int64_t i)
{
    return ti_cm_site_at(s, v, tc_type_count(ti_cm_site_type(s, v)) == 1 ? 0 : i);
}

/* most: the largest sum of each channel there can be; n channels. */
const char *ti_cm_check_finish(const tc_cm_site *s, const tc_cm_finish *f, const int64_t *most,
                               int64_t n)
{
    const tc_attr_tosa_rescale *a = f->rescale->attr;
    if (!ti_cm_all_const(s, f->rescale, 1) || !a->scale32 || a->input_unsigned ||
        a->output_unsigned)
        return "its RESCALE is of another kind";
    if (ti_cm_site_type(s, f->rescale->in[X])->dtype != TC_i32 ||
        ti_cm_site_result(s)->dtype != TC_i8)
        return "its result is not int8";
    if (ti_cm_site_at(s, f->rescale->in[ZERO_IN], 0))
        return "its sums have a zero point";
    for (int64_t i = 0; i < n; i++) {
        int64_t shift = ti_cm_of_channel(s, f->rescale->in[SHIFT], i);
        if (a->rounding_mode != TC_rounding_double && shift > 31)
            return "its RESCALE does not round twice";
        if (shift < 31 && most[i] > INT32_MAX >> ti_min_i64(31 - shift, 31))
            return "its sums are too large for the kernel's first shift";
    }
    return NULL;
}

int64_t ti_cm_shift_of(const tc_cm_site *s, const tc_node *rescale, int64_t i)
{
    return 31 - ti_cm_of_channel(s, rescale->in[SHIFT], i);
}

int64_t ti_cm_multiplier_of(const tc_cm_site *s, const tc_node *rescale, int64_t i)
{
    return ti_cm_of_channel(s, rescale->in[MULTIPLIER], i);
}

bool ti_cm_one_scale(const tc_cm_site *s, const tc_node *rescale, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (ti_cm_multiplier_of(s, rescale, i) != ti_cm_multiplier_of(s, rescale, 0) ||
            ti_cm_shift_of(s, rescale, i) != ti_cm_shift_of(s, rescale, 0))
            return false;
    return true;
}

/* A multiplier and a shift for each channel. */
void ti_cm_add_channels(tc_cm_site *s, const tc_cm_finish *f, int64_t n)
{
    tc_tensor m = ti_cm_new_tensor(s, TC_i32, 1, &n), shift = ti_cm_new_tensor(s, TC_i32, 1, &n);
    for (int64_t i = 0; i < n; i++) {
        ti_store_i64(m, i, ti_cm_multiplier_of(s, f->rescale, i));
        ti_store_i64(shift, i, ti_cm_shift_of(s, f->rescale, i));
    }
    ti_cm_add_data(s, m);
    ti_cm_add_data(s, shift);
}

/* The same padding on both sides gives as many windows: those past the end are unused. */
static bool pads_evenly(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t pad,
                        int64_t dilation)
{
    int64_t room = in + 2 * pad - dilation * (kernel - 1) - 1;
    return room >= 0 && room / stride + 1 == out;
}

/* C says how many windows there are: then the kernel checks every position against the bounds, but
 * where it takes pixels as they are stored. */
const char *ti_cm_check_window(const tc_cm_site *s, const tc_cm_window *w)
{
    if (s->caller == TC_CM_C && (w->kh > 1 || w->kw > 1))
        return NULL;
    return pads_evenly(w->h, w->oh, w->kh, w->stride[0], w->pad[0], w->dilation[0]) &&
                   pads_evenly(w->w, w->ow, w->kw, w->stride[1], w->pad[1], w->dilation[1])
               ? NULL
               : "its padding is not the same on both sides";
}
