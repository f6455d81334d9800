/* SPDX-License-Identifier: Apache-2.0 */
/* norm_i16.c -- norms from i16 to i16, all in i32.
 *
 * n (x - mean) is exact; 1/sqrt has a second step of Newton's method; gain and bias have 30 bits.
 * Dear on an NPU, and within two steps of 16 bits. */
#include <math.h>

#include "composite.h"

/* With q = even / 2^31 and root = A / sqrt(q): one more step, 15 bits more. */
static const double root_one = 255 * TC_ROOT_ONE / 0x1p23; /* A */

static tc_val finer_root(tc_lower *lw, const tc_root *r)
{
    tc_val square =
        tc_put_product(lw, tc_put_product(lw, r->even, r->root, 15), r->root, 15); /* 2 A^2 */
    tc_val rest = tc_put2(lw, TC_OP_tosa_sub, NULL,
                          tc_put_i32(lw, square, rint(6 * root_one * root_one)), square);
    return tc_put_product(lw, r->root, rest, 15);
}

/* One number per index of the last axis, in steps of unit. */
static tc_val constants(tc_lower *lw, tc_val like, const double *x, int64_t n, double unit)
{
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    double *stored = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        stored[i] = x[i] / unit;
    if (!like)
        return like;
    dim[tc_put_type(lw, like)->rank - 1] = n;
    return tc_put_numbers(lw, TC_i32, tc_put_type(lw, like)->rank, dim, stored);
}

/* Half of the leading zeros that a sum of squares can do without. */
static tc_val spare_half(tc_lower *lw, tc_val v)
{
    tc_val zeros = tc_put1(lw, TC_OP_tosa_clz, NULL, v);
    zeros = tc_put2(lw, TC_OP_tosa_sub, NULL, zeros, tc_put_i32(lw, zeros, 1));
    return tc_put_shift_right(lw, zeros, tc_put_i32(lw, zeros, 1), false);
}

/* x * 4^half for a small real number. */
static tc_val raised(tc_lower *lw, double x, tc_val half)
{
    int up = x > 0 ? (int)fmin(62, fmax(0, 29 - ceil(log2(x)))) : 0;
    tc_val twice = tc_put2(lw, TC_OP_tosa_logical_left_shift, NULL, half, tc_put_i32(lw, half, 1));
    tc_val power = tc_put2(lw, TC_OP_tosa_logical_left_shift, NULL, tc_put_i32(lw, half, 1), twice);
    return tc_put_product(lw, power, tc_put_i32(lw, half, rint(ldexp(x, up))), up);
}

/* n (x - mean) * 2^half, which uses most of i32 whatever the row's spread is; *down: what brings it
 * to i16. */
static tc_val levelled(tc_lower *lw, tc_val x, double n, double added, bool centre, tc_val *half,
                       double *down)
{
    tc_val d = tc_put_rescale(lw, x, n, 0, 0, TC_i32);
    if (centre)
        d = tc_put2(lw, TC_OP_tosa_sub, NULL, d, tc_put_row_sum(lw, x, 0));
    int shift = 0, least = added > 0x1p30 ? (int)ceil(log2(added)) - 30 : 0;
    tc_val v =
        tc_put_row_squares(lw, tc_put_rescale(lw, d, 0.5 / n, 0, 0, TC_i16), centre, least, &shift);
    v = tc_put2(lw, TC_OP_tosa_add, NULL, v,
                tc_put_i32(lw, v, fmax(1, rint(ldexp(added, -shift)))));
    *half = spare_half(lw, v);
    *down = 32766 / (2 * n * pow(2, 15.5 + shift / 2.0));
    return tc_put2(lw, TC_OP_tosa_logical_left_shift, NULL, d, *half);
}

tc_val tc_put_norm_i16(tc_lower *lw, tc_val x, const tc_type *from, double eps, bool centre,
                       const double *gain, const double *bias, const tc_type *to)
{
    if (!x)
        return x;
    int last = tc_put_type(lw, x)->rank - 1;
    int64_t length = tc_put_type(lw, x)->dim[last];
    double n = (double)length, codes = eps / (tc_scale_of(from) * tc_scale_of(from)), f;
    tc_val half, d = levelled(lw, x, n, codes * n / 4, centre, &half, &f),
                 d16 = tc_put_rescale(lw, d, f, 0, 0, TC_i16);
    tc_val v = tc_put_reduced(lw, TC_OP_tosa_reduce_sum, tc_put_product(lw, d16, d16, 0), last);
    v = tc_put2(lw, TC_OP_tosa_add, NULL, v, raised(lw, codes * n * n * n * f * f, half));
    tc_root r = tc_put_root(lw, tc_put2(lw, TC_OP_tosa_add, NULL, v, tc_put_i32(lw, v, 1)));
    d = tc_put2(lw, TC_OP_tosa_logical_left_shift, NULL, d, r.half);
    double unit = f * sqrt(n) / (4 * pow(root_one, 3)) * pow(2, -0.5); /* of d * finer_root */
    int down = (int)ceil(log2(sqrt(n) / unit)) - 29;
    tc_val y = tc_put_product(lw, d, finer_root(lw, &r), down);
    double most = fmax(tc_largest(gain, length), 1e-30);
    unit = ldexp(unit, down) * most;
    y = tc_put_product(lw, y, constants(lw, y, gain, length, most / 0x1p30), 30);
    y = tc_put2(lw, TC_OP_tosa_add, NULL, y, constants(lw, y, bias, length, unit));
    y = tc_put_rescale(lw, y, unit / tc_scale_of(to), 0, tc_zero_of(to), to->dtype);
    return tc_put_codes(lw, y, to->quant);
}
