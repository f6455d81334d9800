/* SPDX-License-Identifier: Apache-2.0 */
/* cli_report.h -- --report FILE, as several verbs have it. */
#ifndef TOSAC_CLI_REPORT_H
#define TOSAC_CLI_REPORT_H

#include "cli.h"

#define CLI_REPORT_HELP "write an HTML report, or with FILE.json the same as JSON"

/* Writes it; the command line and the names of the data are filled in here. */
TC_MUST_USE tc_status cli_write_report(cli *c, tc_report_options *report, const cli_texts *data,
                                       const char *path);

#endif
