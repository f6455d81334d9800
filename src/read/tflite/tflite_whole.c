/* SPDX-License-Identifier: Apache-2.0 */
/* tflite_whole.c -- operators kept as in the file, for a .tflite that is written from it.
 *
 * Such an operator is one node.  Its operands are those of the file that are neither constants nor
 * variables, uint8 codes unchanged; what it computes is a separate graph, if the operator can be
 * read. */
#include "tflite_program.h"

bool ti_tfl_stays_whole(const tc_tfl_node *n)
{
    const tc_read_options *o = ti_reading(n->m.ctx);
    for (size_t i = 0; i < o->n_keep; i++)
        if (ti_text_eq(o->keep[i], n->m.loc->node))
            return true;
    return false;
}

/* Whether input i is an operand of the node. */
static bool is_operand(const tc_tfl_node *n, int i)
{
    const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
    return t && !t->variable && !ti_tfl_has_numbers(n->scope->reader, t);
}

static const tc_type *type_of(tc_ctx *ctx, const tc_tfl_tensor *t)
{
    return ti_type_make(ctx, t->shifted ? TC_u8 : t->dtype, t->rank, t->dim);
}

/* A copy of the tensors, for a graph in which only the inputs are known. */
static void bind_inner(tc_tfl_node *inner, const tc_tfl_node *n)
{
    tc_tfl_scope *scope = inner->scope;
    scope->tensor = ti_arena_copy(&n->m.ctx->arena, scope->tensor,
                                  scope->n_tensor * sizeof *scope->tensor);
    for (size_t i = 0; i < scope->n_tensor; i++) {
        tc_tfl_tensor *t = &scope->tensor[i];
        t->made = t->loaded = t->broken = false;
        t->val = t->plain = t->left = TC_NONE;
    }
    for (int i = 0; i < n->n_in; i++) {
        tc_tfl_tensor *t = ti_tfl_in_tensor(inner, i);
        if (!is_operand(n, i))
            continue;
        tc_val x = ti_graph_input(scope->g, type_of(n->m.ctx, t), NULL);
        t->plain = t->shifted ? x : TC_NONE;
        t->val = t->shifted ? ti_tfl_down(&inner->m, x) : x;
        t->made = true;
    }
}

static bool has_variable(const tc_tfl_node *n)
{
    for (int i = 0; i < n->n_in; i++) {
        const tc_tfl_tensor *t = ti_tfl_in_tensor(n, i);
        if (t && t->variable)
            return true;
    }
    return false;
}

/* Whether a result has the declared type; without a declared shape any is accepted. */
static bool has_type(const tc_graph *g, tc_val v, const tc_tfl_node *n, const tc_tfl_tensor *t)
{
    const tc_type *there = type_of(n->m.ctx, t), *is = ti_type_of(g, v);
    return is == there || (!there->rank && is->dtype == there->dtype);
}

/* A graph that computes the operator; NULL: it cannot be read, or remembers something. */
static const tc_graph *read_inside(tc_tfl_node *n, const char *name)
{
    tc_module *module = n->m.g->module;
    size_t n_graph = module->n_graph;
    tc_tfl_node inner = *n;
    tc_tfl_scope scope = *n->scope;
    tc_trial trial;
    if (!n->row || (n->row->last && n->version > n->row->last) || has_variable(n))
        return NULL;
    scope.g = ti_graph_new(module, name);
    scope.facts = tc_new(&n->m.ctx->arena, tc_facts);
    scope.kept = true;
    inner.scope = &scope;
    inner.m = ti_build_folding(n->m.ctx, scope.g, n->m.loc, scope.facts);
    ti_trial_begin(n->m.ctx, &trial);
    bind_inner(&inner, n);
    ti_tfl_build(&inner);
    for (int i = 0; i < n->n_out && inner.m.status == TC_OK; i++) {
        const tc_tfl_tensor *t = ti_tfl_out_tensor(&inner, i);
        if (!t || !t->made)
            inner.m.status = TC_UNSUPPORTED;
        else
            ti_graph_output(scope.g, t->shifted ? ti_tfl_plain_of(&inner.m, t, t->val) : t->val);
    }
    ti_trial_end(n->m.ctx, &trial);
    bool fit = inner.m.status == TC_OK;
    for (int i = 0; i < n->n_out && fit; i++)
        fit = has_type(scope.g, scope.g->out[i], n, ti_tfl_out_tensor(n, i));
    if (!fit)
        module->n_graph = n_graph;
    return fit ? scope.g : NULL;
}

