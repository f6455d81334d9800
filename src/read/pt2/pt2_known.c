/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_known.c -- importers of operators whose result sizes depend on their operands' values: those
 * must be constants, made in `forward` or stored. */
#include "../../num/load.h"
#include "pt2.h"

bool ti_pt2_places(tc_pt2_node *n, tc_val x, tc_val *out)
{
    tc_tensor t;
    if (!ti_b_known(&n->m, x, &t))
        return false;
    tc_tensor list = ti_b_nonzero(&n->m, t, false);
    int64_t found = list.type->dim[1];
    for (int axis = t.type->rank - 1; axis >= 0; axis--)
        out[axis] = ti_b_list(&n->m, (const int64_t *)list.data + axis * found, found);
    return true;
}

/* The values of the argument, or a message. */
static bool needs(tc_pt2_node *n, tc_val x, tc_tensor *out)
{
    if (n->m.status == TC_OK && ti_b_known(&n->m, x, out))
        return true;
    ti_b_unsupported(&n->m, "the size of its result depends on the data");
    return false;
}

/* Where self is not zero: rows of indices, or (extra 1) a list for each axis. */
static void import_nonzero(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, n->row->extra == 2 ? "condition" : "self"), place[TC_MAX_RANK];
    tc_tensor t;
    if (!needs(n, x, &t))
        return;
    int rank = t.type->rank;
    if (!rank && n->row->extra != 0) { /* a number counts as a list of one */
        x = ti_b_flat(&n->m, x);
        rank = 1;
    }
    if (!rank) {
        tc_ints shape = ti_ints_copy(&n->m.ctx->arena, (int64_t[]){ti_load_f64(t, 0) != 0, 0}, 2);
        ti_pt2_result(n, ti_b_full(&n->m, shape.n, shape.v, 0, TC_i64));
        return;
    }
    ti_pt2_places(n, x, place);
    for (int i = 0; i < rank && n->row->extra != 0; i++)
        ti_pt2_bind(n, i, place[i]);
    if (n->row->extra == 0)
        ti_pt2_result(n, ti_b_op(&n->m, TC_OP_stack, ti_b_attr(&n->m, axis, 1), place, rank));
}

static void import_masked_select(tc_pt2_node *n)
{
    tc_val in[TC_MAX_RANK + 1] = {ti_pt2_tensor(n, "self")}, mask = ti_pt2_tensor(n, "mask");
    tc_tensor m;
    if (!needs(n, mask, &m))
        return;
    const tc_type *a = ti_b_type(&n->m, in[0]), *b = m.type;
    int rank = a->rank > b->rank ? a->rank : b->rank;
    int64_t dim[TC_MAX_RANK];
    for (int i = 0; i < rank; i++) { /* broadcast together */
        int p = i - (rank - a->rank), q = i - (rank - b->rank);
        int64_t of_a = p < 0 ? 1 : a->dim[p], of_b = q < 0 ? 1 : b->dim[q];
        dim[i] = of_a == 1 ? of_b : of_a;
    }
    in[0] = ti_b_expand(&n->m, in[0], rank, dim);
    mask = ti_b_expand(&n->m, mask, rank, dim);
    if (!rank) {
        in[0] = ti_b_flat(&n->m, in[0]);
        mask = ti_b_flat(&n->m, mask);
        rank = 1;
    }
    if (n->m.status == TC_OK && ti_pt2_places(n, mask, in + 1))
        ti_pt2_result(n, ti_b_op(&n->m, TC_OP_index, NULL, in, rank + 1));
}

static tc_val numbers(tc_pt2_node *n, tc_dtype dtype, const double *v, int64_t count)
{
    tc_tensor t = ti_tensor_new(&n->m.ctx->arena, ti_type_make(n->m.ctx, dtype, 1, &count));
    for (int64_t i = 0; i < count; i++)
        ti_store_f64(t, i, v[i]);
    return ti_graph_const(n->m.g, t.type, t.data, NULL, n->m.loc);
}

/* Whether every number is exact as a double. */
static bool all_exact(tc_tensor t)
{
    enum { DIGITS = 53 };
    int64_t most = INT64_C(1) << DIGITS;
    for (int64_t i = 0; i < tc_type_count(t.type) && ti_is_int(t.type->dtype); i++)
        if (ti_load_i64(t, i) > most || ti_load_i64(t, i) < -most)
            return false;
    return true;
}

/* Distinct values in rising order (extra 1: in order of occurrence), which of them each element is,
 * and how often each occurs. */
