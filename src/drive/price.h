/* SPDX-License-Identifier: Apache-2.0 */
/* price.h -- what a region costs on an Ethos-U, by the back end that makes its stream
 * (codegen/codegen.h). */
#ifndef TC_PRICE_H
#define TC_PRICE_H

#include "../codegen/codegen.h"
#include "../target/target.h"

typedef struct tc_pricer {
    tc_codegen_options options; /* with a memo of its own */
    tc_npu_system system;
} tc_pricer;

/* For the machine, on a system of a description (ini); NULL: as its programs are compiled. *out
 * NULL: nothing is known of its costs. */
TC_MUST_USE tc_status ti_pricer_for(tc_ctx *ctx, const tc_target *target, const char *ini,
                                    const char *system_config, const char *memory_mode,
                                    tc_pricer **out);

#endif
