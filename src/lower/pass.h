/* SPDX-License-Identifier: Apache-2.0 */
/* pass.h -- the passes of this folder; pass.def says what each of them promises. */
#ifndef TC_LOWER_PASS_H
#define TC_LOWER_PASS_H

#include "../ir/graph.h"

TC_MUST_USE tc_status tc_lower_layout(tc_ctx *ctx, tc_module *module);
TC_MUST_USE tc_status tc_lower_merge(tc_ctx *ctx, tc_module *module);
TC_MUST_USE tc_status tc_lower_patches(tc_ctx *ctx, tc_module *module);
TC_MUST_USE tc_status tc_lower_pieces(tc_ctx *ctx, tc_module *module);
TC_MUST_USE tc_status tc_lower_heads(tc_ctx *ctx, tc_module *module);
TC_MUST_USE tc_status tc_lower_scales(tc_ctx *ctx, tc_module *module);
TC_MUST_USE tc_status tc_lower_bools(tc_ctx *ctx, tc_module *module);
/* avoid.c */
TC_MUST_USE tc_status tc_lower_floors(tc_ctx *ctx, tc_module *module);
TC_MUST_USE tc_status tc_lower_factors(tc_ctx *ctx, tc_module *module);
TC_MUST_USE tc_status tc_lower_wraps(tc_ctx *ctx, tc_module *module);
TC_MUST_USE tc_status tc_lower_settle(tc_ctx *ctx, tc_module *module);
TC_MUST_USE tc_status tc_lower_apart(tc_ctx *ctx, tc_module *module);
TC_MUST_USE tc_status tc_lower_lowest(tc_ctx *ctx, tc_module *module);

#endif
