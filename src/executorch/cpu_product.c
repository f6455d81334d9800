/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_product.c -- sums of products: everything becomes mm, bmm, addmm and convolutions of one or
 * two axes. */
#include <math.h>

#include "../num/einsum.h"
#include "../num/load.h"
#include "cpu_forms.h"

static tc_val flat(tc_build *m, tc_val x, int64_t rows, int64_t columns)
{
    return ti_b_reshape(m, x, 2, (int64_t[]){rows, columns});
}

static tc_val transposed(tc_build *m, tc_val x)
{
    return ti_b_permute(m, x, (int64_t[]){1, 0});
}

/* x W^T + b over rows */
bool ti_cpu_form_linear(tc_build *m)
{
    const tc_type *x = ti_b_in_type(m, 0), *w = ti_b_in_type(m, 1);
    int64_t k = x->rank ? x->dim[x->rank - 1] : 1, n = w->rank == 2 ? w->dim[0] : 1;
    if (!k)
        return false;
    tc_val rows = flat(m, ti_b_in(m, 0), tc_type_count(x) / k, k), b = ti_b_in(m, 2);
    tc_val columns = transposed(m, flat(m, ti_b_in(m, 1), n, k));
    if (!b)
        return ti_cpu_done(m, ti_b_matmul(m, rows, columns));
    b = ti_b_reshape(m, b, 1, (int64_t[]){tc_type_count(ti_b_in_type(m, 2))});
    return ti_cpu_done(m, ti_b_3(m, addmm, ti_b_attr(m, addmm, 1, 1), b, rows, columns));
}

/* The batch axes of a product, all of them in one. */
static tc_val batched(tc_build *m, tc_val x, const tc_type *result, int batch_axes)
{
    const tc_type *t = ti_b_type(m, x);
    int64_t dim[TC_MAX_RANK], all = 1, last[3];
    for (int i = 0; i < batch_axes; i++)
        all *= dim[i] = result->dim[i];
    dim[batch_axes] = last[1] = t->dim[t->rank - 2];
    dim[batch_axes + 1] = last[2] = t->dim[t->rank - 1];
    last[0] = all;
    return ti_b_reshape(m, ti_b_expand(m, x, batch_axes + 2, dim), 3, last);
}

/* log(W (x^2 + y^2) + floor), or of the larger of both */
bool ti_cpu_form_log_bands(tc_build *m)
{
    const tc_attr_bands *a = m->node->attr;
    tc_val x = ti_cpu_real(m, 0), w = ti_cpu_real(m, 1), y = ti_cpu_real(m, 2);
    x = ti_b_mul(m, x, x);
    x = ti_b_add(m, x, ti_b_mul(m, y, y));
    x = ti_b_linear(m, x, w, TC_NONE);
    tc_val floor = ti_b_number(m, x, a->floor);
    x = a->adds ? ti_b_add(m, x, floor) : ti_b_maximum(m, x, floor);
    return ti_cpu_done(m, ti_b_mul_n(m, ti_b_log2(m, x), a->octave));
}

/* PyTorch's rules: a vector is a row on the left, a column on the right; leading axes are
 * broadcast. */
bool ti_cpu_form_matmul(tc_build *m)
{
    const tc_type *x = ti_b_in_type(m, 0), *y = ti_b_in_type(m, 1), *out = ti_b_out_type(m, 0);
    tc_val a = ti_b_in(m, 0), b = ti_b_in(m, 1);
    int64_t k = x->rank ? x->dim[x->rank - 1] : 0;
    if (!x->rank || !y->rank)
        return false;
    if (y->rank == 1)
        b = flat(m, b, y->dim[0], 1);
    if (y->rank <= 2) /* one matrix for all rows */
        return k ? ti_cpu_done(m, ti_b_matmul(m, flat(m, a, tc_type_count(x) / k, k), b)) : false;
    if (x->rank == 1)
        a = flat(m, a, 1, k);
    int batch_axes = out->rank - (x->rank == 1 ? 1 : 2);
    if (batch_axes + 2 > TC_MAX_RANK)
        return false;
    b = batched(m, b, out, batch_axes);
    a = batched(m, a, out, batch_axes);
    return ti_cpu_done(m, ti_b_matmul(m, a, b));
}

