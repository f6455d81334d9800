/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_products.c -- CONV2D, DEPTHWISE_CONV2D and MATMUL, each with its RESCALE and CLAMP, as one
 * call: directly, after their own padding, or a row as a column. */
#include "kernel_piece.h"

#include "../ir/tail.h"

/* The convolution by the operator, on an x that may be padded or turned already. */
static tc_val call_conv(tc_cm_region *r, const tc_node *conv, const tc_cm_ending *e, tc_cm_op op,
                        tc_val x, tc_tensor weights, const tc_attr_tosa_conv *attr)
{
    tc_cm_piece p = ti_cm_piece_new(r, conv);
    tc_val in[5] = {ti_cm_piece_in(&p, x)};
    in[1] = ti_b_data(&p.b, weights.type, weights.data);
    for (int i = 2; i < 5; i++)
        in[i] = ti_cm_piece_const(&p, conv->in[i]);
    tc_val y = ti_b_op(&p.b, conv->op, attr, in, 5);
    return ti_cm_piece_call(&p, op, ti_cm_piece_finish(&p, y, e->rescale, e->clamp));
}

static tc_tensor stored(const tc_cm_region *r, tc_val v)
{
    tc_tensor t = ti_tensor_of(r->from, v);
    t.type = ti_cm_bare(r->ctx, t.type);
    return t;
}

/* With its padding in front of it. */
static tc_val call_padded(tc_cm_region *r, const tc_node *conv, const tc_cm_ending *e, tc_cm_op op,
                          tc_val x)
{
    tc_attr_tosa_conv attr = *(const tc_attr_tosa_conv *)conv->attr;
    const int64_t *v = attr.pad.v;
    if (r->caller == TC_CM_C || !ti_is_const(r->from, conv->in[3]) || ti_ints_are(attr.pad, 0))
        return TC_NONE;
    tc_cm_padding pad = {{0, 0, v[0], v[1], v[2], v[3], 0, 0}, ti_cm_at(r, conv->in[3], 0)};
    tc_val wide = ti_cm_call_one(r, conv, TC_CM_pad, x, ti_cm_put_pad, &pad);
    attr.pad = ti_ints_copy(&r->ctx->arena, (int64_t[]){0, 0, 0, 0}, 4);
    return wide ? call_conv(r, conv, e, op, wide, stored(r, conv->in[1]), ti_b_keep(&r->b, &attr))
                : TC_NONE;
}

static tc_ints swapped(tc_cm_region *r, tc_ints v)
{
    int64_t to[4] = {v.v[1], v.v[0]};
    if (v.n == 4)
        memcpy(to, (int64_t[]){v.v[2], v.v[3], v.v[0], v.v[1]}, sizeof to);
    return ti_ints_copy(&r->ctx->arena, to, v.n);
}

/* A row as a column: the same bytes, and another kernel of CMSIS-NN. */
static tc_val call_transposed(tc_cm_region *r, const tc_node *conv, const tc_cm_ending *e, tc_val x)
{
    tc_attr_tosa_conv attr = *(const tc_attr_tosa_conv *)conv->attr;
    const tc_type *t = ti_b_type(&r->b, x), *y = ti_cm_type(r, conv->out[0]);
    tc_tensor w = stored(r, conv->in[1]);
    const int64_t *d = w.type->dim;
    if (t->dim[1] != 1 || d[1] != 1)
        return TC_NONE;
    attr.pad = swapped(r, attr.pad);
    attr.stride = swapped(r, attr.stride);
    attr.dilation = swapped(r, attr.dilation);
    w.type = ti_type_make(r->ctx, w.type->dtype, 4, (int64_t[]){d[0], d[2], d[1], d[3]});
    tc_val turned =
        ti_cm_reshaped(r, x, 4, (int64_t[]){t->dim[0], t->dim[2], t->dim[1], t->dim[3]});
    tc_val out = call_conv(r, conv, e, TC_CM_conv2d, turned, w, ti_b_keep(&r->b, &attr));
    return out ? ti_cm_reshaped(r, out, 4, y->dim) : TC_NONE;
}

/* Rows past the last window, which a slice in front cuts off, the kernel leaves out by itself: the
 * slice, or NULL. */
static const tc_node *cut_before(const tc_cm_region *r, const tc_node *conv)
{
    const tc_node *slice = ti_cm_def(r, conv->in[0], TC_OP_tosa_slice);
    const tc_attr_tosa_conv *a = conv->attr;
    if (!slice || !ti_ints_are(a->pad, 0) || !ti_is_const(r->from, slice->in[1]))
        return NULL;
    const tc_type *x = ti_cm_type(r, slice->in[0]), *part = ti_cm_type(r, slice->out[0]);
    bool cuts = x->dim[0] == part->dim[0] && x->dim[3] == part->dim[3];
    for (int i = 0; i < 4; i++)
        cuts = cuts && !ti_cm_at(r, slice->in[1], i);
    return cuts ? slice : NULL;
}

