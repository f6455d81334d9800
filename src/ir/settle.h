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

/* Whether what shapes decide is as declared, where they are known (ti_known_shapes) but are no
 * constants; asserted ones too.  The graph's types have been checked else. */
TC_MUST_USE tc_status ti_check_shapes(tc_graph *g);

/* The types of the program's inputs have been settled: gives every other value its own.  What a
 * file declares stays where it is not open, and has to be what the operators compute. */
TC_MUST_USE tc_status ti_settle(tc_module *module);

/* These values of a graph came without a rank, and have one of 0: gives each the type that its
 * operator makes, where that is decided; else the message has its name. */
TC_MUST_USE tc_status ti_settle_ranks(tc_graph *g, const tc_val *val, size_t n);

#endif
