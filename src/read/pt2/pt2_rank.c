/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_rank.c -- importers of what is found by order: the k-th number, medians, quantiles, and the
 * number that is there most often.  Sorting is ascending and stable, with NaN last. */
#include <math.h>

#include "../../num/load.h"
#include "pt2.h"

/* What is ranked: self along an axis, or all of its elements flat. */
typedef struct ranks {
    tc_val x, sorted, place; /* place: the original index of each sorted element */
    int64_t axis, extent;
    bool real;
} ranks;

static ranks ranks_of(tc_pt2_node *n, bool whole, int64_t dim)
{
    ranks r = {.x = ti_pt2_tensor(n, "self")};
    TC_STOP_WITH(&n->m, r);
    if (whole || !ti_b_type(&n->m, r.x)->rank)
        r.x = ti_b_flat(&n->m, r.x);
    TC_STOP_WITH(&n->m, r);
    const tc_type *t = ti_b_type(&n->m, r.x);
    r.axis = ti_b_axis(&n->m, whole ? 0 : dim, t->rank);
    TC_STOP_WITH(&n->m, r);
    r.extent = t->dim[r.axis];
    r.real = ti_is_float(t->dtype);
    if (!r.extent)
        ti_b_bad(&n->m, TC_E_SHAPE, "the axis has no numbers");
    const tc_node *node =
        ti_b_ops(&n->m, TC_OP_sort, ti_b_attr(&n->m, sort, r.axis, false), &r.x, 1, 2);
    r.sorted = node ? node->out[0] : TC_NONE;
    r.place = node ? node->out[1] : TC_NONE;
    return r;
}

/* Result i in the shape that the file declares, with or without the axis. */
static void bind_as_declared(tc_pt2_node *n, int i, tc_val y)
{
    if (n->m.status == TC_OK && i < n->n_result)
        ti_pt2_bind(n, i, ti_b_reshape_as(&n->m, y, ti_pt2_result_type(n, i)));
}

static tc_val at(tc_pt2_node *n, const ranks *r, tc_val x, int64_t place)
{
    return ti_b_1(&n->m, select, ti_b_attr(&n->m, select, r->axis, place), x);
}

static void import_kthvalue(tc_pt2_node *n)
{
    int64_t k = ti_pt2_need_int(n, "k");
    ranks r = ranks_of(n, false, ti_pt2_int(n, "dim", -1));
    bind_as_declared(n, 0, at(n, &r, r.sorted, k - 1));
    bind_as_declared(n, 1, at(n, &r, r.place, k - 1));
}

/* How many elements of each row are not NaN; the axis stays. */
static tc_val counted(tc_pt2_node *n, const ranks *r)
{
    tc_val number = ti_b_logical_not(&n->m, ti_b_isnan(&n->m, r->x));
    tc_ints axes = ti_ints_copy(&n->m.ctx->arena, &r->axis, 1);
    return ti_b_sum(&n->m, number, axes, true);
}

/* The number in the middle, the lower of two; NaN where there is one, which the last one shows. */
static void import_median(tc_pt2_node *n)
{
    ranks r = ranks_of(n, !ti_pt2_has(n, "dim"), ti_pt2_int(n, "dim", 0));
    TC_STOP(&n->m);
    int64_t middle = (r.extent - 1) / 2;
    tc_val y = at(n, &r, r.sorted, middle), place = at(n, &r, r.place, middle);
    if (r.real) {
        tc_val last = at(n, &r, r.sorted, r.extent - 1);
        tc_val odd = ti_b_isnan(&n->m, last);
        y = ti_b_where(&n->m, odd, last, y);
        tc_val each = ti_b_cast(&n->m, ti_b_isnan(&n->m, r.x), TC_f32);
        tc_val first = ti_b_1(&n->m, argmax, ti_b_attr(&n->m, arg, r.axis, false), each);
        place = ti_b_where(&n->m, odd, first, place);
    }
    bind_as_declared(n, 0, y);
    bind_as_declared(n, 1, place);
}

