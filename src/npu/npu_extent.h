/* SPDX-License-Identifier: Apache-2.0 */
/* npu_extent.h -- how far a stream reaches into each region, for whoever gives it memory. */
#ifndef TC_NPU_EXTENT_H
#define TC_NPU_EXTENT_H

#include "program.h"

typedef struct tc_npu_extents {
    int64_t end[TC_NPU_REGIONS]; /* bytes from its beginning; 0: the stream does not use it */
    bool read[TC_NPU_REGIONS], written[TC_NPU_REGIONS];
    bool before[TC_NPU_REGIONS]; /* an address below the region's beginning */
} tc_npu_extents;

/* Adds what one operation reaches.  Indexed DMAs: what the largest index reaches. */
void ti_npu_extents_add(tc_npu_extents *extents, const tc_npu_op *op);

#endif
