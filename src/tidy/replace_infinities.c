/* SPDX-License-Identifier: Apache-2.0 */
/* replace_infinities.c -- arithmetic with constants that act as infinity: |c| >= 1e30, infinities
 * too.
 *
 *   c + x, x + c, c - x        =>  c         x - c  =>  -c
 *   max(x, c), c negative      =>  x         min(x, c), c positive  =>  x
 *   f(where(m, c, x))          =>  where(m, f(c), f(x))     f: exp, exp2, sigmoid, relu, tanh
 *   f(where(m, x, c))          =>  where(m, f(x), f(c))     c negative
 *
 * as in convert_masks.c: other values of a model are far below c.  What is left has a range that
 * can be quantized. */
#include <math.h>

#include "tidy.h"

#include "../num/load.h"

static const double LEAST = 1e30;

/* A constant float, all of it huge and of one sign: that sign; else 0. */
static int huge_sign(const tc_rewrite *rw, tc_val v)
{
    const tc_type *t = ti_type_of(rw->to, v);
    if (!ti_rewrite_is_fixed(rw, v) || !ti_is_float(t->dtype) || t->quant)
        return 0;
    tc_tensor c = ti_tensor_of(rw->to, v);
    int sign = 0;
    for (int64_t i = 0; c.data && i < tc_type_count(t); i++) {
        double x = ti_load_f64(c, i);
        int own = x >= LEAST ? 1 : x <= -LEAST ? -1 : 0;
        if (!own || (sign && own != sign))
            return 0;
        sign = own;
    }
    return sign;
}

/* v, of the node's element type, broadcast to its result's shape and bound to it. */
static tc_status stand_in(tc_build *b, tc_val v, bool *done)
{
    return ti_b_replace(b, ti_b_expand_as(b, v, ti_b_out_type(b, 0)), done);
}

static bool same_dtypes(const tc_rewrite *rw, const tc_node *node)
{
    const tc_type *y = ti_type_of(rw->from, node->out[0]);
    return ti_type_of(rw->from, node->in[0])->dtype == y->dtype &&
           ti_type_of(rw->from, node->in[1])->dtype == y->dtype && !y->quant &&
           !ti_type_of(rw->from, node->in[0])->quant && !ti_type_of(rw->from, node->in[1])->quant;
}

static tc_status beside(tc_rewrite *rw, const tc_node *node, bool *done)
{
    bool adds = node->op == TC_OP_add || node->op == TC_OP_sub,
         most = node->op == TC_OP_maximum || node->op == TC_OP_fmax,
         least = node->op == TC_OP_minimum || node->op == TC_OP_fmin;
    if ((!adds && !most && !least) || !same_dtypes(rw, node))
        return TC_OK;
    if (adds && ((const tc_attr_alpha *)node->attr)->alpha != 1)
        return TC_OK;
    tc_val in[] = {ti_rewrite_in(rw, node, 0), ti_rewrite_in(rw, node, 1)};
    int sign[] = {huge_sign(rw, in[0]), huge_sign(rw, in[1])};
    if ((sign[0] != 0) == (sign[1] != 0) || ti_is_const(rw->to, in[sign[0] != 0]))
        return TC_OK;
    int at = sign[1] != 0;
    tc_build b = ti_build_instead(rw, node);
    if (adds)
        return stand_in(&b, at && node->op == TC_OP_sub ? ti_b_neg(&b, in[1]) : in[at], done);
    return sign[at] == (most ? -1 : 1) ? stand_in(&b, in[1 - at], done) : TC_OK;
}

static tc_status through_choice(tc_rewrite *rw, const tc_node *node, bool *done)
{
    bool known = node->op == TC_OP_exp || node->op == TC_OP_exp2 || node->op == TC_OP_sigmoid ||
                 node->op == TC_OP_relu || node->op == TC_OP_tanh;
    const tc_node *where = known ? ti_rewrite_def(rw, node, 0) : NULL;
    if (!where || where->op != TC_OP_where || ti_type_of(rw->from, node->out[0])->quant)
        return TC_OK;
    const tc_type *t = ti_type_of(rw->to, where->out[0]);
    tc_val in[] = {where->in[0], where->in[1], where->in[2]};
    int huge = huge_sign(rw, in[1]) < 0 ? 1 : huge_sign(rw, in[2]) < 0 ? 2 : 0;
    if (!huge || t->quant || ti_type_of(rw->to, in[1])->dtype != t->dtype ||
        ti_type_of(rw->to, in[2])->dtype != t->dtype)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    for (int i = 1; i < 3; i++)
        in[i] = ti_b_unary(&b, node->op, in[i]);
    return ti_b_replace(&b, ti_b_where(&b, in[0], in[1], in[2]), done);
}

TC_REWRITES(ti_tidy_replace_infinities, beside, through_choice)
