/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_forms.h -- what the passes share that give TOSA operators a cheaper form, bit-exact: they
 * append nodes as rules do (put.h). */
#ifndef TC_TOSA_FORMS_H
#define TC_TOSA_FORMS_H

#include "../../ir/rewrite.h"
#include "../lower_pass.h"
#include "../put.h"

/* A copy of an i8, by a multiplication with one: a quarter of a cycle each on machines that copy in
 * half a one, for the actual channels instead of the next multiple of 16. */
tc_val ti_put_copy(tc_build *lw, tc_val x);

/* A constant's elements with `more` of `fill` after those of an axis; any element of 1, 2 or 4
 * bytes. */
tc_val ti_put_padded(tc_build *lw, tc_val constant, int axis, int64_t more, int64_t fill);

/* The only number of a constant of one number. */
int64_t ti_only_number(const tc_graph *g, tc_val constant);

/* A convolution with constant weights of i8, and a result that is not empty. */
bool ti_has_integer_weights(const tc_graph *g, const tc_node *node);

/* One rewriter over every graph. */
TC_MUST_USE tc_status ti_rewrite_offered(tc_module *module, tc_rewriter *rewriter);

/* The root of v's group (union-find): a root is its own.  Paths are compressed. */
static inline tc_val ti_group_of(tc_val *root, tc_val v)
{
    while (root[v] != v)
        v = root[v] = root[root[v]];
    return v;
}

#endif
