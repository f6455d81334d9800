/* SPDX-License-Identifier: Apache-2.0 */
/* split_factors.c -- TOSA form: around what Vela computes wrongly of sums, bit-exact.
 *
 *   RESCALE(f x + g y), f and g whole and unlike  =>  both by 2^e, the result by 2^-e, where the
 *   larger one becomes 2^19 (i8) or 2^14 (i16); else one by a MUL.  Where y is nothing but zeros,
 *   f x + f y */
#include "../lower_pass.h"

#include "../../num/load.h"
#include "../layout/avoid.h"

/* The same RESCALE by another factor. */
static tc_status put_change(tc_rewrite *rw, const tc_avoid_change *c, int64_t multiplier,
                            int64_t shift, tc_val x, tc_val *out)
{
    tc_val in[5] = {x, tc_avoid_number(rw, c->node, TC_i32, 1, multiplier), TC_NONE, c->node->in[3],
                    c->node->in[4]};
    in[2] = tc_avoid_number(rw, c->node, TC_i8, 1, shift);
    tc_node *made = tc_graph_add(rw->to, TC_OP_tosa_rescale, c->node->attr, in, 5, 1, c->node->loc);
    rw->to->val[made->out[0]]->type = tc_type_of(rw->to, c->node->out[0]);
    *out = made->out[0];
    return TC_OK;
}

/* 1 as RESCALE's multiplier and shift; multipliers use 31 bits, as numbers must fit the shift. */
enum { UNIT = 1 << 30, UNIT_SHIFT = 30 };

/* x by its whole factor, as a product: Vela does not join that with the sum. */
static tc_status put_times(tc_rewrite *rw, const tc_avoid_change *c, int64_t factor, tc_val *out)
{
    tc_val x;
    TC_TRY(put_change(rw, c, UNIT, UNIT_SHIFT, c->node->in[0], &x));
    int rank = tc_type_of(rw->to, x)->rank;
    tc_val in[3] = {x, tc_avoid_number(rw, c->node, TC_i32, rank, factor)};
    in[2] = tc_avoid_number(rw, c->node, TC_i8, 1, 0);
    return tc_avoid_put(rw, c->node, TC_OP_tosa_mul, NULL, in, 3, out);
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
    const tc_node *old = tc_def(rw->from, node->in[0]), *def = tc_rewrite_def(rw, node, 0);
    bool shaped = old && old->op == TC_OP_tosa_reshape && def && def->op == TC_OP_tosa_reshape;
    if (rw->readers[node->in[0]] != 1 || (shaped && rw->readers[old->in[0]] != 1))
        return NULL;
    return shaped ? tc_def(rw->to, def->in[0]) : def;
}

/* The sum behind the RESCALE `node` of the old graph, whose operands have unlike whole factors. */
static bool unlike(tc_rewrite *rw, const tc_node *node, const tc_node **sum,
                   tc_avoid_change side[2], int64_t factor[2])
{
    if (node->op != TC_OP_tosa_rescale)
        return false;
    const tc_node *def = sum_before(rw, node);
    if (!def || (def->op != TC_OP_tosa_add && def->op != TC_OP_tosa_sub) ||
        tc_dtypes[tc_type_of(rw->from, node->out[0])->dtype].bytes > 2)
        return false;
    for (int i = 0; i < 2; i++) {
        if (!tc_avoid_read_change(rw->to, tc_def(rw->to, def->in[i]), &side[i]))
            return false;
        factor[i] = tc_avoid_whole(&side[i]);
    }
    tc_dtype a = tc_type_of(rw->to, side[0].node->in[0])->dtype,
             b = tc_type_of(rw->to, side[1].node->in[0])->dtype;
    *sum = def;
    return factor[0] && factor[1] && factor[0] != factor[1] && a == b &&
           (a == TC_i8 || a == TC_i16);
}

/* A constant that stands for nothing: any factor serves it. */
static bool is_nothing(const tc_graph *g, const tc_avoid_change *c)
{
    tc_tensor t = tc_tensor_of(g, c->node->in[0]);
    int64_t zero = tc_load_i64(tc_tensor_of(g, c->node->in[3]), 0);
    for (int64_t i = 0; t.data && i < tc_type_count(t.type); i++)
        if (tc_load_i64(t, i) != zero)
            return false;
    return t.data != NULL;
}

static tc_status factors(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_node *sum;
    tc_avoid_change side[2], last;
    int64_t factor[2];
    tc_val in[2], y, shift;
    if (!unlike(rw, node, &sum, side, factor))
        return TC_OK;
    int larger = factor[1] > factor[0];
    shift = tc_rewrite_in(rw, node, 2);
    int top = tc_type_of(rw->to, side[0].node->in[0])->dtype == TC_i8 ? 19 : 14;
    int e = top - log2_of(factor[larger]);
    bool known = tc_avoid_read_change(rw->from, node, &last);
    int idle = is_nothing(rw->to, &side[0]) ? 0 : is_nothing(rw->to, &side[1]) ? 1 : -1;
    if (idle >= 0) {
        const tc_avoid_change *other = &side[1 - idle];
        in[1 - idle] = sum->in[1 - idle];
        TC_TRY(put_change(rw, &side[idle], other->multiplier, other->shift, side[idle].node->in[0],
                          &in[idle]));
        TC_TRY(tc_avoid_put2(rw, sum, sum->op, sum->attr, in[0], in[1], &y));
    } else if (known && is_power_of_two(factor[larger]) && last.shift + e <= 62 &&
               ((const tc_attr_tosa_rescale *)node->attr)->rounding_mode != TC_rounding_double) {
        for (int i = 0; i < 2; i++) { /* factor * 2^e = multiplier * 2^-shift */
            int up = UNIT_SHIFT - log2_of(factor[i]);
            TC_TRY(put_change(rw, &side[i], factor[i] << up, up - e, side[i].node->in[0], &in[i]));
        }
        TC_TRY(tc_avoid_put2(rw, sum, sum->op, sum->attr, in[0], in[1], &y));
        shift = tc_avoid_number(rw, node, TC_i8, 1, last.shift + e);
    } else {
        in[0] = sum->in[0];
        in[1] = sum->in[1];
        TC_TRY(put_times(rw, &side[larger], factor[larger], &in[larger]));
        TC_TRY(tc_avoid_put2(rw, sum, sum->op, sum->attr, in[0], in[1], &y));
    }
    const tc_node *shaped = tc_rewrite_def(rw, node, 0);
    if (shaped->op == TC_OP_tosa_reshape)
        TC_TRY(tc_avoid_put2(rw, shaped, TC_OP_tosa_reshape, NULL, y, shaped->in[1], &y));
    tc_val all[5] = {y, tc_rewrite_in(rw, node, 1), shift, tc_rewrite_in(rw, node, 3),
                     tc_rewrite_in(rw, node, 4)};
    tc_node *made = tc_graph_add(rw->to, TC_OP_tosa_rescale, node->attr, all, 5, 1, node->loc);
    tc_avoid_take(rw, node, made->out[0], done);
    return TC_OK;
}

tc_status tc_lower_split_unlike_factors(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return tc_avoid_over(module, factors);
}
