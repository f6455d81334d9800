/* SPDX-License-Identifier: Apache-2.0 */
/* change_layers.c -- cheaper operators instead of expensive ones: activations, norms, kernels,
 * strides, pairs of convolutions, and a smaller input. */
#include "advise.h"

#include <math.h>

#include "../machine/npu_machine.h"

/* All nodes of an operator, in scratch memory. */
static size_t nodes_of(tc_advisor *a, tc_op op, size_t **at)
{
    size_t n = 0;
    *at = tc_new_n(&a->ctx->scratch, size_t, a->g->n_node);
    for (size_t k = 0; k < a->g->n_node; k++)
        if (a->g->node[k]->op == op)
            (*at)[n++] = k;
    return n;
}

static const char *are(size_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- activations ---- */

/* A curve, and the clamp that replaces it. */
static const struct {
    tc_op op, by;
    double lo, hi; /* of a clamp */
    const char *words;
} curves[] = {
    {TC_OP_hardswish, TC_OP_relu, 0, 0, "relu"},
    {TC_OP_silu, TC_OP_relu, 0, 0, "relu"},
    {TC_OP_gelu, TC_OP_relu, 0, 0, "relu"},
    {TC_OP_mish, TC_OP_relu, 0, 0, "relu"},
    {TC_OP_elu, TC_OP_relu, 0, 0, "relu"},
    {TC_OP_softplus, TC_OP_relu, 0, 0, "relu"},
    {TC_OP_leaky_relu, TC_OP_relu, 0, 0, "relu"},
    {TC_OP_prelu, TC_OP_relu, 0, 0, "relu"},
    {TC_OP_tanh, TC_OP_clamp, -1, 1, "hardtanh"},
    {TC_OP_sigmoid, TC_OP_hardsigmoid, 0, 0, "hardsigmoid"},
};

void ti_find_activations(tc_advisor *a, const tc_advice_kind *kind)
{
    for (size_t i = 0; i < TC_COUNT(curves); i++) {
        size_t *at, n = nodes_of(a, curves[i].op, &at);
        if (!n)
            continue;
        tc_proposal *p = ti_propose(a, kind, at, n, "%s instead of %zu %s",
                                    curves[i].words, n, tc_ops[curves[i].op].name);
        p->from = (int64_t)i;
        for (size_t k = 0; k < n; k++) { /* most are computed with the layer before them */
            const tc_node *before = ti_def(a->g, a->g->node[at[k]]->in[0]);
            for (size_t j = 0; before && j < at[k]; j++)
                p->at_stake += a->g->node[j] == before ? a->cycles[j] : 0;
        }
    }
}

tc_status ti_change_activations(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_graph *g = ti_main(to->module);
    tc_attr_clamp *clamp = tc_new(&a->ctx->arena, tc_attr_clamp);
    *clamp = (tc_attr_clamp){curves[p->from].lo, curves[p->from].hi};
    for (size_t i = 0; i < p->n_at; i++) {
        tc_node *node = g->node[p->at[i]];
        node->op = curves[p->from].by;
        node->attr = node->op == TC_OP_clamp ? clamp : NULL;
        node->n_in = 1;
    }
    return TC_OK;
}

/* ---- norms ---- */

void ti_find_norms(tc_advisor *a, const tc_advice_kind *kind)
{
    static const tc_op norms[] = {TC_OP_layer_norm, TC_OP_rms_norm, TC_OP_group_norm};
    for (size_t i = 0; i < TC_COUNT(norms); i++) {
        size_t *at, n = nodes_of(a, norms[i], &at);
        if (n)
            ti_propose(a, kind, at, n, "batch normalization instead of %zu %s", n,
                       tc_ops[norms[i]].name);
    }
}

/* What is left of batch normalization once it is folded. */
tc_status ti_change_norms(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_graph *g = ti_main(to->module);
    (void)a;
    for (size_t i = 0; i < p->n_at; i++) {
        tc_node *node = g->node[p->at[i]];
        node->op = TC_OP_identity;
        node->attr = NULL;
        node->n_in = 1;
    }
    return TC_OK;
}

/* ---- kernels ---- */

enum { SMALL = 3 };

static bool has_constant_kernel(tc_advisor *a, const tc_node *node)
{
    return node->op == TC_OP_conv && ti_is_const(a->g, node->in[1]) &&
           a->readers[node->in[1]] == 1 && ti_type_of(a->g, node->in[1])->rank == 4 &&
           ti_type_of(a->g, node->in[1])->dtype == TC_f32;
}

/* A square kernel of odd size above SMALL: its size; else 0. */
static int64_t large_kernel(tc_advisor *a, const tc_node *node)
{
    if (!has_constant_kernel(a, node))
        return 0;
    const int64_t *dim = ti_type_of(a->g, node->in[1])->dim;
    return dim[2] == dim[3] && dim[2] > SMALL && dim[2] % 2 ? dim[2] : 0;
}

static double channels_per_group(tc_advisor *a, const tc_node *node)
{
    return (double)ti_type_of(a->g, node->in[1])->dim[1];
}

void ti_find_kernels(tc_advisor *a, const tc_advice_kind *kind)
{
    size_t *at = tc_new_n(&a->ctx->scratch, size_t, a->g->n_node);
    for (int64_t size = SMALL + 2; size <= 31; size += 2) {
        size_t n = 0, best = 0;
        for (size_t k = 0; k < a->g->n_node; k++)
            if (large_kernel(a, a->g->node[k]) == size) {
                best = !n || a->cycles[k] > a->cycles[at[best]] ? n : best;
                at[n++] = k;
            }
        if (!n)
            continue;
        bool deep = channels_per_group(a, a->g->node[at[0]]) == 1;
        tc_proposal *p = ti_propose(a, kind, at, n, "%zu %s%s of 3x3 instead of %dx%d", n,
                                    deep ? "depthwise kernel" : "kernel", are(n), (int)size,
                                    (int)size);
        p->from = size;
        if (n > 1)
            ti_propose(a, kind, &at[best], 1, "a kernel of 3x3 instead of %dx%d", (int)size,
                       (int)size)
                ->from = size;
    }
}

/* The middle of each kernel, of SMALL by SMALL. */
static void crop_kernel(tc_ctx *ctx, tc_graph *g, tc_val v)
{
    tc_value *value = g->val[v];
    const tc_type *was = value->type;
    const tc_type *now =
        ti_type_make(ctx, was->dtype, 4, (const int64_t[]){was->dim[0], was->dim[1], SMALL, SMALL});
    tc_tensor t = ti_tensor_new(&ctx->arena, now);
    int64_t k = was->dim[2], off = (k - SMALL) / 2;
    const float *from = value->data;
    float *to = t.data;
    for (int64_t c = 0; c < was->dim[0] * was->dim[1]; c++)
        for (int64_t y = 0; y < SMALL; y++)
            for (int64_t x = 0; x < SMALL; x++)
                *to++ = from[(c * k + y + off) * k + x + off];
    value->type = now;
    value->data = t.data;
}

/* Windows stay where they were: what the kernel loses at each side, the padding does. */
tc_status ti_change_kernels(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_ctx *ctx = a->ctx;
    tc_graph *g = ti_main(to->module);
    for (size_t i = 0; i < p->n_at; i++) {
        tc_node *node = g->node[p->at[i]];
        tc_attr_conv *attr = ti_arena_copy(&ctx->arena, node->attr, sizeof *attr);
        int64_t pad[4];
        for (int k = 0; k < 4; k++) {
            int64_t less = (p->from - SMALL) / 2 * attr->dilation.v[k / 2];
            pad[k] = attr->pad.v[k] > less ? attr->pad.v[k] - less : 0;
        }
        attr->pad = ti_ints_copy(&ctx->arena, pad, 4);
        node->attr = attr;
        crop_kernel(ctx, g, node->in[1]);
    }
    return TC_OK;
}

/* ---- an expansion and its depthwise convolution, as one ---- */

static bool is_depthwise(tc_advisor *a, const tc_node *node)
{
    return has_constant_kernel(a, node) && ti_type_of(a->g, node->in[1])->dim[1] == 1 &&
           ((const tc_attr_conv *)node->attr)->groups == ti_type_of(a->g, node->in[1])->dim[0];
}

static bool is_pointwise(tc_advisor *a, const tc_node *node)
{
    if (!has_constant_kernel(a, node) || ((const tc_attr_conv *)node->attr)->groups != 1)
        return false;
    const int64_t *dim = ti_type_of(a->g, node->in[1])->dim;
    const tc_attr_conv *attr = node->attr;
    return dim[2] == 1 && dim[3] == 1 && ti_ints_are(attr->stride, 1) && ti_ints_are(attr->pad, 0);
}

/* The expansion before a depthwise convolution, by index, with only norms and functions of one
 * operand between; n_node: none. */
static size_t expansion_of(tc_advisor *a, const tc_node *depth)
{
    const tc_graph *g = a->g;
    const tc_node *node = ti_def(g, depth->in[0]);
    tc_val v = depth->in[0];
    while (node && a->readers[v] == 1 && node->n_out == 1 &&
           (node->op == TC_OP_batch_norm || node->op == TC_OP_identity ||
            ((tc_ops[node->op].traits & T_ELTWISE) && node->n_in == 1))) {
        v = node->in[0];
        node = ti_def(g, v);
    }
    for (size_t k = 0; node && a->readers[v] == 1 && is_pointwise(a, node) && k < g->n_node; k++)
        if (g->node[k] == node)
            return k;
    return g->n_node;
}

/* What one dense convolution takes at the least, all multipliers in use; INFINITY: not known. */
static double dense_cycles(tc_advisor *a, size_t point, size_t depth)
{
    const tc_npu_machine *m = a->target.npu;
    const tc_type *w = ti_type_of(a->g, a->g->node[depth]->in[1]);
    const tc_type *x = ti_type_of(a->g, a->g->node[point]->in[0]);
    double area = (double)(w->dim[2] * w->dim[3] * x->dim[1]);
    return m ? (double)tc_type_count(ti_type_of(a->g, a->g->node[depth]->out[0])) * area / m->macs
             : INFINITY;
}

void ti_find_expands(tc_advisor *a, const tc_advice_kind *kind)
{
    for (size_t k = 0; k < a->g->n_node; k++) {
        if (!is_depthwise(a, a->g->node[k]))
            continue;
        size_t at[2] = {expansion_of(a, a->g->node[k]), k};
        if (at[0] == a->g->n_node)
            continue;
        const int64_t *dim = ti_type_of(a->g, a->g->node[k]->in[1])->dim;
        double left = a->cycles[at[0]] + a->cycles[k] - dense_cycles(a, at[0], k);
        if (!(left > 0))
            continue;
        tc_proposal *p = ti_propose(a, kind, at, 2,
                                    "one dense %dx%d convolution instead of the 1x1 expansion and "
                                    "the depthwise %dx%d",
                                    (int)dim[2], (int)dim[3], (int)dim[2], (int)dim[3]);
        p->at_stake = left;
    }
}

/* dense[o][i][y][x] = depth[o][y][x] * point[o][i]; its stride and padding are the depthwise one's,
 * which goes. */
tc_status ti_change_expands(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_ctx *ctx = a->ctx;
    tc_graph *g = ti_main(to->module);
    tc_node *point = g->node[p->at[0]], *depth = g->node[p->at[1]];
    tc_value *w = g->val[point->in[1]];
    const tc_value *d = g->val[depth->in[1]];
    const int64_t *dim = d->type->dim, area = dim[2] * dim[3], in = w->type->dim[1];
    const tc_type *now =
        ti_type_make(ctx, TC_f32, 4, (const int64_t[]){dim[0], in, dim[2], dim[3]});
    tc_tensor t = ti_tensor_new(&ctx->arena, now);
    float *out = t.data;
    for (int64_t o = 0; o < dim[0]; o++)
        for (int64_t i = 0; i < in; i++)
            for (int64_t e = 0; e < area; e++)
                *out++ =
                    ((const float *)d->data)[o * area + e] * ((const float *)w->data)[o * in + i];
    tc_attr_conv *attr = ti_arena_copy(&ctx->arena, depth->attr, sizeof *attr);
    attr->groups = 1;
    w->type = now;
    w->data = t.data;
    point->attr = attr;
    depth->op = TC_OP_identity;
    depth->attr = NULL;
    depth->n_in = 1;
    return TC_OK;
}

/* ---- strides ---- */

static bool steps(const tc_node *node, int64_t by)
{
    return node->op == TC_OP_conv && ((const tc_attr_conv *)node->attr)->stride.n == 2 &&
           ti_ints_are(((const tc_attr_conv *)node->attr)->stride, by);
}

/* A convolution that steps by two, and the first one since the last such that can do it in its
 * stead. */
void ti_find_strides(tc_advisor *a, const tc_advice_kind *kind)
{
    const tc_graph *g = a->g;
    size_t first = 0;
    for (size_t k = 0; k < g->n_node; k++) {
        if (!steps(g->node[k], 2))
            continue;
        double between = 0;
        for (size_t j = first; j < k; j++)
            between += a->cycles[j];
        for (size_t j = first; j < k; j++) {
            if (!steps(g->node[j], 1) || is_pointwise(a, g->node[j]))
                continue;
            size_t at[2] = {j, k};
            tc_proposal *p =
                ti_propose(a, kind, at, 2, "a stride of 2 in the first, not in the second");
            p->at_stake = between;
            if (ti_refits(a, p, k))
                break;
            a->n_proposal--;
        }
        first = k + 1;
    }
}

static void set_stride(tc_ctx *ctx, tc_node *node, int64_t by)
{
    tc_attr_conv *attr = ti_arena_copy(&ctx->arena, node->attr, sizeof *attr);
    attr->stride = ti_ints_fill(&ctx->arena, by, attr->stride.n);
    node->attr = attr;
}

tc_status ti_change_strides(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_graph *g = ti_main(to->module);
    set_stride(a->ctx, g->node[p->at[0]], 2);
    set_stride(a->ctx, g->node[p->at[1]], 1);
    return TC_OK;
}

/* ---- the input ---- */

/* Three quarters of the height and width of a picture, in steps that strides divide. */
void ti_find_input_sizes(tc_advisor *a, const tc_advice_kind *kind)
{
    const tc_graph *g = a->g;
    const tc_type *t = g->n_in == 1 ? ti_type_of(g, g->in[0]) : NULL;
    if (!t || t->rank != 4 || t->dim[2] < 32 || t->dim[3] < 32)
        return;
    int64_t step = t->dim[2] >= 128 && t->dim[3] >= 128 ? 32 : 8;
    int64_t h = t->dim[2] * 3 / 4 / step * step, w = t->dim[3] * 3 / 4 / step * step;
    tc_proposal *p = ti_propose(a, kind, NULL, 0, "input of %dx%d instead of %dx%d",
                                (int)h, (int)w, (int)t->dim[2], (int)t->dim[3]);
    p->from = h;
    p->to = w;
    if (!ti_refits(a, p, SIZE_MAX))
        a->n_proposal--;
}

tc_status ti_change_input_sizes(tc_advisor *a, const tc_proposal *p, tc_altered *to)
{
    tc_graph *g = ti_main(to->module);
    const tc_type *t = ti_type_of(g, g->in[0]);
    g->val[g->in[0]]->type =
        ti_type_make(a->ctx, t->dtype, 4, (const int64_t[]){t->dim[0], t->dim[1], p->from, p->to});
    return TC_OK;
}
