/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_output.h -- the file for GPUs: one region, or the whole program with shaders. */
#ifndef TC_VGF_OUTPUT_H
#define TC_VGF_OUTPUT_H

#include "../drive/driver.h"

/* One region whose ports are the program's, but for quantizing them: its file, with codes.  Else
 * all regions and, for what is between and around them, shaders.  A node without a shader is an
 * error that names it; next to one region it is left out, with a warning. */
TC_MUST_USE tc_status ti_vgf_make(tc_ctx *ctx, tc_compiled *c, tc_bytes *out);

/* The program as one delegate of a .pte, where --shaders asks for that: *out is c with one region,
 * whose payload is the program as one VGF file.  NULL: it was not asked for, or there is nothing
 * around its region, or (a warning, or with `strict` an error, names it) something has no
 * shader. */
TC_MUST_USE tc_status ti_vgf_delegate(tc_ctx *ctx, const tc_compiled *c, tc_compiled **out);

/* A program, read from a file, whose shaders view a tensor as an image or a buffer too: a warning
 * that ExecuTorch's runtime does not. */
void ti_vgf_warn_of_images(tc_ctx *ctx, const tc_module *module);

#endif
