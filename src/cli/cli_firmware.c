/* SPDX-License-Identifier: Apache-2.0 */
/* cli_firmware.c -- see cli_firmware.h. */
#include "cli_firmware.h"

#include "cli_json.h"

static const char *const verdicts[] = {
    [TC_FIRMWARE_FITS] = "fits", [TC_FIRMWARE_FAULT] = "fault", [TC_FIRMWARE_OPEN] = "open"};

static void json_findings(const tc_firmware_report *r, const char *path, const char *firmware, size_t faults)
{
    cli_json_out out = {0};
    tc_firmware_finding f = tc_firmware_finding_default();
    cli_json_open(&out, NULL, '{');
    cli_json_put_text(&out, "file", path);
    cli_json_put_text(&out, "firmware", firmware);
    cli_json_put_bool(&out, "fits", !faults);
    cli_json_open(&out, "findings", '[');
    for (size_t i = 0; tc_firmware_finding_at(r, i, &f); i++) {
        cli_json_open(&out, NULL, '{');
        cli_json_put_text(&out, "rule", f.rule);
        cli_json_put_text(&out, "verdict", verdicts[f.verdict]);
        cli_json_put_text(&out, "asks", f.asks);
        cli_json_put_text(&out, "found", f.text);
        cli_json_put_text(&out, "source", f.source);
        cli_json_close(&out, '}');
    }
    cli_json_close(&out, ']');
    cli_json_close(&out, '}');
}

tc_status cli_tell_firmware(cli *c, const char *path, const tc_firmware_options *f, bool all, size_t *faults)
{
    tc_firmware_finding at = tc_firmware_finding_default();
    tc_firmware_report *r;
    size_t open = 0;
    CLI_TRY(tc_verify_firmware(c->ctx, path, f, &r));
    cli_progress_end(c);
    *faults = 0;
    for (size_t i = 0; tc_firmware_finding_at(r, i, &at); i++) {
        *faults += at.verdict == TC_FIRMWARE_FAULT;
        open += at.verdict == TC_FIRMWARE_OPEN;
        if (!c->common.json && !c->common.quiet && (all || at.verdict != TC_FIRMWARE_FITS))
            printf("%-6s %-13s %s\n", verdicts[at.verdict], at.rule, at.text);
    }
    if (c->common.json && all)
        json_findings(r, path, f->firmware, *faults);
    else if (!c->common.json && !c->common.quiet)
        printf("%s: %s: %zu fault%s, %zu open\n", path, *faults ? "it does not fit" : "nothing speaks against it",
               *faults, *faults == 1 ? "" : "s", open);
    return TC_OK;
}
