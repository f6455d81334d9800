/* SPDX-License-Identifier: Apache-2.0 */
/* build.c -- appends nodes to a graph: see build.h. */
#include "build.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "../num/load.h"

/* ---- messages ---- */

static const char *words(tc_build *b, const char *format, va_list args)
{
    char text[400];
    vsnprintf(text, sizeof text, format, args);
    return b->subject ? ti_text_format(&b->ctx->arena, "'%s': %s", b->subject, text)
                      : ti_text_copy(&b->ctx->arena, ti_str_of(text));
}

void ti_b_bad(tc_build *b, tc_diag_id id, const char *format, ...)
{
    TC_STOP(b);
    va_list args;
    va_start(args, format);
    b->status = ti_error(b->ctx, b->loc, id, "%s", words(b, format, args));
    va_end(args);
}

void ti_b_unsupported(tc_build *b, const char *format, ...)
{
    TC_STOP(b);
    va_list args;
    va_start(args, format);
    b->status = ti_unsupported(b->ctx, b->loc, TC_E_UNSUPPORTED, "%s", words(b, format, args));
    va_end(args);
}

/* ---- operators ---- */

tc_build ti_build_instead(tc_rewrite *rw, const tc_node *node)
{
    return (tc_build){.ctx = rw->ctx, .g = rw->to, .loc = node->loc, .rw = rw, .node = node};
}

tc_status ti_b_replace(tc_build *b, tc_val v, bool *done)
{
    TC_TRY(b->status);
    const tc_type *type = ti_b_out_type(b, 0);
    assert(ti_b_dtype(b, v) == type->dtype && ti_same_dims(ti_b_type(b, v), type));
    b->g->val[v]->type = type; /* TOSA's have a domain only at the end of a region */
    ti_rewrite_bind(b->rw, b->node->out[0], v);
    *done = true;
    return TC_OK;
}

tc_status ti_b_again(tc_build *b, const tc_val *in, int n_in, bool *done)
{
    tc_val y = ti_b_typed(b, b->node->op, b->node->attr, in, n_in, ti_b_out_type(b, 0));
    return ti_b_replace(b, y, done);
}

tc_node *ti_b_ops(tc_build *b, tc_op op, const void *attr, const tc_val *in, int n_in, int n_out)
{
    TC_STOP_WITH(b, NULL);
    tc_node *node;
    b->status = ti_graph_emit(b->g, op, attr, in, n_in, n_out, b->loc, &node);
    TC_STOP_WITH(b, NULL);
    if (b->fold)
        b->fold(b, node);
    return node;
}

tc_val ti_b_op(tc_build *b, tc_op op, const void *attr, const tc_val *in, int n_in)
{
    tc_node *node = ti_b_ops(b, op, attr, in, n_in, 1);
    return node ? node->out[0] : TC_NONE;
}

tc_val ti_b_typed(tc_build *b, tc_op op, const void *attr, const tc_val *in, int n_in,
                  const tc_type *type)
{
    TC_STOP_WITH(b, TC_NONE);
    tc_node *node = ti_graph_add(b->g, op, attr, in, n_in, 1, b->loc);
    b->g->val[node->out[0]]->type = type;
    b->status = ti_node_infer(b->g, node);
    return b->status == TC_OK ? node->out[0] : TC_NONE;
}

tc_val ti_b_unary(tc_build *b, tc_op op, tc_val x)
{
    return ti_b_op(b, op, NULL, &x, 1);
}

tc_val ti_b_binary(tc_build *b, tc_op op, tc_val x, tc_val y)
{
    const void *attr = NULL;
    if (tc_ops[op].attr == TC_ATTR_alpha)
        attr = ti_b_attr(b, alpha, 1);
    else if (tc_ops[op].attr == TC_ATTR_tosa_nan)
        attr = ti_b_attr(b, tosa_nan, TC_nan_mode_propagate);
    return ti_b_op(b, op, attr, (tc_val[]){x, y}, 2);
}

tc_val ti_b_add_n(tc_build *b, tc_val x, double number)
{
    return ti_b_add(b, x, ti_b_number(b, x, number));
}

tc_val ti_b_mul_n(tc_build *b, tc_val x, double number)
{
    return number == 1 && b->status == TC_OK ? x : ti_b_mul(b, x, ti_b_number(b, x, number));
}

tc_val ti_b_clamp(tc_build *b, tc_val x, double lo, double hi)
{
    return ti_b_1(b, clamp, ti_b_attr(b, clamp, lo, hi), x);
}

