/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.h -- looking at files, holding them to the rules, comparing programs. */
#ifndef TOSAC_INSPECT_H
#define TOSAC_INSPECT_H

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a file holds: a .pt2 (with what is not supported, and the Python line of each), .tosa, .vgf
 * (with its disassembled graph), .pte (memory, kernels, what each delegate is handed), .ir, .npy or
 * .npz.  The text ends in a NUL and lives as long as the context.  On failure *out is what was told
 * until then, or NULL. */
TC_API TC_MUST_USE tc_status tc_inspect_file(tc_ctx *ctx, const char *path, tc_form form,
                                             const char **out);

/* The same of bytes in memory, which must live until the call returns.  name: as a file's, its
 * extension tells .npz from .pt2. */
TC_API TC_MUST_USE tc_status tc_inspect_bytes(tc_ctx *ctx, const char *name, tc_bytes bytes,
                                              tc_form form, const char **out);

/* The command streams of a .pte for Ethos-U, or of Vela's own answer (_vela.npz): what each
 * operation reads and writes, the registers that were set for it and, where X_debug.xml lies beside
 * X_vela.npz, the operator it comes from; one line an operation.  The text as above. */
TC_API TC_MUST_USE tc_status tc_disassemble_file(tc_ctx *ctx, const char *path, tc_form form,
                                                 const char **out);

/* Level 8K and every ERROR_IF of TOSA 1.0; with a target also what its profiles and extensions
 * allow (NULL: none).  TC_OK: the model keeps them; otherwise everything that was found has been
 * reported. */
TC_API TC_MUST_USE tc_status tc_verify_model(tc_ctx *ctx, const tc_model *model,
                                             const char *target);

/* What was found of command streams. */
typedef struct tc_streams_report {
    size_t size;         /* of this record: set by the caller */
    int holds_streams;   /* 0: the file is of a kind that holds none, and nothing was looked at */
    size_t streams;      /* of an Ethos-U */
    size_t operations;   /* in all of them */
    const char *machine; /* of the first: "ethos-u55-128" */
} tc_streams_report;
TC_SIZED_RECORD(tc_streams_report)

/* The command streams of an ExecuTorch program for Ethos-U, or of Vela's own answer (_vela.npz),
 * held to the machine's rules: every access inside its memory, written before it is read and waited
 * for, blocks that fit, tables that are loaded, and Vela's known faults.  TC_OK: they keep them, or
 * there are none; otherwise everything that was found has been reported. */
TC_API TC_MUST_USE tc_status tc_verify_streams(tc_ctx *ctx, const char *path,
                                               tc_streams_report *out);

/* ---- comparing ---- */

/* Two forms of a program on the same data, value by value. */
typedef struct tc_comparison tc_comparison;

/* One value that both have.  SQNR is 10 log10 (sum a^2 / sum (a - b)^2). */
typedef struct tc_compared_value {
    size_t size; /* of this record: set by the caller */
    const char *name;
    const tc_type *type; /* as the second program has it */
    const tc_loc *loc;   /* NULL: not known */
    double sqnr_db;      /* infinite: equal */
    double cosine;
    double max_error;
    double max_steps; /* the same in steps of the second's scale; NaN: it has none */
    double saturated; /* the part of the numbers at the least or greatest code; NaN likewise */
    double alone_db;  /* SQNR of the first's outputs with this value alone on the second's grid: what
                         it contributes to their error; NaN: not measured */
    int cut;          /* not 0: its ends are cut, and hardly any of that reaches the outputs */
} tc_compared_value;
TC_SIZED_RECORD(tc_compared_value)

/* a is the reference, such as a float model; b another form of it, such as a typed one.  Values go
 * together when they have the same name and shape, outputs also by their place; quantized ones
 * count as the real numbers they stand for. */
TC_API TC_MUST_USE tc_status tc_compare_models(tc_ctx *ctx, const tc_model *a, const tc_model *b,
                                               tc_dataset *data, tc_comparison **out);

/* What contributes most to the error of the outputs first, values of which that is not known by their
 * SQNR behind; 0: there is no i-th. */
TC_API size_t tc_comparison_count(const tc_comparison *comparison);
TC_API size_t tc_comparison_samples(const tc_comparison *comparison);
TC_API int tc_comparison_value(const tc_comparison *comparison, size_t i, tc_compared_value *out);

#ifdef __cplusplus
}
#endif
#endif
