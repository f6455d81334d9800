/* SPDX-License-Identifier: Apache-2.0 */
/* plan_image.c -- pooling and PReLU on NHWC images, as convolutions leave them: no transpose, all
 * channels together. */
#include "plan_steps.h"

#include "../fast/fast_pool.h"

static void run_pool(const void *what, void *const *in, void *out, void *scratch)
{
    (void)scratch;
    ti_max_pool_run(what, in[0], out);
}

bool ti_plan_max_pool(tc_maker *m, const tc_node *node)
{
    const tc_type *x = ti_type_of(m->g, node->in[0]), *y = ti_type_of(m->g, node->out[0]);
    const tc_attr_max_pool *a = node->attr;
    if (x->dtype != TC_f32 || y->dtype != TC_f32 || x->rank != 4 || node->n_out != 1 ||
        a->kernel.n != 2 || a->dilation.n != 2 || !tc_type_count(x))
        return false;
    tc_layout last = ti_layout_channels_last(4);
    const place *from = m->at[node->in[0]];
    if (!ti_layout_same(&from->layout, &last, x))
        return false;
    tc_max_pool *p = tc_new(&m->ctx->arena, tc_max_pool);
    *p = (tc_max_pool){TC_f32, x->dim[0], x->dim[2], x->dim[3], x->dim[1], y->dim[2], y->dim[3],
                       {a->kernel.v[0], a->kernel.v[1]}, {a->stride.v[0], a->stride.v[1]},
                       {a->pad.v[0], a->pad.v[1]}, {a->dilation.v[0], a->dilation.v[1]}};
    ti_step_prepared(m, node, run_pool, p, 0, &from, 1, node->out[0], last);
    return true;
}

/* TOSA is always channels last. */
bool ti_plan_tosa_max_pool(tc_maker *m, const tc_node *node)
{
    const tc_type *x = ti_type_of(m->g, node->in[0]), *y = ti_type_of(m->g, node->out[0]);
    const tc_attr_tosa_max_pool *a = node->attr;
    if (x->dtype != TC_i8 && x->dtype != TC_i16)
        return false;
    int64_t before[2] = {a->pad.v[0], a->pad.v[2]}, in[2] = {x->dim[1], x->dim[2]};
    for (int i = 0; i < 2; i++) /* no window wholly in the padding */
        if (before[i] >= a->kernel.v[i] ||
            (y->dim[1 + i] - 1) * a->stride.v[i] - before[i] >= in[i])
            return false;
    tc_max_pool *p = tc_new(&m->ctx->arena, tc_max_pool);
    *p = (tc_max_pool){x->dtype, x->dim[0], in[0], in[1], x->dim[3], y->dim[1], y->dim[2],
                       {a->kernel.v[0], a->kernel.v[1]}, {a->stride.v[0], a->stride.v[1]},
                       {before[0], before[1]}, {1, 1}};
    const place *from = ti_place_plain(m, node->in[0], node);
    ti_step_prepared(m, node, run_pool, p, 0, &from, 1, node->out[0], ti_layout_plain(4));
    return true;
}

typedef struct prelu {
    size_t rows, c;
} prelu;

static void run_prelu(const void *what, void *const *in, void *out, void *scratch)
{
    const prelu *p = what;
    (void)scratch;
    ti_prelu_run(in[0], in[1], p->rows, p->c, out);
}

bool ti_plan_prelu(tc_maker *m, const tc_node *node)
{
    const tc_type *x = ti_type_of(m->g, node->in[0]), *w = ti_type_of(m->g, node->in[1]);
    tc_layout last = ti_layout_channels_last(x->rank);
    const place *from = m->at[node->in[0]];
    if (x->dtype != TC_f32 || w->dtype != TC_f32 || x->rank < 3 ||
        tc_type_count(w) != x->dim[1] || !tc_type_count(x) ||
        !ti_layout_same(&from->layout, &last, x))
        return false;
    prelu *p = tc_new(&m->ctx->arena, prelu);
    *p = (prelu){(size_t)(tc_type_count(x) / x->dim[1]), (size_t)x->dim[1]};
    const place *in[2] = {from, ti_place_plain(m, node->in[1], node)};
    ti_step_prepared(m, node, run_prelu, p, 0, in, 2, node->out[0], last);
    return true;
}
