/* SPDX-License-Identifier: Apache-2.0 */
/* labels.h -- the classes of samples, as their owner gives them. */
#ifndef TC_LABELS_H
#define TC_LABELS_H

#include "../base/diag.h"
#include "tosac/tosac.h"

typedef struct tc_labels {
    int64_t *of;       /* by sample; NULL: there are none */
    const char **name; /* of classes; NULL: they have none */
    size_t n_name;
} tc_labels;

/* n labels as tc_evaluate_options names them; data is bound.  Where only its first samples are used
 * there may be labels of the others too. */
TC_MUST_USE tc_status ti_read_labels(tc_ctx *ctx, const char *how, const tc_dataset *data, size_t n,
                                     size_t classes, tc_labels *out);

#endif
