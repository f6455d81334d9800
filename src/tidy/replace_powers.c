/* SPDX-License-Identifier: Apache-2.0 */
/* replace_powers.c -- powers that another operator has, as PyTorch computes them.
 *
 *   x ^ 2, square x  =>  x * x
 *   x ^ 1            =>  x
 *   x ^ 0.5          =>  sqrt(x)            floats
 *   x ^ -0.5         =>  rsqrt(x)           floats
 *   x ^ -1           =>  reciprocal(x)      floats
 *
 * A product of codes is exact and may stay in its accumulator, where sums of squares read it; a
 * power of 16 bits would be a table with 513 points.  Other powers of codes stay tables: a cube of
 * two products is rounded twice, and squares reach too far for a reciprocal of them. */
#include "tidy.h"

#include "../num/load.h"

/* The one number that a constant holds everywhere. */
static bool exponent_of(const tc_rewrite *rw, tc_val v, double *power)
{
    tc_tensor t = ti_tensor_of(rw->to, v);
    if (!t.data || t.type->quant || !ti_rewrite_is_fixed(rw, v) || !tc_type_count(t.type))
        return false;
    *power = ti_load_f64(t, 0);
    for (int64_t i = 1; i < tc_type_count(t.type); i++)
        if (ti_load_f64(t, i) != *power)
            return false;
    return true;
}

/* The node's power of its first operand, which has the result's type. */
static bool power_of(const tc_rewrite *rw, const tc_node *node, double *power)
{
    if (node->op != TC_OP_pow && node->op != TC_OP_square)
        return false;
    const tc_type *x = ti_type_of(rw->from, node->in[0]), *y = ti_type_of(rw->from, node->out[0]);
    *power = 2;
    return x == y && !x->quant && (ti_is_float(x->dtype) || ti_is_int(x->dtype)) &&
           (node->op == TC_OP_square || exponent_of(rw, ti_rewrite_in(rw, node, 1), power));
}

static tc_status as_product(tc_rewrite *rw, const tc_node *node, bool *done)
{
    double power;
    if (!power_of(rw, node, &power))
        return TC_OK;
    static const struct {
        double power;
        tc_op op;
    } roots[] = {{0.5, TC_OP_sqrt}, {-0.5, TC_OP_rsqrt}, {-1, TC_OP_reciprocal}};
    tc_build b = ti_build_instead(rw, node);
    tc_val x = ti_b_in(&b, 0);
    if (power == 1 || power == 2)
        return ti_b_replace(&b, power == 1 ? x : ti_b_mul(&b, x, x), done);
    for (size_t i = 0; i < TC_COUNT(roots) && ti_is_float(ti_b_dtype(&b, x)); i++)
        if (power == roots[i].power)
            return ti_b_replace(&b, ti_b_op(&b, roots[i].op, NULL, &x, 1), done);
    return TC_OK;
}

TC_REWRITES(ti_tidy_replace_powers, as_product)
