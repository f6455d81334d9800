/* SPDX-License-Identifier: Apache-2.0 */
/* layout.c -- orders of axes: reshapes that keep numbers in place; and random TOSA graphs full of
 * transposes and maps through layout and merge, before and after alike to the last bit. */
#include "check.h"

#include "run/eval.h"
#include "drive/passes.h"
#include "ir/ir_text.h"
#include "lower/layout/axis_order.h"
#include "lower/layout/strided_slice.h"

static uint64_t seed;

static uint32_t dice(uint32_t sides)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(seed >> 33) % sides;
}

/* ---- orders ---- */

static tc_order order(int rank, const uint8_t *at)
{
    tc_order p = {.rank = rank};
    memcpy(p.at, at, (size_t)rank);
    return p;
}

static void reshapes(void)
{
    /* [1,c,h,w] stored channels last: h and w merge, c and h do not */
    tc_order p = order(4, (uint8_t[]){0, 3, 1, 2}), q;
    int64_t from[] = {1, 8, 4, 5};
    CHECK(ti_order_reshape(&p, from, 3, (int64_t[]){1, 8, 20}, &q));
    CHECK(q.at[0] == 0 && q.at[1] == 2 && q.at[2] == 1);
    CHECK(!ti_order_reshape(&p, from, 3, (int64_t[]){1, 32, 5}, &q));
    CHECK(!ti_order_reshape(&p, from, 1, (int64_t[]){160}, &q));
    CHECK(ti_order_reshape(&p, from, 6, (int64_t[]){1, 2, 4, 1, 4, 5}, &q));
    int64_t wide[] = {1, 2, 4, 1, 4, 5}, stored[6];
    ti_order_dims(&q, wide, stored);
    CHECK(stored[0] == 1 && stored[1] == 4 && stored[2] == 5 && stored[3] == 2 && stored[4] == 4);
    /* one position: a vector */
    CHECK(ti_order_reshape(&p, (int64_t[]){1, 8, 1, 1}, 2, (int64_t[]){1, 8}, &q));
    CHECK(q.at[0] == 0 && q.at[1] == 1);
    CHECK(ti_perm_is_reshape(4, (int64_t[]){1, 8, 1, 1}, (int64_t[]){0, 2, 3, 1}));
    CHECK(!ti_perm_is_reshape(4, (int64_t[]){1, 8, 2, 1}, (int64_t[]){0, 2, 3, 1}));
}