/* beta c + alpha (a b) */
bool ti_cpu_form_addmm(tc_build *m)
{
    const tc_attr_addmm *a = m->node->attr;
    tc_val product = ti_b_matmul(m, ti_b_in(m, 1), ti_b_in(m, 2)), c = ti_b_in(m, 0);
    if (a->beta == 0)
        return ti_cpu_done(m, ti_b_mul(m, product, ti_b_number(m, product, a->alpha)));
    if (a->alpha != 1)
        product = ti_b_mul(m, product, ti_b_number(m, product, a->alpha));
    if (a->beta != 1)
        c = ti_b_mul(m, c, ti_b_number(m, c, a->beta));
    return ti_cpu_done(m, ti_b_add(m, product, c));
}

/* ---- attention ---- */

/* Each head of keys and values serves several of queries. */
static tc_val share_heads(tc_build *m, tc_val x, int64_t heads)
{
    const tc_type *t = ti_b_type(m, x);
    int64_t axis = t->rank - 3, own = t->dim[axis],
            *row = tc_new_n(&m->ctx->arena, int64_t, (size_t)heads);
    for (int64_t i = 0; i < heads; i++)
        row[i] = i / (heads / own);
    return own == heads ? x : ti_b_pick(m, x, axis, row, heads);
}

static tc_val causal_mask(tc_build *m, tc_val scores, int64_t rows, int64_t columns)
{
    int64_t dim[2] = {rows, columns};
    const tc_type *type = ti_type_make(m->ctx, TC_f32, 2, dim);
    float *mask = ti_arena_raw(&m->ctx->arena, tc_type_bytes(type));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            mask[i * columns + j] = j > i ? -INFINITY : 0;
    return ti_b_add(m, scores, ti_b_data(m, type, mask));
}

static tc_val apply_mask(tc_build *m, tc_val scores, tc_val mask)
{
    if (ti_b_type(m, mask)->dtype == TC_bool)
        return ti_b_where(m, mask, scores, ti_b_number(m, scores, -INFINITY));
    return ti_b_add(m, scores, ti_b_cast(m, mask, ti_b_type(m, scores)->dtype));
}

/* Some row of the mask may be minus infinity throughout: a constant one that has such a row, or any
 * that is computed. */
static bool may_be_blind(const tc_build *m, tc_val mask)
{
    tc_tensor known = m->status == TC_OK ? ti_tensor_of(m->g, mask) : (tc_tensor){NULL, NULL};
    int64_t n = known.data ? tc_type_count(known.type) : 0,
            keys = n && known.type->rank ? known.type->dim[known.type->rank - 1] : 1;
    for (int64_t row = 0; row < n; row += keys) {
        bool blind = true;
        for (int64_t k = row; blind && k < row + keys; k++)
            blind = known.type->dtype == TC_bool ? !ti_load_i64(known, k)
                                                 : ti_load_f64(known, k) == -(double)INFINITY;
        if (blind)
            return true;
    }
    return !n;
}

/* The shares of scores that count for nothing: 0 in rows too that have no others, where their
 * softmax is NaN. */
static tc_val without_masked(tc_build *m, tc_val scores, tc_val mask, tc_val shares)
{
    tc_val zero = ti_b_number(m, shares, 0);
    if (ti_b_type(m, mask)->dtype == TC_bool)
        return ti_b_where(m, mask, shares, zero);
    tc_val in[] = {scores, ti_b_number(m, scores, -INFINITY)};
    return ti_b_where(m, ti_b_op(m, TC_OP_eq, NULL, in, 2), zero, shares);
}

