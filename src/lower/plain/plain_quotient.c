/* SPDX-License-Identifier: Apache-2.0 */
/* plain_quotient.c -- whole quotients of floats and what they leave, however large the quotient.
 *
 * Long division: from a >= 0 are taken the multiples of b 1024^k, k = n - 1, ..., 0, so that each
 * digit of the quotient has ten bits and a few.  A digit d is the nearest to r / (b 1024^k), or its
 * neighbour, and r - d high - d low is exact, as b = high + low has parts of 12 bits: d high and
 * d low fit f32, and |r| is at most 0.52 b 1024^k.  At the end r is in -b/2 .. 0.52 b. */
#include "plain.h"

#include <float.h>
#include <math.h>

#include "../../num/load.h"

enum { DIGIT_BITS = 10, SPLIT_BITS = 14, MOST_DIGITS = 26, LEAST_EXPONENT = -100 };
/* A digit is never too large by so much that r gets 25 bits. */
static const double HALF = 0.5 - 0x1p-6;

/* b 1024^k, as its parts, and its inverse */
typedef struct divisor {
    tc_val high, low, inverse;
} divisor;

/* ---- how many digits there are ---- */

/* |x| < 2^e of a tensor; of integers by their type, of floats by theirs. */
static int exponent_above(const tc_graph *g, tc_val x)
{
    const tc_node *def = ti_def(g, x);
    tc_tensor t = ti_tensor_of(g, x);
    int most = LEAST_EXPONENT, e;
    for (int64_t i = 0; t.data && i < tc_type_count(t.type); i++) {
        double v = ti_load_f64(t, i);
        if (!isfinite(v))
            return FLT_MAX_EXP;
        frexp(v, &e);
        most = v != 0 && e > most ? e : most;
    }
    if (t.data)
        return most;
    tc_dtype from = ti_type_of(g, def && def->op == TC_OP_cast ? def->in[0] : x)->dtype;
    if (ti_is_float(from))
        return from == TC_f16 ? 16 : FLT_MAX_EXP;
    return tc_dtypes[from].bits;
}

/* |y| >= 2^e unless it is 0; *plain: each is a constant power of two, by which every quotient is
 * exact. */
static int exponent_below(const tc_graph *g, tc_val y, bool *plain)
{
    const tc_node *def = ti_def(g, y);
    tc_tensor t = ti_tensor_of(g, y);
    int least = FLT_MAX_EXP, e;
    *plain = t.data;
    for (int64_t i = 0; t.data && i < tc_type_count(t.type); i++) {
        double v = ti_load_f64(t, i);
        *plain = *plain && fabs(frexp(v, &e)) == 0.5;
        least = v != 0 && isfinite(v) && e - 1 < least ? e - 1 : least;
    }
    if (t.data)
        return least > FLT_MIN_EXP - 1 ? least : FLT_MIN_EXP - 1;
    tc_dtype from = ti_type_of(g, def && def->op == TC_OP_cast ? def->in[0] : y)->dtype;
    return !ti_is_float(from) ? 0 : from == TC_f16 ? -24 : LEAST_EXPONENT;
}

/* How a node divides: into how many digits; whether no divisor leaves f32 on the way; whether its
 * low part is 0. */
typedef struct division {
    int digits;
    bool fits, plain;
} division;

static division plan(const tc_build *lw, const tc_node *node)
{
    division how;
    const tc_graph *g = lw->rw->from;
    int least = exponent_below(g, node->in[1], &how.plain), most = exponent_above(g, node->in[1]);
    int bits = exponent_above(g, node->in[0]) - least;
    if (how.plain) /* exact, so that the first digit is whatever f32 can hold */
        bits += DIGIT_BITS - FLT_MAX_EXP;
    int n = (bits + DIGIT_BITS - 1) / DIGIT_BITS;
    how.digits = n < 1 ? 1 : n > MOST_DIGITS ? MOST_DIGITS : n;
    how.fits = most + DIGIT_BITS * (how.digits - 1) < FLT_MAX_EXP;
    return how;
}

/* ---- the division ---- */

/* Scaled first, as 4097 times the largest values overflows. */
static divisor split(tc_build *lw, tc_val b)
{
    divisor d;
    tc_val small = ti_plain_scale(lw, b, ldexp(1, -SPLIT_BITS));
    tc_val far = ti_plain_scale(lw, small, 4097);
    d.high = ti_b_tosa_sub(lw, far, ti_b_tosa_sub(lw, far, small));
    d.high = ti_plain_scale(lw, d.high, ldexp(1, SPLIT_BITS));
    d.low = ti_b_tosa_sub(lw, b, d.high);
    d.inverse = ti_b_tosa_reciprocal(lw, b);
    return d;
}

static divisor shifted(tc_build *lw, divisor d)
{
    divisor next;
    next.high = ti_plain_scale(lw, d.high, ldexp(1, DIGIT_BITS));
    next.low = ti_plain_scale(lw, d.low, ldexp(1, DIGIT_BITS));
    next.inverse = ti_plain_scale(lw, d.inverse, ldexp(1, -DIGIT_BITS));
    return next;
}

/* What digit k leaves of r, and the digit: a divisor that leaves f32 takes nothing away, and
 * infinity leaves NaN of infinity. */
