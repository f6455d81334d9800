/* SPDX-License-Identifier: Apache-2.0 */
/* reduce_rank.c -- typed form: operators on more axes than TOSA has become operators on fewer.
 *
 *   f(x, y)        =>  reshape(f(reshape(x), reshape(y)))   elementwise, broadcast, reductions
 *   permute(x)     =>  the same with axes that stay adjacent merged; where that is not enough, axes
 *                      are moved to the front one by one first
 *   slice, select, cat along an axis  =>  all axes before it as one, all after it as another
 *
 * Axes are merged where every operand has both or is broadcast along both; axes of extent 1 are
 * removed. */
#include "../lower_pass.h"
#include "tile_values.h"
#include "typed_move.h"

#include "../../ir/rewrite.h"

enum { MOST = 6 };

static bool is_deep(const tc_type *t) { return t->rank > MOST; }

static bool is_whole(const tc_type *t) { return !t->quant || t->quant->axis < 0; }

/* Whether the node has a tensor of more axes, and one domain for each. */
static bool concerns(const tc_rewrite *rw, const tc_node *node)
{
    bool deep = false, whole = node->n_out == 1;
    for (int i = 0; i < node->n_in; i++) {
        if (!node->in[i])
            return false;
        deep = deep || is_deep(ti_type_of(rw->from, node->in[i]));
        whole = whole && is_whole(ti_type_of(rw->from, node->in[i]));
    }
    for (int i = 0; i < node->n_out; i++) {
        deep = deep || is_deep(ti_type_of(rw->from, node->out[i]));
        whole = whole && is_whole(ti_type_of(rw->from, node->out[i]));
    }
    return deep && whole;
}

/* The result reshaped to its type: the node is done. */
static tc_status finish(tc_rewrite *rw, const tc_node *node, tc_build *b, tc_val y, bool *done)
{
    const tc_type *t = ti_type_of(rw->from, node->out[0]);
    if (b->status == TC_OK)
        y = ti_typed_reshape(b, y, t->rank, t->dim);
    TC_TRY(b->status);
    return ti_rewrite_with(rw, node, y, done);
}

/* ---- groups of axes ---- */

/* Which group each axis belongs to; groups follow each other. */
typedef struct groups {
    int n, of[TC_MAX_RANK];
} groups;

/* Bit k: operand k has the axis; of extent 1 in all of them, an axis goes with any. */
static groups join(int rank, const uint32_t *key, const bool *idle)
{
    groups g = {0};
    uint32_t last = 0;
    for (int i = 0; i < rank; i++) {
        if (!idle[i] && (g.n == 0 || key[i] != last)) {
            g.n++;
            last = key[i];
        }
        g.of[i] = g.n ? g.n - 1 : 0;
    }
    g.n += g.n == 0;
    return g;
}

/* The extents of t, right-aligned, by group. */
static void extents(const groups *g, int rank, const tc_type *t, int64_t *dim)
{
    for (int i = 0; i < g->n; i++)
        dim[i] = 1;
    for (int i = 0; i < t->rank; i++)
        dim[g->of[i + rank - t->rank]] *= t->dim[i];
}

static tc_val grouped(tc_build *b, const groups *g, int rank, tc_val x)
{
    int64_t dim[TC_MAX_RANK];
    extents(g, rank, ti_type_of(b->g, x), dim);
    return ti_typed_reshape(b, x, g->n, dim);
}

/* ---- elementwise, expand ---- */

static tc_status pointwise(tc_rewrite *rw, const tc_node *node, bool *done)
{
    bool expands = node->op == TC_OP_expand;
    if (!(expands || (tc_ops[node->op].traits & T_ELTWISE)) || node->op == TC_OP_prelu ||
        node->n_in > 8 || !concerns(rw, node))
        return TC_OK;
    const tc_type *y = ti_type_of(rw->from, node->out[0]);
    uint32_t key[TC_MAX_RANK] = {0};
    bool idle[TC_MAX_RANK] = {0};
    for (int i = 0; i < y->rank; i++) {
        idle[i] = y->dim[i] == 1;
        for (int k = 0; k < node->n_in; k++) {
            const tc_type *t = ti_type_of(rw->from, node->in[k]);
            int at = i - (y->rank - t->rank);
            key[i] |= (uint32_t)(at >= 0 && t->dim[at] != 1) << k;
        }
    }
    groups g = join(y->rank, key, idle);
    if (g.n > MOST)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    for (int k = 0; k < node->n_in && b.status == TC_OK; k++)
        in[k] = grouped(&b, &g, y->rank, ti_rewrite_in(rw, node, k));
    int64_t dim[TC_MAX_RANK];
    extents(&g, y->rank, y, dim);
    const void *attr = node->attr;
    if (expands) {
        tc_attr_shape a = {ti_ints_copy(&rw->ctx->arena, dim, g.n)};
        attr = ti_arena_copy(&rw->ctx->arena, &a, sizeof a);
    }
    tc_val v = ti_b_typed(&b, node->op, attr, in, node->n_in, ti_type_dims(rw->ctx, y, g.n, dim));
    return finish(rw, node, &b, v, done);
}

