/* SPDX-License-Identifier: Apache-2.0 */
/* lower_matmul.c -- linear layers and matrix products.
 *
 * Constant weights make a 1x1 convolution over [1,1,rows,k], or MATMUL_T where operands are block scaled; two computed operands make a MATMUL
 * over [batch, rows, k] and [batch, k, columns], repeated where they broadcast. */
#include <math.h>

#include "../integer/arith.h"
#include "../move/lower_move.h"
#include "product.h"

#include "../../num/einsum.h"
#include "../../num/load.h"

/* ---- linear layers ---- */

/* Half of an i32: x = 2^16 * high + low, each i16, by the same weights, in steps of the result y. */
static tc_val put_limb(tc_build *lw, tc_val limb, double scale, const tc_node *node, bool bias,
                       const tc_type *y)
{
    const tc_type *w = ti_lower_type(lw, node, 1), *x = limb ? ti_b_type(lw, limb) : NULL;
    int64_t k = w->dim[w->rank - 1], n = w->rank == 1 ? 1 : w->dim[0],
            rows = limb ? tc_type_count(x) / k : 0;
    if (!limb)
        return limb;
    tc_product p = {.x = ti_wide_type(lw, x, TC_i16, scale), .w = w, .y = y, .channels = n,
                    .made = TC_i48, .acc = TC_i48,
                    .scale = tc_new_n(&lw->ctx->arena, double, (size_t)n), .unit = 1};
    for (int64_t c = 0; c < n; c++)
        p.scale[c] = scale * w->quant->scale[w->quant->axis >= 0 ? c % w->quant->count : 0];
    tc_val own = ti_b_tosa_reshape(lw, limb, 4, (int64_t[]){1, 1, rows, k});
    tc_val weight =
        ti_put_weights(lw, ti_lower_in(lw, node, 1), (int64_t[]){0, 1}, 4, (int64_t[]){n, 1, 1, k});
    tc_val zero = bias ? ti_product_bias(lw, node, &p, 0, n) : ti_b_single(lw, TC_i48, 1, 0);
    tc_val made = ti_put_rows_by(lw, &p, own, weight, zero);
    return ti_product_finish(lw, made, &p, 0, n);
}

/* v = 2^16 * limb[0] + limb[1], the second its low bits with their sign; above 2^31 - 1 - 2^15 the first
 * saturates: 2^-15 of v less. */
static void put_halves(tc_build *lw, tc_val v, tc_val limb[2])
{
    limb[0] = ti_put_rescale(lw, v, 0x1p-16, 0, 0, TC_i16);
    tc_val low = ti_b_tosa_logical_left_shift(lw, v, ti_b_like(lw, v, TC_i32, 16));
    limb[1] = ti_put_rescale(lw, low, 0x1p-16, 0, 0, TC_i16);
}

tc_val ti_put_bands(tc_build *lw, const tc_node *node, tc_val v, double scale, double to)
{
    const tc_type *w = ti_lower_type(lw, node, 1);
    int64_t n = w->dim[0], rows = v ? tc_type_count(ti_b_type(lw, v)) / w->dim[1] : 0;
    tc_val limb[2], sum[2];
    if (!v)
        return v;
    const tc_type *y = ti_wide_type(lw, ti_type_make(lw->ctx, TC_i32, 2, (int64_t[]){rows, n}), TC_i32, to);
    put_halves(lw, v, limb);
    sum[0] = put_limb(lw, limb[0], scale * 0x1p16, node, false, y);
    sum[1] = put_limb(lw, limb[1], scale, node, false, y);
    return ti_b_tosa_reshape(lw, ti_b_tosa_add(lw, sum[0], sum[1]), 2, (int64_t[]){rows, n});
}

/* The largest sum of the low limbs, in steps of the result. */
static double low_reach(const tc_build *lw, const tc_node *node)
{
    const tc_type *x = ti_lower_type(lw, node, 0), *w = ti_lower_type(lw, node, 1),
                  *y = ti_lower_result(lw, node, 0);
    tc_tensor t = ti_tensor_of(lw->rw->from, node->in[1]);
    int64_t k = w->dim[w->rank - 1], n = w->rank == 1 ? 1 : w->dim[0];
    double most = 0;
    for (int64_t c = 0; c < n && t.data; c++) {
        double sum = 0;
        for (int64_t i = 0; i < k; i++)
            sum += fabs((double)ti_load_i64(t, c * k + i));
        most = fmax(most, sum * w->quant->scale[w->quant->axis >= 0 ? c : 0]);
    }
    return ceil(most * 0x1p15 * ti_scale_of(x) / ti_scale_of(y)) + 2;
}

