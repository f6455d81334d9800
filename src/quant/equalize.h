/* SPDX-License-Identifier: Apache-2.0 */
/* equalize.h -- equalizes the ranges of channels by factors that are folded into neighbouring
 * weights. */
#ifndef TC_EQUALIZE_H
#define TC_EQUALIZE_H

#include "quantizer.h"

/* Changes weights of the real program so that the channels of values between them have similar
 * ranges; the program's results on samples of the same kind stay the same within rounding.
 * domains: for its odd samples.  half: half way, and only around products of computed values.
 * *n: sets of values that were changed. */
TC_MUST_USE tc_status ti_quant_equalize(tc_ctx *ctx, tc_module *module,
                                        const tc_quant_request *request, const tc_domains *domains,
                                        bool half, size_t *n);

#endif
