/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_eltwise.c -- TOSA's elementwise operators: one line of arithmetic each, and the walk over
 * broadcast operands that they share.
 *
 * Integers are computed in 64 bits and keep the low bits of their type, floats are computed in
 * f64 and rounded once; functions come from math.h, in f32, and are the same on every machine. */
#include "fixed.h"
#include "kernels.h"
#include "math.h"
#include "tosa.h"

enum { RUN = 256, MOST_IN = 3 };

typedef int64_t int_fn(tc_call *call, int64_t a, int64_t b);
typedef double real_fn(tc_call *call, double a, double b);

/* Steps of an operand along the result's axes: 0 where it is broadcast. */
static void broadcast_steps(const tc_type *operand, const tc_type *result, int64_t *step)
{
    int64_t size = 1;
    for (int i = result->rank - 1; i >= 0; i--) {
        step[i] = operand->dim[i] == 1 ? 0 : size;
        size *= operand->dim[i];
    }
}

/* An offset in the result, and in every operand. */
typedef struct walk {
    const tc_type *type;
    int n_in;
    int64_t step[MOST_IN][TC_MAX_RANK];
    int64_t index[TC_MAX_RANK];
    int64_t at[MOST_IN];
    int64_t row; /* elements of the innermost axis */
} walk;

static walk walk_over(const tc_call *call, int n_in)
{
    walk w = {.type = call->out[0].type, .n_in = n_in, .row = 1};
    for (int k = 0; k < n_in; k++)
        broadcast_steps(call->in[k].type, w.type, w.step[k]);
    if (w.type->rank)
        w.row = w.type->dim[w.type->rank - 1];
    return w;
}

/* On to the next row. */
static void advance(walk *w)
{
    for (int i = w->type->rank - 2; i >= 0; i--) {
        for (int k = 0; k < w->n_in; k++)
            w->at[k] += w->step[k][i];
        if (++w->index[i] < w->type->dim[i])
            return;
        for (int k = 0; k < w->n_in; k++)
            w->at[k] -= w->step[k][i] * w->index[i];
        w->index[i] = 0;
    }
}

static int64_t last_step(const walk *w, int k)
{
    return w->type->rank ? w->step[k][w->type->rank - 1] : 0;
}

/* Operand k for n results from index i of the row on. */
static void read_ints(const tc_call *call, const walk *w, int k, int64_t i, size_t n, int64_t *out)
{
    if (last_step(w, k)) {
        ti_read_i64(call->in[k], w->at[k] + i, n, out);
        return;
    }
    int64_t v = ti_load_i64(call->in[k], w->at[k]);
    for (size_t j = 0; j < n; j++)
        out[j] = v;
}

static void read_reals(const tc_call *call, const walk *w, int k, int64_t i, size_t n, double *out)
{
    if (last_step(w, k)) {
        ti_read_f64(call->in[k], w->at[k] + i, n, out);
        return;
    }
    double v = ti_load_f64(call->in[k], w->at[k]);
    for (size_t j = 0; j < n; j++)
        out[j] = v;
}

static void on_ints(tc_call *call, int n_in, int_fn *fn)
{
    int64_t a[RUN], b[RUN] = {0}, count = tc_type_count(call->out[0].type);
    walk w = walk_over(call, n_in);
    for (int64_t at = 0; at < count && !call->error; at += w.row, advance(&w))
        for (int64_t i = 0; i < w.row; i += RUN) {
            size_t n = (size_t)ti_min_i64(RUN, w.row - i);
            read_ints(call, &w, 0, i, n, a);
            if (n_in > 1)
                read_ints(call, &w, 1, i, n, b);
            for (size_t j = 0; j < n; j++)
                a[j] = fn(call, a[j], b[j]);
            ti_write_i64(call->out[0], at + i, n, a);
        }
}

static void on_reals(tc_call *call, int n_in, real_fn *fn)
{
    double a[RUN], b[RUN] = {0};
    int64_t count = tc_type_count(call->out[0].type);
    walk w = walk_over(call, n_in);
    for (int64_t at = 0; at < count && !call->error; at += w.row, advance(&w))
        for (int64_t i = 0; i < w.row; i += RUN) {
            size_t n = (size_t)ti_min_i64(RUN, w.row - i);
            read_reals(call, &w, 0, i, n, a);
            if (n_in > 1)
                read_reals(call, &w, 1, i, n, b);
            for (size_t j = 0; j < n; j++)
                a[j] = fn(call, a[j], b[j]);
            ti_write_reals(call->out[0], at + i, n, a);
        }
}

static tc_field_nan_mode nan_mode(const tc_call *call)
{
    return ((const tc_attr_tosa_nan *)call->attr)->nan_mode;
}

