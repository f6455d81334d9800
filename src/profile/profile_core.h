/* SPDX-License-Identifier: Apache-2.0 */
/* profile_core.h -- the entries of a profile on a Cortex-M. */
#ifndef TC_PROFILE_CORE_H
#define TC_PROFILE_CORE_H

#include "../cost/profile.h"
#include "../drive/driver.h"

TC_MUST_USE tc_status ti_profile_core(tc_ctx *ctx, tc_profile *profile, const tc_compiled *compiled);

#endif
