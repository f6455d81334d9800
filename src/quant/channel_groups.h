/* SPDX-License-Identifier: Apache-2.0 */
/* channel_groups.h -- layers in front of curves make their channels in groups of like ranges. */
#ifndef TC_CHANNEL_GROUPS_H
#define TC_CHANNEL_GROUPS_H

#include "quantizer.h"

/* Of the layers whose results alone make the most noise, at most `most` become several, if that
 * removes `least` of it (error over squares of the outputs); the float program gives what it gave.
 * module: the real program that the domains are of.  *n: so many layers. */
TC_MUST_USE tc_status ti_quant_group_channels(tc_ctx *ctx, tc_module *module,
                                              const tc_quant_request *request,
                                              const tc_domains *domains, size_t most, double least,
                                              size_t *n);

#endif
