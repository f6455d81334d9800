/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_select.c -- the pass `select-cpu-kernels`: see cpu_select.h.  The graph is walked until every
 * node has a kernel. */
#include "cpu_select.h"

#include <stdlib.h>

#include "../ir/formula.h"
#include "../num/quant.h"
#include "cpu_forms.h"

enum { MOST_ROUNDS = 8 }; /* forms made of forms made of forms */

/* ---- quantized values ------------------------------------------------------------------------ */

/* Scale and zero as operands, one of each per channel. */
static void grid_operands(tc_build *m, const tc_quant *q, tc_val *scale, tc_val *zero)
{
    int64_t n = q->count;
    const tc_type *real = ti_type_make(m->ctx, TC_f64, 1, &n),
                  *whole = ti_type_make(m->ctx, TC_i64, 1, &n);
    *scale = ti_b_data(m, real, q->scale);
    *zero = ti_b_data(m, whole, q->zero);
}

/* x by the kernel between real values and the codes of the domain q, into `type`. */
static tc_val convert(tc_build *m, tc_op op, tc_val x, const tc_quant *q, const tc_type *type)
{
    tc_val in[3] = {x};
    bool whole = q->axis < 0;
    const tc_attr_quantize *attr =
        ti_b_attr(m, quantize, whole ? q->scale[0] : 0, whole ? q->zero[0] : 0, q->axis, q->lo,
                  q->hi, type->dtype, false, false, false);
    if (!whole)
        grid_operands(m, q, &in[1], &in[2]);
    return ti_b_typed(m, op, attr, in, whole ? 1 : 3, type);
}

static const tc_type *real_type(tc_build *m, const tc_type *t)
{
    return ti_type_make(m->ctx, TC_f32, t->rank, t->dim);
}

/* The real values of a value; a constant is dequantized, and a sum on its 32-bit grid is read
 * directly. */
static tc_val real_of(tc_build *m, tc_val x)
{
    const tc_type *t = ti_b_type(m, x);
    if (!t || !t->quant)
        return x;
    const tc_node *def = ti_def(m->g, x);
    if (def && def->op == TC_OP_quantize && t->dtype == TC_i32)
        return def->in[0];
    if (ti_rewrite_is_fixed(m->rw, x)) {
        tc_tensor real = ti_dequantized(m->ctx, &m->ctx->arena, ti_tensor_of(m->g, x));
        return ti_b_const(m, real, m->g->val[x]->name);
    }
    return convert(m, TC_OP_dequantize, x, t->quant, real_type(m, t));
}

static bool rule_rescale(tc_build *m)
{
    const tc_type *to = ti_b_out_type(m, 0);
    tc_val real = real_of(m, ti_b_in(m, 0));
    ti_cpu_give(m, 0, to->quant ? convert(m, TC_OP_quantize, real, to->quant, to) : real);
    return true;
}

/* Movement works on codes; padding and the like make new elements, and so does scatter-add. */
static bool moves_codes(const tc_node *node)
{
    if (node->op == TC_OP_index_put && ((const tc_attr_index_put *)node->attr)->accumulate)
        return false;
    return (tc_ops[node->op].traits & T_MOVES) && node->op != TC_OP_pad && node->op != TC_OP_tril &&
           node->op != TC_OP_triu;
}

