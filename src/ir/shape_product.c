/* SPDX-License-Identifier: Apache-2.0 */
/* shape_product.c -- the shape functions of products: matmul, linear, addmm, einsum, attention. */
#include "../num/einsum.h"
#include "shape_check.h"

/* Axes before the last two, broadcast. */
static tc_status batch_axes(tc_infer *c, const tc_type *a, const tc_type *b, tc_type *out)
{
    int rank = a->rank > 2 ? a->rank - 2 : 0;
    memcpy(out->dim, a->dim, (size_t)rank * sizeof a->dim[0]);
    TC_TRY(ti_broadcast_dims(c, b->rank > 2 ? b->rank - 2 : 0, b->dim, &rank, out->dim));
    out->rank = rank;
    return TC_OK;
}

static tc_status product(tc_infer *c, const tc_type *a, const tc_type *b, tc_type *out)
{
    TC_TRY(ti_need_rank(c, a, "the left operand", 1, TC_MAX_RANK));
    TC_TRY(ti_need_rank(c, b, "the right operand", 1, TC_MAX_RANK));
    TC_TRY(ti_need_real(c, a));
    if (a->dtype != b->dtype)
        return ti_error(c->ctx, c->loc, TC_E_TYPE, "the operands of '%s' are %s and %s", c->op,
                        tc_dtypes[a->dtype].name, tc_dtypes[b->dtype].name);
    int64_t inner = b->dim[b->rank > 1 ? b->rank - 2 : 0];
    TC_TRY(ti_need_extent(c, "the inner extent of the right operand", inner, a->dim[a->rank - 1]));
    *out = (tc_type){.dtype = a->dtype};
    TC_TRY(batch_axes(c, a, b, out));
    if (a->rank > 1)
        out->dim[out->rank++] = a->dim[a->rank - 2];
    if (b->rank > 1)
        out->dim[out->rank++] = b->dim[b->rank - 1];
    return TC_OK;
}

tc_status ti_shape_matmul(tc_infer *c)
{
    TC_TRY(ti_need(c, 1, "right operand"));
    return product(c, ti_in(c, 0), ti_in(c, 1), c->out);
}

/* x: [..., k]   weight: [n, k] or [k]   bias: [n] */
tc_status ti_shape_linear(tc_infer *c)
{
    TC_TRY(ti_need(c, 1, "weights"));
    const tc_type *x = ti_in(c, 0), *w = ti_in(c, 1), *bias = ti_in(c, 2);
    TC_TRY(ti_need_rank(c, x, "the input", 1, TC_MAX_RANK));
    TC_TRY(ti_need_rank(c, w, "the weights", 1, 2));
    TC_TRY(ti_need_real(c, x));
    TC_TRY(ti_need_dtype(c, 1, "the weights"));
    TC_TRY(ti_need_dtype(c, 2, "the bias"));
    TC_TRY(ti_need_extent(c, "the last extent of the input", x->dim[x->rank - 1],
                          w->dim[w->rank - 1]));
    c->out[0] = *x;
    c->out[0].quant = NULL;
    c->out[0].rank = x->rank - (w->rank == 1);
    c->out[0].dim[x->rank - 1] = w->rank == 1 ? 0 : w->dim[0];
    if (!bias)
        return TC_OK;
    if (w->rank == 1)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE, "'%s' with weights of rank 1 has no bias",
                        c->op);
    TC_TRY(ti_need_rank(c, bias, "the bias", 1, 1));
    return ti_need_extent(c, "the extent of the bias", bias->dim[0], w->dim[0]);
}

/* x: [..., k]   weights: [n, k]   y: like x */
tc_status ti_shape_log_bands(tc_infer *c)
{
    TC_TRY(ti_need(c, 1, "weights"));
    TC_TRY(ti_need(c, 2, "second part"));
    const tc_type *x = ti_in(c, 0), *w = ti_in(c, 1), *y = ti_in(c, 2);
    TC_TRY(ti_need_rank(c, x, "the first part", 1, TC_MAX_RANK));
    TC_TRY(ti_need_rank(c, w, "the weights", 2, 2));
    TC_TRY(ti_need_real(c, x));
    TC_TRY(ti_need_dtype(c, 1, "the weights"));
    TC_TRY(ti_need_dtype(c, 2, "the second part"));
    TC_TRY(ti_need_rank(c, y, "the second part", x->rank, x->rank));
    for (int i = 0; i < x->rank; i++)
        TC_TRY(ti_need_extent(c, "an extent of the second part", y->dim[i], x->dim[i]));
    TC_TRY(ti_need_extent(c, "the last extent of the parts", x->dim[x->rank - 1], w->dim[1]));
    c->out[0] = *x;
    c->out[0].quant = NULL;
    c->out[0].dim[x->rank - 1] = w->dim[0];
    return TC_OK;
}

