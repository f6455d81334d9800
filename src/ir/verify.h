/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h -- facts of a graph, and their checks. */
#ifndef TC_VERIFY_H
#define TC_VERIFY_H

#include "graph.h"

enum {
#define FACT(name, how, doc) TC_FACT_BIT_##name,
#include "fact.def"
    TC_FACT_COUNT
};
enum {
#define FACT(name, how, doc) TC_FACT_##name = 1 << TC_FACT_BIT_##name,
#include "fact.def"
};
extern const char *const tc_fact_names[TC_FACT_COUNT];
extern const char *const tc_fact_docs[TC_FACT_COUNT];
extern const uint32_t tc_facts_told; /* those that cannot be checked on a graph */

/* The facts that hold of every node and value so far; TYPED: that types are there. */
uint32_t ti_facts_seen(const tc_graph *g);

/* Structure, and one check per fact that the graphs claim or show.  All failures are reported, with
 * the node's location. */
TC_MUST_USE tc_status ti_verify(tc_ctx *ctx, tc_module *module);

/* Constant indices are inside the axes they index; on failure a message has been given. */
TC_MUST_USE tc_status ti_check_places(const tc_module *module);

#endif