/* quantize(op(dequantize(operands))); products with constants on their codes */
static bool rule_typed(tc_build *m)
{
    const tc_node *node = m->node;
    tc_val *in = tc_new_n(&m->ctx->arena, tc_val, (size_t)node->n_in), y;
    if (ti_cpu_on_codes(m, node->n_in > 2 && node->in[2] ? real_of(m, ti_b_in(m, 2)) : TC_NONE,
                        &y)) {
        const tc_type *t = ti_b_out_type(m, 0);
        ti_cpu_give(m, 0, t->quant ? convert(m, TC_OP_quantize, y, t->quant, t) : y);
        return true;
    }
    for (int i = 0; i < node->n_in; i++)
        in[i] = real_of(m, ti_b_in(m, i));
    TC_STOP_WITH(m, true);
    tc_node *made = ti_graph_add(m->g, node->op, node->attr, in, node->n_in, node->n_out, m->loc);
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *t = ti_b_out_type(m, i);
        m->g->val[made->out[i]]->type = t->quant ? real_type(m, t) : t;
    }
    m->status = ti_node_infer(m->g, made);
    const tc_cpu_library *lib = m->rw->user;
    for (int i = 0; i < node->n_out; i++) {
        const tc_type *t = ti_b_out_type(m, i);
        y = made->out[i];
        if (t->quant)
            y = ti_cpu_no_nan(m, y);
        if (t->quant && lib->only_finite)
            y = ti_cpu_finite(m, y, t->quant);
        ti_cpu_give(m, i, t->quant ? convert(m, TC_OP_quantize, y, t->quant, t) : y);
    }
    return true;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static tc_cpu_form *const rule_of[TC_OP_COUNT] = {
    [TC_OP_rescale] = rule_rescale,
#define FORM(op) [TC_OP_##op] = ti_cpu_form_##op,
#define AS(op, form) [TC_OP_##op] = ti_cpu_form_##form,
#include "cpu_forms.def"
};

bool ti_cpu_knows(tc_op op)
{
    bool found = rule_of[op] || ti_formula_of(op, NULL).cpu || op == TC_OP_reshape /* a view */ ||
                 op == TC_OP_while_loop /* jumps */ || op == TC_OP_function;
    for (size_t i = 0; i < tc_cpu_n_kernel && !found; i++)
        found = tc_cpu_kernels[i].op == op;
    return found;
}

int ti_cpu_by_address(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)*(const tc_node *const *)a, y = (uintptr_t)*(const tc_node *const *)b;
    return (x > y) - (x < y);
}

static bool is_listed(const tc_cpu_library *lib, const tc_node *node)
{
    return lib->n_real && bsearch(&node, lib->real, lib->n_real, sizeof node, ti_cpu_by_address);
}

/* Nothing is left to do for the node. */
static bool is_ready(const tc_cpu_library *lib, const tc_graph *g, const tc_node *node)
{
    if (node->op == TC_OP_const || node->op == TC_OP_call || ti_cpu_is_view(node))
        return true;
    bool codes = !ti_op_sees_storage(node->op) && ti_node_quantized(g, node);
    if (lib->takes_codes && (codes || node->op == TC_OP_rescale))
        return !is_listed(lib, node);
    if (codes && !moves_codes(node))
        return false;
    return lib->has(g, node);
}

static tc_cpu_form *form_of(const tc_cpu_library *lib, tc_op op)
{
    tc_cpu_form *own = lib->form ? lib->form(op) : NULL;
    return own ? own : rule_of[op] ? rule_of[op] : ti_cpu_form_formula;
}

static tc_status take(tc_rewrite *rw, const tc_node *node, bool *done)
{
    const tc_cpu_library *lib = rw->user;
    if (is_ready(lib, rw->from, node))
        return TC_OK;
    tc_build m = ti_build_instead(rw, node);
    bool sums = lib->takes_codes && ti_type_of(rw->from, node->out[0])->dtype == TC_i32;
    bool moved = moves_codes(node) && lib->form && lib->form(node->op) && !sums;
    bool typed = !ti_op_sees_storage(node->op) && ti_node_quantized(rw->from, node) && !moved;
    *done = typed ? rule_typed(&m) : form_of(lib, node->op)(&m);
    return m.status;
}

static tc_status no_kernel(tc_ctx *ctx, const tc_cpu_library *lib, const tc_graph *g,
                           const tc_node *node)
{
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const tc_type *type = ti_type_of(g, node->n_in ? node->in[0] : node->out[0]);
    tc_status status =
        ti_unsupported(ctx, node->loc, TC_E_UNSUPPORTED, "'%s' on %s has no %s",
                       tc_ops[node->op].name, type ? ti_type_text(&ctx->scratch, type) : "nothing",
                       lib->kernel);
    ti_arena_rewind(&ctx->scratch, mark);
    return status;
}

static bool is_read(const uint32_t *readers, const tc_node *node)
{
    for (int i = 0; i < node->n_out; i++)
        if (readers[node->out[i]])
            return true;
    return false;
}

