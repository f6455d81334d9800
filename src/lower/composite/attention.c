/* SPDX-License-Identifier: Apache-2.0 */
/* attention.c -- softmax(q k^T scale + mask) v, in integers and in floats.
 *
 * Integers: scores as i16 with room for the largest there can be; e^(score - max) as i16, not yet
 * divided; its two bytes by v, each into i32; the sum of both divided by the sum of the row.
 * Nothing is rounded to 8 bits but the result. */
#include <math.h>

#include "composite.h"
#include "../move/move.h"

#include "../../num/load.h"

/* Everything as [batch, rows, columns]. */
typedef struct attention {
    const tc_type *q, *k, *v, *y, *mask;
    const tc_attr_sdpa *attr;
    int64_t batch, rows, keys, width, out;
} attention;

static bool start(tc_lower *lw, const tc_node *node, attention *a)
{
    *a = (attention){tc_lower_type(lw, node, 0),
                     tc_lower_type(lw, node, 1),
                     tc_lower_type(lw, node, 2),
                     tc_lower_result(lw, node, 0),
                     tc_lower_type(lw, node, 3),
                     node->attr,
                     1,
                     0,
                     0,
                     0,
                     0};
    for (int i = 0; i + 2 < a->y->rank; i++)
        a->batch *= a->y->dim[i];
    a->rows = a->q->dim[a->q->rank - 2];
    a->keys = a->k->dim[a->k->rank - 2];
    a->width = a->q->dim[a->q->rank - 1];
    a->out = a->v->dim[a->v->rank - 1];
    if (a->keys > 32767 || a->y->rank > 6)
        tc_lower_refuse(lw, "it has %lld keys and rank %d", (long long)a->keys, a->y->rank);
    return lw->status == TC_OK;
}

/* Matrices of a, q, k or v as [batch, m, n]: heads shared by several queries are repeated, batches
 * broadcast. */
static tc_val matrices(tc_lower *lw, const attention *a, tc_val x)
{
    if (!x)
        return x;
    const tc_type *t = tc_put_type(lw, x), *y = a->y;
    int64_t m = t->dim[t->rank - 2], n = t->dim[t->rank - 1], dim[TC_MAX_RANK];
    int heads = t->rank - 3;
    if (a->attr->gqa && t->dim[heads] < a->q->dim[a->q->rank - 3]) {
        int64_t own = t->dim[heads], share = a->q->dim[a->q->rank - 3] / own,
                outer = tc_type_count(t) / (own * m * n);
        x = tc_put_reshape(lw, x, 4, (int64_t[]){outer * own, 1, m, n});
        x = tc_put_tile(lw, x, (int64_t[]){1, share, 1, 1});
        memcpy(dim, t->dim, sizeof dim);
        dim[heads] = own * share;
        x = tc_put_reshape(lw, x, t->rank, dim);
    }
    memcpy(dim, y->dim, sizeof dim);
    dim[y->rank - 2] = m;
    dim[y->rank - 1] = n;
    return tc_put_reshape(lw, tc_put_expand(lw, x, y->rank, dim), 3, (int64_t[]){a->batch, m, n});
}

static tc_val transposed(tc_lower *lw, tc_val x)
{
    return tc_put_transpose(lw, x, (int64_t[]){0, 2, 1});
}

/* A product of matrices; its element type is the accumulator's. */
static tc_val product(tc_lower *lw, tc_val a, int64_t a_zero, tc_val b, int64_t b_zero)
{
    if (!a || !b)
        return TC_NONE;
    const tc_type *ta = tc_put_type(lw, a), *tb = tc_put_type(lw, b);
    tc_val in[] = {a, b, tc_put_zero_point(lw, a, a_zero), tc_put_zero_point(lw, b, b_zero)};
    tc_dtype acc = ta->dtype == TC_i8 ? TC_i32 : ta->dtype == TC_i16 ? TC_i48 : TC_f32;
    tc_node *node = tc_graph_add(lw->to, TC_OP_tosa_matmul, NULL, in, 4, 1, lw->node->loc);
    int64_t dim[] = {ta->dim[0], ta->dim[1], tb->dim[2]};
    lw->to->val[node->out[0]]->type = tc_type_make(lw->ctx, acc, 3, dim);
    lw->status = tc_node_infer(lw->to, node);
    return lw->status == TC_OK ? node->out[0] : TC_NONE;
}

