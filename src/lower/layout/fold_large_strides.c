/* SPDX-License-Identifier: Apache-2.0 */
/* fold_large_strides.c -- typed form: an image convolution with a stride above 3 becomes one with
 * stride 1 (space to depth).
 *
 *   conv(x [1,c,h,w], kernel k x k, stride s), s > 3, h and w multiples of s
 *
 * becomes, exactly: x as [1, c h/s, s w/s, s], sliced into its c s parts [1, h/s, w/s, s], which
 * concatenated are the channels (c, ry, rx) of a convolution over blocks of s x s.  Tap t of the
 * kernel, t - padding = s b + r, is tap b of channel r; taps that the kernel lacks are zeros.
 * Without padding and with k = s that is 1x1.  The machines have strides up to 3 only, and would
 * run one convolution per pixel.
 *
 * With more channels the rule itself does it, channels last (product/lower_conv.c). */
#include "../lower_pass.h"

#include "../../machine/machine.h"
#include "typed_move.h"

#include "../../ir/rewrite.h"

enum { PARTS_MAX = 256, FEW_CHANNELS = 8 };

/* One axis as blocks: the first one that the first window reads, how many it reads, the border of
 * blocks. */
typedef struct blocks {
    int64_t first, taps, pad[2];
} blocks;

static int64_t floor_of(int64_t a, int64_t by) { return a >= 0 ? a / by : -((by - 1 - a) / by); }

/* An axis of `size` elements and its windows; false: blocks do not divide it. */
static bool as_blocks(int64_t size, int64_t kernel, int64_t stride, int64_t before, int64_t places,
                      blocks *b)
{
    int64_t last = floor_of(kernel - 1 - before, stride);
    b->first = floor_of(-before, stride);
    b->taps = last - b->first + 1;
    b->pad[0] = -b->first;
    b->pad[1] = places - size / stride + last;
    return size % stride == 0 && b->pad[0] >= 0 && b->pad[1] >= 0;
}

static bool cuts_patches(const tc_graph *g, const tc_node *node, blocks *b)
{
    if (node->op != TC_OP_conv)
        return false;
    const tc_attr_conv *a = node->attr;
    const tc_type *x = ti_type_of(g, node->in[0]), *w = ti_type_of(g, node->in[1]),
                  *y = ti_type_of(g, node->out[0]);
    if (x->rank != 4 || x->dim[0] != 1 || a->groups != 1 || !ti_is_const(g, node->in[1]) ||
        a->stride.n != 2 || a->pad.n != 4 || w->dtype != TC_i8)
        return false;
    int64_t s = a->stride.v[0];
    if (s <= TC_NPU_STRIDE || !ti_ints_are(a->stride, s) || !ti_ints_are(a->dilation, 1) ||
        !tc_type_count(x) || x->dim[1] * s > PARTS_MAX || !x->quant || x->quant->axis >= 0 ||
        !w->quant || w->quant->axis > 0)
        return false;
    bool apart = w->dim[2] == s && w->dim[3] == s && ti_ints_are(a->pad, 0);
    if (!apart && x->dim[1] > FEW_CHANNELS)
        return false;
    for (int i = 0; i < 2; i++)
        if (!as_blocks(x->dim[2 + i], w->dim[2 + i], s, a->pad.v[2 * i], y->dim[2 + i], &b[i]))
            return false;
    return true;
}

/* [o,c,kh,kw] -> [o, (c, ry, rx), by, bx]; the zero point where the kernel has no tap. */
static const void *weights_of_blocks(tc_ctx *ctx, const tc_value *w, const tc_attr_conv *a,
                                     const blocks *b, tc_type *t)
{
    const int64_t *k = w->type->dim + 2;
    int64_t s = a->stride.v[0], c = w->type->dim[1], kh = b[0].taps, kw = b[1].taps;
    *t = *w->type;
    t->dim[1] = c * s * s;
    t->dim[2] = kh;
    t->dim[3] = kw;
    int8_t *out = tc_new_n(&ctx->arena, int8_t, (size_t)tc_type_count(t));
    const int8_t *in = w->data;
    const tc_quant *q = t->quant;
    for (int64_t i = 0, row = c * s * s * kh * kw; i < t->dim[0]; i++)
        memset(out + i * row, (int)q->zero[q->axis < 0 ? 0 : i], (size_t)row);
    for (int64_t i = 0; i < t->dim[0] * c; i++)
        for (int64_t y = 0; y < k[0]; y++)
            for (int64_t x = 0; x < k[1]; x++) {
                int64_t ty = y - a->pad.v[0] - s * b[0].first,
                        tx = x - a->pad.v[2] - s * b[1].first;
                int64_t r = ty % s * s + tx % s;
                out[((i * s * s + r) * kh + ty / s) * kw + tx / s] = in[(i * k[0] + y) * k[1] + x];
            }
    return out;
}

/* [1,c,h,w] -> [1, c k k, h/k, w/k] */
static tc_val channels_of_patches(tc_build *b, tc_val x, int64_t k)
{
    const tc_type *t = ti_type_of(b->g, x);
    int64_t c = t->dim[1], h = t->dim[2] / k, w = t->dim[3] / k;
    x = ti_typed_reshape(b, x, 4, (int64_t[]){1, c * h, k * w, k});
    tc_val part[PARTS_MAX];
    for (int64_t i = 0; i < c * k; i++) {
        tc_val rows = ti_b_slice(b, x, 1, i / k * h, (i / k + 1) * h, 1);
        part[i] = ti_b_slice(b, rows, 2, i % k * w, (i % k + 1) * w, 1);
    }
    x = ti_b_cat(b, 3, part, (int)(c * k));
    return ti_b_permute(b, x, (int64_t[]){0, 3, 1, 2});
}

static tc_status fold_large_strides(tc_rewrite *rw, const tc_node *node, bool *done)
{
    blocks block[2];
    if (!cuts_patches(rw->from, node, block))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    const tc_value *w = rw->from->val[node->in[1]];
    const tc_attr_conv *from = node->attr;
    int64_t one[] = {1, 1};
    int64_t pad[] = {block[0].pad[0], block[0].pad[1], block[1].pad[0], block[1].pad[1]};
    tc_type wt;
    const void *data = weights_of_blocks(rw->ctx, w, from, block, &wt);
    tc_val x = channels_of_patches(&b, rw->now[node->in[0]], from->stride.v[0]);
    tc_attr_conv a = {.stride = ti_ints_copy(&rw->ctx->arena, one, 2),
                      .pad = ti_ints_copy(&rw->ctx->arena, pad, 4),
                      .dilation = ti_ints_copy(&rw->ctx->arena, one, 2),
                      .groups = 1};
    tc_val in[] = {
        x, ti_graph_const(rw->to, ti_type_intern(rw->ctx, &wt), data, w->name, node->loc),
        node->n_in > 2 ? rw->now[node->in[2]] : TC_NONE};
    tc_val y = ti_b_typed(&b, TC_OP_conv, ti_arena_copy(&rw->ctx->arena, &a, sizeof a), in,
                          node->n_in, ti_type_of(rw->from, node->out[0]));
    TC_TRY(b.status);
    return ti_rewrite_with(rw, node, y, done);
}

TC_REWRITES(ti_lower_fold_large_strides, fold_large_strides)
