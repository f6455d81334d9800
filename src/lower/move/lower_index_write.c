/* SPDX-License-Identifier: Apache-2.0 */
/* lower_index_write.c -- writing at indices from other tensors: SCATTER of rows; sums by a one-hot
 * matrix; constant indices by concatenation. */
#include "lower_index.h"

#include "../plain/plain.h"

enum { MOST_CELLS = 1 << 24 };

/* ---- rows replaced ---- */

void ti_lower_index_copy(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *y = ti_lower_result(lw, node, 0);
    tc_row_list rows;
    if (!ti_row_list_of(lw, ti_lower_type(lw, node, 0),
                        (int)((const tc_attr_axis *)node->attr)->axis, node, 1, &rows))
        return;
    tc_val source = ti_move_in(lw, node, 2);
    tc_val x = ti_put_rows_into(lw, ti_move_in(lw, node, 0), source, &rows);
    out[0] = ti_b_tosa_reshape(lw, x, y->rank, y->dim);
}

/* start, start + step, ...: known indices. */
static void regular(tc_build *lw, const tc_type *x, int axis, int64_t start, int64_t step,
                    int64_t count, tc_row_list *rows)
{
    *rows = (tc_row_list){.outer = 1, .extent = x->dim[axis], .inner = 1, .count = count};
    for (int i = 0; i < x->rank; i++)
        if (i != axis)
            *(i < axis ? &rows->outer : &rows->inner) *= x->dim[i];
    int64_t *place = tc_new_n(&lw->ctx->arena, int64_t, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        place[i] = start + i * step;
    rows->known = place;
}

void ti_lower_slice_scatter(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_slice *a = node->attr;
    const tc_type *y = ti_lower_result(lw, node, 0);
    int64_t count = ti_lower_type(lw, node, 1)->dim[a->axis];
    tc_row_list rows;
    regular(lw, y, (int)a->axis, a->start, a->step, count, &rows);
    tc_val source = count ? ti_move_in(lw, node, 1) : TC_NONE, x = ti_move_in(lw, node, 0);
    if (count)
        x = ti_b_tosa_reshape(lw, ti_put_rows_into(lw, x, source, &rows), y->rank, y->dim);
    out[0] = x;
}

void ti_lower_select_scatter(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_select *a = node->attr;
    const tc_type *y = ti_lower_result(lw, node, 0);
    tc_row_list rows;
    regular(lw, y, (int)a->axis, a->index, 1, 1, &rows);
    tc_val source = ti_move_in(lw, node, 1), x = ti_move_in(lw, node, 0);
    out[0] = ti_b_tosa_reshape(lw, ti_put_rows_into(lw, x, source, &rows), y->rank, y->dim);
}

/* ---- rows added ---- */

/* Plain types that REDUCE_SUM and ADD take: f32 or i32. */
static bool summed_in(tc_build *lw, const tc_type *t, tc_dtype *with)
{
    if (t->quant || (!ti_is_float(t->dtype) && !ti_is_int(t->dtype)) || t->dtype == TC_i64 ||
        t->dtype == TC_f64)
        ti_lower_refuse(lw, "numbers of this type cannot be added by index");
    *with = ti_is_float(t->dtype) ? TC_f32 : TC_i32;
    return lw->status == TC_OK;
}

/* [extent, count] or, batched, [n, extent, count]: whether row w goes to index e. */
static tc_val meets(tc_build *lw, tc_val place, int64_t n, int64_t extent, int64_t count)
{
    int64_t *all = tc_new_n(&lw->ctx->arena, int64_t, (size_t)extent);
    for (int64_t i = 0; i < extent; i++)
        all[i] = i;
    tc_val every = ti_put_known_places(lw, 3, (int64_t[]){1, extent, 1}, all);
    place = ti_b_tosa_reshape(lw, place, 3, (int64_t[]){n, 1, count});
    return ti_b_tosa_equal(lw, place, every);
}

/* x + what `combine` makes of the rows that share an index: source [n, count, inner], one list of
 * indices for all n or one each. */
static tc_val add_rows(tc_build *lw, tc_val x, tc_val source, const tc_row_list *rows,
                       tc_dtype with)
{
    int64_t cells = rows->outer * rows->extent * rows->count * rows->inner;
    if (cells > MOST_CELLS) {
        ti_lower_refuse(lw, "%lld rows times indices are too many", (long long)cells);
        return TC_NONE;
    }
    int64_t flat[] = {1, rows->count};
    tc_val place = rows->known ? ti_put_known_places(lw, 2, flat, rows->known)
                               : ti_b_tosa_reshape(lw, rows->index, 2, flat);
    tc_val hit = ti_b_tosa_reshape(lw, meets(lw, place, 1, rows->extent, rows->count), 4,
                                   (int64_t[]){1, rows->extent, rows->count, 1});
    tc_val from = ti_b_tosa_reshape(lw, ti_put_cast(lw, source, with), 4,
                                    (int64_t[]){rows->outer, 1, rows->count, rows->inner});
    tc_val sum =
        ti_b_tosa_reduce_sum(lw, ti_b_tosa_select(lw, hit, from, ti_plain_number(lw, from, 0)), 2);
    sum = ti_b_tosa_reshape(lw, sum, 3, (int64_t[]){rows->outer, rows->extent, rows->inner});
    x = ti_b_tosa_reshape(lw, ti_put_cast(lw, x, with), 3,
                          (int64_t[]){rows->outer, rows->extent, rows->inner});
    return ti_b_tosa_add(lw, x, sum);
}

void ti_lower_index_add(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_index_add *a = node->attr;
    const tc_type *y = ti_lower_result(lw, node, 0);
    tc_row_list rows;
    tc_dtype with;
    if (!summed_in(lw, y, &with) || !ti_row_list_of(lw, y, (int)a->axis, node, 1, &rows))
        return;
    tc_val source = ti_put_cast(lw, ti_lower_in(lw, node, 2), with);
    if (a->alpha != 1)
        source = ti_plain_scale(lw, source, a->alpha);
    tc_val x = add_rows(lw, ti_lower_in(lw, node, 0), source, &rows, with);
    out[0] = ti_put_cast(lw, ti_b_tosa_reshape(lw, x, y->rank, y->dim), y->dtype);
}

/* ---- index_put ---- */

/* x where the mask is false, one value where it is true. */
static void put_masked(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *y = ti_lower_result(lw, node, 0), *mask = ti_lower_type(lw, node, 2);
    bool accumulate = ((const tc_attr_index_put *)node->attr)->accumulate;
    if (node->n_in != 3 || accumulate || tc_type_count(ti_lower_type(lw, node, 1)) != 1) {
        ti_lower_refuse(lw, "how many elements its mask picks depends on the data");
        return;
    }
    int64_t dim[TC_MAX_RANK], one[TC_MAX_RANK];
    for (int i = 0; i < y->rank; i++) {
        dim[i] = i < mask->rank ? mask->dim[i] : 1;
        one[i] = 1;
    }
    tc_val value = ti_b_tosa_reshape(lw, ti_move_in(lw, node, 1), y->rank, one);
    tc_val x = ti_move_in(lw, node, 0);
    tc_dtype with = y->quant || !ti_is_float(y->dtype) ? y->dtype : ti_plain_type(y->dtype);
    x = ti_put_cast(lw, x, with);
    value = ti_put_cast(lw, value, with);
    x = ti_b_tosa_select(lw, ti_b_tosa_reshape(lw, ti_lower_in(lw, node, 2), y->rank, dim), value,
                         x);
    out[0] = ti_put_cast(lw, x, y->dtype);
}

static bool is_permuted_back(const int64_t *perm, int rank, int64_t *back)
{
    bool moved = false;
    for (int i = 0; i < rank; i++) {
        back[perm[i]] = i;
        moved = moved || perm[i] != i;
    }
    return moved;
}

void ti_lower_index_put(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *y = ti_lower_result(lw, node, 0);
    bool accumulate = ((const tc_attr_index_put *)node->attr)->accumulate;
    for (int i = 2; i < node->n_in; i++)
        if (node->in[i] && ti_lower_type(lw, node, i)->dtype == TC_bool) {
            put_masked(lw, node, out);
            return;
        }
    tc_row_list rows;
    tc_type picked;
    tc_dtype with = y->dtype;
    int64_t perm[TC_MAX_RANK], back[TC_MAX_RANK], dim[TC_MAX_RANK];
    if ((accumulate && !summed_in(lw, y, &with)) ||
        !ti_row_list_picked(lw, node, 2, &rows, perm, &picked))
        return;
    tc_val x = ti_b_tosa_transpose(lw, ti_move_in(lw, node, 0), perm);
    tc_val source = ti_b_tosa_expand(lw, ti_move_in(lw, node, 1), picked.rank, picked.dim);
    x = accumulate ? ti_put_cast(lw, add_rows(lw, x, source, &rows, with), y->dtype)
                   : ti_put_rows_into(lw, x, source, &rows);
    for (int i = 0; i < y->rank; i++)
        dim[i] = y->dim[perm[i]];
    x = ti_b_tosa_reshape(lw, x, y->rank, dim);
    out[0] = is_permuted_back(perm, y->rank, back) ? ti_b_tosa_transpose(lw, x, back) : x;
}

/* ---- scatter ---- */

/* Element (o, w, i) of the index goes to row index * inner + i of [outer, extent * inner, 1]. */
static tc_val element_places(tc_build *lw, const tc_node *node, int64_t outer, int64_t extent,
                             int64_t inner, int64_t count)
{
    const int64_t *known = ti_known_places(lw, node, 1, extent);
    const tc_type *t = ti_lower_type(lw, node, 1);
    tc_val place =
        known ? ti_put_known_places(lw, t->rank, t->dim, known) : ti_put_places(lw, node, 1);
    place = ti_b_tosa_reshape(lw, place, 3, (int64_t[]){outer, count, inner});
    if (inner == 1)
        return place;
    int64_t *within = tc_new_n(&lw->ctx->arena, int64_t, (size_t)inner);
    for (int64_t i = 0; i < inner; i++)
        within[i] = i;
    tc_val inside = ti_put_known_places(lw, 3, (int64_t[]){1, 1, inner}, within);
    return ti_b_tosa_add(lw, ti_plain_scale(lw, place, (double)inner), inside);
}

static tc_val scatter_set(tc_build *lw, const tc_node *node, const tc_row_list *r)
{
    int64_t rows[] = {r->outer, r->extent * r->inner, 1},
            part[] = {r->outer, r->count * r->inner, 1};
    tc_val place = element_places(lw, node, r->outer, r->extent, r->inner, r->count);
    place = ti_b_tosa_cast(lw, ti_b_tosa_reshape(lw, place, 2, part), TC_i32);
    tc_val source = ti_b_tosa_reshape(lw, ti_move_in(lw, node, 2), 3, part);
    tc_val x = ti_b_tosa_reshape(lw, ti_move_in(lw, node, 0), 3, rows);
    return ti_b_tosa_scatter(lw, x, place, source);
}

/* Sums over [outer, extent, count, inner] of the matches. */
static tc_val scatter_add(tc_build *lw, const tc_node *node, const tc_row_list *r, tc_dtype with)
{
    int64_t cells = r->outer * r->extent * r->count * r->inner;
    if (cells > MOST_CELLS) {
        ti_lower_refuse(lw, "%lld rows times indices are too many", (long long)cells);
        return TC_NONE;
    }
    const int64_t *known = ti_known_places(lw, node, 1, r->extent);
    const tc_type *t = ti_lower_type(lw, node, 1);
    tc_val place =
        known ? ti_put_known_places(lw, t->rank, t->dim, known) : ti_put_places(lw, node, 1);
    int64_t dim[] = {r->outer, 1, r->count, r->inner},
            *all = tc_new_n(&lw->ctx->arena, int64_t, (size_t)r->extent);
    for (int64_t i = 0; i < r->extent; i++)
        all[i] = i;
    tc_val every = ti_put_known_places(lw, 4, (int64_t[]){1, r->extent, 1, 1}, all);
    tc_val hit = ti_b_tosa_equal(lw, ti_b_tosa_reshape(lw, place, 4, dim), every);
    tc_val from = ti_b_tosa_reshape(lw, ti_put_cast(lw, ti_lower_in(lw, node, 2), with), 4, dim);
    tc_val sum =
        ti_b_tosa_reduce_sum(lw, ti_b_tosa_select(lw, hit, from, ti_plain_number(lw, from, 0)), 2);
    int64_t whole[] = {r->outer, r->extent, r->inner};
    sum = ti_b_tosa_reshape(lw, sum, 3, whole);
    tc_val x = ti_b_tosa_reshape(lw, ti_put_cast(lw, ti_lower_in(lw, node, 0), with), 3, whole);
    return ti_b_tosa_add(lw, x, sum);
}

void ti_lower_scatter(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_scatter *a = node->attr;
    const tc_type *y = ti_lower_result(lw, node, 0), *index = ti_lower_type(lw, node, 1),
                  *source = ti_lower_type(lw, node, 2);
    tc_row_list r = {.outer = 1, .extent = y->rank ? y->dim[a->axis] : 1, .inner = 1, .count = 1};
    bool whole = index->rank == y->rank && source->rank == y->rank;
    for (int i = 0; whole && i < y->rank; i++) {
        whole = index->dim[i] == source->dim[i] && (i == a->axis || index->dim[i] == y->dim[i]);
        if (i != a->axis)
            *(i < a->axis ? &r.outer : &r.inner) *= y->dim[i];
        else
            r.count = index->dim[i];
    }
    tc_dtype with = y->dtype;
    bool adds = a->combine == TC_combine_add && a->include_self;
    if (!whole || (a->combine != TC_combine_set && !adds))
        ti_lower_refuse(lw, !whole ? "its index is smaller than the tensor"
                                   : "it combines elements with the same index");
    if (lw->status != TC_OK || (adds && !summed_in(lw, y, &with)))
        return;
    tc_val x = adds ? scatter_add(lw, node, &r, with) : scatter_set(lw, node, &r);
    out[0] = ti_put_cast(lw, ti_b_tosa_reshape(lw, x, y->rank, y->dim), y->dtype);
}
