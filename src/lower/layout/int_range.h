/* SPDX-License-Identifier: Apache-2.0 */
/* int_range.h -- which integers the values of a program can hold, for any input. */
#ifndef TC_INT_RANGE_H
#define TC_INT_RANGE_H

#include "../lower.h"

/* From lo to hi, both included.  Unknown: all of 64 bits. */
typedef struct tc_int_range {
    double lo, hi;
} tc_int_range;

/* By value of the graph, in ctx->scratch; non-integers are unbounded. */
tc_int_range *ti_int_ranges(tc_ctx *ctx, const tc_graph *g);

static inline bool ti_int_range_fits(tc_int_range r)
{
    return r.lo >= INT32_MIN && r.hi <= INT32_MAX;
}

#endif
