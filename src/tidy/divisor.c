/* SPDX-License-Identifier: Apache-2.0 */
/* divisor.c -- a constant divisor becomes a factor.
 *
 *   x / c  =>  x * (1 / c)      c constant floats, 1/c finite and normal
 *
 * Equal to the bit where c is a power of two, else within one unit of the last place. */
#include <math.h>

#include "tidy.h"

#include "../num/load.h"

static bool is_divisor(const tc_rewrite *rw, const tc_node *node)
{
    if (node->op != TC_OP_div || ((const tc_attr_div *)node->attr)->mode != TC_div_mode_exact)
        return false;
    const tc_type *x = tc_type_of(rw->from, node->in[0]), *c = tc_type_of(rw->from, node->in[1]),
                  *y = tc_type_of(rw->from, node->out[0]);
    if (x->quant || c->quant || y->quant || !tc_is_float(x->dtype) || c->dtype != x->dtype ||
        y->dtype != x->dtype || (x->dtype != TC_f32 && x->dtype != TC_f64) ||
        !tc_rewrite_is_fixed(rw, rw->now[node->in[1]]) || tc_is_const(rw->to, rw->now[node->in[0]]))
        return false;
    tc_tensor t = tc_tensor_of(rw->to, rw->now[node->in[1]]);
    double least = x->dtype == TC_f32 ? 0x1p-126 : 0x1p-1022;
    for (int64_t i = 0; i < tc_type_count(c); i++) {
        double r = 1 / tc_load_f64(t, i);
        if (!(fabs(r) >= least) || !(fabs(r) < 1 / least))
            return false;
    }
    return true;
}

static tc_status as_factor(tc_rewrite *rw, const tc_node *node, bool *done)
{
    if (!is_divisor(rw, node))
        return TC_OK;
    tc_tensor c = tc_tensor_of(rw->to, rw->now[node->in[1]]);
    tc_tensor r = tc_tensor_new(&rw->ctx->arena, c.type);
    for (int64_t i = 0; i < tc_type_count(c.type); i++)
        if (c.type->dtype == TC_f32)
            ((float *)r.data)[i] = (float)(1 / (double)((const float *)c.data)[i]);
        else
            ((double *)r.data)[i] = 1 / ((const double *)c.data)[i];
    tc_val in[] = {tc_rewrite_in(rw, node, 0),
                   tc_graph_const(rw->to, r.type, r.data, NULL, node->loc)};
    tc_node *made;
    TC_TRY(tc_graph_emit(rw->to, TC_OP_mul, NULL, in, 2, 1, node->loc, &made));
    tc_rewrite_bind(rw, node->out[0], made->out[0]);
    *done = true;
    return TC_OK;
}

tc_status tc_tidy_divisor(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {as_factor};
    (void)ctx;
    return tc_rewrite_module(module, rewriters, TC_COUNT(rewriters), NULL);
}
