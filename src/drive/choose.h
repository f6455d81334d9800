/* SPDX-License-Identifier: Apache-2.0 */
/* choose.h -- formulations that passes offer, taken where they cost less.
 *
 * A list of passes may have "?name" in it.  Such a pass is run on a copy for each kind of place
 * that it acts on (offer.h) alone, and what the region costs then is compared with what it costs
 * without (price.h).  Kinds that cost more are left as they are.  The number of copies is bounded by
 * the nodes in them. */
#ifndef TC_CHOOSE_H
#define TC_CHOOSE_H

#include "passes.h"
#include "price.h"

typedef struct tc_verdict {
    const char *pass, *region;
    const tc_node *node; /* one of the places; NULL: it does not tell places apart */
    const char *shape;   /* what it makes there; NULL too */
    size_t places;
    double without, with; /* cycles of the region */
    bool taken;
} tc_verdict;

typedef struct tc_verdicts {
    tc_pricer *pricer;
    tc_verdict *choice;
    size_t n, cap;
} tc_verdicts;

/* By the machine's record; NULL: nothing is known of its costs, everything offered is taken. */
TC_MUST_USE tc_status ti_verdicts_for(tc_ctx *ctx, const tc_target *target, const char *ini,
                                     const char *system_config, const char *memory_mode,
                                     tc_verdicts **out);

/* Whether a module has few enough nodes for copies; in a larger one everything offered is taken. */
bool ti_choose_can(const tc_module *module);

/* The pass over a module, where it pays. */
TC_MUST_USE tc_status ti_choose(tc_ctx *ctx, tc_module *module, const tc_pass *pass,
                                tc_verdicts *choices);

/* A decision that was made elsewhere. */
void ti_verdicts_add(tc_ctx *ctx, tc_verdicts *choices, const tc_verdict *one);

/* What was offered, what it would cost, and what was taken: a table. */
void ti_verdicts_text(const tc_verdicts *choices, tc_buf *out);

#endif
