/* SPDX-License-Identifier: Apache-2.0 */
/* clock.c -- seconds of a clock that is never set. */
#include <time.h>

#include "base.h"

double ti_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
