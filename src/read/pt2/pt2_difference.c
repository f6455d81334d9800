/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_difference.c -- importers of differences of neighbours and of areas under them. */
#include "../../num/load.h"
#include "pt2.h"

/* Differences of neighbours, n times; prepended and appended elements take part. */
static void import_diff(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), ends[3] = {ti_pt2_tensor_opt(n, "prepend"), x};
    ends[2] = ti_pt2_tensor_opt(n, "append");
    int64_t times = ti_pt2_int(n, "n", 1), dim = ti_pt2_int(n, "dim", -1);
    TC_STOP(&n->m);
    int64_t axis = ti_b_axis(&n->m, dim, ti_b_type(&n->m, x)->rank);
    tc_val joined[3];
    int count = 0;
    for (int i = 0; i < 3; i++)
        if (ends[i])
            joined[count++] = ti_b_cast(&n->m, ends[i], ti_b_type(&n->m, x)->dtype);
    if (count > 1)
        x = ti_b_op(&n->m, TC_OP_cat, ti_b_attr(&n->m, axis, axis), joined, count);
    bool is_bool = n->m.status == TC_OK && ti_b_type(&n->m, x)->dtype == TC_bool;
    for (int64_t i = 0; i < times && n->m.status == TC_OK; i++) {
        const tc_type *t = ti_b_type(&n->m, x);
        if (!t->rank || !t->dim[axis])
            break;
        tc_val next = ti_pt2_slice(n, x, axis, 1, t->dim[axis], 1),
               before = ti_pt2_slice(n, x, axis, 0, t->dim[axis] - 1, 1);
        x = is_bool ? ti_b_logical_xor(&n->m, next, before) : ti_b_sub(&n->m, next, before);
    }
    ti_pt2_result(n, x);
}

/* ---- gradient ---- */

/* A slope along an axis: at every index the sum of three consecutive elements, with these
 * weights. */
typedef struct slope {
    int64_t axis, extent;
    double *weight[3]; /* by index */
} slope;

/* The slope of the parabola through three points, h and k apart, at the first, the second or the
 * last of them. */
static void weigh(double h, double k, int where, double *w)
{
    const double at[3][3] = {{-(2 * h + k) / h, (h + k) * (h + k) / (h * k), -h / k},
                             {-k / h, (k - h) * (h + k) / (h * k), h / k},
                             {k / h, -(h + k) * (h + k) / (h * k), (2 * k + h) / k}};
    for (int j = 0; j < 3; j++)
        w[j] = at[where][j] / (h + k);
}

/* at: the coordinates, or NULL for points `step` apart.  Order 1: a straight line at the ends. */
static slope slope_of(tc_pt2_node *n, int64_t axis, int64_t extent, const double *at, double step,
                      int64_t order)
{
    slope s = {.axis = axis, .extent = extent};
    for (int j = 0; j < 3; j++)
        s.weight[j] = tc_new_n(&n->m.ctx->arena, double, (size_t)extent);
    for (int64_t i = 0; i < extent; i++) {
        bool first = i == 0, last = i == extent - 1;
        int64_t middle = first ? 1 : last ? extent - 2 : i;
        double h = at && middle > 0 ? at[middle] - at[middle - 1] : step,
               k = at && middle + 1 < extent ? at[middle + 1] - at[middle] : step;
        double w[3] = {first ? -1 / h : 0, first ? 1 / h : -1 / k, first ? 0 : 1 / k};
        if (order == 2 || !(first || last))
            weigh(h, k, first ? 0 : last ? 2 : 1, w);
        for (int j = 0; j < 3; j++)
            s.weight[j][i] = w[j];
    }
    return s;
}

/* Weights along the axis; a scalar if they are all equal. */
static tc_val weights(tc_pt2_node *n, const slope *s, tc_val like, const double *w, int64_t count)
{
    const tc_type *t = ti_b_type(&n->m, like);
    int64_t dim[TC_MAX_RANK], equal = 1;
    for (int i = 0; i < t->rank; i++)
        dim[i] = i == s->axis ? count : 1;
    while (equal < count && w[equal] == w[0])
        equal++;
    if (equal == count)
        return ti_b_number(&n->m, like, w[0]);
    tc_tensor c = ti_b_tensor(&n->m, t->dtype, t->rank, dim);
    for (int64_t i = 0; i < count; i++)
        ti_store_f64(c, i, w[i]);
    return ti_b_const(&n->m, c, NULL);
}

/* The slope at `count` indices from `start` on, of elements from `from` on. */
static tc_val risen(tc_pt2_node *n, const slope *s, tc_val x, int64_t start, int64_t count,
                    int64_t from)
{
    tc_val sum = TC_NONE;
    for (int j = 0; j < 3 && n->m.status == TC_OK; j++) {
        const double *w = s->weight[j] + start;
        int64_t zeros = 0;
        while (zeros < count && w[zeros] == 0)
            zeros++;
        if (zeros == count)
            continue;
        tc_val part = ti_pt2_slice(n, x, s->axis, from + j, from + j + count, 1);
        part = ti_b_mul(&n->m, part, weights(n, s, x, w, count));
        sum = sum ? ti_b_add(&n->m, sum, part) : part;
    }
    return sum;
}

