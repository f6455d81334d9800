/* SPDX-License-Identifier: Apache-2.0 */
/* same_quantization.c -- a model at another size is quantized as it was at the first one.
 *
 * At two sizes of its inputs a model is the same list of nodes with the same value ids; only
 * extents differ.  So decisions by value hold at every size: domains with their scales, and
 * corrected weights and biases.  Nothing is observed again. */
#include "../ir/build.h"
#include "mask_values.h"
#include "methods.h"

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
    for (size_t i = 0; i < copy->signature.n_in; i++)
        copy->signature.in[i].val = numbered(&m, copy->signature.in[i].val);
    for (size_t i = 0; i < copy->signature.n_out; i++)
        copy->signature.out[i].val = numbered(&m, copy->signature.out[i].val);
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

/* Constants of g equal to `before`'s become `after`'s; all three are one list of nodes. */
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

/* ---- corrected constants ---- */

/* Nodes except constants, in order: products may have got a bias that they did not have. */
typedef struct actors {
    const tc_node **node;
    size_t n;
} actors;

static actors actors_of(tc_ctx *ctx, const tc_graph *g)
{
    actors a = {tc_new_n(&ctx->arena, const tc_node *, g->n_node), 0};
    for (size_t k = 0; k < g->n_node; k++)
        if (g->node[k]->op != TC_OP_const)
            a.node[a.n++] = g->node[k];
    return a;
}

static bool same_actors(const actors *a, const actors *b)
{
    bool same = a->n == b->n;
    for (size_t k = 0; same && k < a->n; k++)
        same = a->node[k]->op == b->node[k]->op && a->node[k]->n_out == b->node[k]->n_out;
    return same;
}

/* A program, its form at the first size before its constants are corrected, and after. */
typedef struct correcting {
    const tc_graph *plain, *typed;
    actors own, before, after;
    size_t at;      /* the next of them */
    tc_map made;    /* a corrected constant's data => its value */
    size_t *stays;  /* by value: readers that keep it */
    size_t *reads;  /* and all of them */
} correcting;

static const tc_value *constant_at(const tc_graph *g, const tc_node *node, int i)
{
    tc_val v = i < node->n_in ? node->in[i] : TC_NONE;
    return v && ti_is_const(g, v) ? ti_value_of(g, v) : NULL;
}

/* The new operand i of actor k; NULL: unchanged.  One that depends on the size is. */
static const tc_value *corrected(const correcting *c, const tc_graph *g, size_t k, int i)
{
    const tc_value *own = constant_at(g, c->own.node[k], i),
                   *before = constant_at(c->plain, c->before.node[k], i),
                   *after = constant_at(c->typed, c->after.node[k], i);
    bool none = i >= c->own.node[k]->n_in || !c->own.node[k]->in[i];
    if (!after || (none ? before != NULL : !own || !before || !same_constant(own, before)))
        return NULL;
    return before && same_constant(before, after) ? NULL : after;
}

static tc_status give_corrected(tc_rewrite *rw, const tc_node *node, bool *done)
{
    correcting *c = rw->user;
    if (node->op == TC_OP_const) {
        *done = c->reads[node->out[0]] && !c->stays[node->out[0]];
        return TC_OK;
    }
    size_t k = c->at++;
    int n_in = c->after.node[k]->n_in;
    tc_val *in = tc_new_n(&rw->ctx->arena, tc_val, (size_t)n_in + 1);
    bool any = false;
    for (int i = 0; i < n_in; i++) {
        const tc_value *to = corrected(c, rw->from, k, i);
        bool has = i < node->n_in && node->in[i];
        in[i] = !to && has ? ti_rewrite_in(rw, node, i) : TC_NONE;
        if (!to)
            continue;
        void **made = ti_map_at(&c->made, (tc_str){(const char *)&to, sizeof to});
        if (!*made)
            *made = (void *)(uintptr_t)ti_graph_const(rw->to, to->type, to->data, to->name,
                                                      to->def->loc);
        in[i] = (tc_val)(uintptr_t)*made;
        any = true;
    }
    if (!any)
        return TC_OK;
    tc_build b = ti_build_instead(rw, node);
    return ti_b_again(&b, in, n_in, done);
}

/* Constants of g equal to `plain`'s become `typed`'s; false: they are different programs. */
static tc_status take_corrected(tc_ctx *ctx, tc_graph *g, const tc_graph *plain,
                                const tc_graph *typed, bool *alike)
{
    static tc_rewriter *const rewriters[] = {give_corrected};
    correcting c = {plain, typed, actors_of(ctx, g), actors_of(ctx, plain), actors_of(ctx, typed),
                    .stays = tc_new_n(&ctx->arena, size_t, g->n_val),
                    .reads = tc_new_n(&ctx->arena, size_t, g->n_val)};
    *alike = same_actors(&c.own, &c.before) && same_actors(&c.own, &c.after);
    if (!*alike)
        return TC_OK;
    ti_map_init(&c.made, &ctx->arena);
    for (size_t k = 0; k < c.own.n; k++)
        for (int i = 0; i < c.own.node[k]->n_in; i++) {
            c.reads[c.own.node[k]->in[i]]++;
            c.stays[c.own.node[k]->in[i]] += !corrected(&c, g, k, i);
        }
    for (size_t i = 0; i < g->n_out; i++)
        c.stays[g->out[i]]++;
    return ti_rewrite_graph(g, rewriters, TC_COUNT(rewriters), &c);
}

const tc_graph *ti_quant_largest(tc_module *module, const tc_module *largest)
{
    return largest && same_nodes(ti_main(module), ti_main(largest)) ? ti_main(largest) : NULL;
}

tc_status ti_quant_at_size(const tc_module *now, const tc_quant_request *request,
                           const tc_module *other, tc_graph **out)
{
    *out = NULL;
    if (!same_nodes(ti_main(request->asked), ti_main(other)))
        return TC_OK;
    tc_module *there = ti_module_copy(other), *here = ti_module_copy(request->asked);
    TC_TRY(ti_mask_repeat(there, request->masks));
    TC_TRY(ti_mask_repeat(here, request->masks));
    tc_graph *g = ti_main(there);
    if (!same_nodes(g, ti_main(now)) || !same_nodes(g, ti_main(here)))
        return TC_OK;
    take_constants(g, ti_main(here), ti_main(now));
    *out = g;
    return TC_OK;
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
    tc_config own = *config;
    if (as->stepped) {
        own.entry = as->stepped->entry;
        own.n_entry = own.cap_entry = as->stepped->n_entry;
    }
    config = &own;
    TC_TRY(ti_mask_repeat(module, &as->masks));
    tc_graph *g = ti_main(module);
    if (!same_nodes(g, ti_main(as->asked)))
        return unlike(ctx, g, ti_main(as->asked), "before quantization");
    tc_module *plain = ti_module_copy(as->real);
    TC_TRY(ti_quant_apply(ctx, plain, config, &as->domains));
    take_constants(g, ti_main(as->asked), ti_main(as->real));
    TC_TRY(ti_quant_apply(ctx, module, config, &as->domains));
    g = ti_main(module);
    bool alike;
    TC_TRY(take_corrected(ctx, g, ti_main(plain), ti_main(as->typed), &alike));
    return alike ? TC_OK : unlike(ctx, g, ti_main(as->typed), "quantized,");
}
