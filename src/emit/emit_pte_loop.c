/* SPDX-License-Identifier: Apache-2.0 */
/* emit_pte_loop.c -- a loop as instructions.
 *
 *          copy the operands into the state
 *   again: the condition's
 *          jump to `end` unless it holds
 *          the body's
 *          copy its results into the state
 *          jump to `again`
 *   end:
 *
 * The state is the loop's results; both graphs read them in place. */
#include "emit_pte.h"

/* The instructions of graph `which` of node k, whose inputs are these values outside; its scope. */
static tc_status put_graph(tc_pte_emitter *e, size_t k, int which, const tc_val *given,
                           tc_pte_scope **out)
{
    tc_pte_scope *outer = e->scope;
    const tc_graph *g = ti_node_callee(e->module, outer->g->node[k], which);
    tc_pte_scope *s = ti_pte_scope_new(e, g, &outer->memory->inner[k][which]);
    s->base = outer->base + outer->memory->more[k][0];
    s->given = given;
    s->outer = outer;
    e->scope = s;
    tc_status status = ti_pte_check_types(e);
    if (status == TC_OK)
        status = ti_pte_nodes(e);
    e->scope = outer;
    *out = s;
    return status;
}

/* The index of value v of an inner scope. */
static int64_t tensor_of(tc_pte_emitter *e, tc_pte_scope *s, tc_val v)
{
    tc_pte_scope *outer = e->scope;
    e->scope = s;
    int64_t at = ti_pte_tensor(e, v);
    e->scope = outer;
    return at;
}

tc_status ti_pte_loop(tc_pte_emitter *e, size_t k)
{
    const tc_node *node = e->scope->g->node[k];
    tc_pte_scope *test, *body;
    tc_val *given = tc_new_n(&e->ctx->arena, tc_val, (size_t)node->n_in);
    for (int i = 0; i < node->n_in; i++)
        given[i] = i < node->n_out ? node->out[i] : node->in[i];
    for (int i = 0; i < node->n_out; i++) {
        int64_t from = ti_pte_tensor(e, node->in[i]);
        ti_pte_copy(e, node, ti_pte_tensor(e, node->out[i]), from);
    }
    size_t again = e->n_step;
    TC_TRY(put_graph(e, k, 0, given, &test));
    size_t leave = ti_pte_step_later(e, node);
    TC_TRY(put_graph(e, k, 1, given, &body));
    for (int i = 0; i < node->n_out; i++) {
        int64_t from = tensor_of(e, body, body->g->out[i]), to = ti_pte_tensor(e, node->out[i]);
        if (from != to)
            ti_pte_copy(e, node, to, from);
    }
    int64_t never = ti_pte_add_value(e, &(tc_cpu_value){.kind = TC_CPU_BOOL, .i = 0});
    ti_pte_jump(e, ti_pte_step_later(e, node), never, again);
    ti_pte_jump(e, leave, tensor_of(e, test, test->g->out[0]), e->n_step);
    return TC_OK;
}