tc_val ti_b_cast(tc_build *b, tc_val x, tc_dtype dtype)
{
    if (b->status != TC_OK || ti_b_dtype(b, x) == dtype)
        return b->status == TC_OK ? x : TC_NONE;
    return ti_b_1(b, cast, ti_b_attr(b, cast, dtype), x);
}

tc_val ti_b_rescale(tc_build *b, tc_val x, const tc_type *type)
{
    return ti_b_type(b, x) == type ? x : ti_b_typed(b, TC_OP_rescale, NULL, &x, 1, type);
}

/* ---- movement ---- */

static bool is_coded(const tc_type *t)
{
    return t && t->quant && t->quant->axis < 0;
}

const tc_type *ti_type_dims(tc_ctx *ctx, const tc_type *type, int rank, const int64_t *dim)
{
    tc_type t = {.dtype = type->dtype, .rank = rank, .quant = type->quant};
    for (int i = 0; i < rank; i++) /* no axes, perhaps no list */
        t.dim[i] = dim[i];
    return ti_type_intern(ctx, &t);
}

/* A movement of in[0] and operands like it, to the shape of `to`; codes keep their one scale. */
static tc_val move(tc_build *b, tc_op op, const void *attr, const tc_val *in, int n,
                   const tc_type *to)
{
    const tc_type *t = n ? ti_b_type(b, in[0]) : NULL;
    return is_coded(t) ? ti_b_typed(b, op, attr, in, n, ti_type_dims(b->ctx, t, to->rank, to->dim))
                       : ti_b_op(b, op, attr, in, n);
}

tc_val ti_b_reshape(tc_build *b, tc_val x, int rank, const int64_t *dim)
{
    TC_STOP_WITH(b, TC_NONE);
    if (!b->every && ti_has_dims(ti_b_type(b, x), rank, dim))
        return x;
    if (rank > TC_MAX_RANK) {
        ti_b_unsupported(b, "a tensor of %d axes; at most %d are supported", rank, TC_MAX_RANK);
        return TC_NONE;
    }
    tc_attr_shape *a = ti_b_attr(b, shape, ti_ints_copy(&b->ctx->arena, dim, rank));
    tc_type to = {.rank = rank};
    for (int i = 0; i < rank; i++) /* no axes, perhaps no list */
        to.dim[i] = dim[i];
    return move(b, TC_OP_reshape, a, &x, 1, &to);
}

tc_val ti_b_reshape_as(tc_build *b, tc_val x, const tc_type *like)
{
    return like ? ti_b_reshape(b, x, like->rank, like->dim) : TC_NONE;
}

tc_val ti_b_expand_as(tc_build *b, tc_val x, const tc_type *like)
{
    return like ? ti_b_expand(b, x, like->rank, like->dim) : TC_NONE;
}

tc_val ti_b_flat(tc_build *b, tc_val x)
{
    TC_STOP_WITH(b, TC_NONE);
    int64_t count = tc_type_count(ti_b_type(b, x));
    return ti_b_reshape(b, x, 1, &count);
}

tc_val ti_b_unsqueeze(tc_build *b, tc_val x, int64_t axis)
{
    TC_STOP_WITH(b, TC_NONE);
    const tc_type *t = ti_b_type(b, x);
    int64_t dim[TC_MAX_RANK + 1];
    for (int i = 0; i <= t->rank; i++)
        dim[i] = i < axis ? t->dim[i] : i == axis ? 1 : t->dim[i - 1];
    return ti_b_reshape(b, x, t->rank + 1, dim);
}

tc_val ti_b_permute(tc_build *b, tc_val x, const int64_t *perm)
{
    TC_STOP_WITH(b, TC_NONE);
    const tc_type *t = ti_b_type(b, x);
    tc_type to = *t;
    bool moves = b->every;
    for (int i = 0; i < t->rank; i++) {
        to.dim[i] = is_coded(t) ? t->dim[perm[i]] : 0;
        moves = moves || perm[i] != i;
    }
    tc_ints list = ti_ints_copy(&b->ctx->arena, perm, t->rank);
    return moves ? move(b, TC_OP_permute, ti_b_attr(b, perm, list), &x, 1, &to) : x;
}

