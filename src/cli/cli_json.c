/* SPDX-License-Identifier: Apache-2.0 */
/* cli_json.c -- see cli_json.h. */
#include "cli_json.h"

#include <math.h>
#include <stdio.h>

static FILE *file_of(const cli_json_out *out)
{
    return out->to ? out->to : stdout;
}

static void quoted(FILE *to, const char *text)
{
    putc('"', to);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(to, "\\%c", *c);
        else if (*c < ' ' || *c == 127)
            fprintf(to, "\\u%04x", *c);
        else
            putc(*c, to);
    }
    putc('"', to);
}

static void lead(cli_json_out *out, const char *name)
{
    if (out->depth && !out->first)
        putc(',', file_of(out));
    if (out->depth)
        fprintf(file_of(out), "\n%*s", out->depth * 2, "");
    out->first = false;
    if (name) {
        quoted(file_of(out), name);
        fprintf(file_of(out), ": ");
    }
}

void cli_json_open(cli_json_out *out, const char *name, char bracket)
{
    lead(out, name);
    putc(bracket, file_of(out));
    out->depth++;
    out->first = true;
}

void cli_json_close(cli_json_out *out, char bracket)
{
    out->depth--;
    if (!out->first)
        fprintf(file_of(out), "\n%*s", out->depth * 2, "");
    putc(bracket, file_of(out));
    out->first = false;
    if (!out->depth)
        putc('\n', file_of(out));
}

void cli_json_put_text(cli_json_out *out, const char *name, const char *text)
{
    lead(out, name);
    if (text)
        quoted(file_of(out), text);
    else
        fprintf(file_of(out), "null");
}

void cli_json_put_int(cli_json_out *out, const char *name, int64_t value)
{
    lead(out, name);
    fprintf(file_of(out), "%" PRId64, value);
}

void cli_json_put_real(cli_json_out *out, const char *name, double value)
{
    char text[32];
    tc_text_f64(value, text);
    lead(out, name);
    fprintf(file_of(out), "%s", isfinite(value) ? text : "null");
}

void cli_json_put_bool(cli_json_out *out, const char *name, bool value)
{
    lead(out, name);
    fputs(value ? "true" : "false", file_of(out));
}
