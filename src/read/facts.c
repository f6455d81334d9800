/* SPDX-License-Identifier: Apache-2.0 */
/* facts.c -- constant values while a graph is read: see facts.h. */
#include "facts.h"

#include "../num/load.h"
#include "../run/eval.h"

void ti_facts_note_fixed(const tc_facts *f, tc_module *module)
{
    tc_tensor *fixed = tc_new_n(&module->ctx->arena, tc_tensor, f->n_given);
    bool any = false;
    for (size_t i = 0; i < f->n_given; i++)
        if (f->used[i]) {
            fixed[i] = f->given[i];
            any = true;
        }
    module->origin.fixed = any ? fixed : NULL;
}

static tc_tensor *fact(tc_build *m, tc_val v)
{
    tc_facts *f = m->facts;
    if (v >= f->cap) {
        size_t cap = m->g->n_val * 2 + 64;
        tc_tensor *at = tc_new_n(&m->ctx->arena, tc_tensor, cap);
        if (f->cap)
            memcpy(at, f->at, f->cap * sizeof *at);
        f->at = at;
        f->cap = cap;
    }
    return &f->at[v];
}

static bool have(tc_build *m, tc_val v, bool with_given, tc_tensor *out)
{
    if (ti_is_const(m->g, v)) {
        *out = ti_tensor_of(m->g, v);
        return true;
    }
    if (fact(m, v)->data) {
        *out = *fact(m, v);
        return true;
    }
    const tc_value *value = ti_value_of(m->g, v);
    size_t i = (size_t)value->index;
    if (value->def || !with_given || i >= m->facts->n_given || !m->facts->given[i].data)
        return false;
    *out = m->facts->given[i];
    return true;
}

/* Which nodes x follows from, marked by their first results; false: not from what is there. */
static bool find_needed(tc_build *m, tc_val x, bool with_given, bool *needed)
{
    tc_tensor t;
    needed[x] = true;
    for (size_t k = m->g->n_node; k-- > 0;) {
        const tc_node *node = m->g->node[k];
        bool any = false;
        for (int i = 0; i < node->n_out; i++)
            any = any || (needed[node->out[i]] && !have(m, node->out[i], with_given, &t));
        if (!any)
            continue;
        if (!tc_ops[node->op].kernel || (tc_ops[node->op].traits & T_STATE))
            return false;
        needed[node->out[0]] = true;
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i])
                needed[node->in[i]] = true;
    }
    for (size_t i = 0; i < m->g->n_in; i++)
        if (needed[m->g->in[i]] && !have(m, m->g->in[i], with_given, &t))
            return false;
    return true;
}

static bool compute(tc_build *m, const tc_node *node, bool with_given)
{
    tc_arena *arena = &m->ctx->arena;
    tc_tensor *in = tc_new_n(arena, tc_tensor, (size_t)node->n_in),
              *out = tc_new_n(arena, tc_tensor, (size_t)node->n_out);
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && !have(m, node->in[i], with_given, &in[i]))
            return false;
    tc_trial trial;
    ti_trial_begin(m->ctx, &trial);
    tc_status status = ti_eval_node(m->g, node, in, out, arena);
    ti_trial_end(m->ctx, &trial);
    for (int i = 0; i < node->n_out && status == TC_OK; i++)
        *fact(m, node->out[i]) = out[i];
    return status == TC_OK;
}

static bool find(tc_build *m, tc_val x, bool with_given, tc_tensor *out)
{
    if (m->status != TC_OK || !x)
        return false;
    if (have(m, x, with_given, out))
        return true;
    tc_mark mark = ti_arena_mark(&m->ctx->scratch);
    bool *needed = tc_new_n(&m->ctx->scratch, bool, m->g->n_val);
    bool found = find_needed(m, x, with_given, needed);
    tc_tensor t;
    for (size_t k = 0; found && k < m->g->n_node; k++) {
        const tc_node *node = m->g->node[k];
        if (node->n_out && needed[node->out[0]] && !have(m, node->out[0], with_given, &t))
            found = compute(m, node, with_given);
    }
    ti_arena_rewind(&m->ctx->scratch, mark);
    return found && have(m, x, with_given, out);
}

bool ti_b_known(tc_build *m, tc_val x, tc_tensor *out)
{
    return find(m, x, false, out);
}

/* Every input that x follows from is fixed from now on. */
static void fix_inputs(tc_build *m, tc_val x)
{
    tc_mark mark = ti_arena_mark(&m->ctx->scratch);
    const bool *needed = ti_graph_leads_to(m->g, x);
    for (size_t i = 0; i < m->g->n_in && i < m->facts->n_given; i++)
        m->facts->used[i] = m->facts->used[i] || needed[m->g->in[i]];
    ti_arena_rewind(&m->ctx->scratch, mark);
}

bool ti_b_settled(tc_build *m, tc_val x, tc_tensor *out)
{
    if (find(m, x, false, out))
        return true;
    /* What follows from given values is kept separate from what follows from constants alone. */
    tc_facts own = *m->facts, with = own;
    with.at = NULL;
    with.cap = 0;
    *m->facts = with;
    bool found = find(m, x, true, out);
    own.used = m->facts->used;
    *m->facts = own;
    if (found)
        fix_inputs(m, x);
    return found;
}

/* Folded at once: small operators on constants only, except conversions between real values and
 * codes, which the quantizer needs. */
static bool is_small_arithmetic(tc_build *m, const tc_node *node)
{
    enum { MOST = 4096 };
    if (node->n_out != 1 || !tc_ops[node->op].kernel || node->op == TC_OP_const ||
        node->op == TC_OP_quantize || node->op == TC_OP_dequantize ||
        node->op == TC_OP_fake_quantize || node->op == TC_OP_block_round || (tc_ops[node->op].traits & (T_STATE | T_CONTROL)))
        return false;
    const tc_type *type = ti_b_type(m, node->out[0]);
    if (tc_type_count(type) > MOST || type->quant)
        return false;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] && !ti_is_const(m->g, node->in[i]))
            return false;
    return true;
}

/* The node becomes the constant that it computes. */
static void fold(tc_build *m, tc_node *node)
{
    static const char empty[1];
    if (!is_small_arithmetic(m, node) || !compute(m, node, false))
        return;
    tc_value *value = ti_value_of(m->g, node->out[0]);
    const void *data = fact(m, node->out[0])->data;
    value->data = data ? data : empty;
    *node = (tc_node){.op = TC_OP_const, .n_out = 1, .out = node->out, .loc = node->loc};
}

tc_build ti_build_folding(tc_ctx *ctx, tc_graph *g, const tc_loc *loc, tc_facts *facts)
{
    return (tc_build){.ctx = ctx, .g = g, .loc = loc, .fold = fold, .facts = facts};
}

tc_tensor ti_b_nonzero(tc_build *b, tc_tensor t, bool by_row)
{
    int64_t all = tc_type_count(t.type), found = 0, k = 0, rank = t.type->rank;
    for (int64_t i = 0; i < all; i++)
        found += ti_load_f64(t, i) != 0;
    int64_t dim[2] = {by_row ? found : rank, by_row ? rank : found};
    tc_tensor out = ti_b_tensor(b, TC_i64, 2, dim);
    int64_t *to = out.data;
    for (int64_t i = 0; i < all; i++) {
        if (ti_load_f64(t, i) == 0)
            continue;
        int64_t left = i;
        for (int64_t d = rank; d-- > 0; left /= t.type->dim[d])
            to[by_row ? k * rank + d : d * found + k] = left % t.type->dim[d];
        k++;
    }
    return out;
}
