/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h -- constant values while a graph is read.
 *
 * Shapes in a file often depend on its constants: a builder made by ti_build_folding folds
 * operators on small constants at once, so that shape arithmetic leaves no nodes, and ti_b_known
 * gives a value that follows from constants. */
#ifndef TC_FACTS_H
#define TC_FACTS_H

#include "../ir/build.h"

/* What is known of a graph's values while it is being built. */
struct tc_facts {
    const tc_tensor *given; /* by input of the graph: values that it is read for, or no data */
    bool *used;             /* by input: a shape follows from them */
    size_t n_given;
    tc_tensor *at; /* by value: computed once */
    size_t cap;
};

/* A builder that folds; facts begin as zeros. */
tc_build ti_build_folding(tc_ctx *ctx, tc_graph *g, const tc_loc *loc, tc_facts *facts);

/* The elements of x if they follow from constants; else false. */
bool ti_b_known(tc_build *b, tc_val x, tc_tensor *out);
/* The same, or from the values that the model is read for; the inputs involved are fixed. */
bool ti_b_settled(tc_build *b, tc_val x, tc_tensor *out);

/* The indices of what is not zero, in order: [rank, how many]; by_row: [how many, rank]. */
tc_tensor ti_b_nonzero(tc_build *b, tc_tensor t, bool by_row);

/* Inputs whose values determined shapes: the module is valid for these values only. */
void ti_facts_note_fixed(const tc_facts *f, tc_module *module);

#endif
