/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_forms.h -- what the passes share that give TOSA operators a cheaper form, bit-exact: they
 * append nodes as rules do (put.h). */
#ifndef TC_TOSA_FORMS_H
#define TC_TOSA_FORMS_H

#include "../../ir/rewrite.h"
#include "../lower_pass.h"
#include "../put.h"

/* A convolution with constant weights of i8, and a result that is not empty. */
bool ti_has_integer_weights(const tc_graph *g, const tc_node *node);

/* The root of v's group (union-find): a root is its own.  Paths are compressed. */
static inline tc_val ti_group_of(tc_val *root, tc_val v)
{
    while (root[v] != v)
        v = root[v] = root[root[v]];
    return v;
}

#endif
