/* SPDX-License-Identifier: Apache-2.0 */
/* int_eltwise.c -- see int_eltwise.h.  A block of elements at a time is computed in 32 bits, in
 * cache; the loops are plain C, compiled once for each level. */
#include "int_eltwise.h"

#include "finish.h"
#include "finish_x86.h"

enum { BLOCK = 512 };

/* ---- the loops ---- */

TC_INLINE void widen(tc_dtype from, const void *x, size_t n, int32_t *out)
{
    if (from == TC_i8)
        for (size_t i = 0; i < n; i++)
            out[i] = ((const int8_t *)x)[i];
    else if (from == TC_i16)
        for (size_t i = 0; i < n; i++)
            out[i] = ((const int16_t *)x)[i];
    else
        memcpy(out, x, n * sizeof *out);
}

TC_INLINE void narrow(tc_dtype to, const int32_t *x, size_t n, void *y)
{
    if (to == TC_i8)
        for (size_t i = 0; i < n; i++)
            ((int8_t *)y)[i] = (int8_t)x[i];
    else if (to == TC_i16)
        for (size_t i = 0; i < n; i++)
            ((int16_t *)y)[i] = (int16_t)x[i];
    else
        memcpy(y, x, n * sizeof *x);
}

TC_INLINE int32_t wrapped(tc_int_op op, int32_t shift, int32_t a, int32_t b)
{
    switch (op) {
    case TC_INT_add:
        return (int32_t)((uint32_t)a + (uint32_t)b);
    case TC_INT_sub:
        return (int32_t)((uint32_t)a - (uint32_t)b);
    case TC_INT_max:
        return a > b ? a : b;
    case TC_INT_min:
        return a < b ? a : b;
    case TC_INT_shl:
        return (int32_t)((uint32_t)a << (b & 31));
    case TC_INT_asr:
        return a >> (b & 31);
    case TC_INT_asr_round:
        return (a >> (b & 31)) + (b > 0 ? a >> ((b - 1) & 31) & 1 : 0);
    case TC_INT_abs:
        return a < 0 ? (int32_t)(0 - (uint32_t)a) : a;
    case TC_INT_clz:
        return a ? __builtin_clz((uint32_t)a) : 32;
    case TC_INT_keep:
        return a;
    default:
        if (!shift)
            return (int32_t)((uint32_t)a * (uint32_t)b);
        return (int32_t)(((int64_t)a * b + (INT64_C(1) << (shift - 1))) >> shift);
    }
}

/* y may alias a.  Steps are constants at each use: a loop for each case. */
TC_INLINE void row_of(tc_int_op op, int32_t shift, const int32_t *a, size_t step_a,
                      const int32_t *b, size_t step_b, int32_t *y, size_t n)
{
    for (size_t i = 0; i < n; i++)
        y[i] = wrapped(op, shift, a[i * step_a], b[i * step_b]);
}

TC_INLINE void row_steps(tc_int_op op, int32_t shift, const int32_t *a, bool many_a,
                         const int32_t *b, bool many_b, int32_t *y, size_t n)
{
    if (many_a && many_b)
        row_of(op, shift, a, 1, b, 1, y, n);
    else if (many_a)
        row_of(op, shift, a, 1, b, 0, y, n);
    else if (many_b)
        row_of(op, shift, a, 0, b, 1, y, n);
    else
        row_of(op, shift, a, 0, b, 0, y, n);
}

TC_INLINE void row_any(tc_int_op op, int32_t shift, const int32_t *a, bool many_a, const int32_t *b,
                       bool many_b, int32_t *y, size_t n)
{
    switch (op) {
#define CASE(which)                                                                                \
    case which:                                                                                    \
        row_steps(which, 0, a, many_a, b, many_b, y, n);                                           \
        return;
        CASE(TC_INT_add)
        CASE(TC_INT_sub)
        CASE(TC_INT_max)
        CASE(TC_INT_min)
        CASE(TC_INT_shl)
        CASE(TC_INT_asr)
        CASE(TC_INT_asr_round)
        CASE(TC_INT_abs)
        CASE(TC_INT_clz)
        CASE(TC_INT_keep)
    default:
        if (!shift)
            row_steps(TC_INT_mul, 0, a, many_a, b, many_b, y, n);
        else
            row_steps(TC_INT_mul, shift, a, many_a, b, many_b, y, n);
    }
}