/* Some sum may be negative. */
static bool may_fall(const tc_build *lw, const tc_node *node)
{
    bool any = ti_lower_type(lw, node, 0)->quant->lo < 0;
    for (int k = 1; k < node->n_in; k++) {
        tc_tensor t = ti_tensor_of(lw->rw->from, node->in[k]);
        for (int64_t i = 0; t.data && i < tc_type_count(t.type) && !any; i++)
            any = ti_load_i64(t, i) < 0;
    }
    return any;
}

/* A layer of i32, such as sums of a power spectrum over bands, in i32: two of i16.  A result that
 * saturates has room for both.  false: it is not. */
static bool by_limbs(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *x = ti_lower_type(lw, node, 0), *w = ti_lower_type(lw, node, 1),
                  *y = ti_lower_result(lw, node, 0);
    if (x->dtype != TC_i32 || !x->quant || x->quant->axis >= 0 || ti_zero_of(x) || !w->quant ||
        w->dtype != TC_i8 || w->quant->zero[0] || w->quant->axis > 0 || y->dtype != TC_i32 ||
        !y->quant || y->quant->axis >= 0)
        return false;
    const double most = 0x1p31 - 1 - 0x1p15; /* high is rounded */
    tc_val v = ti_lower_in(lw, node, 0);
    if (!v)
        return true;
    if ((double)x->quant->hi > most)
        v = ti_b_tosa_minimum(lw, v, ti_b_like(lw, v, TC_i32, most));
    tc_val limb[2];
    put_halves(lw, v, limb);
    tc_val a = put_limb(lw, limb[0], ti_scale_of(x) * 0x1p16, node, false, y),
           b = put_limb(lw, limb[1], ti_scale_of(x), node, true, y);
    if (a && y->quant->hi < INT32_MAX) {
        double room = 0x1p31 - 1 - low_reach(lw, node);
        a = ti_b_tosa_minimum(lw, a, ti_b_like(lw, a, TC_i32, fmax(room, 0x1p30)));
    }
    a = ti_b_tosa_add(lw, a, b);
    if (a && y->quant->hi < INT32_MAX)
        a = ti_b_tosa_minimum(lw, a, ti_b_like(lw, a, TC_i32, (double)y->quant->hi));
    if (a && y->quant->lo > INT32_MIN && may_fall(lw, node))
        a = ti_b_tosa_maximum(lw, a, ti_b_like(lw, a, TC_i32, (double)y->quant->lo));
    out[0] = ti_b_tosa_reshape(lw, a, y->rank, y->dim);
    return true;
}

void ti_lower_linear(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *x = ti_lower_type(lw, node, 0), *w = ti_lower_type(lw, node, 1);
    const tc_type *y = ti_lower_result(lw, node, 0);
    tc_product p;
    if (by_limbs(lw, node, out) ||
        !ti_product_start(lw, node, w->rank == 1 ? 1 : w->dim[0], &p))
        return;
    int64_t k = w->dim[w->rank - 1], n = p.channels, rows = tc_type_count(x) / k;
    if (w->dtype == TC_i16) {
        ti_lower_refuse(lw, "its weights are i16");
        return;
    }
    if (p.block[0] || p.block[1]) {
        int64_t perm[] = {0, 1}, in[] = {1, rows, k}, by[] = {1, n, k};
        tc_val left = ti_b_tosa_reshape(lw, ti_product_in(lw, node, 0), 3, in);
        tc_val right = ti_put_weights(lw, ti_product_in(lw, node, 1), perm, 3, by);
        left = ti_put_block_rows(lw, &p, left, right, ti_product_bias(lw, node, &p, 0, n));
        out[0] = ti_b_tosa_reshape(lw, left, y->rank, y->dim);
        return;
    }
    tc_val own = ti_b_tosa_reshape(lw, ti_lower_in(lw, node, 0), 4, (int64_t[]){1, 1, rows, k});
    tc_val weight =
        ti_put_weights(lw, ti_lower_in(lw, node, 1), (int64_t[]){0, 1}, 4, (int64_t[]){n, 1, 1, k});
    tc_val made = ti_put_rows_by(lw, &p, own, weight, ti_product_bias(lw, node, &p, 0, n));
    out[0] = ti_b_tosa_reshape(lw, ti_product_finish(lw, made, &p, 0, n), y->rank, y->dim);
}

