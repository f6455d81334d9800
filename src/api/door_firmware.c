/* SPDX-License-Identifier: Apache-2.0 */
/* door_firmware.c -- whether a firmware takes a compiled file. */
#include "../base/enter.h"
#include "../board/firmware.h"

tc_status tc_verify_firmware(tc_ctx *ctx, const char *path, const tc_firmware_options *options,
                             tc_firmware_report **out)
{
    tc_firmware_options o = TC_TAKE(tc_firmware_options, options);
    TC_ENTER(ctx, ti_firmware_check(ctx, path, &o, out));
}

bool tc_firmware_finding_at(const tc_firmware_report *report, size_t i, tc_firmware_finding *out)
{
    if (i >= report->n)
        return false;
    ti_fill_record(out, &report->list[i], sizeof *out);
    return true;
}
