/* SPDX-License-Identifier: Apache-2.0 */
/* channel_affine.h -- products and sums with a constant of each channel, as depthwise convolutions.
 * */
#ifndef TC_CHANNEL_AFFINE_H
#define TC_CHANNEL_AFFINE_H

#include "arith.h"

/* x * by, and x + by * more, where by (more) is constant and varies along the last axis or the
 * channels of a plane only; into the domain and shape of `to`.  false: it is something else, and
 * nothing was put. */
bool ti_put_channel_times(tc_build *lw, const tc_arg *x, const tc_arg *by, const tc_type *to,
                          tc_val *y);
/* x * by on the channels that are wanted, on others what op, TOSA's MAXIMUM or MINIMUM, never
 * takes: an end of the domain. */
bool ti_put_channel_bound(tc_build *lw, tc_op op, const tc_arg *x, const tc_arg *by,
                          const bool *wanted, const tc_type *to, tc_val *y);
bool ti_put_channel_plus(tc_build *lw, const tc_arg *x, const tc_arg *more, double by,
                         const tc_type *to, tc_val *y);

#endif
