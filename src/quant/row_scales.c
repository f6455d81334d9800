/* SPDX-License-Identifier: Apache-2.0 */
/* row_scales.c -- see row_scales.h.
 *
 * The scale that is best for weights rounded one by one is not the best for a row that is rounded
 * jointly: how far a code may be off depends on what the others make up for.  With f the factor of
 * a scale and u the weights in steps of the old one, the error of codes q is
 *
 *   f^2 (q H q - 2 q P / f)  +  what does not depend on q and f,   P = u C
 *
 * and the descent ends with its slope, P / f - q H: the bracket is -q (P / f + slope). */
#include "row_scales.h"

#include <math.h>

static const double FACTOR[] = {1, 0.92, 1.08, 0.84, 1.16, 0.76, 1.24};

static double error_of(const tc_gram_rows *r, int64_t i, double factor)
{
    const float *code = r->code + i * r->k, *pull = r->pull + i * r->k,
                *slope = r->slope + i * r->k;
    double sum = 0;
    for (int64_t j = 0; j < r->k; j++)
        sum -= (double)code[j] * ((double)pull[j] + (double)slope[j]);
    return factor * factor * sum;
}

/* What the weights want of each code: the slope where all codes are 0. */
static void find_pull(const tc_gram_rows *r, float *pull)
{
    tc_gram_rows none = *r;
    memset(r->code, 0, (size_t)(r->n * r->k) * sizeof *r->code);
    none.slope = pull;
    ti_gram_descend(&none, 0);
}

/* Weights and pull in steps of the scale times `factor`, and the nearest codes. */
static void rescale(const tc_gram_rows *from, const float *pull, double factor, tc_gram_rows *to,
                    float *want, float *wanted)
{
    for (int64_t i = 0; i < from->n * from->k; i++) {
        want[i] = (float)((double)from->want[i] / factor);
        wanted[i] = (float)((double)pull[i] / factor);
        to->code[i] = fmaxf((float)from->lo, fminf((float)from->hi, nearbyintf(want[i])));
    }
    to->want = want;
    to->pull = wanted;
}

void ti_row_scales_descend(const tc_gram_rows *r, int sweeps, double least, tc_arena *room,
                           double *scale)
{
    size_t all = (size_t)(r->n * r->k) * sizeof(float);
    tc_mark mark = ti_arena_mark(room);
    float *pull = ti_arena_raw(room, all), *want = ti_arena_raw(room, all),
          *wanted = ti_arena_raw(room, all);
    double *lowest = tc_new_n(room, double, (size_t)r->n),
           *old = tc_new_n(room, double, (size_t)r->n);
    tc_gram_rows tried = *r;
    tried.code = ti_arena_raw(room, all);
    memcpy(old, scale, (size_t)r->n * sizeof *old);
    find_pull(r, pull);
    for (size_t f = 0; f < TC_COUNT(FACTOR); f++) {
        rescale(r, pull, FACTOR[f], &tried, want, wanted);
        ti_gram_descend(&tried, sweeps);
        for (int64_t i = 0; i < r->n; i++) {
            double error = error_of(&tried, i, FACTOR[f]);
            if (f && (!(error < lowest[i]) || old[i] * FACTOR[f] < least))
                continue;
            lowest[i] = error;
            scale[i] = (double)(float)(old[i] * FACTOR[f]);
            memcpy(r->code + i * r->k, tried.code + i * r->k, (size_t)r->k * sizeof *r->code);
        }
    }
    ti_arena_rewind(room, mark);
}
