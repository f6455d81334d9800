/* SPDX-License-Identifier: Apache-2.0 */
/* cast.c -- between plain and quantized values.
 *
 *   bool to codes      one of two codes
 *   i32, i16, i8       round(x / scale) + zero
 *   codes to bool      x != 0: the code is not the zero point
 *   codes to integers  a table of the values, truncated toward zero, wrapped to the type */
#include <math.h>

#include "../put.h"
#include "../move/lower_move.h"
#include "../plain/plain.h"
#include "table_function.h"

static double code_of(const tc_quant *q, double real)
{
    double code = rint((double)((float)real * (float)(1 / q->scale[0]))) + (double)q->zero[0];
    return fmin(fmax(code, (double)q->lo), (double)q->hi);
}

static tc_val number_like(tc_build *lw, tc_val x, tc_dtype dtype, double number)
{
    return x ? ti_b_single(lw, dtype, ti_b_type(lw, x)->rank, number) : x;
}

static tc_val from_bool(tc_build *lw, tc_val x, const tc_type *to)
{
    tc_val one = number_like(lw, x, to->dtype, code_of(to->quant, 1));
    tc_val zero = number_like(lw, x, to->dtype, code_of(to->quant, 0));
    return ti_b_tosa_select(lw, x, one, zero);
}

/* From 2^16 on, the factor makes every number but 0 the least or the greatest code. */
static tc_val from_integer(tc_build *lw, tc_val x, const tc_type *to)
{
    const tc_quant *q = to->quant;
    x = ti_put_rescale(lw, ti_put_cast(lw, x, TC_i32), fmin(1 / q->scale[0], 0x1p16), 0, q->zero[0],
                       to->dtype);
    return ti_put_codes(lw, x, q);
}

static tc_val to_bool(tc_build *lw, tc_val x, const tc_type *from)
{
    x = ti_put_rescale(lw, x, 1, 0, 0, TC_i32);
    tc_val zero = number_like(lw, x, TC_i32, (double)ti_zero_of(from));
    return ti_b_tosa_logical_not(lw, ti_b_tosa_equal(lw, x, zero));
}

/* What an integer type makes of a whole number: its low bits. */
static double low_bits(double v, tc_dtype to)
{
    double span = ldexp(1, tc_dtypes[to].bits), least = (double)ti_dtype_min(to);
    return v - span * floor((v - least) / span);
}

/* f32 as PyTorch has it, cut toward zero; what is beyond the type wraps. */
static tc_val to_integer(tc_build *lw, tc_val x, const tc_type *from, tc_dtype to)
{
    static const int64_t zero = 0;
    static const double one = 1;
    int64_t n = ti_lookup_count(from->dtype), first = ti_dtype_min(from->dtype) - ti_zero_of(from);
    double *value = tc_new_n(&lw->ctx->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++)
        value[i] = low_bits(trunc((double)((float)(i + first) * (float)ti_scale_of(from))), to);
    /* of i16 a table would go straight from step to step: a list, which has entries of i32 */
    tc_dtype entry = from->dtype == TC_i16 ? TC_i32 : to;
    tc_quant q = {-1, 1, ti_dtype_min(entry), ti_dtype_max(entry), &one, &zero};
    tc_val y = ti_put_lookup(lw, x, from, entry, &q, value);
    return ti_put_cast(lw, y, to);
}

void ti_lower_int_cast(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *from = ti_lower_type(lw, node, 0), *to = ti_lower_result(lw, node, 0);
    tc_val x = ti_lower_in(lw, node, 0);
    bool whole = from->dtype == TC_i32 || from->dtype == TC_i16 || from->dtype == TC_i8,
         wanted = to->dtype == TC_i32 || to->dtype == TC_i16 || to->dtype == TC_i8;
    if (from->quant && to->quant)
        out[0] = ti_put_convert(lw, x, from, to);
    else if (to->quant && ti_is_activation(to) && from->dtype == TC_bool)
        out[0] = from_bool(lw, x, to);
    else if (to->quant && ti_is_activation(to) && whole)
        out[0] = from_integer(lw, x, to);
    else if (from->quant && ti_is_activation(from) && to->dtype == TC_bool)
        out[0] = to_bool(lw, x, from);
    else if (from->quant && ti_is_activation(from) && wanted)
        out[0] = to_integer(lw, x, from, to->dtype);
    else if (ti_plain_computes(lw, from->quant ? to->dtype : from->dtype))
        ti_lower_refuse(lw, "it casts %s to %s", tc_dtypes[from->dtype].name,
                        tc_dtypes[to->dtype].name);
}
