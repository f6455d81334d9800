/* SPDX-License-Identifier: Apache-2.0 */
/* matmul_to_linear.c -- a matmul with a constant matrix becomes a linear layer.
 *
 *   matmul(x, W)   => linear(x, W^T)              W constant, of rank 2
 *   addmm(b, x, W) => linear(x, W^T, b)           alpha and beta 1, b constant, of rank 1 */
#include "tidy.h"

/* A constant matrix of plain floats. */
static bool is_matrix(const tc_rewrite *rw, tc_val old)
{
    const tc_type *type = ti_type_of(rw->from, old);
    return type->rank == 2 && ti_is_float(type->dtype) && !type->quant &&
           ti_rewrite_is_fixed(rw, rw->now[old]);
}

/* The constant matrix transposed, once for all its readers; rw->user: by old value, what was made. */
static tc_val transposed(tc_rewrite *rw, tc_val old, const tc_loc *loc)
{
    tc_val *made = rw->user;
    if (made[old])
        return made[old];
    tc_tensor w = ti_tensor_of(rw->to, rw->now[old]);
    int64_t rows = w.type->dim[0], columns = w.type->dim[1];
    size_t size = tc_dtypes[w.type->dtype].bytes;
    tc_tensor out = ti_tensor_new(
        &rw->ctx->arena, ti_type_make(rw->ctx, w.type->dtype, 2, (const int64_t[]){columns, rows}));
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
            memcpy((char *)out.data + (size_t)(c * rows + r) * size,
                   (const char *)w.data + (size_t)(r * columns + c) * size, size);
    return made[old] =
               ti_graph_const(rw->to, out.type, out.data, rw->to->val[rw->now[old]]->name, loc);
}

/* The operands x, W and b as positions in the node; b < 0: none.  false: not a product of that
 * kind. */
static bool positions(const tc_rewrite *rw, const tc_node *node, int *x, int *w, int *b)
{
    *x = node->op == TC_OP_addmm ? 1 : 0;
    *w = *x + 1;
    *b = node->op == TC_OP_addmm ? 0 : -1;
    if ((node->op != TC_OP_matmul && node->op != TC_OP_addmm) || !is_matrix(rw, node->in[*w]))
        return false;
    const tc_type *type = ti_type_of(rw->from, node->in[*x]);
    if (type->rank < 2 || type->quant || ti_is_const(rw->to, rw->now[node->in[*x]]))
        return false;
    if (*b < 0)
        return true;
    const tc_attr_addmm *a = node->attr;
    const tc_type *added = ti_type_of(rw->from, node->in[0]);
    return a->alpha == 1 && a->beta == 1 && type->rank == 2 && added->rank == 1 && !added->quant &&
           added->dim[0] == ti_type_of(rw->from, node->in[2])->dim[1] &&
           ti_rewrite_is_fixed(rw, rw->now[node->in[0]]);
}

static tc_status as_linear(tc_rewrite *rw, const tc_node *node, bool *done)
{
    int x, w, b;
    if (!positions(rw, node, &x, &w, &b))
        return TC_OK;
    tc_build build = ti_build_instead(rw, node);
    tc_val matrix = transposed(rw, node->in[w], node->loc);
    tc_val bias = b < 0 ? TC_NONE : ti_b_in(&build, b);
    return ti_b_replace(&build, ti_b_linear(&build, ti_b_in(&build, x), matrix, bias), done);
}

tc_status ti_tidy_convert_matmul_to_linear(tc_ctx *ctx, tc_module *module)
{
    static tc_rewriter *const rewriters[] = {as_linear};
    for (size_t i = 0; i < module->n_graph; i++) {
        tc_graph *g = module->graph[i];
        tc_mark mark = ti_arena_mark(&ctx->scratch);
        tc_val *made = tc_new_n(&ctx->scratch, tc_val, g->n_val);
        tc_status status = ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), made);
        ti_arena_rewind(&ctx->scratch, mark);
        TC_TRY(status);
    }
    return TC_OK;
}
