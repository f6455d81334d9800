/* SPDX-License-Identifier: Apache-2.0 */
/* onnx_count.c -- the builder of TfIdfVectorizer: how often known sequences occur in a row.
 *
 * All sequences of one length are counted at once.  Element j of a sequence is compared with
 * element i + j (skip + 1) of the row, for every i; if all are equal, it occurs at i. */
#include <string.h>

#include "../../num/load.h"
#include "onnx.h"

typedef struct pool {
    tc_ints number, column; /* of all sequences; where each is counted */
    tc_floats weight;
    int64_t first, count; /* of one length: where its elements begin, how many sequences */
    int64_t before;       /* sequences of shorter lengths */
    int length;
} pool;

/* Which sequences occur at each of `places` positions: bool [rows, places, count]. */
static tc_val matches(tc_build *m, tc_val x, const pool *p, int64_t places, int64_t step)
{
    tc_val all = TC_NONE;
    int64_t rows = ti_b_type(m, x)->dim[0];
    for (int j = 0; j < p->length && m->status == TC_OK; j++) {
        tc_tensor t = ti_b_tensor(m, TC_i64, 1, &p->count);
        for (int64_t s = 0; s < p->count; s++)
            ((int64_t *)t.data)[s] = p->number.v[p->first + s * p->length + j];
        tc_val wanted = ti_b_const(m, t, NULL);
        tc_val there = ti_b_slice(m, x, 1, j * step, j * step + places, 1);
        there = ti_b_reshape(m, there, 3, (int64_t[]){rows, places, 1});
        tc_val same = ti_b_eq(m, there, wanted);
        all = all ? ti_b_logical_and(m, all, same) : same;
    }
    return all;
}

/* How often each sequence of one length occurs in each row: f32 [rows, count]. */
static tc_val counts(tc_build *m, tc_val x, const pool *p, int64_t most_skip)
{
    tc_val sum = TC_NONE;
    int64_t width = ti_b_type(m, x)->dim[1], rows = ti_b_type(m, x)->dim[0];
    static const int64_t places_axis = 1;
    for (int64_t skip = 0; skip <= (p->length > 1 ? most_skip : 0); skip++) {
        int64_t places = width - (p->length - 1) * (skip + 1);
        if (places < 1)
            break;
        tc_val there = ti_b_cast(m, matches(m, x, p, places, skip + 1), TC_f32);
        tc_val times = ti_b_reduce(m, TC_OP_sum, there, &places_axis, 1, false);
        sum = sum ? ti_b_add(m, sum, times) : times;
    }
    return sum ? sum : ti_b_full(m, 2, (int64_t[]){rows, p->count}, 0, TC_f32);
}

/* [sequences, columns]: each sequence's weight in its own column. */
static tc_val spread(tc_build *m, const pool *p, int64_t columns, bool weighted)
{
    tc_tensor t = ti_b_tensor(m, TC_f32, 2, (int64_t[]){p->column.n, columns});
    memset(t.data, 0, tc_type_bytes(t.type));
    for (int i = 0; i < p->column.n; i++)
        ((float *)t.data)[i * columns + p->column.v[i]] =
            weighted && i < p->weight.n ? (float)p->weight.v[i] : 1;
    return ti_b_const(m, t, NULL);
}

static bool check(tc_onnx_node *n, const pool *p, tc_ints starts, int64_t *columns)
{
    tc_build *m = &n->m;
    int64_t sequences = 0;
    for (int i = 0; i < starts.n; i++) {
        int64_t from = starts.v[i], to = i + 1 < starts.n ? starts.v[i + 1] : p->number.n;
        if (from < 0 || to < from || to > p->number.n || (to - from) % (i + 1)) {
            ti_b_bad(m, TC_E_ARGUMENT, "ngram_counts does not fit the pool");
            return false;
        }
        sequences += (to - from) / (i + 1);
    }
    *columns = 0;
    for (int i = 0; i < p->column.n; i++) {
        *columns = ti_max_i64(*columns, p->column.v[i] + 1);
        if (p->column.v[i] < 0 || p->column.v[i] > 1 << 24)
            ti_b_bad(m, TC_E_ARGUMENT, "ngram_indexes has %" PRId64, p->column.v[i]);
    }
    if (sequences != p->column.n || !sequences)
        ti_b_bad(m, TC_E_ARGUMENT, "%" PRId64 " sequences and %d positions for them", sequences,
                 p->column.n);
    return m->status == TC_OK;
}

void ti_onnx_build_tf_idf(tc_onnx_node *n)
{
    enum { MOST_LENGTH = 16, MOST_SKIP = 1 << 10 };
    tc_build *m = &n->m;
    tc_val x = ti_onnx_need(n, 0), part[MOST_LENGTH];
    pool p = {.number = ti_onnx_ints(n, "pool_int64s"), .column = ti_onnx_ints(n, "ngram_indexes"),
              .weight = ti_onnx_floats(n, "weights")};
    tc_ints starts = ti_onnx_ints(n, "ngram_counts");
    int64_t shortest = ti_onnx_int(n, "min_gram_length", 1),
            longest = ti_onnx_int(n, "max_gram_length", 1),
            skip = ti_onnx_int(n, "max_skip_count", 0), columns;
    const char *mode = ti_onnx_text(n, "mode", "TF");
    int parts = 0;
    if (m->status != TC_OK || !check(n, &p, starts, &columns))
        return;
    if (ti_onnx_has(n, "pool_strings") || !ti_is_int(ti_b_dtype(m, x))) {
        ti_b_unsupported(m, "sequences of strings: tosac computes on numbers only");
        return;
    }
    const tc_type *t = ti_b_type(m, x);
    bool single = t->rank == 1;
    if (t->rank < 1 || t->rank > 2 || starts.n > MOST_LENGTH || skip < 0 || skip > MOST_SKIP) {
        ti_b_bad(m, TC_E_ARGUMENT, "TfIdfVectorizer of a tensor of rank %d", t->rank);
        return;
    }
    x = ti_b_cast(m, x, TC_i64);
    if (single)
        x = ti_b_unsqueeze(m, x, 0);
    for (int i = 0; i < starts.n && m->status == TC_OK; i++) {
        int64_t to = i + 1 < starts.n ? starts.v[i + 1] : p.number.n;
        p.length = i + 1;
        p.first = starts.v[i];
        p.count = (to - p.first) / p.length;
        if (!p.count)
            continue;
        int64_t rows = ti_b_type(m, x)->dim[0];
        bool wanted = p.length >= shortest && p.length <= longest;
        part[parts++] = wanted ? counts(m, x, &p, skip)
                               : ti_b_full(m, 2, (int64_t[]){rows, p.count}, 0, TC_f32);
    }
    tc_val y = ti_b_cat(m, 1, part, parts);
    if (ti_text_eq(mode, "IDF"))
        y = ti_b_clamp(m, y, 0, 1);
    tc_val by = spread(m, &p, columns, !ti_text_eq(mode, "TF"));
    y = ti_b_matmul(m, y, by);
    ti_onnx_bind(n, 0, single ? ti_b_select(m, y, 0, 0) : y);
}
