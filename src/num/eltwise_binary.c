/* SPDX-License-Identifier: Apache-2.0 */
/* eltwise_binary.c -- elementwise operators of two operands, broadcast and promoted.
 *
 * Floats: an expression of x and y for f32 and f64 alike (the functions are type-generic).
 * Integers: i64 arithmetic, of which the low bits of the type are kept, so sums and products wrap.
 */
#include <tgmath.h>

#include "eltwise.h"
#include "fixed.h"
#include "../base/real.h"
#include "kernels.h"
#include "load.h"
#include "math.h"

/* One loop for each combination of single-element operands. */
#define LOOP(fn, T, R, before, expression)                                                         \
    static void fn(tc_run *run)                                                                    \
    {                                                                                              \
        typedef T real TC_UNUSED;                                                                  \
        const T *restrict p = run->in[0], *restrict q = run->in[1];                                \
        R *restrict out = run->out;                                                                \
        size_t n = run->n;                                                                         \
        before;                                                                                    \
        if (run->one[1]) {                                                                         \
            T y = q[0];                                                                            \
            for (size_t i = 0; i < n; i++) {                                                       \
                T x = p[i];                                                                        \
                out[i] = (R)(expression);                                                          \
            }                                                                                      \
        } else if (run->one[0]) {                                                                  \
            T x = p[0];                                                                            \
            for (size_t i = 0; i < n; i++) {                                                       \
                T y = q[i];                                                                        \
                out[i] = (R)(expression);                                                          \
            }                                                                                      \
        } else                                                                                     \
            for (size_t i = 0; i < n; i++) {                                                       \
                T x = p[i], y = q[i];                                                              \
                out[i] = (R)(expression);                                                          \
            }                                                                                      \
    }

/* A kernel that computes in the type of the result; flags besides TC_TAKES_ONE. */
#define KERNEL(name, f32_, f64_, i64_, c64_, flags_)                                               \
    void ti_num_##name(tc_call *call)                                                              \
    {                                                                                              \
        static const tc_eltwise op = {{f32_, f64_, i64_, c64_}, TC_TAKES_ONE | (flags_)};          \
        ti_eltwise_run(call, &op, call->out[0].type->dtype);                                       \
    }

