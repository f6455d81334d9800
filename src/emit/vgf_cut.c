/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_cut.c -- a program whose operators of TOSA are between shaders, as a VGF file of several
 * segments is read: the operators become calls again, as vgf_program.c has them.
 *
 * A step is even for operators and odd for shaders and calls: the least after the steps of all
 * operands, the same step for operators that read each other.  The operators of one step are one
 * graph, since nothing between them depends on a shader.  Dead code is dropped. */
#include "vgf_graph.h"

typedef struct {
    tc_ctx *ctx;
    const tc_graph *from;
    tc_graph *to;
    tc_module *module;
    size_t *step;  /* by node of `from` */
    bool *live;    /* by node: an output needs it */
    size_t *of;    /* by value: the step of its node; inputs 0 */
    bool *shaded;  /* by value: made by a shader or a call */
    bool *leaves;  /* by value: read in another step, or an output */
    tc_val *now;   /* by value of `from`: what it is in `to` */
    size_t n_graph;
} cutter;

static bool is_operator(const tc_node *node)
{
    return node->op != TC_OP_const && node->op != TC_OP_call && node->op != TC_OP_tosa_shader;
}

static void find_live(cutter *c)
{
    const tc_graph *g = c->from;
    bool *read = tc_new_n(&c->ctx->arena, bool, g->n_val);
    for (size_t i = 0; i < g->n_out; i++)
        read[g->out[i]] = true;
    for (size_t k = g->n_node; k-- > 0;) {
        const tc_node *node = g->node[k];
        for (int i = 0; i < node->n_out; i++)
            c->live[k] = c->live[k] || read[node->out[i]];
        for (int i = 0; c->live[k] && i < node->n_in; i++)
            read[node->in[i]] = true;
    }
}

static size_t find_steps(cutter *c)
{
    const tc_graph *g = c->from;
    size_t last = 0;
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_const)
            continue;
        bool plain = is_operator(node);
        size_t step = plain ? 0 : 1;
        for (int i = 0; i < node->n_in; i++) {
            tc_val v = node->in[i];
            if (!v || ti_is_const(g, v) || !ti_def(g, v))
                continue;
            size_t after = c->of[v] + (plain ? c->shaded[v] : c->shaded[v] ? 2 : 1);
            step = after > step ? after : step;
        }
        c->step[k] = step;
        last = step > last ? step : last;
        for (int i = 0; i < node->n_out; i++) {
            c->of[node->out[i]] = step;
            c->shaded[node->out[i]] = !plain;
        }
    }
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; c->live[k] && i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i])
                c->leaves[g->node[k]->in[i]] |= c->of[g->node[k]->in[i]] != c->step[k];
    for (size_t i = 0; i < g->n_out; i++)
        c->leaves[g->out[i]] = true;
    return last;
}

/* A copy of the node, its operands by `now`. */
static void copy_node(const tc_graph *from, const tc_node *node, tc_graph *to, tc_val *now)
{
    tc_node *copy =
        ti_graph_add(to, node->op, node->attr, node->in, node->n_in, node->n_out, node->loc);
    for (int i = 0; i < node->n_in; i++)
        copy->in[i] = now[node->in[i]];
    for (int i = 0; i < node->n_out; i++) {
        const tc_value *old = ti_value_of(from, node->out[i]);
        tc_value *value = ti_value_of(to, copy->out[i]);
        value->type = old->type;
        value->name = old->name;
        value->image = old->image;
        now[node->out[i]] = copy->out[i];
    }
}

/* Operand v inside a graph: a constant is copied, any other is an input. */
static void bring(cutter *c, tc_graph *g, tc_val v, tc_val *inner, tc_val *operand, size_t *n)
{
    if (!v || inner[v])
        return;
    const tc_value *old = ti_value_of(c->from, v);
    if (ti_is_const(c->from, v)) {
        inner[v] = ti_graph_const(g, old->type, old->data, old->name, old->def->loc);
        return;
    }
    inner[v] = ti_graph_input(g, old->type, old->name);
    operand[(*n)++] = c->now[v];
}

