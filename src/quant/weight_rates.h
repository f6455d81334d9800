/* SPDX-License-Identifier: Apache-2.0 */
/* weight_rates.h -- a step for each layer's weights: bytes of the target's coder, or of packed bits, against noise of
 * the outputs. */
#ifndef TC_WEIGHT_RATES_H
#define TC_WEIGHT_RATES_H

#include "methods.h"

enum { TC_RATE_SAMPLES = 6 }; /* of calibration, at least */

/* A point of the curve: steps for all layers with one price of noise. */
typedef struct tc_rate_point {
    double bytes, cycles;
    double noise; /* of the outputs, relative to their squares, more than without steps */
} tc_rate_point;

/* What is known of a program: what each step of each layer saves, and the noise that it adds. */
typedef struct tc_rates tc_rates;

/* An empty record, whose memory is freed with the context, and not before. */
tc_rates *ti_rates_new(tc_ctx *ctx);

/* The SQNR in dB that the last choice is expected to leave on new samples. */
double ti_rates_foreseen(const tc_rates *rates);

/* The target has a price of its weights, and there are samples enough. */
bool ti_rates_can_be_known(const tc_quant_request *request);

/* Steps of the layers for config->rate, as entries of *out; real: the program as it is before
 * ti_quant_apply().  rates: what is known of it, or is to be kept there. */
TC_MUST_USE tc_status ti_quant_weight_rates(tc_ctx *ctx, tc_module *real,
                                            const tc_quant_request *request,
                                            const tc_domains *domains, tc_rates *rates,
                                            tc_config *out);

/* The curve from no steps to the coarsest, at most n points, and the noise of the program without
 * any; empty: nothing is known yet. */
size_t ti_rates_curve(const tc_rates *rates, tc_rate_point *point, size_t n, double *noise);

/* It as a table; nothing where there is none. */
void ti_rates_text(const tc_quant_gains *gains, tc_buf *out);

#endif
