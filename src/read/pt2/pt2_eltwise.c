/* SPDX-License-Identifier: Apache-2.0 */
/* pt2_eltwise.c -- importers of elementwise operators.
 *
 * Most overloads differ in which operands are scalars; one importer serves all, because a scalar is
 * an operand of rank 0. */
#include <float.h>
#include <math.h>

#include "pt2.h"

#include "../../base/real.h"

/* One operand */

/* x in the declared element type of the result: where scalars of a higher category take part. */
static tc_val promoted(tc_pt2_node *n, tc_val x)
{
    const tc_type *result = ti_pt2_result_type(n, 0);
    return result ? ti_b_cast(&n->m, x, result->dtype) : x;
}

static void import_nan_to_num(tc_pt2_node *n)
{
    static const double largest[TC_DTYPE_COUNT] = {
        [TC_f16] = 65504, [TC_bf16] = 0x1.fep127, [TC_f32] = FLT_MAX,
        [TC_f64] = DBL_MAX, [TC_e4m3] = 448, [TC_e5m2] = 57344};
    tc_val x = ti_pt2_tensor(n, "self");
    double most = n->m.status == TC_OK ? largest[ti_type_of(n->m.g, x)->dtype] : 0;
    double nan = ti_pt2_float(n, "nan", 0);
    double above = ti_pt2_float(n, "posinf", most), below = ti_pt2_float(n, "neginf", -most);
    ti_pt2_bind(n, 0,
                ti_b_op(&n->m, n->row->op, ti_b_attr(&n->m, nan_to_num, nan, above, below),
                        (tc_val[]){x}, 1));
}

/* Two and three operands */

/* extra: the factor, an f32 with narrow floats too */
static void import_times(tc_pt2_node *n)
{
    tc_val x = promoted(n, ti_pt2_tensor(n, "self"));
    const tc_type *t = n->m.status == TC_OK ? ti_type_of(n->m.g, x) : NULL;
    tc_dtype dtype = t && (!t->rank || t->dtype == TC_f64) ? t->dtype : TC_f32;
    ti_pt2_bind(n, 0, ti_b_mul(&n->m, x, ti_b_scalar(&n->m, dtype, n->row->extra)));
}

/* The weight of _prelu_kernel has the rank of x; where it varies along more than axis 1 the
 * operator is x > 0 ? x : weight * x. */
static void import_prelu(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self"), weight = ti_pt2_tensor(n, "weight");
    TC_STOP(&n->m);
    const tc_type *t = ti_type_of(n->m.g, x), *w = ti_type_of(n->m.g, weight);
    int64_t count = tc_type_count(w);
    bool by_channel =
        count == 1 || w->rank == 1 || (w->rank > 1 && w->rank == t->rank && w->dim[1] == count);
    if (by_channel) {
        if (w->rank > 1)
            weight = ti_b_1(&n->m, reshape,
                            ti_b_attr(&n->m, shape, ti_ints_copy(&n->m.ctx->arena, &count, 1)),
                                weight);
        ti_pt2_bind(n, 0, ti_b_op(&n->m, n->row->op, NULL, (tc_val[]){x, weight}, 2));
        return;
    }
    tc_val up = ti_b_gt(&n->m, x, ti_b_scalar(&n->m, t->dtype, 0));
    tc_val scaled = ti_b_mul(&n->m, weight, x);
    ti_pt2_bind(n, 0, ti_b_where(&n->m, up, x, scaled));
}

/* x = m 2^e with 1/2 <= |m| < 1.  Values close to 0 are counted from 2^-far on; two roundings
 * of the logarithm leave m outside of its bounds by one factor of 2, which is put right. */
static void import_frexp(tc_pt2_node *n)
{
    tc_val x = ti_pt2_tensor(n, "self");
    TC_STOP(&n->m);
    tc_dtype own = ti_b_type(&n->m, x)->dtype, dtype = own == TC_f64 ? TC_f64 : TC_f32;
    double far = dtype == TC_f64 ? 600 : 64;
    tc_val v = ti_b_cast(&n->m, x, dtype), size = ti_b_abs(&n->m, v);
    tc_val tiny = ti_b_lt(&n->m, size, ti_b_number(&n->m, size, ti_exp2(-far)));
    v = ti_b_where(&n->m, tiny, ti_b_mul_n(&n->m, v, ti_exp2(far)), v);
    tc_val e = ti_b_add_n(&n->m, ti_b_floor(&n->m, ti_b_log2(&n->m, ti_b_abs(&n->m, v))), 1);
    tc_val down = ti_b_exp2(&n->m, ti_b_add_n(&n->m, ti_b_neg(&n->m, e), 2));
    tc_val m = ti_b_mul(&n->m, ti_b_mul_n(&n->m, v, 0.25), down);
    tc_val one = ti_b_number(&n->m, m, 1), half = ti_b_number(&n->m, m, 0.5);
    tc_val big = ti_b_ge(&n->m, ti_b_abs(&n->m, m), one);
    m = ti_b_where(&n->m, big, ti_b_mul_n(&n->m, m, 0.5), m);
    e = ti_b_where(&n->m, big, ti_b_add_n(&n->m, e, 1), e);
    tc_val small = ti_b_lt(&n->m, ti_b_abs(&n->m, m), half);
    m = ti_b_where(&n->m, small, ti_b_mul_n(&n->m, m, 2), m);
    e = ti_b_where(&n->m, small, ti_b_add_n(&n->m, e, -1), e);
    e = ti_b_where(&n->m, tiny, ti_b_add_n(&n->m, e, -far), e);
    tc_val some = ti_b_ne(&n->m, size, ti_b_number(&n->m, size, 0));
    some = ti_b_logical_and(&n->m, some, ti_b_isfinite(&n->m, size));
    m = ti_b_where(&n->m, some, m, ti_b_cast(&n->m, x, dtype));
    e = ti_b_where(&n->m, some, e, ti_b_number(&n->m, e, 0));
    ti_pt2_bind(n, 0, ti_b_cast(&n->m, m, own));
    ti_pt2_bind(n, 1, ti_b_cast(&n->m, e, TC_i32));
}

const tc_pt2_row tc_pt2_eltwise[] = {
    ROW("frexp.Tensor", import_frexp, log2, 0),
    ROW("nan_to_num", import_nan_to_num, nan_to_num, 0),
    ROW("deg2rad", import_times, mul, 0.017453292519943295769),
    ROW("rad2deg", import_times, mul, 57.295779513082320877),
    ROW("prelu _prelu_kernel", import_prelu, prelu, 0),
    {0},
};
