/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_dims.c -- TOSA 1.1's operators on shapes: values have 64 bits; overflow, and what the
 * specification leaves undefined, is an error. */
#include "kernels.h"
#include "tosa.h"

/* One value; false: there is none. */
typedef bool value_fn(int64_t a, int64_t b, int64_t *out);

static void each(tc_call *call, value_fn *fn, const char *error)
{
    const int64_t *a = call->in[0].data, *b = call->in[call->n_in - 1].data;
    int64_t *out = call->out[0].data;
    for (int64_t i = 0, n = tc_type_count(call->out[0].type); i < n; i++)
        if (!fn(a[i], b[i], &out[i])) {
            call->error = error;
            return;
        }
}

/* A function of a and b in one line, and its kernel. */
#define VALUES(name, line, error_)                                                                 \
    static bool name(int64_t a, int64_t b, int64_t *out)                                           \
    {                                                                                              \
        (void)a, (void)b;                                                                          \
        return line;                                                                               \
    }                                                                                              \
    void ti_num_tosa_##name(tc_call *call) { each(call, name, error_); }

static bool fits(int64_t v, int64_t *out)
{
    *out = v;
    return true;
}

/* The largest e with 2^e <= a; a >= 1. */
static int64_t log2_floor(int64_t a)
{
    return 63 - __builtin_clzll((uint64_t)a);
}

enum { MOST_LOG2 = 31 }; /* level 8K */

VALUES( add_shape, !__builtin_add_overflow(a, b, out), "a sum is past 64 bits" )
VALUES( sub_shape, !__builtin_sub_overflow(a, b, out), "a difference is past 64 bits" )
VALUES( mul_shape, !__builtin_mul_overflow(a, b, out), "a product is past 64 bits" )
VALUES( max_shape, fits(a > b ? a : b, out), NULL )
VALUES( min_shape, fits(a < b ? a : b, out), NULL )
VALUES( mod_shape, a >= 0 && b >= 1 && fits(a % b, out), "a value is negative, or the divisor below 1" )
VALUES( div_floor_shape, a >= 0 && b >= 1 && fits(a / b, out), "a value is negative, or the divisor below 1" )
VALUES( div_ceil_shape, a >= 0 && b >= 1 && fits(a / b + (a % b > 0), out), "a value is negative, or the divisor below 1" )
VALUES( exp2_shape, a >= 0 && a < MOST_LOG2 && fits(INT64_C(1) << a, out), "an exponent is outside 0..30" )
VALUES( log2_floor_shape, a >= 1 && fits(log2_floor(a), out), "a value is below 1" )
VALUES( log2_ceil_shape, a >= 1 && fits(log2_floor(a) + ((a & (a - 1)) != 0), out), "a value is below 1" )

void ti_num_tosa_dim(tc_call *call)
{
    const tc_attr_tosa_axis *a = call->attr;
    *(int64_t *)call->out[0].data = call->in[0].type->dim[a->axis];
}

void ti_num_tosa_concat_shape(tc_call *call)
{
    int64_t *out = call->out[0].data;
    for (int k = 0; k < call->n_in; k++) {
        size_t n = (size_t)tc_type_count(call->in[k].type);
        memcpy(out, call->in[k].data, n * sizeof *out);
        out += n;
    }
}

void ti_num_tosa_slice_shape(tc_call *call)
{
    int64_t n = tc_type_count(call->out[0].type), all = tc_type_count(call->in[0].type);
    int64_t start = ti_load_i64(call->in[1], 0);
    if (start < 0 || start > all - n || ti_load_i64(call->in[2], 0) != n)
        call->error = "start and size do not fit the shape";
    else
        memcpy(call->out[0].data, (const int64_t *)call->in[0].data + start,
               (size_t)n * sizeof(int64_t));
}

void ti_num_tosa_assert_equal_shape(tc_call *call)
{
    const tc_attr_tosa_assert_equal *assert_ = call->attr;
    const int64_t *a = call->in[0].data, *b = call->in[1].data;
    for (int64_t i = 0, n = tc_type_count(call->in[0].type); i < n; i++)
        if (a[i] != b[i] && !(assert_->allow_broadcast && (a[i] == 1 || b[i] == 1)))
            call->error = "the shapes differ";
}
