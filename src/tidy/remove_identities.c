/* SPDX-License-Identifier: Apache-2.0 */
/* remove_identities.c -- removes operators that do nothing, and pairs that undo each other. */
#include "tidy.h"

#include "../num/load.h"

static bool all_zero(tc_ints list)
{
    for (int32_t i = 0; i < list.n; i++)
        if (list.v[i])
            return false;
    return true;
}

static bool does_nothing(const tc_node *node)
{
    if (node->op == TC_OP_pad)
        return all_zero(((const tc_attr_pad *)node->attr)->pad);
    if (node->op == TC_OP_roll)
        return all_zero(((const tc_attr_roll *)node->attr)->shifts);
    if (node->op == TC_OP_flip)
        return ((const tc_attr_flip *)node->attr)->axes.n == 0;
    if (node->op == TC_OP_cat || node->op == TC_OP_tosa_concat)
        return node->n_in == 1;
    return tc_ops[node->op].traits & T_KEEPS;
}

/* f(x) => x  where f changes nothing */
static tc_status remove_nothing(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (!does_nothing(node) ||
        ti_type_of(rw->from, node->in[0]) != ti_type_of(rw->from, node->out[0]))
        return TC_OK;
    return ti_rewrite_with(rw, node, ti_rewrite_in(rw, node, 0), done);
}

/* x * 1 => x,  x / 1 => x */
static tc_status times_one(tc_rewrite *rw, const tc_node *node, bool *done)
{
    bool divides =
        node->op == TC_OP_div && ((const tc_attr_div *)node->attr)->mode == TC_div_mode_exact;
    const tc_type *y = node->n_out ? ti_type_of(rw->from, node->out[0]) : NULL;
    for (int i = divides ? 1 : 0; (node->op == TC_OP_mul || divides) && i < 2 && !*done; i++) {
        tc_val x = ti_rewrite_in(rw, node, 1 - i), c = ti_rewrite_in(rw, node, i);
        tc_tensor one = ti_rewrite_is_fixed(rw, c) ? ti_tensor_of(rw->to, c) : (tc_tensor){0};
        if (!one.data || one.type->quant || one.type->dtype == TC_c64 ||
            tc_type_count(one.type) != 1 || y->quant ||
            ti_type_of(rw->to, x) != y || ti_load_f64(one, 0) != 1)
            continue;
        ti_rewrite_bind(rw, node->out[0], x);
        *done = true;
    }
    return TC_OK;
}

/* cat(x, empty, y) => cat(x, y), where something is left */
static tc_status drop_empty(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_cat)
        return TC_OK;
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    int n = 0;
    const tc_type *y = ti_type_of(rw->from, node->out[0]);
    for (int i = 0; i < node->n_in; i++)
        if (tc_type_count(ti_type_of(rw->from, node->in[i])))
            in[n++] = ti_rewrite_in(rw, node, i);
    if (n == node->n_in || !n || ti_type_of(rw->to, in[0])->dtype != y->dtype)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    return ti_b_again(&b, in, n, done);
}

/* Both records begin with the list. */
static const tc_ints *perm_of(const tc_node *node)
{
    if (node->op == TC_OP_permute)
        return &((const tc_attr_perm *)node->attr)->perm;
    if (node->op == TC_OP_tosa_transpose)
        return &((const tc_attr_tosa_perms *)node->attr)->perms;
    return NULL;
}

static bool keeps_order(const tc_ints *perm)
{
    for (int32_t i = 0; i < perm->n; i++)
        if (perm->v[i] != i)
            return false;
    return true;
}

static const void *perm_attr(tc_arena *arena, tc_op op, tc_ints perm)
{
    if (op == TC_OP_permute)
        return ti_arena_copy(arena, &(tc_attr_perm){perm}, sizeof(tc_attr_perm));
    return ti_arena_copy(arena, &(tc_attr_tosa_perms){perm}, sizeof(tc_attr_tosa_perms));
}

/* permute(permute(x, p), q) => permute(x, r) with r[i] = p[q[i]],
 * and simply x when r leaves every axis where it was. */
static tc_status merge_permutes(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_ints *q = perm_of(node);
    if (!q)
        return TC_OK;
    const tc_node *inner = ti_rewrite_def(rw, node, 0);
    bool two = inner && inner->op == node->op;
    const tc_ints *p = two ? perm_of(inner) : NULL;
    tc_val x = two ? inner->in[0] : ti_rewrite_in(rw, node, 0);
    int64_t r[TC_MAX_RANK];
    for (int32_t i = 0; i < q->n; i++)
        r[i] = p ? p->v[q->v[i]] : q->v[i];
    tc_ints perm = {q->n, r};
    if (keeps_order(&perm) && ti_type_of(rw->to, x) == ti_type_of(rw->from, node->out[0]))
        return ti_rewrite_with(rw, node, x, done);
    if (!two)
        return TC_OK;
    perm = ti_ints_copy(&rw->ctx->arena, r, q->n);
    return ti_rewrite_as(rw, node, node->op, perm_attr(&rw->ctx->arena, node->op, perm), x, done);
}

