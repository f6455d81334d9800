/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_moves.c -- pools, PAD and TRANSPOSE as calls. */
#include "kernel_piece.h"

tc_val ti_cm_max_pool(tc_cm_region *r, const tc_node *node)
{
    const tc_attr_tosa_max_pool *a = node->attr;
    tc_val x = ti_cm_value(r, node->in[0]);
    tc_val y = x ? ti_cm_call_one(r, node, TC_CM_max_pool, x, ti_cm_put_node, node) : TC_NONE;
    if (y || !x || r->caller == TC_CM_C || ti_ints_are(a->pad, 0) || ti_b_dtype(&r->b, x) != TC_i8)
        return y;
    const int64_t *v = a->pad.v;
    tc_cm_padding pad = {{0, 0, v[0], v[1], v[2], v[3], 0, 0}, INT8_MIN};
    x = ti_cm_call_one(r, node, TC_CM_pad, x, ti_cm_put_pad, &pad);
    if (!x)
        return TC_NONE;
    tc_attr_tosa_max_pool bare_pool = *a;
    bare_pool.pad = ti_ints_copy(&r->ctx->arena, (int64_t[]){0, 0, 0, 0}, 4);
    tc_node bare_node = *node;
    bare_node.attr = ti_b_keep(&r->b, &bare_pool);
    return ti_cm_call_one(r, node, TC_CM_max_pool, x, ti_cm_put_node, &bare_node);
}

static tc_val moved(tc_cm_region *r, const tc_node *node, tc_cm_op op)
{
    tc_val x = ti_cm_value(r, node->in[0]);
    return x ? ti_cm_call_one(r, node, op, x, ti_cm_put_node, node) : TC_NONE;
}

tc_val ti_cm_avg_pool(tc_cm_region *r, const tc_node *node)
{
    return moved(r, node, TC_CM_avg_pool);
}

tc_val ti_cm_pad(tc_cm_region *r, const tc_node *node)
{
    return moved(r, node, TC_CM_pad);
}

/* Axes of extent 1 move for free: the bytes stay in order. */
static bool keeps_order(const tc_type *t, tc_ints perms)
{
    int64_t last = -1;
    for (int i = 0; i < perms.n; i++) {
        if (t->dim[perms.v[i]] == 1)
            continue;
        if (perms.v[i] < last)
            return false;
        last = perms.v[i];
    }
    return true;
}

tc_val ti_cm_transpose(tc_cm_region *r, const tc_node *node)
{
    const tc_attr_tosa_perms *a = node->attr;
    const tc_type *t = ti_cm_type(r, node->in[0]), *y = ti_cm_type(r, node->out[0]);
    if (!keeps_order(t, a->perms))
        return moved(r, node, TC_CM_transpose);
    tc_val x = ti_cm_value(r, node->in[0]);
    return x ? ti_b_reshape(&r->b, x, y->rank, y->dim) : TC_NONE;
}
