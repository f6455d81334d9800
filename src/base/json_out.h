/* SPDX-License-Identifier: Apache-2.0 */
/* json_out.h -- JSON into a buffer: commas, quotes and indentation are looked after here. */
#ifndef TC_JSON_OUT_H
#define TC_JSON_OUT_H

#include "diag.h"

typedef struct tc_json_out {
    tc_buf *to;
    int depth;
    bool first; /* nothing yet since the last bracket */
    bool compact; /* all in one line */
} tc_json_out;

/* name NULL: inside a list, or the outermost value. */
void tc_json_open(tc_json_out *out, const char *name, char bracket); /* '{' or '[' */
void tc_json_close(tc_json_out *out, char bracket);
void tc_json_put_text(tc_json_out *out, const char *name, const char *text); /* NULL: null */
void tc_json_put_int(tc_json_out *out, const char *name, int64_t value);
void tc_json_put_real(tc_json_out *out, const char *name, double value); /* not finite: null */
void tc_json_put_bool(tc_json_out *out, const char *name, bool value);

#endif
