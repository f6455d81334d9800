/* SPDX-License-Identifier: Apache-2.0 */
/* value_ranges.h -- the range each value of the typed program was given, and what the model's own values do there. */
#ifndef TC_VALUE_RANGES_H
#define TC_VALUE_RANGES_H

#include "../drive/driver.h"

typedef struct tc_value_range {
    const char *name;
    const tc_type *type;  /* in the typed program */
    double least, most;   /* what its codes stand for */
    int64_t n, outside;   /* the model's elements, and those of them that no code is near: more than half a step out */
} tc_value_range;

/* Runs the model as it was read on samples that the written program was run on, at most TC_RANGE_SAMPLES of them
 * and none that calibration has excluded.  *n 0: nothing is quantized by ranges, or the model does not run here value by
 * value; *samples: the number of samples. */
enum { TC_RANGE_SAMPLES = 4 };
TC_MUST_USE tc_status ti_value_ranges(tc_ctx *ctx, const tc_compiled *c, tc_value_range **out, size_t *n,
                                      size_t *samples);

#endif
