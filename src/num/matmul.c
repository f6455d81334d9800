/* SPDX-License-Identifier: Apache-2.0 */
/* matmul.c -- matrix products by PyTorch's rules of rank: matmul, linear, addmm.
 *
 * A vector on the left is a row, on the right a column, and its axis of 1 is removed from the
 * result; axes before the last two are batches and broadcast. */
#include "gemm.h"
#include <math.h>

#include "../base/real.h"
#include "load.h"
#include "work.h"

/* A batch of products.  Steps are elements from one matrix to the next along each batch axis. */
typedef struct product {
    int64_t m, n, k;
    int rank; /* batch axes */
    int64_t batch[TC_MAX_RANK], a_step[TC_MAX_RANK], b_step[TC_MAX_RANK];
} product;

static int batch_rank(const tc_type *t) { return t->rank > 2 ? t->rank - 2 : 0; }

/* Steps of one operand along the common batch axes; 0 where it is broadcast. */
static void batch_steps(const tc_type *t, int64_t matrix, int rank, int64_t *batch, int64_t *step)
{
    int own = batch_rank(t);
    for (int i = rank - 1, j = own - 1; i >= 0; i--, j--) {
        int64_t extent = j >= 0 ? t->dim[j] : 1;
        step[i] = extent == 1 ? 0 : matrix;
        if (extent != 1)
            batch[i] = extent;
        matrix *= extent;
    }
}

static product product_of(const tc_type *a, const tc_type *b)
{
    product p = {.m = a->rank > 1 ? a->dim[a->rank - 2] : 1,
                 .k = a->dim[a->rank - 1],
                 .n = b->rank > 1 ? b->dim[b->rank - 1] : 1};
    int ra = batch_rank(a), rb = batch_rank(b);
    p.rank = ra > rb ? ra : rb;
    for (int i = 0; i < p.rank; i++)
        p.batch[i] = 1;
    batch_steps(a, p.m * p.k, p.rank, p.batch, p.a_step);
    batch_steps(b, p.k * p.n, p.rank, p.batch, p.b_step);
    if (rb == 0) { /* one matrix on the right: the batch is only more rows */
        for (int i = 0; i < p.rank; i++)
            p.m *= p.batch[i];
        p.rank = 0;
    }
    return p;
}

/* y += a b for every matrix of the batch. */
static void multiply(tc_work work, tc_arena *scratch, const product *p, const void *a,
                     const void *b, void *y)
{
    int64_t count = 1;
    for (int i = 0; i < p->rank; i++)
        count *= p->batch[i];
    for (int64_t which = 0; which < count; which++) {
        int64_t at_a = 0, at_b = 0, rest = which;
        for (int i = p->rank - 1; i >= 0; rest /= p->batch[i], i--) {
            at_a += rest % p->batch[i] * p->a_step[i];
            at_b += rest % p->batch[i] * p->b_step[i];
        }
        ti_gemm(work, scratch, p->m, p->n, p->k, ti_work_at(work, a, at_a), p->k, 1,
                ti_work_at(work, b, at_b), p->n, 1, ti_work_at_out(work, y, which * p->m * p->n),
                p->n);
    }
}

static void *zeros(tc_work work, void *y, int64_t n)
{
    return n ? memset(y, 0, (size_t)n * ti_work_size(work)) : y;
}

void ti_num_matmul(tc_call *call)
{
    const tc_type *a = call->in[0].type, *b = call->in[1].type, *y = call->out[0].type;
    tc_work work = ti_work_of(y->dtype);
    product p = product_of(a, b);
    const void *left = ti_work_in(call, 0, work), *right = ti_work_in(call, 1, work);
    void *out = zeros(work, ti_work_out(call, 0, work), tc_type_count(y));
    multiply(work, call->scratch, &p, left, right, out);
    ti_work_done(call, 0, work, out);
}