/* c: broadcast to the product of a and b. */
tc_status ti_shape_addmm(tc_infer *c)
{
    TC_TRY(ti_need(c, 1, "left operand"));
    TC_TRY(ti_need(c, 2, "right operand"));
    TC_TRY(ti_need_dtype(c, 1, "the left operand"));
    TC_TRY(product(c, ti_in(c, 1), ti_in(c, 2), c->out));
    const tc_type *add = ti_in(c, 0);
    tc_type joint = c->out[0];
    TC_TRY(ti_broadcast_dims(c, add->rank, add->dim, &joint.rank, joint.dim));
    if (ti_same_dims(&joint, c->out))
        return TC_OK;
    tc_mark mark = ti_arena_mark(&c->ctx->scratch);
    tc_status status =
        ti_error(c->ctx, c->loc, TC_E_SHAPE, "%s cannot be broadcast to the product, %s",
                 ti_type_text(&c->ctx->scratch, add), ti_type_text(&c->ctx->scratch, c->out));
    ti_arena_rewind(&c->ctx->scratch, mark);
    return status;
}

tc_status ti_shape_einsum(tc_infer *c)
{
    const tc_attr_einsum *a = c->attr;
    tc_einsum e;
    for (int i = 0; i < c->n_in; i++) {
        TC_TRY(ti_need(c, i, "operand"));
        TC_TRY(ti_need_real(c, ti_in(c, i)));
        TC_TRY(ti_need_dtype(c, i, "an operand"));
    }
    const char *problem = ti_einsum_parse(a->equation, c->in, c->n_in, &e);
    if (problem)
        return ti_error(c->ctx, c->loc, TC_E_ARGUMENT, "the equation \"%s\" %s", a->equation,
                        problem);
    c->out[0] = (tc_type){.dtype = ti_in(c, 0)->dtype, .rank = e.out_rank};
    for (int i = 0; i < e.out_rank; i++)
        c->out[0].dim[i] = e.extent[e.out[i]];
    return TC_OK;
}

/* With gqa, the heads (third axis from the end) of keys and values serve several of the queries. */
static tc_status grouped_heads(tc_infer *c, const tc_type *q, tc_type *k, tc_type *v)
{
    if (q->rank < 3 || k->rank < 3 || v->rank < 3)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "grouped heads need operands of rank 3 or more");
    int64_t heads = q->dim[q->rank - 3], kh = k->dim[k->rank - 3], vh = v->dim[v->rank - 3];
    if (!kh || !vh || heads % kh || heads % vh)
        return ti_error(c->ctx, c->loc, TC_E_SHAPE,
                        "%" PRId64 " query heads do not fall into %" PRId64 " key and %" PRId64
                        " value heads", heads, kh, vh);
    k->dim[k->rank - 3] = v->dim[v->rank - 3] = heads;
    return TC_OK;
}

/* q: [..., l, e]   k: [..., s, e]   v: [..., s, f]   mask: broadcast to [..., l, s] */
tc_status ti_shape_sdpa(tc_infer *c)
{
    const tc_attr_sdpa *a = c->attr;
    static const char *const name[] = {"the query", "the key", "the value"};
    for (int i = 0; i < 3; i++) {
        TC_TRY(ti_need(c, i, name[i]));
        TC_TRY(ti_need_float(c, ti_in(c, i)));
        TC_TRY(ti_need_dtype(c, i, name[i]));
        TC_TRY(ti_need_rank(c, ti_in(c, i), name[i], 2, TC_MAX_RANK));
    }
    const tc_type *q = ti_in(c, 0), *mask = ti_in(c, 3);
    tc_type k = *ti_in(c, 1), v = *ti_in(c, 2);
    if (a->gqa)
        TC_TRY(grouped_heads(c, q, &k, &v));
    TC_TRY(ti_need_extent(c, "the last extent of the key", k.dim[k.rank - 1], q->dim[q->rank - 1]));
    TC_TRY(ti_need_extent(c, "the number of values", v.dim[v.rank - 2], k.dim[k.rank - 2]));
    tc_type scores = {.dtype = q->dtype};
    TC_TRY(batch_axes(c, q, &k, &scores));
    TC_TRY(ti_broadcast_dims(c, v.rank - 2, v.dim, &scores.rank, scores.dim));
    c->out[0] = scores;
    c->out[0].dim[c->out[0].rank++] = q->dim[q->rank - 2];
    c->out[0].dim[c->out[0].rank++] = v.dim[v.rank - 1];
    if (!mask)
        return TC_OK;
    if (mask->dtype != TC_bool && !ti_is_float(mask->dtype))
        return ti_error(c->ctx, c->loc, TC_E_TYPE,
                        "the mask of '%s' has type %s, expected bool or a float", c->op,
                        tc_dtypes[mask->dtype].name);
    scores.dim[scores.rank++] = q->dim[q->rank - 2];
    scores.dim[scores.rank++] = k.dim[k.rank - 2];
    tc_type joint = scores;
    TC_TRY(ti_broadcast_dims(c, mask->rank, mask->dim, &joint.rank, joint.dim));
    if (!ti_same_dims(&joint, &scores))
        return ti_error(c->ctx, c->loc, TC_E_SHAPE, "the mask of '%s' is larger than the scores",
                        c->op);
    return TC_OK;
}
