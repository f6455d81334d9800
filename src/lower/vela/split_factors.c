/* SPDX-License-Identifier: Apache-2.0 */
/* split_factors.c -- TOSA form: around what Vela computes wrongly of ADD, bit-exact.
 *
 *   RESCALE(f x + g y), f and g different integers  =>  both times 2^e, the result times 2^-e,
 *   where the larger one becomes 2^19 (i8) or 2^14 (i16); else one by a MUL.  Where y is all zeros,
 *   f x + f y */
#include "../lower_pass.h"

#include "../../num/load.h"
#include "../layout/rescale_factor.h"

/* The same RESCALE by another factor. */
static tc_val put_change(tc_build *b, const tc_rescale_factor *c, int64_t multiplier, int64_t shift)
{
    b->loc = c->node->loc;
    tc_val in[5] = {c->node->in[0], ti_b_single(b, TC_i32, 1, (double)multiplier), TC_NONE,
                    c->node->in[3], c->node->in[4]};
    in[2] = ti_b_single(b, TC_i8, 1, (double)shift);
    return ti_b_typed(b, TC_OP_tosa_rescale, c->node->attr, in, 5, ti_b_type(b, c->node->out[0]));
}

/* 1 as RESCALE's multiplier and shift; multipliers use 31 bits, as numbers must fit the shift. */
enum { UNIT = 1 << 30, UNIT_SHIFT = 30 };

/* x by its whole factor, as a product: Vela does not fuse that with the ADD. */
static tc_val put_times(tc_build *b, const tc_rescale_factor *c, int64_t factor)
{
    tc_val x = put_change(b, c, UNIT, UNIT_SHIFT);
    return ti_b_tosa_mul(b, x, ti_b_like(b, x, TC_i32, (double)factor));
}

static bool is_power_of_two(int64_t v)
{
    return v > 0 && (v & (v - 1)) == 0;
}

static int log2_of(int64_t v)
{
    int n = 0;
    while (v >> (n + 1))
        n++;
    return n;
}

/* The sum that the RESCALE `node` of the old graph reads, or a reshape of it. */
static const tc_node *sum_before(const tc_rewrite *rw, const tc_node *node)
{
    const tc_node *old = ti_def(rw->from, node->in[0]), *def = ti_rewrite_def(rw, node, 0);
    bool shaped = old && old->op == TC_OP_tosa_reshape && def && def->op == TC_OP_tosa_reshape;
    if (rw->readers[node->in[0]] != 1 || (shaped && rw->readers[old->in[0]] != 1))
        return NULL;
    return shaped ? ti_def(rw->to, def->in[0]) : def;
}

/* The sum behind the RESCALE `node` of the old graph, whose operands have unlike whole factors. */
static bool unlike(tc_rewrite *rw, const tc_node *node, const tc_node **sum,
                   tc_rescale_factor side[2], int64_t factor[2])
{
    if (node->op != TC_OP_tosa_rescale)
        return false;
    const tc_node *def = sum_before(rw, node);
    if (!def || (def->op != TC_OP_tosa_add && def->op != TC_OP_tosa_sub) ||
        tc_dtypes[ti_type_of(rw->from, node->out[0])->dtype].bytes > 2)
        return false;
    for (int i = 0; i < 2; i++) {
        if (!ti_read_rescale_factor(rw->to, ti_def(rw->to, def->in[i]), &side[i]))
            return false;
        factor[i] = ti_whole_factor(&side[i]);
    }
    tc_dtype a = ti_type_of(rw->to, side[0].node->in[0])->dtype,
             b = ti_type_of(rw->to, side[1].node->in[0])->dtype;
    *sum = def;
    return factor[0] && factor[1] && factor[0] != factor[1] && a == b &&
           (a == TC_i8 || a == TC_i16);
}

/* A constant that stands for nothing: any factor serves it. */
static bool is_nothing(const tc_graph *g, const tc_rescale_factor *c)
{
    tc_tensor t = ti_tensor_of(g, c->node->in[0]);
    int64_t zero = ti_load_i64(ti_tensor_of(g, c->node->in[3]), 0);
    for (int64_t i = 0; t.data && i < tc_type_count(t.type); i++)
        if (ti_load_i64(t, i) != zero)
            return false;
    return t.data != NULL;
}

static tc_status split_unlike_factors(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_node *sum;
    tc_rescale_factor side[2], last;
    int64_t factor[2];
    if (!unlike(rw, node, &sum, side, factor))
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    int larger = factor[1] > factor[0];
    tc_val in[2] = {sum->in[0], sum->in[1]}, shift = ti_b_in(&b, 2);
    int top = ti_b_dtype(&b, side[0].node->in[0]) == TC_i8 ? 19 : 14;
    int e = top - log2_of(factor[larger]);
    bool known = ti_read_rescale_factor(rw->from, node, &last);
    int idle = is_nothing(rw->to, &side[0]) ? 0 : is_nothing(rw->to, &side[1]) ? 1 : -1;
    bool by_shift = idle < 0 && known && is_power_of_two(factor[larger]) && last.shift + e <= 62 &&
                    ((const tc_attr_tosa_rescale *)node->attr)->rounding_mode != TC_rounding_double;
    if (idle >= 0)
        in[idle] = put_change(&b, &side[idle], side[1 - idle].multiplier, side[1 - idle].shift);
    else if (by_shift)
        for (int i = 0; i < 2; i++) { /* factor * 2^e = multiplier * 2^-shift */
            int up = UNIT_SHIFT - log2_of(factor[i]);
            in[i] = put_change(&b, &side[i], factor[i] << up, up - e);
        }
    else
        in[larger] = put_times(&b, &side[larger], factor[larger]);
    b.loc = sum->loc;
    tc_val y = ti_b_op(&b, sum->op, sum->attr, in, 2);
    b.loc = node->loc;
    if (by_shift)
        shift = ti_b_single(&b, TC_i8, 1, (double)(last.shift + e));
    const tc_node *shaped = ti_rewrite_def(rw, node, 0);
    if (shaped->op == TC_OP_tosa_reshape) {
        b.loc = shaped->loc;
        y = ti_b_2(&b, tosa_reshape, NULL, y, shaped->in[1]);
        b.loc = node->loc;
    }
    tc_val all[5] = {y, ti_b_in(&b, 1), shift, ti_b_in(&b, 3), ti_b_in(&b, 4)};
    y = ti_b_typed(&b, TC_OP_tosa_rescale, node->attr, all, 5, ti_b_out_type(&b, 0));
    return ti_b_replace(&b, y, done);
}

tc_status ti_lower_split_unlike_factors(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_module(module, (tc_rewriter *[]){split_unlike_factors}, 1, NULL);
}
