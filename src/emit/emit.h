/* SPDX-License-Identifier: Apache-2.0 */
/* emit.h -- graphs to files. */
#ifndef TC_EMIT_H
#define TC_EMIT_H

#include "../target/pte_bundle.h"
#include "../target/cpu.h"

/* The text form.  Constants of more than 64 elements are in path.bin.  On failure a message has
 * been given. */
TC_MUST_USE tc_status ti_write_text(tc_ctx *ctx, const tc_module *module, const char *made_by,
                                    const char *path);

/* A module in the TOSA form as a TOSA flatbuffer, of the oldest version that has what is in it
 * (ti_tosa_minor), byte for byte the same on every run.  The bytes live as long as the context; on
 * failure a message has been given.  Whether the graph keeps TOSA's rules is checked elsewhere
 * (target/tosa.c). */
TC_MUST_USE tc_status ti_emit_tosa(tc_ctx *ctx, const tc_module *module, tc_bytes *out);

/* The program of a module in the TOSA form as a VGF file: a SPIR-V graph, its constants and its
 * signature. */
TC_MUST_USE tc_status ti_emit_vgf(tc_ctx *ctx, const tc_module *module, tc_bytes *out);

/* check_types.c: every value has a type that the format has a number for (less than 0: none), and
 * extents of 32 bits. */
TC_MUST_USE tc_status ti_emit_check_types(tc_ctx *ctx, const tc_graph *g,
                                          int (*number_of)(tc_dtype), const char *whose);

typedef struct tc_compile_spec {
    const char *key;
    tc_bytes value;
} tc_compile_spec;

/* What a delegate is given for one graph that the program calls. */
typedef struct tc_payload {
    const char *graph;   /* its name */
    const char *backend; /* "TOSABackend", "EthosUBackend", "VgfBackend" */
    tc_bytes bytes;
    const tc_compile_spec *spec;
    size_t n_spec;
    tc_bytes tosa; /* stored with it as named data "tosac.tosa.N", N its index among the payloads;
                      none: no bytes */
    tc_bytes lines; /* likewise "tosac.lines.N": a text with a line of word, node, target, module
                       and location, tab-separated, for each command of a stream that begins another
                       operator */
    tc_bytes within; /* the buffer that `bytes` is a piece of, shared with other payloads; no bytes:
                        none */
} tc_payload;

typedef struct tc_emit_method {
    const char *name;
    const tc_module *module;
    const tc_memory *memory;
    const tc_payload *payload;
    size_t n_payload;
    bool places; /* the program keeps where its steps come from */
    const char *cortexm; /* kernels for a Cortex-M: whose (ti_cm_whose); NULL: for any CPU */
    const char *made_by; /* of the last method: named data "tosac.made_by"; NULL: none */
} tc_emit_method;

/* Modules as the methods of one ExecuTorch program: of each the first graph in the form that the
 * pass `cpu` leaves, its calls delegated; memory: as ti_plan_memory has it.  The bytes live as long
 * as the context, and are the same on every run; on failure a message has been given.  Equal
 * constants are stored once; so are initial values of buffers that several methods share by name.
 * N of "tosac.tosa.N" counts over all methods. */
TC_MUST_USE tc_status ti_emit_methods(tc_ctx *ctx, const tc_emit_method *method, size_t n,
                                      tc_bytes *out);

/* emit_bundle.c: a program with test vectors. */
TC_MUST_USE tc_status ti_emit_bundle(tc_ctx *ctx, const tc_bundle *bundle, tc_bytes *out);

/* tosa_shader_custom.c: a shader's attributes as those of a CUSTOM operator; NULL, or why not. */
const char *ti_emit_custom_shader(tc_ctx *ctx, const tc_node *node, tc_attr_tosa_custom *custom);

#endif
