/* SPDX-License-Identifier: Apache-2.0 */
/* board_fit.h -- whether a program fits a board: in which memory, with what left, in what time. */
#ifndef TC_BOARD_FIT_H
#define TC_BOARD_FIT_H

#include "../base/json_out.h"
#include "board.h"
#include "../drive/driver.h"

typedef struct tc_fit_memory {
    const char *name; /* "MRAM" */
    tc_board_kind kind;
    int64_t bytes; /* that the board has; 0: none */
    int64_t used;
} tc_fit_memory;

/* Another way to compile it, which was tried. */
typedef struct tc_fit_trial {
    const char *options;      /* as on the command line */
    const char *why;          /* it could not be compiled so; NULL: it was */
    bool fits;
    int64_t used[TC_BOARD_KINDS];
    double milliseconds, least, most; /* with their band */
    double sqnr_db;           /* of the first output; NAN: not known */
    const char *bound;        /* as that of a fit */
} tc_fit_trial;

typedef struct tc_fit {
    const tc_board *board;
    const char *target, *system_config, *memory_mode; /* NULL: a Cortex-M alone */
    double npu_clock, core_clock;                     /* Hz; 0: not there, or not known */
    bool fits;
    tc_fit_memory memory[TC_BOARD_KINDS]; /* those that the board has or the program needs */
    size_t n_memory;
    double milliseconds, inferences_per_second; /* 0: not known */
    double least, most; /* milliseconds: their band; equal: there is none */
    const char *not_counted; /* in words */
    int64_t working;         /* bytes of `memory` that the streams work in: the largest scratch, */
    tc_board_kind works_in;  /* and which that is */
    const char *bound;       /* where most working memory is needed, in words; or NULL */
    tc_fit_trial *trial;
    size_t n_trial;
} tc_fit;

/* The memory of a region of the system: 0 is of constants, 1 of values, 2 of the cache. */
tc_board_kind ti_board_kind_of(const tc_npu_system *system, int region);

/* Sets c->fit, for the files that were made last; unchanged where there is no board, or none of
 * them runs there. */
TC_MUST_USE tc_status ti_board_fit(tc_ctx *ctx, tc_compiled *c, tc_output kind);

/* board_fit_text.c: a line, and one for each trial; the member `verdict` of a report. */
void ti_fit_text(const tc_fit *fit, tc_buf *out);
void ti_fit_json(const tc_fit *fit, tc_json_out *out);

#endif
