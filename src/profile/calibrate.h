/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h -- a board's memories as its own counter saw them. */
#ifndef TC_CALIBRATE_H
#define TC_CALIBRATE_H

#include "../board/board.h"
#include "counted_parts.h"

/* How far the model is from what was counted: of all cycles, and of the parts' own. */
typedef struct tc_calibrated_error {
    double total; /* measured / expected - 1 */
    double apart; /* the parts' distances, added up, as a share of what was measured */
} tc_calibrated_error;

typedef struct tc_calibrated_log {
    const char *file;
    size_t n_part;
    double cycles;
    tc_calibrated_error before, after;
} tc_calibrated_log;

/* A number of the system's description. */
typedef struct tc_calibrated_number {
    const char *memory, *what; /* "Sram", "bytes a cycle" */
    double before, after;
} tc_calibrated_number;

typedef struct tc_calibrated {
    tc_board board; /* that was begun with */
    tc_npu_system system;
    double call; /* cycles of a call beside its job; below 0: not known */
    tc_calibrated_log *log;
    size_t n_log;
    tc_calibrated_number *number;
    size_t n_number;
    tc_calibrated_error before, after; /* of all */
    const char *text;                  /* the new board, as a file */
} tc_calibrated;

/* The board of `board` with memories that agree with the logs; its name and its system's is `name`. */
TC_MUST_USE tc_status ti_calibrate(tc_ctx *ctx, const char *const *logs, size_t n, const char *board,
                                   const char *name, tc_calibrated *out);

#endif
