/* SPDX-License-Identifier: Apache-2.0 */
/* answer.h -- what a fuzz target holds against the answers it gets. */
#ifndef TC_FUZZ_ANSWER_H
#define TC_FUZZ_ANSWER_H

#include <stdlib.h>

#include "fuzz.h"

static inline void must(bool condition)
{
    if (!condition)
        abort();
}

/* A failure has a message, and is never our own mistake. */
static inline bool answered(tc_ctx *ctx, tc_status status)
{
    must(status != TC_BUG && (status == TC_OK || ctx->n_error > 0));
    return status == TC_OK;
}

#endif
