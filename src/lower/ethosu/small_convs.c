/* SPDX-License-Identifier: Apache-2.0 */
/* small_convs.c -- TOSA form: convolutions of few channels or few pixels, in shapes that Ethos-U
 * runs at a better speed, bit-exact.
 *
 * convert-2x2-convs     2 x 2 kernels with stride 2 onto few pixels  =>  1 x 1 on the four as
 *                       channels: weights of 1 x 1 are unpacked at twice the speed
 * pair-pixels           1 x 1 from 17..32 channels to 2..16, pixel by pixel  =>  two pixels of a
 *                       row at a time, as twice the channels: the weights of one beside those of
 *                       the other, zeros elsewhere
 * concat-image-planes   an image's channels last by TRANSPOSE  =>  by CONCAT of its planes; where
 *                       the convolution behind it has stride 2, pairs of columns become channels:
 *
 *     x [1,c,h,w] as [1, c h, w/2, 2], its planes concatenated as [1, h, w/2, 2 c];
 *     kernel [k, k'], stride [2, 1]; tap kx of channel c becomes tap floor((kx - p)/2) of channel
 *     2 c + (kx - p) mod 2, p the padding on the left */
#include "../layout/tosa_forms.h"

#include "../../num/load.h"

/* ---- convert-2x2-convs ---- */

enum { FEW_PLACES = 16 }; /* fewer hide what copying costs */

static tc_status convert_2x2_convs(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_graph *g = rw->from;
    if (node->op != TC_OP_tosa_conv2d || !ti_has_integer_weights(g, node))
        return TC_OK;
    const tc_attr_tosa_conv *a = node->attr;
    const tc_type *x = ti_type_of(g, node->in[0]), *w = ti_type_of(g, node->in[1]);
    int64_t h = x->dim[1] / 2, width = x->dim[2] / 2, c = x->dim[3];
    if (x->dtype != TC_i8 || x->dim[0] != 1 || w->dim[1] != 2 || w->dim[2] != 2 ||
        !ti_ints_are(a->stride, 2) || !ti_ints_are(a->dilation, 1) || !ti_ints_are(a->pad, 0) ||
        x->dim[1] % 2 || x->dim[2] % 2 || h * width > FEW_PLACES || c < 16)
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    static const int64_t one[] = {1, 1};
    tc_attr_tosa_conv plain = *a;
    plain.stride = ti_ints_copy(&rw->ctx->arena, one, 2);
    tc_val in[5], half[2];
    for (int i = 0; i < 5; i++)
        in[i] = ti_rewrite_in(rw, node, i);
    tc_val rows = ti_b_tosa_reshape(&lw, in[0], 4, (int64_t[]){1, h, 2 * width, 2 * c});
    for (int i = 0; i < 2; i++)
        half[i] = ti_put_copy(&lw, ti_b_tosa_slice_axis(&lw, rows, 2, i * width, width));
    in[0] = ti_put_concat(&lw, half, 2, 3);
    in[1] = ti_b_tosa_reshape(&lw, in[1], 4, (int64_t[]){w->dim[0], 1, 1, 4 * c});
    tc_val v = ti_b_op(&lw, node->op, ti_arena_copy(&rw->ctx->arena, &plain, sizeof plain), in, 5);
    return ti_b_replace(&lw, v, done);
}

tc_status ti_lower_convert_2x2_convs(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_offered(module, convert_2x2_convs);
}

/* ---- pair-pixels ---- */

enum { PAIR_FROM = 32, PAIR_TO = 16, PAIR_PLACES = 1024 };

/* [o,1,1,c] as [2o,1,1,2c]: the first c of the first o, the others of the others. */
static tc_val twice(tc_build *lw, tc_val w, int64_t zero)
{
    tc_tensor old = ti_tensor_of(lw->g, w);
    int64_t o = old.type->dim[0], c = old.type->dim[3], dim[] = {2 * o, 1, 1, 2 * c};
    tc_tensor t = ti_tensor_new(&lw->ctx->arena, ti_type_make(lw->ctx, old.type->dtype, 4, dim));
    for (int64_t i = 0; i < 2 * o; i++)
        for (int64_t k = 0; k < 2 * c; k++)
            ti_store_i64(t, i * 2 * c + k,
                         i / o == k / c ? ti_load_i64(old, i % o * c + k % c) : zero);
    return ti_b_data(lw, t.type, t.data);
}

