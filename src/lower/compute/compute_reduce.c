/* SPDX-License-Identifier: Apache-2.0 */
/* compute_reduce.c -- reductions, running sums and sorting, as shaders.
 *
 * An invocation walks the elements of its result in sequence.  Sorting counts for every element
 * those before it: its index in the result. */
#include "compute.h"
#include "compute_family.h"

/* The axes that are walked, with their extents. */
typedef struct walk {
    const tc_ints *axes;
    bool keepdim;
    tc_type inner; /* the walked axes alone */
} walk;

static bool walks(const walk *w, int axis)
{
    for (int i = 0; i < w->axes->n; i++)
        if (w->axes->v[i] == axis)
            return true;
    return false;
}

static walk walk_of(const tc_type *x, const tc_ints *axes, bool keepdim)
{
    walk w = {axes, keepdim, {.dtype = TC_i32}};
    for (int i = 0; i < x->rank; i++)
        if (walks(&w, i))
            w.inner.dim[w.inner.rank++] = x->dim[i];
    return w;
}

/* Element k of those that the result's element at coordinates c is made of. */
static tc_cs_val place_of(tc_cs *s, const walk *w, const tc_cs_val *c, tc_cs_val k)
{
    const tc_type *x = ti_cs_type(s, 0);
    tc_cs_val own[TC_MAX_RANK], inner[TC_MAX_RANK];
    ti_cs_split(s, &w->inner, k, inner);
    for (int i = 0, in = 0, out = 0; i < x->rank; i++) {
        bool walked = walks(w, i);
        own[i] = walked ? inner[in++] : c[out];
        out += !walked || w->keepdim;
    }
    return ti_cs_join(s, x, own);
}

/* a is NaN, and b is a number. */
static tc_cs_val none(tc_cs *s, tc_cs_val a, tc_cs_val b)
{
    tc_cs_val first = ti_cs_nan(s, a), second = ti_cs_not(s, ti_cs_nan(s, b));
    return ti_cs_and(s, first, second);
}

static tc_cs_val larger(tc_cs *s, bool most, tc_cs_val a, tc_cs_val b)
{
    tc_cs_val before = most ? ti_cs_less(s, b, a) : ti_cs_less(s, a, b);
    if (a.kind == TC_CS_F32)
        before = ti_cs_or(s, before, none(s, a, b));
    return before;
}

/* What so far and the next number give. */
static tc_cs_val joined(tc_cs *s, tc_op op, tc_cs_val so_far, tc_cs_val v)
{
    switch (op) {
    case TC_OP_prod:
    case TC_OP_cumprod:
        return ti_cs_mul(s, so_far, v);
    case TC_OP_amax:
    case TC_OP_amin:
        return ti_cs_select(s, larger(s, op == TC_OP_amax, v, so_far), v, so_far);
    case TC_OP_all:
        return ti_cs_and(s, so_far, v);
    case TC_OP_any:
        return ti_cs_or(s, so_far, v);
    default:
        return ti_cs_add(s, so_far, v);
    }
}

static tc_cs_kind kind_for(const tc_cs *s, tc_op op)
{
    const tc_type *y = ti_cs_type(s, s->n_in);
    if (op == TC_OP_all || op == TC_OP_any)
        return TC_CS_BOOL;
    return y->quant ? TC_CS_F32 : ti_cs_kind_of(y->dtype);
}

static tc_ints all_axes(tc_cs *s, const tc_ints *axes)
{
    const tc_type *x = ti_cs_type(s, 0);
    if (axes->n || !x->rank)
        return *axes;
    int64_t *v = tc_new_n(&s->ctx->scratch, int64_t, (size_t)x->rank);
    for (int i = 0; i < x->rank; i++)
        v[i] = i;
    return (tc_ints){.v = v, .n = x->rank};
}

void ti_cs_reduce(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_attr_axes *a = node->attr;
    const tc_type *y = ti_cs_type(s, 1);
    tc_cs_kind kind = kind_for(s, node->op);
    tc_ints axes = all_axes(s, &a->axes);
    walk w = walk_of(ti_cs_type(s, 0), &axes, a->keepdim);
    tc_cs_val c[TC_MAX_RANK];
    ti_cs_split(s, y, at, c);
    int64_t n = ti_dims_count(w.inner.rank, w.inner.dim);
    tc_cs_var sum =
        ti_cs_var(s, ti_cs_to(s, kind, ti_cs_load(s, 0, place_of(s, &w, c, ti_cs_i32(s, 0)))));
    tc_cs_loop l = ti_cs_loop(s, ti_cs_i32(s, n - 1));
    tc_cs_val k = ti_cs_add(s, l.at, ti_cs_i32(s, 1));
    tc_cs_val v = ti_cs_to(s, kind, ti_cs_load(s, 0, place_of(s, &w, c, k)));
    ti_cs_set(s, sum, joined(s, node->op, ti_cs_get(s, sum), v));
    ti_cs_again(s, &l);
    tc_cs_val result = ti_cs_get(s, sum);
    if (node->op == TC_OP_mean)
        result = ti_cs_do(s, TC_SPV_FDiv, TC_CS_F32, result, ti_cs_number(s, TC_CS_F32, (double)n));
    ti_cs_store(s, 1, at, result);
}

