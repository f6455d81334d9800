/* SPDX-License-Identifier: Apache-2.0 */
/* quant.c -- the stage, from top to bottom. */
#include "quant.h"

#include "methods.h"
#include "sample_runner.h"

/* Below so many dB an answer is hardly that of the float program any more. */
static const double LOST = 15;

/* The program is lost: says so, and which settings keep it, measured on the same samples. */
static tc_status say_lost(tc_ctx *ctx, const tc_module *real, const tc_quant_request *request,
                          const tc_quant_gains *gains)
{
    static const char *const other[] = {"int8+16:8", "int8+16:32", "a16w8"};
    const tc_config *own = request->config;
    bool keeps = false;
    tc_warning(
        ctx, NULL, TC_E_ACCURACY,
        "with these settings the program is %.1f dB from the float one on calibration samples "
        "(%.0f %% of the answers agree): it is hardly the same program",
        gains->db, 100 * gains->agree);
    for (size_t i = 0; i < TC_COUNT(other) && !keeps; i++) {
        tc_config c;
        tc_quant_gains found = {0};
        bool wide = i + 1 == TC_COUNT(other);
        if (!tc_config_preset(other[i], &c) || (!wide && tc_main(real)->n_mutation) ||
            (!wide && own->global.act.dtype != TC_i8))
            continue;
        c.quiet = true;
        c.round_weights = false;
        tc_quant_request r = {.config = &c,
                              .samples = request->samples,
                              .keep_odd = request->keep_odd,
                              .gains = &found,
                              .labels = request->labels};
        TC_TRY(tc_quantize(ctx, tc_module_copy(real), &r));
        keeps = found.db >= 2 * LOST;
        tc_note(ctx, NULL, "-q %s: %.1f dB, %.0f %% of the answers", other[i], found.db,
                100 * found.agree);
    }
    return TC_OK;
}

tc_status tc_quantize(tc_ctx *ctx, tc_module *module, const tc_quant_request *asked)
{
    tc_config own = tc_quant_head(ctx, tc_main(module), asked->config);
    tc_quant_request with_head = *asked, *request = &with_head;
    const tc_config *config = with_head.config = &own;
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
    return gains.db < LOST && !config->quiet ? say_lost(ctx, real, request, &gains) : TC_OK;
}
