/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_names.c -- what values are called in a VGF file: as their author called them.
 *
 * A value's own name, or the name of the PyTorch node that it comes from: of the several TOSA
 * operators that one such node becomes, the last one bears it. */
#include "vgf_graph.h"

/* A generated name: the operator and a number: "t7", "tosa_rescale_default_7". */
static bool is_counter(const char *name, const tc_node *def)
{
    if (*name == 't' && name[1] != 0 && strspn(name + 1, "0123456789") == strlen(name + 1))
        return true;
    if (!def || !ti_text_starts(name, tc_ops[def->op].name))
        return false;
    const char *rest = name + strlen(tc_ops[def->op].name);
    rest += ti_text_starts(rest, "_default") ? strlen("_default") : 0;
    return strspn(rest, "_0123456789") == strlen(rest);
}

/* The last operator of each PyTorch node, by the node's name. */
static void find_last(const tc_graph *g, tc_map *last)
{
    for (size_t i = 0; i < g->n_node; i++)
        if (g->node[i]->op != TC_OP_const && g->node[i]->loc->node)
            *ti_map_at(last, ti_str_of(g->node[i]->loc->node)) = g->node[i];
}

const char **ti_vgf_names(tc_ctx *ctx, const tc_graph *g)
{
    const char **name = tc_new_n(&ctx->arena, const char *, g->n_val);
    tc_map last;
    ti_map_init(&last, &ctx->scratch);
    find_last(g, &last);
    for (size_t i = 1; i < g->n_val; i++) {
        const tc_value *v = g->val[i];
        const char *own = v->name && *v->name ? v->name : NULL;
        if (!own && v->def && v->def->loc->node && v->def->n_out == 1 &&
            ti_map_get(&last, ti_str_of(v->def->loc->node)) == v->def)
            own = v->def->loc->node;
        name[i] = own && *own && !is_counter(own, v->def) ? own : NULL;
    }
    return name;
}
