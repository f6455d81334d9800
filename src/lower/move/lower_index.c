/* SPDX-License-Identifier: Apache-2.0 */
/* lower_index.c -- reading at indices that other tensors hold: GATHER of rows; constant indices
 * that come in runs are sliced and concatenated. */
#include "lower_index.h"

#include "../../num/index.h"
#include "../../num/load.h"

tc_val ti_put_gather(tc_build *lw, tc_val values, tc_val indices)
{
    if (!values)
        return values;
    bool truth = ti_b_dtype(lw, values) == TC_bool;
    if (truth)
        values = ti_put_cast(lw, values, ti_lower_has(lw, TC_FEATURE_INT) ? TC_i8 : TC_f32);
    tc_val y = ti_b_tosa_gather(lw, values, ti_b_tosa_cast(lw, indices, TC_i32));
    return truth ? ti_put_cast(lw, y, TC_bool) : y;
}

const int64_t *ti_known_places(tc_build *lw, const tc_node *node, int operand, int64_t extent)
{
    tc_tensor t = ti_tensor_of(lw->rw->from, node->in[operand]);
    if (!t.data)
        return NULL;
    int64_t n = tc_type_count(t.type), *place = tc_new_n(&lw->ctx->arena, int64_t, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        place[i] = ti_load_i64(t, i);
        if (place[i] < 0)
            place[i] += extent;
        if (place[i] < 0 || place[i] >= extent) {
            ti_lower_refuse(lw, "index %lld is outside an axis of extent %lld",
                            (long long)ti_load_i64(t, i), (long long)extent);
            place[i] = 0;
        }
    }
    return place;
}

static tc_dtype index_type(const tc_build *lw)
{
    return ti_lower_has(lw, TC_FEATURE_INT) ? TC_i32 : TC_f32;
}

tc_val ti_put_known_places(tc_build *lw, int rank, const int64_t *dim, const int64_t *place)
{
    tc_tensor t =
        ti_tensor_new(&lw->ctx->arena, ti_type_make(lw->ctx, index_type(lw), rank, dim));
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        ti_store_f64(t, i, (double)place[i]);
    return ti_b_data(lw, t.type, t.data);
}

tc_val ti_put_places(tc_build *lw, const tc_node *node, int operand)
{
    const tc_type *t = ti_lower_type(lw, node, operand);
    if (t->dtype != TC_i32 && t->dtype != TC_i16 && t->dtype != TC_i8) {
        ti_lower_refuse(lw, "its index holds %s", tc_dtypes[t->dtype].name);
        return TC_NONE;
    }
    if (index_type(lw) == TC_f32 && tc_type_count(ti_lower_type(lw, node, 0)) > 1 << 24) {
        ti_lower_refuse(lw, "its indices are too large for f32, and the target cannot move "
                            "integers");
        return TC_NONE;
    }
    return ti_put_cast(lw, ti_lower_in(lw, node, operand), index_type(lw));
}

/* ---- rows ---- */

bool ti_row_list_of(tc_build *lw, const tc_type *x, int axis, const tc_node *node, int operand,
                    tc_row_list *rows)
{
    *rows = (tc_row_list){.outer = 1, .extent = x->rank ? x->dim[axis] : 1, .inner = 1};
    for (int i = 0; i < x->rank; i++)
        if (i != axis)
            *(i < axis ? &rows->outer : &rows->inner) *= x->dim[i];
    rows->count = tc_type_count(ti_lower_type(lw, node, operand));
    rows->known = ti_known_places(lw, node, operand, rows->extent);
    if (!rows->known)
        rows->index = ti_put_places(lw, node, operand);
    return lw->status == TC_OK;
}

/* The indices [outer, count] that GATHER and SCATTER read. */
static tc_val row_numbers(tc_build *lw, const tc_row_list *rows)
{
    int64_t dim[] = {1, rows->count};
    tc_val index = rows->known ? ti_put_known_places(lw, 2, dim, rows->known)
                               : ti_b_tosa_reshape(lw, rows->index, 2, dim);
    return ti_b_tosa_tile(lw, index, (int64_t[]){rows->outer, 1});
}

/* Rows `first`, first + step, ...: n of them. */
typedef struct row_run {
    int64_t first, step, n;
} row_run;

/* The rows from i on that follow one another at one distance: any where they are all of them, else those
 * next to each other, on or back. */
