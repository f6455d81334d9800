/* SPDX-License-Identifier: Apache-2.0 */
/* stacked_attention.c -- see tile_values.h: attention with all its heads and batches at once.
 *
 * Where a value of an attention is [b, h, t, d], its stacked form is [h, b, t, d]: heads are
 * computed one by one, from their own rows of the weights, and concatenated along rows; everything
 * up to the projection is done for all of them together; constants are transposed accordingly.
 * What is read as [a, b', h, t, d], b = a b', such as scores with a mask for each window, counts as
 * [b, h, t, d]. */
#include "tile_values.h"

#include "axis_order.h"

typedef struct stack {
    tc_tiler *t;
    int64_t heads, batches;
} stack;

static tc_val stacked(stack *s, tc_val old);

static const tc_type *old_type(const stack *s, tc_val v)
{
    return ti_type_of(s->t->rw->from, v);
}

/* The axis that holds the heads, -1: its axes are others. */
static int heads_axis(const stack *s, const tc_type *type)
{
    if (type->rank == 4 && type->dim[0] == s->batches && type->dim[1] == s->heads)
        return 1;
    if (type->rank == 5 && type->dim[0] * type->dim[1] == s->batches && type->dim[2] == s->heads)
        return 2;
    return -1;
}

static const tc_type *stacked_type(stack *s, const tc_type *type)
{
    int64_t dim[] = {s->heads, s->batches, type->dim[type->rank - 2], type->dim[type->rank - 1]};
    return ti_type_dims(s->t->rw->ctx, type, 4, dim);
}

/* A constant that goes with [.., h, t, d] by its last axes, transposed: [h or 1, b or 1, t, d]. */
static tc_val transposed(stack *s, tc_val old, int rank)
{
    tc_tensor x = ti_tensor_of(s->t->rw->from, old);
    tc_ctx *ctx = s->t->rw->ctx;
    if (x.type->rank <= 2)
        return s->t->rw->now[old];
    if (x.type->quant && x.type->quant->axis >= 0)
        return TC_NONE;
    int64_t dim[5] = {1, 1, 1, 1, 1}; /* a, b', h, t, d */
    for (int i = 0; i < x.type->rank; i++)
        dim[5 - x.type->rank + i] = x.type->dim[i];
    if (rank == 4) { /* b, h, t, d: the batches in one */
        if (dim[0] != 1)
            return TC_NONE;
        dim[0] = 1;
    }
    int64_t all = s->batches, a = rank == 5 && dim[0] == 1 && dim[1] > 1 ? all / dim[1] : dim[0];
    if (dim[0] > 1 && dim[1] == 1) /* one for each image, for all of its windows */
        return TC_NONE;
    int64_t b = a * dim[1], h = dim[2], n = dim[3] * dim[4], to_dim[] = {h, b, dim[3], dim[4]};
    const tc_type *type = ti_type_dims(ctx, x.type, 4, to_dim);
    size_t bytes = tc_dtypes[type->dtype].bytes * (size_t)n;
    char *to = ti_arena_raw(&ctx->arena, tc_type_bytes(type));
    for (int64_t i = 0; i < h; i++)
        for (int64_t k = 0; k < b; k++)
            memcpy(to + (size_t)(i * b + k) * bytes,
                   (const char *)x.data + (size_t)(k % (dim[0] * dim[1]) * h + i) * bytes, bytes);
    return ti_graph_const(s->t->rw->to, type, to, s->t->rw->from->val[old]->name, s->t->b.loc);
}

/* Head by head, each from what it is made of. */
static tc_val by_heads(stack *s, tc_val old)
{
    const tc_type *type = old_type(s, old);
    tc_val *head = tc_new_n(&s->t->rw->ctx->scratch, tc_val, (size_t)s->heads);
    int64_t rows = type->dim[2], d = type->dim[3], all = s->batches * rows;
    if (type->rank != 4)
        return TC_NONE;
    for (int64_t h = 0; h < s->heads && s->t->b.status == TC_OK; h++) {
        tc_select one = {4, {{0, s->batches, 1}, {h, 1, 1}, {0, rows, 1}, {0, d, 1}}};
        head[h] = ti_tile(s->t, old, &one);
        if (head[h])
            head[h] = ti_typed_reshape(&s->t->b, head[h], 4, (int64_t[]){1, 1, all, d});
    }
    TC_STOP_WITH(&s->t->b, TC_NONE);
    tc_val v = ti_b_cat(&s->t->b, 1, head, (int)s->heads);
    const tc_type *to = stacked_type(s, type);
    return s->t->b.status == TC_OK ? ti_typed_reshape(&s->t->b, v, 4, to->dim) : TC_NONE;
}

/* Whether it is one number times what heads are made of: then the number goes into their weights.
 */
static bool is_scaled(const stack *s, const tc_node *node)
{
    return node->op == TC_OP_mul && ti_is_const(s->t->rw->from, node->in[1]) &&
           tc_type_count(old_type(s, node->in[1])) == 1;
}

