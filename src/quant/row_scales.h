/* SPDX-License-Identifier: Apache-2.0 */
/* row_scales.h -- few codes and the scales of their rows, found together. */
#ifndef TC_ROW_SCALES_H
#define TC_ROW_SCALES_H

#include "../base/arena.h"
#include "gram_matrix.h"

/* As ti_gram_descend(), from the nearest codes, for each of some scales near those of the rows, at
 * least `least`: of each row the codes with the least error, and scale[i] that belongs to them.
 * Steps are 1. */
void ti_row_scales_descend(const tc_gram_rows *r, int sweeps, double least, tc_arena *room,
                           double *scale);

#endif