/* ---- masks ---- */

/* Where element (row, key) of matrix `which` lies in a mask that is broadcast. */
static int64_t mask_at(const attention *a, int64_t which, int64_t row, int64_t key)
{
    const tc_type *m = a->mask;
    int64_t at = 0, step = 1;
    for (int i = a->y->rank - 1, j = m->rank - 1; j >= 0; i--, j--) {
        int64_t index = i == a->y->rank - 1   ? key
                        : i == a->y->rank - 2 ? row
                                              : which % a->y->dim[i];
        if (i < a->y->rank - 2)
            which /= a->y->dim[i];
        at += m->dim[j] == 1 ? 0 : index * step;
        step *= m->dim[j];
    }
    return at;
}

/* What is added to a score: a known mask, and minus infinity ahead of the row where it is causal.
 */
static double added(const attention *a, tc_tensor known, int64_t which, int64_t row, int64_t key)
{
    double v = 0;
    if (known.data) {
        int64_t at = mask_at(a, which, row, key);
        if (a->mask->dtype == TC_bool)
            v = tc_load_i64(known, at) ? 0 : -INFINITY;
        else
            v = a->mask->quant ? tc_real(a->mask, 0, tc_load_i64(known, at))
                               : tc_load_f64(known, at);
    }
    return a->attr->causal && key > row ? -INFINITY : v;
}

/* Whether the mask is the same for every matrix of the batch. */
static bool mask_shared(const attention *a)
{
    return !a->mask || tc_type_count(a->mask) <= a->rows * a->keys;
}

/* All that is known to be added, [1 or batch, rows, keys]; *least, *most: its finite range.  NULL:
 * a row is all masked. */
static double *all_added(tc_lower *lw, const attention *a, tc_tensor known, int64_t *batch,
                         double *least, double *most, bool *masks)
{
    *batch = mask_shared(a) ? 1 : a->batch;
    double *x = tc_new_n(&lw->ctx->arena, double, (size_t)(*batch * a->rows * a->keys)), *at = x;
    *least = *most = 0;
    for (int64_t b = 0; b < *batch; b++)
        for (int64_t r = 0; r < a->rows; r++) {
            bool any = false;
            for (int64_t k = 0; k < a->keys; k++, at++) {
                *at = added(a, known, b, r, k);
                if (*at <= -1e4) {
                    *masks = true;
                    continue;
                }
                any = true;
                *least = fmin(*least, *at);
                *most = fmax(*most, *at);
            }
            if (!any)
                return NULL;
        }
    return x;
}

/* ---- integers ---- */

static double reach(const tc_type *t)
{
    double z = (double)tc_zero_of(t), lo = (double)t->quant->lo, hi = (double)t->quant->hi;
    return tc_scale_of(t) * fmax(fabs(lo - z), fabs(hi - z));
}

/* Scores with the known mask added, i16 in steps of *step. */
static tc_val scores(tc_lower *lw, const tc_node *node, const attention *a, double *step)
{
    tc_tensor known = a->mask ? tc_tensor_of(lw->from, node->in[3]) : (tc_tensor){NULL, NULL};
    bool adds = known.data || a->attr->causal;
    double bound = reach(a->q) * reach(a->k) * (double)a->width * fabs(a->attr->scale), least = 0,
           most = 0;
    int64_t batch = 1;
    bool masks = false;
    double *x = adds ? all_added(lw, a, known, &batch, &least, &most, &masks) : NULL;
    if (adds && !x) {
        tc_lower_refuse(lw, "a row of its mask lets nothing through");
        return TC_NONE;
    }
    /* what is masked lies 11 below the least score there can be, at the end of i16 */
    *step = (bound + fmax(most, -least) + (masks || (a->mask && !known.data) ? 11 : 0)) / 32767;
    tc_val k = transposed(lw, matrices(lw, a, tc_lower_in(lw, node, 1)));
    tc_val s = product(lw, matrices(lw, a, tc_lower_in(lw, node, 0)), tc_zero_of(a->q), k,
                       tc_zero_of(a->k));
    s = tc_put_rescale(lw, s, tc_scale_of(a->q) * tc_scale_of(a->k) * a->attr->scale / *step, 0, 0,
                       TC_i16);
    if (!adds)
        return s;
    /* minus infinity goes from one end of i16 to the other */
    double times = masks ? 2 : fmax(fmax(most, -least), 1e-6) / (32767 * *step), u = times * *step;
    for (int64_t i = 0; i < batch * a->rows * a->keys; i++)
        x[i] = x[i] > -1e4 ? x[i] / u : -32768;
    tc_val mask = tc_put_numbers(lw, TC_i16, 3, (int64_t[]){batch, a->rows, a->keys}, x);
    return tc_put_fused(lw, TC_OP_tosa_add, (tc_term){s, 0, 0x1p12},
                        (tc_term){mask, 0, 0x1p12 * times}, 0x1p-12, 0, TC_i16);
}

