/* SPDX-License-Identifier: Apache-2.0 */
/* swap_matmul_operands.c -- MATMUL of few rows by a transposed matrix becomes the transposed
 * product.
 *
 * Scores of a few queries are q k' with k as it is stored in a cache.  Ethos-U85 transposes the
 * right operand of a MATMUL itself, so that k would be transposed twice:
 *
 *   rescale(q k') = rescale(k q')'
 *
 * where only the queries and the scores are transposed.  With one scale for the tensor, RESCALE and
 * TRANSPOSE commute. */
#include "../layout/tosa_forms.h"

enum { FEW = 4 }; /* keys for each row, at least */

static bool is_transpose(const tc_node *node)
{
    static const int64_t swap[] = {0, 2, 1};
    const tc_attr_tosa_perms *p =
        node && node->op == TC_OP_tosa_transpose ? node->attr : NULL;
    return p && p->perms.n == 3 && !memcmp(p->perms.v, swap, sizeof swap);
}

static tc_status swap_matmul_operands(tc_rewrite *rw, const tc_node *node, bool *done)
{
    static const int64_t swap[] = {0, 2, 1};
    if (node->op != TC_OP_tosa_rescale ||
        ((const tc_attr_tosa_rescale *)node->attr)->per_channel ||
        rw->readers[node->in[0]] != 1)
        return TC_OK;
    const tc_node *product = ti_rewrite_def(rw, node, 0);
    if (!product || product->op != TC_OP_tosa_matmul)
        return TC_OK;
    const tc_node *transpose = ti_def(rw->to, product->in[1]);
    if (!is_transpose(transpose))
        return TC_OK;
    const tc_type *scores = ti_type_of(rw->from, node->out[0]);
    if (FEW * scores->dim[1] > scores->dim[2])
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    tc_val rows = ti_b_tosa_transpose(&lw, product->in[0], swap);
    tc_val in[5] = {transpose->in[0], rows, product->in[3], product->in[2]};
    in[0] = ti_b_op(&lw, TC_OP_tosa_matmul, product->attr, in, 4);
    for (int i = 1; i < 5; i++)
        in[i] = ti_rewrite_in(rw, node, i);
    TC_TRY(lw.status);
    tc_type type = *ti_type_of(rw->to, in[0]);
    type.dtype = ti_type_of(rw->from, node->out[0])->dtype;
    tc_val y =
        ti_b_typed(&lw, TC_OP_tosa_rescale, node->attr, in, 5, ti_type_intern(rw->ctx, &type));
    return ti_b_replace(&lw, ti_b_tosa_transpose(&lw, y, swap), done);
}

tc_status ti_lower_swap_matmul_operands(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_offered(module, swap_matmul_operands);
}
