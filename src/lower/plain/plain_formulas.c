/* SPDX-License-Identifier: Apache-2.0 */
/* plain_formulas.c -- powers, angles and other formulas of two and three floats. */
#include <math.h>

#include "plain.h"

#include "../../num/load.h"

/* The result's rank, and the element type computed in. */
static bool start(tc_build *lw, const tc_node *node, bool formula, tc_val *x)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    if (t->dtype == TC_f64 || tc_dtypes[t->dtype].kind == TC_COMPLEX || t->dtype == TC_i64 ||
        t->dtype == TC_bool || tc_dtypes[t->dtype].kind == TC_UINT) {
        ti_lower_refuse(lw, "TOSA does not compute with %s", tc_dtypes[t->dtype].name);
        return false;
    }
    tc_dtype with = formula ? ti_plain_formula_type(t->dtype) : ti_plain_type(t->dtype);
    for (int i = 0; i < node->n_in; i++)
        x[i] = node->in[i] ? ti_plain_in(lw, node, i, with, t->rank) : TC_NONE;
    return lw->status == TC_OK;
}

static void finish(tc_build *lw, const tc_node *node, tc_val y, tc_val *out)
{
    out[0] = ti_put_cast(lw, y, ti_lower_result(lw, node, 0)->dtype);
}

static bool wants_floats(tc_build *lw, const tc_node *node)
{
    if (ti_is_float(ti_lower_result(lw, node, 0)->dtype))
        return true;
    ti_lower_refuse(lw, "it is computed on floats");
    return false;
}

/* ---- powers ---- */

/* x^n by squaring, n >= 1. */
static tc_val times_itself(tc_build *lw, tc_val x, int n)
{
    tc_val y = TC_NONE;
    for (; n; n >>= 1) {
        if (n & 1)
            y = y ? ti_b_tosa_mul(lw, y, x) : x;
        if (n > 1)
            x = ti_b_tosa_mul(lw, x, x);
    }
    return y;
}

/* A number that is the same everywhere. */
static bool one_number(const tc_build *lw, tc_val v, double *number)
{
    tc_tensor t = ti_tensor_of(lw->rw->from, v);
    if (!t.data || !tc_type_count(t.type))
        return false;
    *number = ti_load_f64(t, 0);
    for (int64_t i = 1; i < tc_type_count(t.type); i++)
        if (ti_load_f64(t, i) != *number)
            return false;
    return true;
}

/* Powers that need no POW; false: not one of them. */
static bool easy_power(tc_build *lw, tc_val x, double n, tc_val *y)
{
    bool floats = x && ti_is_float(ti_b_type(lw, x)->dtype);
    if (n == 0.5 || n == -0.5) {
        *y = n > 0 ? ti_plain_sqrt(lw, x) : ti_b_tosa_rsqrt(lw, x);
        return floats;
    }
    if (n != floor(n) || fabs(n) > 16 || (!floats && n < 0))
        return false;
    if (n == 0) /* of NaN too */
        *y = ti_plain_number(lw, x, 1);
    else
        *y = times_itself(lw, x, (int)fabs(n));
    if (n < 0)
        *y = ti_b_tosa_reciprocal(lw, *y);
    return true;
}

void ti_lower_plain_pow(tc_build *lw, const tc_node *node, tc_val *out)
{
    tc_val x[2], y;
    double n;
    if (!start(lw, node, true, x))
        return;
    if (one_number(lw, node->in[1], &n) && easy_power(lw, x[0], n, &y)) {
        const tc_type *t = ti_lower_result(lw, node, 0);
        finish(lw, node, ti_b_tosa_expand(lw, y, t->rank, t->dim), out);
    } else if (wants_floats(lw, node))
        finish(lw, node, ti_plain_apply(lw, TC_OP_pow, NULL, x), out);
}

/* ---- three operands ---- */