/* softmax(q k^T scale + mask) v */
bool ti_cpu_form_sdpa(tc_build *m)
{
    const tc_attr_sdpa *a = m->node->attr;
    tc_val q = ti_cpu_real(m, 0), k = ti_cpu_real(m, 1), v = ti_cpu_real(m, 2);
    const tc_type *t = ti_b_in_type(m, 0), *keys = ti_b_in_type(m, 1);
    int64_t perm[TC_MAX_RANK], last = t->rank - 1;
    if (m->status != TC_OK || t->rank < 2 || keys->rank < 2)
        return m->status != TC_OK;
    if (a->gqa && t->rank >= 3) {
        k = share_heads(m, k, t->dim[t->rank - 3]);
        v = share_heads(m, v, t->dim[t->rank - 3]);
    }
    for (int i = 0; i < keys->rank; i++)
        perm[i] = i < keys->rank - 2 ? i : 2 * keys->rank - 3 - i;
    tc_val transposed_k = ti_b_permute(m, k, perm);
    tc_val scores = ti_b_matmul(m, ti_b_mul(m, q, ti_b_number(m, q, a->scale)), transposed_k);
    if (a->causal)
        scores = causal_mask(m, scores, t->dim[t->rank - 2], keys->dim[keys->rank - 2]);
    if (ti_b_in(m, 3))
        scores = apply_mask(m, scores, ti_b_in(m, 3));
    last = m->status == TC_OK ? ti_b_type(m, scores)->rank - 1 : 0;
    tc_val weights = ti_b_softmax(m, scores, last);
    if (ti_b_in(m, 3) && may_be_blind(m, ti_b_in(m, 3)))
        weights = without_masked(m, scores, ti_b_in(m, 3), weights);
    return ti_cpu_done(m, ti_b_matmul(m, weights, v));
}

/* ---- einsum ---- */

/* An operand of an equation, with a label for each axis. */
typedef struct lettered {
    tc_val val;
    int n;
    uint8_t letter[2 * TC_MAX_RANK];
} lettered;

static int at_letter(const lettered *x, uint8_t c)
{
    for (int i = 0; i < x->n; i++)
        if (x->letter[i] == c)
            return i;
    return -1;
}

/* Operand i; false: it names an axis twice, or has one that is broadcast. */
static bool read_operand(tc_build *m, const tc_einsum *e, int i, lettered *x)
{
    const tc_type *t = ti_b_in_type(m, i);
    *x = (lettered){.val = ti_b_in(m, i)};
    for (int k = 0; k < e->rank[i]; k++) {
        if (at_letter(x, e->in[i][k]) >= 0 || t->dim[k] != e->extent[e->in[i][k]])
            return false;
        x->letter[x->n++] = e->in[i][k];
    }
    return true;
}

/* Axes that no other operand has are summed. */
static void sum_away(tc_build *m, lettered *x, const lettered *other, const lettered *out)
{
    int64_t axis[TC_MAX_RANK];
    int32_t n = 0;
    lettered kept = {.n = 0};
    for (int i = 0; i < x->n; i++)
        if (at_letter(out, x->letter[i]) < 0 && at_letter(other, x->letter[i]) < 0)
            axis[n++] = i;
        else
            kept.letter[kept.n++] = x->letter[i];
    kept.val = n ? ti_b_sum(m, x->val, ti_ints_copy(&m->ctx->arena, axis, n), false) : x->val;
    *x = kept;
}

/* x with its axes in the order of these letters. */
static tc_val in_order(tc_build *m, const lettered *x, const uint8_t *letter, int n)
{
    int64_t perm[TC_MAX_RANK];
    for (int i = 0; i < n; i++)
        perm[i] = at_letter(x, letter[i]);
    return ti_b_permute(m, x->val, perm);
}

/* Labels of x with in_y and in_out as given, with the product of their extents. */
static int64_t gather_letters(tc_build *m, const lettered *x, const lettered *y,
                              const lettered *out, bool in_y, bool in_out, uint8_t *letter, int *n,
                              int64_t *dim)
{
    int64_t all = 1;
    for (int i = 0; i < x->n && m->status == TC_OK; i++)
        if ((at_letter(y, x->letter[i]) >= 0) == in_y &&
            (at_letter(out, x->letter[i]) >= 0) == in_out) {
            int64_t extent = ti_b_type(m, x->val)->dim[i];
            if (dim)
                dim[*n] = extent;
            letter[(*n)++] = x->letter[i];
            all *= extent;
        }
    return all;
}