/* One value per row to a value per element. */
TC_INLINE void spread_column(const int32_t *x, size_t rows, size_t columns, int32_t *out)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < columns; c++)
            *out++ = x[r];
}

TC_INLINE int32_t fold(tc_int_op op, const int32_t *x, size_t n, int32_t v)
{
    if (op == TC_INT_add)
        for (size_t i = 0; i < n; i++)
            v = (int32_t)((uint32_t)v + (uint32_t)x[i]);
    else if (op == TC_INT_max)
        for (size_t i = 0; i < n; i++)
            v = v > x[i] ? v : x[i];
    else
        for (size_t i = 0; i < n; i++)
            v = v < x[i] ? v : x[i];
    return v;
}

TC_INLINE void clamp(tc_dtype dtype, int32_t lo, int32_t hi, const void *x, void *y, size_t n)
{
    if (dtype == TC_i8)
        for (size_t i = 0; i < n; i++) {
            int8_t v = ((const int8_t *)x)[i];
            v = v < (int8_t)lo ? (int8_t)lo : v;
            ((int8_t *)y)[i] = v > (int8_t)hi ? (int8_t)hi : v;
        }
    else
        for (size_t i = 0; i < n; i++) {
            int16_t v = ((const int16_t *)x)[i];
            v = v < (int16_t)lo ? (int16_t)lo : v;
            ((int16_t *)y)[i] = v > (int16_t)hi ? (int16_t)hi : v;
        }
}

TC_INLINE void table16(const int16_t *table, const int16_t *x, int32_t *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int32_t at = (x[i] + 32768) >> 7, rest = x[i] & 127;
        y[i] = table[at] * 128 + (table[at + 1] - table[at]) * rest;
    }
}

/* ---- a copy of them for each level ---- */

typedef struct loops {
    void (*widen)(tc_dtype, const void *, size_t, int32_t *);
    void (*narrow)(tc_dtype, const int32_t *, size_t, void *);
    void (*row)(tc_int_op, int32_t, const int32_t *, bool, const int32_t *, bool, int32_t *,
                size_t);
    void (*column)(const int32_t *, size_t, size_t, int32_t *);
    int32_t (*fold)(tc_int_op, const int32_t *, size_t, int32_t);
    void (*clamp)(tc_dtype, int32_t, int32_t, const void *, void *, size_t);
} loops;

#define LEVEL(name, target)                                                                        \
    target static void widen_##name(tc_dtype from, const void *x, size_t n, int32_t *out)          \
    {                                                                                              \
        widen(from, x, n, out);                                                                    \
    }                                                                                              \
    target static void narrow_##name(tc_dtype to, const int32_t *x, size_t n, void *y)             \
    {                                                                                              \
        narrow(to, x, n, y);                                                                       \
    }                                                                                              \
    target static void row_##name(tc_int_op op, int32_t shift, const int32_t *a, bool many_a,      \
                                  const int32_t *b, bool many_b, int32_t *y, size_t n)             \
    {                                                                                              \
        row_any(op, shift, a, many_a, b, many_b, y, n);                                            \
    }                                                                                              \
    target static void column_##name(const int32_t *x, size_t rows, size_t columns, int32_t *out)  \
    {                                                                                              \
        spread_column(x, rows, columns, out);                                                      \
    }                                                                                              \
    target static int32_t fold_##name(tc_int_op op, const int32_t *x, size_t n, int32_t v)         \
    {                                                                                              \
        return fold(op, x, n, v);                                                                  \
    }                                                                                              \
    target static void clamp_##name(tc_dtype dtype, int32_t lo, int32_t hi, const void *x,         \
                                    void *y, size_t n)                                             \
    {                                                                                              \
        clamp(dtype, lo, hi, x, y, n);                                                             \
    }                                                                                              \
    static const loops loops_##name = {widen_##name,  narrow_##name, row_##name,                   \
                                       column_##name, fold_##name,   clamp_##name};

