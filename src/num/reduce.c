/* SPDX-License-Identifier: Apache-2.0 */
/* reduce.c -- reductions over any axes.
 *
 * Every reduction first makes its elements contiguous (rows.h).  Real ones are combined in f64,
 * integers and bools in i64; the result is rounded once, to its own type. */
#include <math.h>

#include "kernels.h"
#include "../base/real.h"
#include "load.h"
#include "rows.h"

typedef double real_rule(const double *x, int64_t n, const void *attr);
typedef double f32_rule(const float *x, int64_t n);
typedef int64_t int_rule(const int64_t *x, int64_t n);

static bool is_real(tc_dtype t) { return ti_is_float(t) || tc_dtypes[t].kind == TC_COMPLEX; }

static void reduce_real(tc_call *c, tc_ints axes, real_rule *rule)
{
    tc_rows rows = ti_rows_of(c->scratch, c->in[0], axes);
    double *row = ti_arena_raw(c->scratch, (size_t)rows.n * sizeof *row);
    for (int64_t i = 0; i < rows.n_row; i++) {
        ti_read_f64(rows.x, i * rows.n, (size_t)rows.n, row);
        ti_store_f64(c->out[0], i, rule(row, rows.n, c->attr));
    }
}

/* The same, straight from f32. */
static void reduce_f32(tc_call *c, tc_ints axes, f32_rule *rule)
{
    tc_rows rows = ti_rows_of(c->scratch, c->in[0], axes);
    for (int64_t i = 0; i < rows.n_row; i++)
        ((float *)c->out[0].data)[i] = (float)rule((const float *)rows.x.data + i * rows.n, rows.n);
}

static void reduce_int(tc_call *c, tc_ints axes, int_rule *rule)
{
    tc_rows rows = ti_rows_of(c->scratch, c->in[0], axes);
    int64_t *row = ti_arena_raw(c->scratch, (size_t)rows.n * sizeof *row);
    for (int64_t i = 0; i < rows.n_row; i++) {
        ti_read_i64(rows.x, i * rows.n, (size_t)rows.n, row);
        ti_store_i64(c->out[0], i, rule(row, rows.n));
    }
}

/* f32 may be NULL: then it is done in f64, as other real types. */
static void reduce(tc_call *c, real_rule *real, f32_rule *f32, int_rule *integer)
{
    const tc_attr_axes *a = c->attr;
    tc_dtype t = c->in[0].type->dtype;
    if (t == TC_f32 && f32)
        reduce_f32(c, a->axes, f32);
    else if (is_real(t))
        reduce_real(c, a->axes, real);
    else
        reduce_int(c, a->axes, integer);
}

enum { LANES = 8 }; /* independent partial results: vectorized, and more accurate for long sums */

#define SUM(name, c_)                                                                              \
    static double name(const c_ *x, int64_t n)                                                     \
    {                                                                                              \
        double s[LANES] = {0};                                                                     \
        int64_t i = 0;                                                                             \
        for (; i + LANES <= n; i += LANES)                                                         \
            for (int k = 0; k < LANES; k++)                                                        \
                s[k] += (double)x[i + k];                                                          \
        for (; i < n; i++)                                                                         \
            s[0] += (double)x[i];                                                                  \
        return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));                  \
    }
SUM(sum, double)
SUM(f32_sum, float)

static double f32_mean(const float *x, int64_t n) { return f32_sum(x, n) / (double)n; }

static double real_sum(const double *x, int64_t n, const void *attr)
{
    (void)attr;
    return sum(x, n);
}

static int64_t int_sum(const int64_t *x, int64_t n)
{
    uint64_t s = 0;
    for (int64_t i = 0; i < n; i++)
        s += (uint64_t)x[i];
    return (int64_t)s;
}

static double real_prod(const double *x, int64_t n, const void *attr)
{
    (void)attr;
    double p = 1;
    for (int64_t i = 0; i < n; i++)
        p *= x[i];
    return p;
}

