/* SPDX-License-Identifier: Apache-2.0 */
/* lower_attention.c -- softmax(q k^T scale + mask) v, in integers and in floats.
 *
 * Integers: scores as i16 with room for the largest there can be; e^(score - max) as i16, not yet
 * divided; its two bytes by v, each into i32; the sum of both divided by the sum of the row.
 * Nothing is rounded to 8 bits but the result.  Coarse ones: see attention_values.c. */
#include <float.h>
#include <math.h>

#include "../../base/real.h"
#include "../move/lower_move.h"
#include "composite.h"

#include "../../num/load.h"

/* Everything as [batch, rows, columns]. */
typedef struct attention {
    const tc_type *q, *k, *v, *y, *mask;
    const tc_attr_sdpa *attr;
    int64_t batch, rows, keys, width, out;
} attention;

static bool start(tc_build *lw, const tc_node *node, attention *a)
{
    *a = (attention){ti_lower_type(lw, node, 0),
                     ti_lower_type(lw, node, 1),
                     ti_lower_type(lw, node, 2),
                     ti_lower_result(lw, node, 0),
                     ti_lower_type(lw, node, 3),
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
        ti_lower_refuse(lw, "it has %lld keys and rank %d", (long long)a->keys, a->y->rank);
    return lw->status == TC_OK;
}

/* Matrices of a, q, k or v as [batch, m, n]: heads shared by several queries are repeated, batches
 * broadcast. */
static tc_val matrices(tc_build *lw, const attention *a, tc_val x)
{
    if (!x)
        return x;
    const tc_type *t = ti_b_type(lw, x), *y = a->y;
    int64_t m = t->dim[t->rank - 2], n = t->dim[t->rank - 1], dim[TC_MAX_RANK];
    int heads = t->rank - 3;
    if (a->attr->gqa && t->dim[heads] < a->q->dim[a->q->rank - 3]) {
        int64_t own = t->dim[heads], share = a->q->dim[a->q->rank - 3] / own,
                outer = tc_type_count(t) / (own * m * n);
        x = ti_b_tosa_reshape(lw, x, 4, (int64_t[]){outer * own, 1, m, n});
        x = ti_b_tosa_tile(lw, x, (int64_t[]){1, share, 1, 1});
        memcpy(dim, t->dim, sizeof dim);
        dim[heads] = own * share;
        x = ti_b_tosa_reshape(lw, x, t->rank, dim);
    }
    memcpy(dim, y->dim, sizeof dim);
    dim[y->rank - 2] = m;
    dim[y->rank - 1] = n;
    return ti_b_tosa_reshape(lw, ti_b_tosa_expand(lw, x, y->rank, dim), 3,
                             (int64_t[]){a->batch, m, n});
}

static tc_val transposed(tc_build *lw, tc_val x)
{
    return ti_b_tosa_transpose(lw, x, (int64_t[]){0, 2, 1});
}

/* ---- masks ---- */

/* Index of element (row, key) of matrix `which` in a mask that is broadcast. */
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
            v = ti_load_i64(known, at) ? 0 : -INFINITY;
        else
            v = a->mask->quant ? ti_real(a->mask, 0, ti_load_i64(known, at))
                               : ti_load_f64(known, at);
    }
    return a->attr->causal && key > row ? -INFINITY : v;
}

/* Whether the mask is the same for every matrix of the batch. */
static bool mask_shared(const attention *a)
{
    return !a->mask || tc_type_count(a->mask) <= a->rows * a->keys;
}

/* All that is known to be added: x is [batch, rows, keys], minus infinity where a score counts for
 * nothing.  Only differences within a row count, so that one that is far down as a whole is brought
 * up. */
typedef struct known_mask {
    double *x;              /* NULL: nothing is known to be added */
    int64_t batch;          /* 1 or that of the scores */
    double least, most;     /* of the finite ones */
    bool masks;             /* some are minus infinity */
    bool *blind, any_blind; /* [batch, rows]: nothing of the row counts: its result is 0 */
    bool *lost, any_lost;   /* floats that far down absorb the score */
} known_mask;

