/* SPDX-License-Identifier: Apache-2.0 */
/* load.c -- runs of elements of any type as f32, f64 or i64, and back.
 *
 * One loop per stored type, so that simple ones are vectorized. */
#include "load.h"

/* case TC_t: out[i] = expr of p[i], for elements of C type c. */
#define READ(t_, c_, expr)                                                                         \
    case TC_##t_: {                                                                                \
        const c_ *p = (const c_ *)t.data + start;                                                  \
        for (size_t i = 0; i < n; i++)                                                             \
            out[i] = expr;                                                                         \
        break;                                                                                     \
    }

enum { MANY = 512 }; /* block-scaled: a table of their values pays */

void ti_read_f32(tc_tensor t, int64_t start, size_t n, float *out)
{
    if (n >= MANY && ti_is_block(t.type->dtype)) {
        ti_block_read(t.type->dtype, (const uint16_t *)t.data + start, n, out);
        return;
    }
    switch (t.type->dtype) {
#define X(t_, c_) READ(t_, c_, (float)p[i])
        TC_STORED_INTS(X)
        X(f32, float)
        X(f64, double)
#undef X
#define X(t_, c_, from_) READ(t_, c_, ti_##t_##_to_f32(p[i]))
        TC_STORED_HALVES(X)
#undef X
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = (float)ti_load_f64(t, start + (int64_t)i);
    }
}

void ti_read_f64(tc_tensor t, int64_t start, size_t n, double *out)
{
    switch (t.type->dtype) {
#define X(t_, c_) READ(t_, c_, (double)p[i])
        TC_STORED_INTS(X)
        X(f32, float)
        X(f64, double)
#undef X
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = ti_load_f64(t, start + (int64_t)i);
    }
}

void ti_read_i64(tc_tensor t, int64_t start, size_t n, int64_t *out)
{
    switch (t.type->dtype) {
#define X(t_, c_) READ(t_, c_, (int64_t)p[i])
        TC_STORED_INTS(X)
#undef X
    default:
        for (size_t i = 0; i < n; i++)
            out[i] = ti_load_i64(t, start + (int64_t)i);
    }
}

/* case TC_t: p[i] = expr of in[i]. */
#define WRITE(t_, c_, expr)                                                                        \
    case TC_##t_: {                                                                                \
        c_ *p = (c_ *)t.data + start;                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            p[i] = expr;                                                                           \
        break;                                                                                     \
    }

void ti_write_f32(tc_tensor t, int64_t start, size_t n, const float *in)
{
    switch (t.type->dtype) {
#define X(t_, c_, from_) WRITE(t_, c_, from_(in[i]))
        TC_STORED_HALVES(X)
#undef X
#define X(t_, c_) WRITE(t_, c_, (c_)ti_int_of(TC_##t_, (double)in[i]))
        TC_STORED_INTS(X)
#undef X
        WRITE(bool, uint8_t, in[i] != 0)
        WRITE(f32, float, in[i])
        WRITE(f64, double, (double)in[i])
    default:
        for (size_t i = 0; i < n; i++)
            ti_store_f64(t, start + (int64_t)i, (double)in[i]);
    }
}

void ti_write_f64(tc_tensor t, int64_t start, size_t n, const double *in)
{
    switch (t.type->dtype) {
        WRITE(f32, float, (float)in[i])
        WRITE(f64, double, in[i])
    default:
        for (size_t i = 0; i < n; i++)
            ti_store_f64(t, start + (int64_t)i, in[i]);
    }
}

void ti_write_i64(tc_tensor t, int64_t start, size_t n, const int64_t *in)
{
    switch (t.type->dtype) {
#define X(t_, c_) WRITE(t_, c_, (c_)ti_wrap(TC_##t_, in[i]))
        TC_STORED_INTS(X)
#undef X
        WRITE(bool, uint8_t, in[i] != 0)
    default:
        for (size_t i = 0; i < n; i++)
            ti_store_i64(t, start + (int64_t)i, in[i]);
    }
}

const float *ti_as_f32(tc_arena *arena, tc_tensor t)
{
    if (t.type->dtype == TC_f32)
        return t.data;
    size_t n = (size_t)tc_type_count(t.type);
    float *copy = ti_arena_raw(arena, n * sizeof *copy);
    ti_read_f32(t, 0, n, copy);
    return copy;
}

const double *ti_as_f64(tc_arena *arena, tc_tensor t)
{
    if (t.type->dtype == TC_f64)
        return t.data;
    size_t n = (size_t)tc_type_count(t.type);
    double *copy = ti_arena_raw(arena, n * sizeof *copy);
    ti_read_f64(t, 0, n, copy);
    return copy;
}
