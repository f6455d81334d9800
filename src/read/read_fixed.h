/* SPDX-License-Identifier: Apache-2.0 */
/* read_fixed.h -- inputs that the caller fixes (--set INPUT=VALUE); readers use them where values
 * decide what is read, ti_read() does it for all others. */
#ifndef TC_READ_FIXED_H
#define TC_READ_FIXED_H

#include "../ir/graph.h"

bool ti_fixed_has(tc_ctx *ctx, const char *input);

/* The value of a fixed input, of its type; no data: it is not fixed. */
TC_MUST_USE tc_status ti_fixed_value(tc_ctx *ctx, const char *input, const tc_type *type,
                                     tc_tensor *out);
/* The same where the input is a Python integer. */
TC_MUST_USE tc_status ti_fixed_i64(tc_ctx *ctx, const char *input, int64_t *out);

/* The inputs that the reader left; a message when a name is not an input's. */
TC_MUST_USE tc_status ti_fixed_rest(tc_module *module);

#endif
