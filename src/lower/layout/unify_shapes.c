/* SPDX-License-Identifier: Apache-2.0 */
/* unify_shapes.c -- TOSA form: one shape for connected row-wise operators, bit-exact.
 *
 * ADD, RESCALE, TABLE, 1x1 convolutions and reductions along the last axis give the same result for
 * any leading axes of the rows [.., c].  PyTorch regroups them all the time, [1,28,28,c] for
 * windows and [1,784,c] for linear layers, and a value that is read in two shapes may be copied.
 * Values that such operators and reshapes connect get the leading axes of those operators that do
 * depend on them (windows, SLICE, CONCAT, matrix products, inputs and outputs of the region), the
 * most bytes first. */
#include "../../ir/rewrite.h"
#include "../lower_pass.h"
#include "../put.h"

/* The axes before the last one, three of them. */
typedef struct view {
    int64_t dim[3];
} view;

typedef struct vote {
    view want;
    int64_t bytes;
} vote;

enum { VOTES_MAX = 8, EXTENT_MAX = 65535, STACK_LEAST = 4096, HALVES_WIDTH = 32 };

typedef struct group {
    vote vote[VOTES_MAX];
    int n;
    const tc_type *first; /* of its values */
    bool mixed;           /* another one has other leading axes, or they are many and too few */
    bool halved;          /* halves of rows are compared */
    bool fixed;           /* something but a matrix product, which takes any, wants a shape */
} group;

typedef struct views {
    tc_val *root;       /* by old value; TC_NONE: its rows are not counted */
    group *group;       /* by root */
    tc_val *base;       /* by old value: what holds its elements in the new graph */
    const bool *pinned; /* by old value: read from outside */
} views;

static int64_t bytes_of(const tc_type *t)
{
    return (int64_t)tc_type_bytes(t);
}

static int64_t last_of(const tc_type *t)
{
    return t->dim[t->rank - 1];
}

static int64_t rows_of(const tc_type *t)
{
    return tc_type_count(t) / last_of(t);
}

/* The accumulator of a matrix product stays as it is: it never reaches memory. */
static bool has_rows(const tc_graph *g, tc_val v)
{
    const tc_type *t = ti_type_of(g, v);
    const tc_node *def = ti_def(g, v);
    return v && t && !(def && def->op == TC_OP_tosa_matmul) && t->rank >= 2 && !ti_is_const(g, v) &&
           tc_type_count(t) > 0 && (t->dtype == TC_i8 || t->dtype == TC_i16 || t->dtype == TC_i32);
}

