/* SPDX-License-Identifier: Apache-2.0 */
/* data_fit.h -- whether calibration data looks like what the model was trained on. */
#ifndef TC_DATA_FIT_H
#define TC_DATA_FIT_H

#include "../data/dataset.h"

/* Says where data cannot be what the model's first batch norm has seen, and where it is invented.
 * model: as it was read, before its norms go into weights; it stays as it is. */
void ti_data_fit(tc_ctx *ctx, const tc_module *model, tc_dataset *data);

/* Nobody gave data, and numbers are invented: their noise makes no value wider, and what is not
 * known without data is said. */
void ti_data_missing(tc_ctx *ctx, tc_config *config);

#endif
