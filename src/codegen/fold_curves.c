/* SPDX-License-Identifier: Apache-2.0 */
/* fold_curves.c -- lists of 65536 results of int16 codes that are the machine's own tanh or
 * sigmoid.
 *
 * TOSA has no such function of int16: a program GATHERs from a list, by the code + 32768.  Where
 * the list is the machine's curve of round(code factor / 2^shift), for all codes, one operation
 * that scales computes it. */
#include <math.h>

#include "../base/real.h"
#include "../npu/curve.h"
#include "../num/fixed.h"
#include "../num/load.h"
#include "fold.h"

enum { CODES = 65536, HALF = 32768, ONE = 30, BITS = 15, NEAR = 64 };

/* What a list is. */
typedef struct listed {
    bool known; /* already classified */
    tc_npu_curve curve;
    int32_t factor, shift;
} listed;

/* ---- the codes that the indices are ---- */

static const tc_node *through_reshapes(const tc_graph *g, tc_val v)
{
    const tc_node *node = ti_def(g, v);
    while (node && (node->op == TC_OP_tosa_reshape || node->op == TC_OP_tosa_identity))
        node = ti_def(g, node->in[0]);
    return node;
}

static bool is_number(const tc_graph *g, tc_val v, int64_t number)
{
    int64_t n;
    return ti_fold_number(g, v, &n) && n == number;
}

/* code + 32768; TC_NONE: something else. */
static tc_val codes_of(const tc_graph *g, tc_val index)
{
    const tc_node *add = through_reshapes(g, index);
    if (!add || add->op != TC_OP_tosa_add || !is_number(g, add->in[1], HALF))
        return TC_NONE;
    const tc_node *wide = through_reshapes(g, add->in[0]);
    bool same = wide && wide->op == TC_OP_tosa_rescale && is_number(g, wide->in[1], 1 << ONE) &&
                is_number(g, wide->in[2], ONE) && is_number(g, wide->in[3], 0) &&
                is_number(g, wide->in[4], 0) && ti_type_of(g, wide->in[0])->dtype == TC_i16;
    return same ? wide->in[0] : TC_NONE;
}

/* ---- the curve that a list is ---- */

static int64_t result(tc_npu_curve curve, int64_t code, int64_t factor, int shift)
{
    int64_t v = ti_asr(code * factor + (INT64_C(1) << (shift - 1)), shift);
    ti_npu_apply_curve(curve, &v, 1);
    return v;
}

static bool is_curve(const int16_t *list, tc_npu_curve curve, int64_t factor, int shift)
{
    for (int64_t k = 0; k < CODES; k++) /* from the middle: it differs soonest there */
        if (list[k ^ HALF] != result(curve, (k ^ HALF) - HALF, factor, shift))
            return false;
    return true;
}

/* Steps of the curve's input a code, about. */
static double slope_of(const int16_t *list, tc_npu_curve curve)
{
    int64_t code = HALF - 1;
    while (code > 1 && list[code + HALF] > 0.75 * HALF)
        code /= 2;
    double y = (double)list[code + HALF] / HALF;
    double x = curve == TC_CURVE_TANH ? ti_atanh(y) : ti_log(y / (1 - y));
    return 12288 * x / (double)code;
}

/* A factor near this slope, with this shift. */
static bool find_near(const int16_t *list, double slope, int shift, listed *out)
{
    double about = floor(ldexp(slope, shift) + 0.5);
    for (int k = 0; k <= 2 * NEAR && shift > 0 && shift < 32; k++) { /* 0, 1, -1, 2, -2 ... off */
        double factor = about + (k % 2 ? (k + 1) / 2 : -k / 2);
        if (factor < 1 || factor >= 1 << BITS ||
            !is_curve(list, out->curve, (int64_t)factor, shift))
            continue;
        out->factor = (int32_t)factor;
        out->shift = shift;
        return true;
    }
    return false;
}

/* A factor of 15 bits and its shift; it may be a little more than a power of two, or less. */
static bool find_factor(const int16_t *list, listed *out)
{
    double slope = slope_of(list, out->curve);
    int exponent;
    if (!(slope > 0) || !isfinite(slope))
        return false;
    frexp(slope, &exponent);
    for (int off = -1; off <= 1; off++)
        if (find_near(list, slope, BITS - exponent + off, out))
            return true;
    return false;
}

static void find_curve(const tc_graph *g, tc_val list, listed *out)
{
    const tc_type *t = ti_type_of(g, list);
    out->known = true;
    if (!ti_is_const(g, list) || t->dtype != TC_i16 || tc_type_count(t) != CODES)
        return;
    for (out->curve = TC_CURVE_TANH; out->curve <= TC_CURVE_SIGMOID; out->curve++)
        if (find_factor(ti_tensor_of(g, list).data, out))
            return;
    out->curve = TC_CURVE_NONE;
}

/* ---- in its place ---- */

static tc_val number(tc_hw *hw, tc_graph *g, int32_t v)
{
    static const tc_type one = {.dtype = TC_i32, .rank = 1, .dim = {1}};
    return ti_fold_value(hw, g, &one, "factor", ti_arena_copy(hw->arena, &v, sizeof v));
}

/* The curve of the codes, with factor and shift as operands. */
static tc_node *curve_node(tc_hw *hw, tc_graph *g, const tc_node *gather, tc_val x, const listed *l)
{
    tc_op op = l->curve == TC_CURVE_TANH ? TC_OP_tosa_tanh : TC_OP_tosa_sigmoid;
    tc_val in[] = {x, number(hw, g, l->factor), number(hw, g, l->shift)};
    return ti_fold_node(hw, g, gather, op, NULL, 3, in,
                        ti_fold_value(hw, g, ti_type_of(g, x), "curve", NULL));
}

void ti_fold_curves(tc_hw *hw, tc_graph *g)
{
    tc_node **node = tc_new_n(hw->arena, tc_node *, 2 * g->n_node + 1);
    /* by value: an LSTM reads one at every step */
    listed *list = tc_new_n(hw->arena, listed, g->n_val);
    size_t n = 0;
    for (size_t k = 0; k < g->n_node; k++) {
        tc_node *gather = g->node[k];
        tc_val x = gather->op == TC_OP_tosa_gather ? codes_of(g, gather->in[1]) : TC_NONE;
        listed *l = x ? &list[gather->in[0]] : NULL;
        if (l && !l->known)
            find_curve(g, gather->in[0], l);
        if (!l || !l->curve) {
            node[n++] = gather;
            continue;
        }
        tc_node *curve = node[n++] = curve_node(hw, g, gather, x, l);
        node[n++] = ti_fold_node(hw, g, gather, TC_OP_tosa_reshape, NULL, 1, curve->out,
                                 gather->out[0]);
    }
    g->node = node;
    g->n_node = n;
}