/* Two operands as one batch of matrix products. */
static tc_val contract(tc_build *m, const lettered *x, const lettered *y, const lettered *out)
{
    uint8_t a[2 * TC_MAX_RANK], b[2 * TC_MAX_RANK], c[2 * TC_MAX_RANK], inner[TC_MAX_RANK];
    int64_t dim[2 * TC_MAX_RANK];
    int n = 0, n_inner = 0, batch, n_b;
    int64_t batches = gather_letters(m, x, y, out, true, true, c, &n, dim);
    batch = n;
    int64_t rows = gather_letters(m, x, y, out, false, true, c, &n, dim);
    memcpy(a, c, (size_t)n);
    int n_a = n;
    int64_t columns = gather_letters(m, y, x, out, false, true, c, &n, dim);
    int64_t k = gather_letters(m, x, y, out, true, false, inner, &n_inner, NULL);
    memcpy(a + n_a, inner, (size_t)n_inner);
    memcpy(b, c, (size_t)batch);
    memcpy(b + batch, inner, (size_t)n_inner);
    n_b = batch + n_inner + n - n_a;
    memcpy(b + batch + n_inner, c + n_a, (size_t)(n - n_a));
    if (n > TC_MAX_RANK)
        return TC_NONE;
    tc_val left =
        ti_b_reshape(m, in_order(m, x, a, n_a + n_inner), 3, (int64_t[]){batches, rows, k});
    tc_val right = ti_b_reshape(m, in_order(m, y, b, n_b), 3, (int64_t[]){batches, k, columns});
    lettered made = {.val = ti_b_reshape(m, ti_b_matmul(m, left, right), n, dim), .n = n};
    memcpy(made.letter, c, (size_t)n);
    return in_order(m, &made, out->letter, out->n);
}

/* What is still needed of two operands: labels of the result, and of the operands from `next` on.
 */
static lettered still_needed(const lettered *x, const lettered *y, const lettered *in, int next,
                             int n, const lettered *out)
{
    lettered needed = {.n = 0};
    const lettered *both[] = {x, y};
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < both[side]->n; i++) {
            uint8_t c = both[side]->letter[i];
            bool used = at_letter(out, c) >= 0;
            for (int k = next; k < n; k++)
                used = used || at_letter(&in[k], c) >= 0;
            if (used && at_letter(&needed, c) < 0)
                needed.letter[needed.n++] = c;
        }
    return needed;
}

/* Operands are taken in pairs from the left. */
bool ti_cpu_form_einsum(tc_build *m)
{
    const tc_attr_einsum *a = m->node->attr;
    int n = m->node->n_in;
    tc_tensor type[TC_EINSUM_OPERANDS] = {{NULL, NULL}};
    tc_einsum e;
    lettered in[TC_EINSUM_OPERANDS] = {{0}}, none = {0}, out = {0};
    for (int i = 0; i < n; i++)
        type[i] = (tc_tensor){ti_b_in_type(m, i), NULL};
    if (ti_einsum_parse(a->equation, type, n, &e))
        return false;
    out.n = e.out_rank;
    memcpy(out.letter, e.out, (size_t)e.out_rank);
    for (int i = 0; i < n; i++)
        if (!read_operand(m, &e, i, &in[i]))
            return false;
    lettered x = in[0];
    for (int i = 1; i < n && m->status == TC_OK; i++) {
        lettered y = in[i], now = i + 1 == n ? out : still_needed(&x, &y, in, i + 1, n, &out);
        sum_away(m, &x, &y, &now);
        sum_away(m, &y, &x, &now);
        now.val = contract(m, &x, &y, &now);
        if (!now.val)
            return m->status != TC_OK;
        x = now;
    }
    sum_away(m, &x, &none, &out);
    return ti_cpu_done(m, in_order(m, &x, out.letter, out.n));
}

/* ---- convolutions ---- */

/* An axis of extent 1 in front. */
static tc_val with_batch(tc_build *m, tc_val x)
{
    const tc_type *t = ti_b_type(m, x);
    int64_t dim[TC_MAX_RANK] = {1};
    memcpy(dim + 1, t->dim, (size_t)t->rank * sizeof *dim);
    return ti_b_reshape(m, x, t->rank + 1, dim);
}