LEVEL(plain, )
#ifdef TC_X86
LEVEL(avx2, TC_AVX2)
LEVEL(avx512, TC_AVX512)

enum { TABLE_VECTORS = 4 };

/* entry * (128 - rest) + next * rest, pairs of products at once.  Each 64 entries are two
 * registers; the bits above the sixth select them. */
TC_AVX512 static size_t table16_avx512(const int16_t *table, const int16_t *x, int32_t *y, size_t n)
{
    enum { V = TABLE_VECTORS };
    const __m512i sign = _mm512_set1_epi16(INT16_MIN), low = _mm512_set1_epi16(127);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    size_t i = 0;
    for (; i + 32 * V <= n; i += 32 * V) {
        __m512i at[V], base[V], next[V], turn = _mm512_setzero_si512();
        for (int k = 0; k < V; k++) {
            at[k] = _mm512_srli_epi16(_mm512_xor_si512(ti_load512(x + i + 32 * k), sign), 7);
            base[k] = next[k] = turn;
        }
        for (int p = 0; p < 512; p += 64, turn = _mm512_add_epi16(turn, _mm512_set1_epi16(64))) {
            __m512i t0 = ti_load512(table + p), t1 = ti_load512(table + p + 32);
            __m512i n0 = ti_load512(table + p + 1), n1 = ti_load512(table + p + 33);
            for (int k = 0; k < V; k++) {
                __mmask32 now = _mm512_cmplt_epu16_mask(_mm512_sub_epi16(at[k], turn),
                                                        _mm512_set1_epi16(64));
                base[k] = _mm512_mask_mov_epi16(base[k], now,
                                                _mm512_permutex2var_epi16(t0, at[k], t1));
                next[k] = _mm512_mask_mov_epi16(next[k], now,
                                                _mm512_permutex2var_epi16(n0, at[k], n1));
            }
        }
        for (int k = 0; k < V; k++) {
            __m512i rest = _mm512_and_si512(ti_load512(x + i + 32 * k), low);
            __m512i part = _mm512_sub_epi16(_mm512_set1_epi16(128), rest);
            __m512i lo = _mm512_madd_epi16(_mm512_unpacklo_epi16(base[k], next[k]),
                                           _mm512_unpacklo_epi16(part, rest));
            __m512i hi = _mm512_madd_epi16(_mm512_unpackhi_epi16(base[k], next[k]),
                                           _mm512_unpackhi_epi16(part, rest));
            int32_t *to = y + i + 32 * k;
            _mm512_storeu_si512(to, _mm512_permutex2var_epi64(lo, first, hi));
            _mm512_storeu_si512(to + 16, _mm512_permutex2var_epi64(lo, second, hi));
        }
    }
    return i;
}

/* Two entries are loaded for each; the last one of all as the second of its pair. */
TC_AVX512 static bool gather16_avx512(const int16_t *values, size_t most, const int32_t *index,
                                      int16_t *y, size_t *done, size_t n)
{
    const __m512i end = _mm512_set1_epi32((int32_t)most);
    const __m512i last = _mm512_set1_epi32((int32_t)most - 2);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m512i at = _mm512_loadu_si512(index + i);
        if (_mm512_cmpge_epu32_mask(at, end))
            return false;
        __m512i both = _mm512_i32gather_epi32(_mm512_min_epi32(at, last), values, 2);
        both = _mm512_mask_srli_epi32(both, _mm512_cmpgt_epi32_mask(at, last), both, 16);
        _mm256_storeu_si256((__m256i *)(void *)(y + i), _mm512_cvtepi32_epi16(both));
    }
    *done = i;
    return true;
}
#endif