/* A constant's numbers two times, where there is one for each of n. */
static tc_val repeated(tc_build *lw, tc_val v, int64_t n)
{
    tc_tensor old = ti_tensor_of(lw->g, v);
    if (n == 1 || tc_type_count(old.type) != n)
        return v;
    int64_t dim = 2 * n;
    tc_tensor t = ti_tensor_new(&lw->ctx->arena, ti_type_make(lw->ctx, old.type->dtype, 1, &dim));
    for (int64_t i = 0; i < 2 * n; i++)
        ti_store_i64(t, i, ti_load_i64(old, i % n));
    return ti_b_data(lw, t.type, t.data);
}

static bool is_thin(const tc_graph *g, const tc_node *conv)
{
    if (!conv || conv->op != TC_OP_tosa_conv2d || !ti_has_integer_weights(g, conv))
        return false;
    const tc_attr_tosa_conv *a = conv->attr;
    const tc_type *x = ti_type_of(g, conv->in[0]), *w = ti_type_of(g, conv->in[1]);
    return x->dtype == TC_i8 && x->dim[0] == 1 && w->dim[1] == 1 && w->dim[2] == 1 &&
           w->dim[3] > PAIR_TO && w->dim[3] <= PAIR_FROM && w->dim[0] <= PAIR_TO && w->dim[0] > 1 &&
           ti_ints_are(a->stride, 1) && ti_ints_are(a->pad, 0) && x->dim[2] % 2 == 0 &&
           x->dim[1] * x->dim[2] >= PAIR_PLACES && ti_is_const(g, conv->in[2]);
}

static tc_status pair_pixels(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_rescale || rw->readers[node->in[0]] != 1 ||
        ti_type_of(rw->from, node->out[0])->dtype != TC_i8)
        return TC_OK;
    const tc_node *conv = ti_rewrite_def(rw, node, 0);
    for (int i = 1; i < 5; i++)
        if (!ti_is_const(rw->from, node->in[i]))
            return TC_OK;
    if (!is_thin(rw->to, conv))
        return TC_OK;
    const tc_type *x = ti_type_of(rw->to, conv->in[0]), *y = ti_type_of(rw->from, node->out[0]);
    int64_t h = x->dim[1], w = x->dim[2] / 2, o = y->dim[3], dim[] = {1, h, w, 2 * o};
    tc_build lw = ti_build_instead(rw, node);
    tc_val in[5], by[5];
    for (int i = 0; i < 5; i++) {
        in[i] = conv->in[i];
        by[i] = repeated(&lw, ti_rewrite_in(rw, node, i), i == 0 ? 1 : o);
    }
    in[0] = ti_b_tosa_reshape(&lw, in[0], 4, (int64_t[]){1, h, w, 2 * x->dim[3]});
    in[1] = twice(&lw, in[1], ti_only_number(rw->to, in[4]));
    in[2] = repeated(&lw, in[2], o);
    by[0] = ti_b_op(&lw, conv->op, conv->attr, in, 5);
    TC_TRY(lw.status);
    const tc_type *type = ti_type_make(rw->ctx, TC_i8, 4, dim);
    tc_val made = ti_b_typed(&lw, node->op, node->attr, by, 5, type);
    return ti_b_replace(&lw, ti_b_tosa_reshape(&lw, made, 4, y->dim), done);
}

tc_status ti_lower_pair_pixels(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_offered(module, pair_pixels);
}

/* ---- concat-image-planes ---- */

enum { PLANES_MAX = 8, PLACES_LEAST = 256 };

/* The image whose channels the value holds last: a TRANSPOSE of something that no operation made.
 */
static tc_val image_of(const tc_rewrite *rw, const tc_node *moved)
{
    static const int64_t last[] = {0, 2, 3, 1};
    if (!moved || moved->op != TC_OP_tosa_transpose)
        return TC_NONE;
    const tc_attr_tosa_perms *p = moved->attr;
    const tc_type *x = ti_type_of(rw->to, moved->in[0]);
    bool image = p->perms.n == 4 && memcmp(p->perms.v, last, sizeof last) == 0 &&
                 !ti_def(rw->to, moved->in[0]) && x->dtype == TC_i8 && x->dim[0] == 1 &&
                 x->dim[1] > 1 && x->dim[1] <= PLANES_MAX && x->dim[2] * x->dim[3] >= PLACES_LEAST;
    return image ? moved->in[0] : TC_NONE;
}

