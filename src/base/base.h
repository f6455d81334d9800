/* SPDX-License-Identifier: Apache-2.0 */
/* base.h -- what every file may use: fixed-width integers, attributes, TC_TRY. */
#ifndef TC_BASE_H
#define TC_BASE_H

#include <assert.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tosac/context.h"

#ifdef _WIN32 /* MinGW's own printf(), which is C's, not the old one of the system */
#define TC_PRINTF(fmt, args) __attribute__((format(gnu_printf, fmt, args)))
#else
#define TC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#endif
#define TC_NORETURN _Noreturn
#define TC_UNUSED __attribute__((unused))
#define TC_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Pass a failure upward. */
#define TC_TRY(call)                                                                               \
    do {                                                                                           \
        tc_status status_ = (call);                                                                \
        if (status_ != TC_OK)                                                                      \
            return status_;                                                                        \
    } while (0)

/* Return where a builder or reader has failed before: it does nothing any more. */
#define TC_STOP(maker)                                                                             \
    do {                                                                                           \
        if ((maker)->status != TC_OK)                                                              \
            return;                                                                                \
    } while (0)
#define TC_STOP_WITH(maker, ...)                                                                   \
    do {                                                                                           \
        if ((maker)->status != TC_OK)                                                              \
            return __VA_ARGS__;                                                                    \
    } while (0)

static inline int64_t ti_min_i64(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t ti_max_i64(int64_t a, int64_t b) { return a > b ? a : b; }

static inline int32_t ti_min_i32(int32_t a, int32_t b) { return a < b ? a : b; }

/* Of a >= 0: the next multiple of `to`, and how many of `to` that is. */
static inline int64_t ti_round_up(int64_t a, int64_t to) { return (a + to - 1) / to * to; }
static inline int32_t ti_round_up_i32(int32_t a, int32_t to) { return (a + to - 1) / to * to; }
static inline int64_t ti_parts(int64_t a, int64_t to) { return (a + to - 1) / to; }
/* The least with 2^bits >= n. */
static inline int ti_bits_for(int64_t n)
{
    int bits = 0;
    while (INT64_C(1) << bits < n)
        bits++;
    return bits;
}

/* For qsort(): of numbers that are not NaN, and of texts. */
static inline int ti_by_f64(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static inline int ti_by_f32(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}
static inline int ti_by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Of a clock that is never set (clock.c). */
double ti_seconds(void);

/* a * b and a + b for sizes from outside; false when the result does not fit. */
static inline bool ti_mul_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool ti_add_size(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

#endif
