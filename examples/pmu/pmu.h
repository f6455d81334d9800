/* SPDX-License-Identifier: Apache-2.0 */
/* pmu.h -- what the cycle counter of an Ethos-U says at the marks of a stream (tosac compile --marks), as
 * a log for `tosac profile FILE --pmu LOG` and `tosac calibrate-board LOG`.
 *
 *   bare metal   pmu_begin() before a job, pmu_mark() first in the NPU's interrupt, pmu_end() after the job
 *   Linux        pmu_linux.c, which watches QREAD */
#ifndef PMU_H
#define PMU_H

#include <stdbool.h>
#include <stdint.h>

enum { PMU_MARKS = 1024 }; /* of a job; those behind them are not told apart */

typedef struct pmu {
    volatile uint32_t *npu; /* its registers */
    const char *program;    /* the compiled file's name, or NULL */
    uint32_t clock;         /* Hz of the NPU; 0: not known */
    void (*print)(const char *text);
    uint64_t begun, ended; /* ended 0: not seen */
    uint32_t n, lost;
    struct {
        uint16_t mask;
        uint32_t qread;
        uint64_t cycles;
    } mark[PMU_MARKS];
} pmu;

/* Counts from 0 from here on. */
void pmu_begin(pmu *p);

/* In the interrupt: whether it is a mark's.  It is cleared then, and the job goes on; else the interrupt is
 * the driver's. */
bool pmu_mark(pmu *p);

/* Notes a mark: of an interrupt with a mask, or (mask 0) that QREAD is where it is. */
void pmu_note(pmu *p, uint16_t mask, uint32_t qread);

/* Prints the job.  stream: its words, for their hash; NULL: they cannot be read.  call: cycles of the whole
 * call, 0: not known. */
void pmu_end(pmu *p, const uint8_t *stream, uint32_t call);

uint32_t pmu_qread(const pmu *p);
bool pmu_running(const pmu *p);

#endif
