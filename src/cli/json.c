/* SPDX-License-Identifier: Apache-2.0 */
/* json.c -- see json.h. */
#include "json.h"

#include <math.h>
#include <stdio.h>

static void quoted(const char *text)
{
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < ' ' || *c == 127)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    }
    putchar('"');
}

static void lead(cli_json_out *out, const char *name)
{
    if (out->depth && !out->first)
        putchar(',');
    if (out->depth)
        printf("\n%*s", out->depth * 2, "");
    out->first = false;
    if (name) {
        quoted(name);
        printf(": ");
    }
}

void cli_json_open(cli_json_out *out, const char *name, char bracket)
{
    lead(out, name);
    putchar(bracket);
    out->depth++;
    out->first = true;
}

void cli_json_close(cli_json_out *out, char bracket)
{
    out->depth--;
    if (!out->first)
        printf("\n%*s", out->depth * 2, "");
    putchar(bracket);
    out->first = false;
    if (!out->depth)
        putchar('\n');
}

void cli_json_put_text(cli_json_out *out, const char *name, const char *text)
{
    lead(out, name);
    if (text)
        quoted(text);
    else
        printf("null");
}

void cli_json_put_int(cli_json_out *out, const char *name, int64_t value)
{
    lead(out, name);
    printf("%" PRId64, value);
}

void cli_json_put_real(cli_json_out *out, const char *name, double value)
{
    char text[32];
    tc_text_f64(value, text);
    lead(out, name);
    printf("%s", isfinite(value) ? text : "null");
}

void cli_json_put_bool(cli_json_out *out, const char *name, bool value)
{
    lead(out, name);
    printf(value ? "true" : "false");
}
