/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h -- the command streams in a file: of an ExecuTorch program, a TFLM model, or Vela's
 * npz. */
#ifndef TC_STREAM_H
#define TC_STREAM_H

#include "../npu/cost.h"
#include "../npu/npu_verify.h"

/* From a command on: where it comes from. */
typedef struct tc_stream_line {
    size_t word;
    tc_loc loc;
} tc_stream_line;

typedef struct tc_stream {
    const char *name; /* "delegate 0 of forward", or the file's */
    const char *method; /* of a .pte's; else NULL */
    tc_npu_program program;
    const char *vela, *own; /* the version of Vela, or of tosac, that made it; or NULL */
    const tc_loc *loc;
    tc_stream_line *line; /* of a .pte that keeps it, in the order of words */
    size_t n_line;
} tc_stream;

/* Where the command at a word comes from, by `line`; NULL: not known. */
const tc_loc *ti_stream_loc(const tc_stream *stream, size_t word);

/* What the stream costs on a system: of a description (ini), by its names; NULL: as the machine's
 * programs are compiled. */
TC_MUST_USE tc_status ti_stream_cost(tc_ctx *ctx, const tc_stream *stream, const char *ini,
                                     const char *config, const char *mode, tc_npu_system *system,
                                     tc_npu_stream_cost *out);

/* Whether the file holds streams at all; then ti_streams_read says which. */
bool ti_streams_in(tc_bytes bytes);
TC_MUST_USE tc_status ti_streams_read(tc_ctx *ctx, const char *file, tc_bytes bytes,
                                      tc_stream **out, size_t *n);

/* Runs the verifier on every stream; what it finds has been reported.  *operations: how many were
 * checked. */
TC_MUST_USE tc_status ti_streams_verify(tc_ctx *ctx, const tc_stream *stream, size_t n,
                                        size_t *operations);

#endif
