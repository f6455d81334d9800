/* SPDX-License-Identifier: Apache-2.0 */
/* reassociate_constants.c -- consecutive constant operands become one, before quantization.
 *
 *   (x + a) + b            =>  x + (a + b)           so with x * a * b; a reshape of leading axes
 *                                                    may be between
 *   (p q) c                =>  (p c) q               c a scalar, p not larger than p q (*): a value
 *                                                    that is multiplied by a scalar keeps its codes
 *
 * (*) or of any size.  Within rounding of f32.  Done where the value in between has no other
 * reader: saves an operation,
 * and one rounding to a quantized grid. */
#include <math.h>

#include "tidy.h"

#include "../num/load.h"

enum { LARGEST = 1 << 20 }; /* elements of a constant that is made */

static bool is_real(const tc_type *t)
{
    return t->dtype == TC_f32 && !t->quant;
}

/* x op constant: which operand is the constant; -1: neither, or both. */
static int constant_of(const tc_graph *g, const tc_node *node)
{
    if (!node || (node->op != TC_OP_add && node->op != TC_OP_mul) ||
        !is_real(ti_type_of(g, node->out[0])) ||
        (node->op == TC_OP_add && ((const tc_attr_alpha *)node->attr)->alpha != 1))
        return -1;
    bool a = ti_is_const(g, node->in[0]), b = ti_is_const(g, node->in[1]);
    int i = a == b ? -1 : b;
    return i >= 0 && is_real(ti_type_of(g, node->in[0])) && is_real(ti_type_of(g, node->in[1]))
               ? i
               : -1;
}

/* The last axes that both shapes have in common. */
static int common_axes(const tc_type *a, const tc_type *b)
{
    int n = 0;
    while (n < a->rank && n < b->rank && a->dim[a->rank - 1 - n] == b->dim[b->rank - 1 - n])
        n++;
    return n;
}

/* The axes of a constant that are more than one number, counted from the right. */
static int own_axes(const tc_type *t)
{
    int n = 0;
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] != 1 && n < t->rank - i)
            n = t->rank - i;
    return n;
}

static double at(tc_tensor t, int rank, const int64_t *index)
{
    int64_t n = 0;
    for (int i = 0; i < t.type->rank; i++)
        n = n * t.type->dim[i] + (t.type->dim[i] == 1 ? 0 : index[rank - t.type->rank + i]);
    return ti_load_f64(t, n);
}

/* The combined constant of both; none: too many, or out of range. */
static tc_val merged(tc_rewrite *rw, const tc_node *node, tc_tensor a, tc_tensor b)
{
    int na = own_axes(a.type), nb = own_axes(b.type), rank = na > nb ? na : nb;
    int64_t dim[TC_MAX_RANK], index[TC_MAX_RANK] = {0}, n = 1;
    for (int i = 0; i < rank; i++) {
        int ka = a.type->rank - rank + i, kb = b.type->rank - rank + i;
        int64_t da = ka < 0 ? 1 : a.type->dim[ka], db = kb < 0 ? 1 : b.type->dim[kb];
        dim[i] = da > db ? da : db;
        n *= dim[i];
    }
    if (n > LARGEST)
        return TC_NONE;
    tc_tensor t = ti_tensor_new(&rw->ctx->arena, ti_type_make(rw->ctx, TC_f32, rank, dim));
    for (int64_t k = 0; k < n; k++) {
        double x = at(a, rank, index), y = at(b, rank, index);
        double z = node->op == TC_OP_add ? x + y : x * y;
        if (!isfinite(z) || (node->op == TC_OP_mul && z == 0 && x != 0 && y != 0))
            return TC_NONE;
        ti_store_f64(t, k, z);
        for (int i = rank - 1; i >= 0 && ++index[i] == dim[i]; i--)
            index[i] = 0;
    }
    return ti_graph_const(rw->to, t.type, t.data, NULL, node->loc);
}

static tc_status follow(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_graph *g = rw->from;
    int i = constant_of(g, node);
    const tc_node *inner = i >= 0 ? ti_def(g, node->in[1 - i]) : NULL, *shaped = NULL;
    if (!inner || rw->readers[node->in[1 - i]] != 1)
        return TC_OK;
    if (inner->op == TC_OP_reshape && rw->readers[inner->in[0]] == 1) {
        shaped = inner;
        inner = ti_def(g, inner->in[0]);
    }
    int k = constant_of(g, inner);
    if (k < 0 || inner->op != node->op)
        return TC_OK;
    tc_val x = inner->in[1 - k], before = inner->out[0], behind = node->in[1 - i];
    tc_tensor a = ti_tensor_of(g, inner->in[k]), b = ti_tensor_of(g, node->in[i]);
    if (own_axes(a.type) > common_axes(ti_type_of(g, before), ti_type_of(g, behind)) ||
        !ti_same_dims(ti_type_of(g, x), ti_type_of(g, before)) ||
        !ti_same_dims(ti_type_of(g, behind), ti_type_of(g, node->out[0])))
        return TC_OK;
    tc_build build = ti_build_instead(rw, node);
    tc_val y = rw->now[x], both = merged(rw, node, a, b);
    if (!both)
        return TC_OK;
    if (shaped) {
        build.loc = shaped->loc;
        y = ti_b_1(&build, reshape, shaped->attr, y);
        build.loc = node->loc;
    }
    return ti_b_again(&build, (tc_val[]){y, both}, 2, done);
}

/* A factor after a matrix product, applied to its first operand. */
static tc_status before_product(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_graph *g = rw->from;
    int i = node->op == TC_OP_mul ? constant_of(g, node) : -1;
    const tc_node *product = i >= 0 ? ti_def(g, node->in[1 - i]) : NULL;
    if (!product || product->op != TC_OP_matmul || rw->readers[product->out[0]] != 1 ||
        tc_type_count(ti_type_of(g, node->in[i])) != 1)
        return TC_OK;
    const tc_type *p = ti_type_of(g, product->in[0]), *y = ti_type_of(g, node->out[0]);
    double c = ti_load_f64(ti_tensor_of(g, node->in[i]), 0);
    if (!is_real(p) || !ti_same_dims(ti_type_of(g, product->out[0]), y) || !(c > 0) || isinf(c) ||
        (tc_type_count(p) > tc_type_count(y) && !g->module->open.any) || ti_is_const(g, product->in[0]))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val x = ti_b_mul(&b, rw->now[product->in[0]], ti_b_scalar(&b, TC_f32, c));
    b.loc = product->loc;
    return ti_b_replace(&b, ti_b_matmul(&b, x, rw->now[product->in[1]]), done);
}

TC_REWRITES(ti_tidy_reassociate_constants, follow, before_product)