/* The largest or smallest along an axis, and its index; the first of equals. */
void ti_cs_extreme_at(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_attr_arg *a = node->attr;
    bool most = node->op == TC_OP_argmax || node->op == TC_OP_max_dim;
    tc_ints axes = {.v = (int64_t[]){a->axis}, .n = ti_cs_type(s, 0)->rank ? 1 : 0};
    walk w = walk_of(ti_cs_type(s, 0), &axes, a->keepdim);
    tc_cs_val c[TC_MAX_RANK], zero = ti_cs_i32(s, 0);
    ti_cs_split(s, ti_cs_type(s, s->n_in), at, c);
    tc_cs_var best = ti_cs_var(s, ti_cs_load(s, 0, place_of(s, &w, c, zero))),
              place = ti_cs_var(s, zero);
    tc_cs_loop l = ti_cs_loop(s, ti_cs_i32(s, ti_dims_count(w.inner.rank, w.inner.dim)));
    tc_cs_val v = ti_cs_load(s, 0, place_of(s, &w, c, l.at));
    tc_cs_if block = ti_cs_if(s, larger(s, most, v, ti_cs_get(s, best)));
    ti_cs_set(s, best, v);
    ti_cs_set(s, place, l.at);
    ti_cs_end(s, block);
    ti_cs_again(s, &l);
    if (node->n_out > 1)
        ti_cs_store(s, s->n_in, at, ti_cs_get(s, best));
    ti_cs_store(s, s->n_in + node->n_out - 1, at, ti_cs_get(s, place));
}

/* Rows along an axis: where a row begins, and from element to element. */
typedef struct line {
    int64_t n, step;
    tc_cs_val start, here; /* of the current element: its row, and its index there */
} line;

static line line_at(tc_cs *s, const tc_type *x, int64_t axis, tc_cs_val at)
{
    line l = {x->rank ? x->dim[axis] : 1, 1, at, ti_cs_i32(s, 0)};
    for (int i = (int)axis + 1; i < x->rank; i++)
        l.step *= x->dim[i];
    l.here = ti_cs_rest(s, ti_cs_part(s, at, l.step), l.n);
    l.start = ti_cs_sub(s, at, ti_cs_mul(s, l.here, ti_cs_i32(s, l.step)));
    return l;
}

static tc_cs_val on_line(tc_cs *s, int64_t step, tc_cs_val start, tc_cs_val k)
{
    return ti_cs_add(s, start, ti_cs_mul(s, k, ti_cs_i32(s, step)));
}

void ti_cs_scan(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    tc_cs_kind kind = kind_for(s, node->op);
    line row = line_at(s, ti_cs_type(s, 0), ((const tc_attr_axis *)node->attr)->axis, at);
    tc_cs_var sum = ti_cs_var(s, ti_cs_to(s, kind, ti_cs_load(s, 0, row.start)));
    tc_cs_loop l = ti_cs_loop(s, row.here);
    tc_cs_val k = ti_cs_add(s, l.at, ti_cs_i32(s, 1));
    tc_cs_val v = ti_cs_to(s, kind, ti_cs_load(s, 0, on_line(s, row.step, row.start, k)));
    ti_cs_set(s, sum, joined(s, node->op, ti_cs_get(s, sum), v));
    ti_cs_again(s, &l);
    ti_cs_store(s, 1, at, ti_cs_get(s, sum));
}

/* Whether value a is strictly before b; NaN is largest. */
static tc_cs_val stands_before(tc_cs *s, bool descending, tc_cs_val a, tc_cs_val b)
{
    tc_cs_val x = descending ? b : a, y = descending ? a : b, less = ti_cs_less(s, x, y);
    if (a.kind != TC_CS_F32)
        return less;
    tc_cs_val number = ti_cs_not(s, ti_cs_nan(s, x));
    return ti_cs_and(s, number, ti_cs_or(s, less, ti_cs_nan(s, y)));
}

/* An element's index is how many are before it in order; stable. */
void ti_cs_order(tc_cs *s, const tc_node *node, tc_cs_val at)
{
    const tc_attr_sort *sort = node->attr;
    const tc_attr_topk *topk = node->attr;
    bool whole = node->op == TC_OP_sort, down = whole ? sort->descending : topk->largest;
    int64_t axis = whole ? sort->axis : topk->axis;
    line row = line_at(s, ti_cs_type(s, 0), axis, at);
    int64_t kept = whole ? row.n : topk->k;
    tc_cs_val own = ti_cs_load(s, 0, at), one = ti_cs_i32(s, 1);
    tc_cs_var rank = ti_cs_var(s, ti_cs_i32(s, 0));
    tc_cs_loop l = ti_cs_loop(s, ti_cs_i32(s, row.n));
    tc_cs_val other = ti_cs_load(s, 0, on_line(s, row.step, row.start, l.at));
    tc_cs_val sooner = stands_before(s, down, other, own), later = stands_before(s, down, own, other);
    tc_cs_val equal = ti_cs_not(s, ti_cs_or(s, sooner, later));
    tc_cs_val first = ti_cs_and(s, equal, ti_cs_less(s, l.at, row.here));
    tc_cs_val count = ti_cs_get(s, rank), more = ti_cs_add(s, count, one);
    ti_cs_set(s, rank, ti_cs_select(s, ti_cs_or(s, sooner, first), more, count));
    ti_cs_again(s, &l);
    tc_cs_val to = ti_cs_get(s, rank);
    tc_cs_if block = ti_cs_if(s, ti_cs_less(s, to, ti_cs_i32(s, kept)));
    tc_cs_val outer = ti_cs_part(s, at, row.n * row.step), column = ti_cs_rest(s, at, row.step);
    tc_cs_val start = ti_cs_add(s, ti_cs_mul(s, outer, ti_cs_i32(s, kept * row.step)), column);
    tc_cs_val place = on_line(s, row.step, start, to);
    ti_cs_store(s, 1, place, own);
    ti_cs_store(s, 2, place, row.here);
    ti_cs_end(s, block);
}
