/* SPDX-License-Identifier: Apache-2.0 */
/* read.h -- model files to graphs. */
#ifndef TC_READ_H
#define TC_READ_H

#include "read_options.h"

/* Looks at the first bytes and picks the reader.  On failure a message has been given.
 * Every reader leaves a module whose values all have types. */
TC_MUST_USE tc_status ti_read(tc_ctx *ctx, const char *path, tc_module **out);

/* The same from bytes that live as long as the context; side: the large constants of a text graph.
 * `file` is the name used in messages. */
TC_MUST_USE tc_status ti_read_bytes(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_bytes side,
                                    tc_module **out);

/* other_sizes.c: the model of a module with open sizes (tc_module.size), read again with these
 * values.  Notes about defaults are not repeated. */
TC_MUST_USE tc_status ti_read_at(tc_ctx *ctx, const tc_module *of, const int64_t *value,
                                 tc_module **out);

/* The readers; `file` is the name used in messages, the bytes live as long as the context. */
TC_MUST_USE tc_status ti_read_pt2(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
TC_MUST_USE tc_status ti_read_onnx(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
bool ti_onnx_looks_like(tc_bytes file);
TC_MUST_USE tc_status ti_read_tflite(tc_ctx *ctx, const char *file, tc_bytes bytes,
                                     tc_module **out);
bool ti_tfl_looks_like(tc_bytes file);
TC_MUST_USE tc_status ti_read_tosa(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
TC_MUST_USE tc_status ti_read_vgf(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
TC_MUST_USE tc_status ti_read_pte(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
TC_MUST_USE tc_status ti_read_vela(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
TC_MUST_USE tc_status ti_read_text(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
/* With its large constants, instead of those in FILE.bin. */
TC_MUST_USE tc_status ti_read_text_with(tc_ctx *ctx, const char *file, tc_bytes bytes,
                                        tc_bytes side, tc_module **out);

/* open_sizes.c: where a TOSA program leaves sizes open, those of its inputs from --shape or from
 * its data, and of everything else by inference.  Without them an error, unless the model is only
 * looked at. */
TC_MUST_USE tc_status ti_read_sizes(tc_module *module);

#endif
