/* SPDX-License-Identifier: Apache-2.0 */
/* pmu.c -- a log of a cycle counter. */
#include "fuzz.h"

#include "read/read_pmu.h"

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    tc_pmu_log log;
    (void)(ti_pmu_read(ctx, "fuzz.log", bytes, &log) == TC_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, 64u << 20);
    return 0;
}