static bool same_view(const view *a, const view *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Its leading axes, filled up with leading ones; those that are too many merged from the front. */
static view view_of(const tc_type *t)
{
    view v = {{1, 1, 1}};
    for (int i = t->rank - 2, k = 2; i >= 0; i--, k -= k > 1 || i > 1)
        v.dim[k] *= t->dim[i];
    if (v.dim[0] > 1 && v.dim[1] * v.dim[0] <= EXTENT_MAX)
        v = (view){{1, v.dim[0] * v.dim[1], v.dim[2]}};
    return v;
}

static void ask(group *g, const vote *v)
{
    int i = 0;
    while (i < g->n && !same_view(&g->vote[i].want, &v->want))
        i++;
    if (i == VOTES_MAX)
        return;
    if (i == g->n)
        g->vote[g->n++] = (vote){v->want, 0};
    g->vote[i].bytes += v->bytes;
}

static bool same_rows(const tc_type *a, const tc_type *b)
{
    return a->rank == b->rank &&
           memcmp(a->dim, b->dim, (size_t)(a->rank - 1) * sizeof *a->dim) == 0;
}

/* Several planes of fewer than four axes: machines walk them one by one. */
static bool is_stack(const tc_type *t)
{
    return t->rank == 3 && t->dim[0] > 1 && tc_type_count(t) >= STACK_LEAST;
}

/* The root of v's group (union-find): a root is its own.  Paths are compressed. */
static tc_val group_of(tc_val *root, tc_val v)
{
    while (root[v] != v)
        v = root[v] = root[root[v]];
    return v;
}

static void unite(views *w, tc_val a, tc_val b)
{
    if (!w->root[a] || !w->root[b] ||
        (a = group_of(w->root, a)) == (b = group_of(w->root, b)))
        return;
    w->root[b] = a;
    w->group[a].mixed =
        w->group[a].mixed || w->group[b].mixed || !same_rows(w->group[a].first, w->group[b].first);
    w->group[a].halved = w->group[a].halved || w->group[b].halved;
    w->group[a].fixed = w->group[a].fixed || w->group[b].fixed;
    for (int i = 0; i < w->group[b].n; i++)
        ask(&w->group[a], &w->group[b].vote[i]);
}

/* Inputs and outputs are regrouped for nothing: they only break a tie. */
static void want(views *w, const tc_graph *g, tc_val v, bool border, bool fixed)
{
    if (!w->root[v])
        return;
    w->group[group_of(w->root, v)].fixed = w->group[group_of(w->root, v)].fixed || fixed;
    vote one = {view_of(ti_type_of(g, v)), border ? 1 : bytes_of(ti_type_of(g, v))};
    ask(&w->group[group_of(w->root, v)], &one);
}

/* ---- which operators go row by row ---- */

static bool is_1x1(const tc_graph *g, const tc_node *node)
{
    if (node->op != TC_OP_tosa_conv2d)
        return false;
    const tc_attr_tosa_conv *a = node->attr;
    const tc_type *w = ti_type_of(g, node->in[1]);
    bool plain = ti_is_const(g, node->in[1]) && w->dim[1] == 1 && w->dim[2] == 1;
    for (int i = 0; i < 4; i++)
        plain = plain && a->pad.v[i] == 0 && a->stride.v[i / 2] == 1;
    return plain;
}

/* A slice of every row. */
static bool cuts_rows(const tc_graph *g, const tc_node *node)
{
    if (node->op != TC_OP_tosa_slice || !ti_is_const(g, node->in[1]))
        return false;
    const tc_type *x = ti_type_of(g, node->in[0]), *y = ti_type_of(g, node->out[0]);
    return memcmp(x->dim, y->dim, (size_t)(x->rank - 1) * sizeof *x->dim) == 0;
}

/* Operands that have the result's rows, or one for all of them; 0: it does not go row by row. */
static int row_operands(const tc_graph *g, const tc_node *node)
{
    if (node->n_out != 1 || !has_rows(g, node->out[0]))
        return 0;
    if (is_1x1(g, node) || cuts_rows(g, node))
        return 1;
    if (node->op == TC_OP_tosa_concat)
        return *(const int64_t *)node->attr == ti_type_of(g, node->out[0])->rank - 1 ? node->n_in
                                                                                     : 0;
    if (tc_ops[node->op].traits & T_REDUCES) {
        const tc_type *x = ti_type_of(g, node->in[0]);
        return node->op != TC_OP_tosa_argmax && *(const int64_t *)node->attr == x->rank - 1;
    }
    switch (node->op) {
    case TC_OP_tosa_rescale:
    case TC_OP_tosa_table:
    case TC_OP_tosa_negate:
        return 1;
    case TC_OP_tosa_mul:
        return 2;
    default:
        return node->op >= TC_OP_tosa_argmax && (tc_ops[node->op].traits & T_ELTWISE) ? node->n_in
                                                                                      : 0;
    }
}

static bool one_for_all(const tc_type *x)
{
    return x->rank == 0 || tc_type_count(x) == last_of(x);
}

/* Every operand has the same leading axes as the result, or none. */
static bool goes_by_rows(const tc_graph *g, const tc_node *node)
{
    int n = row_operands(g, node);
    const tc_type *y = ti_type_of(g, node->out[0]);
    for (int i = 0; i < n; i++) {
        const tc_type *x = ti_type_of(g, node->in[i]);
        bool alike = x->rank == y->rank && x->rank > 0 &&
                     memcmp(x->dim, y->dim, (size_t)(x->rank - 1) * sizeof *x->dim) == 0;
        if (!one_for_all(x) && !alike)
            return false;
        if (!ti_is_const(g, node->in[i]) && !has_rows(g, node->in[i]))
            return false;
    }
    return n > 0;
}

static bool regroups(const tc_graph *g, const tc_node *node)
{
    return node->op == TC_OP_tosa_reshape && has_rows(g, node->in[0]) &&
           has_rows(g, node->out[0]) &&
           last_of(ti_type_of(g, node->in[0])) == last_of(ti_type_of(g, node->out[0]));
}

/* A matrix product, and the rescale that is part of it: its rows are reshaped for
 * nothing. */
static bool takes_any(const tc_graph *g, const tc_node *node)
{
    const tc_node *made = node->op == TC_OP_tosa_rescale ? ti_def(g, node->in[0]) : node;
    return made && made->op == TC_OP_tosa_matmul;
}

static void look(views *w, const tc_graph *g)
{
    for (tc_val v = 1; v < g->n_val; v++)
        if (has_rows(g, v)) {
            const tc_type *t = ti_type_of(g, v);
            w->root[v] = v;
            w->group[v] = (group){.first = t, .mixed = is_stack(t)};
        }
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool by_rows = node->n_out == 1 && goes_by_rows(g, node);
        if (by_rows || regroups(g, node)) {
            int n = by_rows ? row_operands(g, node) : 1;
            for (int i = 0; i < n; i++)
                if (!one_for_all(ti_type_of(g, node->in[i])) ||
                    one_for_all(ti_type_of(g, node->out[0])))
                    unite(w, node->in[i], node->out[0]);
            if (node->op == TC_OP_tosa_maximum && w->root[node->out[0]])
                w->group[group_of(w->root, node->out[0])].halved = true;
            continue;
        }
        if (node->op == TC_OP_tosa_reshape)
            continue; /* any shape will do */
        for (int i = 0; i < node->n_in; i++)
            want(w, g, node->in[i], false, !takes_any(g, node));
        for (int i = 0; i < node->n_out; i++)
            want(w, g, node->out[i], false, !takes_any(g, node));
    }
    for (size_t i = 0; i < g->n_in; i++)
        want(w, g, g->in[i], true, true);
    for (tc_val v = 1; v < g->n_val; v++)
        if (w->pinned[v])
            want(w, g, v, true, true);
}

