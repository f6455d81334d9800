/* SPDX-License-Identifier: Apache-2.0 */
/* profile.h -- what a program costs on an Ethos-U: by operation of its command streams, and by
 * line, module or node of the model.
 *
 * The figures are our own model's of the machines and of the memories around them.  It counts as
 * Vela does, and needs only the command stream; on the same stream the two agree within 5 % of
 * every operation.  It is an estimate, not hardware's time. */
#ifndef TOSAC_PROFILE_H
#define TOSAC_PROFILE_H

#include "compile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tc_profile tc_profile;

enum { TC_PROFILE_MEMORIES = 2 }; /* at most; those behind the two ports */

/* What something costs.  Parts add up to their whole, utilisation apart. */
typedef struct tc_cost_figures {
    double cycles;                    /* the larger of computing and of each memory's transfers */
    double macs;                      /* multiplications */
    double utilisation;               /* macs / (cycles * those that the machine has), 0 .. 1 */
    double read[TC_PROFILE_MEMORIES]; /* bytes, whole bursts counted */
    double written[TC_PROFILE_MEMORIES]; /* likewise */
} tc_cost_figures;

/* The system around the machine; NULL: what tc_compile() gives to Vela. */
typedef struct tc_profile_options {
    size_t size;               /* of this record */
    const char *vela_ini;      /* a description in the form of Vela's; NULL: built-in systems */
    const char *system_config; /* which system of the description */
    const char *memory_mode;   /* which memory mode of the description */
    const char *method;        /* a .pte: the streams of this method; NULL: of all */
} tc_profile_options;
TC_SIZED_RECORD(tc_profile_options)

/* The command streams of a .pte for Ethos-U, or of Vela's own answer (X_vela.npz).  Where
 * X_debug.xml lies beside it, and X.tosa there or in the folder above, operations are known by
 * their line in the model; else by their kind. */
TC_API TC_MUST_USE tc_status tc_profile_file(tc_ctx *ctx, const char *path,
                                             const tc_profile_options *options, tc_profile **out);

/* A compiled model, by line, with the system that it was compiled for; its target must be an
 * Ethos-U.  Vela is run here. */
TC_API TC_MUST_USE tc_status tc_profile_compiled(tc_ctx *ctx, tc_compiled *compiled,
                                                 tc_profile **out);

/* The same without Vela and without a stream: operations are guessed from the regions' TOSA
 * operators, blocks are chosen as Vela would, weights count by their entropy.  Quick, for comparing
 * candidates; doc/profile.md says how far it is off. */
TC_API TC_MUST_USE tc_status tc_profile_estimate(tc_ctx *ctx, tc_compiled *compiled,
                                                 tc_profile **out);

typedef struct tc_profile_info {
    size_t size;         /* of this record: set by the caller */
    const char *machine; /* "ethos-u85-256" */
    const char *system_config, *memory_mode;
    double clock;                            /* Hz */
    const char *memory[TC_PROFILE_MEMORIES]; /* "Sram", "Dram"; NULL: there is none */
    tc_cost_figures total;                   /* seconds: cycles / clock */
    size_t streams;                          /* how many; one a region */
    size_t operations;                       /* of them; tc_profile_operation() */
    int knows_lines;                         /* 0: operations are known by their kind only */
} tc_profile_info;
TC_SIZED_RECORD(tc_profile_info)

TC_API void tc_profile_get_info(const tc_profile *profile, tc_profile_info *out);

/* One operation of a stream.  Of operations that run as one (a chain, a product by columns) each
 * has its share; a chain's is with its first. */
typedef struct tc_profile_op {
    size_t size;       /* of this record: set by the caller */
    size_t stream;     /* which */
    size_t word;       /* of its command */
    const char *name;  /* "CONV", "ELEMENTWISE ADD" */
    const char *op;    /* the TOSA operator that it comes from, or NULL */
    const tc_loc *loc; /* the model's node, or NULL */
    tc_cost_figures cost;
    const char *hint; /* what is behind it, or NULL */
} tc_profile_op;
TC_SIZED_RECORD(tc_profile_op)

/* 0: there is no i-th. */
TC_API int tc_profile_operation(const tc_profile *profile, size_t i, tc_profile_op *out);

/* What operations are put together by. */
typedef enum tc_profile_by {
    TC_PROFILE_BY_LINE = 0, /* of Python */
    TC_PROFILE_BY_MODULE = 1,
    TC_PROFILE_BY_NODE = 2,
    TC_PROFILE_BY_KIND = 3 /* of operation */
} tc_profile_by;

/* All operations of one line, module, node or kind. */
typedef struct tc_profile_row {
    size_t size;      /* of this record: set by the caller */
    const char *name; /* "model.py:41"; of operations that are not known: "" */
    const char
        *nodes; /* of the model, in order: "conv1, relu", "conv1, relu and 12 more"; or NULL */
    const char *module; /* "layers.0.attn" of the dearest, or NULL */
    size_t operations;
    double share; /* of the total's cycles, 0 .. 1 */
    tc_cost_figures cost;
    const char *hint; /* what is behind most of it, or NULL */
} tc_profile_row;
TC_SIZED_RECORD(tc_profile_row)

/* Dearest first; 0: there is no i-th. */
TC_API int tc_profile_get_row(const tc_profile *profile, tc_profile_by by, size_t i,
                              tc_profile_row *out);

/* A table of the dearest rows (most; 0: all), or everything as JSON.  The text ends in a newline
 * and a NUL, and lives as long as the context. */
TC_API TC_MUST_USE tc_status tc_profile_report(tc_ctx *ctx, const tc_profile *profile,
                                               tc_profile_by by, size_t most, tc_form form,
                                               const char **out);

#ifdef __cplusplus
}
#endif
#endif
