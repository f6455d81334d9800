/* SPDX-License-Identifier: Apache-2.0 */
/* cli_dump.h -- the graph after each pass that changed it, as text files, and a trace of time
 * and memory. */
#ifndef TOSAC_CLI_DUMP_H
#define TOSAC_CLI_DUMP_H

#include "cli.h"

typedef struct cli_dumper {
    cli *c;
    const char *folder; /* --dump-dir, or NULL */
    const char *after;  /* --dump-after, or NULL */
    size_t n;           /* passes so far */
    const char *graph, *kept; /* the last one's name and file; or NULL */
    size_t n_region;    /* whose .tosa has been written */
    double begin, last; /* seconds */
    cli_text trace;     /* JSON, event by event */
} cli_dumper;

/* Whether there is a pass of that name; NULL and "all" are fine. */
TC_MUST_USE tc_status cli_dump_known(cli *c, const char *pass);
TC_MUST_USE tc_status cli_dump_begin(cli_dumper *d);
/* A tc_on_pass. */
tc_status cli_dump_pass(void *dumper, const tc_model *model, const char *pass);
/* Every region's .tosa as it is now: refusals of the back end change them. */
TC_MUST_USE tc_status cli_dump_regions(cli_dumper *d, const tc_compiled *compiled);
/* The same, and trace.json. */
TC_MUST_USE tc_status cli_dump_end(cli_dumper *d, const tc_compiled *compiled);

#endif
