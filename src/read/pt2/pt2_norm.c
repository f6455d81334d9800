/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_norm.c -- importers of norms, distances, and powers of matrices. */
#include <math.h>

#include "pt2.h"

/* ---- norms of vectors and matrices ---- */

/* The arguments of linalg_norm, linalg_matrix_norm and linalg_vector_norm. */
typedef struct norm_asked {
    tc_val x;
    tc_ints axes; /* one: vectors; two: matrices, rows first */
    bool has_order;
    double order;
} norm_asked;

static norm_asked norm_of(tc_pt2_node *n)
{
    norm_asked a = {.x = ti_pt2_tensor(n, "self"), .order = 2};
    TC_STOP_WITH(&n->m, a);
    a.x = ti_b_cast(&n->m, a.x, ti_pt2_dtype(n, "dtype", ti_b_type(&n->m, a.x)->dtype));
    bool named = ti_text_ends(n->target, "str") || ti_text_ends(n->target, "str_ord");
    const char *word = named ? ti_pt2_text(n, "ord", "fro") : "fro";
    if (!ti_text_eq(word, "fro"))
        ti_b_unsupported(&n->m, "a norm that is made of singular values");
    a.has_order = !named && ti_pt2_has(n, "ord");
    if (a.has_order)
        a.order = ti_pt2_float(n, "ord", 2);
    a.axes = ti_pt2_ints(n, "dim");
    static const int64_t last[] = {-2, -1};
    if (!a.axes.n && n->row->extra != 0)
        a.axes = (tc_ints){2, (int64_t *)(uintptr_t)last};
    TC_STOP_WITH(&n->m, a);
    a.axes = ti_b_axes(&n->m, a.axes, ti_b_type(&n->m, a.x)->rank);
    return a;
}

/* The largest (smallest) sum of sizes: of a column for order 1 (-1), of a row for infinity. */
static tc_val matrix_norm(tc_pt2_node *n, const norm_asked *a)
{
    bool columns = fabs(a->order) == 1, endless = isinf(a->order);
    if (!columns && !endless) {
        ti_b_unsupported(&n->m, "a norm that is made of singular values");
        return TC_NONE;
    }
    int64_t added = a->axes.v[columns ? 0 : 1], other = a->axes.v[columns ? 1 : 0];
    tc_val sums = ti_b_reduce(&n->m, TC_OP_sum, ti_b_abs(&n->m, a->x), &added, 1, true);
    return ti_b_reduce(&n->m, a->order > 0 ? TC_OP_amax : TC_OP_amin, sums, &other, 1, true);
}

/* Without an order: the root of the sum of squares, of vectors and matrices. */
static void import_norm(tc_pt2_node *n)
{
    norm_asked a = norm_of(n);
    TC_STOP(&n->m);
    tc_val y = a.has_order && a.axes.n == 2
                   ? matrix_norm(n, &a)
                   : ti_b_1(&n->m, norm, ti_b_attr(&n->m, norm, a.axes, true, a.order), a.x);
    if (n->m.status == TC_OK)
        ti_pt2_bind(n, 0, ti_b_reshape_as(&n->m, y, ti_pt2_result_type(n, 0)));
}

/* Every slice along an axis made shorter, down to a norm. */
static void import_renorm(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    double p = ti_pt2_float(n, "p", 2), most = ti_pt2_float(n, "maxnorm", 0);
    int64_t dim = ti_pt2_need_int(n, "dim"), axis[TC_MAX_RANK];
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, x)->rank, own = ti_b_axis(&n->m, dim, rank), count = 0;
    for (int i = 0; i < rank; i++)
        if (i != own)
            axis[count++] = i;
    tc_ints axes = ti_ints_copy(&n->m.ctx->arena, axis, count);
    tc_val length = ti_b_1(&n->m, norm, ti_b_attr(&n->m, norm, axes, true, p), x);
    tc_val limit = ti_b_number(&n->m, length, most);
    tc_val factor = ti_b_div(&n->m, limit, ti_b_add_n(&n->m, length, 1e-7));
    tc_val longer = ti_b_gt(&n->m, length, limit);
    factor = ti_b_where(&n->m, longer, factor, ti_b_number(&n->m, length, 1));
    ti_pt2_result(n, ti_b_mul(&n->m, x, factor));
}

