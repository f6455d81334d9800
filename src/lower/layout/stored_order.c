/* SPDX-License-Identifier: Apache-2.0 */
/* stored_order.c -- see stored_order.h. */
#include "../../num/block_scaled.h"
#include "stored_order.h"

tc_val ti_stored_add(tc_stored_graph *l, const tc_node *like, tc_op op, const void *attr,
                     const tc_val *in, int n, const tc_type *type)
{
    tc_node *node = ti_graph_add(l->rw->to, op, attr, in, n, 1, like->loc);
    l->rw->to->val[node->out[0]]->type = type;
    return node->out[0];
}

tc_val ti_stored_shape(tc_stored_graph *l, const tc_node *like, int n, const int64_t *v)
{
    tc_build b = ti_build_instead(l->rw, like);
    return ti_b_shape(&b, n, v);
}

/* reshape(x, dim); of a reshape: of what that read; x where nothing changes. */
static tc_val reshape(tc_stored_graph *l, const tc_node *like, tc_val x, int rank,
                      const int64_t *dim)
{
    const tc_graph *g = l->rw->to;
    const tc_node *def = ti_def(g, x);
    if (def && def->op == TC_OP_tosa_reshape)
        x = def->in[0];
    const tc_type *t = ti_type_of(g, x), *type = ti_type_make(l->rw->ctx, t->dtype, rank, dim);
    if (ti_same_dims(t, type))
        return x;
    return ti_stored_add(l, like, TC_OP_tosa_reshape, NULL,
                         (tc_val[]){x, ti_stored_shape(l, like, rank, dim)}, 2, type);
}

static bool keeps_order(int rank, const int64_t *perm)
{
    for (int i = 0; i < rank; i++)
        if (perm[i] != i)
            return false;
    return true;
}

/* Where x's transpose is kept, or will be. */
static void **place_of(tc_stored_graph *l, tc_val x, int rank, const int64_t *perm)
{
    uint32_t key[2] = {x, 0};
    for (int i = 0; i < rank; i++)
        key[1] |= (uint32_t)perm[i] << 4 * i;
    return ti_map_at(&l->laid, (tc_str){(const char *)key, sizeof key});
}

/* A RESCALE or CAST with a smaller operand: that is transposed instead, and it moves next to its
 * reader, which fuses it. */
static const tc_node *widening(const tc_graph *g, tc_val x)
{
    const tc_node *def = ti_def(g, x);
    if (!def || (def->op != TC_OP_tosa_rescale && def->op != TC_OP_tosa_cast))
        return NULL;
    if (ti_is_block(ti_type_of(g, def->in[0])->dtype))
        return NULL;
    if (def->op == TC_OP_tosa_rescale && ((const tc_attr_tosa_rescale *)def->attr)->per_channel)
        return NULL;
    return ti_bytes_of(ti_type_of(g, def->in[0])) < ti_bytes_of(ti_type_of(g, x)) ? def : NULL;
}

static tc_val transposed(tc_stored_graph *l, const tc_node *like, tc_val x, const int64_t *perm);

/* The same rescale on its operand in another order. */
static tc_val widened(tc_stored_graph *l, const tc_node *like, const tc_node *def,
                      const tc_type *type, const int64_t *perm)
{
    tc_val in[5] = {transposed(l, like, def->in[0], perm)};
    for (int i = 1; i < def->n_in; i++)
        in[i] = def->in[i];
    return ti_stored_add(l, def, def->op, def->attr, in, def->n_in, type);
}

static tc_val fresh_transpose(tc_stored_graph *l, const tc_node *like, tc_val x,
                              const tc_type *type, const int64_t *perm)
{
    const tc_value *value = l->rw->to->val[x];
    if (value->data)
        return ti_graph_const(l->rw->to, type,
                              ti_transposed(&l->rw->ctx->arena, value->type, value->data, perm),
                              value->name, value->def->loc);
    if (ti_perm_is_reshape(type->rank, value->type->dim, perm))
        return reshape(l, like, x, type->rank, type->dim);
    const tc_node *wide = widening(l->rw->to, x);
    if (wide)
        return widened(l, like, wide, type, perm);
    tc_attr_tosa_perms a = {ti_ints_copy(&l->rw->ctx->arena, perm, type->rank)};
    return ti_stored_add(l, like, TC_OP_tosa_transpose,
                         ti_arena_copy(&l->rw->ctx->arena, &a, sizeof a), &x, 1, type);
}

