/* SPDX-License-Identifier: Apache-2.0 */
/* emit_c.h -- an ExecuTorch program as C: an aligned array, and a header with the memory that a
 * firmware must reserve for it. */
#ifndef TC_EMIT_C_H
#define TC_EMIT_C_H

#include "../drive/driver.h"

/* path: of the .c file; symbols and the header are named after it. */
TC_MUST_USE tc_status ti_emit_c(tc_ctx *ctx, const tc_compiled *compiled, const char *path,
                                tc_bytes pte, tc_bytes *source, tc_bytes *header);

/* The prefix of symbols: the file's name as far as C allows it. */
const char *ti_c_symbol(tc_ctx *ctx, const char *path);
/* "folder/net-1.c" is "net-1". */
const char *ti_c_stem(tc_ctx *ctx, const char *path);

#endif
