/* SPDX-License-Identifier: Apache-2.0 */
/* lower_pass.h -- the passes of this folder; lower_pass.def has their contracts. */
#ifndef TC_LOWER_PASS_H
#define TC_LOWER_PASS_H

#include "../ir/graph.h"

#define PASS(folder, name, ...)                                                                    \
    TC_MUST_USE tc_status ti_##folder##_##name(tc_ctx *ctx, tc_module *module);
#include "lower_pass.def"
#undef PASS

/* Codes of up to 16 bits, of one scale. */
static inline bool ti_is_narrow(const tc_type *t)
{
    return t->quant && t->quant->axis < 0 && tc_dtypes[t->dtype].bits <= 16;
}

#endif
