/* SPDX-License-Identifier: Apache-2.0 */
/* tool.h -- an external program: started in its own folder, watched, and cleaned up after. */
#ifndef TC_TOOL_H
#define TC_TOOL_H

#include "../base/diag.h"

/* A temporary folder with its contents, removed with the context in any case. */
typedef struct tc_workshop {
    char **kept; /* its path; NULL: it is gone */
} tc_workshop;
TC_MUST_USE tc_status ti_workshop_open(tc_ctx *ctx, tc_workshop *out);
void ti_workshop_close(tc_workshop *w); /* earlier */
static inline const char *ti_workshop_path(const tc_workshop *w) { return *w->kept; }

typedef struct tc_tool {
    const char *const *argv; /* ended by NULL; argv[0] is looked for on the PATH */
    const char *folder;      /* where it runs; its output goes to tool.log there */
    double timeout;          /* seconds */
    int exit;                /* its exit status; 128 + signal; -1: it never started */
    bool timed_out;
    bool running;
    intptr_t process;
    double deadline;
} tc_tool;

/* Runs them, which progress calls `what`, `at_once` at a time, until all have ended.  Failure to
 * start is reported in `exit`.  When the context is cancelled, all are ended, and TC_CANCELLED is
 * returned. */
TC_MUST_USE tc_status ti_tools_run(tc_ctx *ctx, const char *what, tc_tool *tool, size_t n,
                                   size_t at_once);

/* Where a program is, looked for on the PATH unless it has a slash; NULL: it cannot be run. */
const char *ti_tool_find(tc_ctx *ctx, const char *name);

/* What the tool said last of an error, or else at all; one line. */
const char *ti_tool_log(tc_ctx *ctx, const tc_tool *tool);

#endif
