/* SPDX-License-Identifier: Apache-2.0 */
/* board.h -- boards: their machines, clocks and memories; and whether a program fits one.
 *
 * A board is named (tc_board_at() lists them) or is a file: doc/boards.md has its form.
 * tc_compile_options.board compiles for it. */
#ifndef TOSAC_BOARD_H
#define TOSAC_BOARD_H

#include "compile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A memory of a board. */
typedef struct tc_board_memory_info {
    size_t size;        /* of this record: set by the caller */
    const char *kind;   /* "sram", "flash" or "dram" */
    const char *name;   /* "MRAM" */
    int64_t bytes;
    const char *source; /* of the figure, in words; NULL: not said */
} tc_board_memory_info;
TC_SIZED_RECORD(tc_board_memory_info)

/* A board.  Texts live as long as the context; NULL: not said, or not there. */
typedef struct tc_board_info {
    size_t size; /* of this record: set by the caller */
    const char *name, *title;
    const char *npu;  /* "ethos-u55-128" */
    bool any_size;    /* its number of MACs is open: -t chooses another */
    const char *core; /* "cortex-m55" */
    double npu_clock; /* Hz; 0: the system description's */
    double core_clock;
    const char *system_config, *memory_mode;
    size_t n_memory; /* tc_board_memory_at() */
    const char *source_npu, *source_clock, *source_system, *source_mode; /* of the facts, in words */
    const char *text; /* as a file of one's own */
} tc_board_info;
TC_SIZED_RECORD(tc_board_info)

/* Built-in board i; TC_OK and *more false: there are no more. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_board_at(tc_ctx *ctx, size_t i, bool *more,
                                                         tc_board_info *out);

/* A board by its name or its file; TC_USAGE and a message with the nearest name otherwise. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_board_find(tc_ctx *ctx, const char *name,
                                                           tc_board_info *out);

/* Memory i of a board, by its name or file; TC_USAGE: there is none. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_board_memory_at(tc_ctx *ctx, const char *name, size_t i,
                                                                tc_board_memory_info *out);

/* ---- what its counter took ---- */

/* A board whose memories agree with logs of its cycle counter (doc/profile.md): bandwidth and latencies of
 * the system around its Ethos-U, and cycles of a call.
 *
 *   logs    of programs compiled with marks; each names its program's file, beside it
 *   board   a board's name or file, to begin with
 *   name    of the new board, and of its system
 *   text    the new board, as a file; may be NULL
 *   report  what was changed, and how far off the model is before and after; may be NULL */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_board_calibrate(tc_ctx *ctx, const char *const *logs, size_t n, const char *board, const char *name,
                   tc_form form, const char **text, const char **report);

/* ---- the verdict ---- */

/* Whether the files that were made last fit the board that they were compiled for. */
typedef struct tc_board_verdict {
    size_t size; /* of this record: set by the caller */
    const char *board, *target;
    const char *system_config, *memory_mode; /* NULL: a Cortex-M alone */
    double npu_clock, core_clock;            /* Hz; 0: not used */
    bool fits;
    size_t n_memory, n_alternative;
    double milliseconds, inferences_per_second; /* by the cost model; 0: not known */
    const char *not_counted; /* what is not in them, in words */
    const char *bound;       /* where most working memory is needed, in words; NULL: not known */
    double milliseconds_low, milliseconds_high; /* the band around milliseconds */
} tc_board_verdict;
TC_SIZED_RECORD(tc_board_verdict)

typedef struct tc_board_verdict_memory {
    size_t size;                       /* of this record: set by the caller */
    const char *kind, *name;           /* "flash", "MRAM" */
    int64_t bytes, used, left;         /* left below 0: too many */
} tc_board_verdict_memory;
TC_SIZED_RECORD(tc_board_verdict_memory)

/* Another way to compile it that was really tried. */
typedef struct tc_alternative {
    size_t size;         /* of this record: set by the caller */
    const char *options; /* as on the command line: "--optimise Size" */
    const char *why;     /* it could not be compiled so; NULL: it was */
    bool fits;
    int64_t sram, flash, dram; /* bytes that it takes of each */
    double milliseconds;
    double sqnr_db; /* of its first output against the model; NAN: not known */
    double milliseconds_low, milliseconds_high; /* the band around milliseconds */
} tc_alternative;
TC_SIZED_RECORD(tc_alternative)

/* The verdict; false: there was no board, or no file was made that runs there.  Memory i of it and
 * alternative i; false: there are no more. */
TC_API TC_EXPERIMENTAL bool tc_compiled_verdict(const tc_compiled *compiled, tc_board_verdict *out);
TC_API TC_EXPERIMENTAL bool tc_compiled_verdict_memory(const tc_compiled *compiled, size_t i,
                                                       tc_board_verdict_memory *out);
TC_API TC_EXPERIMENTAL bool tc_compiled_alternative(const tc_compiled *compiled, size_t i,
                                                    tc_alternative *out);

/* Where it does not fit: compiles the model in other ways (less scratch, Size, other memory modes,
 * 4-bit weights, smaller sizes where they are open) and keeps what came of each in the verdict;
 * nothing is done where it fits.
 *
 *   model, options  as tc_compile() was given them; options->goal.seconds: for all of it; 0: two
 *                   minutes; what is not begun by then is left out
 *   kind            the files that were made */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_compiled_try_alternatives(tc_ctx *ctx, const tc_model *model, const tc_compile_options *options,
                             tc_compiled *compiled, tc_output kind);

/* ---- a firmware ---- */

typedef struct tc_firmware_options {
    size_t size;          /* of this record */
    const char *firmware; /* "tflm", "executorch-1.4", "executorch-1.5", "linux-6.19"; behind it what is known
                             of it: "tflm,driver=0.16,arena=200000,resolver=main.cc" (doc/firmware.md) */
    const char *board;    /* its name or file; NULL: not said */
    const char *npu;      /* "ethos-u55-128", where no board says it */
} tc_firmware_options;
TC_SIZED_RECORD(tc_firmware_options)

typedef enum tc_firmware_verdict {
    TC_FIRMWARE_FITS = 0,
    TC_FIRMWARE_FAULT = 1,
    TC_FIRMWARE_OPEN = 2 /* it depends on what was not said */
} tc_firmware_verdict;

typedef struct tc_firmware_finding {
    size_t size; /* of this record: set by the caller */
    tc_firmware_verdict verdict;
    const char *rule, *asks; /* "macs", "a stream for the number of multipliers that is there" */
    const char *text;        /* what was found; where something is to be done, what */
    const char *source;      /* where the rule is written */
} tc_firmware_finding;
TC_SIZED_RECORD(tc_firmware_finding)

typedef struct tc_firmware_report tc_firmware_report;

/* Checks a .tflite, .pte or stream against what the firmware asks; TC_OK whatever is found. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_verify_firmware(tc_ctx *ctx, const char *path,
                                                                const tc_firmware_options *options,
                                                                tc_firmware_report **out);

/* Finding i, in the order of the rules; false: there are no more. */
TC_API TC_EXPERIMENTAL bool tc_firmware_finding_at(const tc_firmware_report *report, size_t i,
                                                   tc_firmware_finding *out);

#ifdef __cplusplus
}
#endif
#endif
