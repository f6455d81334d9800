/* SPDX-License-Identifier: Apache-2.0 */
/* quant.c -- the stage, from top to bottom. */
#include "quant.h"

#include "methods.h"
#include "sample_runner.h"

tc_status tc_quantize(tc_ctx *ctx, tc_module *module, const tc_quant_request *request)
{
    const tc_config *config = request->config;
    tc_domains domains;
    TC_TRY(tc_quant_decide(ctx, module, config, &domains));
    TC_TRY(tc_quant_observe(ctx, module, request, &domains));
    if (request->observe_only)
        return TC_OK;
    tc_quant_fit_masks(ctx, tc_main(module), &domains);
    double clock = 0;
    tc_lap(&clock, NULL);
    TC_TRY(tc_quant_widen(ctx, module, request, &domains));
    tc_lap(&clock, request->times ? &request->times->rank : NULL);
    if (!config->anchor)
        tc_quant_fit_sums(tc_main(module), &domains);
    tc_module *real = tc_module_copy(module);
    TC_TRY(tc_quant_apply(ctx, module, config, &domains));
    if (!config->correct_bias)
        return TC_OK;
    if (!request->samples.n) {
        tc_note(ctx, NULL,
                "biases are not corrected: that needs samples, up to 32 of them, with --calib");
        return TC_OK;
    }
    tc_lap(&clock, NULL);
    tc_quant_gains gains;
    TC_TRY(tc_quant_improve(ctx, real, module, request, &domains, &gains));
    if (request->gains)
        *request->gains = gains;
    tc_lap(&clock, request->times ? &request->times->correct : NULL);
    return TC_OK;
}