static tc_val take(tc_build *lw, const division *how, int k, divisor d, tc_val r, tc_val *digit)
{
    tc_val n = ti_b_tosa_floor(lw, ti_plain_add(lw, ti_b_tosa_mul(lw, r, d.inverse), HALF));
    tc_val left = ti_b_tosa_sub(lw, r, ti_b_tosa_mul(lw, n, d.high));
    if (!how->plain)
        left = ti_b_tosa_sub(lw, left, ti_b_tosa_mul(lw, n, d.low));
    *digit = n;
    if (how->fits)
        return left;
    tc_val far = ti_plain_number(lw, d.high, k ? 0x1p127 : (double)INFINITY);
    tc_val fits = ti_b_tosa_greater(lw, far, d.high);
    if (k == 0)
        r = ti_b_tosa_add(lw, r, ti_b_tosa_sub(lw, r, r));
    *digit = ti_b_tosa_select(lw, fits, n, ti_plain_number(lw, n, 0));
    return ti_b_tosa_select(lw, fits, left, r);
}

/* floor(a / b) and fmod(a, b) of a, b >= 0, a less than 2^126. */
static tc_val divide_below(tc_build *lw, division how, tc_val a, tc_val b, tc_val *quotient)
{
    divisor d[MOST_DIGITS];
    tc_val r = a, q = TC_NONE, digit;
    d[0] = split(lw, b);
    for (int k = 1; k < how.digits; k++)
        d[k] = shifted(lw, d[k - 1]);
    for (int k = how.digits - 1; k >= 0; k--) {
        r = take(lw, &how, k, d[k], r, &digit);
        q = q ? ti_b_tosa_add(lw, ti_plain_scale(lw, q, ldexp(1, DIGIT_BITS)), digit) : digit;
    }
    tc_val below = ti_b_tosa_greater(lw, ti_plain_number(lw, r, 0), r);
    *quotient = ti_b_tosa_select(lw, below, ti_plain_add(lw, q, -1), q);
    return ti_b_tosa_select(lw, below, ti_b_tosa_add(lw, r, b), r);
}

/* floor(a / b) and fmod(a, b) of a, b >= 0.  Both are divided by 4 where a is so large that a digit
 * times the divisor may leave f32. */
static tc_val divide(tc_build *lw, const tc_node *node, tc_val a, tc_val b, tc_val *quotient)
{
    division how = plan(lw, node);
    if (how.fits)
        return divide_below(lw, how, a, b, quotient);
    tc_val far = ti_b_tosa_greater(lw, a, ti_plain_number(lw, a, 0x1p100));
    tc_val one = ti_plain_number(lw, a, 1);
    tc_val down = ti_b_tosa_select(lw, far, ti_plain_number(lw, a, 0.25), one);
    tc_val up = ti_b_tosa_select(lw, far, ti_plain_number(lw, a, 4), one);
    a = ti_b_tosa_mul(lw, a, down);
    b = ti_b_tosa_mul(lw, b, down);
    return ti_b_tosa_mul(lw, divide_below(lw, how, a, b, quotient), up);
}

static tc_val is_negative(tc_build *lw, tc_val x)
{
    return ti_b_tosa_greater(lw, ti_plain_number(lw, x, 0), x);
}

tc_val ti_plain_rest(tc_build *lw, const tc_node *node, tc_val x, tc_val y)
{
    tc_val q, b = ti_b_tosa_abs(lw, y), a = ti_b_tosa_abs(lw, x);
    tc_val size = divide(lw, node, a, b, &q), below = is_negative(lw, x);
    tc_val r = ti_b_tosa_select(lw, below, ti_plain_negate(lw, size), size);
    if (node->op == TC_OP_fmod)
        return r;
    tc_val differ = ti_b_tosa_logical_xor(lw, below, is_negative(lw, y));
    tc_val steps = ti_b_tosa_logical_and(lw, ti_plain_above(lw, size, 0), differ);
    return ti_b_tosa_select(lw, steps, ti_b_tosa_add(lw, r, y), r);
}

/* q + 1 where a / b, rounded to f32, is: where q + 1 less what r lacks, 1 - r / b, rounds to it.
 * From 2^24 on q is rounded. */
static tc_val rounded(tc_build *lw, tc_val q, tc_val r, tc_val b)
{
    tc_val next = ti_plain_add(lw, q, 1), lacks = ti_plain_divide(lw, ti_b_tosa_sub(lw, b, r), b);
    tc_val reached = ti_b_tosa_greater_equal(lw, ti_b_tosa_sub(lw, next, lacks), next);
    tc_val exact = ti_b_tosa_greater(lw, ti_plain_number(lw, q, 0x1p24), q);
    return ti_b_tosa_select(lw, ti_b_tosa_logical_and(lw, reached, exact), next, q);
}

tc_val ti_plain_whole_quotient(tc_build *lw, const tc_node *node, tc_val x, tc_val y, bool floored)
{
    tc_val q, b = ti_b_tosa_abs(lw, y), a = ti_b_tosa_abs(lw, x);
    tc_val r = divide(lw, node, a, b, &q), below = is_negative(lw, x), away;
    tc_val differ = ti_b_tosa_logical_xor(lw, below, is_negative(lw, y));
    if (floored) {
        tc_val more = ti_plain_add(lw, q, 1);
        away = ti_b_tosa_select(lw, ti_plain_above(lw, r, 0), more, q);
    } else
        away = q = rounded(lw, q, r, b);
    q = ti_b_tosa_select(lw, differ, ti_plain_negate(lw, away), q);
    tc_val endless = ti_plain_divide(lw, x, y);
    return ti_b_tosa_select(lw, ti_plain_above(lw, b, 0), q, endless);
}
