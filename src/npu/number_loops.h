/* SPDX-License-Identifier: Apache-2.0 */
/* number_loops.h -- one operation on each of n elements.  For the files of this folder. */
#ifndef TC_NUMBER_LOOPS_H
#define TC_NUMBER_LOOPS_H

#include "scale.h"

/* v += by, wrapping. */
void ti_npu_add_all(int64_t *v, size_t n, int64_t by);
void ti_npu_clamp_all(int64_t *v, size_t n, int64_t lo, int64_t hi);
/* ti_npu_wrapped() with a sign. */
void ti_npu_wrap_all(int64_t *v, size_t n, int bits);
/* ti_npu_scale_by(); `to` may be `from`. */
void ti_npu_scale_all(const int64_t *from, size_t n, const tc_npu_scale *by, int64_t *to);

#endif
