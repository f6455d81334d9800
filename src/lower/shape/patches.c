/* SPDX-License-Identifier: Apache-2.0 */
/* patches.c -- typed form: a convolution that cuts the plane into patches, as one of 1x1.
 *
 *   conv(x [1,c,h,w], kernel k x k, stride k, no border), k > 3
 *
 * becomes, exactly: x as [1, c h/k, k w/k, k], cut into its c k parts [1, h/k, w/k, k], which side
 * by side are the channels (c, ky, kx) of a 1x1 convolution with the same weights.  Machines walk
 * strides up to 3 only, and would run one convolution per patch.
 *
 * Of more channels the rule itself does it, channels last (product/conv.c). */
#include "../pass.h"

#include "../../target/machine.h"
#include "typed.h"

#include "../../ir/rewrite.h"

enum { PARTS_MAX = 256 };

static bool cuts_patches(const tc_graph *g, const tc_node *node)
{
    if (node->op != TC_OP_conv)
        return false;
    const tc_attr_conv *a = node->attr;
    const tc_type *x = tc_type_of(g, node->in[0]), *w = tc_type_of(g, node->in[1]);
    if (x->rank != 4 || x->dim[0] != 1 || a->groups != 1 || !tc_is_const(g, node->in[1]) ||
        a->stride.n != 2)
        return false;
    int64_t k = w->dim[2];
    return k > TC_NPU_STRIDE && tc_type_count(x) > 0 && w->dim[3] == k &&
           tc_ints_are(a->stride, k) && tc_ints_are(a->pad, 0) && tc_ints_are(a->dilation, 1) &&
           x->dim[2] % k == 0 && x->dim[3] % k == 0 && x->dim[1] * k <= PARTS_MAX && x->quant &&
           x->quant->axis < 0 && w->quant && w->quant->axis <= 0;
}

/* [1,c,h,w] -> [1, c k k, h/k, w/k] */
static tc_val channels_of_patches(tc_typed *b, tc_val x, int64_t k)
{
    const tc_type *t = tc_type_of(b->to, x);
    int64_t c = t->dim[1], h = t->dim[2] / k, w = t->dim[3] / k;
    x = tc_typed_reshape(b, x, 4, (int64_t[]){1, c * h, k * w, k});
    tc_val part[PARTS_MAX];
    for (int64_t i = 0; i < c * k; i++) {
        tc_val rows = tc_typed_slice(b, x, 1, i / k * h, (i / k + 1) * h, 1);
        part[i] = tc_typed_slice(b, rows, 2, i % k * w, (i % k + 1) * w, 1);
    }
    x = tc_typed_cat(b, part, (int)(c * k), 3);
    return tc_typed_permute(b, x, (int64_t[]){0, 3, 1, 2});
}

static tc_status patches(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (!cuts_patches(rw->from, node))
        return TC_OK;
    tc_typed b = {.ctx = rw->ctx, .to = rw->to, .loc = node->loc};
    const tc_value *w = rw->from->val[node->in[1]];
    int64_t k = w->type->dim[2], one[] = {1, 1}, zero[4] = {0};
    tc_type wt = *w->type;
    tc_val x = channels_of_patches(&b, rw->now[node->in[0]], k);
    wt.dim[1] *= k * k;
    wt.dim[2] = wt.dim[3] = 1;
    tc_attr_conv a = {.stride = tc_ints_copy(&rw->ctx->arena, one, 2),
                      .pad = tc_ints_copy(&rw->ctx->arena, zero, 4),
                      .dilation = tc_ints_copy(&rw->ctx->arena, one, 2),
                      .groups = 1};
    tc_val in[] = {
        x, tc_graph_const(rw->to, tc_type_intern(rw->ctx, &wt), w->data, w->name, node->loc),
        node->n_in > 2 ? rw->now[node->in[2]] : TC_NONE};
    tc_val y = tc_typed_node(&b, TC_OP_conv, tc_arena_copy(&rw->ctx->arena, &a, sizeof a), in,
                             node->n_in, tc_type_of(rw->from, node->out[0]));
    TC_TRY(b.status);
    tc_rewrite_bind(rw, node->out[0], y);
    *done = true;
    return TC_OK;
}

tc_status tc_lower_patches(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {patches};
    (void)ctx;
    return tc_rewrite_module(module, rewriters, TC_COUNT(rewriters), NULL);
}