/* Rows as a narrow plane: halves of wider planes are read at two thirds of the speed. */
static view narrow_view(int64_t rows)
{
    int64_t width = HALVES_WIDTH;
    while (rows % width)
        width--;
    return (view){{1, rows / width, width}};
}

/* The shape that the value's group has chosen; false: its own. */
static bool chosen(views *w, const tc_graph *g, tc_val v, int64_t *dim)
{
    if (!w->root[v])
        return false;
    const tc_type *t = ti_type_of(g, v);
    const group *c = &w->group[group_of(w->root, v)];
    view best = {{1, 1, rows_of(t)}};
    int64_t most = 0;
    bool narrow = c->halved && !c->fixed;
    if (!c->mixed && !narrow)
        return false;
    for (int i = 0; i < c->n; i++) {
        const view *d = &c->vote[i].want;
        if (c->vote[i].bytes > most && d->dim[0] * d->dim[1] * d->dim[2] == rows_of(t)) {
            best = *d;
            most = c->vote[i].bytes;
        }
    }
    if (narrow)
        best = narrow_view(rows_of(t));
    if (best.dim[1] > EXTENT_MAX || best.dim[2] > EXTENT_MAX)
        return false;
    memcpy(dim, best.dim, sizeof best.dim);
    dim[3] = last_of(t);
    return true;
}

/* ---- the new graph ---- */

