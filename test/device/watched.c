/* SPDX-License-Identifier: Apache-2.0 */
/* watched.c -- registers that move whenever examples/pmu/pmu_linux.c looks at them: linked with it by
 * --wrap=pmu_qread --wrap=pmu_running.  WATCHED names a file of lines "QREAD CYCLES"; WATCHED_U85: whose
 * counters they are. */
#include <stdio.h>
#include <stdlib.h>

#include "../../examples/pmu/pmu.h"

enum { QREAD = 6, CONFIG = 10, QSIZE = 8 };
static FILE *steps;

bool __wrap_pmu_running(const pmu *p);
uint32_t __wrap_pmu_qread(const pmu *p);

bool __wrap_pmu_running(const pmu *p)
{
    if (steps)
        return !feof(steps);
    steps = fopen(getenv("WATCHED"), "r");
    p->npu[CONFIG] = (getenv("WATCHED_U85") ? 2u : 0u) << 28;
    return steps && fscanf(steps, "%u", (uint32_t *)(uintptr_t)&p->npu[QSIZE]) == 1;
}

uint32_t __wrap_pmu_qread(const pmu *p)
{
    unsigned at, cycles;
    if (fscanf(steps, "%u %u ", &at, &cycles) == 2) {
        p->npu[QREAD] = at;
        p->npu[(p->npu[CONFIG] >> 28 ? 0x11a0 : 0x1a0) / 4] = cycles;
    }
    return p->npu[QREAD];
}