/* ---- a product of two tensors ---- */

/* [batch.., rows, k] by [batch.., k, columns]. */
typedef struct pair {
    tc_val val[2];
    const tc_type *type[2]; /* shape and domain; one axis means rows or columns of 1 */
    const tc_type *to;      /* domain of the result; NULL: the accumulator itself */
    int64_t zero[2], rows, k, columns, batch, dim[TC_MAX_RANK]; /* dim: of the batch */
    int rank;                                                   /* of the batch */
    bool repeated[2]; /* the operand's own batch is smaller */
    double scale;     /* of the accumulator; 0: floats */
} pair;

static bool fits(tc_build *lw, pair *m)
{
    const tc_type *a = m->type[0], *b = m->type[1];
    if (a->quant || b->quant) {
        if (!ti_is_activation(a) || !ti_is_activation(b))
            ti_lower_refuse(lw, "its operands do not all have one scale");
    } else if (a->dtype != b->dtype || !ti_is_float(a->dtype))
        ti_lower_refuse(lw, "its operands are %s and %s", tc_dtypes[a->dtype].name,
                        tc_dtypes[b->dtype].name);
    TC_STOP_WITH(lw, false);
    m->scale = a->quant ? ti_scale_of(a) * ti_scale_of(b) : 0;
    for (int i = 0; i < 2; i++)
        m->zero[i] = a->quant ? ti_zero_of(m->type[i]) : 0;
    return true;
}

static void extents(pair *m)
{
    const tc_type *a = m->type[0], *b = m->type[1];
    m->rows = a->rank > 1 ? a->dim[a->rank - 2] : 1;
    m->k = a->dim[a->rank - 1];
    m->columns = b->rank > 1 ? b->dim[b->rank - 1] : 1;
    int ra = a->rank > 2 ? a->rank - 2 : 0, rb = b->rank > 2 ? b->rank - 2 : 0;
    m->rank = ra > rb ? ra : rb;
    m->batch = 1;
    for (int i = 0; i < m->rank; i++) {
        int64_t da = i < m->rank - ra ? 1 : a->dim[i - (m->rank - ra)];
        int64_t db = i < m->rank - rb ? 1 : b->dim[i - (m->rank - rb)];
        m->dim[i] = da == 1 ? db : da;
        m->batch *= m->dim[i];
        m->repeated[0] = m->repeated[0] || da != m->dim[i];
        m->repeated[1] = m->repeated[1] || db != m->dim[i];
    }
}

/* An operand as [batch, r, c], repeated where the other has more of a batch. */
static tc_val batched(tc_build *lw, const pair *m, int i)
{
    const tc_type *t = m->type[i];
    int64_t dim[TC_MAX_RANK], own[TC_MAX_RANK],
        last[] = {i ? m->k : m->rows, i ? m->columns : m->k};
    for (int k = 0; k < m->rank; k++) {
        int at = k - (m->rank + 2 - t->rank);
        dim[k] = m->dim[k];
        own[k] = t->rank > 2 && at >= 0 ? t->dim[at] : 1;
    }
    memcpy(own + m->rank, last, sizeof last);
    memcpy(dim + m->rank, last, sizeof last);
    tc_val x = m->val[i];
    if (m->repeated[i])
        x = ti_b_tosa_expand(lw, ti_b_tosa_reshape(lw, x, m->rank + 2, own), m->rank + 2, dim);
    return ti_b_tosa_reshape(lw, x, 3, (int64_t[]){m->batch, last[0], last[1]});
}

/* The accumulator in the result's domain. */
static tc_val into(tc_build *lw, const pair *m, tc_val made)
{
    if (!m->to)
        return made;
    if (m->scale == 0)
        return ti_put_cast(lw, made, m->to->dtype);
    const tc_quant *q = m->to->quant;
    if (m->to->dtype == (made ? ti_b_dtype(lw, made) : TC_none) && q->scale[0] == m->scale)
        return made;
    return ti_put_codes(lw,
                        ti_put_rescale(lw, made, ti_scale_factor(m->scale, q->scale[0]), 0,
                                       q->zero[0], m->to->dtype),
                        q);
}

