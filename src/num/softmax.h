/* SPDX-License-Identifier: Apache-2.0 */
/* softmax.h -- one row of softmax, for kernels that have one inside. */
#ifndef TC_SOFTMAX_H
#define TC_SOFTMAX_H

#include "../base/base.h"

/* y = e^x / sum(e^x) over n numbers; x and y may be the same. */
void tc_softmax_row_f32(const float *x, int64_t n, float *y);
void tc_softmax_row_f64(const double *x, int64_t n, double *y);

#endif
