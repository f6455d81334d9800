/* SPDX-License-Identifier: Apache-2.0 */
/* channel_groups.h -- layers in front of curves make their channels in groups of like ranges. */
#ifndef TC_CHANNEL_GROUPS_H
#define TC_CHANNEL_GROUPS_H

#include "quantizer.h"

enum { TC_GROUPED_MOST = 4 };

/* Of the layers whose results alone make the most noise, *n of them, those that `only` has a bit for,
 * from the loudest on, become several, if that removes `least` of it (error over squares of the
 * outputs; else *n is 0); the float program gives what it gave.  module: the real program that the
 * domains are of.  *noise: by domain, what each makes alone; NULL: it is measured, and kept. */
TC_MUST_USE tc_status ti_quant_group_channels(tc_ctx *ctx, tc_module *module,
                                              const tc_quant_request *request,
                                              const tc_domains *domains, double **noise,
                                              uint32_t only, double least, size_t *n);

#endif
