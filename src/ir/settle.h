/* SPDX-License-Identifier: Apache-2.0 */
/* settle.h -- shapes as values, and sizes that a TOSA 1.1 program leaves open. */
#ifndef TC_SETTLE_H
#define TC_SETTLE_H

#include "graph.h"

/* Some value's type has an open dimension (TC_OPEN). */
bool ti_module_open(const tc_module *module);

/* By value: what shapes hold, where that follows from constants and from types without open
 * dimensions; NULL: it does not, or the value is no shape.  In the arena. */
const int64_t **ti_known_shapes(tc_arena *arena, const tc_graph *g);

/* Whether known shapes that are not constants (ti_known_shapes) agree with the declared types;
 * asserted ones too.  The graph's types have been checked otherwise. */
TC_MUST_USE tc_status ti_check_shapes(tc_graph *g);

/* After the program's input types are fixed: infers all others.  Declared types stay where they are
 * not open, and have to agree with what the operators compute. */
TC_MUST_USE tc_status ti_settle(tc_module *module);

/* These values of a graph came without a rank, and have one of 0: infers the type of each; where it
 * cannot, the message has its name. */
TC_MUST_USE tc_status ti_settle_ranks(tc_graph *g, const tc_val *val, size_t n);

#endif