/* Everything that has no kernel, and whose results are read, is reported, not only the first. */
static tc_status all_ready(tc_ctx *ctx, const tc_cpu_library *lib, const tc_graph *g)
{
    tc_status worst = TC_OK;
    tc_mark mark = ti_arena_mark(&ctx->scratch);
    const uint32_t *readers = ti_graph_readers(ctx, g);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (!is_ready(lib, g, node) && is_read(readers, node))
            worst = no_kernel(ctx, lib, g, node);
    }
    ti_arena_rewind(&ctx->scratch, mark);
    return worst;
}

static bool every_node_ready(const tc_cpu_library *lib, const tc_graph *g)
{
    for (size_t k = 0; k < g->n_node; k++)
        if (!is_ready(lib, g, g->node[k]))
            return false;
    return true;
}

/* ---- results and state ----------------------------------------------------------------------- */

static tc_val copy_of(tc_graph *g, tc_val v)
{
    tc_node *node = ti_graph_add(g, TC_OP_identity, NULL, &v, 1, 1,
                                 g->n_node ? g->node[g->n_node - 1]->loc : NULL);
    g->val[node->out[0]]->type = ti_type_of(g, v);
    return node->out[0];
}

/* The buffers are written when everything else is done: what still shows an old one is copied
 * before. */
static void save_from_writes(tc_module *module)
{
    tc_graph *g = ti_main(module);
    for (size_t i = 0; i < g->n_out; i++) {
        tc_val old = g->out[i];
        if (ti_cpu_buffer(g, ti_cpu_root(g, old)) < 0)
            continue;
        tc_val copy = copy_of(g, old);
        for (size_t k = i; k < g->n_out; k++)
            g->out[k] = g->out[k] == old ? copy : g->out[k];
        for (size_t k = 0; k < module->signature.n_out; k++)
            module->signature.out[k].val =
                module->signature.out[k].val == old ? copy : module->signature.out[k].val;
    }
    for (size_t i = 0; i < g->n_mutation; i++) {
        tc_mutation *change = &g->mutation[i];
        long other = ti_cpu_buffer(g, ti_cpu_root(g, change->after));
        if (other >= 0 && change->after != change->before)
            change->after = copy_of(g, change->after);
    }
}

/* The results of an iteration overwrite the state, one value after the other: one that aliases
 * another's old content is copied before. */
static void save_from_rounds(tc_graph *body)
{
    for (size_t i = 0; i < body->n_out; i++) {
        tc_val root = ti_cpu_root(body, body->out[i]);
        for (size_t k = 0; k < body->n_in; k++)
            if (body->in[k] == root && (k != i || body->out[i] != root)) {
                body->out[i] = copy_of(body, body->out[i]);
                break;
            }
    }
}

static tc_status plan_graph(tc_ctx *ctx, const tc_cpu_library *lib, tc_graph *g)
{
    static tc_rewriter *const rewriters[] = {take};
    for (int round = 0; round < MOST_ROUNDS && !every_node_ready(lib, g); round++)
        TC_TRY(ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), (void *)(uintptr_t)lib));
    TC_TRY(all_ready(ctx, lib, g));
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op != TC_OP_while_loop)
            continue;
        for (int i = 0; i < 2; i++)
            TC_TRY(plan_graph(ctx, lib, ti_node_callee(g->module, node, i)));
        save_from_rounds(ti_node_callee(g->module, node, 1));
    }
    return TC_OK;
}

tc_status ti_cpu_select(tc_ctx *ctx, tc_module *module, const tc_cpu_library *lib)
{
    TC_TRY(plan_graph(ctx, lib, ti_main(module)));
    save_from_writes(module);
    return TC_OK;
}

static bool has_kernel(const tc_graph *g, const tc_node *node)
{
    return node->op == TC_OP_while_loop || ti_cpu_kernel_for(g, node) != NULL;
}

tc_status ti_executorch_select_cpu_kernels(tc_ctx *ctx, tc_module *module)
{
    static const tc_cpu_library executorch = {has_kernel, NULL, "CPU kernel", .only_finite = true};
    return ti_cpu_select(ctx, module, &executorch);
}
