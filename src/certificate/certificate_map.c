/* SPDX-License-Identifier: Apache-2.0 */
/* certificate_map.c -- line of Python, operator of the model, operator of TOSA, command: a row for each operator of TOSA, and for
 * each operator of the model that no region has. */
#include "certificate.h"

static void put_loc(tc_json_out *out, const tc_loc *loc)
{
    tc_json_put(out, TC_J_IF("line", loc->place), TC_J_IF("operator", loc->node),
                TC_J_IF("target", loc->target), TC_J_IF("module", loc->module));
}

/* Where a command of the region's stream stands in the file's. */
static size_t word_in_file(const tc_npu_moved *moved, size_t word)
{
    for (size_t i = 0; moved && i < moved->n; i++)
        if (moved->from[i] == word)
            return moved->to[i];
    return word;
}

/* Words of the file's stream at which its commands stand. */
static void put_commands(tc_json_out *out, const tc_codegen_result *own, const tc_npu_moved *moved, const tc_node *node)
{
    bool any = false;
    for (size_t i = 0; own && !own->refused && i < own->n_origin; i++)
        if (own->origin[i].node == node) {
            if (!any)
                ti_json_open(out, "commands", '[');
            any = true;
            ti_json_put_int(out, NULL, (int64_t)word_in_file(moved, own->origin[i].word));
        }
    if (any)
        ti_json_close(out, ']');
}

void ti_certificate_map(const tc_compiled *c, tc_json_out *out)
{
    ti_json_open(out, "map", '[');
    for (size_t r = 0; r < c->n_region; r++) {
        const tc_graph *g = ti_main(c->region[r].module);
        for (size_t k = 0; k < g->n_node; k++) {
            if (g->node[k]->op == TC_OP_const)
                continue;
            ti_json_open(out, NULL, '{');
            put_loc(out, g->node[k]->loc);
            tc_json_put(out, TC_J("region", c->region[r].name), TC_J("tosa", tc_ops[g->node[k]->op].name));
            put_commands(out, c->region[r].own, c->written.moved ? &c->written.moved[r] : NULL, g->node[k]);
            ti_json_close(out, '}');
        }
    }
    for (size_t i = 0; i < c->split.n_left; i++) {
        const tc_split_left *l = &c->split.left[i];
        ti_json_open(out, NULL, '{');
        put_loc(out, l->node->loc);
        tc_json_put(out, TC_J("cpu", tc_ops[l->node->op].name), TC_J("why", l->why));
        ti_json_close(out, '}');
    }
    ti_json_close(out, ']');
}
