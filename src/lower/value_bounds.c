/* SPDX-License-Identifier: Apache-2.0 */
/* value_bounds.c -- the range of an integer of the TOSA graph, for any input codes.
 *
 * Follows a value back through what made it, as far as that is arithmetic with a known range. */
#include <math.h>

#include "put.h"

#include "../num/load.h"

enum { DEEPEST = 24, LONG = 64 };

static double bound(const tc_build *lw, tc_val v, int depth);

static double of_bytes(const int8_t *number, int64_t n)
{
    int least = 0, most = 0;
    for (int64_t i = 0; i < n; i++) {
        least = number[i] < least ? number[i] : least;
        most = number[i] > most ? number[i] : most;
    }
    return -least > most ? -least : most;
}

static double of_numbers(tc_tensor t)
{
    int64_t n = tc_type_count(t.type);
    double most = 0;
    if (t.type->dtype == TC_i8)
        return of_bytes(t.data, n);
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)ti_load_i64(t, i)));
    return most;
}

/* A long one is looked through once, however many values are made of it. */
static double of_constant(const tc_build *lw, tc_val v, tc_tensor t)
{
    if (tc_type_count(t.type) < LONG)
        return of_numbers(t);
    void **known = ti_map_at(&lw->lower->bounds, (tc_str){(const char *)&v, sizeof v});
    if (!*known) {
        double *most = tc_new(&lw->ctx->arena, double);
        *most = of_numbers(t);
        *known = most;
    }
    return *(const double *)*known;
}

/* Operand i less its zero point, operand `zero`. */
static double shifted(const tc_build *lw, const tc_node *node, int i, int zero, int depth)
{
    return bound(lw, node->in[i], depth) + bound(lw, node->in[zero], depth);
}

/* How many products each result of a convolution or matrix product adds up. */
static double products(const tc_build *lw, const tc_node *node)
{
    const tc_type *w = ti_b_type(lw, node->in[1]);
    if (node->op == TC_OP_tosa_matmul)
        return (double)w->dim[1];
    if (node->op == TC_OP_tosa_depthwise_conv2d)
        return (double)(w->dim[0] * w->dim[1]);
    return (double)(tc_type_count(w) / w->dim[0]);
}

static double of_product(const tc_build *lw, const tc_node *node, int depth)
{
    bool matrix = node->op == TC_OP_tosa_matmul;
    double x = shifted(lw, node, 0, matrix ? 2 : 3, depth),
           w = shifted(lw, node, 1, matrix ? 3 : 4, depth);
    return products(lw, node) * x * w + (matrix ? 0 : bound(lw, node->in[2], depth));
}

/* What RESCALE leaves of `most`. */
static double of_rescale(const tc_build *lw, const tc_node *node, double most)
{
    tc_tensor m = ti_b_constant(lw, node->in[1]), s = ti_b_constant(lw, node->in[2]);
    double factor = 0;
    for (int64_t i = 0; m.data && s.data && i < tc_type_count(m.type); i++)
        factor = fmax(factor, ldexp((double)ti_load_i64(m, i), -(int)ti_load_i64(s, i)));
    return m.data && s.data ? most * factor + 1 : INFINITY;
}

static double of_mul(const tc_build *lw, const tc_node *node, int depth)
{
    tc_tensor shift = ti_b_constant(lw, node->in[2]);
    double most = bound(lw, node->in[0], depth) * bound(lw, node->in[1], depth);
    return shift.data ? ldexp(most, -(int)ti_load_i64(shift, 0)) + 1 : most;
}

/* Integers through CAST, in a float profile by way of f32. */
static double of_cast(const tc_build *lw, const tc_node *node, int depth)
{
    const tc_node *def = ti_def(lw->g, node->in[0]);
    bool real = ti_is_float(ti_b_dtype(lw, node->in[0]));
    if (!real)
        return bound(lw, node->in[0], depth);
    return def && def->op == TC_OP_tosa_cast ? bound(lw, def->in[0], depth) : INFINITY;
}

static double larger(const tc_build *lw, const tc_node *node, int from, int depth)
{
    double most = 0;
    for (int i = from; i < node->n_in; i++)
        most = fmax(most, bound(lw, node->in[i], depth));
    return most;
}

