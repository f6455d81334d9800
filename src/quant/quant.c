/* SPDX-License-Identifier: Apache-2.0 */
/* quant.c -- the stage, from top to bottom. */
#include "quant.h"

#include "methods.h"
#include "sample_runner.h"

/* Below so many dB an answer is hardly that of the float program any more. */
static const double LOST = 15;

/* What another preset gives on the same samples; what it says of itself is not passed on. */
static bool try_preset(tc_ctx *ctx, const tc_module *real, const tc_quant_request *request,
                       const char *name, tc_quant_gains *found)
{
    tc_config c;
    if (!tc_config_preset(name, &c))
        return false;
    c.quiet = true;
    c.round_weights = false;
    tc_quant_request r = {.config = &c,
                          .samples = request->samples,
                          .keep_odd = request->keep_odd,
                          .gains = found,
                          .labels = request->labels};
    tc_hold hold = tc_hold_begin(ctx);
    bool works = tc_quantize(ctx, tc_module_copy(real), &r) == TC_OK;
    tc_hold_drop(ctx, hold);
    return works;
}

/* The program is lost: says so, and which settings keep it, measured on the same samples. */
static void say_lost(tc_ctx *ctx, const tc_module *real, const tc_quant_request *request,
                     const tc_quant_gains *gains)
{
    static const char *const other[] = {"int8+16:8", "int8+16:32", "a16w8"};
    tc_quant_gains found[TC_COUNT(other)] = {0};
    size_t n = 0, place[TC_COUNT(other)];
    bool keeps = false;
    for (size_t i = 0; i < TC_COUNT(other) && !keeps; i++) {
        bool wide = i + 1 == TC_COUNT(other);
        if ((!wide && request->config->global.act.dtype != TC_i8) ||
            !try_preset(ctx, real, request, other[i], &found[n]))
            continue;
        keeps = found[n].db >= 2 * LOST;
        place[n++] = i;
    }
    tc_warning(
        ctx, NULL, TC_E_ACCURACY,
        "with these settings the program is %.1f dB from the float one on calibration samples "
        "(%.0f %% of the answers agree): it is hardly the same program",
        gains->db, 100 * gains->agree);
    for (size_t i = 0; i < n; i++)
        tc_note(ctx, NULL, "-q %s: %.1f dB, %.0f %% of the answers", other[place[i]], found[i].db,
                100 * found[i].agree);
}

tc_status tc_quantize(tc_ctx *ctx, tc_module *module, const tc_quant_request *asked)
{
    tc_config head = tc_quant_head(ctx, tc_main(module), asked->config),
              own = tc_quant_small(ctx, tc_main(module), &head);
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
    if (gains.db < LOST && !config->quiet)
        say_lost(ctx, real, request, &gains);
    return TC_OK;
}