/* The same of those that are not NaN. */
static void import_nanmedian(tc_pt2_node *n)
{
    ranks r = ranks_of(n, !ti_pt2_has(n, "dim"), ti_pt2_int(n, "dim", 0));
    tc_val last = ti_b_clamp(&n->m, ti_b_add_n(&n->m, counted(n, &r), -1), 0, INFINITY);
    const void *floored = ti_b_attr(&n->m, div, TC_div_mode_floor);
    tc_val middle = ti_b_2(&n->m, div, floored, last, ti_b_scalar(&n->m, TC_i64, 2));
    bind_as_declared(n, 0, ti_b_gather(&n->m, r.sorted, middle, r.axis));
    bind_as_declared(n, 1, ti_b_gather(&n->m, r.place, middle, r.axis));
}

/* By index, where its run of equal values begins: the largest of the beginnings so far, by
 * doubling. */
static tc_val beginnings(tc_pt2_node *n, const ranks *r, tc_val places)
{
    const void *join = ti_b_attr(&n->m, axis, r->axis);
    tc_val next = ti_pt2_slice(n, r->sorted, r->axis, 1, r->extent, 1);
    tc_val before = ti_pt2_slice(n, r->sorted, r->axis, 0, r->extent - 1, 1);
    tc_val other = ti_b_ne(&n->m, next, before);
    tc_val zero = ti_b_scalar(&n->m, TC_i64, 0);
    tc_val begins = ti_b_where(&n->m, other, ti_pt2_slice(n, places, r->axis, 1, r->extent, 1),
                               zero);
    begins = ti_b_2(&n->m, cat, join, ti_pt2_slice(n, places, r->axis, 0, 1, 1), begins);
    for (int64_t step = 1; step < r->extent && n->m.status == TC_OK; step *= 2) {
        tc_val head = ti_pt2_slice(n, begins, r->axis, 0, step, 1);
        tc_val tail = ti_pt2_slice(n, begins, r->axis, step, r->extent, 1);
        tc_val left = ti_pt2_slice(n, begins, r->axis, 0, r->extent - step, 1);
        tc_val most = ti_b_maximum(&n->m, tail, left);
        begins = ti_b_2(&n->m, cat, join, head, most);
    }
    return begins;
}

/* The number that is there most often, the smallest of several, and where it is last: at the end of
 * the first of the longest runs. */
static void import_mode(tc_pt2_node *n)
{
    ranks r = ranks_of(n, false, ti_pt2_int(n, "dim", -1));
    TC_STOP(&n->m);
    const tc_type *t = ti_b_type(&n->m, r.x);
    int64_t column[TC_MAX_RANK];
    for (int i = 0; i < TC_MAX_RANK; i++)
        column[i] = i == r.axis ? r.extent : 1;
    tc_val places = ti_b_arange(&n->m, r.extent, TC_i64);
    places = ti_b_expand_as(&n->m, ti_b_reshape(&n->m, places, t->rank, column), t);
    tc_val length = ti_b_sub(&n->m, places, beginnings(n, &r, places));
    tc_val end = ti_b_1(&n->m, argmax, ti_b_attr(&n->m, arg, r.axis, true), length);
    bind_as_declared(n, 0, ti_b_gather(&n->m, r.sorted, end, r.axis));
    bind_as_declared(n, 1, ti_b_gather(&n->m, r.place, end, r.axis));
}

/* ---- quantiles ---- */

typedef enum between { LINEAR, LOWER, HIGHER, MIDPOINT, NEAREST, BETWEEN } between;

static between between_of(tc_pt2_node *n)
{
    static const char *const name[] = {"linear", "lower", "higher", "midpoint", "nearest"};
    const char *given = ti_pt2_text(n, "interpolation", "linear");
    int i = 0;
    while (i < BETWEEN && !ti_text_eq(name[i], given))
        i++;
    if (i == BETWEEN)
        ti_b_unsupported(&n->m, "an interpolation that is not known");
    return (between)i;
}

/* The requested quantiles: *count of them; they must be constant. */
static const double *shares_of(tc_pt2_node *n, int64_t *count)
{
    tc_tensor q;
    double *share = NULL;
    *count = 1;
    if (!ti_pt2_is_tensor(n, "q")) {
        share = tc_new(&n->m.ctx->arena, double);
        *share = ti_pt2_float(n, "q", 0);
    } else if (ti_b_known(&n->m, ti_pt2_tensor(n, "q"), &q)) {
        *count = tc_type_count(q.type);
        share = tc_new_n(&n->m.ctx->arena, double, (size_t)*count);
        for (int64_t i = 0; i < *count; i++)
            share[i] = ti_load_f64(q, i);
    } else
        ti_b_unsupported(&n->m, "a share 'q' that is not constant");
    for (int64_t i = 0; share && i < *count; i++)
        if (!(share[i] >= 0 && share[i] <= 1))
            ti_b_bad(&n->m, TC_E_ARGUMENT, "the share 'q' is %g, expected 0 to 1", share[i]);
    return share;
}