/* Whether the axes with more than one element stay in order. */
static bool keeps_numbers(const tc_type *x, const tc_ints *perm)
{
    int64_t last = -1;
    for (int32_t i = 0; i < perm->n; i++) {
        if (x->dim[perm->v[i]] == 1)
            continue;
        if (perm->v[i] < last)
            return false;
        last = perm->v[i];
    }
    return true;
}

static const void *shape_attr(tc_arena *arena, const tc_type *type)
{
    tc_attr_shape shape = {ti_ints_copy(arena, type->dim, type->rank)};
    return ti_arena_copy(arena, &shape, sizeof shape);
}

/* A type whose channels are counted along an axis cannot be reshaped freely. */
static bool per_channel(const tc_type *type)
{
    return type->quant && type->quant->axis >= 0;
}

/* permute(x) => reshape(x)  where only axes of extent 1 move past others */
static tc_status permute_to_reshape(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_permute)
        return TC_OK;
    const tc_type *type = ti_type_of(rw->from, node->out[0]);
    if (per_channel(type) || !keeps_numbers(ti_type_of(rw->from, node->in[0]), perm_of(node)))
        return TC_OK;
    return ti_rewrite_as(rw, node, TC_OP_reshape, shape_attr(&rw->ctx->arena, type),
                         ti_rewrite_in(rw, node, 0), done);
}

/* reshape(reshape(x)) => reshape(x), and simply x when the shape is x's own */
static tc_status merge_reshapes(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_reshape)
        return TC_OK;
    const tc_node *inner = ti_rewrite_def(rw, node, 0);
    if (!inner || inner->op != TC_OP_reshape || per_channel(ti_type_of(rw->to, inner->out[0])))
        return TC_OK;
    if (ti_type_of(rw->to, inner->in[0]) != ti_type_of(rw->from, node->out[0]))
        return ti_rewrite_as(rw, node, TC_OP_reshape, node->attr, inner->in[0], done);
    return ti_rewrite_with(rw, node, inner->in[0], done);
}

/* Bits of an integer that a float holds exactly. */
static int exact_bits(tc_dtype t)
{
    switch (t) {
    case TC_f64:
        return 53;
    case TC_f32:
        return 24;
    case TC_f16:
        return 11;
    case TC_bf16:
        return 8;
    default:
        return 0;
    }
}

/* Floats whose every number the other float has. */
static bool float_widens(tc_dtype from, tc_dtype to)
{
    if (from == TC_e4m3 || from == TC_e5m2)
        return exact_bits(to) > 0;
    if (from == TC_f16 || from == TC_bf16)
        return to == TC_f32 || to == TC_f64;
    return from == TC_f32 && to == TC_f64;
}

/* Whether every number of one type is a number of the other. */
static bool widens(tc_dtype from, tc_dtype to)
{
    if (from == to)
        return true;
    if (ti_is_whole(from) && ti_is_int(to))
        return ti_dtype_min(from) >= ti_dtype_min(to) && tc_dtypes[from].bits < tc_dtypes[to].bits;
    if (ti_is_whole(from) && ti_is_float(to))
        return tc_dtypes[from].bits - (tc_dtypes[from].kind == TC_INT) <= exact_bits(to);
    return ti_is_float(from) && ti_is_float(to) && float_widens(from, to);
}

/* cast(cast(x, b), c) => cast(x, c)  where b holds every number of x, and c is x's own type or of
 * its kind: conversions between kinds differ in what they do past the range. */
static tc_status merge_casts(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_node *inner = node->op == TC_OP_cast ? ti_rewrite_def(rw, node, 0) : NULL;
    if (!inner || inner->op != TC_OP_cast)
        return TC_OK;
    const tc_type *x = ti_type_of(rw->to, inner->in[0]),
                  *result = ti_type_of(rw->from, node->out[0]);
    tc_dtype a = x->dtype, b = ti_type_of(rw->to, inner->out[0])->dtype, c = result->dtype;
    bool whole = ti_is_whole(a) && ti_is_whole(b) && ti_is_whole(c);
    bool real = ti_is_float(a) && ti_is_float(b) && ti_is_float(c);
    if (!widens(a, b) || !(a == c || whole || real) || x->quant || result->quant)
        return TC_OK;
    if (x != result)
        return ti_rewrite_as(rw, node, TC_OP_cast, node->attr, inner->in[0], done);
    return ti_rewrite_with(rw, node, inner->in[0], done);
}

/* A buffer that is written back unchanged is a constant, unless another writer changes it. */
static void settle_state(tc_graph *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < g->n_mutation; i++)
        if (g->mutation[i].before == g->mutation[i].after && !g->module->shared)
            g->val[g->mutation[i].before]->state = false;
        else
            g->mutation[kept++] = g->mutation[i];
    g->n_mutation = kept;
}

tc_status ti_tidy_remove_identities(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {
        remove_nothing,     times_one,      drop_empty, merge_permutes,
        permute_to_reshape, merge_reshapes, merge_casts};
    (void)ctx;
    TC_TRY(ti_rewrite_module(module, rewriters, TC_COUNT(rewriters), NULL));
    for (size_t i = 0; i < module->n_graph; i++)
        settle_state(module->graph[i]);
    return TC_OK;
}