/* ---- reductions ---- */

static tc_status reduce(tc_rewrite *rw, const tc_node *node, bool *done)
{
    bool known = node->op == TC_OP_sum || node->op == TC_OP_mean || node->op == TC_OP_amax ||
                 node->op == TC_OP_amin;
    if (!known || !concerns(rw, node))
        return TC_OK;
    const tc_attr_axes *a = node->attr;
    const tc_type *x = ti_type_of(rw->from, node->in[0]);
    uint32_t key[TC_MAX_RANK] = {0};
    bool idle[TC_MAX_RANK] = {0};
    for (int i = 0; i < a->axes.n; i++)
        key[a->axes.v[i]] = 1;
    for (int i = 0; i < x->rank; i++) {
        idle[i] = x->dim[i] == 1;
        key[i] = a->axes.n ? key[i] : 1;
    }
    groups g = join(x->rank, key, idle);
    if (g.n > MOST)
        return TC_OK;
    int64_t dim[TC_MAX_RANK], axes[TC_MAX_RANK];
    int n = 0;
    extents(&g, x->rank, x, dim);
    for (int i = 0; i < x->rank; i++)
        if (key[i] && !idle[i] && (!n || axes[n - 1] != g.of[i])) {
            axes[n++] = g.of[i];
            dim[g.of[i]] = 1;
        }
    if (!n) /* over axes of extent 1 only */
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    tc_val in = grouped(&b, &g, x->rank, ti_rewrite_in(rw, node, 0));
    tc_attr_axes over = {.axes = ti_ints_copy(&rw->ctx->arena, axes, n), .keepdim = true};
    tc_val v = ti_b_typed(&b, node->op, ti_arena_copy(&rw->ctx->arena, &over, sizeof over), &in, 1,
                          ti_type_dims(rw->ctx, ti_type_of(rw->from, node->out[0]), g.n, dim));
    return finish(rw, node, &b, v, done);
}

/* ---- permutes ---- */

/* The permutation without axes of extent 1, neighbours that stay neighbours as one. */
static int compact(int rank, const int64_t *dim, const int64_t *perm, int64_t *to_dim,
                   int64_t *to_perm)
{
    int group[TC_MAX_RANK], n = 0;
    int64_t last = -2;
    bool starts[TC_MAX_RANK] = {0};
    for (int i = 0; i < rank;
         i++) { /* an axis begins a group unless it follows the one before it */
        if (dim[perm[i]] == 1)
            continue;
        int64_t next = last + 1;
        while (next >= 0 && next < perm[i] && dim[next] == 1)
            next++;
        starts[perm[i]] = next != perm[i];
        last = perm[i];
    }
    for (int i = 0; i < rank; i++) {
        if (dim[i] == 1)
            continue;
        if (starts[i])
            to_dim[n++] = 1;
        group[i] = n - 1;
        to_dim[n - 1] *= dim[i];
    }
    int k = 0;
    for (int i = 0; i < rank; i++)
        if (dim[perm[i]] != 1 && starts[perm[i]])
            to_perm[k++] = group[perm[i]];
    return n;
}

