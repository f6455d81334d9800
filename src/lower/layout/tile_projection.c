/* SPDX-License-Identifier: Apache-2.0 */
/* tile_projection.c -- the linear layer behind an attention: that of heads which stand beside each
 * other is a convolution down a column of heads, and no head is moved. */
#include "tile_values.h"

#include "axis_order.h"

tc_val ti_merged_heads(const tc_graph *g, const tc_node *linear)
{
    static const int64_t heads_second[] = {0, 2, 1, 3};
    const tc_node *flat = linear->op == TC_OP_linear ? ti_def(g, linear->in[0]) : NULL;
    const tc_node *permute = flat && flat->op == TC_OP_reshape ? ti_def(g, flat->in[0]) : NULL;
    if (!permute || permute->op != TC_OP_permute)
        return TC_NONE;
    const tc_type *o = ti_type_of(g, permute->in[0]), *x = ti_type_of(g, linear->in[0]);
    const tc_ints *perm = &((const tc_attr_perm *)permute->attr)->perm;
    bool known = ti_is_const(g, linear->in[1]) &&
                 (linear->n_in < 3 || !linear->in[2] || ti_is_const(g, linear->in[2]));
    bool fits = known && o->rank == 4 && x->rank == 3 && x->dim[0] == o->dim[0] &&
                x->dim[1] == o->dim[2] && memcmp(perm->v, heads_second, sizeof heads_second) == 0 &&
                o->dim[1] > 1 && x->dim[x->rank - 1] == o->dim[1] * o->dim[3] &&
                ti_same_quant(o->quant, x->quant);
    const tc_node *core = fits ? ti_def(g, permute->in[0]) : NULL;
    if (core && core->op == TC_OP_reshape &&
        ti_same_quant(o->quant, ti_type_of(g, core->in[0])->quant))
        core = ti_def(g, core->in[0]);
    return core && (core->op == TC_OP_matmul || core->op == TC_OP_sdpa) ? permute->in[0] : TC_NONE;
}

/* Weights [c, h d] of a projection as those of a convolution over a column of heads: [c, d, h, 1].
 */
static tc_val column_weights(tc_tiler *t, tc_val old, int64_t heads)
{
    tc_tensor w = ti_tensor_of(t->rw->from, old);
    int64_t c = w.type->dim[0], d = w.type->dim[1] / heads;
    tc_select s = {.rank = 1, .axis = {{heads, c, -2}}}; /* a key no tile has */
    void **slot = ti_tile_place(t, old, &s);
    if (*slot)
        return (tc_val)(uintptr_t)*slot;
    tc_type split = {.dtype = w.type->dtype, .rank = 3, .dim = {c, heads, d}}, type = *w.type;
    type.rank = 4;
    memcpy(type.dim, (int64_t[]){c, d, heads, 1}, 4 * sizeof type.dim[0]);
    const void *data = ti_transposed(&t->rw->ctx->arena, &split, w.data, (int64_t[]){0, 2, 1});
    tc_val v = ti_graph_const(t->rw->to, ti_type_intern(t->rw->ctx, &type), data,
                              t->rw->from->val[old]->name, t->b.loc);
    *slot = (void *)(uintptr_t)v;
    return v;
}

tc_val ti_tile_down(tc_tiler *t, const tc_node *node, tc_val x)
{
    const tc_type *xt = ti_type_of(t->rw->to, x),
                  *y = ti_type_of(t->rw->from, node->out[0]);
    int64_t heads = xt->dim[1], rows = xt->dim[2], one[] = {1, 1}, none[4] = {0};
    tc_val column = ti_b_permute(&t->b, x, (int64_t[]){0, 3, 1, 2});
    tc_attr_conv a = {.stride = ti_ints_copy(&t->rw->ctx->arena, one, 2),
                      .pad = ti_ints_copy(&t->rw->ctx->arena, none, 4),
                      .dilation = ti_ints_copy(&t->rw->ctx->arena, one, 2),
                      .groups = 1};
    tc_val in[] = {column, column_weights(t, node->in[1], heads),
                   node->n_in > 2 ? t->rw->now[node->in[2]] : TC_NONE};
    tc_val v =
        ti_b_typed(&t->b, TC_OP_conv, ti_arena_copy(&t->rw->ctx->arena, &a, sizeof a), in,
                   node->n_in, ti_type_dims(t->rw->ctx, y, 4, (int64_t[]){1, y->dim[2], 1, rows}));
    return t->b.status == TC_OK ? ti_b_permute(&t->b, v, (int64_t[]){0, 2, 3, 1}) : TC_NONE;
}

/* Some batches of linear(concatenated heads): the heads stacked, and a convolution down the
 * column. */
static tc_val project(tc_tiler *t, const tc_node *node, tc_val o, tc_range batch)
{
    const tc_type *ot = ti_type_of(t->rw->from, o),
                  *y = ti_type_of(t->rw->from, node->out[0]);
    int64_t heads = ot->dim[1], rows = ot->dim[2], d = ot->dim[3];
    tc_val *head = tc_new_n(&t->rw->ctx->scratch, tc_val, (size_t)heads);
    for (int64_t h = 0; h < heads && t->b.status == TC_OK; h++) {
        tc_select s = {4, {batch, {h, 1, 1}, {0, rows, 1}, {0, d, 1}}};
        head[h] = ti_tile(t, o, &s);
        if (head[h])
            head[h] = ti_typed_reshape(&t->b, head[h], 4, (int64_t[]){1, 1, batch.count * rows, d});
    }
    TC_STOP_WITH(&t->b, TC_NONE);
    tc_val v = ti_tile_down(t, node, ti_b_cat(&t->b, 1, head, (int)heads));
    return t->b.status == TC_OK
               ? ti_typed_reshape(&t->b, v, 3, (int64_t[]){batch.count, rows, y->dim[2]})
               : TC_NONE;
}

tc_val ti_tile_projection(tc_tiler *t, const tc_node *node, tc_range batch)
{
    tc_val o = ti_merged_heads(t->rw->from, node);
    tc_val *part = tc_new_n(&t->rw->ctx->scratch, tc_val, (size_t)batch.count);
    int n = 0;
    int64_t together = ti_tile_together(t, o);
    for (int64_t i = 0; i < batch.count; i += together) {
        int64_t count = batch.count - i < together ? batch.count - i : together;
        part[n++] =
            project(t, node, o,
                    (tc_range){batch.start + i * batch.step, count, count > 1 ? batch.step : 1});
    }
    return ti_b_cat(&t->b, 0, part, n);
}
