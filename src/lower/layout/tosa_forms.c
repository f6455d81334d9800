/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_forms.c -- see tosa_forms.h. */
#include "tosa_forms.h"

bool ti_has_integer_weights(const tc_graph *g, const tc_node *node)
{
    return ti_is_const(g, node->in[1]) && ti_type_of(g, node->in[1])->dtype == TC_i8 &&
           tc_type_count(ti_type_of(g, node->out[0])) > 0;
}