static row_run run_from(const int64_t *place, int64_t i, int64_t n)
{
    row_run r = {place[i], i + 1 < n ? place[i + 1] - place[i] : 1, 1};
    while (i + r.n < n && place[i + r.n] == place[i + r.n - 1] + r.step)
        r.n++;
    bool close = r.step == 1 || r.step == -1, all = r.n == n;
    return close || all ? r : (row_run){place[i], 1, 1};
}

static int64_t count_runs(const tc_row_list *rows)
{
    int64_t n = 0;
    for (int64_t i = 0; i < rows->count; i += run_from(rows->known, i, rows->count).n)
        n++;
    return n;
}

/* Every step-th row: the first of as many groups of `step`; behind the last one there may be none. */
static tc_val rows_apart(tc_build *lw, tc_val x, const tc_row_list *rows, row_run r)
{
    int64_t last = r.first + r.n * r.step <= rows->extent ? 0 : 1, n = r.n - last;
    const int64_t groups[] = {rows->outer, n, r.step * rows->inner},
                  begin[] = {0, 0, 0}, one[] = {rows->outer, n, rows->inner};
    tc_val y = ti_b_tosa_slice_axis(lw, x, 1, r.first, n * r.step);
    y = ti_b_tosa_slice(lw, ti_b_tosa_reshape(lw, y, 3, groups), begin, one);
    if (!last)
        return y;
    tc_val end = ti_b_tosa_slice_axis(lw, x, 1, r.first + n * r.step, 1);
    return ti_put_concat(lw, (tc_val[]){y, end}, 2, 1);
}

static tc_val rows_of_run(tc_build *lw, tc_val x, const tc_row_list *rows, row_run r)
{
    if (r.step == 0)
        return ti_b_tosa_tile(lw, ti_b_tosa_slice_axis(lw, x, 1, r.first, 1),
                              (int64_t[]){1, r.n, 1});
    if (r.step > 0)
        return r.step == 1 ? ti_b_tosa_slice_axis(lw, x, 1, r.first, r.n)
                           : rows_apart(lw, x, rows, r);
    row_run on = {r.first + (r.n - 1) * r.step, -r.step, r.n};
    return ti_put_reverse(lw, rows_of_run(lw, x, rows, on), 1);
}

static tc_val rows_by_runs(tc_build *lw, tc_val x, const tc_row_list *rows, int64_t runs)
{
    tc_val *part = tc_new_n(&lw->ctx->arena, tc_val, (size_t)runs);
    int n = 0;
    for (int64_t i = 0; i < rows->count;) {
        row_run r = run_from(rows->known, i, rows->count);
        part[n++] = rows_of_run(lw, x, rows, r);
        i += r.n;
    }
    return ti_put_join(lw, part, n, 1);
}

/* Where slices are better than GATHER. */
static bool few_runs(const tc_build *lw, int64_t runs)
{
    return runs <= lw->lower->target->machine->cost.slices;
}

tc_val ti_put_rows(tc_build *lw, tc_val x, const tc_row_list *rows)
{
    x = ti_b_tosa_reshape(lw, x, 3, (int64_t[]){rows->outer, rows->extent, rows->inner});
    int64_t runs = rows->known ? count_runs(rows) : 0;
    if (runs && few_runs(lw, runs))
        return rows_by_runs(lw, x, rows, runs);
    return ti_put_gather(lw, x, row_numbers(lw, rows));
}

tc_val ti_put_rows_into(tc_build *lw, tc_val x, tc_val source, const tc_row_list *rows)
{
    x = ti_b_tosa_reshape(lw, x, 3, (int64_t[]){rows->outer, rows->extent, rows->inner});
    source = ti_b_tosa_reshape(lw, source, 3, (int64_t[]){rows->outer, rows->count, rows->inner});
    if (rows->known) { /* rows of x and source concatenated, picked in order; of equal ones the last
                          counts */
        tc_row_list all = {rows->outer, rows->extent + rows->count, rows->inner, rows->extent, NULL,
                           TC_NONE};
        int64_t *from = tc_new_n(&lw->ctx->arena, int64_t, (size_t)rows->extent);
        for (int64_t i = 0; i < rows->extent; i++)
            from[i] = i;
        for (int64_t i = 0; i < rows->count; i++)
            from[rows->known[i]] = rows->extent + i;
        all.known = from;
        return ti_put_rows(lw, ti_put_concat(lw, (tc_val[]){x, source}, 2, 1), &all);
    }
    if (!x || !source)
        return TC_NONE;
    bool truth = ti_b_dtype(lw, x) == TC_bool;
    tc_dtype as = !truth ? ti_b_dtype(lw, x) : ti_lower_has(lw, TC_FEATURE_INT) ? TC_i8 : TC_f32;
    source = ti_put_cast(lw, source, as);
    tc_val row = ti_b_tosa_cast(lw, row_numbers(lw, rows), TC_i32);
    tc_val y = ti_b_tosa_scatter(lw, ti_put_cast(lw, x, as), row, source);
    return truth ? ti_put_cast(lw, y, TC_bool) : y;
}

