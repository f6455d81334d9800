/* SPDX-License-Identifier: Apache-2.0 */
/* dump.h -- the graph after each pass, as text files, and a trace of time and memory. */
#ifndef TC_CLI_DUMP_H
#define TC_CLI_DUMP_H

#include "../api/compile.h"

typedef struct tc_dumper {
    tc_ctx *ctx;
    const char *folder; /* --dump-dir, or NULL */
    const char *after;  /* --dump-after, or NULL */
    size_t n;           /* passes so far */
    double begin, last; /* seconds */
    tc_buf trace;       /* JSON, event by event */
} tc_dumper;

TC_MUST_USE tc_status tc_dump_begin(tc_dumper *d);
/* A tc_trace hook. */
tc_status tc_dump_pass(void *dumper, const tc_module *module, const tc_pass *pass);
/* Every region's .tosa, and trace.json. */
TC_MUST_USE tc_status tc_dump_end(tc_dumper *d, const tc_compiled *c);

#endif
