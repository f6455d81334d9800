/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h -- the cost of a program on an Ethos-U: by operation of its command streams, and by
 * line, module or node of the model.  On a Cortex-M: by step of its C source; instructions by what they
 * were counted to be in QEMU, cycles as many times a factor of the core.
 *
 * The figures come from a model of the machines and their memories, fitted to measurements
 * (doc/timing.md has how far it is off).  It needs only the command stream.  It is an estimate, not
 * a measurement on hardware. */
#ifndef TOSAC_PROFILE_H
#define TOSAC_PROFILE_H

#include "compile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_profile tc_profile;

enum { TC_PROFILE_MEMORIES = 2 }; /* at most: one behind each of the two ports */

/* A cost.  Costs add up, except for utilisation. */
typedef struct tc_cost_figures {
    double cycles;                       /* expected; doc/timing.md says how far to trust it */
    double macs;                         /* multiplications */
    double utilisation;                  /* macs / (cycles * MACs of the machine), 0 .. 1 */
    double read[TC_PROFILE_MEMORIES];    /* bytes, in whole words of the port */
    double written[TC_PROFILE_MEMORIES]; /* likewise */
    double cycles_low, cycles_high;      /* nine of ten machines are expected between; bands of parts
                                            do not add up */
} tc_cost_figures;

/* The system around the machine; NULL: the machine's own. */
typedef struct tc_profile_options {
    size_t size;               /* of this record */
    const char *system;        /* "FILE:CONFIG,MODE", as tc_compile_ethosu has it; NULL: the
                                  machine's */
    const char *method;        /* a .pte: the streams of this method; NULL: of all */
    const char *board;         /* a board's name or file, instead of a system; or NULL */
    const char *etdump;        /* a .pte: what ExecuTorch's runtime noted while it ran it; its times come
                                  beside those that are expected.  NULL: nothing was measured */
    double ticks;              /* of the ETDump's clock in a second; 0: 1e9 */
    const char *pmu;           /* a log of the cycle counter while the streams ran (examples/pmu): its cycles
                                  come beside those that are expected.  NULL: there is none */
} tc_profile_options;
TC_SIZED_RECORD(tc_profile_options)

/* Profiles the command streams of an Ethos-U .pte or .tflite, or of Vela's output (X_vela.npz).  Operations
 * have their line in the model where a .pte was compiled with locations; else only their kind. */
TC_API TC_MUST_USE tc_status tc_profile_open(tc_ctx *ctx, const char *path,
                                             const tc_profile_options *options, tc_profile **out);

/* Profiles a compiled model by line, on the system that it was compiled for; its target must be an
 * Ethos-U or a Cortex-M. */
TC_API TC_MUST_USE tc_status tc_profile_new(tc_ctx *ctx, tc_compiled *compiled,
                                                 tc_profile **out);

/* The same without making the streams: their operations and blocks by the back end that would make
 * them, weights as many bytes as they are expected to have.  Fast, for comparing candidates;
 * doc/profile.md has its error. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status
tc_profile_estimate(tc_ctx *ctx, tc_compiled *compiled, tc_profile **out);

typedef struct tc_profile_info {
    size_t size;         /* of this record: set by the caller */
    const char *machine; /* "ethos-u85-256" */
    const char *system_config, *memory_mode;
    double clock;                            /* Hz; Cortex-M: of the board; 0: not known */
    const char *memory[TC_PROFILE_MEMORIES]; /* "Sram", "Dram"; NULL: there is none */
    tc_cost_figures total;                   /* seconds: cycles / clock */
    size_t streams;                          /* one for each region */
    size_t operations;                       /* in all streams; tc_profile_operation() */
    bool knows_lines;                        /* false: only the operations' kinds are known */
    double instructions; /* Cortex-M: cycles are these times a factor; Ethos-U: 0 */
    size_t flash, ram;   /* Cortex-M: bytes, those of code estimated; Ethos-U: 0 */
} tc_profile_info;
TC_SIZED_RECORD(tc_profile_info)

TC_API void tc_profile_get_info(const tc_profile *profile, tc_profile_info *out);

/* One operation of a stream.  Operations that run together (a matrix product by columns) share
 * their cost; a chain's cost is at its first. */
typedef struct tc_profile_op {
    size_t size;       /* of this record: set by the caller */
    size_t stream;     /* index of the stream */
    size_t word;       /* index of its command word */
    const char *name;  /* "CONV", "ELEMENTWISE ADD" */
    const char *op;    /* its TOSA operator, or NULL */
    const tc_loc *loc; /* the model's node, or NULL */
    tc_cost_figures cost;
    const char *hint; /* the likely reason for its cost, or NULL */
} tc_profile_op;
TC_SIZED_RECORD(tc_profile_op)

/* Operation i; false: there are no more. */
TC_API bool tc_profile_operation(const tc_profile *profile, size_t i, tc_profile_op *out);

/* What operations are grouped by. */
typedef enum tc_profile_by {
    TC_PROFILE_BY_LINE = 0, /* Python line */
    TC_PROFILE_BY_MODULE = 1,
    TC_PROFILE_BY_NODE = 2,
    TC_PROFILE_BY_KIND = 3 /* kind of operation */
} tc_profile_by;

/* All operations of one line, module, node or kind. */
typedef struct tc_profile_row {
    size_t size;      /* of this record: set by the caller */
    const char *name; /* "model.py:41"; "": not known */
    const char
        *nodes;         /* of the model, in order: "conv1, relu", "conv1, relu and 12 more"; or
                           NULL */
    const char *module; /* "layers.0.attn" of the most expensive operation, or NULL */
    size_t operations;
    double share; /* of the total's cycles, 0 .. 1 */
    tc_cost_figures cost;
    const char *hint; /* the likely reason for most of its cost, or NULL */
} tc_profile_row;
TC_SIZED_RECORD(tc_profile_row)

/* Row i, the most expensive first; false: there are no more. */
TC_API bool tc_profile_get_row(const tc_profile *profile, tc_profile_by by, size_t i,
                              tc_profile_row *out);

/* A table of at most `most` rows (0: all), the most expensive first, or everything as JSON.  The
 * text ends in a newline and a NUL, and lives as long as the context. */
TC_API TC_MUST_USE tc_status tc_profile_report(tc_ctx *ctx, const tc_profile *profile,
                                               tc_profile_by by, size_t most, tc_form form,
                                               const char **out);

/* What the log's counter took, by node, as Model Explorer's data for the graph of --emit model-explorer.
 * TC_USAGE: the profile has no log. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_profile_overlay(tc_ctx *ctx, const tc_profile *profile,
                                                                const char **out);

/* What the log's counter took, into the page of a report that compile wrote; what is there of another log
 * is replaced.  TC_USAGE: the profile has no log; TC_BAD_INPUT: the file is no such page. */
TC_API TC_EXPERIMENTAL TC_MUST_USE tc_status tc_profile_into_page(tc_ctx *ctx, const tc_profile *profile,
                                                                  const char *path);

#ifdef __cplusplus
}
#endif
#endif
