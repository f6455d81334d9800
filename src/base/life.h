/* SPDX-License-Identifier: Apache-2.0 */
/* life.h -- the steps in which a block of memory is needed. */
#ifndef TC_LIFE_H
#define TC_LIFE_H

#include <stdbool.h>
#include <stdint.h>

/* From the step that makes a value to the last one that reads it, both included. */
typedef struct tc_life {
    int32_t first, last;
} tc_life;

#define TC_NEVER ((tc_life){-1, -1})

static inline bool ti_is_used(tc_life life)
{
    return life.first >= 0;
}

/* The step makes it, reads it, or runs while it has to stay. */
static inline void ti_life_use(tc_life *life, int32_t step)
{
    life->first = !ti_is_used(*life) || step < life->first ? step : life->first;
    life->last = step > life->last ? step : life->last;
}

/* Both are needed in a step. */
static inline bool ti_lives_meet(tc_life a, tc_life b)
{
    return a.first <= b.last && b.first <= a.last;
}

#endif