/* The old value's elements in some shape. */
static tc_val formed(views *w, tc_rewrite *rw, tc_build *lw, tc_val old, int rank,
                     const int64_t *dim)
{
    tc_val v = w->base[old] ? w->base[old] : rw->now[old];
    const tc_type *t = ti_type_of(rw->to, v);
    bool same = t->rank == rank && memcmp(t->dim, dim, (size_t)rank * sizeof *dim) == 0;
    const tc_node *def = ti_def(rw->to, v);
    if (!same && def && def->op == TC_OP_tosa_reshape)
        v = def->in[0];
    return same ? v : ti_b_tosa_reshape(lw, v, rank, dim);
}

/* What is read from outside is there in its own shape, with its own type. */
static tc_status settle(views *w, tc_rewrite *rw, const tc_node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        tc_val old = node->out[i];
        const tc_type *type = ti_type_of(rw->from, old);
        if (!w->pinned[old] || !w->base[old])
            continue;
        tc_build lw = ti_build_instead(rw, node);
        tc_val v = formed(w, rw, &lw, old, type->rank, type->dim);
        const tc_type *now = v ? ti_type_of(rw->to, v) : NULL;
        if (v && now != type && now->quant)
            v = ti_b_tosa_identity(&lw, v);
        TC_TRY(lw.status);
        rw->to->val[v]->type = type;
        rw->now[old] = v;
    }
    return TC_OK;
}

static tc_status by_rows(views *w, tc_rewrite *rw, const tc_node *node, const int64_t *dim)
{
    tc_build lw = ti_build_instead(rw, node);
    const tc_type *y = ti_type_of(rw->from, node->out[0]);
    int n = row_operands(rw->from, node);
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in && lw.status == TC_OK; i++) {
        const tc_type *x = ti_type_of(rw->from, node->in[i]);
        int64_t shape[] = {1, 1, 1, 1};
        in[i] = rw->now[node->in[i]];
        if (i >= n)
            continue;
        if (!one_for_all(x) || one_for_all(y))
            memcpy(shape, dim, 3 * sizeof *shape);
        shape[3] = x->rank ? last_of(x) : 1;
        in[i] = formed(w, rw, &lw, node->in[i], 4, shape);
    }
    if (node->op == TC_OP_tosa_slice) {
        const tc_type *x = ti_type_of(rw->from, node->in[0]);
        int64_t from[4] = {0};
        from[3] = ((const int64_t *)rw->from->val[node->in[1]]->data)[x->rank - 1];
        in[1] = ti_b_shape(&lw, 4, from);
        in[2] = ti_b_shape(&lw, 4, dim);
    }
    TC_TRY(lw.status);
    const void *attr = node->attr;
    if (tc_ops[node->op].attr == TC_ATTR_tosa_axis_nan) {
        tc_attr_tosa_axis_nan a = *(const tc_attr_tosa_axis_nan *)attr;
        a.axis = 3;
        attr = ti_arena_copy(&rw->ctx->arena, &a, sizeof a);
    } else if (tc_ops[node->op].attr == TC_ATTR_tosa_axis) {
        tc_attr_tosa_axis a = {3};
        attr = ti_arena_copy(&rw->ctx->arena, &a, sizeof a);
    }
    tc_node *made = ti_graph_add(rw->to, node->op, attr, in, node->n_in, 1, node->loc);
    tc_value *value = rw->to->val[made->out[0]];
    value->type = ti_type_make(rw->ctx, y->dtype, 4, dim);
    value->name = rw->from->val[node->out[0]]->name;
    TC_TRY(ti_node_infer(rw->to, made));
    w->base[node->out[0]] = made->out[0];
    return TC_OK;
}