static tc_val sloped(tc_pt2_node *n, const slope *s, tc_val x)
{
    tc_val part[3];
    int count = 0;
    part[count++] = risen(n, s, x, 0, 1, 0);
    if (s->extent > 2)
        part[count++] = risen(n, s, x, 1, s->extent - 2, 0);
    part[count++] = risen(n, s, x, s->extent - 1, 1, s->extent - 3);
    return ti_b_op(&n->m, TC_OP_cat, ti_b_attr(&n->m, axis, s->axis), part, count);
}

/* The coordinates of axis i; NULL: none, and *step is the distance. */
static const double *coordinates(tc_pt2_node *n, int i, int64_t extent, double *step)
{
    *step = 1;
    if (ti_text_starts(n->target, "aten.gradient.tensor")) {
        int count;
        const tc_val *list = ti_pt2_tensors(n, "spacing", &count);
        tc_tensor t;
        TC_STOP_WITH(&n->m, NULL);
        if (i >= count || !list[i] || !ti_b_known(&n->m, list[i], &t) ||
            tc_type_count(t.type) != extent) {
            ti_b_unsupported(&n->m, "coordinates that are not constant");
            return NULL;
        }
        double *at = tc_new_n(&n->m.ctx->arena, double, (size_t)extent);
        for (int64_t k = 0; k < extent; k++)
            at[k] = ti_load_f64(t, k);
        return at;
    }
    if (ti_text_starts(n->target, "aten.gradient.scalarray")) {
        tc_floats list = ti_pt2_floats(n, "spacing");
        *step = i < list.n ? list.v[i] : 1;
    } else
        *step = ti_pt2_float(n, "spacing", 1);
    return NULL;
}

static void import_gradient(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    int64_t order = ti_pt2_int(n, "edge_order", 1);
    tc_ints dims = ti_pt2_ints(n, "dim");
    const tc_type *y = ti_pt2_result_type(n, 0);
    TC_STOP(&n->m);
    x = ti_b_cast(&n->m, x, y->dtype);
    dims = ti_b_axes(&n->m, dims, ti_b_type(&n->m, x)->rank);
    for (int i = 0; i < dims.n && n->m.status == TC_OK; i++) {
        int64_t extent = y->dim[dims.v[i]];
        double step;
        const double *at = coordinates(n, i, extent, &step);
        if (order < 1 || order > 2 || extent <= order)
            ti_b_bad(&n->m, TC_E_SHAPE, "an axis of extent %" PRId64 " for edge_order %" PRId64,
                     extent, order);
        TC_STOP(&n->m);
        slope s = slope_of(n, dims.v[i], extent, at, step, order);
        ti_pt2_bind(n, i, sloped(n, &s, x));
    }
}

/* ---- areas ---- */

/* The trapezoids between neighbours, added up (extra: as running sums). */
static void import_trapezoid(tc_pt2_node *n)
{
    tc_val y = ti_pt2_tensor(n, "y"), x = ti_pt2_tensor_opt(n, "x");
    int64_t dim = ti_pt2_int(n, "dim", -1);
    const tc_type *result = ti_pt2_result_type(n, 0);
    TC_STOP(&n->m);
    y = ti_b_cast(&n->m, y, result->dtype);
    int rank = ti_b_type(&n->m, y)->rank;
    int64_t axis = ti_b_axis(&n->m, dim, rank), extent = ti_b_type(&n->m, y)->dim[axis],
            column[TC_MAX_RANK];
    tc_val next = ti_pt2_slice(n, y, axis, 1, extent, 1);
    tc_val both = ti_b_add(&n->m, next, ti_pt2_slice(n, y, axis, 0, extent - 1, 1));
    tc_val width = ti_b_number(&n->m, y, ti_pt2_float(n, "dx", 1));
    if (x) {
        for (int i = 0; i < rank; i++)
            column[i] = i == axis ? extent : 1;
        x = ti_b_cast(&n->m, x, result->dtype);
        if (n->m.status == TC_OK && ti_b_type(&n->m, x)->rank == 1)
            x = ti_b_reshape(&n->m, x, rank, column);
        width = ti_pt2_slice(n, x, axis, 1, extent, 1);
        width = ti_b_sub(&n->m, width, ti_pt2_slice(n, x, axis, 0, extent - 1, 1));
    }
    tc_val area = ti_b_mul(&n->m, both, ti_b_mul_n(&n->m, width, 0.5));
    area = n->row->extra != 0 ? ti_b_cumsum(&n->m, area, axis)
                              : ti_b_reduce(&n->m, TC_OP_sum, area, &axis, 1, false);
    ti_pt2_result(n, area);
}

const tc_pt2_row tc_pt2_difference[] = {
    ROW("diff", import_diff, sub, 0),
    ROW("gradient.scalarint gradient.scalararray gradient.array gradient.scalarrayint "
        "gradient.scalarrayarray gradient.tensorarrayint gradient.tensorarray",
        import_gradient, cat, 0),
    ROW("trapezoid.x trapezoid.dx trapz.x trapz.dx", import_trapezoid, sum, 0),
    ROW("cumulative_trapezoid.x cumulative_trapezoid.dx", import_trapezoid, cumsum, 1),
    {0},
};
