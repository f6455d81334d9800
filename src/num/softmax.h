/* SPDX-License-Identifier: Apache-2.0 */
/* softmax.h -- one row of softmax, for kernels that have one inside. */
#ifndef TC_SOFTMAX_H
#define TC_SOFTMAX_H

#include "../base/base.h"

/* n elements, each replaced by its e^y / sum(e^y). */
void ti_softmax_row_f32(float *y, int64_t n);
void ti_softmax_row_f64(double *y, int64_t n);

#endif
