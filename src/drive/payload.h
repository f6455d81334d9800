/* SPDX-License-Identifier: Apache-2.0 */
/* payload.h -- what each region's target loads, inside a program. */
#ifndef TC_PAYLOAD_H
#define TC_PAYLOAD_H

#include "driver.h"
#include "../emit/ethosu.h"

/* One payload for each region: its .tosa, .vgf or Ethos-U command stream, as the target wants; its
 * .tosa is beside a command stream.
 * jobs: Ethos-U: each region by our own back end or by Vela; else NULL. */
TC_MUST_USE tc_status ti_payloads(tc_ctx *ctx, const tc_compiled *compiled,
                                  const tc_ethosu_options *options, tc_payload **out,
                                  tc_ethosu_job **jobs);

/* accept_payload.c: the same once, into compiled->payload and jobs; what nobody takes goes to the
 * CPU, and so does what Vela translates wrongly.  While parts are tried, streams are executed only
 * where that is what failed. */
TC_MUST_USE tc_status ti_pack_regions(tc_ctx *ctx, tc_compiled *compiled);

#endif