/* ---- several indices ---- */

/* Their sum, each times the step of its axis: constants in memory, the others by MUL and ADD. */
typedef struct place_sum {
    const tc_picks *picks;
    int64_t n;
    int64_t *known; /* what the constant ones add up to, by index of the broadcast shape */
    bool all_known;
    tc_val sum;
} place_sum;

static void add_known(place_sum *s, const tc_type *t, const int64_t *place, int64_t step)
{
    int64_t at[TC_MAX_RANK] = {0}, own[TC_MAX_RANK] = {0}, walk = 1;
    int more = s->picks->rank - t->rank;
    for (int i = t->rank - 1; i >= 0; i--) {
        own[i + more] = t->dim[i] == 1 ? 0 : walk;
        walk *= t->dim[i];
    }
    for (int64_t k = 0; k < s->n; k++) {
        int64_t from = 0;
        for (int i = 0; i < s->picks->rank; i++)
            from += at[i] * own[i];
        s->known[k] += place[from] * step;
        for (int i = s->picks->rank - 1; i >= 0 && ++at[i] == s->picks->dim[i]; i--)
            at[i] = 0;
    }
}

static tc_val place_number(tc_build *lw, tc_val like, double number)
{
    return like ? ti_b_single(lw, index_type(lw), ti_b_type(lw, like)->rank, number) : like;
}

/* Negative indices count from the end. */
static tc_val from_the_end(tc_build *lw, tc_val index, int64_t extent)
{
    tc_val negative = ti_b_tosa_greater(lw, place_number(lw, index, 0), index);
    return ti_b_tosa_select(
        lw, negative, ti_b_tosa_add(lw, index, place_number(lw, index, (double)extent)), index);
}

static void add_index(tc_build *lw, const tc_node *node, int operand, place_sum *s, int64_t extent,
                      int64_t step)
{
    const int64_t *place = ti_known_places(lw, node, operand, extent);
    if (place) {
        add_known(s, ti_lower_type(lw, node, operand), place, step);
        return;
    }
    s->all_known = false;
    tc_val index = ti_b_tosa_rank(lw, from_the_end(lw, ti_put_places(lw, node, operand), extent),
                                  s->picks->rank);
    if (step != 1 && index)
        index = ti_b_tosa_mul(lw, index, place_number(lw, index, (double)step));
    s->sum = s->sum ? ti_b_tosa_add(lw, s->sum, index) : index;
}

static tc_val finish_sum(tc_build *lw, place_sum *s)
{
    bool any = false;
    for (int64_t i = 0; i < s->n; i++)
        any = any || s->known[i];
    tc_val sum = s->sum;
    if (any)
        sum = ti_b_tosa_add(lw, sum,
                            ti_put_known_places(lw, s->picks->rank, s->picks->dim, s->known));
    return ti_b_tosa_expand(lw, sum, s->picks->rank, s->picks->dim);
}

bool ti_row_list_picked(tc_build *lw, const tc_node *node, int first, tc_row_list *rows,
                        int64_t *perm, tc_type *picked)
{
    const tc_type *x = ti_lower_type(lw, node, 0);
    tc_tensor index[TC_MAX_RANK];
    int n_index = node->n_in - first;
    for (int i = 0; i < n_index; i++)
        index[i] =
            (tc_tensor){node->in[first + i] ? ti_lower_type(lw, node, first + i) : NULL, NULL};
    tc_picks picks;
    if (!ti_index_picks(x, index, n_index, &picks) || !ti_index_dims(x, &picks, picked)) {
        ti_lower_refuse(lw, "its indices do not fit");
        return false;
    }
    int n = 0, front = picks.n_kept && picks.first > 0 ? picks.first : 0;
    *rows = (tc_row_list){1, 1, 1, ti_dims_count(picks.rank, picks.dim), NULL, TC_NONE};
    for (int i = 0; i < front; i++)
        rows->outer *= x->dim[perm[n++] = picks.kept[i]];
    for (int i = 0; i < n_index; i++)
        if (index[i].type)
            rows->extent *= x->dim[perm[n++] = i];
    for (int i = front; i < picks.n_kept; i++)
        rows->inner *= x->dim[perm[n++] = picks.kept[i]];
    place_sum sum = {&picks, rows->count, tc_new_n(&lw->ctx->arena, int64_t, (size_t)rows->count),
                     true, TC_NONE};
    int64_t step = rows->extent;
    for (int i = 0; i < n_index; i++)
        if (index[i].type)
            add_index(lw, node, first + i, &sum, x->dim[i], step /= x->dim[i]);
    if (sum.all_known)
        rows->known = sum.known;
    else
        rows->index = finish_sum(lw, &sum);
    return lw->status == TC_OK;
}