/* [1,c,h,w] as [1, h, w/q, c q]. */
static tc_val put_planes(tc_build *lw, tc_val image, int64_t q)
{
    const tc_type *x = ti_b_type(lw, image);
    int64_t c = x->dim[1], h = x->dim[2], w = x->dim[3];
    tc_val plane[PLANES_MAX],
        all = ti_b_tosa_reshape(lw, image, 4, (int64_t[]){1, c * h, w / q, q});
    for (int64_t i = 0; i < c; i++)
        plane[i] = ti_put_copy(lw, ti_b_tosa_slice_axis(lw, all, 1, i * h, h));
    return ti_put_concat(lw, plane, (int)c, 3);
}

static int64_t half_down(int64_t v)
{
    return (v - (v & 1)) / 2;
}

/* [o,kh,kw,c] as [o,kh,taps,2c] for pairs of columns, the first of which is `first` pairs from the
 * window's own. */
static tc_val paired_weights(tc_build *lw, tc_val w, int64_t border, int64_t first, int64_t taps,
                             int64_t zero)
{
    tc_tensor old = ti_tensor_of(lw->g, w);
    const int64_t *d = old.type->dim;
    int64_t dim[] = {d[0], d[1], taps, 2 * d[3]};
    tc_tensor t = ti_tensor_new(&lw->ctx->arena, ti_type_make(lw->ctx, old.type->dtype, 4, dim));
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        ti_store_i64(t, i, zero);
    for (int64_t row = 0; row < d[0] * d[1]; row++)
        for (int64_t k = 0; k < d[2]; k++)
            for (int64_t c = 0; c < d[3]; c++) {
                int64_t at = k - border, pair = half_down(at) - first, side = at & 1;
                ti_store_i64(t, (row * taps + pair) * 2 * d[3] + 2 * c + side,
                             ti_load_i64(old, (row * d[2] + k) * d[3] + c));
            }
    return ti_b_data(lw, t.type, t.data);
}

/* The convolution over an image that steps by two, over pairs of columns. */
static tc_status paired(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_graph *g = rw->from;
    if (node->op != TC_OP_tosa_conv2d || !ti_has_integer_weights(g, node))
        return TC_OK;
    const tc_attr_tosa_conv *a = node->attr;
    tc_val image = image_of(rw, ti_rewrite_def(rw, node, 0));
    const tc_type *x = ti_type_of(g, node->in[0]), *w = ti_type_of(g, node->in[1]);
    if (!image || rw->readers[node->in[0]] != 1 || !ti_ints_are(a->stride, 2) ||
        !ti_ints_are(a->dilation, 1) || x->dim[2] % 2 || w->dim[2] < 2)
        return TC_OK;
    int64_t border = a->pad.v[2], first = half_down(-border);
    int64_t taps = half_down(w->dim[2] - 1 - border) - first + 1;
    int64_t pad[] = {a->pad.v[0], a->pad.v[1], -first, 0};
    pad[3] = ti_type_of(g, node->out[0])->dim[2] - x->dim[2] / 2 - pad[2] + taps - 1;
    if (pad[3] < 0)
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    static const int64_t step[] = {2, 1};
    tc_attr_tosa_conv pairs = *a;
    pairs.stride = ti_ints_copy(&rw->ctx->arena, step, 2);
    pairs.pad = ti_ints_copy(&rw->ctx->arena, pad, 4);
    tc_val in[5];
    for (int i = 0; i < 5; i++)
        in[i] = ti_rewrite_in(rw, node, i);
    in[0] = put_planes(&lw, image, 2);
    in[1] = paired_weights(&lw, in[1], border, first, taps, ti_only_number(rw->to, in[4]));
    tc_val v = ti_b_op(&lw, node->op, ti_arena_copy(&rw->ctx->arena, &pairs, sizeof pairs), in, 5);
    return ti_b_replace(&lw, v, done);
}

/* An image that others read: from its planes. */
static tc_status joined(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_transpose || rw->readers[node->out[0]] == 0)
        return TC_OK;
    tc_node like = *node; /* as it stands in the new graph */
    tc_val from = ti_rewrite_in(rw, node, 0);
    like.in = &from;
    tc_val image = image_of(rw, &like);
    if (!image)
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    return ti_b_replace(&lw, put_planes(&lw, image, 1), done);
}

tc_status ti_lower_concat_image_planes(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    TC_TRY(ti_rewrite_offered(module, paired));
    return ti_rewrite_offered(module, joined);
}
