/* SPDX-License-Identifier: Apache-2.0 */
/* calibrated_text.h -- what a calibration of a board changed, and how far off it was before and after. */
#ifndef TC_CALIBRATED_TEXT_H
#define TC_CALIBRATED_TEXT_H

#include "../profile/calibrate.h"

const char *ti_show_calibrated(tc_ctx *ctx, const tc_calibrated *c, tc_form form);

#endif
