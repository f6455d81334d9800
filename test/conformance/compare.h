/* SPDX-License-Identifier: Apache-2.0 */
/* compare.h -- results beside recorded ones. */
#ifndef TC_COMPARE_H
#define TC_COMPARE_H

#include "conformance.h"
#include "read/data.h"

/* How far a result may be from the recorded one. */
typedef struct allowance {
    double relative; /* of the largest recorded magnitude (at least 1e-3) */
    double step;     /* > 0: instead, steps of this size */
    double steps;    /* so many of them; 0: one */
} allowance;

/* got, and elements first .. of the recorded array, which hold its shape.  Integers and bools are
 * equal, floats as near as is allowed, NaN meets NaN and infinity meets infinity.  False: v has
 * been told. */
bool close_enough(tc_ctx *ctx, tc_tensor got, tc_npy *want, int64_t first, const allowance *a,
                  verdict *v);

#endif
