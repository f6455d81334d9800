/* SPDX-License-Identifier: Apache-2.0 */
/* scores.c -- see scores.h. */
#include "scores.h"

#include <math.h>

#include "../base/real.h"
#include "../num/load.h"
#include "../num/math.h"

void ti_real_scores(tc_tensor t, size_t first, size_t n, float *out)
{
    const tc_quant *q = t.type->quant;
    ti_read_f32(t, (int64_t)first, n, out);
    for (size_t i = 0; q && q->axis < 0 && i < n; i++)
        out[i] = (float)(q->scale[0] * ((double)out[i] - (double)q->zero[0]));
}

size_t ti_best_score(const float *v, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (v[i] > v[best])
            best = i;
    return best;
}

double ti_surprise(const float *v, size_t n, size_t which)
{
    double top = (double)v[ti_best_score(v, n)], sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)ti_expf(v[i] - (float)top);
    return ti_log(sum) + top - (double)v[which];
}
