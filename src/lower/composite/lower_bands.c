/* SPDX-License-Identifier: Apache-2.0 */
/* lower_bands.c -- logarithms of a power spectrum over bands, with a power of two for each frame.
 *
 *   m = the largest magnitude of a frame's parts,  s = CLZ(m) - 1, not above TOP
 *   P = ((x << s)^2 + (y << s)^2) / 2^32           31 bits, for every frame, however soft
 *   T = W P, and the floor: F >> 2 (TOP - s)       added to it, or below it
 *   log2 = log2(T) - 2 s + a constant
 *
 * TOP is the s for which the floor alone takes 29 to 30 bits: what is softer needs no more.  Within a
 * frame 93 dB remain. */
#include "../integer/table_function.h"
#include "../product/product.h"
#include "composite.h"

#include <math.h>

#include "../../base/real.h"
#include "../../num/load.h"

#define POWER_TOP 0x1p31 /* of P */
#define BAND_TOP 0x1p30  /* of W P, and of the floor */

/* The largest sum of a row of weights, in real numbers; 0: some are negative. */
static double largest_row(tc_tensor w)
{
    int64_t n = w.type->dim[0], k = w.type->dim[1];
    double most = 0;
    for (int64_t c = 0; c < n; c++) {
        double sum = 0;
        for (int64_t i = 0; i < k; i++) {
            int64_t code = ti_load_i64(w, c * k + i);
            if (code < 0)
                return 0;
            sum += (double)code;
        }
        most = fmax(most, sum * w.type->quant->scale[w.type->quant->axis >= 0 ? c : 0]);
    }
    return most;
}

static tc_val number(tc_build *lw, tc_val like, double v) { return ti_b_like(lw, like, TC_i32, v); }

static bool is_part(const tc_type *t)
{
    return t->dtype == TC_i32 && t->quant && t->quant->axis < 0 && !ti_zero_of(t);
}

/* [rows, k] of magnitudes, without the lowest bit where that is beyond i32. */
static tc_val magnitude(tc_build *lw, const tc_node *node, int i, int64_t rows, int64_t k)
{
    tc_val x = ti_b_tosa_reshape(lw, ti_lower_in(lw, node, i), 2, (int64_t[]){rows, k});
    if (x && ti_lower_type(lw, node, i)->quant->lo == INT32_MIN)
        x = ti_put_at_least(lw, x, 1 - 0x1p31);
    return x ? ti_b_unary(lw, TC_OP_tosa_abs, x) : x;
}

void ti_lower_int_log_bands(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_bands *a = node->attr;
    const tc_type *x = ti_lower_type(lw, node, 0), *w = ti_lower_type(lw, node, 1),
                  *y = ti_lower_type(lw, node, 2), *to = ti_lower_result(lw, node, 0);
    tc_tensor weights = ti_tensor_of(lw->rw->from, node->in[1]);
    if (!is_part(x) || !is_part(y) || ti_scale_of(x) != ti_scale_of(y) || !ti_is_activation(to) ||
        !weights.data || w->dtype != TC_i8 || !w->quant || w->quant->axis > 0 || w->quant->zero[0] ||
        !(a->floor > 0)) {
        ti_lower_refuse(lw, "its parts are not i32 of one scale, or its weights not constants of i8");
        return;
    }
    double gain = largest_row(weights), scale = gain * POWER_TOP / BAND_TOP, unit = ti_scale_of(x),
           real = unit * unit * 0x1p32 * scale, /* of T at s = 0 */
           step = a->octave / TC_OCTAVE / ti_scale_of(to);
    double top = gain > 0 ? floor((30 - ti_log2(a->floor / real)) / 2) : -1;
    if (top < 0 || step > 1) {
        ti_lower_refuse(lw, top < 0 ? "its floor is above all powers, or its weights are negative" : "its result's steps are finer than those of a table");
        return;
    }
    top = fmin(top, 30);
    int64_t k = w->dim[1], rows = tc_type_count(x) / k;
    tc_val p = magnitude(lw, node, 0, rows, k), q = magnitude(lw, node, 2, rows, k);
    tc_val s = ti_b_tosa_clz(lw, ti_put_row_max(lw, ti_b_tosa_maximum(lw, p, q)));
    s = ti_put_at_most(lw, ti_b_tosa_add(lw, s, number(lw, s, -1)), top);
    p = ti_b_tosa_logical_left_shift(lw, p, s);
    q = ti_b_tosa_logical_left_shift(lw, q, s);
    p = ti_b_tosa_mul_shift(lw, p, p, 32);
    p = ti_b_tosa_add(lw, p, ti_b_tosa_mul_shift(lw, q, q, 32));
    tc_val t = ti_put_bands(lw, node, p, 1, scale);
    double above = a->floor / real * ldexp(1, 2 * (int)top);
    tc_val down = ti_b_tosa_sub(lw, number(lw, s, top), s);
    down = ti_put_at_most(lw, ti_b_tosa_logical_left_shift(lw, down, number(lw, s, 1)), 31);
    tc_val f = ti_b_tosa_arithmetic_right_shift(lw, number(lw, s, rint(above)), down, true);
    f = ti_put_at_least(lw, f, 1);
    t = a->adds ? ti_b_tosa_add(lw, t, f) : ti_b_tosa_maximum(lw, t, f);
    t = ti_put_log2(lw, t);
    t = ti_b_tosa_sub(lw, t, ti_b_tosa_logical_left_shift(lw, s, number(lw, s, 17)));
    t = ti_b_tosa_add(lw, t, number(lw, t, rint(ti_log2(real) * TC_OCTAVE)));
    t = ti_put_rescale(lw, t, step, 0, ti_zero_of(to), to->dtype);
    out[0] = ti_b_tosa_reshape(lw, ti_put_codes(lw, t, to->quant), to->rank, to->dim);
}
