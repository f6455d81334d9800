/* SPDX-License-Identifier: Apache-2.0 */
/* parked.h -- the live values of a suspended run, compressed.
 *
 * Samples that run interleaved share the memory of one plan: before a switch the live values are
 * parked.  Values on a grid of at most 2^16 steps are parked as codes, exactly; other real values
 * unchanged, or, where 16 bits are enough, as integers with one scale per PARKED_BLOCK elements:
 * within 2^-16 of the largest in the block. */
#ifndef TC_PARKED_H
#define TC_PARKED_H

#include "plan.h"

typedef struct tc_parked {
    tc_arena room; /* holds all of it */
    size_t next;   /* the step that comes next */
    struct parked_value *value;
    size_t n;
} tc_parked;

/* Stores the values alive before the next step in `to`, replacing its content. brief: 16 bits are
 * enough for real values. */
void ti_plan_park(const tc_plan *plan, bool brief, tc_parked *to);

/* Resumes the run where it was parked, with this plan or a twin; inputs and state are given
 * again. */
void ti_plan_unpark(tc_plan *plan, const tc_parked *from, const tc_tensor *in, void *const *state);

/* A value as parked, or given: type and order as a watcher sees them (plan.h). */
typedef struct tc_parked_view {
    const tc_type *type;
    const int8_t *order;
    const struct parked_value *value; /* NULL: uncompressed elements at `data` */
    const float *data;
} tc_parked_view;

/* false: the value, which the plan's watcher wants, is neither alive nor given, or not f32. */
bool ti_parked_find(const tc_plan *plan, const tc_parked *from, const tc_tensor *in, tc_val v,
                    tc_parked_view *out);

/* Its elements first .. first+n-1. */
void ti_parked_read(const tc_parked_view *view, int64_t first, int64_t n, float *to);

#endif