/* transpose(x, perm), made once. */
static tc_val transposed(tc_stored_graph *l, const tc_node *like, tc_val x, const int64_t *perm)
{
    const tc_type *t = ti_type_of(l->rw->to, x);
    if (keeps_order(t->rank, perm))
        return x;
    void **slot = place_of(l, x, t->rank, perm);
    if (!*slot) {
        int64_t dim[TC_MAX_RANK];
        for (int i = 0; i < t->rank; i++)
            dim[i] = t->dim[perm[i]];
        tc_val made =
            fresh_transpose(l, like, x, ti_type_make(l->rw->ctx, t->dtype, t->rank, dim), perm);
        slot = place_of(l, x, t->rank, perm); /* the map may have grown */
        *slot = (void *)(uintptr_t)made;
    }
    return (tc_val)(uintptr_t)*slot;
}

/* An old value, stored by `order`. */
tc_val ti_stored_laid(tc_stored_graph *l, const tc_node *like, tc_val old, const tc_order *order)
{
    if (!old)
        return old;
    int64_t perm[TC_MAX_RANK];
    ti_order_perm(&l->now[old].order, order, perm);
    return transposed(l, like, l->now[old].val, perm);
}

tc_val ti_stored_plain(tc_stored_graph *l, const tc_node *like, tc_val old)
{
    tc_order p = ti_order_plain(old ? ti_type_of(l->rw->from, old)->rank : 0);
    return ti_stored_laid(l, like, old, &p);
}

/* Bytes that must move for an old value to be stored by `order`. */
int64_t ti_stored_cost(tc_stored_graph *l, tc_val old, const tc_order *order)
{
    const tc_stored *s = &l->now[old];
    const tc_graph *g = l->rw->to;
    if (ti_is_const(g, s->val) ||
        !ti_order_moves(ti_type_of(l->rw->from, old)->dim, &s->order, order))
        return 0;
    int64_t perm[TC_MAX_RANK];
    ti_order_perm(&s->order, order, perm);
    if (*place_of(l, s->val, order->rank, perm))
        return 0;
    const tc_node *wide = widening(g, s->val);
    tc_val moved = wide ? wide->in[0] : s->val;
    if (wide && *place_of(l, moved, order->rank, perm))
        return 0;
    return ti_bytes_of(ti_type_of(g, moved));
}

tc_val ti_stored_reshape(tc_stored_graph *l, const tc_node *node, tc_val x, int rank,
                         const int64_t *dim)
{
    const tc_value *value = l->rw->to->val[x];
    if (!value->data)
        return reshape(l, node, x, rank, dim);
    return ti_graph_const(l->rw->to, ti_type_make(l->rw->ctx, value->type->dtype, rank, dim),
                          value->data, value->name, node->loc);
}

/* What is stored by this order, as the logical type `to`. */
tc_stored ti_stored_regrouped(tc_stored_graph *l, const tc_node *node, tc_val x, const tc_type *to,
                              tc_order q)
{
    int64_t dim[TC_MAX_RANK];
    ti_order_dims(&q, to->dim, dim);
    return (tc_stored){.val = ti_stored_reshape(l, node, x, to->rank, dim), .order = q};
}

/* Factors that stay neighbours, as one: the stored extents, and the transpose that puts them in
 * order. */
int ti_stored_groups(const tc_chain *c, int64_t *dim, int64_t *perm)
{
    int group[TC_FACTORS_MAX] = {0}, place[TC_FACTORS_MAX], rank_of[TC_FACTORS_MAX] = {0}, n = 0;
    for (int k = 0; k < c->n; k++)
        place[c->from[k]] = k;
    for (int k = 0; k < c->n; k++) {
        n += !k || place[c->at[k]] != place[c->at[k - 1]] + 1;
        group[place[c->at[k]]] =
            n - 1; /* by position in memory: its group in the order of the result */
    }
    if (n > TC_MAX_RANK)
        return n;
    for (int k = 0, at = -1; k < c->n; k++) {
        if (!k || group[k] != group[k - 1])
            dim[++at] = 1;
        dim[at] *= c->size[c->from[k]];
        rank_of[group[k]] = at;
    }
    for (int i = 0; i < n; i++)
        perm[i] = rank_of[i];
    return n;
}

/* Materializes a chain: one transpose of as few axes as possible. */
void ti_stored_force(tc_stored_graph *l, const tc_node *like, tc_val old)
{
    tc_stored *s = old ? &l->now[old] : NULL;
    if (!s || !s->chain)
        return;
    int64_t dim[TC_MAX_RANK], perm[TC_MAX_RANK];
    int n = ti_stored_groups(s->chain, dim, perm);
    const tc_type *to = ti_type_of(l->rw->from, old);
    tc_val x = transposed(l, like, ti_stored_reshape(l, like, s->val, n, dim), perm);
    *s = ti_stored_regrouped(l, like, x, to, ti_order_plain(to->rank));
}