/* a * b rounded half up after a shift, in 64 bits: only 32-bit products are shifted. */
static int64_t shifted_product(tc_call *call, int64_t a, int64_t b)
{
    int64_t shift = ti_load_i64(call->in[2], 0);
    if (shift < 0 || shift > 63 || (shift && call->in[0].type->dtype != TC_i32)) {
        call->error = "the shift is outside 0..63, or the product is not of 32 bits";
        return 0;
    }
    int64_t product = ti_wrap_mul(a, b);
    return shift ? ti_asr(ti_wrap_add(product, INT64_C(1) << (shift - 1)), (int)shift) : product;
}

/* A shift within the width of the elements; anything else has no result. */
static bool shift_fits(tc_call *call, int64_t shift)
{
    if (shift >= 0 && shift < tc_dtypes[call->in[0].type->dtype].bits)
        return true;
    call->error = "a shift is negative, or as wide as the elements";
    return false;
}

static int64_t arithmetic_right_shift(tc_call *call, int64_t a, int64_t b)
{
    if (!shift_fits(call, b))
        return 0;
    bool round = ((const tc_attr_tosa_shift *)call->attr)->round;
    int64_t up = round && b > 0 ? ti_asr(a, (int)b - 1) & 1 : 0;
    return ti_asr(a, (int)b) + up;
}

static int64_t logical_left_shift(tc_call *call, int64_t a, int64_t b)
{
    return shift_fits(call, b) ? (int64_t)((uint64_t)a << b) : 0;
}

static int64_t logical_right_shift(tc_call *call, int64_t a, int64_t b)
{
    uint64_t mask = UINT64_MAX >> (64 - tc_dtypes[call->in[0].type->dtype].bits);
    return shift_fits(call, b) ? (int64_t)(((uint64_t)a & mask) >> b) : 0;
}

static int64_t quotient(tc_call *call, int64_t a, int64_t b)
{
    if (b == 0) {
        call->error = "division by zero";
        return 0;
    }
    return b == -1 ? ti_wrap_sub(0, a) : a / b;
}

static int64_t leading_zeros(tc_call *call, int64_t a, int64_t b)
{
    (void)b;
    if (call->in[0].type->dtype == TC_i64)
        return a ? __builtin_clzll((uint64_t)a) : 64;
    return (uint32_t)a ? __builtin_clz((uint32_t)a) : 32;
}

static double greater_of(tc_call *call, double a, double b)
{
    return ti_nan_max(nan_mode(call), a, b);
}

static double lesser_of(tc_call *call, double a, double b)
{
    return ti_nan_min(nan_mode(call), a, b);
}

/* -(x - input_zp) + output_zp, in 32 bits (i64: in 64), saturated to the type. */
static int64_t negated(tc_call *call, int64_t a, int64_t b)
{
    (void)b;
    tc_dtype type = call->out[0].type->dtype;
    int64_t v = ti_wrap_sub(ti_zero_point(call->in[2]), ti_wrap_sub(a, ti_zero_point(call->in[1])));
    return ti_clip(type == TC_i64 ? v : (int32_t)v, ti_dtype_min(type), ti_dtype_max(type));
}

static int64_t clamped_int(tc_call *call, int64_t a, int64_t b)
{
    (void)b;
    const tc_attr_tosa_clamp *c = call->attr;
    return ti_clip(a, ti_trunc_i64(c->min_val), ti_trunc_i64(c->max_val));
}

static double clamped_real(tc_call *call, double a, double b)
{
    (void)b;
    const tc_attr_tosa_clamp *c = call->attr;
    return ti_nan_min(c->nan_mode, ti_nan_max(c->nan_mode, a, c->min_val), c->max_val);
}

/* Every float type of TOSA fits f32. */
static double sine(tc_call *call, double a, double b)
{
    (void)call, (void)b;
    float x = (float)a, y;
    ti_sin_f32(&x, &y, 1);
    return (double)y;
}

static double cosine(tc_call *call, double a, double b)
{
    (void)call, (void)b;
    float x = (float)a, y;
    ti_cos_f32(&x, &y, 1);
    return (double)y;
}

/* A kernel for integers, for floats, or for both, as the first operand's type decides. */
#define INTS(name, n, fn)                                                                          \
    void ti_num_tosa_##name(tc_call *call) { on_ints(call, n, fn); }
#define REALS(name, n, fn)                                                                         \
    void ti_num_tosa_##name(tc_call *call) { on_reals(call, n, fn); }
#define BOTH(name, n, int_, real_)                                                                 \
    void ti_num_tosa_##name(tc_call *call)                                                         \
    {                                                                                              \
        if (ti_is_float(call->in[0].type->dtype))                                                  \
            on_reals(call, n, real_);                                                              \
        else                                                                                       \
            on_ints(call, n, int_);                                                                \
    }
