/* SPDX-License-Identifier: Apache-2.0 */
/* scores.h -- a program's scores of each class, or token, as real values. */
#ifndef TC_SCORES_H
#define TC_SCORES_H

#include "../base/diag.h"
#include "tosac/tosac.h"

/* n scores from `first` on, by their scale where they are stored integers. */
void ti_real_scores(tc_tensor scores, size_t first, size_t n, float *out);

/* The highest; the earlier of equal ones. */
size_t ti_best_score(const float *score, size_t n);

/* -log of the probability that they give to one of them. */
double ti_surprise(const float *score, size_t n, size_t which);

#endif
