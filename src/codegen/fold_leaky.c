/* SPDX-License-Identifier: Apache-2.0 */
/* fold_leaky.c -- the larger of an int16 value by two factors, one for each side of zero.
 *
 * In TOSA max(x f, x g) is two RESCALEs and a MAXIMUM.  The machine's LRELU is x < 0 ? x g : x f;
 * U55 has no f.  Where both agree for all codes, LRELU replaces them. */
#include "../npu/scale.h"
#include "fold.h"

/* x of x f in 16 bits, in 32 again; TC_NONE: it is something else. */
static tc_val side(const tc_graph *g, tc_val v, tc_npu_scale *f)
{
    tc_npu_scale wide;
    tc_val narrow = ti_fold_scaled(g, v, TC_i32, &wide);
    tc_val x = narrow && ti_fold_is_one(&wide) ? ti_fold_scaled(g, narrow, TC_i16, f) : TC_NONE;
    return x && ti_type_of(g, x)->dtype == TC_i16 ? x : TC_NONE;
}

/* Whether the larger one is x up from zero on, and x down below; past 16 bits it saturates. */
static bool are_sides(const tc_npu_scale *up, const tc_npu_scale *down)
{
    for (int64_t x = INT16_MIN; x <= INT16_MAX; x++) {
        int64_t a = ti_npu_scale_by(x, up), b = ti_npu_scale_by(x, down);
        if (x < 0 ? a > b : a < b)
            return false;
    }
    return true;
}

static tc_val number(tc_hw *hw, tc_graph *g, int64_t v)
{
    static const tc_type one = {.dtype = TC_i64, .rank = 1, .dim = {1}};
    return ti_fold_value(hw, g, &one, "factor", ti_arena_copy(hw->arena, &v, sizeof v));
}

/* LRELU, with both factors, shifts and roundings as operands: up, then down. */
static tc_node *leaky_node(tc_hw *hw, tc_graph *g, const tc_node *of, tc_val x,
                           const tc_npu_scale *side[2])
{
    tc_val in[7] = {x};
    for (int i = 0; i < 2; i++) {
        in[1 + 3 * i] = number(hw, g, side[i]->multiplier);
        in[2 + 3 * i] = number(hw, g, side[i]->shift);
        in[3 + 3 * i] = number(hw, g, side[i]->round);
    }
    return ti_fold_node(hw, g, of, TC_OP_leaky_relu, NULL, 7, in, of->out[0]);
}

/* Of a RESCALE after a MAXIMUM. */
static tc_node *leaky(tc_hw *hw, tc_graph *g, const tc_node *node)
{
    tc_npu_scale all, f[2];
    tc_val most = ti_fold_scaled(g, node->out[0], TC_i16, &all);
    const tc_node *max = most && ti_fold_is_one(&all) ? ti_def(g, most) : NULL;
    if (!max || max->op != TC_OP_tosa_maximum)
        return NULL;
    tc_val x = side(g, max->in[0], &f[0]), y = side(g, max->in[1], &f[1]);
    if (!x || x != y)
        return NULL;
    bool swap = ti_npu_scale_by(INT16_MAX, &f[0]) < ti_npu_scale_by(INT16_MAX, &f[1]);
    const tc_npu_scale *sides[2] = {&f[swap], &f[!swap]};
    bool may = ti_hw_is_u85(hw) || ti_fold_is_one(sides[0]);
    return may && are_sides(sides[0], sides[1]) ? leaky_node(hw, g, node, x, sides) : NULL;
}

void ti_fold_leaky(tc_hw *hw, tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++) {
        tc_node *node = g->node[k]->op == TC_OP_tosa_rescale ? leaky(hw, g, g->node[k]) : NULL;
        g->node[k] = node ? node : g->node[k];
    }
}