/* Scores where a mask that is computed says so, the lowest elsewhere. */
static tc_val selected(tc_lower *lw, const tc_node *node, const attention *a, tc_val s)
{
    if (!a->mask || tc_is_const(lw->from, node->in[3]) || !s)
        return s;
    if (a->mask->dtype != TC_bool) {
        tc_lower_refuse(lw, "its mask is not constant");
        return TC_NONE;
    }
    int64_t dim[TC_MAX_RANK];
    memcpy(dim, a->y->dim, sizeof dim);
    dim[a->y->rank - 1] = a->keys;
    tc_val m = tc_put_expand(lw, tc_lower_in(lw, node, 3), a->y->rank, dim);
    m = tc_put_reshape(lw, m, 3, (int64_t[]){a->batch, a->rows, a->keys});
    return tc_put3(lw, TC_OP_tosa_select, NULL, m, s, tc_put_number(lw, TC_i16, 3, -32768));
}

/* e (i16) by v; the sum as i32 in steps of *unit of e times v. */
static tc_val weighted(tc_lower *lw, const attention *a, tc_val e, tc_val v, double *unit)
{
    int down = (int)fmax(0, ceil(log2((double)a->keys)) - 7);
    *unit = ldexp(1, down);
    if (a->v->dtype == TC_i16) {
        *unit = ldexp(1, down + 8);
        return tc_put_rescale(lw, product(lw, e, 0, v, 0), 1 / *unit, 0, 0, TC_i32);
    }
    tc_val high = tc_put_rescale(lw, e, 0x1p-8, 0, -128, TC_i8),
           low = tc_put_tosa_cast(lw, e, TC_i8);
    int64_t zero = tc_zero_of(a->v);
    high = tc_put_rescale(lw, product(lw, high, -128, v, zero), ldexp(1, 8 - down), 0, 0, TC_i32);
    low = tc_put_rescale(lw, product(lw, low, 0, v, zero), ldexp(1, -down), 0, 0, TC_i32);
    return tc_put2(lw, TC_OP_tosa_add, NULL, high, low);
}

/* sum / (sum of the row of e), into the domain of the result. */
static tc_val divided(tc_lower *lw, const attention *a, tc_val sum, double unit, tc_val e)
{
    tc_inverse r = tc_put_inverse(lw, tc_put_row_sum(lw, e, 0));
    tc_val one = tc_put_number(lw, TC_i32, 3, 1);
    tc_val big = tc_put2(lw, TC_OP_tosa_logical_left_shift, NULL, r.inverse,
                         tc_put2(lw, TC_OP_tosa_sub, NULL, r.zeros, one));
    /* |sum * unit / row| is 2^8 at most (i16: 2^16), in units of 2 * TC_INVERSE_UNIT */
    int shift =
        (int)ceil(log2((a->v->dtype == TC_i16 ? 0x1p16 : 0x1p8) / (unit * 2 * TC_INVERSE_UNIT))) -
        29;
    tc_val y = tc_put_product(lw, sum, big, shift);
    double real = ldexp(2 * TC_INVERSE_UNIT, shift) * unit * tc_scale_of(a->v);
    y = tc_put_rescale(lw, y, real / tc_scale_of(a->y), 0, tc_zero_of(a->y), a->y->dtype);
    return tc_put_reshape(lw, tc_put_codes(lw, y, a->y->quant), a->y->rank, a->y->dim);
}

