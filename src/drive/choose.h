/* SPDX-License-Identifier: Apache-2.0 */
/* choose.h -- formulations that passes offer, taken where they cost less.
 *
 * A list of passes may have "?name" in it.  Such a pass is run on a copy for each kind of place
 * that it acts on (offer.h) alone, and what the region would cost then is estimated beside what it
 * costs without.  Kinds that cost more are left as they are.  The estimate is of the target's
 * machine and deterministic; the number of copies is bounded by the nodes in them. */
#ifndef TC_CHOOSE_H
#define TC_CHOOSE_H

#include "../npu/system.h"
#include "passes.h"

typedef struct tc_verdict {
    const char *pass, *region;
    const tc_node *node; /* one of the places; NULL: it does not tell places apart */
    const char *shape;   /* what it makes there; NULL too */
    size_t places;
    double without, with; /* cycles of the region */
    bool taken;
} tc_verdict;

typedef struct tc_verdicts {
    const tc_npu_machine *machine; /* whose costs decide */
    tc_npu_system system;
    struct tc_estimate_memo *memo;
    tc_verdict *choice;
    size_t n, cap;
} tc_verdicts;

/* By the machine's record; NULL: nothing is known of its costs, everything offered is taken. */
TC_MUST_USE tc_status ti_verdicts_for(tc_ctx *ctx, const tc_target *target, const char *ini,
                                     const char *system_config, const char *memory_mode,
                                     tc_verdicts **out);

/* The pass over a module, where it pays. */
TC_MUST_USE tc_status ti_choose(tc_ctx *ctx, tc_module *module, const tc_pass *pass,
                                tc_verdicts *choices);

/* A decision that was made elsewhere. */
void ti_verdicts_add(tc_ctx *ctx, tc_verdicts *choices, const tc_verdict *one);

/* What was offered, what it would cost, and what was taken: a table. */
void ti_verdicts_text(const tc_verdicts *choices, tc_buf *out);

#endif
