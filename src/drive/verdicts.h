/* SPDX-License-Identifier: Apache-2.0 */
/* verdicts.h -- what was decided by cycles while regions were made, for reports: tilings of regions
 * (own_backend.c), forms of operations (codegen/form.def). */
#ifndef TC_VERDICTS_H
#define TC_VERDICTS_H

#include "price.h"

typedef struct tc_verdict {
    const char *form, *region;
    const tc_node *node; /* one of the operations; NULL: the whole region is meant, */
    const char *shape;   /* and the type of its result, or "" */
    size_t places;
    double without, with; /* cycles of all of them, or of the region */
    bool taken;
} tc_verdict;

typedef struct tc_verdicts {
    tc_pricer *pricer;
    tc_verdict *choice;
    size_t n, cap;
} tc_verdicts;

/* For the machine; NULL: nothing is known of its costs. */
TC_MUST_USE tc_status ti_verdicts_for(tc_ctx *ctx, const tc_target *target, const char *ini,
                                     const char *system_config, const char *memory_mode,
                                     tc_verdicts **out);

void ti_verdicts_add(tc_ctx *ctx, tc_verdicts *choices, const tc_verdict *one);

/* Every form, what it costs, and whether it was taken: a table. */
void ti_verdicts_text(const tc_verdicts *choices, tc_buf *out);

#endif
