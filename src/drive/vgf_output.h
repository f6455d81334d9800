/* SPDX-License-Identifier: Apache-2.0 */
/* vgf_output.h -- the file for graphics processors: one region, or the whole program with shaders. */
#ifndef TC_VGF_OUTPUT_H
#define TC_VGF_OUTPUT_H

#include "driver.h"

/* One region whose ports are the program's, but for quantizing them: its file, of codes.  Else all
 * regions and, for what lies between and around them, shaders.  A node without one is an error that
 * names it; beside one region it is left out, with a warning. */
TC_MUST_USE tc_status ti_vgf_make(tc_ctx *ctx, tc_compiled *c, tc_bytes *out);

#endif
