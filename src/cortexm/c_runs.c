/* SPDX-License-Identifier: Apache-2.0 */
/* c_runs.c -- steps that repeat: unrolled recurrences, the same branch for every head.
 *
 * From left to right, the repetition that begins here and saves most steps is a run: a b a b a b is (a b) three
 * times, and saves four. */
#include "c_model.h"

enum { FEWEST = 4 }; /* steps that a loop must save: it has a table, and a counter */

/* Steps from `first` on that are the same as those `period` further on. */
static size_t same_steps(const size_t *key, size_t n, size_t first, size_t period)
{
    size_t k = first;
    while (k + period < n && key[k] == key[k + period])
        k++;
    return k - first;
}

/* The best run that begins at `first`. */
static tc_c_run run_at(const size_t *key, size_t n, size_t first)
{
    tc_c_run best = {first, 1, 1};
    size_t saved = FEWEST - 1;
    for (size_t period = 1; first + period < n && n - first - period > saved; period++) {
        size_t times = 1 + same_steps(key, n, first, period) / period;
        if ((times - 1) * period > saved) {
            saved = (times - 1) * period;
            best = (tc_c_run){first, period, times};
        }
    }
    return best;
}

size_t ti_c_runs(const size_t *key, size_t n, tc_c_run *out)
{
    size_t n_run = 0, k = 0;
    while (k < n) {
        tc_c_run run = run_at(key, n, k);
        k += run.period * run.times;
        out[n_run++] = run;
    }
    return n_run;
}