/* ---- rules ---- */

void ti_lower_index(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *y = ti_lower_result(lw, node, 0);
    tc_row_list rows;
    tc_type picked;
    int64_t perm[TC_MAX_RANK];
    if (!ti_row_list_picked(lw, node, 1, &rows, perm, &picked))
        return;
    tc_val x = ti_put_rows(lw, ti_b_tosa_transpose(lw, ti_lower_in(lw, node, 0), perm), &rows);
    out[0] = ti_b_tosa_reshape(lw, ti_move_out(lw, node, x, 0), y->rank, y->dim);
}

/* x and the list of rows of an axis of it. */
static void select_rows(tc_build *lw, const tc_node *node, int axis, tc_val *out)
{
    const tc_type *x = ti_lower_type(lw, node, 0), *y = ti_lower_result(lw, node, 0);
    bool channels = x->quant && x->quant->axis >= 0;
    tc_row_list rows;
    if (!ti_row_list_of(lw, x, axis, node, 1, &rows))
        return;
    tc_val from = channels ? ti_move_in(lw, node, 0) : ti_lower_in(lw, node, 0);
    tc_val picked = ti_put_rows(lw, from, &rows);
    out[0] = ti_b_tosa_reshape(lw, channels ? picked : ti_move_out(lw, node, picked, 0), y->rank,
                               y->dim);
}

void ti_lower_index_select(tc_build *lw, const tc_node *node, tc_val *out)
{
    select_rows(lw, node, (int)((const tc_attr_axis *)node->attr)->axis, out);
}

void ti_lower_embedding(tc_build *lw, const tc_node *node, tc_val *out)
{
    select_rows(lw, node, 0, out);
}

/* x cut to the index along all other axes, as rows [outer, extent * inner, 1]; element (o, w, i) is
 * at index * inner + i. */
void ti_lower_gather(tc_build *lw, const tc_node *node, tc_val *out)
{
    int axis = (int)((const tc_attr_axis *)node->attr)->axis;
    const tc_type *x = ti_lower_type(lw, node, 0), *index = ti_lower_type(lw, node, 1);
    int64_t start[TC_MAX_RANK] = {0}, size[TC_MAX_RANK], outer = 1, inner = 1;
    if (!x->rank || !index->rank) {
        out[0] = ti_b_tosa_reshape(lw, ti_move_in(lw, node, 0), index->rank, index->dim);
        return;
    }
    for (int i = 0; i < x->rank; i++) {
        size[i] = i == axis ? x->dim[i] : index->dim[i];
        if (i != axis)
            *(i < axis ? &outer : &inner) *= size[i];
    }
    tc_val v = ti_b_tosa_slice(lw, ti_lower_in(lw, node, 0), start, size);
    const int64_t *known = ti_known_places(lw, node, 1, x->dim[axis]);
    tc_val place = known ? ti_put_known_places(lw, index->rank, index->dim, known)
                         : ti_put_places(lw, node, 1);
    place = ti_b_tosa_reshape(lw, place, 3, (int64_t[]){outer, index->dim[axis], inner});
    if (inner > 1) {
        int64_t *within = tc_new_n(&lw->ctx->arena, int64_t, (size_t)inner);
        for (int64_t i = 0; i < inner; i++)
            within[i] = i;
        tc_val inside = ti_put_known_places(lw, 3, (int64_t[]){1, 1, inner}, within);
        place = ti_b_tosa_mul(lw, place, place_number(lw, place, (double)inner));
        place = ti_b_tosa_add(lw, place, inside);
    }
    place = ti_b_tosa_reshape(lw, place, 2, (int64_t[]){outer, index->dim[axis] * inner});
    v = ti_b_tosa_reshape(lw, v, 3, (int64_t[]){outer, x->dim[axis] * inner, 1});
    v = ti_put_gather(lw, v, place);
    out[0] = ti_b_tosa_reshape(lw, ti_move_out(lw, node, v, 0), index->rank, index->dim);
}
