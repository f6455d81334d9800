/* SPDX-License-Identifier: Apache-2.0 */
/* goal_search.h -- bits per value and per weight, searched for what a caller can spend. */
#ifndef TC_GOAL_SEARCH_H
#define TC_GOAL_SEARCH_H

#include "driver.h"

/* What is asked for; 0: nothing of that kind. */
typedef struct tc_goal {
    double sqnr_db, drop;  /* at least so many dB; at most so many points of top-1 lost */
    double cycles, flash;  /* at most */
    bool best;             /* the most accurate within a tenth more cycles than int8 */
    double seconds;        /* that the search may take */
    const char *labels;    /* of the calibration samples, as tc_evaluate takes them; or NULL */
    const tc_ethosu_options *ethosu; /* as the program is made in the end */
} tc_goal;

bool ti_goal_asks(const tc_goal *goal);

/* Tries settings, from the smallest to the most accurate, and fills out the first that meets the
 * goal (or, with limits only, the most accurate within them).  rows: all that were tried. */
TC_MUST_USE tc_status ti_budget_search(tc_ctx *ctx, const tc_compile_request *request,
                                       const tc_goal *goal, tc_config *out,
                                       tc_frontier_row **rows, size_t *n_row);

#endif