/* A function of a and b in one line. */
#define INT(name, line)                                                                            \
    static int64_t name(tc_call *call, int64_t a, int64_t b)                                       \
    {                                                                                              \
        (void)call, (void)a, (void)b;                                                              \
        return line;                                                                               \
    }
#define REAL(name, line)                                                                           \
    static double name(tc_call *call, double a, double b)                                          \
    {                                                                                              \
        (void)call, (void)a, (void)b;                                                              \
        return line;                                                                               \
    }

INT( int_add, ti_wrap_add(a, b) )       REAL( real_add, a + b )
INT( int_sub, ti_wrap_sub(a, b) )       REAL( real_sub, a - b )
                                        REAL( real_mul, a * b )
INT( int_max, a > b ? a : b )           REAL( real_pow, (double)ti_powf((float)a, (float)b) )
INT( int_min, a < b ? a : b )           REAL( real_neg, -a )
INT( int_abs, a < 0 ? ti_wrap_sub(0, a) : a )  REAL( real_abs, fabs(a) )
INT( int_equal, a == b )                REAL( real_equal, a == b )
INT( int_greater, a > b )               REAL( real_greater, a > b )
INT( int_greater_equal, a >= b )        REAL( real_greater_equal, a >= b )
INT( int_and, a & b )                   REAL( real_erf, (double)ti_erff((float)a) )
INT( int_or, a | b )                    REAL( real_sigmoid, (double)ti_sigmoidf((float)a) )
INT( int_xor, a ^ b )                   REAL( real_tanh, (double)ti_tanhf((float)a) )
INT( int_not, ~a )                      REAL( real_ceil, ceil(a) )
INT( bool_not, !a )                     REAL( real_floor, floor(a) )
                                        REAL( real_exp, (double)ti_expf((float)a) )
                                        REAL( real_log, (double)ti_logf((float)a) )
                                        REAL( real_reciprocal, 1 / a )
                                        REAL( real_rsqrt, 1 / sqrt(a) )

BOTH(  add,                    2, int_add, real_add )
BOTH(  sub,                    2, int_sub, real_sub )
BOTH(  mul,                    2, shifted_product, real_mul )
INTS(  intdiv,                 2, quotient )
REALS( pow,                    2, real_pow )
BOTH(  maximum,                2, int_max, greater_of )
BOTH(  minimum,                2, int_min, lesser_of )
INTS(  arithmetic_right_shift, 2, arithmetic_right_shift )
INTS(  logical_left_shift,     2, logical_left_shift )
INTS(  logical_right_shift,    2, logical_right_shift )
INTS(  bitwise_and,            2, int_and )
INTS(  bitwise_or,             2, int_or )
INTS(  bitwise_xor,            2, int_xor )
INTS(  bitwise_not,            1, int_not )
INTS(  logical_and,            2, int_and )
INTS(  logical_or,             2, int_or )
INTS(  logical_xor,            2, int_xor )
INTS(  logical_not,            1, bool_not )
BOTH(  equal,                  2, int_equal, real_equal )
BOTH(  greater,                2, int_greater, real_greater )
BOTH(  greater_equal,          2, int_greater_equal, real_greater_equal )
BOTH(  abs,                    1, int_abs, real_abs )
BOTH(  negate,                 1, negated, real_neg )
BOTH(  clamp,                  1, clamped_int, clamped_real )
INTS(  clz,                    1, leading_zeros )
REALS( erf,                    1, real_erf )
REALS( sigmoid,                1, real_sigmoid )
REALS( tanh,                   1, real_tanh )
REALS( ceil,                   1, real_ceil )
REALS( floor,                  1, real_floor )
REALS( cos,                    1, cosine )
REALS( sin,                    1, sine )
REALS( exp,                    1, real_exp )
REALS( log,                    1, real_log )
REALS( reciprocal,             1, real_reciprocal )
REALS( rsqrt,                  1, real_rsqrt )

/* condition ? x : y, as stored. */
void ti_num_tosa_select(tc_call *call)
{
    size_t size = tc_dtypes[call->out[0].type->dtype].bytes;
    int64_t count = tc_type_count(call->out[0].type);
    const uint8_t *condition = call->in[0].data;
    uint8_t *out = call->out[0].data;
    if (call->in[0].type->dtype != TC_bool) {
        call->error = "the condition is not of bool";
        return;
    }
    if (!ti_same_width(call, 1) || !ti_same_width(call, 2))
        return;
    walk w = walk_over(call, 3);
    for (int64_t at = 0; at < count; at += w.row, advance(&w))
        for (int64_t i = 0; i < w.row; i++) {
            int k = condition[w.at[0] + i * last_step(&w, 0)] ? 1 : 2;
            const uint8_t *from = call->in[k].data;
            memcpy(out + (size_t)(at + i) * size,
                   from + (size_t)(w.at[k] + i * last_step(&w, k)) * size, size);
        }
}
