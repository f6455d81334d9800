/* SPDX-License-Identifier: Apache-2.0 */
/* cheap.c -- see cheap.h; and the passes that only move:
 *
 *   copies    CONCAT of what lies elsewhere (an input, a SLICE, another CONCAT)  =>  of it times
 *             one, which the machine writes where it belongs
 *   ahead     f(RESHAPE(x)) of i8, f a TABLE or CLAMP  =>  RESHAPE(f(x)), where f joins what made x
 *   outward   TRANSPOSE of few places to channels first  =>  of [1,1,places,channels]
 *   sums      RESCALE of 32-bit numbers behind an operator that cannot take it in  =>  behind their
 *             sum with nothing, which can: a quarter of the cycles */
#include "cheap.h"

#include "../../num/load.h"
#include "offer.h"
#include "order.h"

tc_lower tc_cheap_at(const tc_rewrite *rw, const tc_node *node)
{
    return (tc_lower){.ctx = rw->ctx, .from = rw->from, .to = rw->to, .node = node};
}

tc_status tc_cheap_take(tc_rewrite *rw, const tc_lower *lw, const tc_node *node, tc_val v,
                        bool *done)
{
    TC_TRY(lw->status);
    rw->to->val[v]->type = tc_type_of(rw->from, node->out[0]);
    tc_rewrite_bind(rw, node->out[0], v);
    *done = true;
    return TC_OK;
}

tc_val tc_cheap_copy(tc_lower *lw, tc_val x)
{
    if (!x)
        return x;
    tc_val one = tc_put_number(lw, TC_i8, tc_put_type(lw, x)->rank, 1);
    tc_val same = tc_put3(lw, TC_OP_tosa_mul, NULL, x, one, tc_put_number(lw, TC_i8, 1, 0));
    return tc_put_rescale(lw, same, 1, 0, 0, TC_i8);
}

tc_val tc_cheap_padded(tc_lower *lw, tc_val constant, int axis, int64_t more, int64_t fill)
{
    tc_tensor old = tc_tensor_of(lw->to, constant);
    tc_type type = *old.type;
    int64_t outer = 1, inner = 1, n = type.dim[axis];
    for (int i = 0; i < type.rank; i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : type.dim[i];
    type.dim[axis] = n + more;
    tc_tensor t =
        tc_tensor_new(&lw->ctx->arena, tc_type_make(lw->ctx, type.dtype, type.rank, type.dim));
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < (n + more) * inner; i++)
            tc_store_i64(t, o * (n + more) * inner + i,
                         i < n * inner ? tc_load_i64(old, o * n * inner + i) : fill);
    return tc_put_data(lw, t.type, t.data);
}

int64_t tc_cheap_number(const tc_graph *g, tc_val constant)
{
    return tc_load_i64(tc_tensor_of(g, constant), 0);
}

typedef struct asked {
    tc_rewriter *rewriter;
    tc_offer *offer;
} asked;

/* The rewriter, where it is wanted. */
static tc_status where_wanted(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const asked *a = rw->user;
    uint64_t key = tc_offer_key(rw->from, node);
    if (!tc_offer_wanted(a->offer, key))
        return TC_OK;
    TC_TRY(a->rewriter(rw, node, done));
    if (*done)
        tc_offer_acted(rw->ctx, a->offer, key, node);
    return TC_OK;
}

tc_status tc_cheap_over(tc_module *module, tc_rewriter *rewriter)
{
    static tc_rewriter *const wanted[] = {where_wanted};
    asked a = {rewriter, module->offer};
    return module->offer ? tc_rewrite_module(module, wanted, 1, &a)
                         : tc_rewrite_module(module, &rewriter, 1, NULL);
}

/* ---- copies ---- */

/* Its numbers lie where another operation put them for its own reason: in another shape, for other
 * readers too, as an input or a part of something. */
static bool lies_elsewhere(const tc_graph *g, tc_val v, uint32_t readers)
{
    const tc_node *def = tc_def(g, v);
    if (!def || def->op == TC_OP_tosa_slice || def->op == TC_OP_tosa_concat ||
        def->op == TC_OP_tosa_reshape)
        return true;
    const tc_node *sum = def->op == TC_OP_tosa_rescale ? tc_def(g, def->in[0]) : NULL;
    return (readers > 1 && def->op != TC_OP_const) || (sum && sum->op == TC_OP_tosa_matmul);
}

