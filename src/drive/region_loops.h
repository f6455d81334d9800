/* SPDX-License-Identifier: Apache-2.0 */
/* region_loops.h -- recurrences of regions that stay loops, beside a core that runs them. */
#ifndef TC_REGION_LOOPS_H
#define TC_REGION_LOOPS_H

#include "driver.h"

/* The program is split (c->split).  Where an Ethos-U is next to a core and a region has steps that
 * repeat (split/loops.h), the region becomes those before them, a step that the program repeats,
 * and those after them, if that saves flash for few cycles. */
TC_MUST_USE tc_status ti_keep_loops(tc_ctx *ctx, tc_compiled *c, const tc_trace *trace);

#endif
