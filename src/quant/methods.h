/* SPDX-License-Identifier: Apache-2.0 */
/* methods.h -- the table of methods, tried one after the other. */
#ifndef TC_METHODS_H
#define TC_METHODS_H

#include "measure.h"

#define TC_GAIN 0.05 /* dB that a method must gain */

/* Samples that programs are measured on: those that methods learn from, and then others. */
size_t ti_quant_measured_of(const tc_quant_request *request);

/* Improves the typed program, as far as can be measured: by a yardstick that is there, with what is
 * known of the program's errors so far, or by its own. */
TC_MUST_USE tc_status ti_quant_improve_by(tc_ctx *ctx, tc_module *real, tc_module *typed,
                                          const tc_quant_request *request, const tc_domains *domains,
                                          tc_yardstick *yard, tc_score *known, tc_quant_gains *out);
TC_MUST_USE tc_status ti_quant_improve(tc_ctx *ctx, tc_module *real, tc_module *typed,
                                       const tc_quant_request *request, const tc_domains *domains,
                                       tc_quant_gains *out);

/* What is in `as` of another typed form of the same program, done to this one, as far as the settings
 * want it; nothing is measured. */
TC_MUST_USE tc_status ti_quant_repeat(tc_ctx *ctx, tc_module *real, tc_module *typed,
                                      const tc_quant_request *request, const tc_domains *domains,
                                      const tc_quant_gains *as);

/* Reports that a method was not tried for lack of time. */
void ti_quant_say_over(tc_ctx *ctx, const char *method);

/* Replaces the module's program by the other's. */
void ti_quant_take_over(tc_module *to, const tc_module *from);

/* spend_8bit.c: with few-code weights and `small8`, entries for the layers whose few codes the outputs
 * hear most for what 8 bits cost, measured on samples; real: the program as it is before
 * ti_quant_apply(), config: without entries for small layers. */
TC_MUST_USE tc_status ti_quant_loud_layers(tc_ctx *ctx, tc_module *real,
                                           const tc_quant_request *request, const tc_config *config,
                                           const tc_domains *domains, tc_config *out);

#endif
