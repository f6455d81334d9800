/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h -- constant values while a graph is read.
 *
 * Shapes of a file often follow from its numbers: a builder made by ti_build_folding computes
 * operators on small constants at once, so that shape arithmetic leaves no nodes behind, and
 * ti_b_known says what a value is where it follows from constants. */
#ifndef TC_FACTS_H
#define TC_FACTS_H

#include "../ir/build.h"

/* What is known of a graph's values while it is being built. */
struct tc_facts {
    const tc_tensor *given; /* by input of the graph: numbers that it is read for, or no data */
    bool *used;             /* by input: a shape follows from them */
    size_t n_given;
    tc_tensor *at; /* by value: computed once */
    size_t cap;
};

/* A builder that folds; facts begin as zeros. */
tc_build ti_build_folding(tc_ctx *ctx, tc_graph *g, const tc_loc *loc, tc_facts *facts);

/* The numbers of x where they follow from constants; false when they do not. */
bool ti_b_known(tc_build *b, tc_val x, tc_tensor *out);
/* The same, or from the numbers that the model is read for; the inputs that took part are fixed. */
bool ti_b_settled(tc_build *b, tc_val x, tc_tensor *out);

/* The indices of what is not zero, in order: [rank, how many]; by_row: [how many, rank]. */
tc_tensor ti_b_nonzero(tc_build *b, tc_tensor t, bool by_row);

/* Inputs from whose numbers shapes followed: the module is good for these numbers only. */
void ti_facts_note_fixed(const tc_facts *f, tc_module *module);

#endif
