/* SPDX-License-Identifier: Apache-2.0 */
/* outlier_samples.h -- samples that were set aside: whether that was right, and the message.
 */
#ifndef TC_OUTLIER_SAMPLES_H
#define TC_OUTLIER_SAMPLES_H

#include "quantizer.h"

/* Two typed programs measured on the same samples, those set aside among them. */
typedef struct tc_outlier_verdict {
    bool keep;                  /* the samples should be kept, */
    bool heavy;                 /* only because their outputs outweigh all others */
    double without_db, with_db; /* with each sample counted equally */
    double lost_db;             /* the program without them, on them */
    double others_db[2];        /* the others alone: without them, and with them */
    double all_db;              /* heavy: the same over all samples, by their squares */
} tc_outlier_verdict;

/* domains: those of the program that was made without the samples. */
TC_MUST_USE tc_status ti_outlier_judge(tc_ctx *ctx, tc_module *real, const tc_module *without,
                                       const tc_module *with, const tc_samples *samples,
                                       const tc_domains *domains, tc_outlier_verdict *out);

/* One note; NULL: nothing could be measured. */
void ti_outlier_tell(tc_ctx *ctx, const tc_domains *domains, const tc_samples *samples,
                     const tc_outlier_verdict *verdict);

#endif
