/* SPDX-License-Identifier: Apache-2.0 */
/* sample_quality.h -- the quality of calibration samples: warnings where they cannot determine
 * ranges. */
#ifndef TC_SAMPLE_QUALITY_H
#define TC_SAMPLE_QUALITY_H

#include "observations.h"

enum { TC_FEW_SAMPLES = 32 };

/* What one thread observed of the inputs. */
typedef struct tc_sample_quality tc_sample_quality;

tc_sample_quality *ti_sample_quality_new(tc_ctx *ctx, const tc_graph *g);
void ti_sample_quality_see(tc_sample_quality *w, const tc_tensor *in); /* one sample */

/* by: one for each thread, of n; NULL: only rows are known, of samples in the order of their
 * content.  judged, by domain: its rows count. */
void ti_sample_quality_tell(tc_ctx *ctx, const tc_graph *g, tc_sample_quality *const *by, size_t n,
                            const tc_first *rows, const tc_ranges *ranges, const bool *judged);

#endif
