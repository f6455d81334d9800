/* SPDX-License-Identifier: Apache-2.0 */
/* emit.h -- graphs to files. */
#ifndef TC_EMIT_H
#define TC_EMIT_H

#include "../ir/graph.h"

/* The text form.  Constants of more than 64 elements stand in path.bin beside it; "-" is standard
 * output, where everything is written in place.  On failure a message has been given. */
TC_MUST_USE tc_status tc_write_text(tc_ctx *ctx, const tc_module *module, const char *path);

/* A module in the TOSA form as a TOSA 1.0 flatbuffer, byte for byte the same on every run.  The bytes live
 * as long as the context; on failure a message has been given.  Whether the graph keeps TOSA's rules is
 * the judge's business (target/tosa.c). */
TC_MUST_USE tc_status tc_emit_tosa(tc_ctx *ctx, const tc_module *module, tc_bytes *out);

/* The program of a module in the TOSA form as a VGF file: a SPIR-V graph, its constants and its signature. */
TC_MUST_USE tc_status tc_emit_vgf(tc_ctx *ctx, const tc_module *module, tc_bytes *out);

#endif
