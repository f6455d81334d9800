/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.h -- inspects files, verifies them, compares programs. */
#ifndef TOSAC_INSPECT_H
#define TOSAC_INSPECT_H

#include "data.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The contents of a file: .pt2 (with unsupported operators and their Python lines), .tosa, .vgf
 * (with its disassembled graph), .pte (memory, kernels, each delegate's tensors), .ir, .npy or
 * .npz. The text ends in a NUL and lives as long as the context.  On failure *out is the text so
 * far, or NULL. */
TC_API TC_MUST_USE tc_status tc_inspect_file(tc_ctx *ctx, const char *path, tc_form form,
                                             const char **out);

/* The same for bytes in memory, which must live until the call returns.  name: a file name; its
 * extension tells .npz from .pt2. */
TC_API TC_MUST_USE tc_status tc_inspect_bytes(tc_ctx *ctx, const char *name, tc_bytes bytes,
                                              tc_form form, const char **out);

/* The disassembled command streams of an Ethos-U .pte or of Vela's output (_vela.npz), one
 * operation a line: what it reads and writes, its registers and, where the .pte was compiled with
 * locations, the node it comes from.  Of a .vgf the code of its graphs and shaders.  The text
 * as above. */
TC_API TC_MUST_USE tc_status tc_disassemble_file(tc_ctx *ctx, const char *path, tc_form form,
                                                 const char **out);

/* Checks level 8K and every ERROR_IF of TOSA 1.0 or 1.1; with a target also its profiles and extensions
 * (NULL: none).  TC_OK: the model is valid; otherwise all errors have been reported. */
TC_API TC_MUST_USE tc_status tc_verify_model(tc_ctx *ctx, const tc_model *model,
                                             const char *target);

/* The result of verifying command streams. */
typedef struct tc_streams_report {
    size_t size;         /* of this record: set by the caller */
    bool holds_streams;  /* false: a kind of file without streams; nothing was checked */
    size_t streams;      /* of an Ethos-U */
    size_t operations;   /* in all of them */
    const char *machine; /* of the first: "ethos-u55-128" */
} tc_streams_report;
TC_SIZED_RECORD(tc_streams_report)

/* Verifies the command streams of an Ethos-U .pte or of Vela's output (_vela.npz): accesses inside
 * their memory, no reads before writes, hazards waited for, blocks that fit, tables loaded, and
 * Vela's known defects.  TC_OK: they are valid, or there are none; otherwise all errors have been
 * reported. */
TC_API TC_MUST_USE tc_status tc_verify_streams(tc_ctx *ctx, const char *path,
                                               tc_streams_report *out);

/* The result of running the test vectors of a .bpte. */
typedef struct tc_vectors_report {
    size_t size;            /* of this record: set by the caller */
    bool holds_vectors;     /* false: no .bpte; nothing was run */
    size_t methods;         /* that have vectors */
    size_t vectors;         /* of all of them */
    size_t exact;           /* vectors whose outputs are those that are expected, bit for bit */
    size_t without_outputs; /* vectors that expect nothing */
} tc_vectors_report;
TC_SIZED_RECORD(tc_vectors_report)

/* Runs the test vectors of a .bpte and compares its outputs with those that are expected: bits, of
 * floats within the tolerance of ExecuTorch's own check (1e-5 relative, 1e-8 absolute).  TC_OK: all are
 * near enough, or there are none; otherwise every vector that differs has been reported. */
TC_API TC_MUST_USE tc_status tc_verify_vectors(tc_ctx *ctx, const char *path,
                                               tc_vectors_report *out);

/* ---- comparing ---- */

/* Two forms of a program on the same data, value by value. */
typedef struct tc_comparison tc_comparison;

/* One value that both programs have.  SQNR is 10 log10 (sum a^2 / sum (a - b)^2). */
typedef struct tc_compared_value {
    size_t size; /* of this record: set by the caller */
    const char *name;
    const tc_type *type; /* in the second program */
    const tc_loc *loc;   /* NULL: not known */
    double sqnr_db;      /* infinite: equal */
    double cosine;
    double max_error;
    double max_steps; /* the same in quantization steps of the second; NaN: not quantized */
    double saturated; /* share of elements at the lowest or highest code; NaN likewise */
    double alone_db;  /* SQNR of the first program's outputs with only this value quantized as in
                         the second: its contribution to their error; NaN: not measured */
    bool cut;         /* its range is clipped, with almost no effect on the outputs */
} tc_compared_value;
TC_SIZED_RECORD(tc_compared_value)

/* a is the reference, such as a float model; b another form of it, such as a typed one.  Values are
 * matched by name and shape, outputs also by index; quantized values are dequantized first. */
TC_API TC_MUST_USE tc_status tc_compare_models(tc_ctx *ctx, const tc_model *a, const tc_model *b,
                                               tc_dataset *data, tc_comparison **out);

/* Values sorted by their contribution to the outputs' error, the largest first; those without one
 * by SQNR.  false: there are no more. */
TC_API size_t tc_comparison_count(const tc_comparison *comparison);
TC_API size_t tc_comparison_samples(const tc_comparison *comparison);
TC_API bool tc_comparison_value(const tc_comparison *comparison, size_t i, tc_compared_value *out);

#ifdef __cplusplus
}
#endif
#endif
