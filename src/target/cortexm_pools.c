/* SPDX-License-Identifier: Apache-2.0 */
/* cortexm_pools.c -- pools, TRANSPOSE and PAD, as cortexm_call.h describes them to their kernels. */
#include "cortexm_site.h"

/* ---- pools ---- */

static tc_cm_window pool_window(const tc_cm_site *s, const tc_type *x, const int64_t *kernel,
                                const int64_t *stride, const int64_t *pad)
{
    const tc_type *y = ti_cm_site_result(s);
    return (tc_cm_window){.n = x->dim[0],
                          .h = x->dim[1],
                          .w = x->dim[2],
                          .c = x->dim[3],
                          .oh = y->dim[1],
                          .ow = y->dim[2],
                          .oc = x->dim[3],
                          .kh = kernel[0],
                          .kw = kernel[1],
                          .stride = {stride[0], stride[1]},
                          .pad = {pad[0], pad[2]},
                          .dilation = {1, 1}};
}

static void add_window(tc_cm_site *s, const tc_cm_window *w)
{
    ti_cm_add_ints(s, (int64_t[]){w->kh, w->kw}, 2);
    ti_cm_add_ints(s, w->stride, 2);
    ti_cm_add_ints(s, w->pad, 2);
}

const char *ti_cm_describe_max_pool(tc_cm_site *s)
{
    const tc_node *node = ti_cm_find_node(s->g, TC_OP_tosa_max_pool2d);
    const tc_attr_tosa_max_pool *a = node->attr;
    const tc_type *x = ti_cm_site_type(s, node->in[X]);
    tc_cm_finish f = ti_cm_finish_of(s);
    tc_cm_window w = pool_window(s, x, a->kernel.v, a->stride.v, a->pad.v);
    if (x->dtype != TC_i8)
        return "it is not of int8";
    if (2 * w.pad[0] > w.kh || 2 * w.pad[1] > w.kw)
        return "its padding is more than half of its window";
    const char *why = ti_cm_check_window(s, &w);
    if (why)
        return why;
    ti_cm_add_tensor(s, 0, ti_cm_view_channels_last(x));
    add_window(s, &w);
    ti_cm_add_ints(s, w.dilation, 2);
    ti_cm_add(s, TC_CM_VALUE)->value = (tc_cpu_value){.kind = TC_CPU_BOOL};
    ti_cm_add_int(s, 0); /* zero points: it does not look at them */
    ti_cm_add_int(s, 0);
    ti_cm_add_int(s, f.lo);
    ti_cm_add_int(s, f.hi);
    s->call->out = ti_cm_view_channels_last(ti_cm_site_result(s));
    return NULL;
}

enum { MOST_PIXELS = 1 << 14 }; /* of a window whose sums are gone through */

const char *ti_cm_describe_avg_pool(tc_cm_site *s)
{
    const tc_node *node = ti_cm_find_node(s->g, TC_OP_tosa_avg_pool2d);
    const tc_attr_tosa_avg_pool *a = node->attr;
    const tc_type *x = ti_cm_site_type(s, node->in[X]);
    tc_cm_window w = pool_window(s, x, a->kernel.v, a->stride.v, a->pad.v);
    if (x->dtype != TC_i8 || !ti_cm_all_const(s, node, 1))
        return "it is not of int8";
    if (!ti_ints_are(a->pad, 0))
        return "it has padding";
    if (w.kh * w.kw > MOST_PIXELS || !ti_cm_same_mean(w.kh * w.kw, ti_cm_site_at(s, node->in[1], 0),
                                                      ti_cm_site_at(s, node->in[2], 0)))
        return "the kernel rounds halves of negative sums to the other side";
    ti_cm_add_tensor(s, 0, ti_cm_view_channels_last(x));
    add_window(s, &w);
    ti_cm_add_int(s, ti_cm_site_at(s, node->in[1],
                                   0)); /* zero point, and one step: it does not look at them */
    ti_cm_add_int(s, 1 << 30);
    ti_cm_add_int(s, 1);
    ti_cm_add_scratch(s, ti_cm_scratch_avg_pool(w.c, s->core));
    s->call->out = ti_cm_view_channels_last(ti_cm_site_result(s));
    return NULL;
}

/* ---- movement ---- */

const char *ti_cm_describe_transpose(tc_cm_site *s)
{
    const tc_node *node = ti_cm_find_node(s->g, TC_OP_tosa_transpose);
    const tc_attr_tosa_perms *a = node->attr;
    const tc_type *x = ti_cm_site_type(s, node->in[X]);
    bool moves = false;
    for (int i = 0; i < x->rank; i++)
        moves = moves || a->perms.v[i] != i;
    if (x->dtype != TC_i8 || x->rank < 2 || x->rank > 4 || !moves)
        return "it is not of int8 in two to four axes";
    ti_cm_add_tensor(s, 0, ti_cm_view_plain(x));
    ti_cm_add_ints(s, a->perms.v, x->rank);
    s->call->out = ti_cm_view_plain(ti_cm_site_result(s));
    return NULL;
}

const char *ti_cm_describe_pad(tc_cm_site *s)
{
    const tc_node *node = ti_cm_find_node(s->g, TC_OP_tosa_pad);
    const tc_type *x = ti_cm_site_type(s, node->in[X]);
    int64_t before[4] = {0}, after[4] = {0};
    if (x->dtype != TC_i8 || x->rank < 1 || x->rank > 4 || !ti_cm_all_const(s, node, 1))
        return "it is not of int8 in at most four axes";
    for (int i = 0; i < x->rank; i++) {
        before[4 - x->rank + i] = ti_cm_site_at(s, node->in[1], 2 * i);
        after[4 - x->rank + i] = ti_cm_site_at(s, node->in[1], 2 * i + 1);
    }
    ti_cm_add_tensor(s, 0, ti_cm_view_channels_last(x));
    ti_cm_add_ints(s, before, 4);
    ti_cm_add_ints(s, after, 4);
    ti_cm_add_int(s, ti_cm_site_at(s, node->in[2], 0));
    s->call->out = ti_cm_view_channels_last(ti_cm_site_result(s));
    return NULL;
}
