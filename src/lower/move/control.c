/* SPDX-License-Identifier: Apache-2.0 */
/* control.c -- COND_IF and WHILE_LOOP: the graphs that a node runs are lowered with it, and replace
 * the rich ones. */
#include "../put.h"

/* A graph that the node runs, in the TOSA form; NULL: refused. */
static tc_graph *callee(tc_build *lw, const tc_node *node, int which)
{
    tc_graph *rich = ti_node_callee(lw->rw->from->module, node, which);
    if (!ti_lower_has(lw, TC_FEATURE_CF))
        ti_lower_refuse(lw, "the target has no control flow");
    else if (!rich)
        ti_lower_refuse(lw, "a graph that it runs is missing");
    TC_STOP_WITH(lw, NULL);
    tc_graph *made = tc_new(&lw->ctx->arena, tc_graph);
    *made = ti_graph_empty(rich->module, rich->name);
    made->facts = rich->facts;
    ti_lower_sub(lw, rich, made);
    return lw->status == TC_OK ? made : NULL;
}

/* From here on the node runs this graph. */
static tc_graph *settle(tc_build *lw, const tc_node *node, int which, tc_graph *made)
{
    if (!lw->lower->dry) {
        tc_graph *rich = ti_node_callee(lw->rw->from->module, node, which);
        *rich = *made;
        return rich;
    }
    tc_grow(&lw->ctx->arena, lw->lower->callee, lw->lower->n_callee, lw->lower->cap_callee);
    lw->lower->callee[lw->lower->n_callee++] = made;
    return made;
}

/* The operator with results of these types. */
static tc_node *put_control(tc_build *lw, tc_op op, const void *attr, const tc_val *in, int n_in,
                            const tc_graph *like)
{
    tc_node *made = ti_graph_add(lw->g, op, attr, in, n_in, (int)like->n_out, lw->loc);
    for (size_t i = 0; i < like->n_out; i++) {
        const tc_type *t = ti_type_of(like, like->out[i]);
        lw->g->val[made->out[i]]->type = ti_type_make(lw->ctx, t->dtype, t->rank, t->dim);
    }
    lw->status = ti_node_infer(lw->g, made);
    return made;
}

void ti_lower_cond(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_cond *a = node->attr;
    tc_graph *branch[2] = {callee(lw, node, 0)};
    branch[1] = callee(lw, node, 1);
    if (!branch[0] || !branch[1])
        return;
    tc_attr_tosa_cond_if *attr = tc_new(&lw->ctx->arena, tc_attr_tosa_cond_if);
    *attr = (tc_attr_tosa_cond_if){a->then_graph, a->else_graph};
    tc_val *in = tc_new_n(&lw->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_lower_in(lw, node, i);
    for (int i = 0; i < 2; i++)
        branch[i] = settle(lw, node, i, branch[i]);
    tc_node *made = put_control(lw, TC_OP_tosa_cond_if, attr, in, node->n_in, branch[0]);
    for (int i = 0; i < node->n_out && lw->status == TC_OK; i++)
        out[i] = made->out[i];
}

/* What the loop only reads is carried along unchanged. */
static void carry(tc_build *lw, tc_graph *body)
{
    for (size_t i = body->n_out; i < body->n_in; i++) {
        tc_node *same;
        lw->status =
            ti_graph_emit(body, TC_OP_tosa_identity, NULL, &body->in[i], 1, 1, lw->loc, &same);
        TC_STOP(lw);
        ti_graph_output(body, same->out[0]);
    }
}

void ti_lower_while_loop(tc_build *lw, const tc_node *node, tc_val *out)
{
    const tc_attr_while_loop *a = node->attr;
    if (!lw->lower->target->machine->can.loops) {
        ti_lower_refuse(lw, "%s has no loops", lw->lower->target->machine->title);
        return;
    }
    tc_graph *cond = callee(lw, node, 0), *body = callee(lw, node, 1);
    if (!cond || !body)
        return;
    tc_attr_tosa_while *attr = tc_new(&lw->ctx->arena, tc_attr_tosa_while);
    *attr = (tc_attr_tosa_while){a->cond_graph, a->body_graph};
    tc_val *in = tc_new_n(&lw->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        in[i] = ti_lower_in(lw, node, i);
    carry(lw, body);
    settle(lw, node, 0, cond);
    body = settle(lw, node, 1, body);
    TC_STOP(lw);
    tc_node *made = put_control(lw, TC_OP_tosa_while_loop, attr, in, node->n_in, body);
    for (int i = 0; i < node->n_out && lw->status == TC_OK; i++)
        out[i] = made->out[i];
}
