/* SPDX-License-Identifier: Apache-2.0 */
/* color.c -- asks about each node, and which level it stands on.
 *
 * Levels keep the order: whatever the accelerator computes on level k needs from the CPU only what
 * the CPU computes on levels up to k, which needs from the accelerator only levels below.
 *
 *   accelerator node:  the highest level among its operands
 *   CPU node:          the highest of its CPU operands' levels and its accelerator operands' levels
 * + 1
 *
 * So all accelerator nodes of one level can be one region. */
#include "color.h"

/* A name: the node's own, its result's, or the operator, PyTorch's or ours. */
static bool is_named(const tc_graph *g, const tc_node *node, const char *name)
{
    const tc_loc *loc = node->loc;
    if (tc_text_eq(tc_ops[node->op].name, name) || (loc->node && tc_text_eq(loc->node, name)))
        return true;
    if (loc->target) {
        size_t n = strlen(name);
        const char *target = strncmp(loc->target, "aten.", 5) == 0 ? loc->target + 5 : loc->target;
        if (tc_text_eq(loc->target, name) || tc_text_eq(target, name) ||
            (strncmp(target, name, n) == 0 && target[n] == '.'))
            return true;
    }
    for (int i = 0; i < node->n_out; i++)
        if (g->val[node->out[i]]->name && tc_text_eq(g->val[node->out[i]]->name, name))
            return true;
    return false;
}

static tc_status kept_on_cpu(tc_ctx *ctx, const tc_graph *g, const tc_split_request *r, tc_color *c)
{
    for (size_t i = 0; i < r->n_cpu; i++) {
        bool any = false;
        for (size_t k = 0; k < g->n_node; k++)
            if (is_named(g, g->node[k], r->cpu[i])) {
                any = true;
                c->why[k] = "the command line says so";
            }
        if (!any)
            return tc_usage(ctx, "--cpu: no node and no operator of the model is called '%s'",
                            r->cpu[i]);
    }
    return TC_OK;
}

tc_status tc_split_color(tc_ctx *ctx, const tc_graph *g, const tc_split_request *r, tc_color *c)
{
    *c = (tc_color){tc_new_n(&ctx->arena, tc_place, g->n_node),
                    tc_new_n(&ctx->arena, const char *, g->n_node),
                    tc_new_n(&ctx->arena, uint32_t, g->n_node)};
    TC_TRY(kept_on_cpu(ctx, g, r, c));
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        if (node->op == TC_OP_const)
            c->place[k] = TC_PLACE_ANYWHERE;
        else if (!c->why[k] && r->ask(r->who, g, node, &c->why[k]))
            c->place[k] = TC_PLACE_ACCELERATOR;
    }
    return TC_OK;
}

uint32_t tc_split_levels(tc_ctx *ctx, const tc_graph *g, tc_color *c)
{
    tc_mark mark = tc_arena_mark(&ctx->scratch);
    uint32_t *of = tc_new_n(&ctx->scratch, uint32_t, g->n_val), most = 0;
    bool *made_there = tc_new_n(&ctx->scratch, bool, g->n_val);
    for (size_t k = 0; k < g->n_node; k++) {
        const tc_node *node = g->node[k];
        bool there = c->place[k] == TC_PLACE_ACCELERATOR;
        uint32_t level = 0;
        for (int i = 0; i < node->n_in; i++) {
            uint32_t at = of[node->in[i]] + (!there && made_there[node->in[i]]);
            level = at > level ? at : level;
        }
        for (int i = 0; i < node->n_out; i++) {
            of[node->out[i]] = level;
            made_there[node->out[i]] = there;
        }
        c->level[k] = level;
        most = level > most ? level : most;
    }
    tc_arena_rewind(&ctx->scratch, mark);
    return most + 1;
}
