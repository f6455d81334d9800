/* SPDX-License-Identifier: Apache-2.0 */
/* stream_check.h -- a region's command stream before it is written: verified, and executed against
 * the TOSA program. */
#ifndef TC_STREAM_CHECK_H
#define TC_STREAM_CHECK_H

#include "../emit/ethosu.h"
#include "../drive/driver.h"

/* Every rule of the machine; and, where the region has samples, the same bits as the TOSA program
 * on each of them. A stream that fails is reported, with the operator of the model that it fails
 * at, and is TC_BUG. */
TC_MUST_USE tc_status ti_stream_check(tc_ctx *ctx, const tc_compiled *c, tc_region *region,
                                      const tc_ethosu_job *job);

#endif
