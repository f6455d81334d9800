/* SPDX-License-Identifier: Apache-2.0 */
/* replace_one_hots.c -- a matrix times one-hot rows is rows of a table.
 *
 *   [i == k, i == k + 1, ..] W + b  =>  rows of (W + b), by i - k
 *
 * i: whole numbers; the comparison as 0 and 1 in float.  Where i is none of the numbers the row is b:
 * the table has one before its rows and one behind them, and i is held between the two. */
#include "tidy.h"

#include <math.h>

#include "../num/load.h"

static const int64_t FAR = INT64_C(1) << 30; /* numbers stay within i32 */

typedef struct one_hot {
    tc_val place; /* i, with or without a last axis of extent 1 */
    int64_t first, depth;
} one_hot;

/* A constant of whole numbers, each one more than the one before, along the last axis alone. */
static bool counts_up(const tc_rewrite *rw, tc_val v, one_hot *hot)
{
    tc_tensor t = ti_tensor_of(rw->to, v);
    if (!ti_rewrite_is_fixed(rw, v) || !t.data || !ti_is_int(t.type->dtype) || !t.type->rank ||
        t.type->quant)
        return false;
    hot->depth = tc_type_count(t.type);
    if (!hot->depth || t.type->dim[t.type->rank - 1] != hot->depth)
        return false;
    hot->first = ti_load_i64(t, 0);
    for (int64_t i = 0; i < hot->depth; i++)
        if (ti_load_i64(t, i) != hot->first + i)
            return false;
    return hot->first > -FAR && hot->first + hot->depth < FAR;
}

/* What is repeated along the last axis; TC_NONE: it varies there. */
static tc_val before_repeating(const tc_rewrite *rw, tc_val v)
{
    const tc_node *def = ti_def(rw->to, v);
    v = def && def->op == TC_OP_expand ? def->in[0] : v;
    const tc_type *t = ti_type_of(rw->to, v);
    return ti_is_int(t->dtype) && t->rank && t->dim[t->rank - 1] == 1 ? v : TC_NONE;
}

static bool is_number(const tc_rewrite *rw, tc_val v, double number)
{
    tc_tensor t = ti_tensor_of(rw->to, v);
    return t.data && ti_rewrite_is_fixed(rw, v) && !t.type->quant && tc_type_count(t.type) == 1 &&
           ti_load_f64(t, 0) == number;
}

/* v: 1 where i is the number of its place along the last axis, and 0 elsewhere. */
static bool is_one_hot(const tc_rewrite *rw, tc_val v, one_hot *hot)
{
    const tc_type *type = ti_type_of(rw->to, v);
    const tc_node *node = ti_def(rw->to, v);
    while (node && node->op == TC_OP_cast)
        node = ti_def(rw->to, node->in[0]);
    if (node && node->op == TC_OP_where && is_number(rw, node->in[1], 1) &&
        is_number(rw, node->in[2], 0))
        node = ti_def(rw->to, node->in[0]);
    for (int i = 0; i < 2 && node && node->op == TC_OP_eq; i++) {
        if (!counts_up(rw, node->in[i], hot))
            continue;
        hot->place = before_repeating(rw, node->in[1 - i]);
        return hot->place && type->dim[type->rank - 1] == hot->depth &&
               tc_type_count(ti_type_of(rw->to, hot->place)) * hot->depth == tc_type_count(type);
    }
    return false;
}

static bool is_plain(const tc_rewrite *rw, tc_val v, int rank)
{
    tc_tensor t = ti_tensor_of(rw->to, v);
    if (!t.data || !ti_rewrite_is_fixed(rw, v) || t.type->dtype != TC_f32 || t.type->quant ||
        t.type->rank != rank)
        return false;
    for (int64_t i = 0; i < tc_type_count(t.type); i++)
        if (!isfinite(((const float *)t.data)[i])) /* times 0 it is none */
            return false;
    return true;
}

/* Rows of W + b, between two of b. */
static tc_val table_of(tc_build *b, tc_tensor w, tc_tensor bias, bool across, int64_t depth)
{
    int64_t n = tc_type_count(w.type) / depth;
    tc_tensor t = ti_b_tensor(b, TC_f32, 2, (int64_t[]){depth + 2, n});
    const float *from = w.data, *more = bias.data;
    float *to = t.data;
    for (int64_t r = 0; r < depth + 2; r++)
        for (int64_t c = 0; c < n; c++) {
            bool inside = r > 0 && r <= depth;
            float x = inside ? from[across ? c * depth + r - 1 : (r - 1) * n + c] : 0;
            to[r * n + c] = more ? x + more[c] : x;
        }
    return ti_b_const(b, t, NULL);
}

static tc_status as_rows(tc_rewrite *rw, const tc_node *node, bool *done)
{
    one_hot hot;
    bool across = node->op == TC_OP_linear;
    if ((!across && node->op != TC_OP_matmul) ||
        !is_plain(rw, ti_rewrite_in(rw, node, 1), 2) || !is_one_hot(rw, ti_rewrite_in(rw, node, 0), &hot))
        return TC_OK;
    tc_val bias = across && node->n_in > 2 && node->in[2] ? ti_rewrite_in(rw, node, 2) : TC_NONE;
    if (bias && !is_plain(rw, bias, 1))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    const tc_type *y = ti_b_out_type(&b, 0);
    tc_dtype wide = ti_b_dtype(&b, hot.place) == TC_i64 ? TC_i64 : TC_i32;
    tc_val table = table_of(&b, ti_tensor_of(rw->to, ti_b_in(&b, 1)), ti_tensor_of(rw->to, bias),
                            across, hot.depth);
    tc_val row = ti_b_reshape(&b, hot.place, y->rank - 1, y->dim);
    row = ti_b_clamp(&b, ti_b_cast(&b, row, wide), (double)(hot.first - 1),
                     (double)(hot.first + hot.depth));
    row = hot.first == 1 ? row : ti_b_add_n(&b, row, (double)(1 - hot.first));
    return ti_b_replace(&b, ti_b_embedding(&b, table, row), done);
}

tc_status ti_tidy_replace_one_hots(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {as_rows};
    (void)ctx;
    return ti_rewrite_module(module, rewriters, TC_COUNT(rewriters), NULL);
}
