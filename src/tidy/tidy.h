/* SPDX-License-Identifier: Apache-2.0 */
/* tidy.h -- the passes of this folder; tidy_pass.def has their contracts. */
#ifndef TC_TIDY_H
#define TC_TIDY_H

#include "../ir/build.h"

#define PASS(folder, name, ...)                                                                    \
    TC_MUST_USE tc_status ti_##folder##_##name(tc_ctx *ctx, tc_module *module);
#include "tidy_pass.def"
#undef PASS

#endif
