/* SPDX-License-Identifier: Apache-2.0 */
/* crop_kernels.c -- TOSA form: kernel taps that only read padding are removed, bit-exact.
 *
 * Of a k x k kernel over an n x n map with stride 1 the middle 2n - 1 are left. */
#include "tosa_forms.h"

#include "../../num/load.h"

typedef struct span {
    int64_t first, last; /* taps that read the map somewhere */
} span;

static span reached(int64_t taps, int64_t in, int64_t out, int64_t step, int64_t apart,
                    int64_t before)
{
    span s = {0, taps - 1};
    while (s.first < s.last && (out - 1) * step + s.first * apart < before)
        s.first++;
    while (s.last > s.first && s.last * apart - before > in - 1)
        s.last--;
    return s;
}

/* The constant's elements with taps kept along two axes. */
static tc_val kept_taps(tc_build *lw, tc_val w, int axis, const span *keep)
{
    int64_t start[TC_MAX_RANK] = {0};
    tc_tensor old = ti_tensor_of(lw->g, w);
    tc_type type = *old.type;
    for (int i = 0; i < 2; i++) {
        start[axis + i] = keep[i].first;
        type.dim[axis + i] = keep[i].last - keep[i].first + 1;
    }
    tc_tensor t = ti_tensor_new(&lw->ctx->arena, ti_type_make(lw->ctx, type.dtype, 4, type.dim));
    int64_t n = 0, at[4];
    for (at[0] = 0; at[0] < type.dim[0]; at[0]++)
        for (at[1] = 0; at[1] < type.dim[1]; at[1]++)
            for (at[2] = 0; at[2] < type.dim[2]; at[2]++)
                for (at[3] = 0; at[3] < type.dim[3]; at[3]++) {
                    int64_t from = 0;
                    for (int i = 0; i < 4; i++)
                        from = from * old.type->dim[i] + start[i] + at[i];
                    ti_store_i64(t, n++, ti_load_i64(old, from));
                }
    return ti_b_data(lw, t.type, t.data);
}

static bool is_window(tc_op op)
{
    return op == TC_OP_tosa_conv2d || op == TC_OP_tosa_depthwise_conv2d;
}

static tc_status crop_kernels(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_graph *g = rw->from;
    if (!is_window(node->op) || !ti_has_integer_weights(g, node))
        return TC_OK;
    const tc_attr_tosa_conv *a = node->attr;
    const tc_type *x = ti_type_of(g, node->in[0]), *y = ti_type_of(g, node->out[0]);
    const tc_type *w = ti_type_of(g, node->in[1]);
    int axis = node->op == TC_OP_tosa_conv2d ? 1 : 0;
    int64_t pad[4];
    span keep[2];
    bool fewer = false;
    for (int i = 0; i < 2; i++) {
        int64_t taps = w->dim[axis + i], apart = a->dilation.v[i];
        keep[i] =
            reached(taps, x->dim[1 + i], y->dim[1 + i], a->stride.v[i], apart, a->pad.v[2 * i]);
        pad[2 * i] = a->pad.v[2 * i] - keep[i].first * apart;
        pad[2 * i + 1] = a->pad.v[2 * i + 1] - (taps - 1 - keep[i].last) * apart;
        if (pad[2 * i] < 0 || pad[2 * i + 1] < 0)
            return TC_OK;
        fewer = fewer || keep[i].last - keep[i].first + 1 < taps;
    }
    if (!fewer)
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    tc_attr_tosa_conv less = *a;
    less.pad = ti_ints_copy(&rw->ctx->arena, pad, 4);
    tc_val in[5];
    for (int i = 0; i < 5; i++)
        in[i] = ti_rewrite_in(rw, node, i);
    in[1] = kept_taps(&lw, in[1], axis, keep);
    tc_val v = ti_b_op(&lw, node->op, ti_arena_copy(&rw->ctx->arena, &less, sizeof less), in, 5);
    return ti_b_replace(&lw, v, done);
}

TC_REWRITES(ti_lower_crop_kernels, crop_kernels)
