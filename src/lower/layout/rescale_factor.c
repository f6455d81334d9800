/* SPDX-License-Identifier: Apache-2.0 */
/* rescale_factor.c -- see rescale_factor.h. */
#include "rescale_factor.h"

#include "../../num/load.h"

bool ti_read_rescale_factor(const tc_graph *g, const tc_node *node, tc_rescale_factor *c)
{
    if (!node || node->op != TC_OP_tosa_rescale)
        return false;
    const tc_attr_tosa_rescale *a = node->attr;
    for (int i = 1; i < 5; i++)
        if (!ti_is_const(g, node->in[i]))
            return false;
    if (tc_type_count(ti_type_of(g, node->in[1])) != 1 || !a->scale32 || a->input_unsigned ||
        a->output_unsigned)
        return false;
    *c = (tc_rescale_factor){node, ti_load_i64(ti_tensor_of(g, node->in[1]), 0),
                             ti_load_i64(ti_tensor_of(g, node->in[2]), 0)};
    return true;
}

int64_t ti_whole_factor(const tc_rescale_factor *c)
{
    int64_t one = INT64_C(1) << c->shift;
    return c->multiplier % one == 0 && c->multiplier / one <= INT16_MAX ? c->multiplier / one : 0;
}
