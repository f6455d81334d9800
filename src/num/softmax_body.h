/* SPDX-License-Identifier: Apache-2.0 */
/* softmax_body.h -- softmax in working type T; softmax.c includes it per type.
 *
 * The largest element is subtracted first, so that no exponential overflows. */

/* AT_ONCE at a time: the remainder goes through a copy, to be as fast. */
TC_LANES_BODY NAME(exponentials)(T *y, int64_t n)
{
    int64_t i = 0;
    for (; i + AT_ONCE <= n; i += AT_ONCE)
        for (int j = 0; j < AT_ONCE; j++)
            y[i + j] = EXP(y[i + j]);
    if (i == n)
        return;
    T rest[AT_ONCE] = {0};
    memcpy(rest, y + i, (size_t)(n - i) * sizeof *y);
    for (int j = 0; j < AT_ONCE; j++)
        rest[j] = EXP(rest[j]);
    memcpy(y + i, rest, (size_t)(n - i) * sizeof *y);
}

/* The largest of n elements in eight lanes.  NaN is skipped here: its own exponential, and with it
 * the sum, is NaN all the same. */
static inline __attribute__((always_inline)) T NAME(largest)(const T *x, int64_t n)
{
    T top[8];
    int64_t i = 0;
    for (int j = 0; j < 8; j++)
        top[j] = -INFINITY;
    for (; i + 8 <= n; i += 8)
        for (int j = 0; j < 8; j++)
            top[j] = x[i + j] > top[j] ? x[i + j] : top[j];
    for (; i < n; i++)
        top[0] = x[i] > top[0] ? x[i] : top[0];
    for (int j = 1; j < 8; j++)
        top[0] = top[j] > top[0] ? top[j] : top[0];
    return top[0];
}

/* One contiguous row, in place. */
TC_LANES_BODY NAME(row)(T *y, int64_t n, bool logarithm)
{
    T top = NAME(largest)(y, n);
    for (int64_t i = 0; i < n; i++)
        y[i] -= top;
    if (logarithm) {
        double sum = 0;
        for (int64_t at = 0; at < n; at += BLOCK) {
            T part[BLOCK];
            int64_t m = ti_min_i64(BLOCK, n - at);
            memcpy(part, y + at, (size_t)m * sizeof *part);
            NAME(exponentials)(part, m);
            sum += SUM(part, m);
        }
        T off = LOG(sum);
        for (int64_t i = 0; i < n; i++)
            y[i] -= off;
        return;
    }
    NAME(exponentials)(y, n);
    T factor = (T)(1 / SUM(y, n));
    for (int64_t i = 0; i < n; i++)
        y[i] *= factor;
}

/* Up to BLOCK interleaved rows: element k of row j at x[k * step + j]. */
TC_LANES_BODY NAME(rows_across)(const T *x, int64_t n, int64_t step, int64_t rows,
                                bool logarithm, T *y)
{
    T top[BLOCK], part[BLOCK];
    double sum[BLOCK] = {0};
    for (int64_t j = 0; j < rows; j++)
        top[j] = -INFINITY;
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = 0; j < rows; j++) {
            T v = x[k * step + j];
            top[j] = v > top[j] ? v : top[j];
        }
    for (int64_t k = 0; k < n; k++) {
        T *to = y + k * step;
        for (int64_t j = 0; j < rows; j++)
            to[j] = part[j] = x[k * step + j] - top[j];
        NAME(exponentials)(part, rows);
        for (int64_t j = 0; j < rows; j++)
            sum[j] += (double)part[j];
        if (!logarithm)
            memcpy(to, part, (size_t)rows * sizeof *part);
    }
    for (int64_t j = 0; j < rows; j++)
        part[j] = logarithm ? LOG(sum[j]) : (T)(1 / sum[j]);
    for (int64_t k = 0; k < n; k++)
        for (int64_t j = 0; j < rows; j++)
            y[k * step + j] = logarithm ? y[k * step + j] - part[j] : y[k * step + j] * part[j];
}

TC_LANES_BODY NAME(along)(const T *x, int64_t outer, int64_t n, int64_t inner, bool logarithm,
                          T *y)
{
    for (int64_t i = 0; i < outer; i++, x += n * inner, y += n * inner) {
        if (inner == 1) {
            memcpy(y, x, (size_t)n * sizeof *y);
            NAME(row)(y, n, logarithm);
        } else
            for (int64_t j = 0; j < inner; j += BLOCK)
                NAME(rows_across)(x + j, n, inner, ti_min_i64(BLOCK, inner - j), logarithm, y + j);
    }
}

#undef NAME
#undef T
#undef EXP
#undef LOG
#undef SUM
#undef AT_ONCE
