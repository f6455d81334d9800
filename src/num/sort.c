/* SPDX-License-Identifier: Apache-2.0 */
/* sort.c -- rows in order, and the first k of them.  NaN is largest; the sort is stable. */
#include <math.h>

#include "kernels.h"
#include "load.h"
#include "rows.h"

/* One row's elements as keys: real or integer. */
typedef struct keys {
    const double *real;
    const int64_t *integer;
    bool descending;
} keys;

/* a is strictly before b. */
static bool before(const keys *k, int64_t a, int64_t b)
{
    if (!k->real)
        return k->descending ? k->integer[a] > k->integer[b] : k->integer[a] < k->integer[b];
    double x = k->descending ? k->real[b] : k->real[a];
    double y = k->descending ? k->real[a] : k->real[b];
    return isnan(x) ? false : isnan(y) || x < y;
}

/* order[0..n) sorted by merging; `spare` has room for n. */
static void merge_sort(const keys *k, int64_t *order, int64_t *spare, int64_t n)
{
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t low = 0; low < n; low += 2 * width) {
            int64_t mid = ti_min_i64(low + width, n), high = ti_min_i64(low + 2 * width, n);
            int64_t a = low, b = mid;
            for (int64_t i = low; i < high; i++)
                spare[i] = b < high && (a == mid || before(k, order[b], order[a])) ? order[b++]
                                                                                   : order[a++];
        }
        memcpy(order, spare, (size_t)n * sizeof *order);
    }
}

/* The first `take` of every row in order: values and their indices. */
static void sort_rows(tc_call *c, int64_t axis, bool descending, int64_t take)
{
    tc_rows rows = ti_rows_along(c->scratch, c->in[0], axis);
    size_t n = (size_t)rows.n, bytes = tc_dtypes[rows.x.type->dtype].bytes;
    bool real = ti_is_float(rows.x.type->dtype);
    void *key = ti_arena_raw(c->scratch, n * sizeof(double));
    int64_t *order = tc_new_n(c->scratch, int64_t, n), *spare = tc_new_n(c->scratch, int64_t, n);
    char *values = ti_arena_raw(c->scratch, tc_type_bytes(c->out[0].type));
    tc_tensor indices = {c->out[1].type, ti_arena_raw(c->scratch, tc_type_bytes(c->out[1].type))};
    keys k = {real ? key : NULL, real ? NULL : key, descending};
    for (int64_t r = 0; r < rows.n_row; r++) {
        if (real)
            ti_read_f64(rows.x, r * rows.n, n, key);
        else
            ti_read_i64(rows.x, r * rows.n, n, key);
        for (int64_t i = 0; i < rows.n; i++)
            order[i] = i;
        merge_sort(&k, order, spare, rows.n);
        for (int64_t i = 0; i < take; i++) {
            memcpy(values + (size_t)(r * take + i) * bytes,
                   (const char *)rows.x.data + (size_t)(r * rows.n + order[i]) * bytes, bytes);
            ti_store_i64(indices, r * take + i, order[i]);
        }
    }
    ti_rows_back(c->out[0], axis, values, take);
    ti_rows_back(c->out[1], axis, indices.data, take);
}

void ti_num_sort(tc_call *c)
{
    const tc_attr_sort *a = c->attr;
    const tc_type *x = c->in[0].type;
    sort_rows(c, a->axis, a->descending, x->rank ? x->dim[a->axis] : 1);
}

void ti_num_topk(tc_call *c)
{
    const tc_attr_topk *a = c->attr;
    sort_rows(c, a->axis, a->largest, a->k);
}
