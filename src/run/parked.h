/* SPDX-License-Identifier: Apache-2.0 */
/* parked.h -- what a run that waits still needs, in few bytes.
 *
 * Several samples that go through a program abreast share the memory of its plan: before another
 * one's turn the values that are alive are parked.  Numbers on a grid of at most 2^16 steps are
 * parked as codes, exactly; other real numbers as they are, or, where 16 bits are enough, as
 * integers with one scale for each PARKED_BLOCK of them: within 2^-16 of the largest beside them. */
#ifndef TC_PARKED_H
#define TC_PARKED_H

#include "plan.h"

typedef struct tc_parked {
    tc_arena room; /* holds all of it */
    size_t next;   /* the step that comes next */
    struct parked_value *value;
    size_t n;
} tc_parked;

/* The values that are alive before the next step go to `to`, in place of what it held.
 * brief: 16 bits are enough for real numbers. */
void ti_plan_park(const tc_plan *plan, bool brief, tc_parked *to);

/* The run is again where it was parked, by this plan or by a twin; its inputs and state are given
 * again. */
void ti_plan_unpark(tc_plan *plan, const tc_parked *from, const tc_tensor *in, void *const *state);

/* A value as it is parked, or given: type and order as a watcher sees them (plan.h). */
typedef struct tc_parked_view {
    const tc_type *type;
    const int8_t *order;
    const struct parked_value *value; /* NULL: plain numbers at `data` */
    const float *data;
} tc_parked_view;

/* false: the value, which the plan's watcher wants, is neither alive nor given, or not f32. */
bool ti_parked_find(const tc_plan *plan, const tc_parked *from, const tc_tensor *in, tc_val v,
                    tc_parked_view *out);

/* Its numbers first .. first+n-1. */
void ti_parked_read(const tc_parked_view *view, int64_t first, int64_t n, float *to);

#endif
