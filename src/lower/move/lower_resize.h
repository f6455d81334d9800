/* SPDX-License-Identifier: Apache-2.0 */
/* lower_resize.h -- an axis resampled. */
#ifndef TC_LOWER_RESIZE_H
#define TC_LOWER_RESIZE_H

#include "../put.h"

/* The axis of a float tensor by a constant matrix [n, extent]: its new extent is n. */
tc_val ti_put_axis_matrix(tc_build *lw, tc_val x, int axis, int64_t n, const double *weight);

/* Whether some of v may be infinite or NaN though the inputs are finite: a matrix, which multiplies
 * elements that do not count by 0, would make NaN of all. */
bool ti_may_be_infinite(const tc_graph *g, tc_val v);

#endif
