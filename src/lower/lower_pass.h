/* SPDX-License-Identifier: Apache-2.0 */
/* lower_pass.h -- the passes of this folder; lower_pass.def has their contracts. */
#ifndef TC_LOWER_PASS_H
#define TC_LOWER_PASS_H

#include "../ir/graph.h"

#define PASS(folder, name, ...)                                                                    \
    TC_MUST_USE tc_status ti_##folder##_##name(tc_ctx *ctx, tc_module *module);
#include "lower_pass.def"
#undef PASS

#endif