static tc_status copies(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_type *type = node->n_out ? tc_type_of(rw->from, node->out[0]) : NULL;
    bool any = false;
    if (node->op != TC_OP_tosa_concat || type->dtype != TC_i8 || type->rank > 4 ||
        tc_type_count(type) == 0)
        return TC_OK;
    for (int i = 0; i < node->n_in; i++)
        any = any || lies_elsewhere(rw->to, tc_rewrite_in(rw, node, i), rw->readers[node->in[i]]);
    if (!any)
        return TC_OK;
    tc_lower lw = tc_cheap_at(rw, node);
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = tc_rewrite_in(rw, node, i);
        if (lies_elsewhere(rw->to, in[i], rw->readers[node->in[i]]))
            in[i] = tc_cheap_copy(&lw, in[i]);
    }
    tc_val y = tc_put(&lw, TC_OP_tosa_concat, node->attr, in, node->n_in);
    return tc_cheap_take(rw, &lw, node, y, done);
}

tc_status tc_lower_copies(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return tc_cheap_over(module, copies);
}

/* ---- sums ---- */

/* Element by element in 32 bits, and not one that a change of scale becomes part of. */
static bool keeps_wide(const tc_graph *g, const tc_node *def)
{
    switch (def->op) {
    case TC_OP_tosa_logical_left_shift:
    case TC_OP_tosa_logical_right_shift:
    case TC_OP_tosa_arithmetic_right_shift:
    case TC_OP_tosa_clz:
        return true;
    case TC_OP_tosa_mul:
        for (int i = 0; i < 2; i++) {
            const tc_node *from = tc_def(g, def->in[i]);
            if (tc_type_of(g, def->in[i])->dtype != TC_i32 ||
                (from && from->op == TC_OP_tosa_rescale))
                return false;
        }
        return true;
    default:
        return false;
    }
}

static tc_status sums(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_rescale || rw->readers[node->in[0]] != 1 ||
        ((const tc_attr_tosa_rescale *)node->attr)->per_channel ||
        tc_type_of(rw->from, node->in[0])->dtype != TC_i32 ||
        tc_type_of(rw->from, node->out[0])->dtype == TC_i32 ||
        tc_type_of(rw->from, node->in[0])->rank == 0)
        return TC_OK;
    const tc_node *def = tc_rewrite_def(rw, node, 0);
    if (!def || !keeps_wide(rw->to, def))
        return TC_OK;
    tc_lower lw = tc_cheap_at(rw, node);
    tc_val x = tc_rewrite_in(rw, node, 0);
    tc_val none = tc_put_number(&lw, TC_i32, tc_type_of(rw->to, x)->rank, 0);
    tc_val sum = tc_put2(&lw, TC_OP_tosa_add, NULL, x, none);
    TC_TRY(lw.status);
    tc_rewrite_copy(rw, node);
    rw->to->node[rw->to->n_node - 1]->in[0] = sum;
    *done = true;
    return TC_OK;
}

tc_status tc_lower_sums(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return tc_cheap_over(module, sums);
}

/* ---- ahead ---- */

static tc_status ahead(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_tosa_table && node->op != TC_OP_tosa_clamp)
        return TC_OK;
    const tc_node *moved = tc_rewrite_def(rw, node, 0);
    if (!moved || moved->op != TC_OP_tosa_reshape || rw->readers[node->in[0]] != 1 ||
        tc_type_of(rw->from, node->in[0])->dtype != TC_i8 ||
        tc_type_of(rw->from, node->out[0])->dtype != TC_i8)
        return TC_OK;
    const tc_node *made = tc_def(rw->to, moved->in[0]);
    if (!made || made->op != TC_OP_tosa_rescale)
        return TC_OK;
    tc_lower lw = tc_cheap_at(rw, node);
    tc_val in[2] = {moved->in[0], node->n_in > 1 ? tc_rewrite_in(rw, node, 1) : TC_NONE};
    tc_val y = tc_put(&lw, node->op, node->attr, in, node->n_in);
    y = tc_put2(&lw, TC_OP_tosa_reshape, NULL, y, moved->in[1]);
    return tc_cheap_take(rw, &lw, node, y, done);
}

