/* SPDX-License-Identifier: Apache-2.0 */
/* copy_operands.c -- TOSA form: where Vela does not write in place, or transposes slowly,
 * bit-exact.
 *
 * copy-concat-operands      CONCAT of what lies elsewhere (an input, a SLICE, another CONCAT)  =>
 *                           of it times one, which the machine writes in place
 * batch-matmul-transposes   MATMUL by TRANSPOSE(x) of n matrices that were concatenated  =>  one
 *                           TRANSPOSE of [1, n, ..], of a copy
 * flatten-transposes        TRANSPOSE of a small map to channels first  =>  of
 *                           [1, 1, height width, channels] */
#include "../layout/tosa_forms.h"

/* ---- copy-concat-operands ---- */

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

/* ---- batch-matmul-transposes ---- */

/* The numbers are concatenated from parts, or moved in memory. */
static bool is_joined(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    while (def && def->op == TC_OP_tosa_reshape)
        def = ti_def(g, def->in[0]);
    return !def || def->op == TC_OP_tosa_concat || def->op == TC_OP_tosa_slice;
}

static tc_status batch_matmul_transposes(tc_rewrite *rw, const tc_node *node, bool *done)
{
    static const int64_t swap3[] = {0, 2, 1}, swap[] = {0, 1, 3, 2};
    if (node->op != TC_OP_tosa_matmul || ti_type_of(rw->from, node->in[1])->dtype != TC_i8 ||
        rw->readers[node->in[1]] != 1)
        return TC_OK;
    const tc_node *transpose = ti_rewrite_def(rw, node, 1);
    const tc_attr_tosa_perms *p =
        transpose && transpose->op == TC_OP_tosa_transpose ? transpose->attr : NULL;
    if (!p || p->perms.n != 3 || memcmp(p->perms.v, swap3, sizeof swap3) != 0)
        return TC_OK;
    const tc_type *x = ti_type_of(rw->to, transpose->in[0]);
    if (x->dim[0] == 1 || !is_joined(rw->to, transpose->in[0]))
        return TC_OK;
    const tc_node *shaped = ti_def(rw->to, transpose->in[0]);
    tc_val from = shaped && shaped->op == TC_OP_tosa_reshape ? shaped->in[0] : transpose->in[0];
    tc_build lw = ti_build_instead(rw, node);
    tc_val v = ti_put_copy(
        &lw, ti_b_tosa_reshape(&lw, from, 4, (int64_t[]){1, x->dim[0], x->dim[1], x->dim[2]}));
    v = ti_b_tosa_transpose(&lw, v, swap);
    v = ti_b_tosa_reshape(&lw, v, 3, ti_type_of(rw->from, node->in[1])->dim);
    TC_TRY(lw.status);
    ti_rewrite_copy(rw, node);
    rw->to->node[rw->to->n_node - 1]->in[1] = v;
    *done = true;
    return TC_OK;
}

tc_status ti_lower_batch_matmul_transposes(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_offered(module, batch_matmul_transposes);
}

/* ---- flatten-transposes ---- */

enum { FEW_PLACES = 100 };

static bool is_perm(const tc_node *node, const int64_t *perm)
{
    return node && node->op == TC_OP_tosa_transpose &&
           ((const tc_attr_tosa_perms *)node->attr)->perms.n == 4 &&
           memcmp(((const tc_attr_tosa_perms *)node->attr)->perms.v, perm, 4 * sizeof *perm) == 0;
}

static tc_status flatten_transposes(tc_rewrite *rw, const tc_node *node, bool *done)
{
    static const int64_t first[] = {0, 3, 1, 2}, swap[] = {0, 1, 3, 2};
    if (!is_perm(node, first))
        return TC_OK;
    const tc_type *x = ti_type_of(rw->from, node->in[0]);
    int64_t places = x->dim[1] * x->dim[2];
    if ((x->dtype != TC_i8 && x->dtype != TC_i16) || x->dim[0] != 1 || x->dim[1] == 1 ||
        x->dim[2] == 1 || places > FEW_PLACES)
        return TC_OK;
    tc_build lw = ti_build_instead(rw, node);
    tc_val y = ti_rewrite_in(rw, node, 0);
    y = ti_b_tosa_reshape(&lw, y, 4, (int64_t[]){1, 1, places, x->dim[3]});
    y = ti_b_tosa_transpose(&lw, y, swap);
    y = ti_b_tosa_reshape(&lw, y, 4, ti_type_of(rw->from, node->out[0])->dim);
    return ti_b_replace(&lw, y, done);
}

tc_status ti_lower_flatten_transposes(tc_ctx *ctx, tc_module *module)
{
    (void)ctx;
    return ti_rewrite_offered(module, flatten_transposes);
}