/* x: [..., k]   weight: [n, k] or [k]   bias: [n] */
void ti_num_linear(tc_call *call)
{
    const tc_type *x = call->in[0].type, *w = call->in[1].type, *y = call->out[0].type;
    tc_work work = ti_work_of(x->dtype);
    int64_t k = x->dim[x->rank - 1], n = w->rank > 1 ? w->dim[0] : 1;
    int64_t m = n ? tc_type_count(y) / n : 0;
    const void *in = ti_work_in(call, 0, work), *weight = ti_work_in(call, 1, work);
    const void *bias = ti_work_in(call, 2, work);
    void *out = zeros(work, ti_work_out(call, 0, work), m * n);
    if (bias && w->rank > 1)
        for (int64_t i = 0; i < m; i++)
            memcpy(ti_work_at_out(work, out, i * n), bias, (size_t)n * ti_work_size(work));
    ti_gemm(work, call->scratch, m, n, k, in, k, 1, weight, 1, k, out, n);
    ti_work_done(call, 0, work, out);
}

/* octave * log2(sum over k of w (x^2 + y^2), and the floor added or below it); sums are f64. */
void ti_num_log_bands(tc_call *call)
{
    const tc_attr_bands *a = call->attr;
    const tc_tensor x = call->in[0], w = call->in[1], y = call->in[2], z = call->out[0];
    int64_t n = w.type->dim[0], k = w.type->dim[1], rows = n ? tc_type_count(z.type) / n : 0;
    double *power = tc_new_n(call->scratch, double, (size_t)k + 1),
           *weight = tc_new_n(call->scratch, double, (size_t)(n * k) + 1);
    for (int64_t i = 0; i < n * k; i++)
        weight[i] = ti_load_f64(w, i);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t i = 0; i < k; i++) {
            double re = ti_load_f64(x, r * k + i), im = ti_load_f64(y, r * k + i);
            power[i] = re * re + im * im;
        }
        for (int64_t c = 0; c < n; c++) {
            double sum = 0;
            for (int64_t i = 0; i < k; i++)
                sum += weight[c * k + i] * power[i];
            sum = a->adds ? sum + a->floor : fmax(sum, a->floor);
            ti_store_f64(z, r * n + c, a->octave * ti_log2(sum));
        }
    }
}

/* y = alpha * y + beta * c, c broadcast to y; with beta 0 c is not read. */
#define COMBINE(T, name)                                                                           \
    static void name(const tc_type *type, const int64_t *step, T alpha, T beta, const T *c, T *y)  \
    {                                                                                              \
        int last = type->rank - 1;                                                                 \
        int64_t n = last >= 0 ? type->dim[last] : 1, along = last >= 0 ? step[last] : 0;           \
        int64_t rows = n ? tc_type_count(type) / n : 0;                                            \
        for (int64_t k = 0; k < rows; k++, y += n) {                                               \
            int64_t at = 0, rest = k;                                                              \
            for (int i = last - 1; i >= 0; rest /= type->dim[i], i--)                              \
                at += rest % type->dim[i] * step[i];                                               \
            for (int64_t j = 0; j < n; j++)                                                        \
                y[j] = alpha * y[j] + (beta != 0 ? beta * c[at + j * along] : 0);                  \
        }                                                                                          \
    }
COMBINE(float, combine_f32)
COMBINE(double, combine_f64)
COMBINE(uint64_t, combine_i64)

void ti_num_addmm(tc_call *call)
{
    const tc_attr_addmm *attr = call->attr;
    const tc_type *c = call->in[0].type, *y = call->out[0].type;
    tc_work work = ti_work_of(y->dtype);
    int64_t step[TC_MAX_RANK] = {0}, size = 1;
    for (int i = y->rank - 1, j = c->rank - 1; j >= 0; i--, j--) {
        step[i] = c->dim[j] == 1 ? 0 : size;
        size *= c->dim[j];
    }
    product p = product_of(call->in[1].type, call->in[2].type);
    const void *add = ti_work_in(call, 0, work);
    const void *left = ti_work_in(call, 1, work), *right = ti_work_in(call, 2, work);
    void *out = zeros(work, ti_work_out(call, 0, work), tc_type_count(y));
    multiply(work, call->scratch, &p, left, right, out);
    if (work == TC_WORK_f32)
        combine_f32(y, step, (float)attr->alpha, (float)attr->beta, add, out);
    else if (work == TC_WORK_f64)
        combine_f64(y, step, attr->alpha, attr->beta, add, out);
    else
        combine_i64(y, step, (uint64_t)ti_trunc_i64(attr->alpha),
                    (uint64_t)ti_trunc_i64(attr->beta), add, out);
    ti_work_done(call, 0, work, out);
}