/* The operators of a step as a graph, and its call. */
static void cut_graph(cutter *c, size_t step)
{
    const tc_graph *from = c->from;
    tc_arena *arena = &c->ctx->arena, *scratch = &c->ctx->scratch;
    tc_mark mark = ti_arena_mark(scratch);
    tc_val *inner = tc_new_n(scratch, tc_val, from->n_val);
    tc_val *operand = tc_new_n(scratch, tc_val, from->n_val);
    tc_val *result = tc_new_n(scratch, tc_val, from->n_val);
    size_t n_in = 0, n_out = 0;
    const tc_loc *loc = NULL;
    tc_graph *g = NULL;
    for (size_t k = 0; k < from->n_node; k++) {
        const tc_node *node = from->node[k];
        if (c->step[k] != step || !c->live[k] || !is_operator(node))
            continue;
        if (!g)
            g = ti_graph_new(c->module, ti_text_format(arena, "segment.%zu", c->n_graph++));
        loc = loc ? loc : node->loc;
        for (int i = 0; i < node->n_in; i++)
            bring(c, g, node->in[i], inner, operand, &n_in);
        copy_node(from, node, g, inner);
        for (int i = 0; i < node->n_out; i++)
            if (c->leaves[node->out[i]]) {
                result[n_out++] = node->out[i];
                ti_graph_output(g, inner[node->out[i]]);
            }
    }
    tc_node *call = NULL;
    if (g) {
        tc_attr_call *a = tc_new(arena, tc_attr_call);
        *a = (tc_attr_call){.graph = g->name, .target = "vgf"};
        call = ti_graph_add(c->to, TC_OP_call, a, operand, (int)n_in, (int)n_out, loc);
    }
    for (size_t i = 0; i < n_out; i++) {
        const tc_value *old = ti_value_of(from, result[i]);
        ti_value_of(c->to, call->out[i])->type = old->type;
        ti_value_of(c->to, call->out[i])->name = old->name;
        ti_value_of(c->to, call->out[i])->image = old->image;
        c->now[result[i]] = call->out[i];
    }
    ti_arena_rewind(scratch, mark);
}

/* Whether there are both operators of TOSA and shaders. */
bool ti_vgf_mixed(const tc_graph *g)
{
    bool operators = false, shaders = false;
    for (size_t k = 0; k < g->n_node; k++) {
        operators |= is_operator(g->node[k]);
        shaders |= g->node[k]->op == TC_OP_tosa_shader;
    }
    return operators && shaders;
}

tc_module *ti_vgf_cut(tc_ctx *ctx, const tc_module *module)
{
    const tc_graph *from = ti_main(module);
    cutter c = {.ctx = ctx, .from = from, .module = ti_module_new(ctx, module->file)};
    c.to = ti_graph_new(c.module, from->name);
    c.step = tc_new_n(&ctx->arena, size_t, from->n_node);
    c.live = tc_new_n(&ctx->arena, bool, from->n_node);
    c.of = tc_new_n(&ctx->arena, size_t, from->n_val);
    c.shaded = tc_new_n(&ctx->arena, bool, from->n_val);
    c.leaves = tc_new_n(&ctx->arena, bool, from->n_val);
    c.now = tc_new_n(&ctx->arena, tc_val, from->n_val);
    for (size_t i = 1; i < module->n_graph; i++) { /* what calls and branches run */
        tc_grow(&ctx->arena, c.module->graph, c.module->n_graph, c.module->cap_graph);
        c.module->graph[c.module->n_graph++] = module->graph[i];
    }
    for (size_t i = 0; i < from->n_in; i++) {
        c.now[from->in[i]] = ti_graph_input(c.to, ti_type_of(from, from->in[i]),
                                            ti_value_of(from, from->in[i])->name);
        ti_value_of(c.to, c.to->in[i])->image = ti_value_of(from, from->in[i])->image;
    }
    find_live(&c);
    size_t last = find_steps(&c);
    for (size_t k = 0; k < from->n_node; k++) { /* constants that shaders read, or outputs */
        const tc_node *node = from->node[k];
        const tc_value *old = node->op == TC_OP_const ? ti_value_of(from, node->out[0]) : NULL;
        if (old)
            c.now[node->out[0]] = ti_graph_const(c.to, old->type, old->data, old->name, node->loc);
    }
    for (size_t step = 0; step <= last; step++) {
        if (step % 2 == 0)
            cut_graph(&c, step);
        for (size_t k = 0; step % 2 && k < from->n_node; k++)
            if (c.step[k] == step && c.live[k] && from->node[k]->op != TC_OP_const)
                copy_node(from, from->node[k], c.to, c.now);
    }
    for (size_t i = 0; i < from->n_out; i++)
        ti_graph_output(c.to, c.now[from->out[i]]);
    return c.module;
}