static tc_status permute(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_permute || !concerns(rw, node))
        return TC_OK;
    const tc_type *x = ti_type_of(rw->from, node->in[0]);
    if (!ti_same_quant(x->quant, ti_type_of(rw->from, node->out[0])->quant))
        return TC_OK;
    const int64_t *given = ((const tc_attr_perm *)node->attr)->perm.v;
    int64_t dim[TC_MAX_RANK], perm[TC_MAX_RANK];
    int n = compact(x->rank, x->dim, given, dim, perm);
    tc_build b = ti_build_instead(rw, node);
    tc_val v = ti_rewrite_in(rw, node, 0);
    for (int first = 0; n > MOST; first++) { /* one more axis to its position, after those
                                              * before it */
        int64_t before = 1, between = 1, behind = 1, moved = perm[first];
        for (int i = 0; i < n; i++)
            *(i < first ? &before : i < moved ? &between : &behind) *= i == moved ? 1 : dim[i];
        v = ti_typed_reshape(&b, v, 4, (int64_t[]){before, between, dim[moved], behind});
        v = ti_b_permute(&b, v, (int64_t[]){0, 2, 1, 3});
        int64_t extent = dim[moved], rest[TC_MAX_RANK], order[TC_MAX_RANK];
        memmove(dim + first + 1, dim + first, (size_t)(moved - first) * sizeof *dim);
        dim[first] = extent;
        for (int i = 0; i < n; i++) {
            int64_t p = perm[i];
            order[i] = p == moved ? first : p >= first && p < moved ? p + 1 : p;
        }
        int m = compact(n, dim, order, rest, perm);
        if (m <= MOST) {
            memcpy(dim, rest, sizeof rest);
            n = m;
        } else
            memcpy(perm, order, sizeof order);
    }
    v = ti_b_permute(&b, ti_typed_reshape(&b, v, n, dim), perm);
    return finish(rw, node, &b, v, done);
}

/* ---- along one axis ---- */

/* [before, axis, after] */
static tc_val three(tc_build *b, tc_val x, int64_t axis)
{
    const tc_type *t = ti_type_of(b->g, x);
    int64_t dim[] = {1, t->dim[axis], 1};
    for (int i = 0; i < t->rank; i++)
        if (i != axis)
            dim[i < axis ? 0 : 2] *= t->dim[i];
    return ti_typed_reshape(b, x, 3, dim);
}

static tc_status cut(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if ((node->op != TC_OP_slice && node->op != TC_OP_select) || !concerns(rw, node))
        return TC_OK;
    const tc_type *x = ti_type_of(rw->from, node->in[0]), *y = ti_type_of(rw->from, node->out[0]);
    if (!ti_same_quant(x->quant, y->quant))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    if (node->op == TC_OP_slice) {
        const tc_attr_slice *a = node->attr;
        tc_val v = three(&b, ti_rewrite_in(rw, node, 0), a->axis);
        return finish(rw, node, &b, ti_b_slice(&b, v, 1, a->start, a->end, a->step), done);
    }
    const tc_attr_select *a = node->attr;
    int64_t at = a->index < 0 ? a->index + x->dim[a->axis] : a->index;
    tc_val v = three(&b, ti_rewrite_in(rw, node, 0), a->axis);
    return finish(rw, node, &b, ti_b_slice(&b, v, 1, at, at + 1, 1), done);
}

static tc_status cat(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_cat || !concerns(rw, node))
        return TC_OK;
    const tc_type *y = ti_type_of(rw->from, node->out[0]);
    int64_t axis = ((const tc_attr_axis *)node->attr)->axis, dim[] = {1, y->dim[axis], 1};
    for (int i = 0; i < y->rank; i++)
        if (i != axis)
            dim[i < axis ? 0 : 2] *= y->dim[i];
    tc_build b = ti_build_instead(rw, node);
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)node->n_in);
    for (int k = 0; k < node->n_in && b.status == TC_OK; k++)
        in[k] = three(&b, ti_rewrite_in(rw, node, k), axis);
    tc_attr_axis a = {.axis = 1};
    tc_val v = ti_b_typed(&b, TC_OP_cat, ti_arena_copy(&rw->ctx->arena, &a, sizeof a), in,
                          node->n_in, ti_type_dims(rw->ctx, y, 3, dim));
    return finish(rw, node, &b, v, done);
}

/* A reshape of a reshape: the one in between may be what is too deep. */
static tc_status reshape(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (node->op != TC_OP_reshape)
        return TC_OK;
    const tc_node *inner = ti_rewrite_def(rw, node, 0);
    const tc_type *y = ti_type_of(rw->from, node->out[0]);
    if (!inner || inner->op != TC_OP_reshape || !is_deep(ti_type_of(rw->to, inner->out[0])) ||
        !ti_same_quant(ti_type_of(rw->to, inner->in[0])->quant, y->quant) || !is_whole(y))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    return finish(rw, node, &b, inner->in[0], done);
}

TC_REWRITES(ti_lower_reduce_rank, pointwise, reduce, permute, cut, cat, reshape)
