/* SPDX-License-Identifier: Apache-2.0 */
/* copy_concat_operands.c -- TOSA form: CONCAT of what is stored elsewhere (an input, a SLICE, another
 * CONCAT)  =>  of it times one, which the machine writes in place, bit-exact. */
#include "../layout/tosa_forms.h"

/* Its numbers lie where another operation put them for its own reason: in another shape, for other
 * readers too, as an input or a part of something. */
static bool lies_elsewhere(const tc_graph *g, tc_val v, uint32_t readers)
{
    const tc_node *def = ti_def(g, v);
    if (!def || def->op == TC_OP_tosa_slice || def->op == TC_OP_tosa_concat ||
        def->op == TC_OP_tosa_reshape)
        return true;
    const tc_node *sum = def->op == TC_OP_tosa_rescale ? ti_def(g, def->in[0]) : NULL;
    return (readers > 1 && def->op != TC_OP_const) || (sum && sum->op == TC_OP_tosa_matmul);
}

static tc_status copy_concat_operands(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_type *type = node->n_out ? ti_type_of(rw->from, node->out[0]) : NULL;
    bool any = false;
    if (node->op != TC_OP_tosa_concat || type->dtype != TC_i8 || type->rank > 4 ||
        tc_type_count(type) == 0)
        return TC_OK;
    for (int i = 0; i < node->n_in; i++)
        any = any || lies_elsewhere(rw->to, ti_rewrite_in(rw, node, i), rw->readers[node->in[i]]);
    if (!any)
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    tc_val *in = tc_new_n(&rw->ctx->scratch, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++) {
        in[i] = ti_rewrite_in(rw, node, i);
        if (lies_elsewhere(rw->to, in[i], rw->readers[node->in[i]]))
            in[i] = ti_put_copy(&lw, in[i]);
    }
    tc_val y = ti_b_op(&lw, TC_OP_tosa_concat, node->attr, in, node->n_in);
    return ti_b_replace(&lw, y, done);
}

tc_status ti_lower_copy_concat_operands(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_offered(module, copy_concat_operands);
}