/* x with zeros around its spatial axes. */
static tc_val with_borders(tc_build *m, tc_val x, const tc_attr_conv *a)
{
    int32_t rank = a->stride.n + 2;
    int64_t *pad = tc_new_n(&m->ctx->arena, int64_t, 2 * (size_t)rank);
    memcpy(pad + 4, a->pad.v, (size_t)a->pad.n * sizeof *pad);
    return ti_b_1(m, pad, ti_b_attr(m, pad, {2 * rank, pad}, TC_pad_mode_constant, 0), x);
}

/* A slice of the kernel over depth, on every plane of the result at once: [n od, c, h, w]. */
static tc_val conv_plane(tc_build *m, tc_val x, tc_val w, const tc_attr_conv *a, int64_t depth,
                         int64_t planes)
{
    tc_arena *arena = &m->ctx->arena;
    int64_t first = depth * a->dilation.v[0], step = a->stride.v[0];
    tc_val part = ti_b_slice(m, x, 2, first, first + (planes - 1) * step + 1, step);
    part = ti_b_permute(m, part, (int64_t[]){0, 2, 1, 3, 4});
    tc_val kernel = ti_b_select(m, w, 2, depth);
    TC_STOP_WITH(m, TC_NONE);
    const tc_type *t = ti_b_type(m, part);
    part = ti_b_reshape(m, part, 4,
                        (int64_t[]){t->dim[0] * t->dim[1], t->dim[2], t->dim[3], t->dim[4]});
    tc_attr_conv *flat_attr = ti_arena_copy(arena, a, sizeof *a);
    *flat_attr = (tc_attr_conv){
        {2, a->stride.v + 1}, ti_ints_fill(arena, 0, 4), {2, a->dilation.v + 1}, a->groups};
    return ti_b_2(m, conv, flat_attr, part, kernel);
}

/* Three axes: a sum over the kernel's depth of convolutions of two. */
static bool conv_deep(tc_build *m, tc_val x, const tc_attr_conv *a)
{
    const tc_type *out = ti_b_out_type(m, 0), *w = ti_b_in_type(m, 1);
    const int64_t *end = out->dim + out->rank - 3;
    x = with_borders(m, x, a);
    tc_val sum = TC_NONE;
    for (int64_t d = 0; d < w->dim[2] && m->status == TC_OK; d++) {
        tc_val part = conv_plane(m, x, ti_b_in(m, 1), a, d, end[0]);
        sum = sum ? ti_b_add(m, sum, part) : part;
    }
    int64_t batch = tc_type_count(out) / (w->dim[0] * end[0] * end[1] * end[2]);
    if (ti_b_in(m, 2))
        sum = ti_b_add(m, sum, ti_b_reshape(m, ti_b_in(m, 2), 4, (int64_t[]){1, w->dim[0], 1, 1}));
    sum = ti_b_reshape(m, sum, 5, (int64_t[]){batch, end[0], w->dim[0], end[1], end[2]});
    return ti_cpu_done(m, ti_b_permute(m, sum, (int64_t[]){0, 2, 1, 3, 4}));
}

/* A batch of one, asymmetric borders as a separate pad, three axes one by one. */
bool ti_cpu_form_conv(tc_build *m)
{
    const tc_attr_conv *a = m->node->attr;
    const tc_type *t = ti_b_in_type(m, 0);
    tc_val x = ti_b_in(m, 0);
    if (!tc_type_count(ti_b_out_type(m, 0)))
        return false;
    if (t->rank == a->stride.n + 1)
        x = with_batch(m, x);
    if (a->stride.n == 3)
        return conv_deep(m, x, a);
    tc_attr_conv *plain = ti_arena_copy(&m->ctx->arena, a, sizeof *a);
    bool even = true;
    for (int i = 0; i < a->stride.n; i++)
        even = even && a->pad.v[2 * i] == a->pad.v[2 * i + 1];
    if (!even) {
        x = with_borders(m, x, a);
        plain->pad = ti_ints_fill(&m->ctx->arena, 0, a->pad.n);
    }
    return ti_cpu_done(m, ti_b_op(m, TC_OP_conv, plain, (tc_val[]){x, ti_b_in(m, 1), ti_b_in(m, 2)},
                                  m->node->n_in));
}

