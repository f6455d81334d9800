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
