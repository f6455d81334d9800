/* SPDX-License-Identifier: Apache-2.0 */
/* read_pmu.h -- a log of an Ethos-U's cycle counter, as examples/pmu writes it; numbers are decimal:
 *
 *    tosac-pmu 1
 *    program digits.pte     beside the log; or not said
 *    stream BYTES HASH      of what follows: its size, and FNV-1a of its bytes, 32 bits; 0: not known
 *    clock HZ               of the counter; or not said
 *    mark MASK QREAD CYCLES as often as they were seen, in order; cycles are those of the job so far
 *    end QREAD CYCLES       of the job; further marks belong to the next one
 *    call CYCLES            of the caller's call, the job in it; or not said */
#ifndef TC_READ_PMU_H
#define TC_READ_PMU_H

#include "../base/diag.h"

typedef struct tc_pmu_mark {
    uint16_t mask; /* of the interrupt; 0: QREAD was watched */
    uint32_t at;   /* QREAD */
    double cycles;
} tc_pmu_mark;

typedef struct tc_pmu_job {
    tc_pmu_mark *mark;
    size_t n_mark, cap_mark;
    double end, call; /* call 0: not said */
} tc_pmu_job;

typedef struct tc_pmu_stream {
    size_t bytes;
    uint32_t hash;
    tc_pmu_job *job;
    size_t n_job, cap_job;
} tc_pmu_stream;

typedef struct tc_pmu_log {
    const char *file, *program; /* program NULL: not said */
    double clock;               /* Hz; 0: not said */
    tc_pmu_stream *stream;      /* each once */
    size_t n_stream, cap_stream;
} tc_pmu_log;

TC_MUST_USE tc_status ti_pmu_read(tc_ctx *ctx, const char *file, tc_bytes text, tc_pmu_log *out);
uint32_t ti_pmu_hash(tc_bytes stream);

#endif