/* Zeros between the rows of an axis: s - 1 after each, none after the last. */
static tc_val spread(tc_build *m, tc_val x, int64_t axis, int64_t s)
{
    if (m->status != TC_OK || s == 1)
        return x;
    const tc_type *t = ti_b_type(m, x);
    int64_t dim[TC_MAX_RANK], border[2 * TC_MAX_RANK] = {0}, n = t->dim[axis];
    for (int32_t i = 0, k = 0; i < t->rank; i++) {
        dim[k++] = t->dim[i];
        if (i == axis)
            dim[k++] = 1;
    }
    x = ti_b_reshape(m, x, t->rank + 1, dim);
    border[2 * (axis + 1) + 1] = s - 1;
    tc_ints borders = ti_ints_copy(&m->ctx->arena, border, 2 * (t->rank + 1));
    x = ti_b_1(m, pad, ti_b_attr(m, pad, borders, TC_pad_mode_constant, 0), x);
    memcpy(dim, t->dim, (size_t)t->rank * sizeof *dim);
    dim[axis] = n * s;
    return ti_b_slice(m, ti_b_reshape(m, x, t->rank, dim), axis, 0, (n - 1) * s + 1, 1);
}

/* Weights [in, out / groups, k...] mirrored and as a convolution has them:
 * [out, in / groups, k...]. */
static tc_val turned_weights(tc_build *m, int64_t groups)
{
    tc_val w = ti_b_in(m, 1);
    const tc_type *t = ti_b_in_type(m, 1);
    int32_t r = t->rank;
    int64_t axes[TC_MAX_RANK], dim[TC_MAX_RANK + 1] = {groups, t->dim[0] / groups, t->dim[1]},
                               perm[TC_MAX_RANK + 1] = {0, 2, 1}, out[TC_MAX_RANK];
    for (int32_t i = 2; i < r; i++) {
        axes[i - 2] = i;
        dim[i + 1] = t->dim[i];
        perm[i + 1] = i + 1;
        out[i] = t->dim[i];
    }
    out[0] = t->dim[1] * groups;
    out[1] = t->dim[0] / groups;
    tc_ints around = ti_ints_copy(&m->ctx->arena, axes, r - 2);
    w = ti_b_1(m, flip, ti_b_attr(m, flip, around), w);
    w = ti_b_permute(m, ti_b_reshape(m, w, r + 1, dim), perm);
    return ti_b_reshape(m, w, r, out);
}

/* A convolution of the operand with zeros between its rows, the weights mirrored. */
static bool spread_out(tc_build *m, tc_val x)
{
    const tc_attr_conv_transpose *a = m->node->attr;
    const tc_type *w = ti_b_in_type(m, 1);
    int32_t n = a->stride.n;
    tc_attr_conv *plain = tc_new(&m->ctx->arena, tc_attr_conv);
    int64_t pad[2 * TC_MAX_RANK];
    for (int32_t i = 0; i < n; i++) {
        x = spread(m, x, 2 + i, a->stride.v[i]);
        pad[2 * i] = a->dilation.v[i] * (w->dim[2 + i] - 1) - a->pad.v[i];
        pad[2 * i + 1] = pad[2 * i] + a->out_pad.v[i];
    }
    *plain = (tc_attr_conv){ti_ints_fill(&m->ctx->arena, 1, n),
                            ti_ints_copy(&m->ctx->arena, pad, 2 * n), a->dilation, a->groups};
    tc_val in[3] = {x, turned_weights(m, a->groups), ti_b_in(m, 2)};
    return ti_cpu_done(m, ti_b_op(m, TC_OP_conv, plain, in, m->node->n_in));
}

bool ti_cpu_form_conv_transpose(tc_build *m)
{
    const tc_attr_conv_transpose *a = m->node->attr;
    bool alone = ti_b_in_type(m, 0)->rank == a->stride.n + 1;
    if (!tc_type_count(ti_b_out_type(m, 0)) || (!alone && a->stride.n < 3))
        return false;
    tc_val x = alone ? with_batch(m, ti_b_in(m, 0)) : ti_b_in(m, 0);
    if (a->stride.n == 3)
        return spread_out(m, x);
    tc_val in[3] = {x, ti_b_in(m, 1), ti_b_in(m, 2)};
    return ti_cpu_done(m, ti_b_op(m, TC_OP_conv_transpose, a, in, m->node->n_in));
}
