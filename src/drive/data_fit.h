/* SPDX-License-Identifier: Apache-2.0 */
/* data_fit.h -- whether calibration data looks like what the model was trained on. */
#ifndef TC_DATA_FIT_H
#define TC_DATA_FIT_H

#include "../data/dataset.h"

/* Warns where data cannot be what the model's first batch norm was trained on, and where it is
 * invented.  model: as it was read, before its norms are folded into weights; it is not changed. */
void ti_data_fit(tc_ctx *ctx, const tc_module *model, tc_dataset *data);

/* No data was given, and values are invented: their noise makes no value wider, and what is not
 * known without data is reported. */
void ti_data_missing(tc_ctx *ctx, tc_config *config);

#endif
