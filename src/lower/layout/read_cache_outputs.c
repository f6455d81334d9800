/* SPDX-License-Identifier: Apache-2.0 */
/* read_cache_outputs.c -- readers of a KV cache that is also an output read the output.
 *
 *   s = SCATTER(...), RESHAPE(s) is an output, and others read s:
 *   they read RESHAPE(RESHAPE(s)), which is s
 *
 * A tensor that is an output in another shape than the one in which others read it is copied;
 * this way the rows are written to the output, and the readers read from there. */
#include "../../ir/rewrite.h"
#include "../lower_pass.h"
#include "../put.h"

/* The reshape of v that leaves the graph; NULL: none does. */
static const tc_node *leaving(const tc_graph *g, tc_val v)
{
    for (size_t i = 0; i < g->n_out; i++) {
        const tc_node *def = ti_def(g, g->out[i]);
        if (def && def->op == TC_OP_tosa_reshape && def->in[0] == v)
            return def;
    }
    return NULL;
}

/* The value whose reshape `back` is, if that is a reshape of what a scatter made; or nothing. */
static tc_val before(const tc_graph *g, tc_val back)
{
    const tc_node *def = ti_def(g, back),
                  *left = def && def->op == TC_OP_tosa_reshape ? ti_def(g, def->in[0]) : NULL,
                  *made = left && left->op == TC_OP_tosa_reshape ? ti_def(g, left->in[0]) : NULL;
    return made && made->op == TC_OP_tosa_scatter ? def->in[0] : TC_NONE;
}

static tc_status read_cache_outputs(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_graph *g = rw->from;
    if (node->op == TC_OP_tosa_reshape && leaving(g, node->in[0]) == node) {
        tc_val v = before(rw->to, ti_rewrite_in(rw, node, 0));
        if (v) {
            rw->to->val[v]->type = ti_type_of(g, node->out[0]);
            rw->to->val[v]->name = g->val[node->out[0]]->name;
            ti_rewrite_bind(rw, node->out[0], v);
            *done = true;
        }
        return TC_OK;
    }
    const tc_node *left = node->op == TC_OP_tosa_scatter && rw->readers[node->out[0]] > 1
                              ? leaving(g, node->out[0])
                              : NULL;
    if (!left)
        return TC_OK;
    const tc_type *type = ti_type_of(g, left->out[0]), *own = ti_type_of(g, node->out[0]);
    tc_build lw = ti_build_instead(rw, node);
    tc_val in[3];
    for (int i = 0; i < 3; i++)
        in[i] = ti_rewrite_in(rw, node, i);
    tc_val v = ti_b_op(&lw, node->op, node->attr, in, 3);
    v = ti_b_tosa_reshape(&lw, v, type->rank, type->dim);
    v = ti_b_tosa_reshape(&lw, v, own->rank, own->dim);
    return ti_b_replace(&lw, v, done);
}

TC_REWRITES(ti_lower_read_cache_outputs, read_cache_outputs)