/* Results without data or a fixed shape in the file cannot be values. */
static bool results_fit(tc_tfl_node *n)
{
    for (int i = 0; i < n->n_out; i++) {
        tc_tfl_tensor *t = ti_tfl_out_tensor(n, i);
        if (!t || !t->dtype || ti_dims_count(t->rank, t->dim) < 0) {
            ti_b_unsupported(&n->m, "result %d of an operator that stays whole has no fixed type",
                             i);
            return false;
        }
        t->made = false; /* by what could be read of it */
        t->val = t->plain = TC_NONE;
    }
    return true;
}

void ti_tfl_keep_whole(tc_tfl_node *n, const char *name, size_t place)
{
    tc_build *m = &n->m;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)n->n_in + 1);
    int n_in = 0;
    if (!results_fit(n))
        return;
    for (int i = 0; i < n->n_in; i++)
        if (is_operand(n, i))
            in[n_in++] = ti_tfl_plain(n, i);
    TC_STOP(m);
    const char *graph = ti_intern_text(m->ctx, ti_text_format(&m->ctx->arena, "op_%zu", place));
    const tc_graph *inside = read_inside(n, graph);
    tc_node *node = ti_graph_add(m->g, TC_OP_tflite_op,
                                 ti_b_attr(m, tflite_op, inside ? inside->name : "",
                                           ti_intern_text(m->ctx, name), (int64_t)place),
                                 in, n_in, n->n_out, m->loc);
    for (int i = 0; i < n->n_out; i++)
        ti_value_of(m->g, node->out[i])->type =
            inside ? ti_type_of(inside, inside->out[i]) : type_of(m->ctx, ti_tfl_out_tensor(n, i));
    m->status = ti_node_infer(m->g, node);
    for (int i = 0; i < n->n_out; i++)
        ti_tfl_bind_plain(n, i, node->out[i]);
}

/* ---- uint8 and int8 ---- */

bool ti_tfl_keeps_shifts(const tc_build *m, tc_val x)
{
    return x && m->status == TC_OK && ti_reading(m->ctx)->keep_unread &&
           m->g == ti_main(m->g->module) && !ti_is_const(m->g, x);
}

tc_val ti_tfl_keep_shift(tc_build *m, tc_val x, int by)
{
    tc_module *module = m->g->module;
    const tc_type *from = ti_b_type(m, x),
                  *to = ti_type_make(m->ctx, by < 0 ? TC_i8 : TC_u8, from->rank, from->dim);
    const char *name = ti_text_format(&m->ctx->arena, "shift_%zu", module->n_graph);
    tc_graph *g = ti_graph_new(module, ti_intern_text(m->ctx, name));
    tc_build inner = {.ctx = m->ctx, .g = g, .loc = m->loc};
    tc_val y = ti_b_cast(&inner, ti_graph_input(g, from, NULL), TC_i16);
    y = ti_b_cast(&inner, ti_b_add_n(&inner, y, by), to->dtype);
    m->status = inner.status;
    TC_STOP_WITH(m, TC_NONE);
    ti_graph_output(g, y);
    tc_node *node =
        ti_graph_add(m->g, TC_OP_tflite_op,
                     ti_b_attr(m, tflite_op, g->name, ti_intern_text(m->ctx, "QUANTIZE"), -1), &x,
                     1, 1, m->loc);
    ti_value_of(m->g, node->out[0])->type = to;
    m->status = ti_node_infer(m->g, node);
    return node->out[0];
}
