/* SPDX-License-Identifier: Apache-2.0 */
/* torchao.h -- torchao's HistogramObserver. */
#ifndef TC_TORCHAO_H
#define TC_TORCHAO_H

#include "observations.h"

enum { TC_TORCHAO_BINS = 2048 };

typedef struct tc_torchao {
    float min, max; /* min > max: nothing was seen */
    float count[TC_TORCHAO_BINS];
} tc_torchao;

void ti_torchao_init(tc_torchao *t);

/* One tensor; infinities are left out. */
void ti_torchao_see(tc_torchao *t, const float *x, int64_t n);

tc_grid ti_torchao_grid(const tc_torchao *t, const tc_setting *setting);

#endif
