/* SPDX-License-Identifier: Apache-2.0 */
/* json_out.c -- see json_out.h. */
#include "json_out.h"

#include <math.h>

static void quoted(tc_buf *to, const char *text)
{
    ti_buf_u8(to, '"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            ti_buf_printf(to, "\\%c", *c);
        else if (*c < ' ' || *c == 127)
            ti_buf_printf(to, "\\u%04x", *c);
        else
            ti_buf_u8(to, *c);
    }
    ti_buf_u8(to, '"');
}

static void lead(tc_json_out *out, const char *name)
{
    if (out->depth && !out->first)
        ti_buf_u8(out->to, ',');
    if (out->depth && !out->compact)
        ti_buf_printf(out->to, "\n%*s", out->depth * 2, "");
    out->first = false;
    if (name) {
        quoted(out->to, name);
        ti_buf_printf(out->to, out->compact ? ":" : ": ");
    }
}

void ti_json_open(tc_json_out *out, const char *name, char bracket)
{
    lead(out, name);
    ti_buf_u8(out->to, (uint8_t)bracket);
    out->depth++;
    out->first = true;
}

void ti_json_close(tc_json_out *out, char bracket)
{
    out->depth--;
    if (!out->first && !out->compact)
        ti_buf_printf(out->to, "\n%*s", out->depth * 2, "");
    ti_buf_u8(out->to, (uint8_t)bracket);
    out->first = false;
    if (!out->depth)
        ti_buf_u8(out->to, '\n');
}

void ti_json_put_text(tc_json_out *out, const char *name, const char *text)
{
    lead(out, name);
    if (text)
        quoted(out->to, text);
    else
        ti_buf_printf(out->to, "null");
}

void ti_json_put_int(tc_json_out *out, const char *name, int64_t value)
{
    lead(out, name);
    ti_buf_printf(out->to, "%" PRId64, value);
}

void ti_json_put_real(tc_json_out *out, const char *name, double value)
{
    char text[32];
    tc_text_f64(value, text);
    lead(out, name);
    ti_buf_printf(out->to, "%s", isfinite(value) ? text : "null");
}

void ti_json_put_bool(tc_json_out *out, const char *name, bool value)
{
    lead(out, name);
    ti_buf_text(out->to, value ? "true" : "false");
}

void ti_json_members(tc_json_out *out, const tc_json_member *member, size_t n)
{
    for (const tc_json_member *m = member; m < member + n; m++) {
        const char *name = m->name && *m->name ? m->name : NULL;
        if (!m->name)
            continue;
        if (m->kind == 't')
            ti_json_put_text(out, name, m->text);
        else if (m->kind == 'r')
            ti_json_put_real(out, name, m->real);
        else if (m->kind == 'b')
            ti_json_put_bool(out, name, m->whole != 0);
        else
            ti_json_put_int(out, name, m->whole);
    }
}