static const loops *here(void)
{
#ifdef TC_X86
    if (ti_isa_is_avx512(ti_isa()))
        return &loops_avx512;
    if (ti_isa() == TC_ISA_avx2)
        return &loops_avx2;
#endif
    return &loops_plain;
}

/* ---- operands, a block at a time ---- */

/* n elements from index `at` on as 32 bits, in buf unless stored so. */
static const int32_t *fetch(const loops *l, const tc_int_operand *o, const void *x, size_t at,
                            size_t n, int32_t *buf)
{
    const uint8_t *from = (const uint8_t *)x + at * tc_dtypes[o->from].bytes;
    if (o->rescale)
        ti_rescale_run(o->rescale, from, n, buf, NULL);
    else if (o->table)
        ti_table16_run(o->table, (const int16_t *)(const void *)from, buf, n);
    else if (o->from == TC_i32)
        return (const int32_t *)(const void *)from;
    else
        l->widen(o->from, from, n, buf);
    return buf;
}

/* The operand for rows r .. r + rows, columns c .. c + columns: one value, or one per element. */
static const int32_t *meet(const loops *l, const tc_int_binary *e, const tc_int_operand *o,
                           const void *x, size_t r, size_t rows, size_t c, size_t columns,
                           int32_t *buf)
{
    if (o->spread == TC_SPREAD_one)
        return fetch(l, o, x, 0, 1, buf);
    if (o->spread == TC_SPREAD_none)
        return fetch(l, o, x, r * e->columns + c, rows * columns, buf);
    if (o->spread == TC_SPREAD_column) {
        int32_t each[BLOCK];
        l->column(fetch(l, o, x, r, rows, each), rows, columns, buf);
        return buf;
    }
    const int32_t *first = fetch(l, o, x, c, columns, buf);
    if (rows == 1)
        return first;
    if (first != buf)
        memcpy(buf, first, columns * sizeof *buf);
    for (size_t i = 1; i < rows; i++)
        memcpy(buf + i * columns, buf, columns * sizeof *buf);
    return buf;
}

static void finish(const loops *l, const tc_int_binary *e, const int32_t *v, size_t at, size_t n,
                   void *y)
{
    uint8_t *to = (uint8_t *)y + at * tc_dtypes[e->to].bytes;
    if (e->then)
        ti_rescale_run(e->then, v, n, to, NULL);
    else
        l->narrow(e->to, v, n, to);
}

static void run_once(const tc_int_binary *e, const void *a, const void *b, void *y)
{
    const loops *l = here();
    int32_t buf_a[BLOCK], buf_b[BLOCK], sum[BLOCK];
    size_t columns = e->columns < BLOCK ? e->columns : BLOCK;
    size_t rows = columns ? BLOCK / columns : 1;
    bool many_a = e->a.spread != TC_SPREAD_one;
    bool many_b = e->b.spread != TC_SPREAD_one;
    for (size_t r = 0; r < e->rows; r += rows)
        for (size_t c = 0; c < e->columns; c += columns) {
            size_t some = e->rows - r < rows ? e->rows - r : rows;
            size_t across = e->columns - c < columns ? e->columns - c : columns;
            const int32_t *va = meet(l, e, &e->a, a, r, some, c, across, buf_a);
            const int32_t *vb = meet(l, e, &e->b, b, r, some, c, across, buf_b);
            size_t n = some * across, at = r * e->columns + c;
            bool straight = !e->then && e->to == TC_i32;
            int32_t *to = straight ? (int32_t *)y + at : sum;
            l->row(e->op, e->shift, va, many_a, vb, many_b, to, n);
            if (!straight)
                finish(l, e, to, at, n, y);
        }
}

/* Bytes of the operand per outer iteration. */
static size_t step_of(const tc_int_binary *e, const tc_int_operand *o)
{
    return e->columns * (o->spread == TC_SPREAD_row ? 1 : e->rows) * tc_dtypes[o->from].bytes;
}