static void import_unique(tc_pt2_node *n)
{
    tc_tensor t;
    if (!needs(n, ti_pt2_tensor(n, "self"), &t))
        return;
    int64_t count = tc_type_count(t.type), k = 0;
    enum { MOST = 1 << 12 };
    if (ti_pt2_has(n, "dim") || count > MOST || !all_exact(t)) {
        ti_b_unsupported(&n->m, "unique rows, or too many numbers");
        return;
    }
    size_t room = (size_t)count;
    double *found = tc_new_n(&n->m.ctx->arena, double, room);
    int64_t *which = tc_new_n(&n->m.ctx->arena, int64_t, room),
            *times = tc_new_n(&n->m.ctx->arena, int64_t, room);
    for (int64_t i = 0; i < count; i++) {
        double v = ti_load_f64(t, i);
        int64_t at = n->row->extra != 0 && k ? k - 1 : 0;
        while (at < k && (n->row->extra != 0 ? found[at] != v : found[at] < v))
            at++;
        if (at == k || found[at] != v) { /* a new one: those after it move up */
            memmove(found + at + 1, found + at, (size_t)(k - at) * sizeof *found);
            memmove(times + at + 1, times + at, (size_t)(k - at) * sizeof *times);
            for (int64_t j = 0; j < i; j++)
                which[j] += which[j] >= at;
            found[at] = v;
            times[at] = 0;
            k++;
        }
        which[i] = at;
        times[at]++;
    }
    ti_pt2_bind(n, 0, numbers(n, t.type->dtype, found, k));
    if (n->n_result > 1 && ti_pt2_bool(n, "return_inverse", false))
        ti_pt2_bind(n, 1,
                    ti_b_reshape_as(&n->m, ti_b_list(&n->m, which, count), t.type));
    if (n->n_result > 2 && ti_pt2_bool(n, "return_counts", false))
        ti_pt2_bind(n, 2, ti_b_list(&n->m, times, k));
}

/* How often each of 0, 1, ... occurs. */
static void import_bincount(tc_pt2_node *n)
{
    tc_tensor t;
    int64_t least = ti_pt2_int(n, "minlength", 0), most = 0;
    if (ti_pt2_has(n, "weights"))
        ti_b_unsupported(&n->m, "numbers that are weighed");
    if (!needs(n, ti_pt2_tensor(n, "self"), &t))
        return;
    enum { MOST = 1 << 24 };
    bool fits = least >= 0 && least <= MOST;
    for (int64_t i = 0; i < tc_type_count(t.type) && fits; i++) {
        fits = ti_load_i64(t, i) >= 0 && ti_load_i64(t, i) < MOST;
        most = ti_max_i64(most, ti_load_i64(t, i) + 1);
    }
    if (!fits) {
        ti_b_bad(&n->m, TC_E_ARGUMENT, "numbers that are negative or too large to be counted");
        return;
    }
    most = ti_max_i64(most, least);
    int64_t *times = tc_new_n(&n->m.ctx->arena, int64_t, (size_t)most);
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        times[ti_load_i64(t, i)]++;
    ti_pt2_result(n, ti_b_list(&n->m, times, most));
}

/* Whether each element is among the others: one of the comparisons holds. */
static void import_isin(tc_pt2_node *n)
{
    tc_val x = ti_pt2_operand(n, n->row->extra == 1 ? "element" : "elements", TC_NONE),
           among = ti_pt2_operand(n, n->row->extra == 2 ? "test_element" : "test_elements",
                                  TC_NONE);
    bool invert = ti_pt2_bool(n, "invert", false);
    TC_STOP(&n->m);
    int rank = ti_b_type(&n->m, x)->rank;
    int64_t last = rank;
    tc_val wide = ti_b_unsqueeze(&n->m, x, rank);
    tc_val same = ti_b_eq(&n->m, wide, ti_b_flat(&n->m, among));
    tc_val y = ti_b_1(&n->m, any,
                      ti_b_attr(&n->m, axes, ti_ints_copy(&n->m.ctx->arena, &last, 1), false),
                          same);
    if (invert)
        y = ti_b_logical_not(&n->m, y);
    ti_pt2_result(n, y);
}

const tc_pt2_row tc_pt2_data[] = {
    ROW("nonzero argwhere", import_nonzero, COUNT, 0),
    ROW("nonzero_numpy", import_nonzero, COUNT, 1),
    ROW("where", import_nonzero, COUNT, 2),
    ROW("masked_select", import_masked_select, COUNT, 0),
    ROW("_unique _unique2", import_unique, COUNT, 0),
    ROW("unique_consecutive", import_unique, COUNT, 1),
    ROW("bincount", import_bincount, COUNT, 0),
    ROW("isin.Tensor_Tensor", import_isin, eq, 0),
    ROW("isin.Scalar_Tensor", import_isin, eq, 1),
    ROW("isin.Tensor_Scalar", import_isin, eq, 2),
    {0},
};