static int64_t int_prod(const int64_t *x, int64_t n)
{
    uint64_t p = 1;
    for (int64_t i = 0; i < n; i++)
        p *= (uint64_t)x[i];
    return (int64_t)p;
}

static double real_mean(const double *x, int64_t n, const void *attr)
{
    (void)attr;
    return sum(x, n) / (double)n;
}

/* Largest (or smallest), NaN when there is one. */
#define EXTREME(name, c_, beats)                                                                   \
    static double name(const c_ *x, int64_t n)                                                     \
    {                                                                                              \
        c_ m[LANES];                                                                               \
        int odd = 0;                                                                               \
        int64_t i = 0;                                                                             \
        for (int64_t k = 0; k < n; k++)                                                            \
            odd |= x[k] != x[k];                                                                   \
        for (int k = 0; k < LANES; k++)                                                            \
            m[k] = x[0];                                                                           \
        for (; i + LANES <= n; i += LANES)                                                         \
            for (int k = 0; k < LANES; k++)                                                        \
                m[k] = x[i + k] beats m[k] ? x[i + k] : m[k];                                      \
        for (; i < n; i++)                                                                         \
            m[0] = x[i] beats m[0] ? x[i] : m[0];                                                  \
        for (int k = 1; k < LANES; k++)                                                            \
            m[0] = m[k] beats m[0] ? m[k] : m[0];                                                  \
        return odd ? (double)NAN : (double)m[0];                                                   \
    }
EXTREME(largest, double, >)
EXTREME(smallest, double, <)
EXTREME(f32_max, float, >)
EXTREME(f32_min, float, <)

static double real_max(const double *x, int64_t n, const void *attr)
{
    (void)attr;
    return largest(x, n);
}

static double real_min(const double *x, int64_t n, const void *attr)
{
    (void)attr;
    return smallest(x, n);
}

static int64_t int_max(const int64_t *x, int64_t n)
{
    int64_t m = x[0];
    for (int64_t i = 1; i < n; i++)
        m = ti_max_i64(m, x[i]);
    return m;
}

static int64_t int_min(const int64_t *x, int64_t n)
{
    int64_t m = x[0];
    for (int64_t i = 1; i < n; i++)
        m = ti_min_i64(m, x[i]);
    return m;
}

/* m + ln(sum e^(x - m)) with m the largest, or 0 where that is infinite. */
static double real_logsumexp(const double *x, int64_t n, const void *attr)
{
    if (!n)
        return -INFINITY;
    double m = real_max(x, n, attr), s = 0;
    m = isinf(m) ? 0 : m;
    for (int64_t i = 0; i < n; i++)
        s += ti_exp(x[i] - m);
    return m + ti_log(s);
}

static double variance(const double *x, int64_t n, double correction)
{
    double mean = sum(x, n) / (double)n, s = 0;
    for (int64_t i = 0; i < n; i++)
        s += (x[i] - mean) * (x[i] - mean);
    double divisor = (double)n - correction;
    return s / (divisor > 0 ? divisor : 0);
}

static double real_var(const double *x, int64_t n, const void *attr)
{
    return variance(x, n, ((const tc_attr_var *)attr)->correction);
}

static double real_std(const double *x, int64_t n, const void *attr)
{
    return sqrt(real_var(x, n, attr));
}

/* (sum |x|^ord)^(1/ord); ord 0 counts nonzeros, infinite ord takes the largest or smallest.
 */
static double real_norm(const double *x, int64_t n, const void *attr)
{
    double ord = ((const tc_attr_norm *)attr)->ord, s = isinf(ord) && ord < 0 ? INFINITY : 0;
    for (int64_t i = 0; i < n; i++) {
        double v = fabs(x[i]);
        if (ord == 0)
            s += v != 0;
        else if (ord == 1)
            s += v;
        else if (ord == 2)
            s += v * v;
        else if (!isinf(ord))
            s += ti_pow(v, ord);
        else if (v != v || s != s)
            s = NAN;
        else
            s = ord > 0 ? fmax(s, v) : fmin(s, v);
    }
    if (ord == 2)
        return sqrt(s);
    return ord == 0 || ord == 1 || isinf(ord) ? s : ti_pow(s, 1 / ord);
}

