/* SPDX-License-Identifier: Apache-2.0 */
/* emit_cortexm.h -- a program for a Cortex-M as C source. */
#ifndef TC_EMIT_CORTEXM_H
#define TC_EMIT_CORTEXM_H

#include "../cortexm/cortexm.h"
#include "../drive/driver.h"

/* path: of the .c file; symbols and the header are named after it.  Inputs and outputs are codes.
 * Next to an Ethos-U the program's regions are packed first, and the rest becomes the core's. */
TC_MUST_USE tc_status ti_emit_cortexm(tc_ctx *ctx, tc_compiled *compiled, const char *path,
                                      tc_c_source *out);

#endif
