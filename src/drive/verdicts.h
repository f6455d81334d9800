/* SPDX-License-Identifier: Apache-2.0 */
/* verdicts.h -- what was decided by cycles while regions were made, for reports: regions in tiles or in
 * one piece (own_backend.c), operations in other forms (codegen/form.def). */
#ifndef TC_VERDICTS_H
#define TC_VERDICTS_H

#include "price.h"

typedef struct tc_verdict {
    const char *form, *region;
    const tc_node *node; /* one of the operations; NULL: it is of the whole region, */
    const char *shape;   /* and what it makes: "" */
    size_t places;
    double without, with; /* cycles of all of them, or of the region */
    bool taken;
} tc_verdict;

typedef struct tc_verdicts {
    tc_pricer *pricer;
    tc_verdict *choice;
    size_t n, cap;
} tc_verdicts;

/* By the machine's record; NULL: nothing is known of its costs. */
TC_MUST_USE tc_status ti_verdicts_for(tc_ctx *ctx, const tc_target *target, const char *ini,
                                     const char *system_config, const char *memory_mode,
                                     tc_verdicts **out);

void ti_verdicts_add(tc_ctx *ctx, tc_verdicts *choices, const tc_verdict *one);

/* Every form, what it costs, and whether it was taken: a table. */
void ti_verdicts_text(const tc_verdicts *choices, tc_buf *out);

#endif