static double real_all(const double *x, int64_t n, const void *attr)
{
    (void)attr;
    for (int64_t i = 0; i < n; i++)
        if (x[i] == 0)
            return 0;
    return 1;
}

static double real_any(const double *x, int64_t n, const void *attr)
{
    (void)attr;
    for (int64_t i = 0; i < n; i++)
        if (x[i] != 0)
            return 1;
    return 0;
}

static int64_t int_all(const int64_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!x[i])
            return 0;
    return 1;
}

static int64_t int_any(const int64_t *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (x[i])
            return 1;
    return 0;
}

void ti_num_sum(tc_call *c) { reduce(c, real_sum, f32_sum, int_sum); }
void ti_num_prod(tc_call *c) { reduce(c, real_prod, NULL, int_prod); }
void ti_num_mean(tc_call *c) { reduce(c, real_mean, f32_mean, NULL); }
void ti_num_amax(tc_call *c) { reduce(c, real_max, f32_max, int_max); }
void ti_num_amin(tc_call *c) { reduce(c, real_min, f32_min, int_min); }
void ti_num_all(tc_call *c) { reduce(c, real_all, NULL, int_all); }
void ti_num_any(tc_call *c) { reduce(c, real_any, NULL, int_any); }
void ti_num_logsumexp(tc_call *c) { reduce(c, real_logsumexp, NULL, NULL); }
void ti_num_var(tc_call *c) { reduce_real(c, ((const tc_attr_var *)c->attr)->axes, real_var); }
void ti_num_std(tc_call *c) { reduce_real(c, ((const tc_attr_var *)c->attr)->axes, real_std); }
void ti_num_norm(tc_call *c) { reduce_real(c, ((const tc_attr_norm *)c->attr)->axes, real_norm); }

/* Index of the largest (sign 1) or smallest (sign -1): the first of equals, or the first NaN.
 */
static int64_t real_place(const double *x, int64_t n, int sign)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n && x[best] == x[best]; i++)
        if (x[i] != x[i] || sign * x[i] > sign * x[best])
            best = i;
    return best;
}

static int64_t int_place(const int64_t *x, int64_t n, int sign)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (sign > 0 ? x[i] > x[best] : x[i] < x[best])
            best = i;
    return best;
}

/* values may be NULL. */
static void places(tc_call *c, int sign, const tc_tensor *values, const tc_tensor *indices)
{
    const tc_attr_arg *a = c->attr;
    tc_rows rows = ti_rows_along(c->scratch, c->in[0], a->axis);
    bool real = is_real(c->in[0].type->dtype);
    void *row = ti_arena_raw(c->scratch, (size_t)rows.n * sizeof(double));
    for (int64_t i = 0; i < rows.n_row; i++) {
        int64_t at;
        if (real) {
            ti_read_f64(rows.x, i * rows.n, (size_t)rows.n, row);
            at = real_place(row, rows.n, sign);
        } else {
            ti_read_i64(rows.x, i * rows.n, (size_t)rows.n, row);
            at = int_place(row, rows.n, sign);
        }
        ti_store_i64(*indices, i, at);
        if (values) {
            size_t bytes = tc_dtypes[rows.x.type->dtype].bytes;
            memcpy((char *)values->data + (size_t)i * bytes,
                   (const char *)rows.x.data + (size_t)(i * rows.n + at) * bytes, bytes);
        }
    }
}

void ti_num_argmax(tc_call *c) { places(c, 1, NULL, &c->out[0]); }
void ti_num_argmin(tc_call *c) { places(c, -1, NULL, &c->out[0]); }
void ti_num_max_dim(tc_call *c) { places(c, 1, &c->out[0], &c->out[1]); }
void ti_num_min_dim(tc_call *c) { places(c, -1, &c->out[0], &c->out[1]); }