void tc_lower_int_sdpa(tc_lower *lw, const tc_node *node, tc_val *out)
{
    attention a;
    if (!start(lw, node, &a))
        return;
    bool same = tc_is_activation(a.q) && tc_is_activation(a.k) && tc_is_activation(a.v) &&
                tc_is_activation(a.y) && a.q->dtype == a.k->dtype;
    if (!same ||
        ((a.q->dtype == TC_i16 || a.v->dtype == TC_i16) && !tc_lower_has(lw, TC_FEATURE_INT16)))
        tc_lower_refuse(lw, "its operands are not all of 8 bits and one scale");
    else if (!(a.attr->scale > 0) || isinf(a.attr->scale))
        tc_lower_refuse(lw, "its scale is not a positive number");
    if (lw->status != TC_OK)
        return;
    double step = 1, unit = 1;
    tc_val s = selected(lw, node, &a, scores(lw, node, &a, &step));
    tc_val e = tc_put_row_exp(lw, s, step, a.y->dtype == TC_i16 ? 16 : 12);
    tc_val sum = weighted(lw, &a, e, matrices(lw, &a, tc_lower_in(lw, node, 2)), &unit);
    out[0] = divided(lw, &a, sum, unit, e);
}

/* ---- floats ---- */

static tc_val real_mask(tc_lower *lw, const tc_node *node, const attention *a, tc_val s)
{
    int64_t dim[TC_MAX_RANK], one[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    memcpy(dim, a->y->dim, sizeof dim);
    dim[a->y->rank - 1] = a->keys;
    s = tc_put_reshape(lw, s, a->y->rank, dim);
    if (a->mask && a->mask->dtype == TC_bool) {
        tc_val low = tc_put_numbers(lw, TC_f32, a->y->rank, one, &(double){-1e30});
        s = tc_put3(lw, TC_OP_tosa_select, NULL,
                    tc_put_rank(lw, tc_lower_in(lw, node, 3), a->y->rank), s, low);
    } else if (a->mask) {
        tc_val m = tc_put_tosa_cast(lw, tc_lower_in(lw, node, 3), TC_f32);
        s = tc_put2(lw, TC_OP_tosa_add, NULL, s, tc_put_rank(lw, m, a->y->rank));
    }
    return tc_put_reshape(lw, s, 3, (int64_t[]){a->batch, a->rows, a->keys});
}

static tc_val causal_mask(tc_lower *lw, const attention *a, tc_val s)
{
    if (!a->attr->causal)
        return s;
    double *x = tc_new_n(&lw->ctx->arena, double, (size_t)(a->rows * a->keys));
    for (int64_t i = 0; i < a->rows * a->keys; i++)
        x[i] = i % a->keys > i / a->keys ? -1e30 : 0;
    return tc_put2(lw, TC_OP_tosa_add, NULL, s,
                   tc_put_numbers(lw, TC_f32, 3, (int64_t[]){1, a->rows, a->keys}, x));
}

void tc_lower_real_sdpa(tc_lower *lw, const tc_node *node, tc_val *out)
{
    attention a;
    if (!start(lw, node, &a))
        return;
    tc_val x[3];
    for (int i = 0; i < 3; i++)
        x[i] = matrices(lw, &a, tc_put_tosa_cast(lw, tc_lower_in(lw, node, i), TC_f32));
    tc_val s = product(lw, x[0], 0, transposed(lw, x[1]), 0);
    s = tc_put_product(lw, s, tc_put_number(lw, TC_f32, 3, a.attr->scale), 0);
    tc_val p = tc_put_real_softmax(lw, causal_mask(lw, &a, real_mask(lw, node, &a, s)));
    tc_val y = tc_put_tosa_cast(lw, product(lw, p, 0, x[2], 0), a.y->dtype);
    out[0] = tc_put_reshape(lw, y, a.y->rank, a.y->dim);
}
