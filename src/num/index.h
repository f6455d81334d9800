/* SPDX-License-Identifier: Apache-2.0 */
/* index.h -- x[i0, i1, ...] with tensors of integers: where the result's axes come from. */
#ifndef TC_INDEX_H
#define TC_INDEX_H

#include "type.h"

/* The index tensors are broadcast together.  Their axes replace the indexed axes when those are
 * adjacent, and come first when they are not; the axes without index (none) keep their order. */
typedef struct tc_picks {
    int first;                      /* position of the indices' axes in the result */
    int32_t rank;                   /* how many they are */
    int64_t dim[TC_MAX_RANK];       /* and their extents */
    int n_kept;
    int kept[TC_MAX_RANK];          /* axes of x without index */
} tc_picks;

/* False when the indices do not broadcast, or there are more of them than axes. */
bool ti_index_picks(const tc_type *x, const tc_tensor *index, int n_index, tc_picks *out);

/* The shape of what is picked; false when its rank is too high. */
bool ti_index_dims(const tc_type *x, const tc_picks *picks, tc_type *out);

/* Values that can be broadcast to that shape. */
bool ti_index_fits(const tc_type *values, const tc_type *room);

#endif
