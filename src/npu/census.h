/* SPDX-License-Identifier: Apache-2.0 */
/* census.h -- which settings of registers are known from Vela's own streams.
 *
 * The effect of a setting that no known stream has is not publicly documented.  So every kernel
 * operation is split into three independent parts, each a few enumerated registers:
 *
 *   numbers   types, rounding, scales, tables, accumulators
 *   places    formats, storage, broadcasts, transposes
 *   windows   strides, order of weights, their format, cores
 *
 * A part that is in no stream of Vela's is a doubt.  A single value that no operation of its kind
 * has there is an error, unless it is listed with its reason (census.def). */
#ifndef TC_CENSUS_H
#define TC_CENSUS_H

#include "program.h"

enum { TC_CENSUS_PARTS = 3, TC_CENSUS_NEWS = 64 };

/* A part of an operation's setting; 0: it has none. */
typedef uint64_t tc_npu_setting;
void ti_npu_setting(const tc_npu_machine *machine, const tc_npu_op *op,
                    tc_npu_setting out[TC_CENSUS_PARTS]);
typedef struct tc_npu_news {
    size_t at;             /* word of the first such operation */
    size_t times;
    const char *operation; /* "POOL MAX" */
    bool value;            /* one value is new, not only the combination */
    const char *reason;    /* of a value that is listed: why it is written all the same */
    const char *text;      /* "numbers: ifm i8, ..." */
    tc_npu_setting setting;
} tc_npu_news;

typedef struct tc_npu_census {
    size_t n_operation;
    size_t n_combination; /* operations with a combination that is new, of known values */
    size_t n_listed;      /* with a value of the list */
    size_t n_value;       /* with a value that is new, and not listed */
    tc_npu_news *list;    /* each once */
    size_t n;
} tc_npu_census;

/* Whether operations of the kind are known to have tables of the function. */
bool ti_npu_looks_up(const tc_npu_machine *machine, tc_npu_kind kind, uint8_t function);

void ti_npu_census(tc_arena *arena, const tc_npu_program *program, tc_npu_census *out);

#endif
