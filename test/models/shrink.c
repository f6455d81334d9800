/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.c -- the smallest model that fails as a large one does.
 *
 * Edits, tried one after the other until none of them leaves the failure as it was: an output goes
 * or becomes an operand of its node, a node's results become inputs, a node becomes one of its
 * operands, a buffer stays as it is. */
#include "models.h"

#include "drive/passes.h"
#include "ir/ir_text.h"
#include "ir/verify.h"

#include <stdio.h>

typedef enum edit_kind { DROP_OUTPUT, RAISE_OUTPUT, CUT_NODE, BYPASS_NODE, STILL_BUFFER } edit_kind;

typedef struct edit {
    edit_kind kind;
    size_t at;
    int operand;
} edit;

static void use_instead(tc_graph *g, tc_val old, tc_val new)
{
    for (size_t k = 0; k < g->n_node; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i] == old)
                g->node[k]->in[i] = new;
    for (size_t i = 0; i < g->n_out; i++)
        if (g->out[i] == old)
            g->out[i] = new;
    for (size_t i = 0; i < g->n_mutation; i++)
        if (g->mutation[i].after == old)
            g->mutation[i].after = new;
}

static bool apply(tc_graph *g, const edit *e)
{
    tc_node *node = e->at < g->n_node ? g->node[e->at] : NULL;
    switch (e->kind) {
    case DROP_OUTPUT:
        if (g->n_out < 2 || e->at >= g->n_out)
            return false;
        memmove(&g->out[e->at], &g->out[e->at + 1], (g->n_out - e->at - 1) * sizeof *g->out);
        g->n_out--;
        return true;
    case RAISE_OUTPUT:
        node = e->at < g->n_out ? ti_def(g, g->out[e->at]) : NULL;
        if (!node || e->operand >= node->n_in || !node->in[e->operand])
            return false;
        g->out[e->at] = node->in[e->operand];
        return true;
    case CUT_NODE:
        if (!node || node->op == TC_OP_const)
            return false;
        for (int i = 0; i < node->n_out; i++)
            use_instead(g, node->out[i],
                        ti_graph_input(g, ti_type_of(g, node->out[i]), NULL));
        return true;
    case BYPASS_NODE:
        if (!node || node->op == TC_OP_const || e->operand >= node->n_in || !node->in[e->operand] ||
            ti_type_of(g, node->in[e->operand]) != ti_type_of(g, node->out[0]))
            return false;
        use_instead(g, node->out[0], node->in[e->operand]);
        return true;
    case STILL_BUFFER:
        if (e->at >= g->n_mutation)
            return false;
        g->mutation[e->at] = g->mutation[--g->n_mutation];
        return true;
    }
    return false;
}

/* Inputs that nobody reads go; one stays. */
static void forget_inputs(tc_graph *g)
{
    size_t n = 0;
    for (size_t i = 0; i < g->n_in; i++) {
        bool read = false;
        for (size_t k = 0; k < g->n_node; k++)
            for (int j = 0; j < g->node[k]->n_in; j++)
                read = read || g->node[k]->in[j] == g->in[i];
        for (size_t k = 0; k < g->n_out; k++)
            read = read || g->out[k] == g->in[i];
        for (size_t k = 0; k < g->n_mutation; k++)
            read = read || g->mutation[k].after == g->in[i];
        if (!read && (n || i + 1 < g->n_in))
            continue;
        g->val[g->in[i]]->index = (int)n;
        g->in[n++] = g->in[i];
    }
    g->n_in = n;
}

/* The text after an edit; empty when the edit does not apply or leaves no valid graph. */
static tc_buf edited(tc_ctx *keeper, tc_bytes text, const edit *e)
{
    tc_ctx *ctx = tc_ctx_new();
    tc_buf out, made;
    tc_module *m;
    ti_buf_init(&out, &keeper->arena);
    ti_buf_init(&made, &ctx->arena);
    if (ti_parse(ctx, "model", text, (tc_bytes){NULL, 0}, &m) == TC_OK &&
        ti_infer_missing(ctx, m) == TC_OK && apply(ti_main(m), e) &&
        ti_run_passes(ctx, m, "remove-dead-code", NULL) == TC_OK) {
        forget_inputs(ti_main(m));
        ti_print(m, &(tc_print_options){.locs = false}, &made);
        ti_buf_put(&out, made.data, made.size);
    }
    tc_ctx_free(ctx);
    return out;
}

/* Wrong and broken in the same stage; signals and hangs are what they are. */
static bool alike(const finding *a, const finding *b)
{
    const char *end = strchr(a->words, ':');
    bool staged = (a->what == WRONG || a->what == BROKEN) && end;
    return a->what == b->what &&
           (!staged || strncmp(a->words, b->words, (size_t)(end - a->words)) == 0);
}

tc_buf shrink_model(tc_ctx *ctx, tc_bytes text, const char *target, const finding *first)
{
    static const struct {
        edit_kind kind;
        size_t most;
        int operands;
    } plan[] = {{DROP_OUTPUT, 8, 1}, {STILL_BUFFER, 4, 1}, {RAISE_OUTPUT, 8, 4},
                {CUT_NODE, 120, 1},  {BYPASS_NODE, 120, 3}};
    tc_buf best;
    ti_buf_init(&best, &ctx->arena);
    ti_buf_put(&best, text.data, text.size);
    for (bool smaller = true; smaller;) {
        smaller = false;
        for (size_t p = 0; p < TC_COUNT(plan); p++)
            for (size_t at = plan[p].most; at--;)
                for (int operand = 0; operand < plan[p].operands; operand++) {
                    edit e = {plan[p].kind, at, operand};
                    tc_buf next = edited(ctx, (tc_bytes){best.data, best.size}, &e);
                    if (!next.size || next.size >= best.size)
                        continue;
                    finding now = try_model((const char *)next.data, next.size, target, "", NULL);
                    if (alike(first, &now)) {
                        best = next;
                        smaller = true;
                    }
                }
    }
    return best;
}
