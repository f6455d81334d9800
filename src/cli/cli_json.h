/* SPDX-License-Identifier: Apache-2.0 */
/* cli_json.h -- JSON writer: takes care of commas and quotes. */
#ifndef TOSAC_CLI_JSON_H
#define TOSAC_CLI_JSON_H

#include "cli.h"

typedef struct cli_json_out {
    FILE *to; /* NULL: standard output */
    int depth;
    bool first; /* nothing yet since the last bracket */
} cli_json_out;

/* name NULL: inside a list, or the outermost value. */
void cli_json_open(cli_json_out *out, const char *name, char bracket); /* '{' or '[' */
void cli_json_close(cli_json_out *out, char bracket);
void cli_json_put_text(cli_json_out *out, const char *name, const char *text); /* NULL: null */
void cli_json_put_int(cli_json_out *out, const char *name, int64_t value);
void cli_json_put_real(cli_json_out *out, const char *name, double value); /* not finite: null */
void cli_json_put_bool(cli_json_out *out, const char *name, bool value);

#endif