/* One that computes in the common type of the operands and gives bool. */
#define COMPARISON(name, c64_, expression)                                                         \
    LOOP(name##_f32, float, uint8_t, , expression)                                                 \
    LOOP(name##_f64, double, uint8_t, , expression)                                                \
    LOOP(name##_i64, int64_t, uint8_t, , expression)                                               \
    void ti_num_##name(tc_call *call)                                                              \
    {                                                                                              \
        static const tc_eltwise op = {{name##_f32, name##_f64, name##_i64, c64_},                  \
                                      TC_GIVES_BOOL | TC_TAKES_ONE};                               \
        ti_eltwise_run(call, &op, ti_promote(call->in, call->n_in));                               \
    }

#define FLOATS(name, expression)                                                                   \
    LOOP(name##_f32, float, float, , expression)                                                   \
    LOOP(name##_f64, double, double, , expression)

#define INTS(name, expression) LOOP(name##_i64, int64_t, int64_t, , expression)

/* x + alpha y */
static double alpha_of(const tc_run *run)
{
    return ((const tc_attr_alpha *)run->attr)->alpha;
}

LOOP(plus_f32, float, float, , x + y)
LOOP(minus_f32, float, float, , x - y)
LOOP(scaled_f32, float, float, real alpha = (real)alpha_of(run), x + alpha * y)
LOOP(scaled_down_f32, float, float, real alpha = (real)alpha_of(run), x - alpha * y)
LOOP(scaled_narrow, float, float, real alpha = ti_narrowed(run->dtype, (real)alpha_of(run)),
     x + ti_narrowed(run->dtype, alpha *y))
LOOP(scaled_down_narrow, float, float, real alpha = ti_narrowed(run->dtype, (real)alpha_of(run)),
     x - ti_narrowed(run->dtype, alpha *y))
static void add_f32(tc_run *run)
{
    tc_run_fn *scaled = run->dtype == TC_f32 ? scaled_f32 : scaled_narrow;
    (alpha_of(run) == 1 ? plus_f32 : scaled)(run);
}
static void sub_f32(tc_run *run)
{
    tc_run_fn *scaled = run->dtype == TC_f32 ? scaled_down_f32 : scaled_down_narrow;
    (alpha_of(run) == 1 ? minus_f32 : scaled)(run);
}
LOOP(add_f64, double, double, real alpha = alpha_of(run), x + alpha * y)
LOOP(sub_f64, double, double, real alpha = alpha_of(run), x - alpha * y)
LOOP(add_i64, int64_t, int64_t, int64_t alpha = ti_trunc_i64(alpha_of(run)),
     ti_wrap_add(x, ti_wrap_mul(alpha, y)))
LOOP(sub_i64, int64_t, int64_t, int64_t alpha = ti_wrap_neg(ti_trunc_i64(alpha_of(run))),
     ti_wrap_add(x, ti_wrap_mul(alpha, y)))

FLOATS(mul, x *y)
INTS(mul, ti_wrap_mul(x, y))

/* Complex numbers: pairs, real part first. */
#define PAIRS(fn, R, store)                                                                        \
    static void fn(tc_run *run)                                                                    \
    {                                                                                              \
        const float *p = run->in[0], *q = run->in[1];                                              \
        R *out = run->out;                                                                         \
        for (size_t i = 0; i < run->n; i++) {                                                      \
            size_t j = run->one[0] ? 0 : 2 * i, k = run->one[1] ? 0 : 2 * i;                       \
            float a = p[j], b = p[j + 1], c = q[k], d = q[k + 1];                                  \
            store;                                                                                 \
        }                                                                                          \
    }
#define PAIR(re, im) (out[2 * i] = (re), out[2 * i + 1] = (im))

PAIRS(add_c64, float, PAIR(a + (float)alpha_of(run) * c, b + (float)alpha_of(run) * d))
PAIRS(sub_c64, float, PAIR(a - (float)alpha_of(run) * c, b - (float)alpha_of(run) * d))
PAIRS(mul_c64, float, PAIR(a *c - b * d, a *d + b * c))
PAIRS(div_exact_c64, float,
      PAIR((a * c + b * d) / (c * c + d * d), (b * c - a * d) / (c * c + d * d)))
PAIRS(eq_c64, uint8_t, out[i] = a == c && b == d)
PAIRS(ne_c64, uint8_t, out[i] = a != c || b != d)

KERNEL(add, add_f32, add_f64, add_i64, add_c64, 0)
KERNEL(sub, sub_f32, sub_f64, sub_i64, sub_c64, 0)
KERNEL(mul, mul_f32, mul_f64, mul_i64, mul_c64, TC_WIDE_SCALARS)

/* Division.  Integers have no quotient by zero; floats have, as IEEE 754 says. */
static const char by_zero[] = "division of an integer by zero";

static bool any_zero(tc_run *run)
{
    const int64_t *y = run->in[1];
    for (size_t i = 0; i < (run->one[1] ? 1 : run->n); i++)
        if (y[i] == 0)
            run->error = by_zero;
    return run->error != NULL;
}

/* y is not 0; division by -1 is separate: one quotient does not fit. */
static int64_t quotient(int64_t x, int64_t y)
{
    return y == -1 ? ti_wrap_neg(x) : x / y;
}
static int64_t rest(int64_t x, int64_t y)
{
    return y == -1 ? 0 : x % y;
}
static int64_t floor_quotient(int64_t x, int64_t y)
{
    int64_t r = rest(x, y);
    return quotient(x, y) - (r != 0 && (r < 0) != (y < 0));
}
static int64_t floor_rest(int64_t x, int64_t y)
{
    int64_t r = rest(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* Python's remainder: the sign of y. */
static float floor_rest_f32(float x, float y)
{
    float r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}
static double floor_rest_f64(double x, double y)
{
    double r = fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

/* Python's floor division: the integer q for which q * y + remainder comes nearest to x. */
static double floor_quotient_f64(double x, double y)
{
    if (y == 0)
        return x / y;
    double r = fmod(x, y), q = (x - r) / y;
    if (r != 0 && (y < 0) != (r < 0))
        q -= 1;
    if (q == 0)
        return copysign(0.0, x / y);
    double whole = floor(q);
    return q - whole > 0.5 ? whole + 1 : whole;
}
static float floor_quotient_f32(float x, float y)
{
    if (y == 0)
        return x / y;
    float r = fmod(x, y), q = (x - r) / y;
    if (r != 0 && (y < 0) != (r < 0))
        q -= 1;
    if (q == 0)
        return copysign(0.0f, x / y);
    float whole = floor(q);
    return q - whole > 0.5f ? whole + 1 : whole;
}

FLOATS(div_exact, x / y)
FLOATS(div_trunc, trunc(x / y))
LOOP(div_trunc_narrow, float, float, , trunc(ti_narrowed(run->dtype, x / y)))
LOOP(div_floor_f32, float, float, , floor_quotient_f32(x, y))
LOOP(div_floor_f64, double, double, , floor_quotient_f64(x, y))
LOOP(div_trunc_i64, int64_t, int64_t, if (any_zero(run)) return, quotient(x, y))
LOOP(div_floor_i64, int64_t, int64_t, if (any_zero(run)) return, floor_quotient(x, y))
LOOP(remainder_f32, float, float, , floor_rest_f32(x, y))
LOOP(remainder_f64, double, double, , floor_rest_f64(x, y))
LOOP(remainder_i64, int64_t, int64_t, if (any_zero(run)) return, floor_rest(x, y))
FLOATS(fmod, fmod(x, y))
LOOP(fmod_i64, int64_t, int64_t, if (any_zero(run)) return, rest(x, y))
KERNEL(remainder, remainder_f32, remainder_f64, remainder_i64, NULL, 0)
KERNEL(fmod, fmod_f32, fmod_f64, fmod_i64, NULL, 0)

/* A scalar divisor keeps its precision, and so does its quotient until it is truncated. */
void ti_num_div(tc_call *call)
{
    enum { FLAGS = TC_TAKES_ONE | TC_WIDE_SCALARS };
    static const tc_eltwise op[] = {
        [TC_div_mode_exact] = {{div_exact_f32, div_exact_f64, NULL, div_exact_c64}, FLAGS},
        [TC_div_mode_trunc] = {{div_trunc_f32, div_trunc_f64, div_trunc_i64}, FLAGS},
        [TC_div_mode_floor] = {{div_floor_f32, div_floor_f64, div_floor_i64}, FLAGS},
    };
    static const tc_eltwise narrow = {{div_trunc_narrow}, FLAGS};
    const tc_attr_div *a = call->attr;
    tc_dtype t = call->out[0].type->dtype;
    bool stepwise =
        a->mode == TC_div_mode_trunc && call->in[1].type->rank && (t == TC_f16 || t == TC_bf16);
    ti_eltwise_run(call, stepwise ? &narrow : &op[a->mode], t);
}

/* Powers.  PyTorch has simpler formulas for a few constant exponents. */
static int64_t power(int64_t x, int64_t y)
{
    if (y < 0) /* 1 / x^-y, truncated to an integer */
        return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
    uint64_t result = 1, square = (uint64_t)x;
    for (uint64_t left = (uint64_t)y; left; left >>= 1, square *= square)
        result *= left & 1 ? square : 1;
    return (int64_t)result;
}

static void square_f32(const float *restrict x, float *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] * x[i];
}
static void cube_f32(const float *restrict x, float *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = x[i] * x[i] * x[i];
}
static void inverse_f32(const float *restrict x, float *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = 1 / x[i];
}

LOOP(pow_f32, float, float, , ti_powf(x, y))
LOOP(pow_f64, double, double, , ti_pow(x, y))
INTS(pow, power(x, y))

/* The exponent is one number. */
static void pow_number_f32(tc_run *run)
{
    static const struct {
        float exponent;
        tc_block_f32 *block;
    } simple[] = {{2, square_f32},
                  {3, cube_f32},
                  {0.5f, ti_sqrt_f32},
                  {-0.5f, ti_rsqrt_f32},
                  {-1, inverse_f32}};
    for (size_t i = 0; i < TC_COUNT(simple); i++)
        if (*(const float *)run->in[1] == simple[i].exponent) {
            simple[i].block(run->in[0], run->out, run->n);
            return;
        }
    pow_f32(run);
}

void ti_num_pow(tc_call *call)
{
    static const tc_eltwise any = {{pow_f32, pow_f64, pow_i64}, TC_TAKES_ONE};
    static const tc_eltwise number = {{pow_number_f32, pow_f64, pow_i64}, TC_TAKES_ONE};
    ti_eltwise_run(call, call->in[1].type->rank ? &any : &number, call->out[0].type->dtype);
}

/* The larger and the smaller; NaN wins, or loses. */
FLOATS(maximum, x > y || x != x ? x : y)
FLOATS(minimum, x < y || x != x ? x : y)
FLOATS(fmax, x > y || y != y ? x : y)
FLOATS(fmin, x < y || y != y ? x : y)
INTS(maximum, x > y ? x : y)
INTS(minimum, x < y ? x : y)
KERNEL(maximum, maximum_f32, maximum_f64, maximum_i64, NULL, 0)
KERNEL(minimum, minimum_f32, minimum_f64, minimum_i64, NULL, 0)
KERNEL(fmax, fmax_f32, fmax_f64, maximum_i64, NULL, 0)
KERNEL(fmin, fmin_f32, fmin_f64, minimum_i64, NULL, 0)

/* sqrt(x^2 + y^2); f32 squares neither overflow nor vanish in f64. */
static float hypot_f32_of(float x, float y)
{
    double a = (double)x, b = (double)y;
    return isinf(x) || isinf(y) ? INFINITY : (float)sqrt(a * a + b * b);
}
/* x ln y, 0 where x is 0 unless y is NaN */
static float xlogy_f32_of(float x, float y, tc_dtype t)
{
    return x == 0 && y == y ? 0 : x * ti_narrowed(t, ti_logf(y));
}
static double xlogy_f64_of(double x, double y)
{
    return x == 0 && y == y ? 0 : x * ti_log(y);
}
static double logaddexp_f64_of(double x, double y)
{
    if (x == y && isinf(x))
        return x;
    return (x > y ? x : y) + ti_log1p(ti_exp(-fabs(x - y)));
}
static double logaddexp2_f64_of(double x, double y)
{
    if (x == y && isinf(x))
        return x;
    return (x > y ? x : y) + ti_log1p(ti_exp2(-fabs(x - y))) / ti_log(2.0);
}

LOOP(atan2_f32, float, float, , ti_atan2f(x, y))
LOOP(atan2_f64, double, double, , ti_atan2(x, y))
LOOP(hypot_f32, float, float, , hypot_f32_of(x, y))
LOOP(hypot_f64, double, double, , ti_hypot(x, y))
LOOP(logaddexp_f32, float, float, , ti_logaddexpf(x, y))
LOOP(logaddexp_f64, double, double, , logaddexp_f64_of(x, y))
LOOP(logaddexp2_f32, float, float, , ti_logaddexp2f(x, y))
LOOP(logaddexp2_f64, double, double, , logaddexp2_f64_of(x, y))
LOOP(xlogy_f32, float, float, , xlogy_f32_of(x, y, run->dtype))
LOOP(xlogy_f64, double, double, , xlogy_f64_of(x, y))
/* The sign of a NaN depends on the machine: it counts as positive. */
FLOATS(copysign, copysign(x, y == y ? y : 1))
KERNEL(atan2, atan2_f32, atan2_f64, NULL, NULL, 0)
KERNEL(hypot, hypot_f32, hypot_f64, NULL, NULL, 0)
KERNEL(logaddexp, logaddexp_f32, logaddexp_f64, NULL, NULL, 0)
KERNEL(logaddexp2, logaddexp2_f32, logaddexp2_f64, NULL, NULL, 0)
KERNEL(xlogy, xlogy_f32, xlogy_f64, NULL, NULL, 0)
KERNEL(copysign, copysign_f32, copysign_f64, NULL, NULL, 0)

/* Bits.  Counts outside 0 .. bits - 1 shift everything out; right shifts keep the sign. */
static int64_t shifted_left(int64_t x, int64_t y, int64_t bits)
{
    return y < 0 || y >= bits ? 0 : (int64_t)((uint64_t)x << y);
}
static int64_t shifted_right(int64_t x, int64_t y, int64_t bits)
{
    return y < 0 || y >= bits ? -(x < 0) : x >> y;
}

INTS(bitwise_and, x &y)
INTS(bitwise_or, x | y)
INTS(bitwise_xor, x ^ y)
LOOP(shift_left_i64, int64_t, int64_t, int64_t bits = tc_dtypes[run->dtype].bits,
     shifted_left(x, y, bits))
LOOP(shift_right_i64, int64_t, int64_t, int64_t bits = tc_dtypes[run->dtype].bits,
     shifted_right(x, y, bits))
KERNEL(bitwise_and, NULL, NULL, bitwise_and_i64, NULL, 0)
KERNEL(bitwise_or, NULL, NULL, bitwise_or_i64, NULL, 0)
KERNEL(bitwise_xor, NULL, NULL, bitwise_xor_i64, NULL, 0)
KERNEL(shift_left, NULL, NULL, shift_left_i64, NULL, 0)
KERNEL(shift_right, NULL, NULL, shift_right_i64, NULL, 0)

COMPARISON(logical_and, NULL, x != 0 && y != 0)
COMPARISON(logical_or, NULL, x != 0 || y != 0)
COMPARISON(logical_xor, NULL, (x != 0) != (y != 0))
COMPARISON(eq, eq_c64, x == y)
COMPARISON(ne, ne_c64, x != y)
COMPARISON(lt, NULL, x < y)
COMPARISON(le, NULL, x <= y)
COMPARISON(gt, NULL, x > y)
COMPARISON(ge, NULL, x >= y)