/* The slice and the convolution as one call. */
static tc_val call_uncut(tc_cm_region *r, const tc_node *conv, const tc_cm_ending *e, tc_cm_op op)
{
    const tc_node *slice = cut_before(r, conv);
    tc_val x = slice ? ti_cm_value(r, slice->in[0]) : TC_NONE;
    if (!x)
        return TC_NONE;
    tc_cm_piece p = ti_cm_piece_new(r, conv);
    tc_val in = ti_cm_piece_in(&p, x);
    in = ti_cm_piece_node(&p, slice, slice->attr, &in, 1);
    tc_val y = ti_cm_piece_node(&p, conv, conv->attr, &in, 1);
    return ti_cm_piece_call(&p, op, ti_cm_piece_finish(&p, y, e->rescale, e->clamp));
}

static tc_val call_product(tc_cm_region *r, const tc_node *node)
{
    tc_cm_ending e;
    if (!ti_cm_ending_of(r, node, &e))
        return TC_NONE;
    const tc_node *conv = ti_tail_before(r->from, r->readers, e.rescale, r->caller == TC_CM_C);
    bool depthwise = conv && conv->op == TC_OP_tosa_depthwise_conv2d;
    if (!conv || (conv->op != TC_OP_tosa_conv2d && !depthwise) ||
        !ti_is_const(r->from, conv->in[1]))
        return TC_NONE;
    tc_cm_op op = depthwise ? TC_CM_depthwise : TC_CM_conv2d;
    tc_val y = call_uncut(r, conv, &e, op), x = y ? y : ti_cm_value(r, conv->in[0]);
    if (y || !x)
        return y;
    const tc_type *t = ti_b_type(&r->b, x);
    if (!depthwise && t->dim[1] == 1 && t->dim[2] == 1)
        y = call_conv(r, conv, &e, TC_CM_linear, x, stored(r, conv->in[1]), conv->attr);
    if (!y)
        y = call_conv(r, conv, &e, op, x, stored(r, conv->in[1]), conv->attr);
    const char *why = r->why;
    if (!y && !depthwise)
        y = call_transposed(r, conv, &e, x);
    if (!y)
        y = call_padded(r, conv, &e, op, x);
    r->why = y ? NULL : why;
    return y;
}

tc_val ti_cm_product(tc_cm_region *r, const tc_node *node)
{
    const tc_type *t = ti_cm_type(r, node->out[0]);
    tc_val y = call_product(r, node);
    return y && !ti_same_dims(ti_b_type(&r->b, y), t) ? ti_cm_reshaped(r, y, t->rank, t->dim) : y;
}

static tc_val put_swap(tc_cm_piece *p, tc_val x, const void *perm)
{
    return ti_b_tosa_transpose(&p->b, x, perm);
}

tc_val ti_cm_batch_matmul(tc_cm_region *r, const tc_node *node)
{
    tc_cm_ending e;
    if (!ti_cm_ending_of(r, node, &e))
        return TC_NONE;
    const tc_node *m = ti_cm_root_of(r, &e, TC_OP_tosa_matmul);
    if (!m || ti_cm_type(r, m->in[0])->dtype != TC_i8 ||
        ti_cm_type(r, m->in[1])->dtype != TC_i8 || !ti_is_const(r->from, m->in[2]) ||
        !ti_is_const(r->from, m->in[3]))
        return TC_NONE;
    const int64_t swap[] = {0, 2, 1};
    tc_val a = ti_cm_value(r, m->in[0]), b = ti_cm_value(r, m->in[1]);
    const tc_type *t = b ? ti_b_type(&r->b, b) : NULL;
    if (!a || !t)
        return TC_NONE;
    if (t->dim[1] == 1 || t->dim[2] == 1)
        b = ti_cm_reshaped(r, b, 3, (int64_t[]){t->dim[0], t->dim[2], t->dim[1]});
    else
        b = r->caller == TC_CM_C ? ti_b_tosa_transpose(&r->b, b, swap)
                                 : ti_cm_call_one(r, m, TC_CM_transpose, b, put_swap, swap);
    if (!b)
        return TC_NONE;
    tc_cm_piece p = ti_cm_piece_new(r, node);
    tc_val in[4] = {ti_cm_piece_in(&p, a)};
    in[1] = ti_cm_piece_in(&p, b);
    if (p.g->n_in < 2) { /* a product with itself */
        r->b.g->module->n_graph--;
        return TC_NONE;
    }
    in[1] = ti_b_tosa_transpose(&p.b, in[1], swap);
    in[2] = ti_cm_piece_const(&p, m->in[2]);
    in[3] = ti_cm_piece_const(&p, m->in[3]);
    tc_val y = ti_b_op(&p.b, m->op, m->attr, in, 4);
    return ti_cm_piece_call(&p, TC_CM_batch_matmul, ti_cm_piece_finish(&p, y, e.rescale, e.clamp));
}
