/* SPDX-License-Identifier: Apache-2.0 */
/* report.h -- what was compiled, for people and for programs. */
#ifndef TC_CLI_REPORT_H
#define TC_CLI_REPORT_H

#include "../api/payload.h"

/* What has been written. */
typedef struct tc_written {
    const char *path;  /* NULL: nothing */
    size_t bytes;
    size_t memory;     /* a program's: bytes of the block that its values live in */
    tc_vela_job *jobs; /* Ethos-U: one for each region */
} tc_written;

void tc_report_line(const tc_compiled *c, const tc_written *w); /* one line */
void tc_report_text(const tc_compiled *c); /* regions, borders, what stays on the CPU */
void tc_report_json(tc_ctx *ctx, const tc_compiled *c, const tc_written *w); /* w may be NULL */

#endif