/* ---- distances ---- */

/* Of every row to every later one. */
static void import_pdist(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    double p = ti_pt2_float(n, "p", 2);
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    int64_t rows = t->rank == 2 ? t->dim[0] : 0, count = rows * (rows - 1) / 2, k = 0;
    if (t->rank != 2 || rows > 4096) {
        ti_b_unsupported(&n->m, "distances of other than up to 4096 rows");
        return;
    }
    int64_t *first = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)count + 1),
            *second = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)count + 1);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = i + 1; j < rows; j++) {
            first[k] = i;
            second[k++] = j;
        }
    tc_val a = ti_b_index_select(&n->m, x, ti_b_list(&n->m, first, count), 0);
    tc_val b = ti_b_index_select(&n->m, x, ti_b_list(&n->m, second, count), 0);
    tc_ints axes = ti_ints_fill(&n->m.ctx->arena, 1, 1);
    const void *attr = ti_b_attr(&n->m, norm, axes, false, p);
    ti_pt2_result(n, ti_b_1(&n->m, norm, attr, ti_b_sub(&n->m, a, b)));
}

/* ---- products ---- */

/* x to the n-th by squaring. */
static void import_matrix_power(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), y = TC_NONE;
    int64_t power = ti_pt2_need_int(n, "n");
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, x);
    if (power < 0)
        ti_b_unsupported(&n->m, "a power of an inverse matrix");
    if (power == 0 && t->rank >= 2) {
        int64_t side = t->dim[t->rank - 1];
        tc_val one = ti_b_0(&n->m, eye, ti_b_attr(&n->m, eye, side, side, t->dtype));
        y = ti_b_expand_as(&n->m, one, t);
    }
    for (; power > 0 && n->m.status == TC_OK; power /= 2) {
        if (power % 2)
            y = y ? ti_b_matmul(&n->m, y, x) : ti_b_identity(&n->m, x);
        if (power > 1)
            x = ti_b_matmul(&n->m, x, x);
    }
    ti_pt2_result(n, y);
}

/* Where no axis is named it is the last (extra: the first of extent 3). */
static void import_cross(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), y = ti_pt2_tensor(n, "other");
    int64_t dim = ti_pt2_int(n, "dim", -1);
    TC_STOP(&n->m);
    const tc_type *t = ti_pt2_result_type(n, 0);
    int axis = ti_b_axis(&n->m, dim, t->rank);
    bool first = n->row->extra != 0 && !ti_pt2_has(n, "dim");
    for (int i = t->rank; i-- && first;)
        axis = t->dim[i] == 3 ? i : axis;
    x = ti_b_expand_as(&n->m, x, t);
    y = ti_b_expand_as(&n->m, y, t);
    tc_val turned[2][2];
    for (int64_t i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            int64_t by = -1 - i, along = axis;
            const void *attr =
                ti_b_attr(&n->m, roll, ti_ints_copy(&n->m.ctx->arena, &by, 1),
                          ti_ints_copy(&n->m.ctx->arena, &along, 1));
            turned[i][k] = ti_b_1(&n->m, roll, attr, k ? y : x);
        }
    tc_val left = ti_b_mul(&n->m, turned[0][0], turned[1][1]);
    tc_val right = ti_b_mul(&n->m, turned[1][0], turned[0][1]);
    ti_pt2_result(n, ti_b_sub(&n->m, left, right));
}

const tc_pt2_row tc_pt2_norm[] = {
    ROW("linalg_norm linalg_norm.ord_str", import_norm, norm, 0),
    ROW("linalg_matrix_norm linalg_matrix_norm.str_ord", import_norm, norm, 1),
    ROW("renorm", import_renorm, norm, 0),
    ROW("pdist _pdist_forward", import_pdist, norm, 0),
    ROW("matrix_power linalg_matrix_power", import_matrix_power, matmul, 0),
    ROW("linalg_cross", import_cross, sub, 0),
    ROW("cross", import_cross, sub, 1),
    {0},
};
