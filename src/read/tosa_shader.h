/* SPDX-License-Identifier: Apache-2.0 */
/* tosa_shader.h -- a CUSTOM operator that is a shader (target/vulkan_shader.h), as tosa_shader. */
#ifndef TC_TOSA_SHADER_H
#define TC_TOSA_SHADER_H

#include "../ir/graph.h"

/* NULL, or why it is not supported.  *out stays NULL for another custom operator. */
const char *ti_read_custom_shader(tc_ctx *ctx, const tc_attr_tosa_custom *custom, int n_in,
                                  int n_out, tc_attr_tosa_shader **out);

#endif
