/* SPDX-License-Identifier: Apache-2.0 */
/* read.h -- model files to graphs. */
#ifndef TC_READ_H
#define TC_READ_H

#include "../ir/graph.h"

/* "NAME=VALUE": a size that the models to be read leave open (pt2/pt2_dims.c). */
TC_MUST_USE tc_status tc_read_dim(tc_ctx *ctx, const char *text);

/* "INPUT=D,D,...": the shape of an input that the models to be read leave open (onnx/onnx_dims.c).
 * */
TC_MUST_USE tc_status tc_read_shape(tc_ctx *ctx, const char *text);

/* "INPUT=VALUE": an input of the models to be read that is a constant (read_fixed.c). */
TC_MUST_USE tc_status tc_read_set(tc_ctx *ctx, const char *text);

/* Looks at the first bytes and picks the reader.  On failure a message has been given.
 * Every reader leaves a module whose values all have types. */
TC_MUST_USE tc_status tc_read(tc_ctx *ctx, const char *path, tc_module **out);

/* The same from bytes that live as long as the context; side: the large constants of a text graph.
 * `file` is the name used in messages. */
TC_MUST_USE tc_status tc_read_bytes(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_bytes side,
                                    tc_module **out);

/* The readers; `file` is the name used in messages, the bytes live as long as the context. */
TC_MUST_USE tc_status tc_read_pt2(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
TC_MUST_USE tc_status tc_read_onnx(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
bool tc_onnx_looks_like(tc_bytes file);
TC_MUST_USE tc_status tc_read_tflite(tc_ctx *ctx, const char *file, tc_bytes bytes,
                                     tc_module **out);
bool tc_tfl_looks_like(tc_bytes file);
TC_MUST_USE tc_status tc_read_tosa(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
TC_MUST_USE tc_status tc_read_vgf(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
TC_MUST_USE tc_status tc_read_pte(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
TC_MUST_USE tc_status tc_read_vela(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
TC_MUST_USE tc_status tc_read_text(tc_ctx *ctx, const char *file, tc_bytes bytes, tc_module **out);
/* With its large constants, instead of those in FILE.bin. */
TC_MUST_USE tc_status tc_read_text_with(tc_ctx *ctx, const char *file, tc_bytes bytes,
                                        tc_bytes side, tc_module **out);

#endif