/* Between the sorted elements at `low` and `high`, whose ranks are known; `how` says where. */
static tc_val known_quantile(tc_pt2_node *n, const ranks *r, double share, between how)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    double rank = share * (double)(r->extent - 1);
    if (ti_b_type(&n->m, r->x)->dtype == TC_f32)
        rank = (double)((float)share * (float)(r->extent - 1));
    rank = how == LOWER ? floor(rank) : how == HIGHER ? ceil(rank)
         : how == NEAREST ? nearbyint(rank) : rank;
    tc_val y = at(n, r, r->sorted, (int64_t)floor(rank)), last;
    if (rank > floor(rank)) {
        tc_val above = at(n, r, r->sorted, (int64_t)ceil(rank));
        double part = how == MIDPOINT ? 0.5 : rank - floor(rank);
        y = ti_b_lerp(&n->m, y, above, ti_b_number(&n->m, y, part));
    }
    last = at(n, r, r->sorted, r->extent - 1);
    return ti_b_where(&n->m, ti_b_isnan(&n->m, last), last, y);
}

/* The same where the rank depends on how many elements of a row are not NaN. */
static tc_val counted_quantile(tc_pt2_node *n, const ranks *r, double share, between how)
{
    TC_STOP_WITH(&n->m, TC_NONE);
    tc_val count = ti_b_cast(&n->m, counted(n, r), ti_b_type(&n->m, r->x)->dtype);
    tc_val rank = ti_b_mul_n(&n->m, ti_b_add_n(&n->m, count, -1), share);
    rank = ti_b_clamp(&n->m, rank, 0, INFINITY);
    if (how == NEAREST)
        rank = ti_b_1(&n->m, round, ti_b_attr(&n->m, round, 0), rank);
    tc_val floor = ti_b_floor(&n->m, rank), ceil = ti_b_ceil(&n->m, rank);
    tc_val low = ti_b_gather(&n->m, r->sorted, ti_b_cast(&n->m, floor, TC_i64), r->axis);
    tc_val high = ti_b_gather(&n->m, r->sorted, ti_b_cast(&n->m, ceil, TC_i64), r->axis);
    if (how != LINEAR && how != MIDPOINT)
        return how == HIGHER ? high : low;
    tc_val part = how == MIDPOINT ? ti_b_number(&n->m, low, 0.5) : ti_b_sub(&n->m, rank, floor);
    return ti_b_lerp(&n->m, low, high, part);
}

/* extra: 1 leaves NaN out, 0 gives NaN where there is one. */
static void import_quantile(tc_pt2_node *n)
{
    int64_t count;
    const double *share = shares_of(n, &count);
    between how = between_of(n);
    ranks r = ranks_of(n, !ti_pt2_has(n, "dim"), ti_pt2_int(n, "dim", 0));
    TC_STOP(&n->m);
    tc_val *each = tc_new_n(&n->m.ctx->arena, tc_val, (size_t)count + 1);
    for (int64_t i = 0; i < count; i++)
        each[i] = n->row->extra != 0 ? counted_quantile(n, &r, share[i], how)
                                     : known_quantile(n, &r, share[i], how);
    tc_val y = ti_b_op(&n->m, TC_OP_stack, ti_b_attr(&n->m, axis, 0), each, (int)count);
    bind_as_declared(n, 0, y);
}

const tc_pt2_row tc_pt2_rank[] = {
    ROW("kthvalue", import_kthvalue, sort, 0),
    ROW("median median.dim", import_median, sort, 0),
    ROW("nanmedian nanmedian.dim", import_nanmedian, sort, 0),
    ROW("mode", import_mode, sort, 0),
    ROW("quantile quantile.scalar", import_quantile, sort, 0),
    ROW("nanquantile nanquantile.scalar", import_quantile, sort, 1),
    {0},
};