tc_status tc_lower_ahead(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return tc_cheap_over(module, ahead);
}

/* ---- keys ---- */

/* The numbers are joined from parts, or moved in memory. */
static bool is_joined(const tc_graph *g, tc_val v)
{
    const tc_node *def = tc_def(g, v);
    while (def && def->op == TC_OP_tosa_reshape)
        def = tc_def(g, def->in[0]);
    return !def || def->op == TC_OP_tosa_concat || def->op == TC_OP_tosa_slice;
}

static tc_status keys(tc_rewrite *rw, const tc_node *node, bool *done)
{
    static const int64_t swap3[] = {0, 2, 1}, swap[] = {0, 1, 3, 2};
    if (node->op != TC_OP_tosa_matmul || tc_type_of(rw->from, node->in[1])->dtype != TC_i8 ||
        rw->readers[node->in[1]] != 1)
        return TC_OK;
    const tc_node *turn = tc_rewrite_def(rw, node, 1);
    const tc_attr_tosa_perms *p = turn && turn->op == TC_OP_tosa_transpose ? turn->attr : NULL;
    if (!p || p->perms.n != 3 || memcmp(p->perms.v, swap3, sizeof swap3) != 0)
        return TC_OK;
    const tc_type *x = tc_type_of(rw->to, turn->in[0]);
    if (x->dim[0] == 1 || !is_joined(rw->to, turn->in[0]))
        return TC_OK;
    const tc_node *shaped = tc_def(rw->to, turn->in[0]);
    tc_val from = shaped && shaped->op == TC_OP_tosa_reshape ? shaped->in[0] : turn->in[0];
    tc_lower lw = tc_cheap_at(rw, node);
    tc_val v = tc_cheap_copy(
        &lw, tc_put_reshape(&lw, from, 4, (int64_t[]){1, x->dim[0], x->dim[1], x->dim[2]}));
    v = tc_put_transpose(&lw, v, swap);
    v = tc_put_reshape(&lw, v, 3, tc_type_of(rw->from, node->in[1])->dim);
    TC_TRY(lw.status);
    tc_rewrite_copy(rw, node);
    rw->to->node[rw->to->n_node - 1]->in[1] = v;
    *done = true;
    return TC_OK;
}

tc_status tc_lower_keys(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return tc_cheap_over(module, keys);
}

/* ---- outward ---- */

enum { FEW_PLACES = 100 };

static bool is_perm(const tc_node *node, const int64_t *perm)
{
    return node && node->op == TC_OP_tosa_transpose &&
           ((const tc_attr_tosa_perms *)node->attr)->perms.n == 4 &&
           memcmp(((const tc_attr_tosa_perms *)node->attr)->perms.v, perm, 4 * sizeof *perm) == 0;
}

static tc_status outward(tc_rewrite *rw, const tc_node *node, bool *done)
{
    static const int64_t first[] = {0, 3, 1, 2}, swap[] = {0, 1, 3, 2};
    if (!is_perm(node, first))
        return TC_OK;
    const tc_type *x = tc_type_of(rw->from, node->in[0]);
    int64_t places = x->dim[1] * x->dim[2];
    if ((x->dtype != TC_i8 && x->dtype != TC_i16) || x->dim[0] != 1 || x->dim[1] == 1 ||
        x->dim[2] == 1 || places > FEW_PLACES)
        return TC_OK;
    tc_lower lw = tc_cheap_at(rw, node);
    tc_val y = tc_rewrite_in(rw, node, 0);
    y = tc_put_reshape(&lw, y, 4, (int64_t[]){1, 1, places, x->dim[3]});
    y = tc_put_transpose(&lw, y, swap);
    y = tc_put_reshape(&lw, y, 4, tc_type_of(rw->from, node->out[0])->dim);
    return tc_cheap_take(rw, &lw, node, y, done);
}

tc_status tc_lower_outward(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return tc_cheap_over(module, outward);
}