static void level_row(const attention *a, known_mask *m, int64_t row)
{
    static const double far = 1e4, loses = 0x1p23;
    double *x = m->x + row * a->keys, top = -INFINITY;
    for (int64_t k = 0; k < a->keys; k++)
        top = fmax(top, x[k]);
    m->blind[row] = top == -INFINITY;
    m->lost[row] = !m->blind[row] && top <= -loses;
    m->any_blind = m->any_blind || m->blind[row];
    m->any_lost = m->any_lost || m->lost[row];
    for (int64_t k = 0; k < a->keys; k++) {
        x[k] -= top <= -far && !m->blind[row] ? top : 0;
        if (x[k] <= -far) {
            x[k] = -INFINITY;
            m->masks = true;
            continue;
        }
        m->least = fmin(m->least, x[k]);
        m->most = fmax(m->most, x[k]);
    }
}

static known_mask mask_of(tc_build *lw, const tc_node *node, const attention *a)
{
    tc_tensor known = a->mask ? ti_tensor_of(lw->rw->from, node->in[3]) : (tc_tensor){NULL, NULL};
    known_mask m = {.batch = mask_shared(a) ? 1 : a->batch};
    if (!known.data && !a->attr->causal)
        return m;
    m.x = tc_new_n(&lw->ctx->arena, double, (size_t)(m.batch * a->rows * a->keys));
    m.blind = tc_new_n(&lw->ctx->arena, bool, (size_t)(m.batch * a->rows));
    m.lost = tc_new_n(&lw->ctx->arena, bool, (size_t)(m.batch * a->rows));
    for (int64_t row = 0; row < m.batch * a->rows; row++) {
        for (int64_t k = 0; k < a->keys; k++)
            m.x[row * a->keys + k] = added(a, known, row / a->rows, row % a->rows, k);
        level_row(a, &m, row);
    }
    return m;
}

