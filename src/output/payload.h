/* SPDX-License-Identifier: Apache-2.0 */
/* payload.h -- what each region's target loads, inside a program. */
#ifndef TC_PAYLOAD_H
#define TC_PAYLOAD_H

#include "../drive/driver.h"

/* One payload for each region, once, into compiled->payload: its .tosa, .vgf or Ethos-U command
 * stream, as the target wants; a command stream has its .tosa with it, and its figures in
 * compiled->jobs.  What the back end does not take goes to the CPU, or is an error: with `strict`,
 * and of a program that is TOSA already.  A stream that fails its check is TC_BUG. */
TC_MUST_USE tc_status ti_pack_regions(tc_ctx *ctx, tc_compiled *compiled);

#endif
