/* SPDX-License-Identifier: Apache-2.0 */
/* region_sample.h -- samples for the program, and of these one for every region, so that its
 * command stream is executed before it is written. */
#ifndef TC_REGION_SAMPLE_H
#define TC_REGION_SAMPLE_H

#include "driver.h"

/* Keeps some samples of the calibration data, or invented ones, in c->given: the written program is
 * run on them.  Data that cannot be read is reported by whoever needs it. */
void ti_take_samples(tc_ctx *ctx, const tc_compile_request *request, tc_compiled *c);

/* Runs the program on the first of them, its regions in the TOSA form: the inputs of each region,
 * and the outputs that it should give, stay with it.  A region that has samples keeps them; where
 * the program does not run on the sample, regions have none. */
void ti_hand_samples(tc_ctx *ctx, const tc_compiled *c);

/* A copy of `written`, a form of c->module, without calls of regions: what these should give are
 * further inputs, after the program's, and their operands further outputs, after the program's. in:
 * all of its inputs on the first sample.  NULL: that is not known of every region. */
tc_module *ti_without_regions(tc_ctx *ctx, const tc_compiled *c, const tc_module *written,
                              const tc_tensor **in);
/* Whether these further outputs, of which `out` is the first, are the regions' inputs: then the
 * program's outputs are those of `written`. */
bool ti_handed_the_same(const tc_compiled *c, const tc_tensor *out);

#endif
