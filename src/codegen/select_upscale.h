/* SPDX-License-Identifier: Apache-2.0 */
/* select_upscale.h -- what the machine's upscaling of an input by two does (select_upscale.c).  Views
 * are [n][h][w][c]. */
#ifndef TC_SELECT_UPSCALE_H
#define TC_SELECT_UPSCALE_H

#include "select_form.h"

/* Every row and column k = 2^n times, from the `first` of those on; first: below k, a multiple of k / 2
 * where k > 2, else 0. */
void ti_sel_times(tc_sel *s, const tc_node *node, int64_t k, int64_t first, tc_view from,
                  const tc_view *to);
/* Means of k x k places of the plane that has every row and column k = 2^n times; `op` has the rest, of
 * an operation that divides sums by k k.  At the end the places inside count, where `to` has so many. */
void ti_sel_times_mean(tc_sel *s, const tc_hw_op *op, int64_t k, tc_view from, const tc_view *to);

#endif