static tc_type dims(int rank, const int64_t *dim)
{
    tc_type t = {.dtype = TC_i8, .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    return t;
}

static bool is_range(tc_range r, int64_t start, int64_t count, int64_t step)
{
    return r.start == start && r.count == count && r.step == step;
}

static void selections(void)
{
    tc_type windows = dims(3, (int64_t[]){16, 49, 5}),
            split = dims(6, (int64_t[]){1, 4, 4, 7, 7, 5});
    tc_type grid = dims(6, (int64_t[]){1, 4, 7, 4, 7, 5}),
            plane = dims(4, (int64_t[]){1, 28, 28, 5});
    tc_select s = ti_select_all(&windows), t;
    s.axis[0] = (tc_range){6, 1, 1}; /* window 1, 2 */
    CHECK(ti_select_reshape(&s, &windows, &split, &t));
    CHECK(is_range(t.axis[1], 1, 1, 1) && is_range(t.axis[2], 2, 1, 1) &&
          is_range(t.axis[3], 0, 7, 1));
    tc_range swap = t.axis[2];
    t.axis[2] = t.axis[3];
    t.axis[3] = swap;
    CHECK(ti_select_reshape(&t, &grid, &plane, &s));
    CHECK(is_range(s.axis[1], 7, 7, 1) && is_range(s.axis[2], 14, 7, 1) &&
          is_range(s.axis[3], 0, 5, 1));
    /* one place of every patch: strided */
    t = ti_select_all(&grid);
    t.axis[2] = (tc_range){3, 1, 1};
    CHECK(ti_select_reshape(&t, &grid, &plane, &s));
    CHECK(is_range(s.axis[1], 3, 4, 7) && is_range(s.axis[2], 0, 28, 1));
    CHECK(ti_select_reshape(&s, &plane, &grid, &t));
    CHECK(is_range(t.axis[1], 0, 4, 1) && is_range(t.axis[2], 3, 1, 1));
    /* a part of each of two factors is no range */
    t = ti_select_all(&grid);
    t.axis[1].count = t.axis[2].count = 2;
    CHECK(!ti_select_reshape(&t, &grid, &plane, &s));
}

/* ---- random graphs ---- */

typedef struct maker {
    tc_ctx *ctx;
    tc_graph *g;
    tc_val pool[64]; /* i8 values */
    uint32_t n_pool;
} maker;

static tc_val emit(maker *m, tc_op op, const void *attr, const tc_val *in, int n)
{
    tc_node *node;
    CHECK(ti_graph_emit(m->g, op, attr, in, n, 1, NULL, &node) == TC_OK);
    return node->out[0];
}

static const tc_type *type_of(const maker *m, tc_val v) { return ti_type_of(m->g, v); }

static tc_val constant(maker *m, tc_dtype dtype, int rank, const int64_t *dim)
{
    const tc_type *type = ti_type_make(m->ctx, dtype, rank, dim);
    int8_t *data = ti_arena_raw(&m->ctx->arena, tc_type_bytes(type));
    for (size_t i = 0; i < tc_type_bytes(type); i++)
        data[i] = (int8_t)dice(256);
    return ti_graph_const(m->g, type, data, NULL, NULL);
}

static tc_val shape(maker *m, int n, const int64_t *v)
{
    int64_t dim = n;
    return ti_graph_const(m->g, ti_type_make(m->ctx, TC_shape, 1, &dim),
                          ti_arena_copy(&m->ctx->arena, v, (size_t)n * sizeof *v), NULL, NULL);
}

static tc_val single(maker *m, tc_dtype dtype, int64_t v)
{
    int64_t one = 1;
    const tc_type *type = ti_type_make(m->ctx, dtype, 1, &one);
    return ti_graph_const(m->g, type, ti_arena_copy(&m->ctx->arena, &v, tc_dtypes[dtype].bytes),
                          NULL, NULL);
}

static tc_val transpose(maker *m, tc_val x)
{
    int64_t perm[TC_MAX_RANK] = {0};
    int rank = type_of(m, x)->rank;
    for (int i = 0; i < rank; i++) {
        int k = (int)dice((uint32_t)i + 1);
        perm[i] = perm[k];
        perm[k] = i;
    }
    tc_attr_tosa_perms *a = tc_new(&m->ctx->arena, tc_attr_tosa_perms);
    a->perms = ti_ints_copy(&m->ctx->arena, perm, rank);
    return emit(m, TC_OP_tosa_transpose, a, &x, 1);
}

static tc_val rescale(maker *m, tc_val x, tc_dtype to, int shift, bool per_channel)
{
    const tc_type *t = type_of(m, x);
    int64_t n = per_channel ? t->dim[t->rank - 1] : 1;
    int32_t *mult = tc_new_n(&m->ctx->arena, int32_t, (size_t)n);
    int8_t *sh = tc_new_n(&m->ctx->arena, int8_t, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        mult[i] = (1 << 30) + (int32_t)(i % 64) * 12345678;
        sh[i] = (int8_t)shift;
    }
    tc_attr_tosa_rescale *a = tc_new(&m->ctx->arena, tc_attr_tosa_rescale);
    *a = (tc_attr_tosa_rescale){
        .scale32 = true, .rounding_mode = TC_rounding_single, .per_channel = per_channel};
    tc_val in[] = {x, ti_graph_const(m->g, ti_type_make(m->ctx, TC_i32, 1, &n), mult, NULL, NULL),
                   ti_graph_const(m->g, ti_type_make(m->ctx, TC_i8, 1, &n), sh, NULL, NULL),
                   single(m, t->dtype, 0), single(m, to, 0)};
    tc_node *node = ti_graph_add(m->g, TC_OP_tosa_rescale, a, in, 5, 1, NULL);
    m->g->val[node->out[0]]->type = ti_type_make(m->ctx, to, t->rank, t->dim);
    CHECK(ti_node_infer(m->g, node) == TC_OK);
    return node->out[0];
}

/* x + y, y of x's shape, or a constant with some extents 1 */
static tc_val sum(maker *m, tc_val x, tc_val y)
{
    const tc_type *t = type_of(m, x);
    if (!ti_same_dims(t, type_of(m, y))) {
        int64_t dim[TC_MAX_RANK];
        for (int i = 0; i < t->rank; i++)
            dim[i] = dice(2) ? 1 : t->dim[i];
        y = constant(m, TC_i8, t->rank, dim);
    }
    tc_val in[] = {rescale(m, x, TC_i32, 11, false), rescale(m, y, TC_i32, 12, false)};
    return rescale(m, emit(m, TC_OP_tosa_add, NULL, in, 2), TC_i8, 50, dice(2));
}

static tc_val window(maker *m, tc_val x)
{
    tc_attr_tosa_max_pool *a = tc_new(&m->ctx->arena, tc_attr_tosa_max_pool);
    const tc_type *t = type_of(m, x);
    if (t->rank != 4)
        return transpose(m, x);
    *a = (tc_attr_tosa_max_pool){.kernel = ti_ints_copy(&m->ctx->arena, (int64_t[]){2, 2}, 2),
                                 .stride = ti_ints_copy(&m->ctx->arena, (int64_t[]){1, 1}, 2),
                                 .pad = ti_ints_copy(&m->ctx->arena, (int64_t[]){1, 0, 1, 0}, 4),
                                 .nan_mode = TC_nan_mode_propagate};
    return emit(m, TC_OP_tosa_max_pool2d, a, &x, 1);
}

static tc_val axis_op(maker *m, tc_val x)
{
    tc_attr_tosa_axis_nan *a = tc_new(&m->ctx->arena, tc_attr_tosa_axis_nan);
    *a = (tc_attr_tosa_axis_nan){.axis = dice((uint32_t)type_of(m, x)->rank),
                                 .nan_mode = TC_nan_mode_propagate};
    if (dice(2))
        return emit(m, TC_OP_tosa_reduce_max, a, &x, 1);
    tc_attr_tosa_axis *b = tc_new(&m->ctx->arena, tc_attr_tosa_axis);
    b->axis = a->axis;
    tc_val in[] = {x, x};
    bool joins = tc_type_count(type_of(m, x)) < 1000 && dice(2);
    return emit(m, joins ? TC_OP_tosa_concat : TC_OP_tosa_reverse, b, in, joins ? 2 : 1);
}

static tc_val shaped(maker *m, tc_val x)
{
    const tc_type *t = type_of(m, x);
    int64_t a[2 * TC_MAX_RANK], b[TC_MAX_RANK];
    uint32_t what = dice(3);
    for (int i = 0; i < t->rank; i++) {
        a[i] = what == 0 ? (int64_t)dice((uint32_t)t->dim[i])
                         : 1 + (dice(4) == 0 && tc_type_count(t) < 500);
        b[i] = t->dim[i] - a[i];
    }
    if (what == 0)
        return emit(m, TC_OP_tosa_slice, NULL,
                    (tc_val[]){x, shape(m, t->rank, a), shape(m, t->rank, b)}, 3);
    if (what == 1)
        return emit(m, TC_OP_tosa_tile, NULL, (tc_val[]){x, shape(m, t->rank, a)}, 2);
    for (int i = 0; i < 2 * t->rank; i++)
        a[i] = tc_type_count(t) < 500 ? dice(2) : 0;
    return emit(m, TC_OP_tosa_pad, NULL,
                (tc_val[]){x, shape(m, 2 * t->rank, a), single(m, TC_i8, 3)}, 3);
}

/* Neighbouring axes merged, or an even one split. */
static tc_val reshaped(maker *m, tc_val x)
{
    const tc_type *t = type_of(m, x);
    int64_t dim[TC_MAX_RANK];
    int n = 0;
    for (int i = 0; i < t->rank; i++) {
        if (n && t->rank > 2 && dice(3) == 0) {
            dim[n - 1] *= t->dim[i];
        } else if (t->rank < 5 && t->dim[i] % 2 == 0 && dice(3) == 0 && n < 4) {
            dim[n++] = 2;
            dim[n++] = t->dim[i] / 2;
        } else {
            dim[n++] = t->dim[i];
        }
    }
    return n > 6 ? x : emit(m, TC_OP_tosa_reshape, NULL, (tc_val[]){x, shape(m, n, dim)}, 2);
}

static tc_val mapped(maker *m, tc_val x)
{
    if (dice(2))
        return emit(m, TC_OP_tosa_table, NULL,
                    (tc_val[]){x, constant(m, TC_i8, 1, (int64_t[]){256})}, 2);
    tc_attr_tosa_clamp *a = tc_new(&m->ctx->arena, tc_attr_tosa_clamp);
    *a = (tc_attr_tosa_clamp){
        .min_val = -(double)dice(128), .max_val = dice(128), .nan_mode = TC_nan_mode_propagate};
    return emit(m, TC_OP_tosa_clamp, a, &x, 1);
}

static tc_val step(maker *m)
{
    tc_val x = m->pool[dice(m->n_pool)];
    switch (dice(12)) {
    case 0:
    case 1:
    case 2:
        return transpose(m, x);
    case 3:
        return reshaped(m, x);
    case 4:
        return shaped(m, x);
    case 5:
        return axis_op(m, x);
    case 6:
        return window(m, x);
    case 7:
    case 8:
        return mapped(m, dice(2) ? m->pool[m->n_pool - 1] : x);
    case 9:
        return rescale(m, x, TC_i8, 30, dice(2));
    default:
        return sum(m, x, m->pool[dice(m->n_pool)]);
    }
}

static void random_graph(uint64_t s)
{
    maker m = {.ctx = tc_ctx_new()};
    tc_module *module = ti_module_new(m.ctx, "random");
    m.g = ti_graph_new(module, "main");
    seed = s;
    int64_t dim[] = {1 + dice(2), 1 + dice(5), 2 + dice(4), 1 + dice(5)};
    const tc_type *type = ti_type_make(m.ctx, TC_i8, 4, dim);
    for (int i = 0; i < 2; i++)
        m.pool[m.n_pool++] = ti_graph_input(m.g, type, NULL);
    for (int i = 0; i < 14; i++) {
        tc_val v = step(&m);
        m.pool[m.n_pool++] = v;
    }
    for (int i = 0; i < 3; i++)
        ti_graph_output(m.g, m.pool[m.n_pool - 1 - dice(4)]);
    tc_tensor in[2], before[3], after[3];
    for (int i = 0; i < 2; i++) {
        in[i] = ti_tensor_new(&m.ctx->arena, type);
        for (int64_t k = 0; k < tc_type_count(type); k++)
            ((int8_t *)in[i].data)[k] = (int8_t)dice(256);
    }
    CHECK(ti_eval(m.g, in, before, &m.ctx->arena) == TC_OK);
    bool good = ti_run_passes(m.ctx, module, "tosa", NULL) == TC_OK &&
                ti_eval(m.g, in, after, &m.ctx->arena) == TC_OK;
    for (int i = 0; good && i < 3; i++)
        good = before[i].type == after[i].type &&
               memcmp(before[i].data, after[i].data, tc_type_bytes(after[i].type)) == 0;
    CHECK(good);
    if (!good)
        fprintf(stderr, "seed %d: %s\n", (int)s, tc_diagnostics(m.ctx));
    tc_ctx_free(m.ctx);
}

int main(void)
{
    reshapes();
    selections();
    for (uint64_t s = 1; s <= 400; s++)
        random_graph(s);
    return check_done();
}
