/* SPDX-License-Identifier: Apache-2.0 */
/* etrecord.h -- what ExecuTorch's Inspector needs to know of a program (ETRecord). */
#ifndef TC_ETRECORD_H
#define TC_ETRECORD_H

#include "../drive/driver.h"

/* Of the .pte or .bpte that was made last, which keeps where its steps come from (c->asked.places):
 * for each method its debug handles by instruction, its delegates, its counts of results; of a
 * PyTorch export also its graph, as "tosac/METHOD", with the handle of each node. */
TC_MUST_USE tc_status ti_etrecord_make(tc_ctx *ctx, const tc_compiled *c, tc_bytes *out);

#endif