static tc_val put_matmul(tc_build *lw, const pair *m, tc_val a, tc_val b)
{
    if (!a || !b || lw->status != TC_OK)
        return TC_NONE;
    tc_dtype t = ti_b_dtype(lw, a), made = ti_product_made(t);
    tc_val in[4] = {a, b, ti_b_zero_point(lw, a, m->zero[0])};
    in[3] = ti_b_zero_point(lw, b, m->zero[1]);
    int64_t dim[] = {ti_b_type(lw, a)->dim[0], ti_b_type(lw, a)->dim[1], ti_b_type(lw, b)->dim[2]};
    made = ti_is_float(t) && made != TC_f16 ? TC_f32 : made;
    return ti_b_typed(lw, TC_OP_tosa_matmul, NULL, in, 4, ti_type_make(lw->ctx, made, 3, dim));
}

/* The same in parts of k, where one accumulator does not hold the sum; m->scale is then that of the
 * parts' sum. */
static tc_val by_parts(tc_build *lw, pair *m, tc_val a, tc_val b)
{
    enum { MOST_PARTS = 64 };
    if (!a || !b || lw->status != TC_OK)
        return TC_NONE;
    tc_dtype made = ti_product_made(ti_b_dtype(lw, a));
    double top = 1, limit = ti_product_limit(lw, made);
    for (int i = 0; i < 2; i++) {
        tc_dtype t = ti_b_type(lw, i ? b : a)->dtype;
        if (m->scale != 0)
            top *= (double)ti_max_i64(m->zero[i] - ti_dtype_min(t), ti_dtype_max(t) - m->zero[i]);
    }
    int64_t n = 1 + (int64_t)((double)m->k * top / limit), each = (m->k + n - 1) / n;
    if (m->scale == 0 || n == 1)
        return put_matmul(lw, m, a, b);
    tc_val part[MOST_PARTS];
    int parts = 0;
    for (int64_t k = 0; k < m->k && parts < MOST_PARTS; k += each) {
        int64_t own = k + each < m->k ? each : m->k - k;
        tc_val left = ti_b_tosa_slice_axis(lw, a, 2, k, own);
        part[parts++] = put_matmul(lw, m, left, ti_b_tosa_slice_axis(lw, b, 1, k, own));
    }
    if (n > MOST_PARTS) {
        ti_lower_refuse(lw, "its sums are too long for their accumulator");
        return TC_NONE;
    }
    double unit;
    tc_val y = ti_product_sum(lw, part, parts, (double)m->k * top, &unit);
    m->scale /= unit;
    return y;
}

/* Two computed operands.  One that is the same for the whole batch needs no repeating on the right.
 */
static tc_val by_matmul(tc_build *lw, pair *m)
{
    for (int i = 0; i < 2; i++) /* i8 with i16 is widened, exactly */
        if (m->type[i]->dtype == TC_i8 && m->type[1 - i]->dtype == TC_i16) {
            m->val[i] = ti_put_rescale(lw, m->val[i], 1, m->zero[i], 0, TC_i16);
            m->zero[i] = 0;
        }
    bool shared = m->type[1]->rank <= 2 && !m->repeated[0];
    tc_val a = batched(lw, m, 0), b;
    if (shared) {
        a = ti_b_tosa_reshape(lw, a, 3, (int64_t[]){1, m->batch * m->rows, m->k});
        b = ti_b_tosa_reshape(lw, m->val[1], 3, (int64_t[]){1, m->k, m->columns});
    } else
        b = batched(lw, m, 1);
    tc_val sum = by_parts(lw, m, a, b), made = into(lw, m, sum);
    return ti_b_tosa_reshape(lw, made, 3, (int64_t[]){m->batch, m->rows, m->columns});
}

/* Constant, the same for the whole batch, and of a type that a convolution has weights of. */
static bool is_weight(tc_build *lw, const pair *m, int i)
{
    const tc_type *t = m->type[i];
    bool one = t->rank <= 2 || tc_type_count(t) == t->dim[t->rank - 1] * t->dim[t->rank - 2];
    return one && t->dtype != TC_i16 && ti_b_constant(lw, m->val[i]).data;
}