/* x, and 0 in the rows of the list: [batch, rows, 1]. */
static tc_val without_rows(tc_build *lw, const attention *a, const known_mask *m, const bool *out,
                           tc_val x, int64_t zero)
{
    int64_t dim[] = {m->batch, a->rows, 1}, n = m->batch * a->rows;
    uint8_t *kept = tc_new_n(&lw->ctx->arena, uint8_t, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        kept[i] = !out[i];
    if (!x)
        return x;
    tc_val keep = ti_b_data(lw, ti_type_make(lw->ctx, TC_bool, 3, dim), kept);
    return ti_b_tosa_select(lw, keep, x, ti_b_single(lw, ti_b_dtype(lw, x), 3, (double)zero));
}

/* A computed mask of bools, as [batch, rows, keys]; none if absent. */
static tc_val computed_mask(tc_build *lw, const tc_node *node, const attention *a)
{
    int64_t dim[TC_MAX_RANK];
    if (!a->mask || ti_is_const(lw->rw->from, node->in[3]))
        return TC_NONE;
    if (a->mask->dtype != TC_bool) {
        ti_lower_refuse(lw, "its mask is not constant");
        return TC_NONE;
    }
    memcpy(dim, a->y->dim, sizeof dim);
    dim[a->y->rank - 1] = a->keys;
    tc_val m = ti_b_tosa_expand(lw, ti_lower_in(lw, node, 3), a->y->rank, dim);
    return ti_b_tosa_reshape(lw, m, 3, (int64_t[]){a->batch, a->rows, a->keys});
}

/* ---- integers ---- */

static double reach(const tc_type *t)
{
    double z = (double)ti_zero_of(t), lo = (double)t->quant->lo, hi = (double)t->quant->hi;
    return ti_scale_of(t) * fmax(fabs(lo - z), fabs(hi - z));
}

/* In steps above this a share of one half is off by a 64th, four steps of a result of 8 bits. */
static const double COARSE_STEP = 0x1p-4;
static const double NOTHING = 16; /* e^-16 is negligible compared with 1 */

/* q k^T, in an accumulator. */
static tc_val raw_scores(tc_build *lw, const tc_node *node, const attention *a)
{
    tc_val k = transposed(lw, matrices(lw, a, ti_lower_in(lw, node, 1)));
    return ti_put_matrices(lw, matrices(lw, a, ti_lower_in(lw, node, 0)), ti_zero_of(a->q), k,
                           ti_zero_of(a->k));
}

/* x where the mask lets it through, a number elsewhere. */
static tc_val selected(tc_build *lw, tc_val mask, tc_val x, double otherwise)
{
    if (!mask || !x)
        return x;
    return ti_b_tosa_select(lw, mask, x, ti_b_single(lw, ti_b_dtype(lw, x), 3, otherwise));
}

/* How far below the largest of its row each score is: i32 in steps of *step.  Powers of two alone
 * are taken off the accumulator, whose multiplier would have 15 bits. */
static tc_val distances(tc_build *lw, const tc_node *node, const attention *a, const known_mask *m,
                        tc_val computed, double *step)
{
    const double room = 0x1p30 - 1;
    double unit = ti_scale_of(a->q) * ti_scale_of(a->k) * a->attr->scale;
    double bound =
        reach(a->q) * reach(a->k) * (double)a->width * a->attr->scale + fmax(m->most, -m->least);
    const double least_step = 22 / 0x1p31; /* so that 2^31 - 1 is far enough for nothing */
    int down = (int)fmax(0, ceil(ti_log2(fmax(bound / room, least_step) / unit)));
    *step = ldexp(unit, down);
    tc_val s = ti_put_rescale(lw, raw_scores(lw, node, a), ldexp(1, -down), 0, 0, TC_i32);
    if (m->any_lost)
        s = without_rows(lw, a, m, m->lost, s, 0);
    int64_t dim[] = {m->batch, a->rows, a->keys}, n = m->batch * a->rows * a->keys;
    if (m->x && (m->least < 0 || m->most > 0)) {
        double *x = tc_new_n(&lw->ctx->arena, double, (size_t)n);
        for (int64_t i = 0; i < n; i++)
            x[i] = m->x[i] > -1e4 ? m->x[i] / *step : 0;
        s = ti_b_tosa_add(lw, s, ti_b_numbers(lw, TC_i32, 3, dim, x));
    }
    tc_val keep = TC_NONE;
    if (m->masks) {
        uint8_t *kept = tc_new_n(&lw->ctx->arena, uint8_t, (size_t)n);
        for (int64_t i = 0; i < n; i++)
            kept[i] = m->x[i] > -1e4;
        keep = ti_b_data(lw, ti_type_make(lw->ctx, TC_bool, 3, dim), kept);
    }
    s = selected(lw, computed, selected(lw, keep, s, -room), -room);
    tc_val far = ti_b_tosa_sub(lw, ti_put_row_max(lw, s), s);
    return selected(lw, computed, selected(lw, keep, far, 0x1p31 - 1), 0x1p31 - 1);
}

/* Scores of which i16 has no room for all: how far they are below the largest of their row, as far
 * as that counts.  A mask that would be lost in steps of the product is added to that. */
static tc_val large_scores(tc_build *lw, const tc_node *node, const attention *a,
                           const known_mask *m, tc_val mask_now, double *step)
{
    bool later = ti_scale_of(a->q) * ti_scale_of(a->k) * a->attr->scale > COARSE_STEP;
    double range = later ? m->most - m->least : 0, wide;
    known_mask first = *m;
    if (later)
        first.least = first.most = 0;
    tc_val far = distances(lw, node, a, &first, mask_now, &wide);
    *step = (NOTHING + 2 * range) / 32767;
    far = ti_b_tosa_minimum(lw, far, ti_b_single(lw, TC_i32, 3, ceil((NOTHING + range) / wide)));
    far = ti_b_tosa_sub(lw, ti_b_single(lw, TC_i32, 3, 0), far);
    tc_val s = ti_put_rescale(lw, far, wide / *step, 0, 0, TC_i16);
    if (range == 0)
        return s;
    int64_t dim[] = {m->batch, a->rows, a->keys}, n = m->batch * a->rows * a->keys;
    double *x = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        x[i] = m->x[i] > -1e4 ? (m->x[i] - m->most) / *step : 0;
    return ti_put_fused(lw, TC_OP_tosa_add, (tc_term){s, 0, 1},
                        (tc_term){ti_b_numbers(lw, TC_i16, 3, dim, x), 0, 1}, 1, 0, TC_i16);
}

/* Scores with the known mask added, i16 in steps of *step. */
static tc_val scores(tc_build *lw, const tc_node *node, const attention *a, known_mask *m,
                     tc_val mask_now, double *step)
{
    double bound = reach(a->q) * reach(a->k) * (double)a->width * fabs(a->attr->scale),
           most = fmax(m->most, -m->least);
    bool computed = a->mask && !ti_is_const(lw->rw->from, node->in[3]);
    /* masked scores are 11 below the least possible score, at the end of i16 */
    *step = (bound + most + (m->masks || computed ? 11 : 0)) / 32767;
    if (*step > COARSE_STEP)
        return large_scores(lw, node, a, m, mask_now, step);
    tc_val s = raw_scores(lw, node, a);
    s = ti_put_rescale(lw, s, ti_scale_of(a->q) * ti_scale_of(a->k) * a->attr->scale / *step, 0, 0,
                       TC_i16);
    if (m->any_lost)
        s = without_rows(lw, a, m, m->lost, s, 0);
    if (!m->x)
        return s;
    /* minus infinity goes from one end of i16 to the other */
    double times = m->masks ? 2 : fmax(most, 1e-6) / (32767 * *step), u = times * *step;
    for (int64_t i = 0; i < m->batch * a->rows * a->keys; i++)
        m->x[i] = m->x[i] > -1e4 ? m->x[i] / u : -32768;
    tc_val mask = ti_b_numbers(lw, TC_i16, 3, (int64_t[]){m->batch, a->rows, a->keys}, m->x);
    return ti_put_fused(lw, TC_OP_tosa_add, (tc_term){s, 0, 0x1p12},
                        (tc_term){mask, 0, 0x1p12 * times}, 0x1p-12, 0, TC_i16);
}

/* e (i16) by v; the sum as i32 in steps of *unit of e times v. */
static tc_val weighted(tc_build *lw, const attention *a, tc_val e, tc_val v, double *unit)
{
    int down = (int)fmax(0, ceil(ti_log2((double)ti_lower_longest(lw, a->keys))) - 6); /* 2^29 at most in the end */
    *unit = ldexp(1, down);
    if (a->v->dtype == TC_i16) {
        *unit = ldexp(1, down + 8);
        return ti_put_rescale(lw, ti_put_matrices(lw, e, 0, v, 0), 1 / *unit, 0, 0, TC_i32);
    }
    tc_val high = ti_put_rescale(lw, e, 0x1p-8, 0, -128, TC_i8), low = ti_b_tosa_cast(lw, e, TC_i8);
    int64_t zero = ti_zero_of(a->v);
    high = ti_put_rescale(lw, ti_put_matrices(lw, high, -128, v, zero), ldexp(1, 8 - down), 0, 0,
                          TC_i32);
    low = ti_put_rescale(lw, ti_put_matrices(lw, low, 0, v, zero), ldexp(1, -down), 0, 0, TC_i32);
    return ti_b_tosa_add(lw, high, low);
}

/* sum / (sum of the row of e, which may be 0), into the domain of the result. */
static tc_val divided(tc_build *lw, const attention *a, tc_val sum, double unit, tc_val e,
                      bool may_be_0)
{
    tc_val row = ti_put_row_sum(lw, e, 0);
    if (may_be_0)
        row = ti_b_tosa_maximum(lw, row, ti_b_like(lw, row, TC_i32, 1));
    tc_inverse r = ti_put_inverse(lw, row);
    tc_val one = ti_b_single(lw, TC_i32, 3, 1);
    tc_val big = ti_b_tosa_logical_left_shift(lw, r.inverse, ti_b_tosa_sub(lw, r.zeros, one));
    /* |sum * unit / row| is 2^8 at most (i16: 2^16), in units of 2 * TC_INVERSE_UNIT */
    int shift =
        (int)ceil(ti_log2((a->v->dtype == TC_i16 ? 0x1p16 : 0x1p8) / (unit * 2 * TC_INVERSE_UNIT))) -
        29;
    tc_val y = ti_b_tosa_mul_shift(lw, sum, big, shift);
    double real = ldexp(2 * TC_INVERSE_UNIT, shift) * unit * ti_scale_of(a->v);
    y = ti_put_rescale(lw, y, real / ti_scale_of(a->y), 0, ti_zero_of(a->y), a->y->dtype);
    return ti_put_codes(lw, y, a->y->quant);
}

/* ---- results of 16 bits ---- */

/* i8 less its zero point, or i16, as i16. */
static tc_val as_i16(tc_build *lw, tc_val x, const tc_type *t)
{
    return t->dtype == TC_i16 ? x : ti_put_rescale(lw, x, 1, ti_zero_of(t), 0, TC_i16);
}

/* Shares in two halves by v, each into an accumulator. */
static void wide_sdpa(tc_build *lw, const tc_node *node, const attention *a, tc_val *out)
{
    known_mask m = mask_of(lw, node, a);
    double step, unit;
    tc_val computed = computed_mask(lw, node, a);
    tc_val far = distances(lw, node, a, &m, computed, &step);
    tc_val shares = ti_put_fine_shares(lw, far, step, &unit), high, low;
    ti_put_halves(lw, shares, &high, &low);
    tc_val v = as_i16(lw, matrices(lw, a, ti_lower_in(lw, node, 2)), a->v);
    high = ti_put_rescale(lw, ti_put_matrices(lw, high, 0, v, 0), 0.5, 0, 0, TC_i32);
    low = ti_put_rescale(lw, ti_put_matrices(lw, low, 0, v, 0), 0x1p-16, 0, 0, TC_i32);
    tc_val y = ti_b_tosa_add(lw, high, low);
    y = ti_put_rescale(lw, y, 0x1p16 * unit * ti_scale_of(a->v) / ti_scale_of(a->y), 0,
                       ti_zero_of(a->y), a->y->dtype);
    out[0] = ti_b_tosa_reshape(lw, ti_put_codes(lw, y, a->y->quant), a->y->rank, a->y->dim);
}

void ti_lower_int_sdpa(tc_build *lw, const tc_node *node, tc_val *out)
{
    attention a;
    if (!start(lw, node, &a))
        return;
    bool same = ti_is_activation(a.q) && ti_is_activation(a.k) && ti_is_activation(a.v) &&
                ti_is_activation(a.y) && a.q->dtype == a.k->dtype;
    if (!same ||
        ((a.q->dtype == TC_i16 || a.v->dtype == TC_i16) && !ti_lower_has(lw, TC_FEATURE_INT16)))
        ti_lower_refuse(lw, "its operands are not all of 8 bits and one scale");
    else if (!(a.attr->scale > 0) || isinf(a.attr->scale))
        ti_lower_refuse(lw, "its scale is not a positive number");
    TC_STOP(lw);
    if (a.y->dtype == TC_i16 && ti_lower_fine(lw)) {
        wide_sdpa(lw, node, &a, out);
        return;
    }
    double step = 1, unit = 1;
    known_mask m = mask_of(lw, node, &a);
    tc_val computed = computed_mask(lw, node, &a);
    tc_val s = selected(lw, computed, scores(lw, node, &a, &m, computed, &step), -32768);
    tc_val v = matrices(lw, &a, ti_lower_in(lw, node, 2)), y;
    if (a.attr->coarse && a.y->dtype == TC_i8 && a.v->dtype == TC_i8) {
        tc_rows r = {s, v, computed, step, ti_zero_of(a.v)};
        y = ti_put_attended(lw, &r, ti_scale_of(a.v), a.y);
    } else {
        tc_val e = ti_put_row_exp(lw, s, step, a.y->dtype == TC_i16 ? 16 : 12);
        e = selected(lw, computed, e, 0);
        tc_val sum = weighted(lw, &a, e, v, &unit);
        y = divided(lw, &a, sum, unit, e, computed != TC_NONE);
    }
    if (m.any_blind)
        y = without_rows(lw, &a, &m, m.blind, y, ti_zero_of(a.y));
    out[0] = ti_b_tosa_reshape(lw, y, a.y->rank, a.y->dim);
}

/* ---- floats ---- */

/* A row may be masked as a whole: one that is known to be, or with a mask that is computed. */
static bool may_be_blind(tc_build *lw, const tc_node *node, const attention *a)
{
    bool computed = a->mask && !ti_is_const(lw->rw->from, node->in[3]);
    return computed || (a->mask && mask_of(lw, node, a).any_blind);
}

/* Where the mask is minus infinity; -1e30 represents it, so that differences are finite. */
static const double real_low = -1e30;

/* The added mask, or none; bools as real_low, infinities as the lowest value.  seen: of a mask that
 * may hide a row, which scores take part; finite mask values do. */
static tc_val real_mask(tc_build *lw, const tc_node *node, const attention *a, tc_val s,
                        tc_val *seen)
{
    const double lowest = -FLT_MAX;
    bool blind = may_be_blind(lw, node, a);
    *seen = TC_NONE;
    int64_t dim[TC_MAX_RANK], one[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    memcpy(dim, a->y->dim, sizeof dim);
    dim[a->y->rank - 1] = a->keys;
    s = ti_b_tosa_reshape(lw, s, a->y->rank, dim);
    tc_val low = ti_b_numbers(lw, TC_f32, a->y->rank, one, &real_low);
    if (a->mask && a->mask->dtype == TC_bool)
        s = ti_b_tosa_select(lw, ti_b_tosa_rank(lw, ti_lower_in(lw, node, 3), a->y->rank), s, low);
    else if (a->mask) {
        tc_val m = ti_b_tosa_cast(lw, ti_lower_in(lw, node, 3), TC_f32);
        s = ti_b_tosa_add(lw, s, ti_b_tosa_rank(lw, m, a->y->rank));
        low = ti_b_numbers(lw, TC_f32, a->y->rank, one, &lowest);
        if (blind) {
            *seen = ti_b_tosa_greater_equal(lw, s, low);
            s = ti_b_tosa_maximum(lw, s, low);
        }
    }
    int64_t flat[] = {a->batch, a->rows, a->keys};
    s = ti_b_tosa_reshape(lw, s, 3, flat);
    if (*seen)
        *seen = ti_b_tosa_reshape(lw, *seen, 3, flat);
    else if (blind)
        *seen = ti_b_tosa_greater(lw, s, ti_b_single(lw, TC_f32, 3, real_low / 2));
    return s;
}

static tc_val causal_mask(tc_build *lw, const attention *a, tc_val s)
{
    if (!a->attr->causal)
        return s;
    double *x = tc_new_n(&lw->ctx->arena, double, (size_t)(a->rows * a->keys));
    for (int64_t i = 0; i < a->rows * a->keys; i++)
        x[i] = i % a->keys > i / a->keys ? real_low : 0;
    return ti_b_tosa_add(lw, s, ti_b_numbers(lw, TC_f32, 3, (int64_t[]){1, a->rows, a->keys}, x));
}

void ti_lower_real_sdpa(tc_build *lw, const tc_node *node, tc_val *out)
{
    attention a;
    if (!start(lw, node, &a))
        return;
    tc_val x[3];
    for (int i = 0; i < 3; i++)
        x[i] = matrices(lw, &a, ti_b_tosa_cast(lw, ti_lower_in(lw, node, i), TC_f32));
    tc_val s = ti_put_matrices(lw, x[0], 0, transposed(lw, x[1]), 0);
    s = ti_b_tosa_mul(lw, s, ti_b_single(lw, TC_f32, 3, a.attr->scale));
    tc_val seen;
    s = real_mask(lw, node, &a, s, &seen);
    tc_val p = ti_put_real_softmax(lw, causal_mask(lw, &a, s));
    if (seen) /* masked scores have probability 0, even in a fully masked row */
        p = ti_b_tosa_select(lw, seen, p, ti_b_single(lw, TC_f32, 3, 0));
    tc_val y = ti_b_tosa_cast(lw, ti_put_matrices(lw, p, 0, x[2], 0), a.y->dtype);
    out[0] = ti_b_tosa_reshape(lw, y, a.y->rank, a.y->dim);
}