static tc_val stacked_operands(stack *s, const tc_node *node)
{
    tc_val in[4];
    int rank = old_type(s, node->out[0])->rank;
    if (node->n_in > 4 || node->n_out != 1)
        return TC_NONE;
    for (int i = 0; i < node->n_in; i++) {
        const tc_type *x = old_type(s, node->in[i]);
        in[i] = TC_NONE;
        if (!node->in[i])
            continue;
        in[i] = ti_is_const(s->t->rw->from, node->in[i]) ? transposed(s, node->in[i], rank)
                : heads_axis(s, x) >= 0                  ? stacked(s, node->in[i])
                                                         : TC_NONE;
        if (!in[i])
            return TC_NONE;
    }
    return ti_b_typed(&s->t->b, node->op, node->attr, in, node->n_in,
                      stacked_type(s, old_type(s, node->out[0])));
}

static bool swaps_last(const tc_node *node)
{
    static const int64_t perm[] = {0, 1, 3, 2};
    const tc_attr_perm *a = node->attr;
    return node->op == TC_OP_permute && a->perm.n == 4 && memcmp(a->perm.v, perm, sizeof perm) == 0;
}

static tc_val made(stack *s, tc_val old, const tc_node *node)
{
    static const int64_t swap[] = {0, 1, 3, 2};
    const tc_type *type = old_type(s, old), *x = node->n_in ? old_type(s, node->in[0]) : NULL;
    bool same = x && ti_same_quant(x->quant, type->quant);
    if (node->op == TC_OP_reshape && same && heads_axis(s, x) >= 0 &&
        x->dim[x->rank - 1] == type->dim[type->rank - 1])
        return stacked(s, node->in[0]);
    if (swaps_last(node) && same && heads_axis(s, x) >= 0) {
        tc_val v = stacked(s, node->in[0]);
        return v ? ti_b_permute(&s->t->b, v, swap) : TC_NONE;
    }
    if (node->op == TC_OP_softmax && ((const tc_attr_axis *)node->attr)->axis == type->rank - 1) {
        tc_val v = heads_axis(s, x) >= 0 ? stacked(s, node->in[0]) : TC_NONE;
        static const tc_attr_axis last = {.axis = 3};
        return v ? ti_b_typed(&s->t->b, TC_OP_softmax, &last, &v, 1, stacked_type(s, type))
                 : TC_NONE;
    }
    if (type->rank == 4 && (is_scaled(s, node) || ti_tile_moves(node)))
        return ti_tile_from_product(s->t, old) ? by_heads(s, old) : TC_NONE;
    bool together = node->op == TC_OP_matmul || (tc_ops[node->op].traits & T_ELTWISE) ||
                    (node->op == TC_OP_sdpa && !((const tc_attr_sdpa *)node->attr)->gqa);
    return together ? stacked_operands(s, node) : TC_NONE;
}

static tc_val stacked(stack *s, tc_val old)
{
    const tc_type *type = old_type(s, old);
    const tc_node *node = ti_def(s->t->rw->from, old);
    tc_select key = {.rank = 1, .axis = {{s->heads, s->batches, -3}}}; /* no tile has it */
    if (!node || heads_axis(s, type) < 0 || (type->quant && type->quant->axis >= 0) ||
        s->t->b.status != TC_OK)
        return TC_NONE;
    void **slot = ti_tile_place(s->t, old, &key);
    if (*slot)
        return (tc_val)(uintptr_t)*slot;
    tc_val v = made(s, old, node);
    *ti_tile_place(s->t, old, &key) = (void *)(uintptr_t)v;
    return v;
}

enum { SCORES_MAX = 1 << 19 }; /* that are live at one time */

/* Scores of one head and batch: rows times keys. */
static int64_t scores_of(const tc_graph *g, tc_val o)
{
    const tc_node *core = ti_def(g, o);
    while (core->op == TC_OP_reshape)
        core = ti_def(g, core->in[0]);
    bool sdpa = core->op == TC_OP_sdpa;
    const tc_type *keys = ti_type_of(g, core->in[sdpa ? 2 : 0]);
    return ti_type_of(g, o)->dim[2] * keys->dim[keys->rank - (sdpa ? 2 : 1)];
}

bool ti_tile_stacks(const tc_tiler *t, const tc_node *linear)
{
    tc_val o = ti_merged_heads(t->rw->from, linear);
    if (!o)
        return false;
    const tc_type *type = ti_type_of(t->rw->from, o);
    return type->dim[0] * type->dim[1] * scores_of(t->rw->from, o) <= SCORES_MAX;
}

int64_t ti_tile_together(const tc_tiler *t, tc_val o)
{
    int64_t each = scores_of(t->rw->from, o);
    int64_t fit = each > 0 && each < SCORES_MAX ? SCORES_MAX / each : 1;
    return fit > t->together ? fit : t->together;
}

tc_val ti_tile_stacked(tc_tiler *t, const tc_node *linear)
{
    tc_val o = ti_merged_heads(t->rw->from, linear);
    const tc_type *type = ti_type_of(t->rw->from, o);
    stack s = {.t = t, .heads = type->dim[1], .batches = type->dim[0]};
    tc_val v = stacked(&s, o);
    if (!v || t->b.status != TC_OK)
        return TC_NONE;
    int64_t rows = s.batches * type->dim[2], dim[] = {s.batches, type->dim[2], 0};
    dim[2] = ti_type_of(t->rw->from, linear->out[0])->dim[2];
    v = ti_typed_reshape(&t->b, v, 4, (int64_t[]){1, s.heads, rows, type->dim[3]});
    v = ti_tile_down(t, linear, v);
    return t->b.status == TC_OK ? ti_typed_reshape(&t->b, v, 3, dim) : TC_NONE;
}