static double made_by(const tc_build *lw, const tc_node *node, int depth)
{
    switch (node->op) {
    case TC_OP_tosa_conv2d:
    case TC_OP_tosa_conv3d:
    case TC_OP_tosa_depthwise_conv2d:
    case TC_OP_tosa_matmul:
        return of_product(lw, node, depth);
    case TC_OP_tosa_rescale:
        return of_rescale(lw, node, shifted(lw, node, 0, 3, depth)) + bound(lw, node->in[4], depth);
    case TC_OP_tosa_mul:
        return of_mul(lw, node, depth);
    case TC_OP_tosa_cast:
        return of_cast(lw, node, depth);
    case TC_OP_tosa_add:
    case TC_OP_tosa_sub:
        return bound(lw, node->in[0], depth) + bound(lw, node->in[1], depth);
    case TC_OP_tosa_maximum:
    case TC_OP_tosa_minimum:
    case TC_OP_tosa_concat:
        return larger(lw, node, 0, depth);
    case TC_OP_tosa_select:
        return larger(lw, node, 1, depth);
    case TC_OP_tosa_reduce_sum: {
        const tc_attr_tosa_axis *a = node->attr;
        return (double)ti_b_type(lw, node->in[0])->dim[a->axis] * bound(lw, node->in[0], depth);
    }
    case TC_OP_tosa_abs:
    case TC_OP_tosa_reduce_max:
    case TC_OP_tosa_reduce_min:
    case TC_OP_tosa_reshape:
    case TC_OP_tosa_transpose:
    case TC_OP_tosa_slice:
    case TC_OP_tosa_tile:
    case TC_OP_tosa_reverse:
        return bound(lw, node->in[0], depth);
    default:
        return INFINITY;
    }
}

static double bound(const tc_build *lw, tc_val v, int depth)
{
    const tc_type *t = v ? ti_b_type(lw, v) : NULL;
    if (!t || ti_is_float(t->dtype))
        return INFINITY;
    tc_tensor known = ti_b_constant(lw, v);
    if (known.data)
        return of_constant(lw, v, known);
    double storage =
        tc_dtypes[t->dtype].bits <= 16 ? ldexp(1, tc_dtypes[t->dtype].bits - 1) : INFINITY;
    const tc_node *node = ti_def(lw->g, v);
    if (!node || depth >= DEEPEST || t->dtype == TC_u8 || t->dtype == TC_u16)
        return t->dtype == TC_u8 || t->dtype == TC_u16 ? 2 * storage : storage;
    return storage < INFINITY ? storage : made_by(lw, node, depth + 1);
}

double ti_put_bound(const tc_build *lw, tc_val v)
{
    return bound(lw, v, 0);
}

/* How far back plain arithmetic is followed. */
enum { GIVEN_DEPTH = 8 };

/* The operands whose elements the result holds, or is computed from directly. */
static int plain_operands(const tc_node *node, int *first)
{
    *first = node->op == TC_OP_tosa_select;
    switch (node->op) {
    case TC_OP_tosa_add:
    case TC_OP_tosa_sub:
    case TC_OP_tosa_mul:
    case TC_OP_tosa_maximum:
    case TC_OP_tosa_minimum:
        return 2;
    case TC_OP_tosa_select:
    case TC_OP_tosa_concat:
        return node->n_in;
    case TC_OP_tosa_abs:
    case TC_OP_tosa_negate:
    case TC_OP_tosa_reduce_sum:
    case TC_OP_tosa_reduce_max:
    case TC_OP_tosa_reduce_min:
    case TC_OP_tosa_reshape:
    case TC_OP_tosa_transpose:
    case TC_OP_tosa_slice:
    case TC_OP_tosa_tile:
    case TC_OP_tosa_reverse:
    case TC_OP_tosa_gather:
        return 1;
    default:
        return 0;
    }
}

static bool is_given(const tc_build *lw, tc_val v, int depth)
{
    const tc_node *node = v ? ti_def(lw->g, v) : NULL;
    const tc_type *t = v ? ti_b_type(lw, v) : NULL;
    if (!t || t->dtype != TC_i32 || depth >= GIVEN_DEPTH || !node)
        return t && t->dtype == TC_i32 && !node;
    int first, n = plain_operands(node, &first);
    for (int i = first; i < n; i++)
        if (is_given(lw, node->in[i], depth + 1))
            return true;
    return false;
}

bool ti_put_is_given(const tc_build *lw, tc_val v)
{
    return is_given(lw, v, 0);
}
