/* SPDX-License-Identifier: Apache-2.0 */
/* emit.h -- graphs to files. */
#ifndef TC_EMIT_H
#define TC_EMIT_H

#include "../ir/graph.h"

/* The text form.  Constants of more than 64 elements stand in path.bin beside it; "-" is standard
 * output, where everything is written in place.  On failure a message has been given. */
TC_MUST_USE tc_status tc_write_text(tc_ctx *ctx, const tc_module *module, const char *path);

#endif
