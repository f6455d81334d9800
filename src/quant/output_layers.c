/* SPDX-License-Identifier: Apache-2.0 */
/* output_layers.c -- the last layers, whose results are outputs, keep weights of 8 bits.
 *
 * No later layer can compensate their errors, and a language model's last layer decides between
 * almost equally likely tokens.  The embedding, which is often the same tensor, is a table of
 * values and has the activations' bits. */
#include "quantizer.h"

#include "role.h"

/* The product that makes v, directly or moved; NULL: another operator does. */
static const tc_node *maker_of(const tc_graph *g, tc_val v)
{
    const tc_node *def = ti_def(g, v);
    while (def && ti_role_moves(def) && def->n_in >= 1 && def->in[0])
        def = ti_def(g, def->in[0]);
    return def && (def->op == TC_OP_linear || def->op == TC_OP_conv) ? def : NULL;
}

tc_config ti_quant_output_layers(tc_ctx *ctx, const tc_graph *g, const tc_config *config)
{
    tc_config own = *config, eight;
    if (!config->head8 || !ti_config_preset("a16w8", &eight))
        return own;
    tc_setting weight = eight.global.weight;
    own.cap_entry = own.n_entry; /* entries are the caller's: grown ones are a copy */
    for (size_t i = 0; i < g->n_out; i++) {
        const tc_node *node = maker_of(g, g->out[i]);
        const char *value = node ? g->val[node->out[0]]->name : NULL,
                   *name = node && node->loc && node->loc->node ? node->loc->node : value;
        tc_config_entry entry = {TC_LEVEL_node, name, .weight = ti_patch_all(&weight)};
        entry.weight.has |= TC_HAS_OBSERVER;
        if (name && ti_config_weights_free(&own, node->loc, value))
            ti_config_add(ctx, &own, entry);
    }
    return own;
}
