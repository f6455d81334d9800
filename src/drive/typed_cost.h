/* SPDX-License-Identifier: Apache-2.0 */
/* typed_cost.h -- what a typed program would cost on the target: lowered as it would be, and its
 * regions estimated. */
#ifndef TC_TYPED_COST_H
#define TC_TYPED_COST_H

#include "driver.h"

/* out->of NULL: nothing is known of the target's costs.  c: the program that is being compiled,
 * with its target; both must last as long as *out. */
TC_MUST_USE tc_status ti_typed_cost(tc_ctx *ctx, const tc_compile_request *request,
                                    const tc_compiled *c, tc_quant_cost *out);

#endif
