/* SPDX-License-Identifier: Apache-2.0 */
/* board.h -- boards: what a program has there: machines, clocks, memories.
 *
 * A section [Board.NAME] of npu/boards.ini, or of a file of the user's in the same form. */
#ifndef TC_BOARD_H
#define TC_BOARD_H

#include "../base/diag.h"

/* The use of a memory: working memory next to the machine, constants, and both outside. */
typedef enum tc_board_kind { TC_BOARD_SRAM, TC_BOARD_FLASH, TC_BOARD_DRAM, TC_BOARD_KINDS } tc_board_kind;

typedef struct tc_board_memory {
    int64_t bytes;      /* 0: there is none */
    const char *name;   /* "MRAM"; its kind, where no name is given */
    const char *source; /* of the size, in words; NULL: not given */
} tc_board_memory;

/* The description of one board. */
typedef struct tc_board {
    const char *name, *title;
    const char *npu;      /* "ethos-u55-128"; NULL: there is none */
    bool any_size;        /* its number of MACs is the user's choice */
    const char *core;     /* "cortex-m55"; NULL: not one that C is written for */
    double npu_clock;     /* Hz; 0: the system description's */
    double npu_call;      /* cycles of a call beside its job; 0: not counted */
    double core_clock;    /* 0: not known */
    const char *ini;      /* the system is described in this file; NULL: built-in */
    const char *system_config, *memory_mode; /* NULL: the NPU's own */
    tc_board_memory memory[TC_BOARD_KINDS];
    const char *source_npu, *source_clock, *source_system, *source_mode; /* in words; or NULL */
    const char *text;     /* its section, and that of its system, as a complete file */
} tc_board;

/* "sram", "flash", "dram". */
extern const char *const tc_board_keys[TC_BOARD_KINDS];

/* All built-in boards, in the table's order. */
TC_MUST_USE tc_status ti_board_list(tc_ctx *ctx, const tc_board **out, size_t *n);

/* The only board of a file; its system may be described there, too. */
TC_MUST_USE tc_status ti_board_read(tc_ctx *ctx, const char *path, tc_bytes file, tc_board *out);

/* By the name of a built-in one, or a file; else an error with the nearest name. */
TC_MUST_USE tc_status ti_board_find(tc_ctx *ctx, const char *name, tc_board *out);

/* The target that the board implies; asked: what the user wants of it: its NPU, its core or both
 * ("ethos-u55-128+cortex-m55"); NULL: its NPU, else its core.  What it does not have is an
 * error. */
TC_MUST_USE tc_status ti_board_target(tc_ctx *ctx, const tc_board *board, const char *asked,
                                      const char **out);

#endif