void ti_int_binary_run(const tc_int_binary *e, const void *a, const void *b, void *y)
{
    size_t step_a = step_of(e, &e->a), step_b = step_of(e, &e->b),
           step_y = e->rows * e->columns * tc_dtypes[e->to].bytes;
    for (size_t i = 0; i < e->outer; i++)
        run_once(e, (const uint8_t *)a + i * step_a, (const uint8_t *)b + i * step_b,
                 (uint8_t *)y + i * step_y);
}

bool ti_int_shifts_fit(tc_dtype dtype, const void *x, size_t n, int bits)
{
    const loops *l = here();
    const tc_int_operand o = {.from = dtype};
    int32_t buf[BLOCK], least = 0, most = 0;
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t some = n - i < BLOCK ? n - i : BLOCK;
        const int32_t *v = fetch(l, &o, x, i, some, buf);
        least = l->fold(TC_INT_min, v, some, least);
        most = l->fold(TC_INT_max, v, some, most);
    }
    return least >= 0 && most < bits;
}

/* ---- sums, and the largest and least ---- */

size_t ti_int_reduce_scratch(const tc_int_reduce *r)
{
    return r->inner > 1 ? r->inner * sizeof(int32_t) : 0;
}

static int32_t first_of(tc_int_op op)
{
    return op == TC_INT_add ? 0 : op == TC_INT_max ? INT32_MIN : INT32_MAX;
}

void ti_int_reduce_run(const tc_int_reduce *r, const void *x, void *y, void *scratch)
{
    const loops *l = here();
    int32_t buf[BLOCK], *sum = scratch;
    size_t bytes = tc_dtypes[r->to].bytes;
    for (size_t o = 0; o < r->outer; o++) {
        size_t from = o * r->n * r->inner;
        if (r->inner == 1) {
            int32_t v = first_of(r->op);
            for (size_t i = 0; i < r->n; i += BLOCK) {
                size_t some = r->n - i < BLOCK ? r->n - i : BLOCK;
                v = l->fold(r->op, fetch(l, &r->x, x, from + i, some, buf), some, v);
            }
            l->narrow(r->to, &v, 1, (uint8_t *)y + o * bytes);
            continue;
        }
        for (size_t i = 0; i < r->inner; i++)
            sum[i] = first_of(r->op);
        for (size_t k = 0; k < r->n; k++, from += r->inner)
            for (size_t i = 0; i < r->inner; i += BLOCK) {
                size_t some = r->inner - i < BLOCK ? r->inner - i : BLOCK;
                l->row(r->op, 0, sum + i, true, fetch(l, &r->x, x, from + i, some, buf), true,
                       sum + i, some);
            }
        l->narrow(r->to, sum, r->inner, (uint8_t *)y + o * r->inner * bytes);
    }
}

/* ---- element by element ---- */

void ti_table16_run(const int16_t *table, const int16_t *x, int32_t *y, size_t n)
{
    size_t done = 0;
#ifdef TC_X86
    if (ti_isa_is_avx512(ti_isa()))
        done = table16_avx512(table, x, y, n);
#endif
    table16(table, x + done, y + done, n - done);
}

bool ti_gather16_run(const int16_t *values, size_t most, const int32_t *index, int16_t *y, size_t n)
{
    size_t i = 0;
#ifdef TC_X86
    if (ti_isa_is_avx512(ti_isa()) && most >= 2 && most <= INT32_MAX &&
        !gather16_avx512(values, most, index, y, &i, n))
        return false;
#endif
    for (; i < n; i++) {
        if (index[i] < 0 || (size_t)index[i] >= most)
            return false;
        y[i] = values[index[i]];
    }
    return true;
}

void ti_clamp_run(tc_dtype dtype, int32_t lo, int32_t hi, const void *x, void *y, size_t n)
{
    here()->clamp(dtype, lo, hi, x, y, n);
}
