/* SPDX-License-Identifier: Apache-2.0 */
/* inspect.h -- what the files of inspection share. */
#ifndef TC_INSPECT_H
#define TC_INSPECT_H

#include "../base/json_out.h"
#include "../ir/graph.h"
#include "../read/survey.h"
#include "tosac/tosac.h"

/* What a reader reports of the file, or NULL; in a separate context, so that it is a result
 * here. */
const char *ti_inspect_problems(tc_ctx *ctx,
                                tc_status (*read)(tc_ctx *, const char *, tc_bytes, tc_module **),
                                const char *path, tc_bytes bytes);

/* How often each kind of operator is there. */
void ti_inspect_kinds(tc_json_out *out, const char *name, const tc_survey *s);

/* inspect_vgf.c: the container and its code. */
TC_MUST_USE tc_status ti_inspect_vgf(tc_ctx *ctx, const char *path, tc_bytes bytes, bool as_json,
                                     tc_buf *to);
/* The code of all its modules, shaders too. */
TC_MUST_USE tc_status ti_inspect_vgf_code(tc_ctx *ctx, const char *path, tc_bytes bytes,
                                          bool as_json, tc_buf *to);

/* An ExecuTorch program: methods, memory, kernels, and the contents of each delegate. */
TC_MUST_USE tc_status ti_inspect_pte(tc_ctx *ctx, const char *path, tc_bytes bytes, bool json,
                                     tc_buf *to);

/* inspect_stream.c: the command streams in a .pte or in Vela's output. */
TC_MUST_USE tc_status ti_inspect_streams(tc_ctx *ctx, const char *path, tc_bytes bytes, bool json,
                                         tc_buf *to);

/* inspect_payload.c */
TC_MUST_USE tc_status ti_inspect_payload(tc_ctx *ctx, const char *path, tc_bytes bytes, bool json,
                                      tc_buf *to);

/* inspect_file.c: what a file holds; the command streams in it; the same of bytes under a name. */
TC_MUST_USE tc_status ti_show_file(tc_ctx *ctx, const char *path, tc_form form, const char **out);
TC_MUST_USE tc_status ti_show_streams(tc_ctx *ctx, const char *path, tc_form form,
                                      const char **out);
TC_MUST_USE tc_status ti_show_bytes(tc_ctx *ctx, const char *name, tc_bytes bytes, tc_form form,
                                    const char **out);

#endif
