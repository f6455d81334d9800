/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_control.c -- builders of IF, WHILE and CALL.
 *
 * Known conditions are resolved when reading: the branch taken, and loops of fixed length, are
 * inlined.  An IF decided at run time keeps both graphs, and such a WHILE its condition and its
 * body. */
#include "../../num/load.h"
#include "tflite_program.h"

enum { MOST_ROUNDS = 1 << 12 };

static const char *graph_name(tc_tfl_node *n, const char *which)
{
    for (int k = 0;; k++) {
        const char *name = ti_text_format(&n->m.ctx->arena, "%s_%d", which, k);
        if (!ti_module_find(n->m.g->module, name))
            return ti_intern_text(n->m.ctx, name);
    }
}

/* Graph `index` of the file as a graph of the module, with inputs of these types. */
static tc_graph *keep_graph(tc_tfl_node *n, const char *which, int64_t index, const tc_val *in,
                            int n_in, int n_out)
{
    tc_build *m = &n->m;
    TC_STOP_WITH(m, NULL);
    tc_tfl_node inner = *n;
    tc_tfl_scope scope = *n->scope;
    scope.g = ti_graph_new(m->g->module, graph_name(n, which));
    scope.facts = tc_new(&m->ctx->arena, tc_facts);
    scope.kept = true;
    inner.scope = &scope;
    inner.m.g = scope.g;
    inner.m.facts = scope.facts;
    tc_val *own = tc_new_n(&m->ctx->arena, tc_val, (size_t)n_in + 1),
           *out = tc_new_n(&m->ctx->arena, tc_val, (size_t)n_out + 1);
    for (int i = 0; i < n_in; i++)
        own[i] = ti_graph_input(scope.g, ti_type_of(m->g, in[i]), NULL);
    ti_tfl_inline(&inner, index, own, n_in, out, n_out);
    m->status = inner.m.status;
    for (int i = 0; i < n_out && m->status == TC_OK; i++)
        ti_graph_output(scope.g, out[i]);
    return m->status == TC_OK ? scope.g : NULL;
}

static void take_inputs(tc_tfl_node *n, int from, tc_val *in)
{
    for (int i = from; i < n->n_in; i++)
        in[i - from] = ti_tfl_need(n, i);
}

void ti_tfl_build_if(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val condition = ti_tfl_need(n, 0);
    int64_t which[2] = {ti_tfl_int(n, 0, 0), ti_tfl_int(n, 1, 0)};
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)n->n_in + 1),
           *out = tc_new_n(&m->ctx->arena, tc_val, (size_t)n->n_out + 1);
    tc_tensor t;
    take_inputs(n, 1, in + 1);
    TC_STOP(m);
    if (ti_b_known(m, condition, &t)) {
        ti_tfl_inline(n, which[ti_load_i64(t, 0) ? 0 : 1], in + 1, n->n_in - 1, out, n->n_out);
        for (int i = 0; i < n->n_out; i++)
            ti_tfl_bind(n, i, out[i]);
        return;
    }
    in[0] = ti_b_reshape(m, condition, 0, NULL);
    tc_graph *a = keep_graph(n, "then", which[0], in + 1, n->n_in - 1, n->n_out);
    tc_graph *b = keep_graph(n, "else", which[1], in + 1, n->n_in - 1, n->n_out);
    TC_STOP(m);
    for (int i = 0; i < n->n_out; i++)
        if (ti_type_of(a, a->out[i]) != ti_type_of(b, b->out[i])) {
            ti_b_unsupported(m, "an IF whose condition is not constant, with results of two types");
            return;
        }
    tc_node *node = ti_graph_add(m->g, TC_OP_cond, ti_b_attr(m, cond, a->name, b->name), in,
                                 n->n_in, n->n_out, m->loc);
    for (int i = 0; i < n->n_out; i++)
        ti_value_of(m->g, node->out[i])->type = ti_type_of(a, a->out[i]);
    m->status = ti_node_infer(m->g, node);
    for (int i = 0; i < n->n_out; i++)
        ti_tfl_bind(n, i, node->out[i]);
}

/* Unrolled as long as the condition is known; false: it is not. */
static bool unroll(tc_tfl_node *n, int64_t test, int64_t body, tc_val *state)
{
    tc_build *m = &n->m;
    tc_val *out = tc_new_n(&m->ctx->arena, tc_val, (size_t)n->n_in + 1), go;
    for (int64_t k = 0; m->status == TC_OK; k++) {
        tc_tensor t;
        ti_tfl_inline(n, test, state, n->n_in, &go, 1);
        if (m->status != TC_OK || !ti_b_known(m, go, &t))
            return k > 0 && m->status != TC_OK;
        if (!ti_load_i64(t, 0))
            return true;
        if (k >= MOST_ROUNDS) {
            ti_b_unsupported(m, "a WHILE of more than %d iterations", MOST_ROUNDS);
            return true;
        }
        ti_tfl_inline(n, body, state, n->n_in, out, n->n_in);
        memcpy(state, out, (size_t)n->n_in * sizeof *out);
    }
    return true;
}

void ti_tfl_build_while(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    int64_t test = ti_tfl_int(n, 0, 0), body = ti_tfl_int(n, 1, 0);
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)n->n_in + 1);
    take_inputs(n, 0, in);
    TC_STOP(m);
    tc_val *state = ti_arena_copy(&m->ctx->arena, in, ((size_t)n->n_in + 1) * sizeof *in);
    if (unroll(n, test, body, state)) {
        for (int i = 0; i < n->n_out && i < n->n_in; i++)
            ti_tfl_bind(n, i, state[i]);
        return;
    }
    tc_graph *a = keep_graph(n, "test", test, in, n->n_in, 1);
    tc_graph *b = keep_graph(n, "body", body, in, n->n_in, n->n_in);
    TC_STOP(m);
    for (int i = 0; i < n->n_in; i++)
        if (ti_type_of(b, b->out[i]) != ti_type_of(m->g, in[i])) {
            ti_b_unsupported(m, "a WHILE whose value %d changes its type", i);
            return;
        }
    tc_node *node = ti_graph_add(m->g, TC_OP_while_loop, ti_b_attr(m, while_loop, a->name, b->name),
                                 in, n->n_in, n->n_in, m->loc);
    for (int i = 0; i < n->n_in; i++)
        ti_value_of(m->g, node->out[i])->type = ti_type_of(m->g, in[i]);
    m->status = ti_node_infer(m->g, node);
    for (int i = 0; i < n->n_out && i < n->n_in; i++)
        ti_tfl_bind(n, i, node->out[i]);
}

/* Inlines a graph of the file; extra: which option names it. */
void ti_tfl_build_call(tc_tfl_node *n)
{
    tc_build *m = &n->m;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)n->n_in + 1),
           *out = tc_new_n(&m->ctx->arena, tc_val, (size_t)n->n_out + 1);
    take_inputs(n, 0, in);
    ti_tfl_inline(n, ti_tfl_int(n, (uint32_t)n->row->extra, 0), in, n->n_in, out, n->n_out);
    for (int i = 0; i < n->n_out; i++)
        ti_tfl_bind(n, i, out[i]);
}
