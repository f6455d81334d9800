/* SPDX-License-Identifier: Apache-2.0 */
/* channel_groups.h -- layers in front of curves make their channels in groups of like ranges. */
#ifndef TC_CHANNEL_GROUPS_H
#define TC_CHANNEL_GROUPS_H

#include "quantizer.h"

enum { TC_GROUPED_MOST = 4 };

/* The layers of a real program that could be; what they are worth is measured later. */
typedef struct tc_groups tc_groups;
/* module: what the domains are of, unchanged from then on.  NULL: there are none. */
tc_groups *ti_groups_find(tc_ctx *ctx, tc_module *module, const tc_domains *domains);

/* Which of them make the most noise alone: *n, at most TC_GROUPED_MOST, if groups remove `least` of it
 * (error over squares of the outputs); else *n is 0. */
TC_MUST_USE tc_status ti_groups_rank(tc_groups *groups, const tc_quant_request *request, double least,
                                     size_t *n);

/* In a copy of the module those of the n that `only` has a bit for, from the loudest on, become several
 * layers; the float program gives what it gave. */
TC_MUST_USE tc_status ti_groups_form(tc_groups *groups, tc_module *copy, uint32_t only);

#endif