/* A 1x1 convolution of the computed operand: [batch * rows, k], or of the left side's columns. */
static tc_val by_weights(tc_build *lw, pair *m, int weight)
{
    const tc_type *x = m->type[1 - weight];
    bool left = weight == 0;
    int64_t rows = left ? m->columns : m->rows, n = left ? m->rows : m->columns;
    int64_t flat[] = {left ? n : m->k, left ? m->k : n};
    tc_product p = {.x = x, .w = m->type[weight], .channels = n, .made = ti_product_made(x->dtype),
                    .scale = m->scale != 0 ? &(double){m->scale} : NULL,
                    .unit = 1};
    p.acc = ti_is_float(x->dtype) && p.made != TC_f16 ? TC_f32 : p.made;
    tc_val own =
        left ? ti_b_tosa_transpose(lw, batched(lw, m, 1), (int64_t[]){0, 2, 1}) : m->val[0];
    own = ti_b_tosa_reshape(lw, own, 4, (int64_t[]){1, 1, m->batch * rows, m->k});
    tc_tensor known = ti_b_constant(lw, m->val[weight]);
    tc_val w = ti_b_data(lw, ti_type_make(lw->ctx, known.type->dtype, 2, flat), known.data);
    w = ti_put_weights(lw, w, left ? (int64_t[]){0, 1} : (int64_t[]){1, 0}, 4,
                       (int64_t[]){n, 1, 1, m->k});
    tc_val made = ti_put_rows_by(lw, &p, own, w, ti_b_single(lw, p.made, 1, 0));
    m->scale /= p.unit;
    made = into(lw, m, made);
    made = ti_b_tosa_reshape(lw, made, 3, (int64_t[]){m->batch, rows, n});
    return left ? ti_b_tosa_transpose(lw, made, (int64_t[]){0, 2, 1}) : made;
}

/* [batch, rows, columns] */
static tc_val product(tc_build *lw, pair *m)
{
    if (!fits(lw, m))
        return TC_NONE;
    extents(m);
    for (int i = 1; i >= 0; i--)
        if (is_weight(lw, m, i) && !m->repeated[1 - i])
            return by_weights(lw, m, i);
    return by_matmul(lw, m);
}

void ti_lower_matmul(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *y = ti_lower_result(lw, node, 0);
    pair m = {.val = {ti_lower_in(lw, node, 0), ti_lower_in(lw, node, 1)},
              .type = {ti_lower_type(lw, node, 0), ti_lower_type(lw, node, 1)},
              .to = y};
    bool codes = m.type[0]->quant || m.type[1]->quant;
    if (codes ? !y->quant || y->quant->axis >= 0 : y->quant != NULL) {
        ti_lower_refuse(lw, "its result does not have one scale");
        return;
    }
    out[0] = ti_b_tosa_reshape(lw, product(lw, &m), y->rank, y->dim);
}

/* beta * c + alpha * (a @ b): the product stays wide until c has been added. */
void ti_lower_int_addmm(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_addmm *a = node->attr;
    const tc_type *y = ti_lower_result(lw, node, 0);
    tc_arg c, ab;
    pair m = {.val = {ti_lower_in(lw, node, 1), ti_lower_in(lw, node, 2)},
              .type = {ti_lower_type(lw, node, 1), ti_lower_type(lw, node, 2)}};
    if (!ti_is_activation(y) || !ti_arg_of(lw, node, 0, &c)) {
        ti_lower_refuse(lw, "its result does not have one scale");
        return;
    }
    bool wide =
        m.type[0]->dtype == TC_i16 || m.type[1]->dtype == TC_i16; /* i48 can only be rescaled */
    if (wide && a->alpha != 0)
        m.to = ti_wide_type(lw, y, TC_i32, ti_scale_of(y) / 64 / fabs(a->alpha));
    ab.val = ti_b_tosa_reshape(lw, product(lw, &m), y->rank, y->dim);
    ab.type = m.to ? m.to : ti_wide_type(lw, y, TC_i32, m.scale > 0 ? m.scale : 1);
    out[0] = ti_put_sum(lw, &ab, a->alpha, &c, a->beta, y);
}

/* ---- einsum of two operands ---- */

/* How a label is used: the axes of [batch, rows or columns, k]. */
typedef enum part { BATCH, OWN, INNER, PARTS } part;

typedef struct labels {
    tc_einsum e;
    uint8_t in[2][PARTS][TC_MAX_RANK]; /* labels by use, in the operand's order; batch and inner in
                                          the first's */
    int n[2][PARTS];
} labels;

