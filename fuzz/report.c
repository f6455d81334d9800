/* SPDX-License-Identifier: Apache-2.0 */
/* report.c -- a report that was written before: read, told, compared with itself, as CSV and as a page. */
#include "fuzz.h"

#include "report/saved.h"

static void body(tc_ctx *ctx, tc_bytes bytes)
{
    tc_saved_report *report;
    const char *text, *name = "";
    tc_bytes out;
    if (ti_saved_read(ctx, "fuzz.json", bytes, &report) != TC_OK)
        return;
    (void)(tc_report_tell(ctx, report, NULL, TC_FORM_TEXT, &text) == TC_OK);
    (void)(tc_report_tell(ctx, report, report, TC_FORM_JSON, &text) == TC_OK);
    (void)(tc_report_page(ctx, report, report, &out) == TC_OK);
    for (size_t i = 0; name && tc_report_csv(ctx, report, NULL, i, &name, &out) == TC_OK; i++)
        ;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_in_context(body, (tc_bytes){data, size}, 64u << 20);
    return 0;
}
