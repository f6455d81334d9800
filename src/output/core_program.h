/* SPDX-License-Identifier: Apache-2.0 */
/* core_program.h -- a program for a Cortex-M in one graph of TOSA.
 *
 * What was compiled is conversions at the program's ends and calls of regions between them.  Here
 * the conversions are left out, so that inputs and outputs are codes; the core's regions replace
 * their calls; the remaining calls are the Ethos-U's; buffers that persist between runs are
 * variables of any integer type.  What is in no region is float TOSA where that exists; an input
 * that is read as codes and as floats comes as floats. */
#ifndef TC_CORE_PROGRAM_H
#define TC_CORE_PROGRAM_H

#include "../cortexm/cortexm.h"
#include "../drive/driver.h"

typedef struct tc_core_program {
    tc_module *module;
    tc_c_port *in, *out; /* one for each of its inputs and outputs */
    size_t outside, floats; /* operators that no region has, and which of them are computed in float */
} tc_core_program;

/* An operator that has no form in TOSA is refused by name. */
TC_MUST_USE tc_status ti_core_program(tc_ctx *ctx, const tc_compiled *c, tc_core_program *out);

#endif