/* Every label is in the result, or in both operands; none twice in one. */
static bool classify(labels *l)
{
    for (int o = 0; o < 2; o++)
        for (int i = 0; i < l->e.rank[o]; i++) {
            uint8_t label = l->e.in[o][i];
            bool both = ti_einsum_has(l->e.in[1 - o], l->e.rank[1 - o], label),
                 kept = ti_einsum_has(l->e.out, l->e.out_rank, label);
            if (ti_einsum_has(l->e.in[o], i, label) || (!both && !kept))
                return false;
            part use = !both ? OWN : kept ? BATCH : INNER;
            l->in[o][use][l->n[o][use]++] = label;
        }
    memcpy(l->in[1][BATCH], l->in[0][BATCH], sizeof l->in[0][BATCH]);
    memcpy(l->in[1][INNER], l->in[0][INNER], sizeof l->in[0][INNER]);
    return true;
}

static int64_t extent_of(const labels *l, int operand, part use)
{
    int64_t n = 1;
    for (int i = 0; i < l->n[operand][use]; i++)
        n *= l->e.extent[l->in[operand][use][i]];
    return n;
}

/* Operand o with its axes by use in the given order, each use one axis. */
static tc_val arranged(tc_build *lw, const labels *l, int o, tc_val x, const part *order,
                       const tc_type **type)
{
    int64_t perm[TC_MAX_RANK], dim[PARTS];
    int n = 0;
    for (int k = 0; k < PARTS; k++) {
        dim[k] = extent_of(l, o, order[k]);
        for (int i = 0; i < l->n[o][order[k]]; i++)
            for (int axis = 0; axis < l->e.rank[o]; axis++)
                if (l->e.in[o][axis] == l->in[o][order[k]][i])
                    perm[n++] = axis;
    }
    tc_type shape = {.dtype = (*type)->dtype,
                     .rank = PARTS,
                     .dim = {dim[0], dim[1], dim[2]},
                     .quant = (*type)->quant};
    *type = ti_type_intern(lw->ctx, &shape);
    return ti_b_tosa_reshape(lw, ti_b_tosa_transpose(lw, x, perm), PARTS, dim);
}

/* [batch, rows, columns] as the equation orders its result. */
static tc_val ordered(tc_build *lw, const labels *l, tc_val x)
{
    uint8_t made[TC_MAX_RANK];
    int64_t dim[TC_MAX_RANK], perm[TC_MAX_RANK];
    int n = 0;
    static const struct {
        int operand;
        part use;
    } from[] = {{0, BATCH}, {0, OWN}, {1, OWN}};
    for (size_t k = 0; k < TC_COUNT(from); k++)
        for (int i = 0; i < l->n[from[k].operand][from[k].use]; i++) {
            made[n] = l->in[from[k].operand][from[k].use][i];
            dim[n] = l->e.extent[made[n]];
            n++;
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (made[j] == l->e.out[i])
                perm[i] = j;
    return ti_b_tosa_transpose(lw, ti_b_tosa_reshape(lw, x, n, dim), perm);
}

void ti_lower_einsum(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_einsum *a = node->attr;
    const tc_type *y = ti_lower_result(lw, node, 0);
    labels l = {{0}, {{{0}}}, {{0}}};
    pair m = {.to = y};
    tc_tensor in[2];
    if (node->n_in != 2 ||
        (ti_lower_type(lw, node, 0)->quant && (!y->quant || y->quant->axis >= 0))) {
        ti_lower_refuse(lw, "it is not a product of two operands with one result scale");
        return;
    }
    for (int i = 0; i < 2; i++) {
        m.type[i] = ti_lower_type(lw, node, i);
        in[i] = (tc_tensor){m.type[i], NULL};
    }
    if (ti_einsum_parse(a->equation, in, 2, &l.e) || !classify(&l)) {
        ti_lower_refuse(lw, "'%s' is not a matrix product", a->equation);
        return;
    }
    m.val[0] =
        arranged(lw, &l, 0, ti_lower_in(lw, node, 0), (part[]){BATCH, OWN, INNER}, &m.type[0]);
    m.val[1] =
        arranged(lw, &l, 1, ti_lower_in(lw, node, 1), (part[]){BATCH, INNER, OWN}, &m.type[1]);
    out[0] = ordered(lw, &l, product(lw, &m));
}
