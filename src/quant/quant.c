/* SPDX-License-Identifier: Apache-2.0 */
/* quant.c -- the stage, from top to bottom. */
#include "quant.h"

tc_status tc_quantize(tc_ctx *ctx, tc_module *module, const tc_quant_request *request)
{
    tc_domains domains;
    TC_TRY(tc_quant_decide(ctx, module, request->config, &domains));
    TC_TRY(tc_quant_observe(ctx, module, request, &domains));
    return tc_quant_apply(ctx, module, request->config, &domains);
}
