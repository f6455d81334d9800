/* SPDX-License-Identifier: Apache-2.0 */
/* region_sample.h -- one sample for every region, so that its command stream is executed before it
 * is written. */
#ifndef TC_API_REGION_SAMPLE_H
#define TC_API_REGION_SAMPLE_H

#include "compile.h"

/* Keeps what the program is given on the first sample of the calibration data, or on an invented
 * one, in c->given.  Data that cannot be read is told of by those who need it. */
void tc_take_sample(tc_ctx *ctx, const tc_compile_request *request, tc_compiled *c);

/* Runs the program on that sample, its regions in the TOSA form: what each is handed, and what it
 * should give, stay with it.  A region that has samples keeps them; where the program does not run
 * on the sample, regions have none. */
void tc_hand_samples(tc_ctx *ctx, const tc_compiled *c);

#endif