void ti_lower_plain_clamp_tensor(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *t = ti_lower_result(lw, node, 0);
    tc_val x[3];
    if (!start(lw, node, false, x))
        return;
    tc_val y = x[0];
    if (x[1])
        y = ti_b_tosa_maximum(lw, y, x[1]);
    if (x[2])
        y = ti_b_tosa_minimum(lw, y, x[2]);
    finish(lw, node, ti_b_tosa_expand(lw, y, t->rank, t->dim), out);
}

/* One slope, or one per channel. */
void ti_lower_plain_prelu(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_type *t = ti_lower_result(lw, node, 0), *w = ti_lower_type(lw, node, 1);
    int64_t dim[TC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    if (t->rank > 1)
        dim[1] = tc_type_count(w);
    if (!wants_floats(lw, node))
        return;
    tc_val x = ti_plain_in(lw, node, 0, ti_plain_type(t->dtype), t->rank);
    tc_val slope =
        ti_b_tosa_reshape(lw, ti_plain_in(lw, node, 1, ti_plain_type(t->dtype), 0), t->rank, dim);
    tc_val below = ti_b_tosa_mul(lw, x, slope);
    finish(lw, node, ti_b_tosa_select(lw, ti_plain_above(lw, x, 0), x, below), out);
}

void ti_lower_plain_glu(tc_build *lw, const tc_node *node, tc_val *out)
{
    int axis = (int)((const tc_attr_axis *)node->attr)->axis;
    const tc_type *t = ti_lower_result(lw, node, 0);
    tc_val x = ti_plain_in(lw, node, 0, ti_plain_formula_type(t->dtype), t->rank);
    tc_val gate = ti_b_tosa_slice_axis(lw, x, axis, t->dim[axis], t->dim[axis]);
    gate = ti_b_tosa_sigmoid(lw, gate);
    tc_val half = ti_b_tosa_slice_axis(lw, x, axis, 0, t->dim[axis]);
    finish(lw, node, ti_b_tosa_mul(lw, half, gate), out);
}

/* ---- beta c + alpha a b ---- */

/* The last two axes of an operand, after a batch that it may lack; a vector is a column. */
static tc_val matrices(tc_build *lw, const tc_node *node, int i, int64_t batch)
{
    const tc_type *t = ti_lower_type(lw, node, i);
    tc_val x = ti_plain_in(lw, node, i, TC_f32, 0);
    int64_t rows = t->rank > 1 ? t->dim[t->rank - 2] : t->dim[0],
            columns = t->rank > 1 ? t->dim[t->rank - 1] : 1;
    int64_t given = tc_type_count(t) / (rows * columns);
    x = ti_b_tosa_reshape(lw, x, 3, (int64_t[]){given, rows, columns});
    return ti_b_tosa_expand(lw, x, 3, (int64_t[]){batch, rows, columns});
}

void ti_lower_plain_addmm(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_addmm *a = node->attr;
    const tc_type *y = ti_lower_result(lw, node, 0), *left = ti_lower_type(lw, node, 1);
    if (!wants_floats(lw, node) || left->rank < 2) {
        ti_lower_refuse(lw, "its operands are not matrices");
        return;
    }
    int64_t batch = left->rank > 2 ? left->dim[0] : 1;
    tc_val l = matrices(lw, node, 1, batch), r = matrices(lw, node, 2, batch);
    tc_val in[4] = {l, r, ti_b_zero_point(lw, l, 0)};
    in[3] = ti_b_zero_point(lw, r, 0);
    tc_val x = ti_b_tosa_reshape(lw, ti_b_op(lw, TC_OP_tosa_matmul, NULL, in, 4), y->rank, y->dim);
    if (a->alpha != 1)
        x = ti_plain_scale(lw, x, a->alpha);
    if (a->beta != 0) {
        tc_val c = ti_plain_in(lw, node, 0, TC_f32, y->rank);
        x = ti_b_tosa_add(lw, x, a->beta == 1 ? c : ti_plain_scale(lw, c, a->beta));
    }
    finish(lw, node, x, out);
}