tc_val ti_b_swap(tc_build *b, tc_val x, int i, int j)
{
    int64_t perm[TC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    perm[i] = j;
    perm[j] = i;
    return ti_b_permute(b, x, perm);
}

tc_val ti_b_expand(tc_build *b, tc_val x, int rank, const int64_t *dim)
{
    TC_STOP_WITH(b, TC_NONE);
    if (!b->every && ti_has_dims(ti_b_type(b, x), rank, dim))
        return x;
    return ti_b_1(b, expand, ti_b_attr(b, shape, ti_ints_copy(&b->ctx->arena, dim, rank)), x);
}

tc_val ti_b_slice(tc_build *b, tc_val x, int64_t axis, int64_t start, int64_t end, int64_t step)
{
    TC_STOP_WITH(b, TC_NONE);
    tc_type t = *ti_b_type(b, x);
    if (!b->every && start == 0 && step == 1 && end == t.dim[axis])
        return x;
    if (is_coded(&t))
        t.dim[axis] = (end - start + step - 1) / step;
    return move(b, TC_OP_slice, ti_b_attr(b, slice, axis, start, end, step), &x, 1, &t);
}

tc_val ti_b_flip(tc_build *b, tc_val x, int64_t axis)
{
    return ti_b_1(b, flip, ti_b_attr(b, flip, ti_ints_copy(&b->ctx->arena, &axis, 1)), x);
}

tc_val ti_b_cat(tc_build *b, int64_t axis, const tc_val *in, int n)
{
    if (b->status != TC_OK || n == 1)
        return b->status == TC_OK ? in[0] : TC_NONE;
    const tc_type *t = n ? ti_b_type(b, in[0]) : NULL;
    tc_type to = t ? *t : (tc_type){0};
    for (int i = 1; i < n && is_coded(t); i++)
        to.dim[axis] += ti_b_type(b, in[i])->dim[axis];
    return move(b, TC_OP_cat, ti_b_attr(b, axis, axis), in, n, &to);
}

tc_val ti_b_pad(tc_build *b, tc_val x, const int64_t *pad, double value)
{
    TC_STOP_WITH(b, TC_NONE);
    int n = 2 * ti_b_type(b, x)->rank;
    bool any = b->every;
    for (int i = 0; i < n; i++)
        any = any || pad[i] != 0;
    if (!any)
        return x;
    tc_attr_pad *a = ti_b_attr(b, pad, .pad = ti_ints_copy(&b->ctx->arena, pad, n),
                               .mode = TC_pad_mode_constant, .value = value);
    return ti_b_1(b, pad, a, x);
}

tc_val ti_b_select(tc_build *b, tc_val x, int64_t axis, int64_t index)
{
    return ti_b_1(b, select, ti_b_attr(b, select, axis, index), x);
}

tc_val ti_b_pick(tc_build *b, tc_val x, int64_t axis, const int64_t *row, int64_t n)
{
    return ti_b_index_select(b, x, ti_b_list(b, row, n), axis);
}

tc_val ti_b_gather_nd(tc_build *b, tc_val x, tc_val flat, const tc_type *index, int first)
{
    TC_STOP_WITH(b, TC_NONE);
    const tc_type *t = ti_b_type(b, x);
    int rank = 0;
    int64_t rows = 1, rest = 1, dim[2 * TC_MAX_RANK];
    for (int a = 0; a < t->rank; a++)
        *(a < first ? &rows : &rest) *= t->dim[a];
    for (int a = 0; a < index->rank - 1; a++)
        dim[rank++] = index->dim[a];
    for (int a = first; a < t->rank; a++)
        dim[rank++] = t->dim[a];
    x = ti_b_reshape(b, x, 2, (int64_t[]){rows, rest});
    x = ti_b_2(b, index_select, ti_b_attr(b, axis, 0), x, flat);
    return ti_b_reshape(b, x, rank, dim);
}

tc_val ti_b_reduce(tc_build *b, tc_op op, tc_val x, const int64_t *axis, int n, bool keep)
{
    TC_STOP_WITH(b, TC_NONE);
    tc_dtype dtype = ti_b_dtype(b, x);
    tc_attr_axes *a =
        ti_b_attr(b, axes, .axes = ti_ints_copy(&b->ctx->arena, axis, n), .keepdim = keep);
    return ti_b_cast(b, ti_b_op(b, op, a, &x, 1), dtype);
}

/* ---- constants ---- */

tc_tensor ti_b_tensor(tc_build *b, tc_dtype dtype, int rank, const int64_t *dim)
{
    return ti_tensor_new(&b->ctx->arena, ti_type_make(b->ctx, dtype, rank, dim));
}

tc_val ti_b_const(tc_build *b, tc_tensor t, const char *name)
{
    TC_STOP_WITH(b, TC_NONE);
    return ti_graph_const(b->g, t.type, t.data, name, b->loc);
}

tc_val ti_b_data(tc_build *b, const tc_type *type, const void *data)
{
    return b->status == TC_OK ? ti_graph_const(b->g, type, data, NULL, b->loc) : TC_NONE;
}

/* Constants with equal hash. */
typedef struct copied {
    struct copied *next;
    tc_val val;
} copied;

tc_val ti_b_copy(tc_build *b, const tc_type *type, const void *data)
{
    tc_arena *arena = &b->ctx->arena;
    size_t size = tc_type_bytes(type);
    TC_STOP_WITH(b, TC_NONE);
    if (!b->constants)
        return ti_b_data(b, type, ti_arena_copy(arena, data, size));
    uint64_t hash = ti_hash(data, size, ti_hash(&type, sizeof type, 0));
    void **slot = ti_map_at(b->constants, (tc_str){(const char *)&hash, sizeof hash});
    for (const copied *c = *slot; c; c = c->next)
        if (ti_b_type(b, c->val) == type && memcmp(b->g->val[c->val]->data, data, size) == 0)
            return c->val;
    copied *made = tc_new(arena, copied);
    *made = (copied){*slot, ti_b_data(b, type, ti_arena_copy(arena, data, size))};
    *slot = made;
    return made->val;
}

tc_val ti_b_scalar(tc_build *b, tc_dtype dtype, double value)
{
    return b->status == TC_OK ? ti_graph_scalar(b->g, dtype, value, b->loc) : TC_NONE;
}

tc_val ti_b_number(tc_build *b, tc_val like, double value)
{
    return ti_b_scalar(b, ti_b_dtype(b, like), value);
}

tc_val ti_b_scalar_i64(tc_build *b, tc_dtype dtype, int64_t value)
{
    tc_tensor one = ti_b_tensor(b, dtype, 0, NULL);
    ti_store_i64(one, 0, value);
    return ti_b_const(b, one, NULL);
}

tc_val ti_b_ints(tc_build *b, const int64_t *v, int rank, const int64_t *dim)
{
    const tc_type *type = ti_type_make(b->ctx, TC_i64, rank, dim);
    return ti_b_copy(b, type, v);
}

tc_val ti_b_list(tc_build *b, const int64_t *v, int64_t count)
{
    return ti_b_ints(b, v, 1, &count);
}

tc_val ti_b_full(tc_build *b, int rank, const int64_t *dim, double value, tc_dtype dtype)
{
    return ti_b_0(b, full,
                  ti_b_attr(b, full, ti_ints_copy(&b->ctx->arena, dim, rank), value, dtype));
}

tc_val ti_b_arange(tc_build *b, int64_t count, tc_dtype dtype)
{
    return ti_b_0(b, arange, ti_b_attr(b, arange, 0, 1, count, dtype));
}

int ti_b_axis(tc_build *b, int64_t axis, int rank)
{
    int64_t all = rank ? rank : 1;
    if (axis < -all || axis >= all) {
        ti_b_bad(b, TC_E_ARGUMENT, "axis %" PRId64 " of a tensor of rank %d", axis, rank);
        return 0;
    }
    return (int)(axis < 0 ? axis + all : axis);
}

tc_ints ti_b_axes(tc_build *b, tc_ints axes, int rank)
{
    int64_t list[TC_MAX_RANK] = {0, 1, 2, 3, 4, 5, 6, 7};
    bool seen[TC_MAX_RANK] = {false};
    if (axes.n > (rank ? rank : 1))
        ti_b_bad(b, TC_E_ARGUMENT, "%d axes of a tensor of rank %d", axes.n, rank);
    for (int i = 0; i < axes.n && b->status == TC_OK; i++) {
        list[i] = ti_b_axis(b, axes.v[i], rank);
        if (seen[list[i]])
            ti_b_bad(b, TC_E_ARGUMENT, "axis %" PRId64 " is named twice", axes.v[i]);
        seen[list[i]] = true;
    }
    if (b->status != TC_OK)
        return (tc_ints){0, NULL};
    return ti_ints_copy(&b->ctx->arena, list, axes.n && rank ? axes.n : rank);
}
