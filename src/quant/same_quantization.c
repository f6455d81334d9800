/* SPDX-License-Identifier: Apache-2.0 */
/* same_quantization.c -- a model at another size is quantized as it was at the first one.
 *
 * At two sizes of its inputs a model is the same list of nodes with the same numbers of values, and
 * only extents differ.  So what was decided by value holds at every size: domains with their scales,
 * and weights and biases as they were corrected there.  Nothing is observed a second time. */
#include "methods.h"
#include "quantizer.h"

static bool same_nodes(const tc_graph *a, const tc_graph *b)
{
    bool same = a->n_node == b->n_node && a->n_val == b->n_val && a->n_in == b->n_in &&
                a->n_out == b->n_out && a->n_mutation == b->n_mutation;
    for (size_t k = 0; same && k < a->n_node; k++) {
        const tc_node *x = a->node[k], *y = b->node[k];
        same = x->op == y->op && x->n_in == y->n_in && x->n_out == y->n_out &&
               (!x->n_in || !memcmp(x->in, y->in, (size_t)x->n_in * sizeof *x->in)) &&
               (!x->n_out || !memcmp(x->out, y->out, (size_t)x->n_out * sizeof *x->out));
    }
    for (size_t i = 0; same && i < a->n_out; i++)
        same = a->out[i] == b->out[i];
    return same;
}

/* ---- numbers of values ---- */

typedef struct numbers {
    const tc_graph *g;
    tc_val *now; /* by old number */
    tc_value **val;
    tc_val n;
} numbers;

static tc_val numbered(numbers *m, tc_val v)
{
    if (!v || m->now[v])
        return v ? m->now[v] : TC_NONE;
    m->val[m->n] = m->g->val[v];
    return m->now[v] = m->n++;
}

void ti_quant_number_values(tc_module *module)
{
    tc_module *copy = ti_module_clone(module);
    tc_graph *g = ti_main(copy);
    tc_arena *arena = &module->ctx->arena;
    numbers m = {g, tc_new_n(arena, tc_val, g->n_val + 1),
                 tc_new_n(arena, tc_value *, g->n_val + 1), 1};
    for (size_t i = 0; i < g->n_in; i++)
        g->in[i] = numbered(&m, g->in[i]);
    for (size_t k = 0; k < g->n_node; k++) {
        tc_node *node = g->node[k];
        for (int i = 0; i < node->n_in; i++)
            node->in[i] = numbered(&m, node->in[i]);
        for (int i = 0; i < node->n_out; i++)
            node->out[i] = numbered(&m, node->out[i]);
    }
    for (size_t i = 0; i < g->n_out; i++)
        g->out[i] = numbered(&m, g->out[i]);
    for (size_t i = 0; i < g->n_mutation; i++) {
        g->mutation[i].before = numbered(&m, g->mutation[i].before);
        g->mutation[i].after = numbered(&m, g->mutation[i].after);
    }
    for (size_t i = 0; i < copy->n_in_port; i++)
        copy->in_port[i].val = numbered(&m, copy->in_port[i].val);
    for (size_t i = 0; i < copy->n_out_port; i++)
        copy->out_port[i].val = numbered(&m, copy->out_port[i].val);
    g->val = m.val;
    g->n_val = m.n;
    g->cap_val = g->n_val;
    ti_quant_take_over(module, copy);
}

static bool same_constant(const tc_value *a, const tc_value *b)
{
    return a->type == b->type &&
           (a->data == b->data || !memcmp(a->data, b->data, tc_type_bytes(a->type)));
}

/* Constants of g that are what `before` has become what `after` has; all three are one list of
 * nodes. */
static void take_constants(tc_graph *g, const tc_graph *before, const tc_graph *after)
{
    for (size_t k = 0; k < g->n_node; k++) {
        tc_val v = g->node[k]->out ? g->node[k]->out[0] : TC_NONE;
        if (g->node[k]->op != TC_OP_const || !same_constant(g->val[v], before->val[v]))
            continue;
        tc_value *copy = ti_arena_copy(&g->module->ctx->arena, g->val[v], sizeof *copy);
        copy->type = after->val[v]->type;
        copy->data = after->val[v]->data;
        g->val[v] = copy;
    }
}

const tc_graph *ti_quant_largest(tc_module *module, const tc_module *largest)
{
    return largest && same_nodes(ti_main(module), ti_main(largest)) ? ti_main(largest) : NULL;
}

tc_graph *ti_quant_at_size(const tc_module *now, const tc_graph *asked, const tc_module *other)
{
    if (!same_nodes(ti_main(now), ti_main(other)) || !same_nodes(asked, ti_main(other)))
        return NULL;
    tc_graph *g = ti_main(ti_module_copy(other));
    take_constants(g, asked, ti_main(now));
    return g;
}

static tc_status unlike(tc_ctx *ctx, const tc_graph *g, const tc_graph *first, const char *when)
{
    const tc_loc *loc = NULL;
    for (size_t k = 0; k < g->n_node && k < first->n_node && !loc; k++)
        if (g->node[k]->op != first->node[k]->op)
            loc = g->node[k]->loc;
    tc_status status = ti_unsupported(
        ctx, loc, TC_E_DYNAMIC,
        "%s the program has other operators at this size than at the first one (%zu and %zu), so "
        "it cannot be quantized as it was there", when, g->n_node, first->n_node);
    ti_note(ctx, NULL, "compile each size by itself, with --dim NAME=VALUE and data of that size");
    return status;
}

tc_status ti_quantize_as(tc_ctx *ctx, tc_module *module, const tc_config *config,
                         const tc_quant_record *as)
{
    tc_graph *g = ti_main(module);
    if (!same_nodes(g, ti_main(as->asked)))
        return unlike(ctx, g, ti_main(as->asked), "before quantization");
    tc_module *plain = ti_module_copy(as->real);
    TC_TRY(ti_quant_apply(ctx, plain, config, &as->domains));
    take_constants(g, ti_main(as->asked), ti_main(as->real));
    TC_TRY(ti_quant_apply(ctx, module, config, &as->domains));
    g = ti_main(module);
    if (!same_nodes(g, ti_main(plain)) || !same_nodes(g, ti_main(as->typed)))
        return unlike(ctx, g, ti_main(as->typed), "quantized,");
    take_constants(g, ti_main(plain), ti_main(as->typed));
    return TC_OK;
}