/* Joins and slices of fewer than four axes, with leading ones; false: it is none. */
static bool with_ones(views *w, tc_rewrite *rw, const tc_node *node, tc_status *status)
{
    bool joins = node->op == TC_OP_tosa_concat;
    if (!joins && node->op != TC_OP_tosa_slice)
        return false;
    const tc_graph *g = rw->from;
    const tc_type *y = ti_type_of(g, node->out[0]);
    int more = 4 - y->rank, n = joins ? node->n_in : 1;
    bool known = joins || (ti_is_const(g, node->in[1]) && ti_is_const(g, node->in[2]));
    int64_t shape[4];
    if (more <= 0 || y->rank == 0 || !known || !chosen(w, g, node->out[0], shape))
        return false;
    tc_build lw = ti_build_instead(rw, node);
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    for (int i = 0; i < n && lw.status == TC_OK; i++) {
        const tc_type *x = ti_type_of(g, node->in[i]);
        int64_t dim[4] = {1, 1, 1, 1};
        memcpy(dim + more, x->dim, (size_t)x->rank * sizeof *dim);
        in[i] = formed(w, rw, &lw, node->in[i], 4, dim);
    }
    const void *attr = node->attr;
    if (joins) {
        tc_attr_tosa_axis a = {((const tc_attr_tosa_axis *)attr)->axis + more};
        attr = ti_arena_copy(&rw->ctx->arena, &a, sizeof a);
    }
    for (int k = 1; k < 3 && !joins; k++) {
        int64_t v[4] = {k - 1, k - 1, k - 1, k - 1};
        memcpy(v + more, g->val[node->in[k]]->data, (size_t)y->rank * sizeof *v);
        in[k] = ti_b_shape(&lw, 4, v);
    }
    w->base[node->out[0]] = rw->now[node->out[0]] = ti_b_op(&lw, node->op, attr, in, node->n_in);
    *status = lw.status;
    return true;
}

/* As it is; what is read from outside has its own shape and type already. */
static tc_status strictly(views *w, tc_rewrite *rw, const tc_node *node)
{
    tc_build lw = ti_build_instead(rw, node);
    for (int i = 0; i < node->n_in && lw.status == TC_OK; i++) {
        const tc_type *x = ti_type_of(rw->from, node->in[i]);
        if (w->base[node->in[i]] && !w->pinned[node->in[i]])
            rw->now[node->in[i]] = formed(w, rw, &lw, node->in[i], x->rank, x->dim);
    }
    TC_TRY(lw.status);
    ti_rewrite_copy(rw, node);
    return TC_OK;
}

static tc_status place(tc_rewrite *rw, const tc_node *node, bool *done)
{
    views *w = rw->user;
    const tc_graph *g = rw->from;
    int64_t dim[4];
    *done = true;
    if (node->op == TC_OP_tosa_reshape && w->root[node->in[0]]) {
        const tc_type *y = ti_type_of(g, node->out[0]);
        bool regrouped = regroups(g, node) && chosen(w, g, node->out[0], dim);
        tc_build lw = ti_build_instead(rw, node);
        w->base[node->out[0]] = regrouped ? formed(w, rw, &lw, node->in[0], 4, dim)
                                          : formed(w, rw, &lw, node->in[0], y->rank, y->dim);
        TC_TRY(lw.status);
        rw->now[node->out[0]] = w->base[node->out[0]];
        return settle(w, rw, node);
    }
    if (node->n_out == 1 && goes_by_rows(g, node) && chosen(w, g, node->out[0], dim)) {
        TC_TRY(by_rows(w, rw, node, dim));
        rw->now[node->out[0]] = w->base[node->out[0]];
        return settle(w, rw, node);
    }
    tc_status status;
    if (node->n_out == 1 && with_ones(w, rw, node, &status)) {
        TC_TRY(status);
        return settle(w, rw, node);
    }
    return strictly(w, rw, node);
}

tc_status ti_lower_unify_shapes(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {place};
    tc_status status = TC_OK;
    for (size_t i = 0; i < module->n_graph && status == TC_OK; i++) {
        tc_graph *g = module->graph[i];
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        views w = {.root = tc_new_n(&ctx->scratch, tc_val, g->n_val),
                   .group = tc_new_n(&ctx->scratch, group, g->n_val),
                   .base = tc_new_n(&ctx->scratch, tc_val, g->n_val),
                   .pinned = ti_graph_pinned(ctx, g)};
        look(&w, g);
        status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), &w);
        ti_arena_rewind(&ctx->scratch, mark);
    }
    return status;
}
