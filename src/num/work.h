/* SPDX-License-Identifier: Apache-2.0 */
/* work.h -- operands as plain arrays of the type a kernel computes in.
 *
 * Sums of products, norms and windows are written once per working type: f32 for f32 and the
 * narrower floats, f64 for f64, i64 for integers and bool.  Operands stored in that type are used
 * in place; the others are copied, and results are rounded (floats) or wrapped (integers) once,
 * when they are done. */
#ifndef TC_WORK_H
#define TC_WORK_H

#include "call.h"
#include "kernels.h"

typedef enum tc_work { TC_WORK_f32, TC_WORK_f64, TC_WORK_i64 } tc_work;

static inline size_t ti_work_size(tc_work work) { return work == TC_WORK_f32 ? 4 : 8; }

/* Element i of an array in the working type. */
static inline const void *ti_work_at(tc_work work, const void *array, int64_t i)
{
    return (const char *)array + (size_t)i * ti_work_size(work);
}
static inline void *ti_work_at_out(tc_work work, void *array, int64_t i)
{
    return (char *)array + (size_t)i * ti_work_size(work);
}

/* The working type of an element type. */
tc_work ti_work_of(tc_dtype dtype);

/* Operand i in the working type; NULL when absent. */
const void *ti_work_in(tc_call *call, int i, tc_work work);

/* A buffer for result i, and the conversion still to do once it is filled. */
void *ti_work_out(tc_call *call, int i, tc_work work);
void ti_work_done(tc_call *call, int i, tc_work work, const void *filled);

#endif
