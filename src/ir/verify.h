/* SPDX-License-Identifier: Apache-2.0 */
/* verify.h -- what holds of a graph, and whether it does. */
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
extern const uint32_t tc_facts_told; /* those that no look at a graph shows */

/* The facts that a look at each node and value shows to hold so far; TYPED: that
 * types are there. */
uint32_t ti_facts_seen(const tc_graph *g);

/* Structure, and one check per fact that the graphs claim or show.  Everything that is found is
 * reported, at the place its author knows. */
TC_MUST_USE tc_status ti_verify(tc_ctx *ctx, tc_module *module);

/* Places that are constants lie inside the axes they name; on failure a message has been given. */
TC_MUST_USE tc_status ti_check_places(const tc_module *module);

#endif
