/* SPDX-License-Identifier: Apache-2.0 */
/* fuse_attention.c -- matmul, softmax and matmul become one attention operator.
 *
 *   softmax(q k^T) v                          =>  sdpa q, k, v
 *   q * c, k * c or q k^T * c before it  =>  its scale
 *
 * in f32, where the values in between have no other reader.  Quantized as one operator, the softmax
 * is not rounded to 8 bits, and the division by its sum comes last. */
#include "tidy.h"

#include "../num/load.h"

static const tc_node *made_by(const tc_graph *g, tc_val v, tc_op op)
{
    const tc_node *def = ti_def(g, v);
    return def && def->op == op ? def : NULL;
}

/* v = result * *scale, where v is a value times one number above 0. */
static tc_val without_factor(const tc_graph *g, tc_val v, double *scale)
{
    const tc_node *def = made_by(g, v, TC_OP_mul);
    for (int i = 0; def && i < 2; i++) {
        tc_tensor t = ti_tensor_of(g, def->in[i]);
        if (!t.data || !ti_is_const(g, def->in[i]) || t.type->dtype != TC_f32 || t.type->quant ||
            tc_type_count(t.type) != 1 ||
            ti_type_of(g, def->in[1 - i])->rank != ti_type_of(g, v)->rank)
            continue;
        double x = ti_load_f64(t, 0);
        if (!(x > 0) || !(x < 1e30))
            continue;
        *scale *= x;
        return def->in[1 - i];
    }
    return v;
}

/* v with its last two axes exchanged, if it was made so; none: it was not. */
static tc_val unturned(const tc_graph *g, tc_val v)
{
    const tc_node *def = made_by(g, v, TC_OP_permute);
    const tc_attr_perm *a = def ? def->attr : NULL;
    if (!a)
        return TC_NONE;
    int n = (int)a->perm.n;
    for (int i = 0; i + 2 < n; i++)
        if (a->perm.v[i] != i)
            return TC_NONE;
    return n >= 2 && a->perm.v[n - 2] == n - 1 ? def->in[0] : TC_NONE;
}

static bool is_matrices(const tc_graph *g, tc_val v, const tc_type *like)
{
    const tc_type *t = ti_type_of(g, v);
    if (t->dtype != TC_f32 || t->quant || t->rank != like->rank || t->rank < 3 ||
        ti_is_const(g, v))
        return false;
    for (int i = 0; i + 2 < t->rank; i++)
        if (t->dim[i] != like->dim[i])
            return false;
    return true;
}

static tc_status spelled_attention(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_graph *g = rw->from;
    const tc_node *shares =
        node->op == TC_OP_matmul ? made_by(g, node->in[0], TC_OP_softmax) : NULL;
    const tc_type *y = ti_type_of(g, node->out[0]);
    if (!shares || y->rank < 3 || rw->readers[shares->out[0]] != 1 ||
        ((const tc_attr_axis *)shares->attr)->axis != ti_type_of(g, shares->out[0])->rank - 1)
        return TC_OK;
    double scale = 1;
    tc_val x = without_factor(g, shares->in[0], &scale);
    const tc_node *scores = made_by(g, x, TC_OP_matmul);
    if (!scores || rw->readers[x] != 1 || rw->readers[shares->in[0]] != 1)
        return TC_OK;
    tc_val q = without_factor(g, scores->in[0], &scale),
           k = unturned(g, without_factor(g, scores->in[1], &scale));
    k = k ? without_factor(g, k, &scale) : k;
    if (!k || !is_matrices(g, q, y) || !is_matrices(g, k, y) || !is_matrices(g, node->in[1], y))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_attr_sdpa *a = ti_b_attr(&b, sdpa, .scale = scale);
    return ti_b_replace(&b, ti_b_3(&b, sdpa, a, rw->now[q], rw->now[k], ti_b_in(&b, 1)), done);
}

TC_REWRITES(ti_tidy_fuse_attention, spelled_attention)
