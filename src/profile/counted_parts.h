/* SPDX-License-Identifier: Apache-2.0 */
/* counted_parts.h -- a log of a cycle counter (read_pmu.h) by the marks of the streams that it is of. */
#ifndef TC_COUNTED_PARTS_H
#define TC_COUNTED_PARTS_H

#include "../cost/profile.h"
#include "../npu/mark.h"
#include "../read/read_pmu.h"

/* The parts of one stream, in order, appended to *out; `stream` is its number.  A mark that a job did not
 * see by itself, for its operation was over before the mark before had been read, is none of them. */
TC_MUST_USE tc_status ti_counted_parts(tc_ctx *ctx, const char *log, const tc_npu_program *program,
                                       size_t stream, const tc_pmu_stream *counted,
                                       tc_counted_part **out, size_t *n, size_t *cap);

/* Which of the log's streams a program is; NULL: none. */
const tc_pmu_stream *ti_counted_stream(const tc_pmu_log *log, const tc_npu_program *program);

/* Cycles of the caller's calls beside their jobs, on average of those that say it; below 0: none does. */
double ti_counted_call(const tc_pmu_log *log);

/* The part of an operation; NULL: its stream has none.  *at: where the one before was found, 0 at first;
 * operations are asked for in the order of their streams. */
tc_counted_part *ti_counted_part_of(tc_counted_part *part, size_t n, size_t stream, size_t word, size_t *at);

#endif
